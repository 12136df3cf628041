"""Composition: adaptive releases, releases on disjoint parts of the data, and groups."""

from dplearn.core.logspace import log_expm1
from dplearn.teaching.book.chapters.local import response_channel
from dplearn.teaching.book.chapters.tradeoff import delta_by_convolution
from dplearn.teaching.book.kit.vocabulary import *

_ORDERS = np.geomspace(1e-4, 1e3, 60) + 1
_WORKED_RUN = {"order": 2.0, "noise": 1.0, "below": 1.0, "above": 3.0, "cut": 0.5, "first": 1.0,
               "second": 1.0}
_FOLD = "compos releas 组合"
_EXACT = "Harrison & Manurangsi 2026, arXiv 2510.25746"


def _copies(name: str) -> Callable[..., dict[str, list[float]]]:
    """Return a function that turns one release's parameter `name` into a list of `steps` copies."""
    return lambda steps, **each: {f"{name}s": [each[name]] * steps}


# Joint distribution of independent releases: the Kronecker product of their distributions.
joint = partial(reduce, np.kron)


def enumerated_delta(epsilons, deltas=None, total=None):
    """Return delta of composed worst-case releases at epsilon `total`, by default sum(epsilons)."""
    deltas = [0.0] * len(epsilons) if deltas is None else deltas
    pairs = [oracles.leaky_response(e, d) if d > 0 else oracles.randomized_response(e)
             for e, d in zip(epsilons, deltas, strict=True)]
    p, q = (joint(laws) for laws in zip(*pairs, strict=True))
    total = math.fsum(epsilons) if total is None else total
    return math.fsum(np.maximum(p - math.exp(total) * q, 0.0))


def enumerated_epsilon(*, epsilons, deltas=None, slack=None):
    """Return epsilon of composed worst-case releases at delta `slack`, by default sum(deltas)."""
    slack = math.fsum([] if deltas is None else deltas) if slack is None else slack
    enough = lambda total: enumerated_delta(epsilons, deltas, total) <= slack
    return oracles.smallest(enough, low=0.0, high=2 * math.fsum(epsilons))


def responses_epsilon(*, epsilon, steps, slack):
    """Return the exact total epsilon of `steps` randomized responses at delta `slack`."""
    enough = lambda e: oracles.coins_delta(e, local=epsilon, steps=steps) <= slack
    return oracles.smallest(enough, low=0.0, high=steps * epsilon * (1 + 1e-12))


def parts_epsilon(epsilons, moves=False):
    """Return epsilon of releases on disjoint parts if a record joins one part or changes parts."""
    # Each release is a randomized response on whether its part holds the record.
    n = len(epsilons)
    responses = [oracles.randomized_response(e) for e in epsilons]
    # Index of the part that holds the record, before and after the change; n means no part.
    pairs = itertools.permutations(range(n), 2) if moves else ((i, n) for i in range(n))
    law = lambda holder: joint(responses[i][i != holder] for i in range(n))
    return max(oracles.worst_event_epsilon(law(i), law(j)) for i, j in pairs)


def finite_rho(p: ArrayLike, q: ArrayLike) -> float:
    """Return the largest D_a(p||q) / a or D_a(q||p) / a over a grid of Rényi orders a >= 1."""
    pair, moments = (np.log(p), np.log(q)), _ORDERS - 1
    logs = np.max([oracles.log_moment(*x, moments) for x in (pair, pair[::-1])], axis=0)
    kl = max(oracles.mean_loss(p, q), oracles.mean_loss(q, p))
    return max(kl, float(np.max(logs / moments / _ORDERS)))


def chain_delta(*, epsilon, delta, group):
    """Return the exact delta for a change of `group` records, at epsilon `group * epsilon`."""
    # If an event has probability x, its probability on a neighbouring dataset is at most
    # min(exp(epsilon) x + delta, 1 - exp(-epsilon) (1 - x - delta)). Apply this `group` times.
    start = np.append(0.0, np.geomspace(1e-12, 1.0, 200))
    excess, x = np.zeros_like(start), start
    for step in range(1, group + 1):
        least = math.exp(step * epsilon) * start
        ceiling = 1 - math.exp(-epsilon) * np.maximum(1 - x - delta, 0.0)
        # excess = x - exp(step * epsilon) * start, without cancellation below the ceiling.
        excess = np.minimum(math.exp(epsilon) * excess + delta, ceiling - least)
        x = np.minimum(math.exp(epsilon) * x + delta, ceiling)
    return float(np.max(excess))


