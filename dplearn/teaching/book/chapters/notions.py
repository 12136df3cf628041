"""Closed-form conversions between privacy notions, and amplification bounds."""

from scipy.special import ndtri_exp

from dplearn.teaching.book.chapters import conversion, divergences, implications, sampling
from dplearn.teaching.book.kit.vocabulary import *

_DELTA, _RHO, _STEPS = Log(1e-12, 0.3), Log(1e-4, 10.0), Whole(1, 150)
_LOSS = Log(0.02, 10.0)
_EACH = "compos releas fold rounds steps adaptiv 组合"


def repeated_rdp_epsilon(*, orders, rdp, delta, steps):
    """Return the larger epsilon: `steps` Gaussian releases or a Bernoulli pair, each of RDP `rdp`.

    Both satisfy the hypothesis, so every valid epsilon of `steps` releases is at least as large.
    """
    noise = oracles.normal_epsilon(delta=delta, mu=math.sqrt(2 * steps * rdp / orders))
    return max(noise, conversion.bernoulli_epsilon(orders, rdp, delta))


def response_mu(*, epsilon):
    """Return the smallest mu for which randomized response is mu-GDP."""
    p, q = oracles.randomized_response(epsilon)
    rates = [*np.geomspace(1e-6, 0.5, 40), float(min(p))]
    miss = lambda rate: implications.most_powerful(p, q, false_positive_rate=rate)
    return max(float(ndtri(1 - a) - ndtri(miss(a))) for a in rates if 0 < miss(a) < 1)


def sampled_leak_delta(*, epsilon, delta, sample_rate):
    """Return the add/remove delta of a sampled `leaky_response` at the amplified epsilon."""
    p, q = oracles.leaky_response(epsilon, delta)
    amplified = math.log1p(sample_rate * math.expm1(epsilon))
    delta_of = partial(sampling.mixed_event_delta, p, q, amplified, sample_rate)
    return max(delta_of(added=False), delta_of(added=True))


def sampled_pair_renyi(*, p, q, order, sample_rate):
    """Return max(D(m||q), D(q||m)) for m = sample_rate * p + (1 - sample_rate) * q."""
    mixed = sample_rate * p + (1 - sample_rate) * q
    return max(oracles.finite_renyi(mixed, q, order), oracles.finite_renyi(q, mixed, order))


def _sampled_rdp(order, rdp, sample_rate):
    """Return the larger sampled RDP: randomized response or Gaussian noise, each of RDP `rdp`."""
    far = rdp + np.log(2) / (order - 1) + 1e-6
    local = below.root(lambda e: rdp - below.coin_rdp(e, order), lower=0.0, upper=far)
    exact, lie = 1 / (1 + np.exp(-local)), 1 / (1 + np.exp(local))
    one, other = (sample_rate * a + (1 - sample_rate) * b for a, b in ((exact, lie), (lie, exact)))
    parts = [order * np.log(x) + (1 - order) * np.log(y) for x, y in ((one, lie), (other, exact))]
    noise = below.sampled_rdp(order, np.sqrt(order / (2 * rdp)), np.minimum(sample_rate, 1 - 1e-9))
    return np.maximum(np.logaddexp(*parts) / (order - 1) * (1 - 1e-6), noise)


@formula("G-D1b", "Several Rényi DP releases as (epsilon, delta)-DP")
@given("orders > 1 and rdp >= 0 and steps >= 1 and 0 < delta < 1", orders=Log(1.05, 200.0),
       rdp=Log(1e-3, 5.0), steps=_STEPS, delta=_DELTA)
@upper("Mironov 2017, Propositions 1 and 3", repeated_rdp_epsilon, points=25)
@setting("k adaptive releases, each (α,ε)-RDP, as (ε',δ)-DP",
         "k 次自适应发布，每次 (α,ε)-RDP，换成 (ε',δ)-DP", "epsilon", _EACH,
         below=lambda orders, rdp, steps, delta: np.maximum(below.rdp_epsilon(orders, rdp, delta),
         below.gaussian_epsilon(delta, rho=rdp / orders, steps=steps)))
@printed("4.7792139", "3.5649137", orders=10.0, rdp=0.05, steps=70, delta=1e-5)
@wrong("one-step", "What is converted is the divergence of all releases.",
       "rdp - log(delta)/(orders - 1)", steps=Whole(30, 150))
@wrong("converted-first", "An upper bound; the logarithm is paid once, if the sum comes first.",
       "steps * (rdp - log(delta)/(orders - 1))", kind="identity", steps=Whole(2, 150))
