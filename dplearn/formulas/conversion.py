"""From Rényi and concentrated DP to (epsilon, delta)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtr

from dplearn.formulas import _oracles as oracles
from dplearn.formulas import _oracles_conversion as worst
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Choice, Derived, Distribution, Linear, Log, Parameters, Whole
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_RDP = {"orders": Log(1.01, 300.0), "rdp": Log(1e-4, 50.0), "delta": Log(1e-12, 0.9)}
_ANY_RDP = "orders > 1 and rdp >= 0 and 0 < delta and delta < 1"
_ZCDP = {"rho": Log(1e-5, 100.0), "delta": Log(1e-12, 0.9)}
_ANY_ZCDP = "rho > 0 and 0 < delta and delta < 1"
# Where claims are met.
_SMALL = {"delta": Log(1e-12, 1e-3)}
_BUN_STEINKE = "Bun & Steinke"


@formula(
    "G-D1",
    title="From Rényi DP to epsilon and delta, the first conversion",
    kind="upper",
    statement=r"\varepsilon = \rho + \frac{\ln(1/\delta)}{\alpha-1}",
    requires=_ANY_RDP,
    reference=Reference("Mironov", 2017, "Proposition 3"),
    domain=_RDP,
    oracle=worst.coins_within,
    points=60,
    examples=[
        ({"orders": 10.0, "rdp": 0.5, "delta": 1e-5}, "1.77921394", "1.41677040"),
        ({"orders": 2.0, "rdp": 1.0, "delta": 1e-5}, "12.5129255", "10.66797924"),
        ({"orders": 5.0, "rdp": 2.5, "delta": 1e-5}, "5.37823"),
    ],
    misprints=[
        Misprint(
            "bracket",
            r"\varepsilon = \rho + \ln(1/\delta)/\alpha - 1",
            claim=lambda orders, rdp, delta: rdp - math.log(delta) / orders - 1,
            domain=_SMALL,
            source="lecture notes",
            note="The denominator is alpha - 1: the bracket was lost in print.",
            seen=("F06",),
            examples=[({"orders": 5.0, "rdp": 2.5, "delta": 1e-5}, "3.80259")],
        ),
        Misprint(
            "divided-by-order",
            r"\varepsilon = \rho + \ln(1/\delta)/\alpha",
            claim=lambda orders, rdp, delta: rdp - math.log(delta) / orders,
            domain=_SMALL,
            source="course notebooks",
            note="Harmless at large orders, where the first conversion has slack to spare.",
            examples=[({"orders": 10.0, "rdp": 0.5, "delta": 1e-5}, "1.65129255")],
        ),
        Misprint(
            "tight",
            r"\rho + \ln(1/\delta)/(\alpha-1) \text{ is the best epsilon}",
            kind="identity",
            domain=_SMALL,
            source="notes on the moments accountant, before 2020",
            note="The improved conversion is always smaller.",
            seen=("F35", "F100"),
        ),
    ],
)
def rdp_to_epsilon_mironov(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> NDArray:
    r"""The first conversion, :math:`\rho + \ln(1/\delta)/(\alpha-1)`, elementwise.

    Parameters
    ----------
    orders : array_like
        alpha > 1.
    rdp : array_like
        rho at those orders, nats, broadcast against `orders`.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon for each order; any of them is valid, so take the smallest.

    References
    ----------
    Mironov (2017), Proposition 3. The bracket matters: ln(1/delta)/alpha - 1 is no bound.

    Examples
    --------
    >>> round(float(rdp_to_epsilon_mironov(10, 0.5, delta=1e-5)), 6)
    1.779214
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    return rdp - np.log(delta) / (orders - 1)


@formula(
    "G-D2",
    title="From Rényi DP to epsilon and delta, improved",
    kind="upper",
    statement=r"""\varepsilon = \rho + \ln\frac{\alpha-1}\alpha
        - \frac{\ln\delta + \ln\alpha}{\alpha-1}""",
    requires=_ANY_RDP,
    reference=Reference("Canonne, Kamath & Steinke", 2020, "Proposition 12"),
    domain=_RDP,
    oracle=worst.coins_within,
    points=60,
    examples=[
        ({"orders": 10.0, "rdp": 0.5, "delta": 1e-5}, "1.41801064", "1.41677040"),
        ({"orders": 2.0, "rdp": 1.0, "delta": 1e-5}, "11.1266311", "10.66797924"),
        ({"orders": 32.0, "rdp": 1.1, "delta": 1e-5}, "1.32783806"),
    ],
    misprints=[
        Misprint(
            "sign",
            r"\rho + \ln\frac{\alpha-1}\alpha - \frac{\ln\delta - \ln\alpha}{\alpha-1}",
            claim=lambda orders, rdp, delta: max(
                rdp + math.log1p(-1 / orders) - (math.log(delta) - math.log(orders)) / (orders - 1),
                0.0,
            ),
            kind="identity",
            oracle=worst.pointwise_epsilon,
            domain=_SMALL,
            source="transcriptions with a slip of the sign",
            note="Still an upper bound, but not what the proof gives: the improvement shrinks.",
        ),
        Misprint(
            "tight",
            r"\text{the best epsilon that } D_\alpha \le \rho \text{ allows}",
            kind="identity",
            domain=_SMALL,
            source="course notes",
            note="Optimising over pairs of coins gives slightly less (Asoodeh et al. 2020).",
            seen=("F35",),
        ),
    ],
)
def rdp_to_epsilon(orders: ArrayLike, rdp: ArrayLike, *, delta: float) -> NDArray:
    r"""The improved conversion, elementwise and never below 0.

    .. math:: \rho + \ln\frac{\alpha-1}{\alpha} - \frac{\ln\delta + \ln\alpha}{\alpha-1}

    Parameters
    ----------
    orders : array_like
        alpha > 1.
    rdp : array_like
        rho at those orders, nats, broadcast against `orders`.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon for each order.

    References
    ----------
    Canonne, Kamath & Steinke (2020), Proposition 12; Balle et al. (2020), Theorem 21.

    Examples
    --------
    >>> round(float(rdp_to_epsilon(10, 0.5, delta=1e-5)), 6)
    1.418011
    """
    orders, rdp = np.asarray(orders, dtype=float), np.asarray(rdp, dtype=float)
    epsilon = rdp + np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
    # (negative, delta)-DP implies (0, delta)-DP.
    return np.maximum(epsilon, 0.0)


