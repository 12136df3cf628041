"""Whole-number noise: discrete Gaussians, their sums, and Skellam noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr, ndtr

from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Choice, Derived, Linear, Log, Whole
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference

_CKS = "Canonne, Kamath & Steinke"


def _log_masses(sigma: float, reach: int, centre: float = 0.0) -> tuple[NDArray, NDArray]:
    """The whole numbers up to `reach`, and the log masses of e^(-(k-centre)^2 / 2 sigma^2)."""
    k = np.arange(-reach, reach + 1.0)
    logs = -0.5 * ((k - centre) / sigma) ** 2
    return k, logs - np.logaddexp.reduce(logs)


def _spread(*, sigma: float, centre: float = 0.0) -> float:
    """Variance, term by term."""
    k, logs = _log_masses(sigma, math.ceil(40 * sigma) + 2, centre)
    mean = np.exp(logs) @ (k - centre)
    return float(np.exp(logs) @ (k - centre - mean) ** 2)


@formula(
    "G-J1",
    title="Variance of the discrete Gaussian",
    kind="upper",
    statement=r"""P(X=k) \propto e^{-k^2/2\sigma^2}:\quad \mathrm{Var}X \le
        \sigma^2\Big(1 - \frac{4\pi^2\sigma^2}{e^{4\pi^2\sigma^2}-1}\Big) < \sigma^2""",
    requires="sigma > 0",
    reference=Reference(_CKS, 2020, "Corollary 9"),
    domain={"sigma": Log(0.05, 100.0)},
    oracle=_spread,
    unsafe=None,
    examples=[
        ({"sigma": 0.5}, "0.249872371552", "0.215012675088"),
        ({"sigma": 1.0}, "1.0000000000", "0.999999788768"),
    ],
    misprints=[
        Misprint(
            "sigma-squared",
            r"\mathrm{Var}X = \sigma^2",
            claim=lambda sigma: sigma**2,
            kind="identity",
            source="descriptions that call the parameter a standard deviation",
            note="Rounding keeps mass in 0: the variance is smaller, far smaller below 1/2.",
        ),
        Misprint(
            "any-centre",
            r"\mathrm{Var} < \sigma^2 \text{ for every centre } \mu",
            requires="sigma > 0 and 0 <= centre",
            domain={"centre": Linear(0.0, 0.5)},
            source="the bound quoted without its condition",
            note="Around 1/2 two numbers are equally likely: 1/4 even if sigma is tiny.",
        ),
    ],
)
def discrete_gaussian_variance(*, sigma: float) -> float:
    """Variance of the discrete Gaussian around a whole number.

    Parameters
    ----------
    sigma : float
        The parameter of the law, > 0; not its standard deviation.

    Returns
    -------
    float
        Upper bound, below sigma^2.

    References
    ----------
    Canonne, Kamath & Steinke (2020), Corollary 9.

    Examples
    --------
    >>> round(discrete_gaussian_variance(sigma=0.5), 6)
    0.249872
    """
    validate.positive(sigma=sigma)
    x = (2 * math.pi * sigma) ** 2
    # e^-x beyond the range of e^x.
    lost = x * math.exp(-x) if x > 700 else x / math.expm1(x)
    return sigma**2 * (1 - lost)


def _pair(sigma: float, shift: int, reach: int) -> tuple[NDArray, NDArray]:
    """Log masses of the outputs that differ by `shift`, on the same numbers."""
    _, logs = _log_masses(sigma, reach + shift)
    return logs[: logs.size - shift], logs[shift:]


def _enumerated_delta(*, sigma: float, sensitivity: int, epsilon: float) -> float:
    """Sum of what exceeds, over all outputs."""
    p, q = _pair(sigma, sensitivity, math.ceil(40 * sigma) + 4 * sensitivity)
    gains = np.maximum(-np.expm1(np.minimum(epsilon - (p - q), 0.0)), 0.0)
    return float(np.exp(p) @ gains)


def _continuous_delta(*, sigma: float, sensitivity: int, epsilon: float) -> float:
    """The Gaussian's."""
    mu = sensitivity / sigma
    upper = ndtr(mu / 2 - epsilon / mu)
    return float(upper - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))


_WHOLE_QUERY = {"sigma": Log(0.2, 50.0), "sensitivity": Whole(1, 5)}