@wrong("bracket", "Only the logarithm is divided.", "(steps*rdp - log(delta))/(orders - 1)",
       orders=Log(3.0, 200.0))
def rdp_releases_to_epsilon(*, orders, rdp, steps, delta):
    r"""\varepsilon' = k\varepsilon + \frac{\ln(1/\delta)}{\alpha-1}"""
    return steps * rdp - math.log(delta) / (orders - 1)


@formula("G-D3e", "From zCDP to delta")
@given("rho > 0 and epsilon >= rho", rho=_RHO, epsilon=Log(1e-3, 50.0))
@upper("Bun & Steinke 2016, Lemma 3.6", oracles.normal_delta, absolute=1e-290)
@setting("every ρ-zCDP mechanism, as (ε,δ)-DP", "任意 ρ-zCDP 机制，换成 (ε,δ)-DP", "delta",
         "zcdp concentrat every 集中", below=below.gaussian_delta)
@printed("0.4783069", "0.1269367", rho=0.5, epsilon=1.0)
@wrong("two-for-four", "The variance of the loss is 2 rho, and the exponent halves once more.",
       "exp(-(epsilon - rho)**2 / (2*rho))", rho=Log(1e-2, 10.0))
@wrong("no-mean", "The loss has the mean rho at worst; epsilon is measured from there.",
       "exp(-epsilon**2 / (4*rho))")
@wrong("any-epsilon", "Below the mean of the loss it falls again.", given="rho > 0 and epsilon > 0",
       rho=Log(1.0, 10.0))
def zcdp_to_delta(*, rho, epsilon):
    r"""\delta = \frac{2\,e^{-(\varepsilon-\rho)^2/4\rho}}{1 + x + \sqrt{(1+x)^2 +
    4/(\pi\rho)}},\quad x = \frac{\varepsilon-\rho}{2\rho},\ \varepsilon \ge \rho

    The exponential alone is larger; so is the root of pi rho times it."""
    x = 1 + (epsilon - rho) / (2 * rho)
    tail = math.exp(-((epsilon - rho) ** 2) / (4 * rho))
    return 2 * tail / (x + math.sqrt(x**2 + 4 / (math.pi * rho)))


@formula("G-D3f", "Several zCDP releases as (epsilon, delta)-DP")
@given("rho > 0 and steps >= 1 and 0 < delta < 1", rho=Log(1e-4, 5.0), steps=_STEPS, delta=_DELTA)
@upper("Bun & Steinke 2016, Proposition 1.3 and Lemma 2.3", oracles.normal_epsilon, points=40)
@setting("k adaptive releases, each ρ-zCDP, as (ε,δ)-DP",
         "k 次自适应发布，每次 ρ-zCDP，换成 (ε,δ)-DP", "epsilon", _EACH,
         below=below.gaussian_epsilon)
@printed("5.2985259", "4.3771781", rho=0.005, steps=100, delta=1e-5)
@wrong("k-outside-only", "The root holds the rho of all releases, too.",
       "steps*rho + 2*sqrt(rho*log(1/delta))", steps=Whole(2, 150))
@wrong("root-only", "The first term grows with k, too: it rules when k rho is large.",
       "rho + 2*sqrt(steps*rho*log(1/delta))", steps=Whole(20, 150), rho=Log(0.1, 5.0))
@wrong("converted-first", "An upper bound; the root is paid once if the sum comes first.",
       "steps*(rho + 2*sqrt(rho*log(1/delta)))", kind="identity", steps=Whole(2, 150))
def zcdp_releases_to_epsilon(*, rho, steps, delta):
    r"""\varepsilon = k\rho + 2\sqrt{k\rho\ln(1/\delta)}"""
    return steps * rho + 2 * math.sqrt(-steps * rho * math.log(delta))


@formula("G-D3g", "zCDP bounds every Rényi order")
@given("rho > 0 and order > 1", rho=_RHO, order=Log(1.05, 100.0))
@identity("Bun & Steinke 2016, Definition 1.1",
          lambda rho, order: oracles.normal_renyi(math.sqrt(2 * rho), 1.0, order), points=50)
@setting("every ρ-zCDP mechanism, RDP of order α", "任意 ρ-zCDP 机制，阶 α 的 RDP", "rdp",
         "zcdp concentrat 集中")