@formula(
    "G-D3",
    title="From zCDP to epsilon and delta",
    kind="upper",
    statement=r"\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}",
    requires=_ANY_ZCDP,
    reference=Reference(_BUN_STEINKE, 2016, "Proposition 1.3"),
    domain=_ZCDP,
    oracle=worst.exact_zcdp_epsilon,
    examples=[
        ({"rho": 0.5, "delta": 1e-5}, "5.29853", "4.37718"),
        ({"rho": 0.00125, "delta": 1e-5}, "0.24118", "0.16004"),
        ({"rho": 2.56, "delta": 1e-10}, "17.915", "16.479"),
        ({"rho": 0.07, "delta": 1e-10}, "2.609", "2.280"),
    ],
    misprints=[
        Misprint(
            "one-root",
            r"\varepsilon = \rho + \sqrt{\rho\ln(1/\delta)}",
            claim=lambda rho, delta: rho + math.sqrt(-rho * math.log(delta)),
            domain=_SMALL,
            source="course notebooks",
            note="The 2 is missing: the least of rho a + c/(a - 1) is rho + 2 sqrt(rho c).",
        ),
        Misprint(
            "root-alone",
            r"\varepsilon = \sqrt{\rho\ln(1/\delta)}",
            claim=lambda rho, delta: math.sqrt(-rho * math.log(delta)),
            domain=_SMALL,
            source="summaries of the order of growth",
            note="A rate for small rho without its constant.",
        ),
        Misprint(
            "sublinear",
            r"\varepsilon = 2\sqrt{k\rho\ln(1/\delta)} \text{ for any number of releases}",
            claim=lambda rho, delta: 2 * math.sqrt(-rho * math.log(delta)),
            domain=_SMALL,
            source="a textbook that calls zCDP sublinear in the number of releases",
            note="Once k rho exceeds ln(1/delta) epsilon grows by rho with every release.",
            seen=("F112",),
        ),
        Misprint(
            "tight",
            r"\rho + 2\sqrt{\rho\ln(1/\delta)} \text{ is exact for Gaussian noise}",
            kind="identity",
            domain=_SMALL,
            source="a textbook: tight composition for Gaussian noise",
            note="The Rényi curve is exact; turning it into epsilon and delta is not.",
            seen=("F103",),
        ),
    ],
)
def zcdp_to_epsilon_bun_steinke(rho: ArrayLike, *, delta: float) -> NDArray:
    r"""The simple conversion :math:`\rho + 2\sqrt{\rho\ln(1/\delta)}`, elementwise.

    Parameters
    ----------
    rho : array_like
        >= 0.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon, nats: `rdp_to_epsilon_mironov` at the best order.

    References
    ----------
    Bun & Steinke (2016), Proposition 1.3.

    Examples
    --------
    >>> round(float(zcdp_to_epsilon_bun_steinke(0.5, delta=1e-5)), 5)
    5.29853
    """
    rho = np.asarray(rho, dtype=float)
    return rho + 2 * np.sqrt(-rho * np.log(delta))


def _orders_up_to(largest: float, rho: float, delta: float) -> float:
    """The first conversion at the best order between 2 and the largest."""
    best = min(max(1 + math.sqrt(-math.log(delta) / rho), 2.0), largest)
    return rho * best - math.log(delta) / (best - 1)


formula(
    "G-D3c",
    title="The zCDP conversion is the best over all orders",
    kind="identity",
    statement=r"""\min_{\alpha>1}\Big\{\rho\alpha + \frac{\ln(1/\delta)}{\alpha-1}\Big\}
        = \rho + 2\sqrt{\rho\ln(1/\delta)},\quad \alpha^* = 1 + \sqrt{\ln(1/\delta)/\rho}""",
    requires=_ANY_ZCDP,
    reference=Reference(_BUN_STEINKE, 2016, "Proposition 1.3"),
    domain=_ZCDP,
    oracle=worst.least_over_orders,
    examples=[({"rho": 1.25e-4, "delta": 1e-5}, "0.0760", "0.0760")],
    misprints=[
        Misprint(
            "orders-to-100",
            r"\alpha \in [2, 100] \text{ is enough}",
            claim=lambda rho, delta: _orders_up_to(100.0, rho, delta),
            domain=_SMALL,
            source="a textbook's code",
            note="Only while the best order lies there; little leakage needs large orders.",
            seen=("F114",),
            examples=[({"rho": 1.25e-4, "delta": 1e-5}, "0.1288")],
        ),
        Misprint(
            "orders-to-32",
            r"\alpha \in [2, 32] \text{ is enough}",
            claim=lambda rho, delta: _orders_up_to(32.0, rho, delta),
            domain=_SMALL,
            source="lecture notes on the moments accountant",
            note="It fails at both ends: much leakage needs orders below 2.",
            seen=("F45",),
            examples=[({"rho": 1.25e-4, "delta": 1e-5}, "0.3754")],
        ),
    ],
)(zcdp_to_epsilon_bun_steinke)


