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
from scipy.special import betainc, ndtr

from dplearn.formulas import _oracles as oracles
from dplearn.formulas import _oracles_composition as outcomes
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Derived, Distribution, Given, Linear, Log, Parameters, Whole
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_DRV = Reference("Dwork, Rothblum & Vadhan", 2010, "Theorem III.3")
_KOV = "Kairouz, Oh & Viswanath"
_RELEASES = {"epsilon": Log(1e-3, 3.0), "steps": Whole(1, 2000), "slack": Log(1e-12, 0.5)}
# Where claims are met.
_SMALL = {"slack": Log(1e-12, 1e-3)}
_ANY_RELEASES = "epsilon > 0 and steps >= 1 and 0 < slack and slack < 1"


def _several(low: float, high: float, *, least: int = 1, most: int = 4) -> Given:
    """Some numbers between the ends, in two decimals."""

    def draw(rng: Generator, drawn: Parameters) -> NDArray:
        size = rng.integers(least, most + 1)
        return np.round(np.exp(rng.uniform(math.log(low), math.log(high), size)), 2)

    return Given(draw)


def _some_deltas(rng: Generator, drawn: Parameters) -> NDArray:
    return 10.0 ** -rng.integers(1, 9, 3) if rng.random() < 0.8 else np.zeros(3)


_MIXED = {"epsilons": _several(0.01, 3.0, least=3, most=3), "deltas": Given(_some_deltas)}


# Basic composition


def _best_epsilon(*, epsilons: NDArray, deltas: NDArray) -> float:
    """At the sum of the deltas."""
    return outcomes.enumerated_epsilon(
        epsilons=epsilons.tolist(), deltas=deltas.tolist(), delta=math.fsum(deltas)
    )


def _coins_epsilon(*, epsilon: float, steps: int, slack: float) -> float:
    """Exact epsilon of randomized responses."""
    return oracles.coins_epsilon(delta=slack, local=epsilon, steps=steps)


@formula(
    "G-C1",
    title="Basic composition: epsilons add up",
    kind="upper",
    statement=r"""(\varepsilon_i,\delta_i)\text{-DP},\ i = 1..k \ \Rightarrow\
        \textstyle\big(\sum_i\varepsilon_i, \sum_i\delta_i\big)\text{-DP}""",
    reference=Reference("Dwork & Roth", 2014, "Theorem 3.16"),
    domain=_MIXED,
    oracle=_best_epsilon,
    examples=[
        ({"epsilons": np.array([0.5, 1.0]), "deltas": np.array([0.0, 0.0])}, "1.5", "1.5"),
        ({"epsilons": np.array([0.5, 1.0]), "deltas": np.array([0.01, 0.01])}, "1.5", "1.4997"),
    ],
    misprints=[
        Misprint(
            "tight",
            r"k\varepsilon \text{ is the best epsilon at every } \delta > 0",
            claim=lambda epsilon, steps: steps * epsilon,
            kind="identity",
            requires=_ANY_RELEASES,
            domain={"epsilons": None, "deltas": None, **_RELEASES, **_SMALL},
            oracle=_coins_epsilon,
            source="summaries that call basic composition tight",
            note="It is reached as delta goes to 0 and for pure DP only.",
            seen=("F21",),
            examples=[
                ({"epsilon": 0.1, "steps": 100, "slack": 1e-30}, "10.0", "9.9903"),
                ({"epsilon": 0.1, "steps": 100, "slack": 1e-5}, "10.0", "4.306791"),
            ],
        ),
    ],
)
def basic_composition(*, epsilons: Sequence[float] | NDArray) -> float:
    """Sum of the epsilons: what adaptive releases cost together at the sum of their deltas.

    Parameters
    ----------
    epsilons : sequence of float
        Guarantee >= 0 of each release, nats.

    Returns
    -------
    float
        Upper bound, nats; exact for pure DP.

    References
    ----------
    Dwork, McSherry, Nissim & Smith (2006); Dwork & Roth (2014), Theorem 3.16.

    Examples
    --------
    >>> basic_composition(epsilons=[0.5, 1.0])
    1.5
    """
    return math.fsum(epsilons)


def _delta_at_the_sum(*, epsilons: NDArray, deltas: NDArray) -> float:
    return outcomes.enumerated_delta(
        epsilons=epsilons.tolist(), deltas=deltas.tolist(), total=math.fsum(epsilons)
    )


@formula(
    "G-C1b",
    title="Basic composition: deltas add up",
    kind="upper",
    statement=r"\delta\big(\textstyle\sum_i\varepsilon_i\big) \le \sum_i\delta_i",
    reference=Reference("Dwork & Roth", 2014, "Theorem 3.16"),
    domain=_MIXED,
    oracle=_delta_at_the_sum,
    examples=[
        ({"epsilons": np.array([0.5, 1.0]), "deltas": np.array([0.1, 0.1])}, "0.2", "0.19"),
    ],
    misprints=[
        Misprint(
            "largest",
            r"\delta = \max_i\delta_i",
            claim=lambda deltas: max(deltas),
            source="readings of delta as a fixed failure probability",
            note="Every release may fail, so the chances of failing add up.",
        ),
    ],
)
def basic_composition_delta(*, deltas: Sequence[float] | NDArray) -> float:
    """Sum of the deltas: what adaptive releases cost together at the sum of their epsilons.

    Parameters
    ----------
    deltas : sequence of float
        Of each release, in [0, 1].

    Returns
    -------
    float
        Upper bound; 1 minus the product of 1 - delta is exact for the worst releases.

    References
    ----------
    Dwork & Roth (2014), Theorem 3.16.

    Examples
    --------
    >>> round(basic_composition_delta(deltas=[1e-6, 2e-6]), 9)
    3e-06
    """
    return math.fsum(deltas)


# What a delta in every release costs


def _with_deltas(*, total: float, local: float, steps: int, paid: float) -> float:
    return outcomes.enumerated_delta(epsilons=[local] * steps, deltas=[paid] * steps, total=total)


def _without_deltas(*, total: float, local: float, steps: int) -> float:
    return outcomes.enumerated_delta(epsilons=[local] * steps, deltas=[0.0] * steps, total=total)


def _releases(drawn: Parameters) -> Parameters:
    return {name: drawn[name] for name in ("total", "local", "steps")}