@printed("2.0", rho=0.5, order=4.0)
@wrong("no-order", "The bound grows in proportion to the order.", "rho")
@wrong("order-less-one", "It is the log moment that has alpha - 1 as well.", "(order - 1) * rho")
def zcdp_to_rdp(*, rho, order):
    r"""\rho\text{-zCDP} \iff D_\alpha \le \alpha\rho \text{ for all } \alpha > 1"""
    return order * rho


@formula("G-D3h", "From zCDP to epsilon and delta by one order")
@given("rho > 0 and order > 1 and 0 < delta < 1", rho=_RHO, order=Log(1.05, 200.0), delta=_DELTA)
@upper("Bun & Steinke 2016, Proposition 1.3, from its proof", oracles.normal_epsilon, points=40)
@setting("every ρ-zCDP mechanism, as (ε,δ)-DP", "任意 ρ-zCDP 机制，由 Rényi 阶 α", "epsilon",
         "zcdp concentrat 集中", below=below.gaussian_epsilon)
@printed("5.378231", "4.3771781", rho=0.5, order=5.0, delta=1e-5)
@wrong("no-order", "The divergence at that order is alpha rho.", "rho - log(delta)/(order - 1)",
       order=Log(5.0, 200.0), rho=Log(0.1, 10.0))
@wrong("order-less-one", "The bound of the divergence has alpha; alpha - 1 divides the logarithm.",
       "(order - 1)*rho - log(delta)/order", rho=Log(0.1, 10.0))
def zcdp_to_epsilon_at_order(*, rho, order, delta):
    r"""\varepsilon = \alpha\rho + \frac{\ln(1/\delta)}{\alpha-1}"""
    return order * rho - math.log(delta) / (order - 1)


@formula("G-D4c", "Pure DP bounds every Rényi order")
@given("epsilon >= 0 and order > 1", epsilon=Log(0.02, 8.0), order=Log(1.05, 200.0))
@upper("Mironov 2017, Section II", implications.bernoulli_renyi, points=60)
@setting("every ε-DP mechanism, RDP of every order", "任意 ε-DP 机制，任意阶的 RDP", "rdp",
         "pure every any 纯", below="exact", epsilon=LOSS, into={"order": 1e9})
@printed("1.0", "0.735325664", epsilon=1.0, order=2.0)
@wrong("half", "True for alpha = 1 and a small epsilon; for large orders it is all of it.",
       "epsilon / 2")
def pure_to_every_order(*, epsilon, order):
    r"""\varepsilon\text{-DP} \Rightarrow D_\alpha \le \varepsilon \text{ for every } \alpha

    order: Any; the bound is the limit of large ones"""
    return epsilon + 0 * order


@formula("G-D6b", "zCDP of Gaussian DP")
@given("mu > 0", mu=Log(0.02, 8.0), order=Log(1.1, 50.0))
@identity("Dong, Roth & Su 2019, Corollary B.6",
          lambda mu, order: oracles.normal_renyi(mu, 1.0, order) / order, points=50)
@setting("every μ-GDP mechanism, as zCDP", "任意 μ-GDP 机制，作为 zCDP", "rho",
         "gdp gaussian_diff f-dp")
@printed("0.5", mu=1.0)
@wrong("no-half", "An upper bound, twice the value.", "mu**2")
@wrong("linear", "rho grows like the square of a distance; for mu > 1 this is too small.", "mu / 2")
def gdp_to_zcdp(*, mu):
    r"""\mu\text{-GDP} \Rightarrow \rho = \frac{\mu^2}2"""
    return mu**2 / 2