@formula(
    "G-D3b",
    title="From zCDP to epsilon and delta, improved",
    kind="upper",
    statement=r"""\varepsilon = \min_{\alpha>1}\Big\{\rho\alpha + \ln\frac{\alpha-1}\alpha
        - \frac{\ln\delta + \ln\alpha}{\alpha-1}\Big\}""",
    requires=_ANY_ZCDP,
    reference=Reference("Canonne, Kamath & Steinke", 2020, "Corollary 13"),
    domain=_ZCDP,
    oracle=worst.exact_zcdp_epsilon,
    examples=[
        ({"rho": 0.5, "delta": 1e-5}, "4.72839", "4.37718"),
        ({"rho": 0.00125, "delta": 1e-5}, "0.17751", "0.16004"),
        ({"rho": 2.56, "delta": 1e-10}, "17.158", "16.479"),
        ({"rho": 0.07, "delta": 1e-10}, "2.387", "2.280"),
    ],
    misprints=[
        Misprint(
            "tight",
            r"\text{the exact epsilon of Gaussian noise}",
            kind="identity",
            domain=_SMALL,
            source="a textbook: tight composition for Gaussian noise",
            note="Closer than the simple conversion, and still above the exact profile.",
            seen=("F103",),
        ),
    ],
)
def zcdp_to_epsilon(rho: ArrayLike, *, delta: float) -> NDArray:
    r"""Best epsilon of rho-zCDP by the improved conversion, elementwise.

    rho-zCDP says :math:`D_\alpha \le \rho\alpha` for every alpha > 1, so the order is free.

    Parameters
    ----------
    rho : array_like
        >= 0.
    delta : float
        In (0, 1).

    Returns
    -------
    ndarray
        Upper bound on epsilon, nats; never above rho + 2 sqrt(rho ln(1/delta)).

    References
    ----------
    Bun & Steinke (2016), Proposition 1.3; Canonne, Kamath & Steinke (2020), Corollary 13
    (number from memory).

    Examples
    --------
    >>> round(float(zcdp_to_epsilon(0.5, delta=1e-5)), 5)
    4.72839
    """
    rho = np.asarray(rho, dtype=float)
    return rdp_to_epsilon(
        best := best_zcdp_order(rho, delta=delta), np.where(rho > 0, rho * best, 0.0), delta=delta
    )


def best_zcdp_order(rho: ArrayLike, *, delta: float) -> NDArray:
    """The order that minimises the improved conversion of rho-zCDP, elementwise.

    Newton's iteration on the derivative in log(alpha - 1); any order gives a valid bound, so
    its accuracy decides tightness and not truth.
    """
    rho = np.maximum(np.asarray(rho, dtype=float), 1e-300)
    # d/d alpha of the bound is rho + (ln delta + ln alpha) / (alpha - 1)^2.
    lower, upper = np.full(rho.shape, -40.0), np.full(rho.shape, 400.0)
    for _ in range(80):
        middle = 0.5 * (lower + upper)
        excess = np.exp(middle)
        falling = rho * excess * excess + np.log(delta) + np.log1p(excess) < 0
        lower, upper = np.where(falling, middle, lower), np.where(falling, upper, middle)
    return 1 + np.exp(lower)


_PLOTTED = {"order": 20.0, "rho": 1.25e-5, "delta": 1e-5}


@formula(
    "G-D3d",
    title="Where the bound of one order touches that of zCDP",
    kind="identity",
    statement=r"k^* = \frac{\ln(1/\delta)}{\rho(\alpha-1)^2}",
    requires="order > 1 and rho > 0 and 0 < delta and delta < 1",
    reference=Reference(_BUN_STEINKE, 2016, "Proposition 1.3, by calculus"),
    domain={"order": Log(1.1, 300.0), "rho": Log(1e-6, 1.0), "delta": Log(1e-12, 0.5)},
    oracle=worst.touching_steps,
    unsafe=None,
    examples=[
        ({**_PLOTTED, "order": 60.0}, "264.589", "264.589"),
        (_PLOTTED, "2551.34", "2551.34"),
    ],
    misprints=[
        Misprint(
            "three-hundred",
            r"\text{the curves cross at } k \approx 300 \text{ for } \alpha = 20,\ \sigma = 200",
            claim=lambda: 300.0,
            domain={name: Choice(x) for name, x in _PLOTTED.items()},
            source="a textbook, whose code plots order 60",
            note="They touch and do not cross, at 2551 releases; order 60 touches at 265.",
            seen=("F113",),
        ),
    ],
)
def touching_steps(*, order: float, rho: float, delta: float) -> float:
    """Number of rho-zCDP releases for which one order is the best of all.

    Before and after it the bound of this order lies above the zCDP curve, which is the least
    of the bounds of all orders.

    Parameters
    ----------
    order : float
        alpha > 1.
    rho : float
        Of one release, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Exact, not rounded.

    Examples
    --------
    >>> round(touching_steps(order=60.0, rho=1.25e-5, delta=1e-5), 3)
    264.589
    """
    return -math.log(delta) / (rho * (order - 1) ** 2)