def answers_rho(*, epsilon, answers=2):
    """Return rho of randomized response on `answers` values: the largest D_a / a over a >= 1."""
    return finite_rho(*response_channel(math.exp(epsilon), answers)[:2])


def adaptive_renyi(order, noise, below, above, cut):
    """Return the Rényi divergence of two Gaussian releases, the second with noise set by the first.

    The means of each release differ by 1 between neighbours. The second has noise of standard
    deviation `below` if the first output is less than `cut`, else `above`.
    """
    costs = [(order - 1) * oracles.normal_renyi(1.0, std, order) for std in (below, above)]
    log_p, log_q = oracles.log_normal(1.0, noise), oracles.log_normal(0.0, noise)
    log_f = lambda x: order * log_p(x) + (1 - order) * log_q(x) + np.where(x < cut, *costs)
    return oracles.log_integral(log_f, -1e5, 1e5, kinks=[cut]) / (order - 1)


_MIXED = {"epsilons": several(0.01, 3.0, least=3, most=3), "deltas": Drawn(lambda rng:
          10.0 ** -rng.integers(1, 9, 3) if rng.random() < 0.8 else np.zeros(3))}


@formula("G-C1", "Basic composition: epsilons add up")
@given("", _MIXED)
@upper("Dwork & Roth 2014, Theorem 3.16", enumerated_epsilon)
@setting("adaptive releases, the i-th ε_i-DP", "自适应发布，第 i 次 ε_i-DP", "epsilon",
         "compos sequential releas 组合", below="exact", epsilons=Log(0.05, 3.0))
@setting("adaptive releases, the i-th (ε_i,δ_i)-DP", "自适应发布，第 i 次 (ε_i,δ_i)-DP", "epsilon",
         "compos sequential releas 组合", below="exact", into={}, second="sum(deltas)",
         epsilons=Log(0.05, 3.0), deltas=Log(1e-9, 0.1))
@setting("k adaptive releases, each ε-DP", "k 次自适应发布，每次 ε-DP", "epsilon", REPEATED,
         below="exact", into=_copies("epsilon"), steps=COUNT, epsilon=LOSS)
@setting("k adaptive releases, each (ε,δ)-DP", "k 次自适应发布，每次 (ε,δ)-DP", "epsilon", REPEATED,
         below="exact", into=_copies("epsilon"),
         second="steps*delta", steps=COUNT, epsilon=LOSS, delta=SLACK)
@printed("1.5", "1.5", epsilons=np.array([0.5, 1.0]), deltas=np.array([0.0, 0.0]))
@printed("1.5", "1.4997", epsilons=np.array([0.5, 1.0]), deltas=np.array([0.01, 0.01]))
@wrong("tight", "It is reached as delta goes to 0 and for pure DP only.", "steps * epsilon",
       says=r"k\varepsilon \text{ is the best epsilon at every } \delta > 0",
       given="epsilon > 0 and steps >= 1 and 0 < slack < 1", kind="identity",
       oracle=responses_epsilon, without="epsilons deltas", epsilon=Log(1e-3, 3.0),
       steps=Whole(1, 2000), slack=Log(1e-12, 1e-3))
def basic_composition(*, epsilons):
    r"""(\varepsilon_i,\delta_i)\text{-DP},\ i = 1..k \ \Rightarrow\
    \textstyle\big(\sum_i\varepsilon_i, \sum_i\delta_i\big)\text{-DP}

    epsilons: Guarantee >= 0 of each release, nats"""
    return math.fsum(epsilons)


@formula("G-C1b", "Basic composition: deltas add up")
@given("", _MIXED)
@upper("Dwork & Roth 2014, Theorem 3.16", enumerated_delta)
@setting("adaptive releases, the i-th (ε_i,δ_i)-DP", "自适应发布，第 i 次 (ε_i,δ_i)-DP", "delta",
         _FOLD, below=lambda deltas: -np.expm1(np.sum(np.log1p(-deltas), axis=-1,
         keepdims=True)), deltas=Log(1e-9, 0.1))
@setting("k adaptive releases, each (ε,δ)-DP", "k 次自适应发布，每次 (ε,δ)-DP", "delta", REPEATED,
         below=lambda steps, delta: -np.expm1(steps * np.log1p(-delta)),
         into=_copies("delta"), steps=COUNT, delta=SLACK)
