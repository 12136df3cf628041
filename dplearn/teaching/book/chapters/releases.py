"""Formulas for k releases and for groups of k people, as printed."""

from dplearn.teaching.book.chapters import composition
from dplearn.teaching.book.chapters.divergences import renyi
from dplearn.teaching.book.chapters.families import mean_loss_of_coins
from dplearn.teaching.book.chapters.implications import coins_renyi
from dplearn.teaching.book.kit.vocabulary import *

_RELEASES = {"epsilon": Log(0.005, 3.0), "steps": Whole(1, 300), "slack": Log(1e-12, 0.3)}
_ANY = "epsilon > 0 and steps >= 1 and 0 < slack < 1"
_below = lambda epsilon, steps, slack: below.coins_epsilon(epsilon, steps, slack)
_FOLD = ("k adaptive releases, each ε-DP, with slack δ'", "k 次自适应发布，每次 ε-DP，松弛 δ'",
         "epsilon", "compos releas fold rounds steps adaptiv 组合")
def two_hops_epsilon(*, epsilon):
    """Return epsilon between two neighbours of one data set, over all events.

    A rare outcome's probability grows by e^epsilon at each of the two steps.
    """
    first, last = ([x, 1 - x] for x in (1e-9, 1e-9 * math.exp(2 * epsilon)))
    return oracles.worst_event_epsilon_at(first, last, 0.0)


def geometric_rho(*, epsilon, sensitivity):
    """Return the largest D_a / a of geometric noise of rate epsilon/sensitivity, by enumeration."""
    rate = epsilon / sensitivity
    k = np.arange(-math.ceil(40 / rate), math.ceil(40 / rate) + sensitivity + 1.0)
    logs = [-rate * np.abs(k - shift) for shift in (0.0, sensitivity)]
    p, q = (np.exp(x - np.logaddexp.reduce(x)) for x in logs)
    return max(oracles.mean_loss(p, q), composition.finite_rho(p, q))


@formula("G-C2c", "Advanced composition by concentrated DP")
@given(_ANY, _RELEASES)
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.4 and Lemma 2.3", composition.coins_epsilon,
       points=50)