# From pure DP, and not from approximate DP


@formula(
    "G-D4",
    title="Rényi DP of pure DP",
    kind="identity",
    statement=r"""\max D_\alpha = \frac1{\alpha-1}\ln
        \frac{\sinh(\alpha\varepsilon) - \sinh((\alpha-1)\varepsilon)}{\sinh\varepsilon}""",
    requires="epsilon > 0 and order > 1",
    reference=Reference(_BUN_STEINKE, 2016, "Proposition 3.3"),
    domain={"epsilon": Log(1e-3, 10.0), "order": Log(1.01, 300.0)},
    oracle=worst.coins_renyi,
    examples=[
        ({"epsilon": 1.0, "order": 2.0}, "0.735325664", "0.735325664"),
        ({"epsilon": 1.0, "order": 10.0}, "0.9651932", "0.9651932"),
    ],
    misprints=[
        Misprint(
            "half-square",
            r"D_\alpha = \tfrac12\alpha\varepsilon^2",
            claim=lambda epsilon, order: order * epsilon**2 / 2,
            source="concentrated DP, taken for exact",
            note="No divergence exceeds epsilon, whatever the order.",
            examples=[({"epsilon": 1.0, "order": 10.0}, "5.0")],
        ),
        Misprint(
            "epsilon",
            r"D_\alpha = \varepsilon",
            claim=lambda epsilon: epsilon,
            source="pure DP read as Rényi DP of every order",
            note="An upper bound that is reached as the order grows.",
        ),
    ],
)
def pure_to_rdp(*, epsilon: float, order: float) -> float:
    r"""Largest Rényi divergence of an epsilon-DP release: that of randomized response.

    Parameters
    ----------
    epsilon : float
        > 0, nats.
    order : float
        alpha > 1.

    Returns
    -------
    float
        Exact for the worst release, nats.

    References
    ----------
    Bun & Steinke (2016), Proposition 3.3; Mironov (2017), Proposition 5.

    Examples
    --------
    >>> round(pure_to_rdp(epsilon=1.0, order=2.0), 9)
    0.735325664
    """
    validate.positive(epsilon=epsilon)
    # The quotient is cosh((a - 1/2) e) / cosh(e/2) = 1 + 2 sinh(a e/2) sinh((a - 1) e/2) / cosh.
    a, b = order * epsilon / 2, (order - 1) * epsilon / 2
    if a < 1:
        return math.log1p(2 * math.sinh(a) * math.sinh(b) / math.cosh(epsilon / 2)) / (order - 1)
    log_cosh = [x + math.log1p(math.exp(-2 * x)) for x in (a + b, epsilon / 2)]
    return (log_cosh[0] - log_cosh[1]) / (order - 1)


def _epsilon_of(drawn: Parameters) -> float:
    return float(np.max(np.abs(np.log(drawn["p"]) - np.log(drawn["q"]))))


@formula(
    "G-D4b",
    title="Rényi DP of pure DP, simplified",
    kind="upper",
    statement=r"D_\alpha \le \min\big(\varepsilon, \tfrac12\alpha\varepsilon^2\big)",
    requires="epsilon >= 0 and order > 1",
    reference=Reference(_BUN_STEINKE, 2016, "Proposition 3.3"),
    domain={
        "p": Distribution(3, zeros=False),
        "q": Distribution(3, zeros=False),
        "epsilon": Derived(_epsilon_of),
        "order": Log(1.02, 200.0),
    },
    oracle=oracles.finite_renyi,
    examples=[({"epsilon": 1.0, "order": 10.0}, "1.0"), ({"epsilon": 0.1, "order": 10.0}, "0.05")],
)
def pure_to_rdp_simple(*, epsilon: float, order: float) -> float:
    """Upper bound on the Rényi divergence of an epsilon-DP release.

    Parameters and units as in `pure_to_rdp`.

    References
    ----------
    Bun & Steinke (2016), Proposition 3.3.

    Examples
    --------
    >>> round(pure_to_rdp_simple(epsilon=0.1, order=10.0), 9)
    0.05
    """
    return min(epsilon, order * epsilon**2 / 2)