@printed("0.2", "0.19", epsilons=np.array([0.5, 1.0]), deltas=np.array([0.1, 0.1]))
@wrong("largest", "Every release may fail, so the chances of failing add up.",
       lambda deltas: max(deltas), says=r"\delta = \max_i\delta_i")
def basic_composition_delta(*, deltas):
    r"""\delta\big(\textstyle\sum_i\varepsilon_i\big) \le \sum_i\delta_i

    deltas: Of each release, in [0, 1]"""
    return math.fsum(deltas)


@formula("G-C6", "Gaussian releases compose by squares")
@given(mus=several(0.1, 2.0))
# The mu of the one release with the total variation distance of the composed releases.
@identity("Dong, Roth & Su 2019, Corollary 3.3", lambda mus: reduce(lambda a, b: 2 * ndtri((1 +
          delta_by_convolution(mu_1=a, mu_2=b, epsilon=0.0)) / 2), mus), tolerance=1e-8)
@setting("adaptive releases, the i-th μ_i-GDP", "自适应发布，第 i 次 μ_i-GDP", "mu", _FOLD, mus=MU)
@setting("k adaptive releases, each μ-GDP", "k 次自适应发布，每次 μ-GDP", "mu", REPEATED,
         into=_copies("mu"), steps=COUNT, mu=MU)
@setting("Gaussian noise of standard deviation σ, as GDP",
         "标准差 σ 的高斯噪声，GDP", "mu", "gauss normal 高斯", into=lambda noise_multiplier:
         {"mus": [1 / noise_multiplier]}, noise_multiplier=NOISE)
@setting("k releases with Gaussian noise σ, as GDP", "k 次高斯噪声发布，GDP", "mu", REPEATED,
         into=lambda noise_multiplier, steps: {"mus": [1 / noise_multiplier] * steps},
         noise_multiplier=NOISE, steps=COUNT)
@setting("Gaussian noise that is ρ-zCDP, as GDP", "满足 ρ-zCDP 的高斯噪声，换成 GDP", "mu",
         "gauss 高斯", into=lambda rho: {"mus": [math.sqrt(2 * rho)]}, rho=RHO)
@printed("2.29128785", "2.29128785", mus=np.array([1.0, 2.0, 0.5]))
@wrong("linear", "Independent noise adds up by its variance.", lambda mus: math.fsum(mus),
       says=r"\mu = \textstyle\sum_i\mu_i")
def gaussian_composition(*, mus):
    r"""\mu = \sqrt{\textstyle\sum_i\mu_i^2}

    mus: Sensitivity / standard deviation of each, >= 0"""
    return math.hypot(*mus)


@formula("G-C7", "Rényi DP composes by addition at one order")
@given("order > 1 and abs(2*first*noise**2/order - 1) <= 1e-9 and abs(2*second*min(below, "
       "above)**2/order - 1) <= 1e-9", order=Log(1.1, 50.0), noise=Log(0.3, 5.0),
       below=Log(0.3, 5.0), above=Log(0.3, 5.0), cut=Linear(-2.0, 3.0),
       first=Derived(lambda order, noise: order / (2 * noise**2)),
       second=Derived(lambda order, below, above: order / (2 * min(below, above)**2)))
@upper("Mironov 2017, Proposition 1", adaptive_renyi, points=60)
@setting("adaptive releases, RDP of one order", "自适应发布，同一阶的 RDP", "rdp", _FOLD,
         below="exact", into=lambda rdps: {"first": rdps[0], "second": sum(rdps[1:])}, rdps=RHO)
@setting("k adaptive releases, RDP of one order", "k 次自适应发布，同一阶的 RDP", "rdp", REPEATED,
         below="exact", into=lambda steps, rdp: {"first": rdp, "second": (steps - 1) * rdp},
         steps=COUNT, rdp=RHO)
@printed("2.0", "1.2025012", at=_WORKED_RUN)
@printed("13.125", "13.125", at=_WORKED_RUN, order=5.0, noise=5**-0.5, below=2.0, above=2.0,
         first=12.5, second=0.625)
@wrong("equality", "Adaptive releases do not meet the worst history every time.",
       says=r"D_\alpha(M_1, M_2) = \varepsilon_1(\alpha) + \sup_y\varepsilon_2(\alpha\mid M_1 = y)",
       kind="identity")