@formula(
    "G-J2",
    title="Privacy profile of the discrete Gaussian",
    kind="identity",
    statement=r"""\delta(\varepsilon) =
        P\Big(Y > \frac{\varepsilon\sigma^2}\Delta - \frac\Delta2\Big)
        - e^\varepsilon P\Big(Y > \frac{\varepsilon\sigma^2}\Delta + \frac\Delta2\Big)""",
    requires="sigma > 0 and sensitivity >= 1 and epsilon >= 0",
    reference=Reference(_CKS, 2020, "Theorem 7"),
    domain={**_WHOLE_QUERY, "epsilon": Linear(0.0, 5.0)},
    oracle=_enumerated_delta,
    absolute=1e-250,
    examples=[({"sigma": 1.0, "sensitivity": 1, "epsilon": 1.0}, "0.141351339", "0.141351339")],
    misprints=[
        Misprint(
            "continuous",
            r"""\delta(\varepsilon) = \Phi\Big(\frac\mu2 - \frac\varepsilon\mu\Big)
                - e^\varepsilon\Phi\Big(-\frac\mu2 - \frac\varepsilon\mu\Big),\quad
                \mu = \Delta/\sigma""",
            claim=_continuous_delta,
            domain={"sigma": Log(0.2, 5.0)},
            source="accountants that take one Gaussian for the other",
            note="Equal Rényi divergences at whole orders do not make equal profiles.",
            examples=[({"sigma": 1.0, "sensitivity": 1, "epsilon": 1.0}, "0.126936738")],
        ),
    ],
)  # fmt: skip
def discrete_gaussian_delta(*, sigma: float, sensitivity: int, epsilon: float) -> float:
    r"""Privacy profile of a whole-number query with discrete Gaussian noise.

    Parameters
    ----------
    sigma : float
        Parameter of the noise :math:`P(Y = k) \propto e^{-k^2/2\sigma^2}`, > 0.
    sensitivity : int
        Delta >= 1: how far the query's value moves.
    epsilon : float
        >= 0, nats.

    Returns
    -------
    float
        Exact, from tails summed up to 40 sigma.

    References
    ----------
    Canonne, Kamath & Steinke (2020), Theorem 7.

    Examples
    --------
    >>> round(discrete_gaussian_delta(sigma=1.0, sensitivity=1, epsilon=1.0), 6)
    0.141351
    """
    validate.positive(sigma=sigma)
    validate.integer(minimum=1, sensitivity=sensitivity)
    middle, far = epsilon * sigma**2 / sensitivity, math.ceil(40 * sigma)
    k = np.arange(-far - sensitivity, far + sensitivity + 1)
    weights = np.exp(-0.5 * (k / sigma) ** 2)
    above = np.sum(weights[k > middle - sensitivity / 2])
    well_above = np.sum(weights[k > middle + sensitivity / 2])
    return float((above - math.exp(epsilon) * well_above) / np.sum(weights))


def _enumerated_renyi(*, sigma: float, sensitivity: float, order: float) -> float:
    """The sum of the definition; inf if the two outputs have no value in common."""
    if sensitivity != round(sensitivity):
        return math.inf
    shift = round(sensitivity)
    p, q = _pair(sigma, shift, math.ceil(40 * sigma + order * shift))
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