@formula(
    "G-D5",
    title="Approximate DP does not imply Rényi DP",
    kind="identity",
    statement=r"""\text{name and shame, } (0,\delta)\text{-DP: } D_\alpha =
        \frac{-\ln(1-\delta)}{1-\alpha} \text{ for } \alpha < 1,
        \ \infty \text{ for } \alpha \ge 1""",
    requires="0 < delta and delta < 1 and order > 0",
    reference=Reference(_BUN_STEINKE, 2016, "Section 1"),
    domain={"order": Log(0.05, 50.0, also=(1.0, math.inf)), "delta": Log(1e-6, 0.9)},
    oracle=lambda order, delta: oracles.finite_renyi(
        p=[delta, 1 - delta, 0.0], q=[0.0, 1 - delta, delta], order=order
    ),
    examples=[
        ({"order": 0.5, "delta": 1e-3}, "0.0020010", "0.0020010"),
        ({"order": 1.0, "delta": 1e-3}, "inf", "inf"),
    ],
    misprints=[
        Misprint(
            "dp-bounds-rdp",
            r"(\varepsilon,\delta)\text{-DP} \Rightarrow D_\alpha \le \varepsilon",
            claim=lambda epsilon: epsilon,
            kind="upper",
            domain={"epsilon": Log(0.01, 5.0)},
            oracle=worst.leaky_renyi,
            source="lecture notes that call DP an upper bound of Rényi DP",
            note="True of pure DP; with delta a release may publish everything, if rarely.",
            seen=("F88",),
        ),
    ],
)
def renyi_name_and_shame(*, order: float, delta: float) -> float:
    """Rényi divergence of publishing a record in full with probability delta, else nothing.

    Parameters
    ----------
    order : float
        alpha > 0.
    delta : float
        In (0, 1); the release is (0, delta)-DP.

    Returns
    -------
    float
        Exact, nats; inf from order 1 on.

    References
    ----------
    Bun & Steinke (2016), Section 1; Mironov (2017), Section VI.

    Examples
    --------
    >>> round(renyi_name_and_shame(order=0.5, delta=1e-3), 7)
    0.002001
    """
    return -math.log1p(-delta) / (1 - order) if order < 1 else math.inf


@formula(
    "G-D5b",
    title="What delta allows: somebody is published",
    kind="identity",
    statement=r"\Pr[\text{some record is published}] = 1 - (1-\delta)^n",
    requires="0 < delta and delta < 1 and records >= 1",
    reference=Reference("Dwork & Roth", 2014, "Section 2.3"),
    domain={"records": Whole(1, 2000), "delta": Log(1e-9, 0.5)},
    oracle=lambda records, delta: 1 - worst.nobody_published(records=records, delta=delta),
    examples=[({"records": 60_000, "delta": 1e-5}, "0.4512")],
    misprints=[
        Misprint(
            "small-delta",
            r"\delta = 0.01 \text{ is the chance that anything goes wrong}",
            claim=lambda delta: delta,
            source="lecture notes that advise delta = 0.01",
            note="It is a chance for every single record: take delta far below 1/n.",
            seen=("F46",),
        ),
    ],
)
def somebody_published(*, records: int, delta: float) -> float:
    """Probability that a release of n records, (0, delta)-DP, publishes at least one in full.

    Parameters
    ----------
    records : int
        n >= 1; each is published with probability delta, on its own.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Exact for this release, which DP with this delta allows.

    References
    ----------
    Dwork & Roth (2014), Section 2.3, on the size of delta.

    Examples
    --------
    >>> round(somebody_published(records=60_000, delta=0.01), 6)
    1.0
    """
    return -math.expm1(records * math.log1p(-delta))


# Gaussian DP, trade-off functions and probabilistic DP


@formula(
    "G-D6",
    title="From Gaussian DP to epsilon and delta",
    kind="identity",
    statement=r"""\mu\text{-GDP} \iff \delta(\varepsilon) =
        \Phi\Big(-\frac\varepsilon\mu+\frac\mu2\Big)
        - e^\varepsilon\Phi\Big(-\frac\varepsilon\mu-\frac\mu2\Big)\ \forall\varepsilon\ge0""",
    requires="mu > 0 and epsilon >= 0",
    reference=Reference("Dong, Roth & Su", 2019, "Corollary 2.13"),
    domain={"mu": Log(0.01, 20.0), "epsilon": Log(1e-3, 50.0, also=(0.0,))},
    oracle=lambda mu, epsilon: math.exp(oracles.gaussian_log_delta(epsilon=epsilon, mu=mu)),
    absolute=1e-300,
    tolerance=1e-8,
    examples=[
        ({"mu": 1.0, "epsilon": 1.0}, "0.1269367375", "0.1269367375"),
        ({"mu": 1.0, "epsilon": 0.0}, "0.3829249225", "0.3829249225"),
        # Releases with mu = 1, 2 and 0.5 together.
        ({"mu": math.sqrt(5.25), "epsilon": 2.0}, "0.446635001", "0.446635001"),
    ],
)
def gdp_delta(*, mu: float, epsilon: float) -> float:
    r"""Delta of mu-Gaussian DP at an epsilon.

    Parameters
    ----------
    mu : float
        > 0.
    epsilon : float
        >= 0, nats.

    Returns
    -------
    float
        Exact for Gaussian noise of standard deviation sensitivity/mu; good to nine digits.

    References
    ----------
    Dong, Roth & Su (2019), Corollary 2.13; Balle & Wang (2018), Theorem 8.

    Examples
    --------
    >>> round(gdp_delta(mu=1.0, epsilon=1.0), 10)
    0.1269367375
    """
    validate.positive(mu=mu)
    validate.non_negative(epsilon=epsilon)
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return -math.exp(first) * math.expm1(min(second - first, 0.0))


def _losses(drawn: Parameters) -> NDArray:
    """The losses >= 0 of some coins, where their profile has its kinks."""
    steps = drawn["steps"]
    return np.arange(steps % 2, steps + 1, 2) * drawn["local"]


def _profile_of_coins(drawn: Parameters) -> NDArray:
    coins = {name: drawn[name] for name in ("local", "steps")}
    return np.array([oracles.coins_delta(epsilon=e, **coins) for e in _losses(drawn)])