@wrong("one-history", "The supremum runs over what was released before, not over data sets alone.",
       "order / 2 * (1 / noise**2 + 1 / above**2)")
@wrong("mean-history", "Moments weigh the outputs on which most is lost; no average bounds them.",
       "order / 2 * (1 / noise**2 + Phi((cut - 1) / noise) / below**2 + (1 - Phi((cut - 1) / "
       "noise)) / above**2)", says=r"D_\alpha(M_1, M_2) \le \varepsilon_1(\alpha) + "
       r"E_y[\varepsilon_2(\alpha\mid M_1 = y)]")
@wrong("two-orders", "The sum holds at the smaller of the two orders.", "first / 2 + second",
       says=r"(\alpha/2,\varepsilon_1),\ (\alpha,\varepsilon_2)\text{-RDP} \Rightarrow "
       r"(\alpha,\varepsilon_1+\varepsilon_2)\text{-RDP}")
def rdp_composition(*, first, second):
    r"""D_\alpha(M_1, M_2) \le \varepsilon_1(\alpha) + \sup_y\varepsilon_2(\alpha\mid M_1 = y)

    first: Of the first release, nats
    second: Of the second one at the same order, nats: the largest over all outputs of the first"""
    return first + second


@formula("G-C7b", "zCDP composes by addition")
@given("", dict.fromkeys(("p", "q", "other_p", "other_q"), POSSIBLE), rho=Derived(finite_rho),
       other_rho=Derived(lambda other_p, other_q: finite_rho(other_p, other_q)))
@upper("Bun & Steinke 2016, Lemma 2.3",
       lambda p, q, other_p, other_q: finite_rho(joint([p, other_p]), joint([q, other_q])))
@setting("adaptive releases, the i-th ρ_i-zCDP", "自适应发布，第 i 次 ρ_i-zCDP", "rho", _FOLD,
         below="exact", into=lambda rhos: {"rho": rhos[0], "other_rho": sum(rhos[1:])}, rhos=RHO)
@setting("k adaptive releases, each ρ-zCDP", "k 次自适应发布，每次 ρ-zCDP", "rho", REPEATED,
         below="exact", into=lambda steps, rho: {"other_rho": (steps - 1) * rho}, steps=COUNT,
         rho=RHO)
@wrong("squares", "rho is mu^2 / 2 of a Gaussian, a square already.", "sqrt(rho**2 + other_rho**2)")
def zcdp_composition(*, rho, other_rho):
    r"""\rho = \rho_1 + \rho_2"""
    return rho + other_rho


@formula("G-C8", "Group privacy")
@given("epsilon >= 0 and 0 <= delta <= 1 and group >= 1", epsilon=Log(0.01, 3.0, also=(0.0,)),
       delta=Log(1e-12, 0.5), group=Whole(1, 40))
@upper("Vadhan 2017, Lemma 2.2, from its proof", chain_delta, absolute=0.0)
@setting("a group of k people under one (ε,δ)-DP release", "一次 (ε,δ)-DP 发布下的 k 人群体",
         "delta", GROUP, below="exact", epsilon=LOSS, delta=SLACK, group=Whole(1, 40))
@setting("a group of k people under one (ε,δ)-DP release", "一次 (ε,δ)-DP 发布下的 k 人群体",
         "epsilon", GROUP, below="exact", into={}, value=lambda value, epsilon, group, **_:
         group * epsilon, second="min(1, delta * expm1(group*epsilon) / expm1(epsilon))",
         epsilon=LOSS, delta=SLACK, group=Whole(1, 40))
@setting("a group of k people under one ε-DP release", "一次 ε-DP 发布下的 k 人群体", "epsilon",
         GROUP, below="exact", into={"delta": 0.0},
         value=lambda value, epsilon, group: group * epsilon, epsilon=LOSS, group=Whole(1, 40))
@setting("a group of k people, whatever ε is", "k 人群体，ε 任意", "delta", GROUP, below="exact",
         into={"epsilon": 30.0}, delta=SLACK, group=Whole(2, 40))
@printed("5.3670031e-06", "5.3670031e-06", epsilon=0.5, delta=1e-6, group=3)
@wrong("linear", "What a neighbour adds is inflated by e^epsilon at every further step.",
       "group * delta")
@wrong("largest-power", "An upper bound: each of the k powers of e^epsilon is at most the last.",
       "group * exp((group - 1) * epsilon) * delta", kind="identity")