_PAID = {
    "total": Log(0.01, 5.0),
    "local": Log(0.05, 3.0),
    "steps": Whole(1, 5),
    "paid": Log(1e-9, 0.5),
}


@formula(
    "G-C2d",
    title="Total delta where every release has one",
    kind="identity",
    statement=r"\delta = 1 - (1-\delta_0)^k(1-\delta') \le k\delta_0 + \delta'",
    requires="0 <= paid and paid < 1 and steps >= 1 and 0 <= slack and slack < 1",
    reference=Reference(_KOV, 2015, "Theorem 3.3"),
    domain={**_PAID, "slack": Derived(lambda drawn: _without_deltas(**_releases(drawn)))},
    oracle=_with_deltas,
    absolute=1e-14,
    examples=[({"paid": 0.1, "steps": 2, "slack": 0.5}, "0.595")],
    misprints=[
        Misprint(
            "slack-only",
            r"\delta = \delta'",
            claim=lambda slack: slack,
            source="advanced composition quoted for pure releases",
            note="The deltas of the releases are paid as well: k delta_0 on top.",
        ),
        Misprint(
            "equal-shares",
            r"\delta_0 = q\delta,\ \delta' = \delta \ \Rightarrow\ \delta_{tot} = q(k+1)\delta",
            claim=lambda paid, steps: (steps + 1) * paid,
            kind="upper",
            requires="0 <= paid and paid <= slack and slack < 1",
            source="course notes on composition after subsampling",
            note="The slack is not subsampled: (qk + 1) delta, unless delta' is q delta as well.",
            seen=("F23",),
            examples=[({"paid": 1e-7, "steps": 10_000, "slack": 1e-5}, "0.0010001")],
        ),
    ],
)
def total_delta(*, slack: float, paid: float, steps: int) -> float:
    r"""Delta :math:`1 - (1-\delta_0)^k(1-\delta')` of k releases that have `paid` each.

    Parameters
    ----------
    slack : float
        delta' of k pure releases at the same total epsilon, in [0, 1].
    paid : float
        delta_0 of one release, in [0, 1).
    steps : int
        Number k of releases.

    Returns
    -------
    float
        Exact for the worst releases, never above k delta_0 + delta'.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.3.

    Examples
    --------
    >>> round(total_delta(slack=9e-6, paid=1e-8, steps=100), 9)
    1e-05
    """
    return -math.expm1(steps * math.log1p(-paid) + math.log1p(-slack))


@formula(
    "G-C2e",
    title="What is left of delta for the composition itself",
    kind="identity",
    statement=r"\delta' = 1 - \frac{1-\delta}{(1-\delta_0)^k}",
    requires="0 <= delta and delta < 1 and 0 <= paid and paid < 1 and steps >= 1",
    reference=Reference(_KOV, 2015, "Theorem 3.3"),
    domain={
        **_PAID,
        "delta": Derived(lambda drawn: _with_deltas(**_releases(drawn), paid=drawn["paid"])),
    },
    oracle=_without_deltas,
    absolute=1e-14,
    unsafe="larger",
    examples=[({"delta": 1e-5, "paid": 1e-8, "steps": 100}, "0.0000090000")],
    misprints=[
        Misprint(
            "all-of-it",
            r"\delta' = \delta",
            claim=lambda delta: delta,
            source="calculators that take one delta",
            note="The releases have spent a part of it.",
        ),
    ],
)
def composition_slack(*, delta: ArrayLike, paid: ArrayLike, steps: ArrayLike) -> NDArray:
    """What is left of `delta` after `steps` releases paid `paid` each; <= 0 if nothing.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.3.

    Examples
    --------
    >>> round(float(composition_slack(delta=1e-5, paid=1e-8, steps=100)), 8)
    9e-06
    """
    log_left = np.log1p(-np.asarray(delta)) - steps * np.log1p(-np.asarray(paid))
    # Overpaid by much is as bad as overpaid by a little.
    return -np.expm1(np.minimum(log_left, 1.0))