def _is_their_profile(
    *,
    local: float,
    steps: int,
    epsilons: NDArray,
    deltas: NDArray,
    false_positive_rate: float,
) -> bool:
    """The points are those of the profile of the pair at its kinks; 0 <= a <= 1."""
    coins = {"local": local, "steps": steps}
    theirs = np.array_equal(epsilons, _losses(coins))
    theirs = theirs and np.array_equal(deltas, _profile_of_coins(coins))
    return theirs and 0 <= false_positive_rate <= 1


def _tests_of_coins(*, local: float, steps: int, false_positive_rate: float) -> float:
    p, q = worst.coin_counts(local=local, steps=steps)
    return worst.most_powerful(p=p, q=q, false_positive_rate=false_positive_rate)


def _losses_of_pair(drawn: Parameters) -> NDArray:
    return np.append(0.0, np.maximum(np.log(drawn["p"]) - np.log(drawn["q"]), 0.0))


def _profile_of_pair(drawn: Parameters) -> NDArray:
    laws = {name: drawn[name] for name in "pq"}
    return np.array([oracles.worst_event_delta(**laws, epsilon=e) for e in _losses_of_pair(drawn)])


@formula(
    "G-D7",
    title="Trade-off function from the profile",
    kind="identity",
    statement=r"""f(a) = \sup_{\varepsilon\ge0}\max\{0,\ 1-\delta(\varepsilon)-e^\varepsilon a,\
        e^{-\varepsilon}(1-\delta(\varepsilon)-a)\} \text{ for symmetric } f""",
    requires=_is_their_profile,
    reference=Reference("Dong, Roth & Su", 2019, "Proposition 2.12"),
    domain={
        "local": Log(0.05, 3.0),
        "steps": Whole(1, 20),
        "epsilons": Derived(_losses),
        "deltas": Derived(_profile_of_coins),
        "false_positive_rate": Linear(0.0, 1.0),
    },
    oracle=_tests_of_coins,
    tolerance=1e-8,
    absolute=1e-10,
    unsafe="larger",
    examples=[
        (
            {"epsilons": np.array([1.0]), "deltas": np.zeros(1), "false_positive_rate": 0.1,
             "local": 1.0, "steps": 1},
            "0.728172", "0.728172",
        ),
    ],
    misprints=[
        Misprint(
            "one-branch",
            r"f(a) = \sup_{\varepsilon\ge0}\max\{0,\ 1-\delta(\varepsilon)-e^\varepsilon a\}",
            claim=lambda epsilons, deltas, false_positive_rate: max(
                0.0, float(np.max(1 - deltas - np.exp(epsilons) * false_positive_rate))
            ),
            source="the definition of DP read as one line for each epsilon",
            note="Slopes between -1 and 0 need the second branch: the event's complement.",
        ),
        Misprint(
            "not-symmetric",
            r"\text{the same from the profile of one order of a pair}",
            domain={
                "local": None,
                "steps": None,
                "epsilons": None,
                "deltas": None,
                "false_positive_rate": None,
                "p": Distribution(3, zeros=False),
                "q": Distribution(3, zeros=False),
                "losses": Derived(_losses_of_pair),
                "profile": Derived(_profile_of_pair),
                "rate": Linear(0.0, 1.0),
            },
            requires="0 <= rate and rate <= 1",
            claim=lambda losses, profile, rate: tradeoff_from_profile(
                epsilons=losses, deltas=profile, false_positive_rate=rate
            ),
            oracle=lambda p, q, rate: worst.most_powerful(p=p, q=q, false_positive_rate=rate),
            source="profiles of one order, taken for all",
            note="The second branch needs the profile of the other order.",
            seen=("F04",),
        ),
    ],
)  # fmt: skip
def tradeoff_from_profile(
    *, epsilons: ArrayLike, deltas: ArrayLike, false_positive_rate: float
) -> float:
    """Smallest miss rate of any test for a record, from points of the profile.

    Parameters
    ----------
    epsilons, deltas : array_like, shape (n,)
        Guarantees that hold at once for both orders of the pair; epsilon >= 0.
    false_positive_rate : float
        In [0, 1].

    Returns
    -------
    float
        In [0, 1]: a lower bound, and exact if the points include every kink of the profile.

    References
    ----------
    Dong, Roth & Su (2019), Proposition 2.12.

    Examples
    --------
    >>> round(tradeoff_from_profile(epsilons=[1.0], deltas=[0.0], false_positive_rate=0.1), 6)
    0.728172
    """
    epsilons, deltas = np.asarray(epsilons, dtype=float), np.asarray(deltas, dtype=float)
    steep = 1 - deltas - np.exp(epsilons) * false_positive_rate
    flat = np.exp(-epsilons) * (1 - deltas - false_positive_rate)
    return max(0.0, float(np.max(steep)), float(np.max(flat)))