@formula("G-D6c", "Gaussian DP of pure DP")
@given("epsilon > 0", epsilon=_LOSS)
@identity("Liu, Sun, Kong & Jiang 2022, Identification and amplification, pure DP", response_mu)
@setting("every ε-DP mechanism, as GDP", "任意 ε-DP 机制，作为 GDP", "mu", "pure every any 纯")
@printed("1.2320354", epsilon=1.0)
@wrong("epsilon", "Up to epsilon = 4 it is more: 1.25 epsilon near 0.", "epsilon")
@wrong("one-sided", "Both errors stand for half of mu.", "probit(exp(epsilon)/(1 + exp(epsilon)))")
def pure_to_gdp(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \mu\text{-GDP with }
    \mu = 2\,\Phi^{-1}\Big(\frac{e^\varepsilon}{1+e^\varepsilon}\Big)"""
    return -2 * float(ndtri_exp(-np.logaddexp(0.0, epsilon)))


@formula("G-D10b", "Log moments of Gaussian noise")
@given("moment > 0 and noise_multiplier > 0 and steps >= 1", moment=Log(0.5, 60.0),
       noise_multiplier=Log(0.3, 50.0), steps=Whole(1, 150))
@identity("Abadi et al. 2016, Section 3.2", lambda moment, noise_multiplier, steps:
          math.fsum([moment * oracles.normal_renyi(1.0, noise_multiplier, moment + 1)] * steps),
          points=50)
@setting("the λ-th log moment of Gaussian noise of standard deviation σ, one release",
         "标准差 σ 的高斯噪声一次发布的 λ 阶对数矩", "log_moment", "gauss normal 高斯 moment 矩",
         into={"steps": 1}, moment=Log(0.5, 60.0), noise_multiplier=Log(0.3, 50.0))
@setting("the λ-th log moment of k releases with Gaussian noise of standard deviation σ",
         "标准差 σ 的高斯噪声 k 次发布的 λ 阶对数矩", "log_moment",
         "compos releas steps rounds 组合")
@printed("1.0", moment=1.0, noise_multiplier=1.0, steps=1)
@wrong("shifted", "The moment of the loss is of one order less than that of the ratio.",
       "steps*moment*(moment - 1)/(2*noise_multiplier**2)", moment=Log(1.0, 60.0))
@wrong("square", "The mean of the loss is missing: lambda alone, beside its square.",
       "steps*moment**2/(2*noise_multiplier**2)")
@wrong("no-two", "Twice the value; the main term for sampled noise has it so.",
       "steps*moment*(moment + 1)/noise_multiplier**2")
def gaussian_log_moment(*, moment, noise_multiplier, steps=1):
    r"""K(\lambda) = \frac{k\lambda(\lambda+1)}{2\sigma^2}"""
    return steps * moment * (moment + 1) / (2 * noise_multiplier**2)


@formula("G-A12c", "Mean loss of pure DP, the first bound")
@given("epsilon >= 0", epsilon=_LOSS, p=POSSIBLE, q=POSSIBLE)
@upper("Dwork & Roth 2014, Lemma 3.18", divergences.response_kl)
@setting("two laws within e^ε of each other, KL divergence", "两个分布相差 e^ε 以内，KL 散度", "kl",
         "pure indist within every 纯", below=below.coin_rho)
@printed("1.71828", "0.4621171573", epsilon=1.0)
@wrong("tight", "epsilon tanh(epsilon/2) is the smallest, less than a third of it.",
       says=r"\mathrm{KL} = \varepsilon(e^\varepsilon-1) \text{ is attained}", kind="identity")
@wrong("no-epsilon", "The mean is of the second order: for epsilon > 1 a tanh of it is too small.",
       "tanh(epsilon / 2)", epsilon=Log(1.1, 10.0))
def mean_loss_first_bound(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \mathrm{KL} \le \varepsilon(e^\varepsilon - 1)"""
    return epsilon * math.expm1(epsilon)


@formula("G-E1e", "Poisson sampling: the amplified delta")
@given("epsilon >= 0 and 0 < delta < 1 and 0 < sample_rate <= 1", epsilon=Log(0.02, 3.0),
       delta=Log(1e-7, 0.3), sample_rate=Log(1e-3, 1.0))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 8", sampled_leak_delta, tolerance=1e-6,
          absolute=1e-15)
@setting("δ of a release on a random share q of the data, of an (ε,δ)-DP mechanism",
         "在随机抽取的比例 q 的数据上发布的 δ，机制为 (ε,δ)-DP", "delta",
         "sampl amplif 抽样 采样 放大", delta=Log(1e-9, 0.3), sample_rate=Log(1e-4, 1.0))
@printed("1e-07", epsilon=1.0, delta=1e-5, sample_rate=0.01)
@wrong("unchanged", "An upper bound: who is not sampled cannot be told of.", "delta",
       sample_rate=Log(1e-4, 0.9))
@wrong("square", "A record is sampled with chance q, not with its square.",
       "sample_rate**2 * delta", sample_rate=Log(1e-4, 0.9))
def amplified_delta(*, delta, sample_rate):
    r"""\delta' = q\delta \text{ at } \varepsilon' = \ln\big(1 + q(e^\varepsilon - 1)\big)"""
    return sample_rate * delta


@formula("G-E2b", "Sampling without replacement: the amplified epsilon")
@given("epsilon >= 0 and 1 <= batch and batch <= records", epsilon=Log(0.02, 8.0),
       records=Whole(1, 11), batch=Whole(1, 11))