@setting(*_FOLD, below=_below)
@printed("5.2985259", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@wrong("half-root", "zCDP of rho costs 2 sqrt(rho ln(1/delta)), and rho is k epsilon^2 / 2.",
       "steps*epsilon**2/2 + epsilon*sqrt(steps*log(1/slack))", slack=Log(1e-12, 1e-3))
@wrong("eighth", "A loss of bounded range costs epsilon^2/8; pure DP in general four times that.",
       "steps*epsilon**2/8 + epsilon*sqrt(steps*log(1/slack)/2)", slack=Log(1e-12, 1e-3))
def advanced_composition_concentrated(*, epsilon, steps, slack):
    r"""\varepsilon' = \tfrac12k\varepsilon^2 + \varepsilon\sqrt{2k\ln(1/\delta')}"""
    return steps * epsilon**2 / 2 + epsilon * math.sqrt(-2 * steps * math.log(slack))


@formula("G-C2f", "A small budget for several releases")
@given("0 < 2*epsilon*sqrt(2*steps*log(1/slack)) and 2*epsilon*sqrt(2*steps*log(1/slack)) < 1 and "
       "steps >= 1 and 0 < slack <= 0.5", epsilon=Log(1e-4, 0.4), steps=Whole(1, 1000),
       slack=Log(1e-12, 0.5))
@upper("Dwork & Roth 2014, Corollary 3.21", composition.coins_epsilon, points=50)
@setting("a budget ε' < 1 of k releases of ε each, with slack δ'",
         "k 次发布、每次 ε 的预算 ε' < 1，松弛 δ'", "epsilon",
         "budget target may_be suffices allow 预算", below=_below)
@printed("0.9597052", "0.3371739", epsilon=0.01, steps=100, slack=1e-5)
@wrong("any-budget", "For a large budget the drift k epsilon^2 is no longer small beside the root.",
       given="epsilon > 0 and steps >= 1 and 0 < slack <= 0.5", epsilon=Log(0.5, 3.0),
       steps=Whole(50, 1000))
@wrong("no-two", "Half of the budget is kept for the drift; without it there is no room.",
       "epsilon * sqrt(2 * steps * log(1/slack))", kind="identity")
def small_budget(*, epsilon, steps, slack):
    r"""\varepsilon' = 2\varepsilon\sqrt{2k\ln(1/\delta')} < 1, \text{ so each release may have }
    \varepsilon = \frac{\varepsilon'}{2\sqrt{2k\ln(1/\delta')}}"""
    return 2 * epsilon * math.sqrt(-2 * steps * math.log(slack))


@formula("G-C2g", "Advanced composition whose logarithm grows slowly")
@given(_ANY, _RELEASES)
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.4", composition.coins_epsilon, points=50)
@setting(*_FOLD, below=_below)
@printed("5.2981153", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@wrong("no-drift", "The mean loss of every release is to be paid, too.",
       "epsilon * sqrt(2 * steps * log(e + epsilon*sqrt(steps)/slack))", steps=Whole(50, 300))
def advanced_composition_slow(*, epsilon, steps, slack):
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln\big(e + \varepsilon\sqrt k/\delta'\big)}
    + k\varepsilon\frac{e^\varepsilon - 1}{e^\varepsilon + 1}"""
    spread = math.sqrt(2 * steps * math.log(math.e + epsilon * math.sqrt(steps) / slack))
    return epsilon * spread + steps * epsilon * math.tanh(epsilon / 2)


@formula("G-C5b", "Composition of different releases by concentrated DP")
@given("0 < slack < 1", epsilons=several(0.01, 3.0, most=6), slack=Log(1e-9, 0.1))
@upper("Bun & Steinke 2016, Propositions 1.3 and 1.4 and Lemma 2.3", composition.enumerated_epsilon,
       points=50)
@setting("adaptive releases, the i-th ε_i-DP, with slack δ", "自适应发布，第 i 次 ε_i-DP，松弛 δ'",
         "epsilon", "compos releas adaptiv differ heterogen 组合", epsilons=Log(0.02, 2.0),
         below=below.lists_epsilon)
@printed("1.0884052", "0.26115", epsilons=np.array([0.1, 0.2, 0.4]), slack=0.1)
@wrong("no-drift", "The mean losses add up to half of the squares.",
       lambda epsilons, slack: math.sqrt(-2 * math.log(slack) * np.sum(epsilons**2)),
       says=r"\varepsilon' = \sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}",
       epsilons=several(2.0, 3.0, least=8, most=10), slack=Log(0.01, 0.1))
def concentrated_composition(*, epsilons, slack):
    r"""\varepsilon' = \tfrac12\sum_i\varepsilon_i^2 + \sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}

    epsilons: Guarantee >= 0 of each release, nats"""
    squares = float(np.sum(np.square(epsilons)))
    return squares / 2 + math.sqrt(-2 * math.log(slack) * squares)


@formula("G-C5c", "Total delta of different releases")
@given("0 <= slack < 1", total=Log(0.01, 5.0),
       epsilons=several(0.05, 3.0, least=3, most=3),
       deltas=several(0.01, 0.3, least=3, most=3), slack=Derived(lambda epsilons, total:
       composition.enumerated_delta(epsilons=epsilons, total=total)))
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.5", composition.enumerated_delta, tolerance=1e-8,
       absolute=1e-13)
@setting("δ of adaptive releases, the i-th (ε_i,δ_i)-DP, with slack δ'",
         "自适应发布的 δ，第 i 次 (ε_i,δ_i)-DP，松弛 δ'", "delta",
         "compos releas adaptiv differ heterogen 组合", deltas=Log(1e-9, 0.1), slack=Log(1e-9, 0.3),
         below=lambda deltas, slack: 1 - (1 - slack) * np.prod(1 - deltas, axis=-1, keepdims=True))
@printed("0.6", deltas=np.array([0.1, 0.2]), slack=0.3)
@wrong("largest", "Each release may fail on its own.", lambda deltas, slack: slack + max(deltas),
       says=r"\delta = \delta' + \max_i\delta_i")
@wrong("no-slack", "What the composition itself may fail by is paid as well.",
       lambda deltas: math.fsum(deltas), says=r"\delta = \sum_i\delta_i")
def different_releases_delta(*, deltas, slack):
    r"""\delta = \delta' + \sum_i\delta_i

    deltas: Of each release, in [0, 1]"""
    return slack + math.fsum(deltas)


@formula("G-C8d", "Group privacy, delta in its simple form")
@given("epsilon >= 0 and 0 <= delta <= 1 and group >= 1", epsilon=Log(0.01, 3.0),
       delta=Log(1e-12, 0.3), group=Whole(1, 40))
@upper("Vadhan 2017, Lemma 2.2, with the exponent of its proof", composition.chain_delta,
       absolute=0.0)
@setting("a group of k people under one (ε,δ)-DP release", "一次 (ε,δ)-DP 发布下 k 人群组的 δ",
         "delta", "group user famil household 群 用户", below=lambda epsilon, delta, group:
         np.minimum(delta * np.expm1(group * epsilon) / np.expm1(epsilon),
         (1 - delta) / (1 + np.exp(epsilon))))
@printed("8.154845e-06", "5.3670031e-06", epsilon=0.5, delta=1e-6, group=3)
@wrong("no-k", "The sum has k terms: the last one alone is less.",
       "exp((group - 1) * epsilon) * delta", group=Whole(2, 40), delta=Log(1e-12, 1e-3))
@wrong("as-composition", "So k releases add up; a group's deltas are inflated at every step.",
       "group * delta", group=Whole(2, 40), delta=Log(1e-12, 1e-3))
def group_privacy_simple(*, epsilon, delta, group):
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow (k\varepsilon,\ k\,e^{(k-1)\varepsilon}\delta)
    \text{-DP for groups of } k"""
    return group * delta * math.exp(min((group - 1) * epsilon, 700.0))


@formula("G-C8e", "From records that come or go to records that are replaced")
@given("epsilon >= 0", epsilon=Log(1e-3, 9.0))
@identity("Vadhan 2017, Lemma 2.2, for two steps", two_hops_epsilon, tolerance=1e-5)
@setting("replacing a record, of an ε-DP guarantee for adding or removing one",
         "由增删一条记录的 ε-DP 得到替换一条记录的保证", "epsilon",
         "replac substitut swap bounded 替换 有界", rare=True)
@printed("2.0", epsilon=1.0)
@wrong("same", "A replaced record leaves and another one comes: two steps.", "epsilon")
@wrong("root-two", "The root belongs to noise that is independent for both.", "sqrt(2) * epsilon")
def replaced_record_epsilon(*, epsilon):
    r"""\varepsilon\text{-DP (add/remove)} \Rightarrow 2\varepsilon\text{-DP (replace one)}"""
    return 2 * epsilon


@formula("G-C8f", "Group privacy of Rényi DP")
@given("order >= 4 and rdp >= 0", dict.fromkeys("pqr", Distribution(3, zeros=False)),
       order=Log(4.0, 100.0),
       rdp=Derived(lambda p, q, r, order: max(renyi(p, r, order=order), renyi(r, q, order=order))),
       doublings=Whole(1, 1))
@upper("Mironov 2017, Proposition 2", lambda p, q, order: oracles.finite_renyi(p, q, order / 2),
       points=60)
@setting("a group of 2^c people under one (α,ε)-RDP release, at the order α/2^c",
         "一次 (α,ε)-RDP 发布下 2^c 人的群组，阶 α/2^c", "rdp",
         "group user famil household 群 用户", below=lambda rdp, doublings: 2.0**doublings * rdp,
         given="rdp > 0", rdp=Log(0.01, 5.0), doublings=Whole(1, 5))
@printed("9.0", rdp=1.0, doublings=2, order=8.0)
@wrong("same-order", "The order is halved at each doubling; at the old one it may be four times.",
       says=r"(\alpha,\varepsilon)\text{-RDP} \Rightarrow (\alpha, 3^c\varepsilon)\text{-RDP}",
       oracle=lambda order, rdp: oracles.normal_renyi(2 * math.sqrt(2 * rdp / order), 1.0, order),
       without="p q r", rdp=Log(0.01, 5.0))
@wrong("once", "Two steps cost more than one.", "rdp")
def group_privacy_rdp(*, rdp, doublings=1):
    r"""(\alpha,\varepsilon)\text{-RDP},\ \alpha \ge 2^{c+1} \Rightarrow
    \big(\tfrac\alpha{2^c},\ 3^c\varepsilon\big)\text{-RDP for groups of } 2^c

    doublings: c, so that 2^c records change"""
    return 3**doublings * rdp


@formula("G-C10d", "Pure DP is concentrated DP: the smallest rho")
@given("epsilon > 0", epsilon=Log(1e-2, 20.0))
@identity("Harrison & Manurangsi 2026, arXiv 2510.25746", lambda epsilon: oracles.largest_rho(lambda
          a: mean_loss_of_coins(epsilon=epsilon) if a == 1 else coins_renyi(epsilon=epsilon,
          order=a)), tolerance=1e-6, points=60)
@setting("every ε-DP mechanism, as zCDP", "任意 ε-DP 机制，作为 zCDP", "rho", "pure every any 纯")
@printed("0.4621171573", epsilon=1.0)
@wrong("half-epsilon", "rho grows like epsilon^2 while epsilon is small.", "epsilon / 2")
@wrong("discrete-laplace", "Of a count; where the answer may move by more, geometric noise has a "
       "smaller rho, near to that of Laplace noise.", says=r"\text{geometric noise of } "
       r"\varepsilon\text{-DP at any sensitivity has } \rho = \varepsilon\tanh\tfrac\varepsilon2",
       oracle=geometric_rho, epsilon=Log(0.5, 10.0), sensitivity=Whole(2, 20))
def pure_to_zcdp_tight(*, epsilon):
    r"""\varepsilon\text{-DP} \Rightarrow \rho = \varepsilon\tanh\frac\varepsilon2
    = \varepsilon\,\frac{e^\varepsilon-1}{e^\varepsilon+1}"""
    return epsilon * math.tanh(epsilon / 2)