def group_privacy_delta(*, epsilon, delta, group):
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow \Big(k\varepsilon,\
    \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Big)\text{-DP for groups of } k"""
    log_growth = log_expm1(group * epsilon) - log_expm1(epsilon) if epsilon else math.log(group)
    return min(delta * math.exp(min(log_growth, 700.0)), 1.0)


@formula("G-C8b", "Group privacy of zCDP")
@given("rho >= 0 and group >= 1", dict.fromkeys("pqr", POSSIBLE),
       rho=Derived(lambda p, r, q: max(finite_rho(p, r), finite_rho(r, q))), group=Whole(2, 2))
@upper("Bun & Steinke 2016, Proposition 1.9", finite_rho)
@setting("a group of k people under one ρ-zCDP release", "一次 ρ-zCDP 发布下的 k 人群体", "rho",
         GROUP, below="exact", rho=RHO, group=Whole(1, 40))
@setting("a group of k people under one release with Gaussian noise σ",
         "一次高斯噪声发布下的 k 人群体，zCDP", "rho", GROUP, below="exact",
         into=lambda noise_multiplier: {"rho": 1 / (2 * noise_multiplier**2)},
         noise_multiplier=NOISE, group=Whole(1, 40))
@printed("4.5", rho=0.5, group=3)
@wrong("linear", "rho grows like the square of a distance.", "group * rho")
def group_privacy_zcdp(*, rho, group):
    r"""\rho\text{-zCDP} \Rightarrow k^2\rho\text{-zCDP for groups of } k"""
    return group**2 * rho


@formula("G-C8c", "Group privacy of Gaussian DP")
@given("mu > 0 and group >= 1", mu=Log(0.01, 5.0), group=Whole(1, 40))
@identity("Dong, Roth & Su 2019, Theorem 2.14",
          lambda mu, group: math.sqrt(oracles.normal_renyi(math.fsum([mu] * group), 1.0)))
@setting("a group of k people under one μ-GDP release", "一次 μ-GDP 发布下的 k 人群体", "mu",
         GROUP, mu=MU, group=Whole(1, 40))
@setting("a group of k people under one release with Gaussian noise σ",
         "一次高斯噪声发布下的 k 人群体，GDP", "mu", GROUP, into=lambda noise_multiplier:
         {"mu": 1 / noise_multiplier}, noise_multiplier=NOISE, group=Whole(1, 40))
@printed("1.5", "1.5", mu=0.5, group=3)
@wrong("root", "The records of a group push in one direction; independent noise does not.",
       "sqrt(group) * mu")
def group_privacy_gaussian(*, mu, group):
    r"""\mu\text{-GDP} \Rightarrow k\mu\text{-GDP for groups of } k"""
    return group * mu


@formula("G-C9", "Parallel composition, a record added or removed")
@given(epsilons=several(0.05, 3.0, least=2, most=3))
@identity("McSherry 2009, Theorem 4", parts_epsilon)
@setting("releases on disjoint parts of the data, one record added or removed",
         "数据互不相交部分上的发布，增删一条记录", "epsilon", "disjoint parallel part 并行",
         epsilons=Log(0.05, 3.0))
@setting("disjoint parts, but a replaced record may move to another part",
         "互不相交的部分，但被替换的记录可换到别的部分", "epsilon", "replac another moves 替换",
         rare=True, into={}, value=lambda value, epsilons: sum(sorted(epsilons)[-2:]),
         epsilons=Log(0.05, 3.0))
@printed("1.0", "1.0", epsilons=np.array([0.5, 1.0, 0.3]))
@wrong("always", "A replaced record may leave one part and enter another: both releases change.",
       says=r"\varepsilon = \max_i\varepsilon_i \text{ for every adjacency}",
       oracle=lambda epsilons: parts_epsilon(epsilons, moves=True))
def parallel_composition(*, epsilons):
    r"""\varepsilon = \max_i\varepsilon_i \text{ over disjoint parts of the data}

    epsilons: Guarantee of the release on each part, >= 0, nats. The parts must be fixed
      before the data are seen"""
    return max(epsilons)


@formula("G-C10", "Pure DP is concentrated DP")
@given("epsilon >= 0", epsilon=Log(1e-3, 10.0))
@upper("Bun & Steinke 2016, Proposition 1.4", answers_rho)
@setting("every ε-DP mechanism, as zCDP", "每个 ε-DP 机制，换成 zCDP", "rho", "pure ε-dp every",
         below=below.coin_rho, epsilon=LOSS)
@setting("k adaptive releases, each ε-DP, as zCDP", "k 次自适应发布，每次 ε-DP，换成 zCDP", "rho",
         REPEATED, below=lambda epsilon, steps: steps * below.coin_rho(epsilon), into={},
         value=lambda value, steps, **_: steps * value, epsilon=LOSS, steps=COUNT)
@setting("Laplace noise of scale b on each of k answers, as zCDP",
         "k 次回答各加尺度 b 的拉普拉斯噪声，换成 zCDP", "rho", "each lap 每次 拉普拉斯",
         below=lambda: 0.0, into=lambda scale: {"epsilon": 1 / scale},
         value=lambda value, steps, **_: steps * value, scale=NOISE, steps=COUNT)
@printed("0.005", "0.00499584", epsilon=0.1)
@wrong("bounded-range", "It needs a loss that varies by epsilon in all, not by 2 epsilon.",
       "epsilon**2 / 8", met="opendp, issue 2911 (2026), of permute-and-flip",
       says=r"\varepsilon\text{-DP} \Rightarrow \tfrac18\varepsilon^2\text{-zCDP}")
@wrong("tight", "The limit for a small epsilon; epsilon tanh(epsilon/2) is the smallest.",
       says=r"\tfrac12\varepsilon^2 \text{ is the smallest } \rho", kind="identity")
def pure_to_zcdp(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \tfrac12\varepsilon^2\text{-zCDP}"""
    return epsilon**2 / 2


