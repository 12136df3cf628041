r"""Composition of (epsilon, delta) guarantees.

Every theorem here has the same shape: n releases that are :math:`(\varepsilon_0, \delta_0)`-DP
leave a `slack` of :math:`\delta' = 1 - (1-\delta)/(1-\delta_0)^n` once the per-step
deltas are paid, and bound epsilon of n pure releases at that slack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from dplearn.accountants.theorems import (
    binomial_tails,
    composition_slack,
    heterogeneous_composition,
    optimal_composition,
)
from dplearn.book.chapters.composition import truths
from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Derived, Distribution, Drawn, Linear, Log, Parameters, Whole
from dplearn.book.kit.entry import enter, formula, given, oracle, printed, typed, wrong
from dplearn.ground import validate

_RELEASES = {"epsilon": Log(1e-3, 3.0), "steps": Whole(1, 2000), "slack": Log(1e-12, 0.5)}


# Where claims are met.


_SMALL = {"slack": Log(1e-12, 1e-3)}


_ANY_RELEASES = "epsilon > 0 and steps >= 1 and 0 < slack and slack < 1"


def _several(low: float, high: float, *, least: int = 1, most: int = 4) -> Drawn:
    """Some numbers between the ends, in two decimals."""

    def draw(rng: Generator, drawn: Parameters) -> NDArray:
        size = rng.integers(least, most + 1)
        return np.round(np.exp(rng.uniform(math.log(low), math.log(high), size)), 2)

    return Drawn(draw)


def _some_deltas(rng: Generator, drawn: Parameters) -> NDArray:
    return 10.0 ** -rng.integers(1, 9, 3) if rng.random() < 0.8 else np.zeros(3)


_MIXED = {"epsilons": _several(0.01, 3.0, least=3, most=3), "deltas": Drawn(_some_deltas)}


# Basic composition


def _best_epsilon(*, epsilons: NDArray, deltas: NDArray) -> float:
    """At the sum of the deltas."""
    return truths.enumerated_epsilon(
        epsilons=epsilons.tolist(), deltas=deltas.tolist(), delta=math.fsum(deltas)
    )


def _coins_epsilon(*, epsilon: float, steps: int, slack: float) -> float:
    """Exact epsilon of randomized responses."""
    return oracles.coins_epsilon(delta=slack, local=epsilon, steps=steps)


@formula("G-C1", "Basic composition: epsilons add up", "upper", "Dwork & Roth 2014, Theorem 3.16")
@given(**_MIXED)
@oracle(_best_epsilon)
@typed("epsilon", "pure_dp randomized_response laplace", "T*epsilon")
@printed("1.5", "1.5", epsilons=np.array([0.5, 1.0]), deltas=np.array([0.0, 0.0]))
@printed("1.5", "1.4997", epsilons=np.array([0.5, 1.0]), deltas=np.array([0.01, 0.01]))
@wrong("tight", "It is reached as delta goes to 0 and for pure DP only.",
       printed("10.0", "9.9903", epsilon=0.1, steps=100, slack=1e-30),
       printed("10.0", "4.306791", epsilon=0.1, steps=100, slack=1e-5), claim="steps * epsilon",
       says=r"k\varepsilon \text{ is the best epsilon at every } \delta > 0", given=_ANY_RELEASES,
       kind="identity", oracle=_coins_epsilon,
       **{"epsilons": None, "deltas": None, **_RELEASES, **_SMALL})
def basic_composition(*, epsilons: Sequence[float] | NDArray) -> float:
    r"""(\varepsilon_i,\delta_i)\text{-DP},\ i = 1..k \ \Rightarrow\
    \textstyle\big(\sum_i\varepsilon_i, \sum_i\delta_i\big)\text{-DP}

    epsilons: Guarantee >= 0 of each release, nats"""
    return math.fsum(epsilons)


def _delta_at_the_sum(*, epsilons: NDArray, deltas: NDArray) -> float:
    return truths.enumerated_delta(
        epsilons=epsilons.tolist(), deltas=deltas.tolist(), total=math.fsum(epsilons)
    )


@formula("G-C1b", "Basic composition: deltas add up", "upper", "Dwork & Roth 2014, Theorem 3.16")
@given(**_MIXED)
@oracle(_delta_at_the_sum)
@printed("0.2", "0.19", epsilons=np.array([0.5, 1.0]), deltas=np.array([0.1, 0.1]))
@wrong("largest", "Every release may fail, so the chances of failing add up.",
       claim=lambda deltas: max(deltas), says=r"\delta = \max_i\delta_i")
def basic_composition_delta(*, deltas: Sequence[float] | NDArray) -> float:
    r"""\delta\big(\textstyle\sum_i\varepsilon_i\big) \le \sum_i\delta_i

    deltas: Of each release, in [0, 1]"""
    return math.fsum(deltas)


# What a delta in every release costs


def _with_deltas(*, total: float, local: float, steps: int, paid: float) -> float:
    return truths.enumerated_delta(epsilons=[local] * steps, deltas=[paid] * steps, total=total)


def _without_deltas(*, total: float, local: float, steps: int) -> float:
    return truths.enumerated_delta(epsilons=[local] * steps, deltas=[0.0] * steps, total=total)


def _releases(drawn: Parameters) -> Parameters:
    return {name: drawn[name] for name in ("total", "local", "steps")}


_PAID = {
    "total": Log(0.01, 5.0),
    "local": Log(0.05, 3.0),
    "steps": Whole(1, 5),
    "paid": Log(1e-9, 0.5),
}


@formula("G-C2d", "Total delta where every release has one", "identity",
         "Kairouz, Oh & Viswanath 2015, Theorem 3.3")
@given("0 <= paid and paid < 1 and steps >= 1 and 0 <= slack and slack < 1", **_PAID,
       slack=Derived(lambda drawn: _without_deltas(**_releases(drawn))))
@oracle(_with_deltas, absolute=1e-14)
@printed("0.595", paid=0.1, steps=2, slack=0.5)
@wrong("slack-only", "The deltas of the releases are paid as well: k delta_0 on top.",
       claim="slack")
@wrong("equal-shares",
       "The slack is not subsampled: (qk + 1) delta, unless delta' is q delta as well.",
       printed("0.0010001", paid=1e-7, steps=10_000, slack=1e-5), claim="(steps + 1) * paid",
       says=r"\delta_0 = q\delta,\ \delta' = \delta \ \Rightarrow\ \delta_{tot} = q(k+1)\delta",
       given="0 <= paid and paid <= slack and slack < 1", kind="upper")
def total_delta(*, slack: float, paid: float, steps: int) -> float:
    r"""\delta = 1 - (1-\delta_0)^k(1-\delta') \le k\delta_0 + \delta'

    paid: delta_0 of one release, in [0, 1)"""
    return -math.expm1(steps * math.log1p(-paid) + math.log1p(-slack))


enter(
    composition_slack,
    formula("G-C2e", "What is left of delta for the composition itself", "identity",
            "Kairouz, Oh & Viswanath 2015, Theorem 3.3",
            statement=r"\delta' = 1 - \frac{1-\delta}{(1-\delta_0)^k}"),
    given("0 <= delta and delta < 1 and 0 <= paid and paid < 1 and steps >= 1", **_PAID,
          delta=Derived(lambda drawn: _with_deltas(**_releases(drawn), paid=drawn["paid"]))),
    oracle(_without_deltas, absolute=1e-14, unsafe="larger"),
    printed("0.0000090000", delta=1e-5, paid=1e-8, steps=100),
    wrong("all-of-it", "The releases have spent a part of it.", claim="delta"),
)


@formula("G-C2", "Advanced composition, the first theorem", "upper",
         "Dwork, Rothblum & Vadhan 2010, Theorem III.3")
@given(_ANY_RELEASES, **_RELEASES)
@oracle(_coins_epsilon)
@typed("epsilon", "pure_dp randomized_response laplace",
       "epsilon*sqrt(2*T*log(1/delta)) + T*epsilon*(exp(epsilon)-1)")
@printed("5.850235", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@printed("25.6914", "17.7871", epsilon=0.1, steps=1000, slack=1e-5)
@printed("6.26154", "4.88552", epsilon=0.01, steps=10_000, slack=1e-6)
@printed("32.357", "9.9998", epsilon=1.0, steps=10, slack=1e-5)
@printed("219.813", "79.8413", epsilon=1.0, steps=100, slack=1e-5)
@printed("966.43922", "311.7676", epsilon=1.0, steps=500, slack=1e-5)
@wrong("plotted", "Without a term in k it falls below the exact optimum.",
       typed("epsilon", "pure_dp randomized_response laplace", "2*epsilon*sqrt(2*T*log(1/delta))"),
       printed("214.5966", "311.7676", epsilon=1.0, steps=500, slack=1e-5),
       printed("121.39", "135.83", epsilon=1.0, steps=200, slack=1e-4),
       printed("191.94", "301.73", epsilon=1.0, steps=500, slack=1e-4),
       claim="2 * epsilon * sqrt(2 * steps * log(1 / slack))", **_SMALL)
@wrong("no-drift", "The mean loss grows with k; it may be dropped while k epsilon^2 is small.",
       typed("epsilon", "pure_dp randomized_response laplace", "epsilon*sqrt(2*T*log(1/delta))"),
       claim="epsilon * sqrt(2 * steps * log(1 / slack))", **_SMALL)
def advanced_composition(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
    + k\varepsilon(e^\varepsilon - 1)"""
    epsilon = np.asarray(epsilon, dtype=float)
    with np.errstate(over="ignore"):
        drift = steps * epsilon * np.expm1(epsilon)
    return _spread(epsilon, steps, slack) + drift


@formula("G-C2b", "Advanced composition with the exact mean loss", "upper",
         "Kairouz, Oh & Viswanath 2015, Theorem 3.4")
@given(_ANY_RELEASES, **_RELEASES)
@oracle(_coins_epsilon)
@typed("epsilon", "pure_dp randomized_response laplace",
       "epsilon*sqrt(2*T*log(1/delta)) + T*epsilon*(exp(epsilon)-1)/(exp(epsilon)+1)")
@printed("5.29811", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
@printed("20.1701", "17.7871", epsilon=0.1, steps=1000, slack=1e-5)
@printed("5.75652", "4.88552", epsilon=0.01, steps=10_000, slack=1e-6)
@printed("19.795", "9.9998", epsilon=1.0, steps=10, slack=1e-5)
@printed("94.1970", "79.8413", epsilon=1.0, steps=100, slack=1e-5)
@printed("338.35688", "311.7676", epsilon=1.0, steps=500, slack=1e-5)
def advanced_composition_kov(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
    + k\varepsilon\frac{e^\varepsilon - 1}{e^\varepsilon + 1}

    Parameters, units and kind as in `advanced_composition`."""
    epsilon = np.asarray(epsilon, dtype=float)
    return _spread(epsilon, steps, slack) + steps * epsilon * np.tanh(epsilon / 2)


@formula("G-C2c", "Advanced composition by way of zCDP", "upper",
         "Bun & Steinke 2016, Propositions 1.3 and 1.4")
@given(_ANY_RELEASES, **_RELEASES)
@oracle(_coins_epsilon)
@typed("epsilon", "pure_dp randomized_response laplace",
       "epsilon*sqrt(2*T*log(1/delta)) + T*epsilon^2/2")
@printed("5.298526", "4.306791", epsilon=0.1, steps=100, slack=1e-5)
def advanced_composition_zcdp(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
    + k\frac{\varepsilon^2}2

    Parameters, units and kind as in `advanced_composition`."""
    epsilon = np.asarray(epsilon, dtype=float)
    return _spread(epsilon, steps, slack) + np.asarray(steps) * epsilon**2 / 2


def _spread(epsilon: NDArray, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    return epsilon * np.sqrt(2 * np.asarray(steps, dtype=float) * -np.log(slack))


# Where advanced composition is the better one


def _first_advanced(*, epsilon: float, slack: float) -> float:
    return truths.first_below(
        lambda k: float(advanced_composition(epsilon=epsilon, steps=k, slack=slack)),
        lambda k: k * epsilon,
    )


def _first_kov(*, epsilon: float, slack: float) -> float:
    return truths.first_below(
        lambda k: float(advanced_composition_kov(epsilon=epsilon, steps=k, slack=slack)),
        lambda k: k * epsilon,
    )


def _first_theorem(*, epsilon: float, steps: int, slack: float) -> float:
    return float(advanced_composition(epsilon=epsilon, steps=steps, slack=slack))


_BREAK_EVEN = {"epsilon": Log(1e-3, 3.0), "slack": Log(1e-12, 0.5)}


@formula("G-C3", "From when on the first theorem beats basic composition", "identity",
         "Dwork, Rothblum & Vadhan 2010, Theorem III.3")
@given("epsilon > 0 and 0 < slack and slack < 1", **_BREAK_EVEN)
@oracle(_first_advanced)
@printed("inf", "inf", epsilon=1.0, slack=1e-5)
@printed("28.756", "28.756", epsilon=0.1, slack=1e-5)
@wrong("never-worse",
       "From epsilon = ln 2 on the drift alone is more than basic: take the smaller.",
       printed("500.0", "966.43922", epsilon=1.0, steps=500, slack=1e-5), claim="steps * epsilon",
       says=r"\varepsilon\sqrt{2k\ln(1/\delta')} "
       r"+ k\varepsilon(e^\varepsilon - 1) \le k\varepsilon \text{ for many releases}",
       kind="upper", oracle=_first_theorem, **_SMALL, steps=Whole(100, 10_000))
@wrong("plotted", "That is where the curve without a drift crosses, which is no theorem.",
       printed("73.68", "inf", epsilon=1.0, slack=1e-4), claim="8 * log(1 / slack)", **_SMALL)
def advanced_composition_break_even(*, epsilon: float, slack: float) -> float:
    r"""k > k^* = \frac{2\ln(1/\delta')}{(2 - e^\varepsilon)^2}
    \text{ if } \varepsilon < \ln 2, \text{ else never}"""
    validate.positive(epsilon=epsilon)
    validate.probability(slack=slack)
    gain = 1 - math.expm1(epsilon)
    return -2 * math.log(slack) / gain**2 if gain > 0 else math.inf


@formula("G-C3b", "From when on the smaller drift beats basic composition", "identity",
         "Kairouz, Oh & Viswanath 2015, Theorem 3.4")
@given("epsilon > 0 and 0 < slack and slack < 1", **_BREAK_EVEN)
@oracle(_first_kov)
@printed("63.669", "63.669", epsilon=1.0, slack=1e-4)
@printed("79.587", "79.587", epsilon=1.0, slack=1e-5)
def advanced_composition_kov_break_even(*, epsilon: float, slack: float) -> float:
    r"""k > k^* = \frac{2\ln(1/\delta')}{(1 - \tanh(\varepsilon/2))^2}
    = \tfrac12(e^\varepsilon + 1)^2\ln(1/\delta')

    Parameters and kind as in `advanced_composition_break_even`; always finite."""
    validate.positive(epsilon=epsilon)
    validate.probability(slack=slack)
    return -0.5 * (math.exp(epsilon) + 1) ** 2 * math.log(slack)


def _ones(drawn: Parameters) -> NDArray:
    return np.ones(len(drawn["epsilons"]))


def _all_coins(*, epsilons: NDArray, slack: float) -> float:
    """Exact epsilon of different randomized responses, over all their outcomes."""
    return truths.enumerated_epsilon(
        epsilons=epsilons.tolist(), deltas=[0.0] * len(epsilons), delta=slack
    )


enter(
    heterogeneous_composition,
    formula("G-C5", "Composition of different releases", "upper",
            "Kairouz, Oh & Viswanath 2015, Theorem 3.5", statement=r"\varepsilon' = "
            r"\min\Big\{\sum_i\varepsilon_i,\ \sum_i\varepsilon_i\tanh\frac{\varepsilon_i}2 + "
            r"\sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}\Big\}"),
    given("0 < slack and slack < 1", epsilons=_several(0.01, 3.0, most=9), counts=Derived(_ones),
          slack=Log(1e-9, 0.1)),
    oracle(_all_coins),
    printed("0.7", "0.26115", epsilons=np.array([0.1, 0.2, 0.4]), counts=np.ones(3), slack=0.1),
    printed("2.0167", "0.51864", epsilons=np.full(9, 0.3), counts=np.ones(9), slack=0.2),
    wrong("largest", "Valid, and far too large where the releases differ.", claim=lambda epsilons,
          slack: float(heterogeneous_composition(epsilons=[max(epsilons)], counts=[len(epsilons)],
          slack=slack)),
          says=r"\text{the best is that of } k \text{ releases with } \max_i\varepsilon_i",
          kind="identity", **_SMALL),
)


def _interpolated(*, total: float, epsilon: float, steps: int) -> float:
    """delta between the neighbouring values of the loss, on a straight line in epsilon."""
    j = math.floor((total / epsilon - steps) / 2)
    ends = [(steps + 2 * j) * epsilon, (steps + 2 * j + 2) * epsilon]
    deltas = [oracles.coins_delta(epsilon=e, local=epsilon, steps=steps) for e in ends]
    return float(np.interp(total, ends, deltas))


@formula("G-C4", "Optimal composition: delta of the worst releases", "identity",
         "Kairouz, Oh & Viswanath 2015, Theorem 3.3")
@given("0 <= total and total <= 600 and epsilon > 0 and steps >= 1 and 0 <= paid and paid < 1",
       total=Log(1e-3, 500.0, also=(0.0,)), epsilon=Log(1e-3, 3.0), steps=Whole(1, 2000),
       paid=Log(1e-12, 0.1, also=(0.0,)))
@oracle(lambda total, epsilon, steps, paid: oracles.coins_delta(epsilon=total, local=epsilon,
        steps=steps, delta0=paid), tolerance=1e-8, absolute=1e-300)
@printed("2.7926361e-07", "2.7926361e-07", total=5.0, epsilon=0.1, steps=100, paid=0.0)
@wrong("interpolated", "Between them delta is concave in epsilon, so the chord lies below it.",
       claim=_interpolated,
       says=r"\delta(\varepsilon) \text{ at } (k-2i)\varepsilon_0, \text{ and linear between}",
       given="epsilon <= total and total < steps*epsilon", oracle=lambda total, epsilon, steps:
       oracles.coins_delta(epsilon=total, local=epsilon, steps=steps), paid=None)
def optimal_composition_delta(
    *, total: float, epsilon: float, steps: int, paid: float = 0.0
) -> float:
    r"""\delta(\varepsilon) = 1 - (1-\delta_0)^k\Big(1 - \sum_j\binom kj p^j(1-p)^{k-j}
    \big(1 - e^{\varepsilon-(2j-k)\varepsilon_0}\big)_+\Big),\quad
    p = \frac1{1+e^{-\varepsilon_0}}

    total: Epsilon of all releases together, in [0, 600], nats; beyond, Q underflows and the
      value is an upper bound
    paid: delta_0 of one release, in [0, 1)"""
    # The sum over j is P(K > k) - e^total Q(K > k), with K the number of true answers.
    k = np.clip(np.floor((total / epsilon + steps) / 2), -1, steps)
    p, q = binomial_tails(k, np.asarray(epsilon), np.asarray(steps))
    pure = max(float(p - math.exp(min(total, 700.0)) * q), 0.0)
    survive = steps * math.log1p(-paid)
    return -math.expm1(survive) + math.exp(survive) * pure


enter(
    optimal_composition,
    formula("G-C4b", "Optimal composition: epsilon of the worst releases", "identity",
            "Kairouz, Oh & Viswanath 2015, Theorem 3.3", statement=r"\varepsilon(\delta) = "
            r"\inf\{\varepsilon \ge 0: \delta(\varepsilon) \le \delta\}"),
    given(f"{_ANY_RELEASES} and steps*epsilon <= 600", **_RELEASES),
    oracle(_coins_epsilon, tolerance=1e-7, absolute=1e-8),
    printed("4.306791", "4.306791", epsilon=0.1, steps=100, slack=1e-5),
    printed("311.7676", "311.7676", epsilon=1.0, steps=500, slack=1e-5),
    printed("9.9998", "9.9998", epsilon=1.0, steps=10, slack=1e-5),
    printed("4.446885", epsilon=0.1, steps=100, slack=1 - (1 - 1e-5) / (1 - 5e-8) ** 100),
)


# Relative error granted to the incomplete beta function.


# Gaussian, Rényi and concentrated DP


@formula("G-C6", "Gaussian releases compose by squares", "identity",
         "Dong, Roth & Su 2019, Corollary 3.3")
@given(mus=_several(0.1, 2.0))
@oracle(lambda mus: truths.gaussians_mu(mus=mus.tolist()), tolerance=1e-8)
@printed("2.29128785", "2.29128785", mus=np.array([1.0, 2.0, 0.5]))
@wrong("linear", "Independent noise adds up by its variance.",
       printed("3.5", mus=np.array([1.0, 2.0, 0.5])), claim=lambda mus: math.fsum(mus),
       says=r"\mu = \textstyle\sum_i\mu_i")
def gaussian_composition(*, mus: Sequence[float] | NDArray) -> float:
    r"""\mu = \sqrt{\textstyle\sum_i\mu_i^2}

    mus: Sensitivity / standard deviation of each, >= 0"""
    return math.hypot(*mus)


def _mean_over_outputs(
    *, order: float, noise: float, below: float, above: float, cut: float
) -> float:
    """Cost of both releases, with that of the second averaged over the first one's output."""
    share = float(ndtr((cut - 1) / noise))
    later = share / below**2 + (1 - share) / above**2
    return order / 2 * (1 / noise**2 + later)


_WORKED_RUN = {
    "order": 2.0, "noise": 1.0, "below": 1.0, "above": 3.0, "cut": 0.5, "first": 1.0, "second": 1.0,
}  # fmt: skip


def _their_costs(
    *, order: float, noise: float, below: float, above: float, first: float, second: float
) -> bool:
    """alpha > 1; first and second are what the releases cost at this order, at the worst."""
    expected = order / (2 * noise**2), order / (2 * min(below, above) ** 2)
    return order > 1 and np.allclose((first, second), expected, rtol=1e-12)


@formula("G-C7", "Rényi DP composes by addition at one order", "upper",
         "Mironov 2017, Proposition 1")
@given(_their_costs, order=Log(1.1, 50.0), noise=Log(0.3, 5.0), below=Log(0.3, 5.0),
       above=Log(0.3, 5.0), cut=Linear(-2.0, 3.0),
       first=Derived(lambda drawn: drawn["order"] / (2 * drawn["noise"] ** 2)),
       second=Derived(lambda drawn: drawn["order"] / (2 * min(drawn["below"], drawn["above"]) **
       2)))
@oracle(truths.adaptive_renyi, points=60)
@printed("2.0", "1.2025012", **_WORKED_RUN)
@printed("13.125", "13.125", **{**_WORKED_RUN, "order": 5.0, "noise": 5**-0.5, "below": 2.0,
         "above": 2.0, "first": 12.5, "second": 0.625})
@wrong("equality", "Adaptive releases do not meet the worst history every time.",
       says=r"D_\alpha(M_1, M_2) = \varepsilon_1(\alpha) + \sup_y\varepsilon_2(\alpha\mid M_1 = y)",
       kind="identity")
@wrong("one-history", "The supremum runs over what was released before, not over data sets alone.",
       printed("1.1111", "1.2025012", **_WORKED_RUN),
       claim="order / 2 * (1 / noise**2 + 1 / above**2)")
@wrong("mean-history", "Moments weigh the outputs on which most is lost; no average bounds them.",
       printed("1.38537", "1.2025012", **_WORKED_RUN), claim=_mean_over_outputs,
       says=r"D_\alpha(M_1, "
       r"M_2) \le \varepsilon_1(\alpha) + E_y[\varepsilon_2(\alpha\mid M_1 = y)]")
@wrong("two-orders", "The sum holds at the smaller of the two orders.", claim="first / 2 + second",
       says=r"(\alpha/2,\varepsilon_1),\ " r"(\alpha,\varepsilon_2)\text{-RDP} \Rightarrow "
       r"(\alpha,\varepsilon_1+\varepsilon_2)\text{-RDP}")
def rdp_composition(*, first: float, second: float) -> float:
    r"""D_\alpha(M_1, M_2) \le \varepsilon_1(\alpha)
    + \sup_y\varepsilon_2(\alpha\mid M_1 = y)

    first: Of the first release, nats
    second: Of the second one at the same order, nats: the largest over all outputs of the
      first"""
    return first + second


_COIN_PAIR = {name: Distribution(3, zeros=False) for name in ("p", "q", "other_p", "other_q")}


@formula("G-C7b", "zCDP composes by addition", "upper", "Bun & Steinke 2016, Lemma 2.3")
@given(**_COIN_PAIR, rho=Derived(lambda drawn: truths.finite_rho(drawn["p"], drawn["q"])),
       other_rho=Derived(lambda drawn: truths.finite_rho(drawn["other_p"], drawn["other_q"])))
@oracle(lambda p, q, other_p, other_q: truths.finite_rho(truths.joint([p, other_p]),
        truths.joint([q, other_q])))
@wrong("squares", "rho is mu^2 / 2 of a Gaussian, a square already.",
       claim=lambda rho, other_rho: math.hypot(rho, other_rho),
       says=r"\rho = \sqrt{\rho_1^2 + \rho_2^2}")
def zcdp_composition(*, rho: float, other_rho: float) -> float:
    r"""\rho = \rho_1 + \rho_2"""
    return rho + other_rho


# Groups and parts of the data


@formula("G-C8", "Group privacy", "upper", "Vadhan 2017, Lemma 2.2, from its proof")
@given("epsilon >= 0 and 0 <= delta and delta <= 1 and group >= 1",
       epsilon=Log(0.01, 3.0, also=(0.0,)), delta=Log(1e-12, 0.5), group=Whole(1, 40))
@oracle(truths.chain_delta, absolute=0.0)
@printed("5.3670031e-06", "5.3670031e-06", epsilon=0.5, delta=1e-6, group=3)
@wrong("linear", "What a neighbour adds is inflated by e^epsilon at every further step.",
       printed("3e-06", "5.3670031e-06", epsilon=0.5, delta=1e-6, group=3), claim="group * delta")
def group_privacy_delta(*, epsilon: float, delta: float, group: int) -> float:
    r"""(\varepsilon,\delta)\text{-DP} \Rightarrow \Big(k\varepsilon,\
    \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Big)\text{-DP for groups of } k"""
    if epsilon == 0:
        return min(group * delta, 1.0)
    # The quotient of expm1, with the exponent taken out so that nothing overflows.
    log_factor = (group - 1) * epsilon + math.log(
        math.expm1(-group * epsilon) / math.expm1(-epsilon)
    )
    return min(delta * math.exp(min(log_factor, 700.0)), 1.0)


_CHAIN = {name: Distribution(3, zeros=False) for name in "pqr"}


def _rho_of_neighbours(drawn: Parameters) -> float:
    pairs = (("p", "r"), ("r", "q"))
    return max(truths.finite_rho(drawn[a], drawn[b]) for a, b in pairs)


@formula("G-C8b", "Group privacy of zCDP", "upper", "Bun & Steinke 2016, Proposition 1.9")
@given("rho >= 0 and group >= 1", **_CHAIN, rho=Derived(_rho_of_neighbours), group=Whole(2, 2))
@oracle(lambda p, q: truths.finite_rho(p, q))
@printed("4.5", rho=0.5, group=3)
@wrong("linear", "rho grows like the square of a distance.", claim="group * rho")
def group_privacy_zcdp(*, rho: float, group: int) -> float:
    r"""\rho\text{-zCDP} \Rightarrow k^2\rho\text{-zCDP for groups of } k"""
    return group**2 * rho


def _gaussian_chain(*, mu: float, group: int) -> float:
    """mu from the Rényi divergence of order 2, by quadrature, of records that move the mean."""
    mean = math.fsum([mu] * group)
    laws = oracles.log_normal(mean), oracles.log_normal()
    return math.sqrt(oracles.density_renyi(*laws, 2.0, -1e4, 1e4))


@formula("G-C8c", "Group privacy of Gaussian DP", "identity", "Dong, Roth & Su 2019, Theorem 2.14")
@given("mu > 0 and group >= 1", mu=Log(0.01, 5.0), group=Whole(1, 40))
@oracle(_gaussian_chain)
@printed("1.5", "1.5", mu=0.5, group=3)
@wrong("root", "The records of a group push in one direction; independent noise does not.",
       claim="sqrt(group) * mu")
def group_privacy_gaussian(*, mu: float, group: int) -> float:
    r"""\mu\text{-GDP} \Rightarrow k\mu\text{-GDP for groups of } k"""
    return group * mu


_PARTS = {"epsilons": _several(0.05, 3.0, least=2, most=3)}


@formula("G-C9", "Parallel composition, a record added or removed", "identity",
         "McSherry 2009, Theorem 4")
@given(**_PARTS)
@oracle(lambda epsilons: truths.parts_epsilon(epsilons=epsilons.tolist(), moves=False))
@printed("1.0", "1.0", epsilons=np.array([0.5, 1.0, 0.3]))
@wrong("always", "A replaced record may leave one part and enter another: both releases change.",
       printed("1.0", "2.0", epsilons=np.array([1.0, 1.0])),
       says=r"\varepsilon = \max_i\varepsilon_i \text{ for every adjacency}",
       oracle=lambda epsilons: truths.parts_epsilon(epsilons=epsilons.tolist(), moves=True))
def parallel_composition(*, epsilons: Sequence[float] | NDArray) -> float:
    r"""\varepsilon = \max_i\varepsilon_i \text{ over disjoint parts of the data}

    epsilons: Guarantee of the release on each part, >= 0, nats. The parts must be fixed
      before the data are seen"""
    return max(epsilons)


@formula("G-C9b", "Parallel composition, a record replaced", "identity",
         "McSherry 2009, Theorem 4, for the other adjacency")
@given(**_PARTS)
@oracle(lambda epsilons: truths.parts_epsilon(epsilons=epsilons.tolist(), moves=True))
@printed("1.5", "1.5", epsilons=np.array([0.5, 1.0, 0.3]))
def parallel_composition_replaced(*, epsilons: Sequence[float] | NDArray) -> float:
    r"""\varepsilon = \max_{i\ne j}(\varepsilon_i+\varepsilon_j)
    \text{ if the new value may belong to another part}

    epsilons: Guarantee of the release on each of two or more parts, >= 0, nats, for a
      record that comes or goes as well as for one that is replaced within the part"""
    return math.fsum(sorted(epsilons)[-2:])


# Pure DP as concentrated DP


@formula("G-C10", "Pure DP is concentrated DP", "upper", "Bun & Steinke 2016, Proposition 1.4")
@given("epsilon >= 0", epsilon=Log(1e-3, 10.0))
@oracle(truths.coin_rho)
@typed("rdp", "pure_dp randomized_response laplace", "alpha*epsilon^2/2")
@printed("0.005", "0.00499584", epsilon=0.1)
@wrong("bounded-range", "It needs a loss that varies by epsilon in all, not by 2 epsilon.",
       claim="epsilon**2 / 8",
       says=r"\varepsilon\text{-DP} \Rightarrow \tfrac18\varepsilon^2\text{-zCDP}")
@wrong("tight", "The limit for a small epsilon; epsilon tanh(epsilon/2) is the smallest.",
       says=r"\tfrac12\varepsilon^2 \text{ is the smallest } \rho", kind="identity")
def pure_to_zcdp(*, epsilon: float) -> float:
    r"""\varepsilon\text{-DP} \Rightarrow \tfrac12\varepsilon^2\text{-zCDP}"""
    return epsilon**2 / 2


@formula("G-C10b", "The smallest rho of pure DP", "identity",
         "Bun & Steinke 2016, Proposition 3.3, at order 1")
@given("epsilon >= 0", epsilon=Log(1e-3, 10.0))
@oracle(truths.coin_rho)
@printed("0.00499584", "0.00499584", epsilon=0.1)
@printed("0.4621171573", "0.4621171573", epsilon=1.0)
def pure_to_zcdp_tight(*, epsilon: float) -> float:
    r"""\sup_{\alpha>1}\frac{D_\alpha}\alpha = \varepsilon\tanh\frac\varepsilon2

    Of randomized response :math:`D_\alpha/\alpha` is largest as the order tends to 1."""
    return epsilon * math.tanh(epsilon / 2)