@formula(
    "G-J2b",
    title="Concentrated DP of the discrete Gaussian",
    kind="upper",
    statement=r"D_\alpha \le \alpha\,\frac{\Delta^2}{2\sigma^2} \text{ for all } \alpha > 1",
    requires="sigma > 0 and sensitivity >= 1 and order > 1",
    reference=Reference(_CKS, 2020, "Theorem 4"),
    domain={**_WHOLE_QUERY, "order": Log(1.02, 100.0)},
    oracle=_enumerated_renyi,
    tolerance=1e-8,
    examples=[({"sigma": 1.0, "sensitivity": 1, "order": 2.0}, "1", "1.00000000")],
    misprints=[
        Misprint(
            "equality",
            r"D_\alpha = \alpha\,\frac{\Delta^2}{2\sigma^2} \text{ for all } \alpha > 1",
            kind="identity",
            domain={"sigma": Log(0.2, 2.0)},
            source="summaries that call the two Gaussians the same",
            note="Equal where alpha Delta is a whole number, smaller between.",
        ),
        Misprint(
            "any-query",
            r"\text{the same for a query with real values}",
            requires="sigma > 0 and sensitivity > 0 and order > 1",
            domain={"sensitivity": Choice(0.5, 1.0, 1.5)},
            source="code that adds whole-number noise to sums of floats",
            note="Then neighbours have no output in common: round first.",
        ),
    ],
)
def discrete_gaussian_rdp(*, sigma: float, sensitivity: int, order: float) -> float:
    """RDP of a whole-number query with discrete Gaussian noise.

    Parameters
    ----------
    sigma, sensitivity
        As in `discrete_gaussian_delta`.
    order : float
        alpha > 1.

    Returns
    -------
    float
        Upper bound, nats; exact where alpha * sensitivity is whole.

    References
    ----------
    Canonne, Kamath & Steinke (2020), Theorem 4.

    Examples
    --------
    >>> discrete_gaussian_rdp(sigma=1.0, sensitivity=1, order=2.0)
    1.0
    """
    validate.positive(sigma=sigma)
    return order * sensitivity**2 / (2 * sigma**2)


def _sum_against_one(*, sigma: float, clients: int) -> float:
    """Largest log ratio of the law of a sum and one discrete Gaussian, either way.

    The ratio repeats every `clients` numbers, so those around 0 are all.
    """
    law = one = np.exp(_log_masses(sigma, math.ceil(12 * sigma) + 2)[1])
    for _ in range(clients - 1):
        law = np.convolve(law, one)
    reach = (clients + 1) // 2
    wide = _log_masses(math.sqrt(clients) * sigma, law.size // 2)[1]
    near = slice(law.size // 2 - reach, law.size // 2 + reach + 1)
    return float(np.max(np.abs(np.log(law[near]) - wide[near])))


@formula(
    "G-J3",
    title="A sum of discrete Gaussians is nearly one",
    kind="upper",
    statement=r"""X_1,\dots,X_n \sim N_{\mathbb Z}(0,\sigma^2),\ Y \sim N_{\mathbb Z}(0,n\sigma^2):
        \quad \Big|\ln\frac{P(\sum_iX_i=k)}{P(Y=k)}\Big|
        \le \tau = 10\sum_{k=1}^{n-1}e^{-2\pi^2\sigma^2k/(k+1)}""",
    requires="sigma >= 0.5 and clients >= 1",
    reference=Reference("Kairouz, Liu & Steinke", 2021, "Theorem 9"),
    domain={"sigma": Log(0.5, 4.0), "clients": Whole(1, 40)},
    oracle=_sum_against_one,
    points=60,
    examples=[({"sigma": 1.0, "clients": 10}, "0.0005435243")],
    misprints=[
        Misprint(
            "closed-under-sums",
            r"\sum_iX_i \sim N_{\mathbb Z}(0, n\sigma^2)",
            claim=lambda sigma: 0.0,
            source="federated learning by analogy with the continuous Gaussian",
            note="Nearly so for sigma of 1 or more, but not quite.",
        ),
        Misprint(
            "any-sigma",
            r"\text{the same bound for every } \sigma > 0",
            requires="sigma > 0 and clients >= 2",
            domain={"sigma": Log(0.05, 0.5), "clients": Whole(2, 4)},
            source="the bound copied without its condition",
            note="For tiny sigma most sums are 0, n different single steps lead to 1.",
        ),
    ],
)
def discrete_gaussian_sum_gap(*, sigma: float, clients: int) -> float:
    """Largest log ratio between a sum of discrete Gaussians and one of the same variance.

    Parameters
    ----------
    sigma : float
        Parameter of each client's noise, sigma >= 1/2.
    clients : int
        n >= 1.

    Returns
    -------
    float
        Upper bound tau, nats.

    References
    ----------
    Kairouz, Liu & Steinke (2021), Theorem 9.

    Examples
    --------
    >>> round(discrete_gaussian_sum_gap(sigma=1.0, clients=10), 8)
    0.00054352
    """
    validate.positive(sigma=sigma)
    validate.integer(minimum=1, clients=clients)
    k = np.arange(1, clients)
    return 10 * float(np.sum(np.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1))))