@formula(
    "G-C2",
    title="Advanced composition, the first theorem",
    kind="upper",
    statement=r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
        + k\varepsilon(e^\varepsilon - 1)""",
    requires=_ANY_RELEASES,
    reference=_DRV,
    domain=_RELEASES,
    oracle=_coins_epsilon,
    examples=[
        ({"epsilon": 0.1, "steps": 100, "slack": 1e-5}, "5.850235", "4.306791"),
        ({"epsilon": 0.1, "steps": 1000, "slack": 1e-5}, "25.6914", "17.7871"),
        ({"epsilon": 0.01, "steps": 10_000, "slack": 1e-6}, "6.26154", "4.88552"),
        ({"epsilon": 1.0, "steps": 10, "slack": 1e-5}, "32.357", "9.9998"),
        ({"epsilon": 1.0, "steps": 100, "slack": 1e-5}, "219.813", "79.8413"),
        ({"epsilon": 1.0, "steps": 500, "slack": 1e-5}, "966.43922", "311.7676"),
    ],
    misprints=[
        Misprint(
            "plotted",
            r"\varepsilon' = 2\varepsilon\sqrt{2k\ln(1/\delta')}",
            claim=lambda epsilon, steps, slack: (
                2 * epsilon * math.sqrt(2 * steps * math.log(1 / slack))
            ),
            domain=_SMALL,
            source="the plots of an online textbook",
            note="Without a term in k it falls below the exact optimum.",
            seen=("F111",),
            examples=[
                ({"epsilon": 1.0, "steps": 500, "slack": 1e-5}, "214.5966", "311.7676"),
                ({"epsilon": 1.0, "steps": 200, "slack": 1e-4}, "121.39", "135.83"),
                ({"epsilon": 1.0, "steps": 500, "slack": 1e-4}, "191.94", "301.73"),
            ],
        ),
        Misprint(
            "no-drift",
            r"\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}",
            claim=lambda epsilon, steps, slack: (
                epsilon * math.sqrt(2 * steps * math.log(1 / slack))
            ),
            domain=_SMALL,
            source="course notes that keep the leading term",
            note="The mean loss grows with k; it may be dropped while k epsilon^2 is small.",
            seen=("F23",),
        ),
    ],
)
def advanced_composition(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""Total epsilon of `steps` epsilon-DP releases at delta = `slack`, the first theorem.

    Parameters
    ----------
    epsilon : array_like
        Guarantee of one release, >= 0, in nats.
    steps : array_like
        Number of adaptive releases, >= 1.
    slack : array_like
        Added failure probability, in (0, 1).

    Returns
    -------
    ndarray
        Upper bound :math:`\sqrt{2k\ln(1/\delta')}\,\varepsilon + k\varepsilon(e^\varepsilon - 1)`.

    References
    ----------
    Dwork, Rothblum & Vadhan (2010), Theorem III.3.

    Examples
    --------
    >>> round(float(advanced_composition(epsilon=0.1, steps=100, slack=1e-5)), 6)
    5.850235
    """
    epsilon = np.asarray(epsilon, dtype=float)
    with np.errstate(over="ignore"):
        drift = steps * epsilon * np.expm1(epsilon)
    return _spread(epsilon, steps, slack) + drift


@formula(
    "G-C2b",
    title="Advanced composition with the exact mean loss",
    kind="upper",
    statement=r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
        + k\varepsilon\frac{e^\varepsilon - 1}{e^\varepsilon + 1}""",
    requires=_ANY_RELEASES,
    reference=Reference(_KOV, 2015, "Theorem 3.4"),
    domain=_RELEASES,
    oracle=_coins_epsilon,
    examples=[
        ({"epsilon": 0.1, "steps": 100, "slack": 1e-5}, "5.29811", "4.306791"),
        ({"epsilon": 0.1, "steps": 1000, "slack": 1e-5}, "20.1701", "17.7871"),
        ({"epsilon": 0.01, "steps": 10_000, "slack": 1e-6}, "5.75652", "4.88552"),
        ({"epsilon": 1.0, "steps": 10, "slack": 1e-5}, "19.795", "9.9998"),
        ({"epsilon": 1.0, "steps": 100, "slack": 1e-5}, "94.1970", "79.8413"),
        ({"epsilon": 1.0, "steps": 500, "slack": 1e-5}, "338.35688", "311.7676"),
    ],
)
def advanced_composition_kov(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""The same with the smaller drift :math:`k\varepsilon\tanh(\varepsilon/2)`.

    Parameters, units and kind as in `advanced_composition`.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.4.

    Examples
    --------
    >>> round(float(advanced_composition_kov(epsilon=0.1, steps=100, slack=1e-5)), 5)
    5.29811
    """
    epsilon = np.asarray(epsilon, dtype=float)
    return _spread(epsilon, steps, slack) + steps * epsilon * np.tanh(epsilon / 2)


@formula(
    "G-C2c",
    title="Advanced composition by way of zCDP",
    kind="upper",
    statement=r"""\varepsilon' = \varepsilon\sqrt{2k\ln(1/\delta')}
        + k\frac{\varepsilon^2}2""",
    requires=_ANY_RELEASES,
    reference=Reference("Bun & Steinke", 2016, "Propositions 1.3 and 1.4"),
    domain=_RELEASES,
    oracle=_coins_epsilon,
    examples=[({"epsilon": 0.1, "steps": 100, "slack": 1e-5}, "5.298526", "4.306791")],
)
def advanced_composition_zcdp(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""The same with the drift :math:`k\varepsilon^2/2`: each release is epsilon^2/2-zCDP.

    Parameters, units and kind as in `advanced_composition`.

    References
    ----------
    Bun & Steinke (2016), Propositions 1.3 and 1.4.

    Examples
    --------
    >>> round(float(advanced_composition_zcdp(epsilon=0.1, steps=100, slack=1e-5)), 6)
    5.298526
    """
    epsilon = np.asarray(epsilon, dtype=float)
    return _spread(epsilon, steps, slack) + np.asarray(steps) * epsilon**2 / 2


def _spread(epsilon: NDArray, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    return epsilon * np.sqrt(2 * np.asarray(steps, dtype=float) * -np.log(slack))


# Where advanced composition is the better one


def _first_advanced(*, epsilon: float, slack: float) -> float:
    return outcomes.first_below(
        lambda k: float(advanced_composition(epsilon=epsilon, steps=k, slack=slack)),
        lambda k: k * epsilon,
    )


def _first_kov(*, epsilon: float, slack: float) -> float:
    return outcomes.first_below(
        lambda k: float(advanced_composition_kov(epsilon=epsilon, steps=k, slack=slack)),
        lambda k: k * epsilon,
    )


def _first_theorem(*, epsilon: float, steps: int, slack: float) -> float:
    return float(advanced_composition(epsilon=epsilon, steps=steps, slack=slack))


_BREAK_EVEN = {"epsilon": Log(1e-3, 3.0), "slack": Log(1e-12, 0.5)}


@formula(
    "G-C3",
    title="From when on the first theorem beats basic composition",
    kind="identity",
    statement=r"""k > k^* = \frac{2\ln(1/\delta')}{(2 - e^\varepsilon)^2}
        \text{ if } \varepsilon < \ln 2, \text{ else never}""",
    requires="epsilon > 0 and 0 < slack and slack < 1",
    reference=_DRV,
    domain=_BREAK_EVEN,
    oracle=_first_advanced,
    examples=[
        ({"epsilon": 1.0, "slack": 1e-5}, "inf", "inf"),
        ({"epsilon": 0.1, "slack": 1e-5}, "28.756", "28.756"),
    ],
    misprints=[
        Misprint(
            "never-worse",
            r"\varepsilon\sqrt{2k\ln(1/\delta')} + k\varepsilon(e^\varepsilon - 1)"
            r" \le k\varepsilon \text{ for many releases}",
            claim=lambda epsilon, steps: steps * epsilon,
            kind="upper",
            domain={**_SMALL, "steps": Whole(100, 10_000)},
            oracle=_first_theorem,
            source="a textbook that calls 966.44 much lower than 500",
            note="From epsilon = ln 2 on the drift alone is more than basic: take the smaller.",
            seen=("F22",),
            examples=[({"epsilon": 1.0, "steps": 500, "slack": 1e-5}, "500.0", "966.43922")],
        ),
        Misprint(
            "plotted",
            r"k^* = 8\ln(1/\delta')",
            claim=lambda slack: 8 * math.log(1 / slack),
            domain=_SMALL,
            source="the plots of an online textbook, which cross near k = 70",
            note="That is where the curve without a drift crosses, which is no theorem.",
            examples=[({"epsilon": 1.0, "slack": 1e-4}, "73.68", "inf")],
        ),
    ],
)
def advanced_composition_break_even(*, epsilon: float, slack: float) -> float:
    r"""Number of releases from which `advanced_composition` is below k epsilon.

    Parameters
    ----------
    epsilon : float
        Guarantee of one release, > 0, nats.
    slack : float
        Added failure probability, in (0, 1).

    Returns
    -------
    float
        Exact, not rounded; inf from epsilon = ln 2 on, where it never is.

    References
    ----------
    From Dwork, Rothblum & Vadhan (2010), Theorem III.3, by solving for k.

    Examples
    --------
    >>> round(advanced_composition_break_even(epsilon=0.1, slack=1e-5), 3)
    28.756
    """
    validate.positive(epsilon=epsilon)
    validate.probability(slack=slack)
    gain = 1 - math.expm1(epsilon)
    return -2 * math.log(slack) / gain**2 if gain > 0 else math.inf


@formula(
    "G-C3b",
    title="From when on the smaller drift beats basic composition",
    kind="identity",
    statement=r"""k > k^* = \frac{2\ln(1/\delta')}{(1 - \tanh(\varepsilon/2))^2}
        = \tfrac12(e^\varepsilon + 1)^2\ln(1/\delta')""",
    requires="epsilon > 0 and 0 < slack and slack < 1",
    reference=Reference(_KOV, 2015, "Theorem 3.4"),
    domain=_BREAK_EVEN,
    oracle=_first_kov,
    examples=[
        ({"epsilon": 1.0, "slack": 1e-4}, "63.669", "63.669"),
        ({"epsilon": 1.0, "slack": 1e-5}, "79.587", "79.587"),
    ],
)
def advanced_composition_kov_break_even(*, epsilon: float, slack: float) -> float:
    """Number of releases from which `advanced_composition_kov` is below k epsilon.

    Parameters and kind as in `advanced_composition_break_even`; always finite.

    References
    ----------
    From Kairouz, Oh & Viswanath (2015), Theorem 3.4, by solving for k.

    Examples
    --------
    >>> round(advanced_composition_kov_break_even(epsilon=1.0, slack=1e-4), 2)
    63.67
    """
    validate.positive(epsilon=epsilon)
    validate.probability(slack=slack)
    return -0.5 * (math.exp(epsilon) + 1) ** 2 * math.log(slack)


def _ones(drawn: Parameters) -> NDArray:
    return np.ones(len(drawn["epsilons"]))


def _all_coins(*, epsilons: NDArray, slack: float) -> float:
    """Exact epsilon of different randomized responses, over all their outcomes."""
    return outcomes.enumerated_epsilon(
        epsilons=epsilons.tolist(), deltas=[0.0] * len(epsilons), delta=slack
    )


@formula(
    "G-C5",
    title="Composition of different releases",
    kind="upper",
    statement=r"""\varepsilon' = \min\Big\{\sum_i\varepsilon_i,\
        \sum_i\varepsilon_i\tanh\frac{\varepsilon_i}2
        + \sqrt{2\ln(1/\delta')\sum_i\varepsilon_i^2}\Big\}""",
    requires="0 < slack and slack < 1",
    reference=Reference(_KOV, 2015, "Theorem 3.5"),
    domain={
        "epsilons": _several(0.01, 3.0, most=9),
        "counts": Derived(_ones),
        "slack": Log(1e-9, 0.1),
    },
    oracle=_all_coins,
    examples=[
        (
            {"epsilons": np.array([0.1, 0.2, 0.4]), "counts": np.ones(3), "slack": 0.1},
            "0.7",
            "0.26115",
        ),
        (
            {"epsilons": np.full(9, 0.3), "counts": np.ones(9), "slack": 0.2},
            "2.0167",
            "0.51864",
        ),
    ],
    misprints=[
        Misprint(
            "largest",
            r"\text{the best is that of } k \text{ releases with } \max_i\varepsilon_i",
            claim=lambda epsilons, slack: float(
                heterogeneous_composition(
                    epsilons=[max(epsilons)], counts=[len(epsilons)], slack=slack
                )
            ),
            kind="identity",
            domain=_SMALL,
            source="accountants that know a single epsilon",
            note="Valid, and far too large where the releases differ.",
        ),
    ],
)
def heterogeneous_composition(
    *, epsilons: ArrayLike, counts: ArrayLike, slack: ArrayLike
) -> NDArray:
    r"""Total epsilon of different pure releases: the smaller of two closed bounds,

    :math:`\sum_i n_i\varepsilon_i` and :math:`\sqrt{2\ln(1/\delta')\sum_i n_i\varepsilon_i^2}
    + \sum_i n_i\varepsilon_i\tanh(\varepsilon_i/2)`. The older drift :math:`e^\varepsilon - 1`
    is never smaller than tanh, so its theorem adds nothing to the minimum.

    Parameters
    ----------
    epsilons, counts : array_like, shape (..., n_mechanisms)
        Guarantee >= 0 and number of releases of each mechanism.
    slack : array_like, shape (...)
        In (0, 1).

    Returns
    -------
    ndarray, shape (...)
        Upper bound, nats.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.5.

    Examples
    --------
    >>> round(float(heterogeneous_composition(epsilons=[0.1], counts=[100], slack=1e-5)), 5)
    5.29811
    """
    epsilons = np.asarray(epsilons, dtype=float)
    basic = np.sum(counts * epsilons, axis=-1)
    spread = np.sqrt(2 * -np.log(slack) * np.sum(counts * epsilons**2, axis=-1))
    drift = np.sum(counts * epsilons * np.tanh(epsilons / 2), axis=-1)
    return np.minimum(basic, spread + drift)


def _interpolated(*, total: float, epsilon: float, steps: int) -> float:
    """delta between the neighbouring values of the loss, on a straight line in epsilon."""
    j = math.floor((total / epsilon - steps) / 2)
    ends = [(steps + 2 * j) * epsilon, (steps + 2 * j + 2) * epsilon]
    deltas = [oracles.coins_delta(epsilon=e, local=epsilon, steps=steps) for e in ends]
    return float(np.interp(total, ends, deltas))


@formula(
    "G-C4",
    title="Optimal composition: delta of the worst releases",
    kind="identity",
    statement=r"""\delta(\varepsilon) = 1 - (1-\delta_0)^k\Big(1 - \sum_j\binom kj p^j(1-p)^{k-j}
        \big(1 - e^{\varepsilon-(2j-k)\varepsilon_0}\big)_+\Big),\quad
        p = \frac1{1+e^{-\varepsilon_0}}""",
    requires="0 <= total and total <= 600 and epsilon > 0 and steps >= 1"
    " and 0 <= paid and paid < 1",
    reference=Reference(_KOV, 2015, "Theorem 3.3"),
    domain={
        "total": Log(1e-3, 500.0, also=(0.0,)),
        "epsilon": Log(1e-3, 3.0),
        "steps": Whole(1, 2000),
        "paid": Log(1e-12, 0.1, also=(0.0,)),
    },
    oracle=lambda total, epsilon, steps, paid: oracles.coins_delta(
        epsilon=total, local=epsilon, steps=steps, delta0=paid
    ),
    tolerance=1e-8,
    absolute=1e-300,
    examples=[
        ({"total": 5.0, "epsilon": 0.1, "steps": 100, "paid": 0.0}, "2.7926361e-07",
         "2.7926361e-07"),
    ],
    misprints=[
        Misprint(
            "interpolated",
            r"\delta(\varepsilon) \text{ at } (k-2i)\varepsilon_0, \text{ and linear between}",
            claim=_interpolated,
            domain={"paid": None},
            requires="epsilon <= total and total < steps*epsilon",
            oracle=lambda total, epsilon, steps: oracles.coins_delta(
                epsilon=total, local=epsilon, steps=steps
            ),
            source="implementations that tabulate the theorem's points",
            note="Between them delta is concave in epsilon, so the chord lies below it.",
        ),
    ],
)  # fmt: skip
def optimal_composition_delta(
    *, total: float, epsilon: float, steps: int, paid: float = 0.0
) -> float:
    r"""Exact delta of `steps` releases, each (epsilon, `paid`)-DP, at the epsilon `total`.

    Parameters
    ----------
    total : float
        Epsilon of all releases together, in [0, 600], nats; beyond, Q underflows and the value
        is an upper bound.
    epsilon : float
        Guarantee of one release, > 0, nats.
    steps : int
        Number of adaptive releases, >= 1.
    paid : float
        delta_0 of one release, in [0, 1).

    Returns
    -------
    float
        The smallest delta valid for every choice of releases, good to eight digits.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.3; Murtagh & Vadhan (2016).

    Examples
    --------
    >>> print(f"{optimal_composition_delta(total=5.0, epsilon=0.1, steps=100):.6e}")
    2.792636e-07
    """
    # The sum over j is P(K > k) - e^total Q(K > k), with K the number of true answers.
    k = np.clip(np.floor((total / epsilon + steps) / 2), -1, steps)
    p, q = _tails(k, np.asarray(epsilon), np.asarray(steps))
    pure = max(float(p - math.exp(min(total, 700.0)) * q), 0.0)
    survive = steps * math.log1p(-paid)
    return -math.expm1(survive) + math.exp(survive) * pure


@formula(
    "G-C4b",
    title="Optimal composition: epsilon of the worst releases",
    kind="identity",
    statement=r"\varepsilon(\delta) = \inf\{\varepsilon \ge 0: \delta(\varepsilon) \le \delta\}",
    # Where Q underflows it is an upper bound only.
    requires=f"{_ANY_RELEASES} and steps*epsilon <= 600",
    reference=Reference(_KOV, 2015, "Theorem 3.3"),
    domain=_RELEASES,
    oracle=_coins_epsilon,
    # The incomplete beta function is granted 1e-10, and the result is rounded up.
    tolerance=1e-7,
    absolute=1e-8,
    examples=[
        ({"epsilon": 0.1, "steps": 100, "slack": 1e-5}, "4.306791", "4.306791"),
        ({"epsilon": 1.0, "steps": 500, "slack": 1e-5}, "311.7676", "311.7676"),
        ({"epsilon": 1.0, "steps": 10, "slack": 1e-5}, "9.9998", "9.9998"),
        # What 100 times 5e-8 leave of 1e-5.
        ({"epsilon": 0.1, "steps": 100, "slack": 1 - (1 - 1e-5) / (1 - 5e-8) ** 100}, "4.446885"),
    ],
)
def optimal_composition(*, epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    r"""Exact epsilon of `steps` epsilon-DP releases at delta = `slack`.

    The worst releases are randomized responses, so the total loss is
    :math:`(2K - k)\varepsilon` with K binomial, and delta is linear in e^epsilon between
    neighbouring values of it.

    Parameters
    ----------
    epsilon : array_like
        Guarantee of one release, >= 0, in nats.
    steps : array_like
        Number of releases, >= 1.
    slack : array_like
        delta, in (0, 1).

    Returns
    -------
    ndarray
        The smallest epsilon valid for every choice of pure releases, rounded up.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), Theorem 3.3.

    Examples
    --------
    >>> round(float(optimal_composition(epsilon=0.1, steps=100, slack=1e-5)), 6)
    4.306791
    """
    epsilon, steps, slack = np.broadcast_arrays(
        np.asarray(epsilon, dtype=float), np.asarray(steps, dtype=float), slack
    )
    # Smallest whole k with delta at loss L_k small enough, by bisection on k.
    low, high = np.floor(steps / 2) - 1, steps.copy()
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        fits = _delta_at_loss(middle, epsilon, steps) <= slack
        high, low = np.where(fits, middle, high), np.where(fits, low, middle)
    # Below L_k: delta(e) = P(K >= k) - e^e Q(K >= k), solved for delta = slack.
    upper = (2 * high - steps) * epsilon
    p, q = _tails(high - 1, epsilon, steps)
    excess = p * (1 + _BETAINC_ERROR) - slack
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(excess) - np.log(q)
    inside = np.where((excess > 0) & (q > 0), inside, np.where(excess > 0, upper, -np.inf))
    return np.maximum(np.minimum(inside, upper), 0.0)


# Relative error granted to the incomplete beta function.
_BETAINC_ERROR = 1e-10


def _tails(k: NDArray, epsilon: NDArray, steps: NDArray) -> tuple[NDArray, NDArray]:
    """P(K > k) and Q(K > k) for -1 <= k <= steps."""
    truth = 0.5 * (1 + np.tanh(epsilon / 2))
    lie = 0.5 * (1 - np.tanh(epsilon / 2))
    inner = np.clip(k, 0, steps - 1)
    p, q = (betainc(inner + 1, steps - inner, x) for x in (truth, lie))
    ends = [k < 0, k >= steps]
    return np.select(ends, [1.0, 0.0], p), np.select(ends, [1.0, 0.0], q)


def _delta_at_loss(k: NDArray, epsilon: NDArray, steps: NDArray) -> NDArray:
    """delta of the composed randomized responses at the loss L_k, rounded up."""
    p, q = _tails(k, epsilon, steps)
    # A capped exponent, like a Q that underflowed, makes delta larger.
    discount = np.exp(np.minimum((2 * k - steps) * epsilon, 700.0)) * q
    return np.maximum(p * (1 + _BETAINC_ERROR) - discount * (1 - _BETAINC_ERROR), 0.0)


# Gaussian, Rényi and concentrated DP


@formula(
    "G-C6",
    title="Gaussian releases compose by squares",
    kind="identity",
    statement=r"\mu = \sqrt{\textstyle\sum_i\mu_i^2}",
    reference=Reference("Dong, Roth & Su", 2019, "Corollary 3.3"),
    domain={"mus": _several(0.1, 2.0)},
    oracle=lambda mus: outcomes.gaussians_mu(mus=mus.tolist()),
    tolerance=1e-8,
    examples=[({"mus": np.array([1.0, 2.0, 0.5])}, "2.29128785", "2.29128785")],
    misprints=[
        Misprint(
            "linear",
            r"\mu = \textstyle\sum_i\mu_i",
            claim=lambda mus: math.fsum(mus),
            source="basic composition carried over",
            note="Independent noise adds up by its variance.",
            examples=[({"mus": np.array([1.0, 2.0, 0.5])}, "3.5")],
        ),
    ],
)
def gaussian_composition(*, mus: Sequence[float] | NDArray) -> float:
    r"""mu of several adaptive Gaussian releases together, :math:`\sqrt{\sum_i\mu_i^2}`.

    Parameters
    ----------
    mus : sequence of float
        Sensitivity / standard deviation of each, >= 0.

    Returns
    -------
    float
        Exact: the releases leak what one Gaussian release with this mu leaks.

    References
    ----------
    Dong, Roth & Su (2019), Corollary 3.3.

    Examples
    --------
    >>> gaussian_composition(mus=[3.0, 4.0])
    5.0
    """
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


@formula(
    "G-C7",
    title="Rényi DP composes by addition at one order",
    kind="upper",
    statement=r"""D_\alpha(M_1, M_2) \le \varepsilon_1(\alpha)
        + \sup_y\varepsilon_2(\alpha\mid M_1 = y)""",
    requires=_their_costs,
    reference=Reference("Mironov", 2017, "Proposition 1"),
    domain={
        "order": Log(1.1, 50.0),
        "noise": Log(0.3, 5.0),
        "below": Log(0.3, 5.0),
        "above": Log(0.3, 5.0),
        "cut": Linear(-2.0, 3.0),
        "first": Derived(lambda drawn: drawn["order"] / (2 * drawn["noise"] ** 2)),
        "second": Derived(
            lambda drawn: drawn["order"] / (2 * min(drawn["below"], drawn["above"]) ** 2)
        ),
    },
    oracle=outcomes.adaptive_renyi,
    points=60,
    examples=[
        (_WORKED_RUN, "2.0", "1.2025012"),
        # Gaussian releases with mu = 1, 2 and 0.5; the first two cost what one of mu^2 = 5 does.
        (
            {
                **_WORKED_RUN,
                "order": 5.0,
                "noise": 5**-0.5,
                "below": 2.0,
                "above": 2.0,
                "first": 12.5,
                "second": 0.625,
            },
            "13.125",
            "13.125",
        ),
    ],
    misprints=[
        Misprint(
            "equality",
            r"D_\alpha(M_1, M_2) = \varepsilon_1(\alpha) + \sup_y\varepsilon_2(\alpha\mid M_1 = y)",
            kind="identity",
            source="lecture notes on the moments accountant",
            note="Adaptive releases do not meet the worst history every time.",
            seen=("F31",),
        ),
        Misprint(
            "one-history",
            r"D_\alpha(M_1, M_2) \le \varepsilon_1(\alpha) + \varepsilon_2(\alpha\mid M_1 = y_0)",
            claim=lambda order, noise, above: order / 2 * (1 / noise**2 + 1 / above**2),
            source="lecture notes that fix the earlier outputs",
            note="The supremum runs over what was released before, not over data sets alone.",
            seen=("F31", "F32"),
            examples=[(_WORKED_RUN, "1.1111", "1.2025012")],
        ),
        Misprint(
            "mean-history",
            r"D_\alpha(M_1, M_2) \le \varepsilon_1(\alpha)"
            r" + E_y[\varepsilon_2(\alpha\mid M_1 = y)]",
            claim=_mean_over_outputs,
            source="conditioning done as for a mean",
            note="Moments weigh the outputs on which most is lost; no average bounds them.",
            seen=("F31",),
            examples=[(_WORKED_RUN, "1.38537", "1.2025012")],
        ),
        Misprint(
            "two-orders",
            r"(\alpha/2,\varepsilon_1),\ (\alpha,\varepsilon_2)\text{-RDP}"
            r" \Rightarrow (\alpha,\varepsilon_1+\varepsilon_2)\text{-RDP}",
            claim=lambda first, second: first / 2 + second,
            source="sums of the best values of several releases",
            note="The sum holds at the smaller of the two orders.",
        ),
    ],
)
def rdp_composition(*, first: float, second: float) -> float:
    """Rényi divergence of two adaptive releases at one order: the sum.

    Parameters
    ----------
    first : float
        Of the first release, nats.
    second : float
        Of the second one at the same order, nats: the largest over all outputs of the first.

    Returns
    -------
    float
        Upper bound, nats; exact if the second does not depend on the first.

    References
    ----------
    Mironov (2017), Proposition 1.

    Examples
    --------
    >>> rdp_composition(first=12.5, second=0.625)
    13.125
    """
    return first + second


_COIN_PAIR = {name: Distribution(3, zeros=False) for name in ("p", "q", "other_p", "other_q")}


@formula(
    "G-C7b",
    title="zCDP composes by addition",
    kind="upper",
    statement=r"\rho = \rho_1 + \rho_2",
    reference=Reference("Bun & Steinke", 2016, "Lemma 2.3"),
    domain={
        **_COIN_PAIR,
        "rho": Derived(lambda drawn: outcomes.finite_rho(drawn["p"], drawn["q"])),
        "other_rho": Derived(lambda drawn: outcomes.finite_rho(drawn["other_p"], drawn["other_q"])),
    },
    oracle=lambda p, q, other_p, other_q: outcomes.finite_rho(
        outcomes.joint([p, other_p]), outcomes.joint([q, other_q])
    ),
    misprints=[
        Misprint(
            "squares",
            r"\rho = \sqrt{\rho_1^2 + \rho_2^2}",
            claim=lambda rho, other_rho: math.hypot(rho, other_rho),
            source="the rule for mu carried over",
            note="rho is mu^2 / 2 of a Gaussian, a square already.",
        ),
    ],
)
def zcdp_composition(*, rho: float, other_rho: float) -> float:
    """rho of two adaptive releases: the sum.

    Parameters
    ----------
    rho, other_rho : float
        zCDP parameters >= 0 of the two, the second one for every output of the first.

    Returns
    -------
    float
        Upper bound.

    References
    ----------
    Bun & Steinke (2016), Lemma 2.3.

    Examples
    --------
    >>> zcdp_composition(rho=0.5, other_rho=0.25)
    0.75
    """
    return rho + other_rho


# Groups and parts of the data


@formula(
    "G-C8",
    title="Group privacy",
    kind="upper",
    statement=r"""(\varepsilon,\delta)\text{-DP} \Rightarrow \Big(k\varepsilon,\
        \delta\,\frac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Big)\text{-DP for groups of } k""",
    requires="epsilon >= 0 and 0 <= delta and delta <= 1 and group >= 1",
    reference=Reference("Vadhan", 2017, "Lemma 2.2, from its proof"),
    domain={
        "epsilon": Log(0.01, 3.0, also=(0.0,)),
        "delta": Log(1e-12, 0.5),
        "group": Whole(1, 40),
    },
    oracle=outcomes.chain_delta,
    absolute=0.0,
    examples=[
        ({"epsilon": 0.5, "delta": 1e-6, "group": 3}, "5.3670031e-06", "5.3670031e-06"),
    ],
    misprints=[
        Misprint(
            "linear",
            r"(k\varepsilon, k\delta)",
            claim=lambda delta, group: group * delta,
            source="group privacy of pure DP carried over",
            note="What a neighbour adds is inflated by e^epsilon at every further step.",
            examples=[({"epsilon": 0.5, "delta": 1e-6, "group": 3}, "3e-06", "5.3670031e-06")],
        ),
    ],
)
def group_privacy_delta(*, epsilon: float, delta: float, group: int) -> float:
    r"""Delta of a group of k records at k epsilon, :math:`\delta\sum_{i<k}e^{i\varepsilon}`.

    Parameters
    ----------
    epsilon : float
        Guarantee for one record, >= 0, nats.
    delta : float
        In [0, 1].
    group : int
        Number k of records, >= 1.

    Returns
    -------
    float
        Upper bound, at most 1; exact as long as no probability reaches 1.

    References
    ----------
    Dwork & Roth (2014), Theorem 2.2; Vadhan (2017), Lemma 2.2.

    Examples
    --------
    >>> print(f"{group_privacy_delta(epsilon=0.5, delta=1e-6, group=3):.5e}")
    5.36700e-06
    """
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
    return max(outcomes.finite_rho(drawn[a], drawn[b]) for a, b in pairs)


@formula(
    "G-C8b",
    title="Group privacy of zCDP",
    kind="upper",
    statement=r"\rho\text{-zCDP} \Rightarrow k^2\rho\text{-zCDP for groups of } k",
    requires="rho >= 0 and group >= 1",
    reference=Reference("Bun & Steinke", 2016, "Proposition 1.9"),
    domain={**_CHAIN, "rho": Derived(_rho_of_neighbours), "group": Whole(2, 2)},
    oracle=lambda p, q: outcomes.finite_rho(p, q),
    examples=[({"rho": 0.5, "group": 3}, "4.5")],
    misprints=[
        Misprint(
            "linear",
            r"k\rho",
            claim=lambda rho, group: group * rho,
            source="group privacy of pure DP carried over",
            note="rho grows like the square of a distance.",
        ),
    ],
)
def group_privacy_zcdp(*, rho: float, group: int) -> float:
    """rho of a group of k records: k^2 rho.

    Parameters
    ----------
    rho : float
        For one record, >= 0.
    group : int
        Number k of records, >= 1.

    Returns
    -------
    float
        Upper bound; exact for Gaussian noise.

    References
    ----------
    Bun & Steinke (2016), Proposition 1.9.

    Examples
    --------
    >>> group_privacy_zcdp(rho=0.5, group=3)
    4.5
    """
    return group**2 * rho


def _gaussian_chain(*, mu: float, group: int) -> float:
    """mu from the Rényi divergence of order 2, by quadrature, of records that move the mean."""
    mean = math.fsum([mu] * group)
    laws = oracles.log_normal(mean), oracles.log_normal()
    return math.sqrt(oracles.density_renyi(*laws, 2.0, -1e4, 1e4))


@formula(
    "G-C8c",
    title="Group privacy of Gaussian DP",
    kind="identity",
    statement=r"\mu\text{-GDP} \Rightarrow k\mu\text{-GDP for groups of } k",
    requires="mu > 0 and group >= 1",
    reference=Reference("Dong, Roth & Su", 2019, "Theorem 2.14"),
    domain={"mu": Log(0.01, 5.0), "group": Whole(1, 40)},
    oracle=_gaussian_chain,
    examples=[({"mu": 0.5, "group": 3}, "1.5", "1.5")],
    misprints=[
        Misprint(
            "root",
            r"\sqrt k\,\mu",
            claim=lambda mu, group: math.sqrt(group) * mu,
            source="groups taken for compositions",
            note="The records of a group push in one direction; independent noise does not.",
        ),
    ],
)
def group_privacy_gaussian(*, mu: float, group: int) -> float:
    """mu of a group of k records: k mu.

    Parameters
    ----------
    mu : float
        For one record, > 0.
    group : int
        Number k of records, >= 1.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Dong, Roth & Su (2019), Theorem 2.14.

    Examples
    --------
    >>> group_privacy_gaussian(mu=0.5, group=3)
    1.5
    """
    return group * mu


_PARTS = {"epsilons": _several(0.05, 3.0, least=2, most=3)}


@formula(
    "G-C9",
    title="Parallel composition, a record added or removed",
    kind="identity",
    statement=r"\varepsilon = \max_i\varepsilon_i \text{ over disjoint parts of the data}",
    reference=Reference("McSherry", 2009, "Theorem 4"),
    domain=_PARTS,
    oracle=lambda epsilons: outcomes.parts_epsilon(epsilons=epsilons.tolist(), moves=False),
    examples=[({"epsilons": np.array([0.5, 1.0, 0.3])}, "1.0", "1.0")],
    misprints=[
        Misprint(
            "always",
            r"\varepsilon = \max_i\varepsilon_i \text{ for every adjacency}",
            oracle=lambda epsilons: outcomes.parts_epsilon(epsilons=epsilons.tolist(), moves=True),
            source="introductions that do not name the adjacency",
            note="A replaced record may leave one part and enter another: both releases change.",
            examples=[({"epsilons": np.array([1.0, 1.0])}, "1.0", "2.0")],
        ),
    ],
)
def parallel_composition(*, epsilons: Sequence[float] | NDArray) -> float:
    """Total epsilon of releases on disjoint parts of the data, for a record added or removed.

    Parameters
    ----------
    epsilons : sequence of float
        Guarantee of the release on each part, >= 0, nats. The parts must be fixed before the
        data are seen.

    Returns
    -------
    float
        The largest; no smaller bound holds for all releases.

    References
    ----------
    McSherry (2009), Theorem 4.

    Examples
    --------
    >>> parallel_composition(epsilons=[0.5, 1.0, 0.3])
    1.0
    """
    return max(epsilons)


@formula(
    "G-C9b",
    title="Parallel composition, a record replaced",
    kind="identity",
    statement=r"""\varepsilon = \max_{i\ne j}(\varepsilon_i+\varepsilon_j)
        \text{ if the new value may belong to another part}""",
    reference=Reference("McSherry", 2009, "Theorem 4, for the other adjacency"),
    domain=_PARTS,
    oracle=lambda epsilons: outcomes.parts_epsilon(epsilons=epsilons.tolist(), moves=True),
    examples=[({"epsilons": np.array([0.5, 1.0, 0.3])}, "1.5", "1.5")],
)
def parallel_composition_replaced(*, epsilons: Sequence[float] | NDArray) -> float:
    """The same for a record that is replaced and may move to another part: the two largest.

    Parameters
    ----------
    epsilons : sequence of float
        Guarantee of the release on each of two or more parts, >= 0, nats, for a record that
        comes or goes as well as for one that is replaced within the part.

    Returns
    -------
    float
        Their two largest added up; no smaller bound holds for all releases.

    Examples
    --------
    >>> parallel_composition_replaced(epsilons=[0.5, 1.0, 0.3])
    1.5
    """
    return math.fsum(sorted(epsilons)[-2:])


# Pure DP as concentrated DP


@formula(
    "G-C10",
    title="Pure DP is concentrated DP",
    kind="upper",
    statement=r"\varepsilon\text{-DP} \Rightarrow \tfrac12\varepsilon^2\text{-zCDP}",
    requires="epsilon >= 0",
    reference=Reference("Bun & Steinke", 2016, "Proposition 1.4"),
    domain={"epsilon": Log(1e-3, 10.0)},
    oracle=outcomes.coin_rho,
    examples=[({"epsilon": 0.1}, "0.005", "0.00499584")],
    misprints=[
        Misprint(
            "bounded-range",
            r"\varepsilon\text{-DP} \Rightarrow \tfrac18\varepsilon^2\text{-zCDP}",
            claim=lambda epsilon: epsilon**2 / 8,
            source="the bound for the exponential mechanism",
            note="It needs a loss that varies by epsilon in all, not by 2 epsilon.",
        ),
        Misprint(
            "tight",
            r"\tfrac12\varepsilon^2 \text{ is the smallest } \rho",
            kind="identity",
            source="summaries",
            note="The limit for a small epsilon; epsilon tanh(epsilon/2) is the smallest.",
        ),
    ],
)
def pure_to_zcdp(*, epsilon: float) -> float:
    r"""rho of an epsilon-DP release: :math:`\varepsilon^2/2`.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.

    Returns
    -------
    float
        Upper bound.

    References
    ----------
    Bun & Steinke (2016), Propositions 1.4 and 3.3.

    Examples
    --------
    >>> round(pure_to_zcdp(epsilon=0.1), 6)
    0.005
    """
    return epsilon**2 / 2


@formula(
    "G-C10b",
    title="The smallest rho of pure DP",
    kind="identity",
    statement=r"\sup_{\alpha>1}\frac{D_\alpha}\alpha = \varepsilon\tanh\frac\varepsilon2",
    requires="epsilon >= 0",
    reference=Reference("Bun & Steinke", 2016, "Proposition 3.3, at order 1"),
    domain={"epsilon": Log(1e-3, 10.0)},
    oracle=outcomes.coin_rho,
    examples=[
        ({"epsilon": 0.1}, "0.00499584", "0.00499584"),
        ({"epsilon": 1.0}, "0.4621171573", "0.4621171573"),
    ],
)
def pure_to_zcdp_tight(*, epsilon: float) -> float:
    r"""rho of the worst epsilon-DP release, :math:`\varepsilon\tanh(\varepsilon/2)`.

    Of randomized response :math:`D_\alpha/\alpha` is largest as the order tends to 1.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.

    Returns
    -------
    float
        Exact.

    Examples
    --------
    >>> round(pure_to_zcdp_tight(epsilon=1.0), 6)
    0.462117
    """
    return epsilon * math.tanh(epsilon / 2)