@formula("G-C10b", "zCDP of Laplace noise")
@given("epsilon > 0", epsilon=Log(0.01, 50.0))
@identity(_EXACT, lambda epsilon: oracles.largest_rho(lambda a:
          oracles.density_renyi(oracles.log_laplace(epsilon), oracles.log_laplace(), a, -800.0,
          800.0 + epsilon, kinks=[0.0, epsilon])), tolerance=1e-8, points=30)
@setting("Laplace noise of scale Δ/ε, as zCDP", "尺度 Δ/ε 的拉普拉斯噪声，换成 zCDP", "rho",
         "lap laplace 拉普拉斯", epsilon=LOSS)
@setting("Laplace noise of standard deviation σ, as zCDP", "标准差 σ 的拉普拉斯噪声，换成 zCDP",
         "rho", "lap 拉普拉斯", rare=True, into=lambda noise_multiplier:
         {"epsilon": math.sqrt(2) / noise_multiplier}, noise_multiplier=NOISE)
@printed("0.36787944", "0.36787944", epsilon=1.0)
@wrong("half-square", "True of every pure DP, and 5.6 times too large at epsilon = 10.",
       "epsilon**2 / 2")
@wrong("coin", "Randomized response has it, the worst of pure DP.", "epsilon*tanh(epsilon/2)")
def laplace_zcdp(*, epsilon):
    r"""\rho = \varepsilon + e^{-\varepsilon} - 1

    The smallest rho, approached by the order 1. Permute-and-flip leaks no more."""
    return epsilon + math.expm1(-epsilon)


@formula("G-C10c", "zCDP of randomized response")
@given("epsilon > 0 and 2 <= answers <= 6", epsilon=Log(1e-3, 30.0), answers=Whole(2, 6))
@identity(_EXACT, answers_rho)
@setting("randomized response over k answers, as zCDP", "k 个答案的随机应答，换成 zCDP", "rho",
         "answers respon 个答案", rare=True, epsilon=LOSS, answers=Whole(2, 6))
@printed("0.46211716", "0.46211716", epsilon=1.0, answers=2)
@wrong("two-answers", "Further answers hide the true one.", "epsilon * tanh(epsilon/2)",
       says=r"\rho = \varepsilon\tanh\frac\varepsilon2 \text{ for every } k")
@wrong("any-number", "Of more answers an order above 1 is the worst.", given="epsilon > 0",
       epsilon=Log(1e-3, 1.0), answers=Whole(7, 100))
def randomized_response_zcdp(*, epsilon, answers=2):
    r"""\rho = \varepsilon\,\frac{e^\varepsilon-1}{e^\varepsilon+k-1}

    answers: Number k of possible answers. With two of them it is epsilon tanh(epsilon/2), as that
      of discrete Laplace noise on a count"""
    return epsilon * math.expm1(epsilon) / (math.expm1(epsilon) + answers)