@formula(
    "G-D8",
    title="Probabilistic DP implies DP",
    kind="upper",
    statement=r"""\Pr[L > \varepsilon] \le \delta \Rightarrow (\varepsilon,\delta)\text{-DP};\quad
        \text{Gaussian: } \Pr[L > \varepsilon] = \Phi\Big(\frac\mu2-\frac\varepsilon\mu\Big)""",
    requires="mu > 0 and epsilon >= 0",
    reference=Reference("Dwork & Roth", 2014, "Lemma 3.17"),
    domain={"mu": Log(0.01, 20.0), "epsilon": Log(1e-3, 50.0, also=(0.0,))},
    oracle=lambda mu, epsilon: math.exp(oracles.gaussian_log_delta(epsilon=epsilon, mu=mu)),
    absolute=1e-300,
    examples=[
        ({"mu": 1.0, "epsilon": 4.377178096}, "5.28375e-05", "1.0000e-05"),
        ({"mu": 1.0, "epsilon": 1.0}, "0.30854", "0.12694"),
    ],
    misprints=[
        Misprint(
            "equivalent",
            r"(\varepsilon,\delta)\text{-DP} \iff \Pr[L > \varepsilon] \le \delta",
            kind="identity",
            source="lecture notes on the moments accountant",
            note="Sufficient, not necessary: a loss just above epsilon costs next to nothing.",
            seen=("F37",),
            examples=[({"mu": 1.0, "epsilon": 4.377178096}, "5.28375e-05", "1.0000e-05")],
        ),
    ],
)
def gaussian_loss_tail(*, mu: float, epsilon: float) -> float:
    """Probability that the loss of a Gaussian release exceeds epsilon; delta is at most this.

    Parameters
    ----------
    mu : float
        Sensitivity / standard deviation, > 0.
    epsilon : float
        >= 0, nats.

    Returns
    -------
    float
        Exact as a probability, an upper bound on delta(epsilon).

    References
    ----------
    Dwork & Roth (2014), Lemma 3.17.

    Examples
    --------
    >>> round(gaussian_loss_tail(mu=1.0, epsilon=1.0), 6)
    0.308538
    """
    return float(ndtr(mu / 2 - epsilon / mu))


@formula(
    "G-D8b",
    title="What DP says about the tail of the loss",
    kind="upper",
    statement=r"""(\varepsilon,\delta)\text{-DP} \Rightarrow
        \Pr_P[L > 2\varepsilon] \le \frac\delta{1 - e^{-\varepsilon}}""",
    requires="epsilon > 0 and 0 <= delta and delta <= 1",
    reference=Reference("Kasiviswanathan & Smith", 2014, "Lemma 3.3, for the larger law"),
    domain={"epsilon": Log(0.01, 5.0), "delta": Log(1e-6, 0.5)},
    oracle=worst.largest_loss_tail,
    examples=[({"epsilon": 1.0, "delta": 1e-3}, "0.00158198", "0.00158198")],
    misprints=[
        Misprint(
            "smaller-law",
            r"\Pr_P[L > 2\varepsilon] \le \frac{2\delta}{\varepsilon e^\varepsilon}",
            claim=lambda epsilon, delta: 2 * delta / (epsilon * math.exp(epsilon)),
            source="surveys that quote the converse of probabilistic DP",
            note="It bounds Q of that event; from epsilon = 0.47 on it is too small for P.",
            examples=[({"epsilon": 1.0, "delta": 1e-3}, "0.00073576", "0.00158198")],
        ),
    ],
)
def loss_tail_of_dp(*, epsilon: float, delta: float) -> float:
    """Largest probability of a loss above 2 epsilon that (epsilon, delta)-DP allows.

    Parameters
    ----------
    epsilon : float
        > 0, nats.
    delta : float
        In [0, 1].

    Returns
    -------
    float
        Upper bound, at most 1, for a draw from the law that the loss favours; exact while it
        is small. A loss above epsilon itself may have any probability.

    References
    ----------
    Kasiviswanathan & Smith (2014), Lemma 3.3, states the like for the other law.

    Examples
    --------
    >>> round(loss_tail_of_dp(epsilon=1.0, delta=1e-3), 8)
    0.00158198
    """
    return min(delta / -math.expm1(-epsilon), 1.0)


# Mean loss, and the moments accountant

_FORMS = {
    "exact": lambda epsilon: math.tanh(epsilon / 2),
    "concentrated": lambda epsilon: epsilon / 2,
    "first": math.expm1,
}


def _mean_loss_by_epsilon(*, epsilon: float) -> float:
    p, q = oracles.randomized_response(epsilon=epsilon)
    return oracles.mean_loss(p=p, q=q) / epsilon


@formula(
    "G-D9",
    title="Drift terms of advanced composition",
    kind="upper",
    statement=r"""\frac{\mathrm{KL}}\varepsilon \le \tanh\frac\varepsilon2
        \le \frac\varepsilon2 \le e^\varepsilon - 1""",
    requires="epsilon > 0",
    reference=Reference("Kairouz, Oh & Viswanath", 2015, "Theorem 3.4"),
    domain={"epsilon": Log(1e-3, 10.0), "form": Choice(*_FORMS)},
    oracle=_mean_loss_by_epsilon,
    examples=[
        ({"epsilon": 1.0, "form": "exact"}, "0.4621172", "0.4621172"),
        ({"epsilon": 1.0, "form": "concentrated"}, "0.5", "0.4621172"),
        ({"epsilon": 1.0, "form": "first"}, "1.7182818", "0.4621172"),
    ],
    misprints=[
        Misprint(
            "half",
            r"\max\mathrm{KL} = \varepsilon\,\frac{e^\varepsilon - 1}2",
            claim=lambda epsilon: math.expm1(epsilon) / 2,
            kind="identity",
            domain={"form": None},
            source="printed with the square root of the later theorem",
            note="Valid, but between the two theorems; the denominator is e^epsilon + 1.",
            examples=[({"epsilon": 1.0}, "0.8591409")],
        ),
    ],
)
def drift(*, epsilon: float, form: str = "exact") -> float:
    r"""Mean loss per unit of epsilon that a composition theorem charges for a release.

    Parameters
    ----------
    epsilon : float
        Guarantee of one release, > 0, nats.
    form : {"exact", "concentrated", "first"}
        :math:`\tanh(\varepsilon/2)` of Kairouz, Oh & Viswanath (2015), :math:`\varepsilon/2` of
        Bun & Steinke (2016), :math:`e^\varepsilon-1` of Dwork, Rothblum & Vadhan (2010).

    Returns
    -------
    float
        Upper bound, each larger than the one before it; randomized response attains the first.

    Raises
    ------
    ValueError
        If the form is unknown.

    Examples
    --------
    >>> [round(drift(epsilon=1.0, form=f), 4) for f in ("exact", "concentrated", "first")]
    [0.4621, 0.5, 1.7183]
    """
    validate.one_of(_FORMS, form=form)
    return _FORMS[form](epsilon)


