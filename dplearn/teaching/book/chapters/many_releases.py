r"""Composition of (epsilon, delta) guarantees.

Every theorem has the same form: of the total :math:`\delta` of n releases that are
:math:`(\varepsilon_0, \delta_0)`-DP, subtracting the deltas of the releases leaves a `slack`
:math:`\delta' = 1 - (1-\delta)/(1-\delta_0)^n`, at which epsilon of n pure releases is bounded.
"""

from dplearn.accountants import theorems
from dplearn.teaching.book.chapters import composition
from dplearn.teaching.book.kit.vocabulary import *

_RELEASES = {"epsilon": Log(1e-3, 3.0), "steps": Whole(1, 2000), "slack": Log(1e-12, 0.5)}
_SMALL = Log(1e-12, 1e-3)  # slack of published claims
_ANY_RELEASES = "epsilon > 0 and steps >= 1 and 0 < slack < 1"
_PAID = {"total": Log(0.01, 5.0), "local": Log(0.05, 3.0), "steps": Whole(1, 5),
         "paid": Log(1e-9, 0.5)}
_PURE_RELEASES = setting("k adaptive releases, each ε-DP, with slack δ'",
                         "k 次自适应发布，每次 ε-DP，余量 δ'", "epsilon", REPEATED, epsilon=LOSS,
                         steps=COUNT, slack=SLACK, below=below.coins_epsilon)
_APPROXIMATE_RELEASES = setting("k adaptive releases, each (ε,δ)-DP, with slack δ'",
                                "k 次自适应发布，每次 (ε,δ)-DP，余量 δ'", "epsilon", REPEATED,
                                epsilon=LOSS, steps=COUNT, slack=SLACK, delta=SLACK,
                                below=below.coins_epsilon, into={}, second="steps*delta + slack")


def delta_of_releases(total, local, steps, paid=0.0):
    """Return the exact delta at epsilon `total` of worst-case (local, paid)-DP releases."""
    epsilons, deltas = [local] * steps, [paid] * steps
    return composition.enumerated_delta(epsilons=epsilons, deltas=deltas, total=total)


def first_below(bound: Callable[..., ArrayLike], *, epsilon, slack):
    """Return the number of releases above which `bound` beats the sum of epsilons, or inf."""
    total = lambda log: bound(epsilon=epsilon, steps=math.exp(log), slack=slack)
    better = lambda log: total(log) < math.exp(log) * epsilon
    return math.exp(oracles.smallest(better, low=0.0, high=40 * math.log(10)))


@formula("G-C2d", "Total delta where every release has one")
@given("0 <= paid < 1 and steps >= 1 and 0 <= slack < 1", _PAID,
       slack=Derived(lambda total, local, steps: delta_of_releases(total, local, steps)))
@identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", delta_of_releases, absolute=1e-14)
@setting("k adaptive releases, each (ε,δ)-DP, with slack δ'",
         "k 次自适应发布，每次 (ε,δ)-DP，余量 δ'", "delta", "compos advanced slack", slack=SLACK,
         paid=SLACK, steps=COUNT)
@printed("0.595", paid=0.1, steps=2, slack=0.5)
@wrong("slack-only", "The deltas of the releases are paid as well: k delta_0 on top.", "slack")
@wrong("no-slack", "What the composition itself may fail by is paid as well: delta' on top.",
       "steps * paid")
@wrong("sum", "Failures may happen together: the sum is a little more than their chance.",
       "steps * paid + slack")
@wrong("equal-shares",
       "The slack is not subsampled: (qk + 1) delta, unless delta' is q delta as well.",
       "(steps + 1) * paid",
       says=r"\delta_0 = q\delta,\ \delta' = \delta \ \Rightarrow\ \delta_{tot} = q(k+1)\delta",
       given="0 <= paid <= slack < 1", kind="upper")
def total_delta(*, slack, paid, steps):
    r"""\delta = 1 - (1-\delta_0)^k(1-\delta') \le k\delta_0 + \delta'"""
    return -math.expm1(steps * math.log1p(-paid) + math.log1p(-slack))


enter(theorems.composition_slack,
      formula("G-C2e", "What is left of delta for the composition itself",
              statement=r"\delta' = 1 - \frac{1-\delta}{(1-\delta_0)^k}"),
      given("0 <= delta < 1 and 0 <= paid < 1 and steps >= 1", _PAID,
            delta=Derived(delta_of_releases)),
      identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3",
               lambda total, local, steps: delta_of_releases(total, local, steps), absolute=1e-14,
               unsafe="larger"),
      printed("0.0000090000", delta=1e-5, paid=1e-8, steps=100),
      wrong("all-of-it", "The releases have spent a part of it.", "delta"))