def _log_skellam(variance: float, reach: int) -> NDArray:
    """Log masses on 0, 1, ... `reach` of the difference of two Poisson counts."""
    mean = variance / 2
    extra = np.arange(math.ceil(mean + 12 * math.sqrt(mean)) + 60.0)
    total = np.arange(reach + 1.0)[:, None] + extra
    return np.logaddexp.reduce(
        (total + extra) * math.log(mean) - gammaln(total + 1) - gammaln(extra + 1) - variance,
        axis=1,
    )


def _skellam_renyi(*, variance: float, order: float, shift: tuple[int, ...]) -> float:
    """The sum of the definition for each coordinate; independent ones add up."""
    largest = max(shift)
    reach = math.ceil(3 * order * largest + variance + 12 * math.sqrt(variance)) + 60
    half = _log_skellam(variance, reach + largest)
    logs = np.concatenate([half[:0:-1], half])
    found = 0.0
    for size in shift:
        p, q = logs[: logs.size - size], logs[size:]
        found += float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)
    return found


def _first_term(*, order: float, variance: float, sensitivity_l2: float) -> float:
    return order * sensitivity_l2**2 / (2 * variance)


_SHIFTS = Choice((1,), (2,), (5,), (1, 1), (3, 1), (1,) * 10, (4, 1, 1, 1, 1))


@formula(
    "G-J4",
    title="Skellam mechanism: RDP",
    kind="upper",
    statement=r"""\varepsilon(\alpha) = \frac{\alpha\Delta_2^2}{2\mu}
        + \min\Big(\frac{(2\alpha-1)\Delta_2^2 + 6\Delta_1}{4\mu^2},
        \frac{3\Delta_1}{2\mu}\Big),\quad X = \mathrm{Poisson}(\mu/2) - \mathrm{Poisson}(\mu/2)""",
    requires="order >= 2 and variance > 0",
    reference=Reference("Agarwal, Kairouz & Liu", 2021, "Theorem 3.5"),
    domain={
        "order": Whole(2, 30),
        "variance": Log(0.05, 100.0),
        "shift": _SHIFTS,
        "sensitivity_l1": Derived(lambda drawn: sum(drawn["shift"])),
        "sensitivity_l2": Derived(lambda drawn: math.hypot(*drawn["shift"])),
    },
    oracle=_skellam_renyi,
    points=40,
    examples=[
        (
            {
                "order": 2,
                "variance": 10.0,
                "sensitivity_l1": 1,
                "sensitivity_l2": 1.0,
                "shift": (1,),
            },
            "0.1225",
            "0.099654438",
        )
    ],
    misprints=[
        Misprint(
            "as-gaussian",
            r"D_\alpha = \frac{\alpha\Delta_2^2}{2\mu}",
            claim=_first_term,
            kind="identity",
            source="summaries that drop the second term",
            note="At whole orders it was an upper bound wherever tried, and far from the value.",
        ),
        Misprint(
            "as-gaussian-at-all-orders",
            r"D_\alpha \le \frac{\alpha\Delta_2^2}{2\mu} \text{ for all } \alpha > 1",
            claim=_first_term,
            requires="order > 1 and variance > 0",
            domain={"order": Log(1.02, 2.0), "shift": Choice((1,))},
            source="summaries that drop the second term, read for all orders",
            note="Just above order 1 and for a variance of about 1 it is five percent too small.",
        ),
    ],
)  # fmt: skip
def skellam_rdp(
    *, order: int, variance: float, sensitivity_l1: float, sensitivity_l2: float
) -> float:
    """RDP of whole-number queries with Skellam noise.

    Parameters
    ----------
    order : int
        Whole alpha >= 2.
    variance : float
        mu > 0 of the noise on every coordinate.
    sensitivity_l1, sensitivity_l2 : float
        Norms of the change by one record; its coordinates are whole.

    Returns
    -------
    float
        Upper bound, nats.

    References
    ----------
    Agarwal, Kairouz & Liu (2021), Theorem 3.5.

    Examples
    --------
    >>> round(skellam_rdp(order=2, variance=10.0, sensitivity_l1=1, sensitivity_l2=1), 4)
    0.1225
    """
    validate.positive(variance=variance)
    square = sensitivity_l2**2
    small = ((2 * order - 1) * square + 6 * sensitivity_l1) / (4 * variance**2)
    return order * square / (2 * variance) + min(small, 3 * sensitivity_l1 / (2 * variance))