@formula(
    "G-D10",
    title="Moments accountant of one Gaussian release in closed form",
    kind="identity",
    statement=r"""\min_{\lambda>0}\frac{K(\lambda)+\ln(1/\delta)}\lambda
        = \frac1{2z^2} + \frac{\sqrt{2\ln(1/\delta)}}z,\quad
        K(\lambda) = \frac{\lambda(\lambda+1)}{2z^2}""",
    requires="noise_multiplier > 0 and 0 < delta and delta < 1",
    reference=Reference("Abadi et al.", 2016, "Theorem 2, by calculus"),
    domain={"noise_multiplier": Log(0.1, 50.0), "delta": Log(1e-12, 0.9)},
    oracle=worst.least_moment_bound,
    tolerance=1e-8,
    points=60,
    examples=[({"noise_multiplier": 1.0, "delta": 1e-5}, "5.2985259", "5.2985259")],
    misprints=[
        Misprint(
            "order-shifted",
            r"\varepsilon = \frac{\sqrt{2\ln(1/\delta)}}z - \frac1{2z^2}",
            claim=lambda noise_multiplier, delta: (
                math.sqrt(-2 * math.log(delta)) / noise_multiplier - 0.5 / noise_multiplier**2
            ),
            kind="upper",
            oracle=worst.exact_noise_epsilon,
            domain=_SMALL,
            source="lecture notes on the moments accountant",
            note="The moment of order a + 1 is the a-th of the loss; the two were taken for one.",
            seen=("F39",),
            examples=[
                ({"noise_multiplier": 1.0, "delta": 1e-5}, "4.2985259", "4.3771781"),
                ({"noise_multiplier": 0.5, "delta": 1e-5}, "7.5970518", "9.997256146"),
            ],
        ),
        Misprint(
            "bracket",
            r"\min_\alpha\{\varepsilon(\alpha) + \ln(1/\delta)/\alpha - 1\}"
            r" = \frac{\sqrt{2\ln(1/\delta)}}z - 1",
            claim=lambda noise_multiplier, delta: (
                math.sqrt(-2 * math.log(delta)) / noise_multiplier - 1
            ),
            kind="upper",
            oracle=worst.exact_noise_epsilon,
            domain=_SMALL,
            source="lecture notes, where a bracket was lost",
            note="The denominator is alpha - 1.",
            seen=("F06",),
            examples=[({"noise_multiplier": 1.0, "delta": 1e-5}, "3.79853", "4.37718")],
        ),
        Misprint(
            "one-order-low",
            r"(\alpha, K(\alpha)/\alpha)\text{-RDP} \Rightarrow \varepsilon ="
            r" \frac1{z^2} + \frac{\sqrt{2\ln(1/\delta)}}z",
            claim=lambda noise_multiplier, delta: (
                noise_multiplier**-2 + math.sqrt(-2 * math.log(delta)) / noise_multiplier
            ),
            domain=_SMALL,
            source="lecture notes that convert the moments one order too low",
            note="Valid, since divergences grow with the order; K(a)/a belongs to a + 1.",
            seen=("F34",),
        ),
        Misprint(
            "optimal",
            r"\text{the best epsilon of the Gaussian mechanism}",
            kind="identity",
            oracle=worst.exact_noise_epsilon,
            domain=_SMALL,
            source="lecture notes that call the optimised bound the best",
            note="Best over orders; the exact profile is smaller.",
            seen=("F35",),
            examples=[({"noise_multiplier": 1.0, "delta": 1e-5}, "5.2985259", "4.3771781")],
        ),
    ],
)
def moments_epsilon_gaussian(*, noise_multiplier: float, delta: float) -> float:
    r"""Epsilon of one Gaussian release by its moments, at the best order
    :math:`\lambda^* = z\sqrt{2\ln(1/\delta)}`.

    Parameters
    ----------
    noise_multiplier : float
        z > 0: standard deviation / sensitivity; z / sqrt(k) for k releases.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Upper bound, nats: the minimum over all real orders.

    References
    ----------
    Abadi et al. (2016), Theorem 2, by calculus.

    Examples
    --------
    >>> round(moments_epsilon_gaussian(noise_multiplier=1.0, delta=1e-5), 6)
    5.298526
    """
    validate.positive(noise_multiplier=noise_multiplier)
    validate.probability(delta=delta)
    return 0.5 / noise_multiplier**2 + math.sqrt(-2 * math.log(delta)) / noise_multiplier