@formula("G-C2", "Advanced composition, the first theorem")
@given(_ANY_RELEASES, _RELEASES)
@upper("Dwork, Rothblum & Vadhan 2010, Theorem III.3", composition.coins_epsilon)
@_PURE_RELEASES
@_APPROXIMATE_RELEASES
@printed("5.850235", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@printed("966.43922", "311.7676", epsilon=1.0, steps=500, slack=1e-5)
@wrong("plotted", "Without a term in k it falls below the exact optimum.",
       "2 * epsilon * sqrt(2 * steps * log(1 / slack))", slack=_SMALL)
@wrong("no-drift", "The mean loss grows with k; it may be dropped while k epsilon^2 is small.",
       "epsilon * sqrt(2 * steps * log(1 / slack))", slack=_SMALL)
@wrong("two-squares", "A bound, and half an epsilon^2 for each release would do.",
       "epsilon * sqrt(2 * steps * log(1 / slack)) + 2 * steps * epsilon**2", kind="identity")
def advanced_composition(*, epsilon, steps, slack):
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')} + k\varepsilon(e^\varepsilon - 1)"""
    epsilon = np.asarray(epsilon, dtype=float)
    with np.errstate(over="ignore"):
        drift = steps * epsilon * np.expm1(epsilon)
    return epsilon * np.sqrt(-2.0 * steps * np.log(slack)) + drift


@formula("G-C2b", "Advanced composition with the exact mean loss")
@given(_ANY_RELEASES, _RELEASES)
@upper("Kairouz, Oh & Viswanath 2015, Theorem 3.4", composition.coins_epsilon)
@_PURE_RELEASES
@_APPROXIMATE_RELEASES
@wrong("half-square", "tanh(epsilon/2) is at most epsilon/2: an upper bound, and a little larger.",
       "epsilon*sqrt(2*steps*log(1/slack)) + steps*epsilon**2/2", kind="identity",
       oracle=lambda epsilon, steps, slack: advanced_composition_kov( epsilon=epsilon, steps=steps,
       slack=slack))
@printed("5.29811", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@printed("338.35688", "311.7676", epsilon=1.0, steps=500, slack=1e-5)
def advanced_composition_kov(*, epsilon, steps, slack):
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
    + k\varepsilon\frac{e^\varepsilon - 1}{e^\varepsilon + 1}"""
    epsilon = np.asarray(epsilon, dtype=float)
    return epsilon * np.sqrt(-2.0 * steps * np.log(slack)) + steps * epsilon * np.tanh(epsilon / 2)


@formula("G-C3", "From when on the first theorem beats basic composition")
@given("epsilon > 0 and 0 < slack < 1", epsilon=Log(1e-3, 3.0), slack=Log(1e-12, 0.5))
@identity("Dwork, Rothblum & Vadhan 2010, Theorem III.3",
          partial(first_below, advanced_composition))
@setting("the number of releases from which the first advanced theorem beats adding up",
         "第一条高级组合定理优于直接相加所需的次数", "steps", "beat better break", rare=True)
@printed("inf", "inf", epsilon=1.0, slack=1e-5)
@printed("28.756", "28.756", epsilon=0.1, slack=1e-5)
@wrong("never-worse",
       "From epsilon = ln 2 on the drift alone is more than basic: take the smaller.",
       "steps * epsilon", says=r"\varepsilon\sqrt{2k\ln(1/\delta')} + k\varepsilon(e^\varepsilon - "
       r"1) \le k\varepsilon \text{ for many releases}", kind="upper", oracle=advanced_composition,
       slack=_SMALL, steps=Whole(100, 10_000))
@wrong("plotted", "That is where the curve without a drift crosses, which is no theorem.",
       "8 * log(1 / slack)", slack=_SMALL)
def advanced_composition_break_even(*, epsilon, slack):
    r"""k > k^* = \frac{2\ln(1/\delta')}{(2 - e^\varepsilon)^2}
    \text{ if } \varepsilon < \ln 2, \text{ else never}"""
    gain = 1 - math.expm1(epsilon)
    return -2 * math.log(slack) / gain**2 if gain > 0 else math.inf


@formula("G-C3b", "From when on the smaller drift beats basic composition")
@given("epsilon > 0 and 0 < slack < 1", epsilon=Log(1e-3, 3.0), slack=Log(1e-12, 0.5))
@identity("Kairouz, Oh & Viswanath 2015, Theorem 3.4",
          partial(first_below, advanced_composition_kov))
@setting("the number of releases from which the second advanced theorem beats adding up",
         "第二条高级组合定理优于直接相加所需的次数", "steps", "beat better break", rare=True)
@printed("63.669", "63.669", epsilon=1.0, slack=1e-4)
def advanced_composition_kov_break_even(*, epsilon, slack):
    r"""k > k^* = \frac{2\ln(1/\delta')}{(1 - \tanh(\varepsilon/2))^2}
    = \tfrac12(e^\varepsilon + 1)^2\ln(1/\delta')

    It is always finite."""
    return -0.5 * (math.exp(epsilon) + 1) ** 2 * math.log(slack)


enter(theorems.heterogeneous_composition,
      formula("G-C5", "Composition of different releases",
              statement=r"\varepsilon' = \min\Big\{\sum_i\varepsilon_i,\ "
              r"\sum_i\varepsilon_i\tanh\frac{\varepsilon_i}2 + "
              r"\sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}\Big\}"),
      given("0 < slack < 1", epsilons=several(0.01, 3.0, most=9),
            counts=Derived(lambda epsilons: np.ones(len(epsilons))), slack=Log(1e-9, 0.1)),
      upper("Kairouz, Oh & Viswanath 2015, Theorem 3.5", composition.enumerated_epsilon),
      setting("adaptive releases, the i-th ε_i-DP, with slack δ",
              "自适应发布，第 i 次 ε_i-DP，余量 δ", "epsilon", "compos releas 组合",
              into=lambda epsilons: {"counts": np.ones(len(epsilons), int)},
              below=below.lists_epsilon, epsilons=Log(0.05, 3.0), slack=SLACK),
      printed("0.7", "0.26115", epsilons=np.array([0.1, 0.2, 0.4]), counts=np.ones(3), slack=0.1),
    wrong("half-squares", "tanh(epsilon/2) is at most epsilon/2: an upper bound, a little larger.",
          lambda epsilons, slack: float(np.sum(epsilons**2) / 2 + math.sqrt(-2 * math.log(slack) *
          np.sum(epsilons**2))), says=r"\varepsilon' = \tfrac12\sum_i\varepsilon_i^2 + "
          r"\sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}", kind="identity"),
    wrong("largest", "Valid, and far too large where the releases differ.", lambda epsilons, slack:
          float(theorems.heterogeneous_composition(epsilons=[max(epsilons)], counts=[len(epsilons)],
          slack=slack)),
          says=r"\text{the best is that of } k \text{ releases with } \max_i\varepsilon_i",
          kind="identity", slack=_SMALL))


def _interpolated(*, total, epsilon, steps):
    """Return delta interpolated linearly in epsilon between two values of the loss."""
    j = math.floor((total / epsilon - steps) / 2)
    ends = [(steps + 2 * j) * epsilon, (steps + 2 * j + 2) * epsilon]
    deltas = [oracles.coins_delta(epsilon=e, local=epsilon, steps=steps) for e in ends]
    return float(np.interp(total, ends, deltas))


@formula("G-C4", "Optimal composition: delta of the worst releases")
@given("0 <= total <= 600 and epsilon > 0 and steps >= 1 and 0 <= paid < 1",
       total=Log(1e-3, 500.0, also=(0.0,)), epsilon=Log(1e-3, 3.0), steps=Whole(1, 2000),
       paid=Log(1e-12, 0.1, also=(0.0,)))
@identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", lambda total, epsilon, steps, paid:
          oracles.coins_delta(epsilon=total, local=epsilon, steps=steps, delta0=paid),
          tolerance=1e-8, absolute=1e-300)
@printed("2.7926361e-07", "2.7926361e-07", total=5.0, epsilon=0.1, steps=100, paid=0.0)
@wrong("interpolated", "Between them delta is concave in epsilon, so the chord lies below it.",
       _interpolated,
       says=r"\delta(\varepsilon) \text{ at } (k-2i)\varepsilon_0, \text{ and linear between}",
       given="epsilon <= total and total < steps*epsilon", oracle=lambda total, epsilon, steps:
       oracles.coins_delta(epsilon=total, local=epsilon, steps=steps), without="paid")
def optimal_composition_delta(*, total, epsilon, steps, paid=0.0):
    r"""\delta(\varepsilon) = 1 - (1-\delta_0)^k\Big(1 - \sum_j\binom kj p^j(1-p)^{k-j} \big(1 -
    e^{\varepsilon-(2j-k)\varepsilon_0}\big)_+\Big),\quad p = \frac1{1+e^{-\varepsilon_0}}

    total: Epsilon of all releases together, in [0, 600], nats; beyond, Q underflows and the value
      is an upper bound"""
    # The sum over j is P(K > k) - e^total Q(K > k), with K the number of true answers.
    k = np.clip(np.floor((total / epsilon + steps) / 2), -1, steps)
    p, q = theorems.binomial_tails(k, np.asarray(epsilon), np.asarray(steps))
    pure = max(float(p - math.exp(min(total, 700.0)) * q), 0.0)
    survive = steps * math.log1p(-paid)
    return -math.expm1(survive) + math.exp(survive) * pure


enter(theorems.optimal_composition,
      formula("G-C4b", "Optimal composition: epsilon of the worst releases",
              statement=r"\varepsilon(\delta) = \inf\{\varepsilon \ge 0: \delta(\varepsilon) \le "
              r"\delta\}"),
      given(f"{_ANY_RELEASES} and steps*epsilon <= 600", _RELEASES),
      identity("Kairouz, Oh & Viswanath 2015, Theorem 3.3", composition.coins_epsilon,
               tolerance=1e-7, absolute=1e-8),
      printed("4.306791", "4.306791", epsilon=0.1, steps=100, slack=1e-5),
      printed("4.446885", epsilon=0.1, steps=100, slack=1 - (1 - 1e-5) / (1 - 5e-8) ** 100))