@identity("Balle, Barthe & Gaboardi 2018, Theorem 9", lambda epsilon, records, batch:
          sampling.sampled_response_epsilon(epsilon, sample_rate=np.mean([0 in drawn for drawn in
          itertools.combinations(range(records), batch)])))
@setting("a release on k of n records, of a mechanism that is ε-DP for replaced records",
         "在 n 条记录中抽取 k 条发布，机制对替换记录 ε-DP", "epsilon",
         "sampl subset fixed without_repl amplif 抽样 采样", batch=Whole(1, 200),
         records=Whole(200, 5000))
@printed("0.158565", epsilon=1.0, records=10, batch=1)
@wrong("linear", "The amplified epsilon is larger for every share below 1.",
       "batch * epsilon / records")
@wrong("upside-down", "Amplification grows the smaller the share k/n is.",
       "log(1 + records*(exp(epsilon) - 1)/batch)")
def amplified_epsilon_of_subset(*, epsilon, records, batch):
    r"""\varepsilon' = \ln\Big(1 + \frac kn(e^\varepsilon - 1)\Big)"""
    return math.log1p(batch / records * math.expm1(epsilon))


@formula("G-E4c", "Rényi DP on a sample, of any mechanism")
@given("order > 1 and rdp >= 0 and 0 < sample_rate <= 1", dict.fromkeys("pq", POSSIBLE),
       order=Log(1.1, 60.0), rdp=divergences.worse_renyi("order"), sample_rate=Log(1e-3, 1.0))
@upper("Liese & Vajda 2006, joint convexity of f-divergences", sampled_pair_renyi, points=50)
@setting("a release on a random share q of the data, of an (α,ε)-RDP mechanism",
         "在随机抽取的比例 q 的数据上发布，机制为 (α,ε)-RDP", "rdp", "sampl amplif 抽样 采样 放大",
         rdp=Log(0.01, 10.0), order=Log(1.1, 40.0), below=_sampled_rdp)
@printed("0.0170369", order=2.0, rdp=1.0, sample_rate=0.01)
@wrong("linear", "The exponential is taken before the share: for a large divergence it is more.",
       "sample_rate * rdp", order=Log(2.0, 60.0))
@wrong("square", "The square is that of small divergences of Gaussian noise at low orders.",
       "sample_rate**2 * rdp")
def sampled_rdp_of_any(*, order, rdp, sample_rate):
    r"""D'_\alpha \le \frac1{\alpha-1}\ln\Big(1 + q\big(e^{(\alpha-1)\varepsilon} - 1\big)\Big)"""
    exponent = (order - 1) * rdp
    if exponent > 700:
        return rdp + math.log(sample_rate) / (order - 1)
    return math.log1p(sample_rate * math.expm1(exponent)) / (order - 1)


@formula("G-E10b", "Shuffled reports, the first closed bound")
@given("0 < local_epsilon < 0.5 and records >= 1000 and 0 < delta < 0.01",
       local_epsilon=Log(0.02, 0.499), records=Whole(1000, 100_000), delta=Log(1e-12, 0.0099))
@upper("Erlingsson et al. 2019, closed bound on amplification by shuffling",
       sampling.shuffled_responses_epsilon, tolerance=1e-6, points=25)
@setting("n shuffled reports, each ε_0-DP with ε_0 < 1/2", "n 份打乱的报告，每份 ε_0-DP，ε_0 < 1/2",
         "epsilon", "shuffl 打乱 洗牌", local_epsilon=Log(0.02, 3.0), records=Whole(1000, 3000))
@printed("0.03717", local_epsilon=0.1, records=12000, delta=1e-5)
@wrong("any-epsilon", "For a large epsilon of the report it grows like its exponential.",
       given="local_epsilon > 0 and records >= 1000 and 0 < delta < 0.01",
       local_epsilon=Log(4.0, 12.0), records=Whole(1000, 10_000))
@wrong("no-twelve", "With 1/2 in place of 12 it falls below the epsilon of shuffled coins.",
       "local_epsilon * sqrt(log(1/delta) / records) / 2")
def shuffled_epsilon_first(*, local_epsilon, records, delta):
    r"""\varepsilon \le 12\,\varepsilon_0\sqrt{\frac{\ln(1/\delta)}n}"""
    return 12 * local_epsilon * math.sqrt(-math.log(delta) / records)
