"""The basic mechanisms: noise, selection, answers at random, and noise that looks at the data."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from dplearn.formulas import _oracles as oracles
from dplearn.formulas import _oracles_mechanisms as slow
from dplearn.formulas._base import Misprint, formula
from dplearn.formulas._domains import Choice, Derived, Given, Linear, Log, Parameters, Whole
from dplearn.formulas.gaussian import gaussian_delta
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency, Reference
from dplearn.ground.solve import first_true

_DR = "Dwork & Roth"

# Laplace noise


@formula(
    "G-B1",
    title="Exact profile of the Laplace mechanism",
    kind="identity",
    statement=r"""\delta(\varepsilon) = 1 - e^{(\varepsilon - \Delta/b)/2}
        \text{ for } 0 \le \varepsilon < \Delta/b,\quad 0 \text{ beyond}""",
    requires="epsilon >= 0 and ratio > 0",
    reference=Reference("Balle, Barthe & Gaboardi", 2018, "Theorem 3"),
    domain={"epsilon": Log(1e-4, 60.0, also=(0.0,)), "ratio": Log(1e-3, 50.0)},
    oracle=slow.laplace_delta,
    absolute=1e-15,
    examples=[({"epsilon": 0.5, "ratio": 1.0}, "0.2211992169")],
    misprints=[
        Misprint(
            "straight-line",
            r"\delta(\varepsilon) = \delta(0)\,(1 - \varepsilon b/\Delta)",
            claim=lambda epsilon, ratio: (
                -math.expm1(-ratio / 2) * max(0.0, 1 - epsilon / ratio)
            ),
            source="plots and tables read by linear interpolation",
            note="The profile is concave in epsilon between its ends, so chords are too low.",
        ),
    ],
)  # fmt: skip
def laplace_delta(*, epsilon: float, ratio: float) -> float:
    r"""Delta at `epsilon` of Laplace noise added to a number.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    ratio : float
        Sensitivity / scale of the noise, > 0: the epsilon of pure DP.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Dwork & Roth (2014), Theorem 3.6; Balle, Barthe & Gaboardi (2018), Theorem 3.

    Examples
    --------
    >>> round(laplace_delta(epsilon=0.5, ratio=1.0), 10)
    0.2211992169
    """
    validate.non_negative(epsilon=epsilon)
    validate.positive(ratio=ratio)
    return -math.expm1(min(epsilon - ratio, 0.0) / 2)


def _some_shift(rng: Generator, drawn: Parameters) -> NDArray:
    """Up to four coordinates; equal ones, or one decimal each."""
    size = rng.integers(1, 5)
    if rng.random() < 0.3:
        return np.full(size, 0.5)
    return rng.integers(-20, 21, size) / 10


@formula(
    "G-B2",
    title="Laplace noise on a vector: the L1 norm counts",
    kind="identity",
    statement=r"""\sup_x \ln\frac{p(x - f(d'))}{p(x - f(d))} = \frac{\lVert f(d) - f(d')\rVert_1}b
        \ \Rightarrow\ b = \Delta_1/\varepsilon""",
    requires="scale > 0",
    reference=Reference(_DR, 2014, "Theorem 3.6"),
    domain={"shift": Given(_some_shift), "scale": Log(1e-3, 1e3)},
    oracle=slow.vector_laplace_loss,
    examples=[({"shift": np.full(4, 0.5), "scale": 1.0}, "2", "2")],
    misprints=[
        Misprint(
            "euclidean",
            r"b = \Delta_2/\varepsilon",
            claim=lambda shift, scale: float(np.linalg.norm(shift)) / scale,
            source="code that calibrates every noise by the L2 norm",
            note="In d dimensions the L1 norm is up to sqrt(d) times as large.",
            examples=[({"shift": np.full(4, 0.5), "scale": 1.0}, "1", "2")],
        ),
    ],
)
def vector_laplace_epsilon(*, shift: ArrayLike, scale: float) -> float:
    r"""Epsilon of pure DP of Laplace noise of one scale in every coordinate.

    Parameters
    ----------
    shift : array_like, shape (d,)
        Difference of two neighbouring answers.
    scale : float
        b > 0 of the noise.

    Returns
    -------
    float
        Exact, nats, for this pair; with the largest L1 norm of a shift, for the mechanism.

    References
    ----------
    Dwork, McSherry, Nissim & Smith (2006); Dwork & Roth (2014), Theorem 3.6.

    Examples
    --------
    >>> vector_laplace_epsilon(shift=[0.5, 0.5, 0.5, 0.5], scale=1.0)
    2.0
    """
    validate.positive(scale=scale)
    return float(np.sum(np.abs(np.asarray(shift, dtype=float)))) / scale


@formula(
    "G-B14",
    title="Tails of the Laplace law",
    kind="identity",
    statement=r"P(|X| > t) = e^{-t/b}",
    requires="scale > 0 and threshold >= 0",
    reference=Reference(_DR, 2014, "Fact 3.7"),
    domain={"scale": Log(1e-3, 1e3), "threshold": Log(1e-3, 500.0, also=(0.0,))},
    oracle=lambda scale, threshold: 2 * slow.laplace_above(scale=scale, threshold=threshold),
    tolerance=1e-8,
    absolute=0.0,
    unsafe=None,
    examples=[({"scale": 1.0, "threshold": 3.0}, "0.049787068")],
    misprints=[
        Misprint(
            "one-side",
            r"P(X > t) = e^{-t/b}",
            oracle=slow.laplace_above,
            source="course notebooks",
            note="One side holds half of it.",
        ),
    ],
)
def laplace_tail(*, scale: float, threshold: float) -> float:
    r"""Probability that Laplace noise is farther than `threshold` from 0.

    Parameters
    ----------
    scale : float
        b > 0.
    threshold : float
        t >= 0, in the units of the scale.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Dwork & Roth (2014), Fact 3.7.

    Examples
    --------
    >>> round(laplace_tail(scale=1.0, threshold=3.0), 9)
    0.049787068
    """
    validate.positive(scale=scale)
    validate.non_negative(threshold=threshold)
    return math.exp(-threshold / scale)


@formula(
    "G-B14b",
    title="Variance of the Laplace law",
    kind="identity",
    statement=r"\operatorname{Var} X = 2b^2",
    requires="scale > 0",
    reference=Reference(_DR, 2014, "Definition 3.3"),
    domain={"scale": Log(1e-3, 1e3)},
    oracle=slow.laplace_second_moment,
    absolute=0.0,
    points=40,
    unsafe=None,
    examples=[({"scale": 1.0}, "2")],
    misprints=[
        Misprint(
            "square",
            r"\operatorname{Var} X = b^2",
            claim=lambda scale: scale**2,
            source="notebooks that read the scale as a standard deviation",
            note="The standard deviation is sqrt(2) b.",
        ),
    ],
)
def laplace_variance(*, scale: float) -> float:
    """Variance 2 b^2 of a Laplace law of scale b > 0.

    Examples
    --------
    >>> laplace_variance(scale=3.0)
    18.0
    """
    validate.positive(scale=scale)
    return 2 * scale**2


# Other noise for pure DP


@formula(
    "G-B3",
    title="The geometric law: discrete Laplace noise",
    kind="identity",
    statement=r"P(X = k) = \frac{1 - e^{-\varepsilon}}{1 + e^{-\varepsilon}}e^{-\varepsilon|k|}",
    requires="rate > 0",
    reference=Reference("Ghosh, Roughgarden & Sundararajan", 2009, "Section 2"),
    domain={"rate": Log(1e-3, 5.0), "value": Choice(-50, -7, -1, 0, 1, 2, 3, 20)},
    oracle=slow.geometric_difference,
    absolute=0.0,
    unsafe=None,
    examples=[
        ({"rate": 1.0, "value": 0}, "0.4621171573"),
        ({"rate": 1.0, "value": -2}, "0.0625407564"),
    ],
    misprints=[
        Misprint(
            "one-sided-constant",
            r"P(X = k) = (1 - e^{-\varepsilon})\,e^{-\varepsilon|k|},\ k \in \mathbb Z",
            claim=lambda rate, value: -math.expm1(-rate) * math.exp(-rate * abs(value)),
            source="mixing the geometric law with its two-sided sister",
            note="The constant of the one-sided law; both sides together weigh more than 1.",
        ),
    ],
)
def geometric_probability(*, rate: float, value: int) -> float:
    r"""Probability of `value` under the two-sided geometric law with ratio e^-rate.

    Parameters
    ----------
    rate : float
        > 0, nats per unit: epsilon for counts of sensitivity 1.
    value : int
        Any whole number.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Ghosh, Roughgarden & Sundararajan (2009).

    Examples
    --------
    >>> round(geometric_probability(rate=1.0, value=0), 6)
    0.462117
    """
    validate.positive(rate=rate)
    return math.tanh(rate / 2) * math.exp(-rate * abs(value))


@formula(
    "G-B3b",
    title="Pure DP of the geometric mechanism",
    kind="identity",
    statement=r"""\max_k\ln\frac{P(X = k)}{P(X = k - \Delta)} = \varepsilon\Delta,
        \quad P(X = k) \propto e^{-\varepsilon|k|}""",
    requires="rate > 0",
    reference=Reference("Ghosh, Roughgarden & Sundararajan", 2009, "Section 2"),
    domain={"rate": Log(0.01, 5.0), "sensitivity": Whole(1, 20)},
    oracle=slow.geometric_loss,
    points=50,
    examples=[({"rate": 0.5, "sensitivity": 3}, "1.5", "1.5")],
    misprints=[
        Misprint(
            "one-sided",
            r"\text{noise of } P(X = k) = (1 - e^{-\varepsilon})e^{-\varepsilon k},\ k \ge 0"
            r" \text{ is } \varepsilon\text{-DP}",
            oracle=slow.one_sided_geometric_loss,
            source="libraries whose geometric law begins at 0",
            note="The smaller count can print a number that the larger one never does.",
        ),
        Misprint(
            "floating-point",
            r"\mathrm{Lap}(1/\varepsilon) \text{ from } \pm\ln U/\varepsilon"
            r" \text{ in floating point is } \varepsilon\text{-DP}",
            domain={"sensitivity": Choice(1), "bits": Choice(6, 8, 10)},
            oracle=slow.float_laplace_loss,
            source="textbook implementations",
            note="Sums round to floats that only one of the two answers reaches (Mironov 2012).",
        ),
        Misprint(
            "any-sensitivity",
            r"P(X = k) \propto e^{-\varepsilon|k|}:\ \varepsilon\text{-DP for every } \Delta",
            claim=lambda rate: rate,
            source="a formula for counts used for sums",
            note="It is so for sensitivity 1; in general the rate is epsilon/Delta.",
        ),
    ],
)
def geometric_epsilon(*, rate: float, sensitivity: int) -> float:
    """Epsilon of pure DP of two-sided geometric noise on whole numbers.

    Parameters
    ----------
    rate : float
        > 0; one step further out is e^-rate times as likely.
    sensitivity : int
        Largest change of the answer, >= 1.

    Returns
    -------
    float
        Exact, nats.

    References
    ----------
    Ghosh, Roughgarden & Sundararajan (2009).

    Examples
    --------
    >>> geometric_epsilon(rate=0.5, sensitivity=3)
    1.5
    """
    validate.positive(rate=rate)
    validate.integer(minimum=1, sensitivity=sensitivity)
    return rate * sensitivity


@formula(
    "G-B13",
    title="The least variance of additive noise: the staircase",
    kind="identity",
    statement=r"""\min\operatorname{Var} = \Delta^2\,
        \frac{2^{-2/3}b^{2/3}(1+b)^{2/3} + b}{(1-b)^2},\quad b = e^{-\varepsilon}""",
    requires="epsilon > 0",
    reference=Reference("Geng & Viswanath", 2014, "the optimal noise for the variance"),
    domain={"epsilon": Log(0.01, 25.0)},
    oracle=slow.staircase_variance,
    absolute=0.0,
    points=60,
    unsafe=None,
    examples=[({"epsilon": 1.0}, "1.918104"), ({"epsilon": 5.0}, "0.02971102")],
    misprints=[
        Misprint(
            "laplace",
            r"\min\operatorname{Var} = 2\Delta^2/\varepsilon^2",
            claim=lambda epsilon: 2 / epsilon**2,
            source="lecture notes that call Laplace noise optimal",
            note="Nearly so for a small epsilon; at 5 it has 2.7 times the least variance.",
            examples=[
                ({"epsilon": 1.0}, "2", "1.918104"),
                ({"epsilon": 5.0}, "0.08", "0.02971102"),
            ],
        ),
    ],
)
def staircase_variance(*, epsilon: float) -> float:
    r"""Least variance of noise that makes a number of sensitivity 1 epsilon-DP.

    Parameters
    ----------
    epsilon : float
        > 0, nats.

    Returns
    -------
    float
        Exact, in squares of the sensitivity, for additive noise and pure DP.

    References
    ----------
    Geng & Viswanath (2014), The optimal mechanism in differential privacy.

    Examples
    --------
    >>> round(staircase_variance(epsilon=1.0), 6)
    1.918104
    """
    validate.positive(epsilon=epsilon)
    b = math.exp(-epsilon)
    return ((b * (1 + b) / 2) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2


# Gaussian noise

_TARGET = {"epsilon": Log(1e-3, 1.0), "delta": Log(1e-15, 0.99)}
_IN_RANGE = "epsilon > 0 and epsilon <= 1 and delta > 0 and delta < 1"


@formula(
    "G-B4",
    title="Classical noise of the Gaussian mechanism",
    kind="upper",
    statement=r"""\sigma \ge \frac{\Delta_2\sqrt{2\ln(1.25/\delta)}}\varepsilon
        \ \Rightarrow\ (\varepsilon,\delta)\text{-DP}""",
    requires=_IN_RANGE,
    reference=Reference(_DR, 2014, "Theorem A.1"),
    domain=_TARGET,
    oracle=oracles.gaussian_sigma,
    examples=[({"epsilon": 1.0, "delta": 1e-5}, "4.844805263", "3.730631635")],
    misprints=[
        Misprint(
            "any-epsilon",
            r"\sigma = \Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon"
            r" \text{ for every } \varepsilon > 0,\ \delta \in (0,1)",
            requires="epsilon > 0 and delta > 0 and delta < 1",
            domain={"epsilon": Log(0.1, 50.0)},
            source="lecture notes and libraries",
            note="Proved up to epsilon = 1, it fails from 8.4 on for delta = 1e-5.",
            seen=("F08", "F11"),
            examples=[({"epsilon": 10.0, "delta": 1e-5}, "0.484481")],
        ),
        Misprint(
            "no-two",
            r"\sigma = \Delta_2\sqrt{\ln(1.25/\delta)}/\varepsilon",
            claim=lambda epsilon, delta: math.sqrt(math.log(1.25 / delta)) / epsilon,
            source="recalled from memory",
            note="The factor 2 comes from the Gaussian's exponent.",
        ),
        Misprint(
            "condition",
            r"(\varepsilon,\delta)\text{-DP} \iff"
            r" \sigma = \Delta_2\sqrt{2\ln(1.25/\delta)}/\varepsilon",
            kind="identity",
            source="lecture notes that call it the condition",
            note="It is enough but not needed: 3.73 does what it asks 4.84 for.",
            seen=("F11",),
            examples=[({"epsilon": 1.0, "delta": 1e-5}, "4.844805263", "3.730631635")],
        ),
    ],
)
def classical_gaussian_sigma(*, epsilon: float, delta: float) -> float:
    r"""Standard deviation :math:`\sqrt{2\ln(1.25/\delta)}/\varepsilon` that is enough.

    Parameters
    ----------
    epsilon : float
        Target in (0, 1], nats; the theorem says < 1, and delta is continuous in epsilon.
    delta : float
        Target in (0, 1).

    Returns
    -------
    float
        Upper bound on what is needed, in units of the L2 sensitivity.

    Raises
    ------
    ValueError
        If delta is outside (0, 1). Beyond epsilon = 1 there is a value, and no theorem.

    References
    ----------
    Dwork & Roth (2014), Theorem A.1.

    Examples
    --------
    >>> round(classical_gaussian_sigma(epsilon=0.5, delta=1e-5), 6)
    9.689611
    """
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def _gaussian_by_quadrature(*, epsilon: float, noise_multiplier: float) -> float:
    laws = oracles.log_normal(1.0, noise_multiplier), oracles.log_normal(0.0, noise_multiplier)
    far = (500.0 + epsilon * noise_multiplier) * noise_multiplier + 1.0
    return oracles.density_delta(*laws, epsilon, -far, far)


def _loss_tail(*, epsilon: float, noise_multiplier: float) -> float:
    return float(ndtr(0.5 / noise_multiplier - epsilon * noise_multiplier))


formula(
    "G-B5",
    title="Exact profile of the Gaussian mechanism",
    kind="identity",
    statement=r"""\delta(\varepsilon) = \Phi\Big(\frac\Delta{2\sigma}
        - \frac{\varepsilon\sigma}\Delta\Big)
        - e^\varepsilon\,\Phi\Big(-\frac\Delta{2\sigma} - \frac{\varepsilon\sigma}\Delta\Big)""",
    requires="epsilon >= 0 and noise_multiplier > 0",
    reference=Reference("Balle & Wang", 2018, "Theorem 8"),
    domain={"epsilon": Log(1e-3, 20.0, also=(0.0,)), "noise_multiplier": Log(0.05, 20.0)},
    oracle=_gaussian_by_quadrature,
    tolerance=1e-8,
    absolute=1e-290,
    examples=[
        ({"epsilon": 1.0, "noise_multiplier": 4.844805263}, "4.11369e-08"),
        ({"epsilon": 1.0, "noise_multiplier": 1.0}, "0.1269367"),
    ],
    misprints=[
        Misprint(
            "one-tail",
            r"\delta(\varepsilon) = \Phi\Big(\frac\Delta{2\sigma} -"
            r" \frac{\varepsilon\sigma}\Delta\Big)",
            claim=_loss_tail,
            source="derivations by the tail of the privacy loss",
            note="P(L > epsilon) is enough for delta, but larger than it.",
            seen=("F37",),
            examples=[
                ({"epsilon": 1.0, "noise_multiplier": 1.0}, "0.30854"),
                ({"epsilon": 4.3771781, "noise_multiplier": 1.0}, "5.28375e-5"),
            ],
        ),
        Misprint(
            "swapped-signs",
            r"""\Phi\Big(\frac{\varepsilon\sigma}\Delta - \frac\Delta{2\sigma}\Big)
                - e^\varepsilon\,\Phi\Big(-\frac\Delta{2\sigma}
                - \frac{\varepsilon\sigma}\Delta\Big)""",
            claim=lambda epsilon, noise_multiplier: (
                ndtr(epsilon * noise_multiplier - 0.5 / noise_multiplier)
                - math.exp(epsilon) * ndtr(-0.5 / noise_multiplier - epsilon * noise_multiplier)
            ),
            source="retyped theorems",
            note="This delta grows with the noise.",
        ),
        Misprint(
            "trained-parameters",
            r"\theta(d) + N(0,\sigma^2) \text{ is private at } \Delta = 1, \theta \text{ trained}",
            domain={"exponent": Choice(0, 1, 2, 3)},
            oracle=slow.trained_gaussian_delta,
            source="introductions to private training",
            note="Training needs a bounded sensitivity; one record can move a slope by 10^k.",
            seen=("F03",),
        ),
    ],
)(gaussian_delta)


@formula(
    "G-B5b",
    title="Analytic calibration of the Gaussian mechanism",
    kind="identity",
    statement=r"""\sigma(\varepsilon,\delta)
        = \min\{\sigma : \delta(\varepsilon;\sigma) \le \delta\}""",
    requires="epsilon >= 0 and delta > 0 and delta < 1",
    reference=Reference("Balle & Wang", 2018, "Algorithm 1"),
    domain={"epsilon": Log(1e-3, 30.0), "delta": Log(1e-12, 0.9)},
    oracle=oracles.gaussian_sigma,
    points=60,
    examples=[
        ({"epsilon": 1.0, "delta": 1e-5}, "3.730631635"),
        ({"epsilon": 0.5, "delta": 1e-5}, "7.031826676"),
        ({"epsilon": 4.0, "delta": 1e-2}, "0.6690413227"),
        ({"epsilon": 0.0, "delta": 0.01}, "39.8931836"),
    ],
)
def analytic_gaussian_sigma(*, epsilon: float, delta: float) -> float:
    """Smallest standard deviation of Gaussian noise that is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : float
        >= 0, nats.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In units of the L2 sensitivity, within 1e-12 relative; near epsilon = 0, where delta is
        a difference of nearly equal numbers, within 1e-15 / delta.

    References
    ----------
    Balle & Wang (2018), Algorithm 1.

    Examples
    --------
    >>> round(analytic_gaussian_sigma(epsilon=1.0, delta=1e-5), 6)
    3.730632
    """
    validate.non_negative(epsilon=epsilon)
    validate.probability(delta=delta)

    def enough(sigma: NDArray) -> NDArray:
        found = gaussian_delta(epsilon=epsilon, noise_multiplier=float(sigma))
        return np.asarray(found <= delta)

    # delta is at most the shift times the density at 0; and e^(-(epsilon sigma - 1/2 sigma)^2 / 2).
    root = math.sqrt(-2 * math.log(delta))
    chernoff = (root + math.sqrt(root**2 + 2 * epsilon)) / (2 * epsilon) if epsilon else math.inf
    return float(first_true(enough, lower=1e-6, upper=min(1 / delta, chernoff)))


# Selection


def _some_scores(rng: Generator, drawn: Parameters) -> NDArray:
    return rng.integers(-30, 31, rng.integers(2, 6)) / 10


def _two_tables(rng: Generator, drawn: Parameters) -> NDArray:
    """Scores of neighbours, shape (2, n); often all move one way, or as far as they go."""
    scores = _some_scores(rng, drawn)
    moves = rng.choice([-1.0, -0.5, 0.0, 0.3, 1.0], scores.size)
    sign = rng.choice([-1, 0, 0, 1])
    return np.stack([scores, scores + (sign * np.abs(moves) if sign else moves)])


def _moves(drawn: Parameters) -> NDArray:
    return np.diff(drawn["tables"], axis=0)[0]


_SELECTION = {
    "tables": Given(_two_tables),
    "rate": Log(0.01, 20.0),
    "sensitivity": Derived(lambda drawn: float(np.max(np.abs(_moves(drawn))))),
    "monotone": Derived(lambda drawn: abs(sum(np.sign(x := _moves(drawn)))) == np.count_nonzero(x)),
}
_OPPOSITE = {
    "tables": np.array([[0.0, 1.0, 2.0, 2.0], [-1.0, 2.0, 1.0, 1.0]]),
    "sensitivity": 1.0,
    "monotone": False,
}
_ONE_WAY = {
    "tables": np.array([[0.0, 2.0, 2.0, 3.0], [0.0, 2.0, 3.0, 4.0]]),
    "sensitivity": 1.0,
    "monotone": True,
}


def _largest_loss(*, rate: float, tables: ArrayLike) -> float:
    """Over the candidates, in both orders."""
    return float(np.max(np.abs(slow.selection_losses(rate=rate, tables=tables))))


def _range_of_losses(*, rate: float, tables: ArrayLike) -> float:
    return float(np.ptp(slow.selection_losses(rate=rate, tables=tables)))


def _largest_stretched_loss(*, rate: float, tables: ArrayLike, stretch: float) -> float:
    """The score is `stretch` times the query whose sensitivity is known."""
    return _largest_loss(rate=rate, tables=stretch * np.asarray(tables))


@formula(
    "G-B6",
    title="The exponential mechanism",
    kind="upper",
    statement=r"""P(r) \propto e^{\varepsilon u(r)/(2\Delta_u)} \text{ is } \varepsilon\text{-DP};
        \text{ without the 2 if all scores move one way}""",
    requires="rate > 0 and sensitivity >= 0",
    reference=Reference(_DR, 2014, "Theorem 3.10"),
    domain=_SELECTION,
    oracle=_largest_loss,
    examples=[
        ({**_OPPOSITE, "rate": 0.5}, "1", "0.69961"),
        ({**_ONE_WAY, "rate": 1.0}, "1", "0.839992"),
    ],
    misprints=[
        Misprint(
            "no-two",
            r"P(r) \propto e^{\varepsilon u(r)/\Delta_u} \text{ is } \varepsilon\text{-DP}",
            claim=lambda rate, sensitivity: rate * sensitivity,
            source="short descriptions of the mechanism",
            note="The normalising sum moves too, unless all scores move the same way.",
            examples=[({**_OPPOSITE, "rate": 1.0}, "1", "1.33785")],
        ),
        Misprint(
            "sensitivity-of-the-query",
            r"P(r) \propto e^{\varepsilon u(r)/(2\Delta_q)},\ u \text{ a multiple of } q",
            domain={"stretch": Choice(2.0, 3.0)},
            oracle=_largest_stretched_loss,
            source="a textbook chapter",
            note="The sensitivity that counts is that of the score.",
        ),
    ],
)
def exponential_mechanism_epsilon(
    *, rate: float, sensitivity: float, monotone: bool = False
) -> float:
    """Pure epsilon of drawing r with probability in proportion to e^(rate u(r)).

    Parameters
    ----------
    rate : float
        > 0, nats per unit of score.
    sensitivity : float
        The most that any score changes between neighbours, >= 0.
    monotone : bool
        Whether all scores of neighbours move in the same direction.

    Returns
    -------
    float
        Upper bound, nats.

    References
    ----------
    McSherry & Talwar (2007); Dwork & Roth (2014), Theorem 3.10.

    Examples
    --------
    >>> exponential_mechanism_epsilon(rate=0.5, sensitivity=1.0)
    1.0
    """
    validate.positive(rate=rate)
    validate.non_negative(sensitivity=sensitivity)
    return (1 if monotone else 2) * rate * sensitivity


def _range_of_randomized_response(*, epsilon: float) -> float:
    p, q = oracles.randomized_response(epsilon=epsilon)
    return float(np.ptp(np.log(p / q)))


@formula(
    "G-B7b",
    title="The exponential mechanism has bounded range",
    kind="upper",
    statement=r"""\max_r L(r) - \min_r L(r) \le \varepsilon,
        \quad P(r) \propto e^{\varepsilon u(r)/(2\Delta_u)}""",
    requires="rate > 0 and sensitivity >= 0",
    reference=Reference("Dong, Durfee & Rogers", 2020, "Lemma 3.2"),
    domain=_SELECTION,
    oracle=_range_of_losses,
    examples=[({**_OPPOSITE, "rate": 0.5}, "1", "1"), ({**_ONE_WAY, "rate": 1.0}, "1", "1")],
    misprints=[
        Misprint(
            "pure-dp",
            r"\varepsilon\text{-DP} \Rightarrow \max L - \min L \le \varepsilon",
            claim=lambda epsilon: epsilon,
            requires="epsilon > 0",
            domain={**dict.fromkeys(_SELECTION), "epsilon": Log(0.01, 10.0)},
            oracle=_range_of_randomized_response,
            source="bounded range read as another word for pure DP",
            note="Pure DP gives 2 epsilon, and randomized response has it.",
        ),
    ],
)
def exponential_mechanism_range(
    *, rate: float, sensitivity: float, monotone: bool = False
) -> float:
    """Upper bound on how far apart two privacy losses of the exponential mechanism are.

    Parameters and units as in `exponential_mechanism_epsilon`, and so is the number: the losses
    span an interval no longer than the bound on each of them.

    References
    ----------
    Dong, Durfee & Rogers (2020), Lemma 3.2.

    Examples
    --------
    >>> exponential_mechanism_range(rate=0.5, sensitivity=1.0)
    1.0
    """
    return (1 if monotone else 2) * rate * sensitivity


def _largest_pure_renyi(*, epsilon: float, order: float) -> float:
    p, q = oracles.randomized_response(epsilon=epsilon)
    return (
        oracles.mean_loss(p=p, q=q) if order == 1 else oracles.finite_renyi(p=p, q=q, order=order)
    )


@formula(
    "G-B7",
    title="Bounded range gives concentrated DP",
    kind="upper",
    statement=r"\varepsilon\text{-bounded range} \Rightarrow D_\alpha \le \alpha\varepsilon^2/8",
    requires="epsilon > 0 and order >= 1",
    reference=Reference("Cesar & Rogers", 2021, "Section 3"),
    domain={"epsilon": Log(1e-3, 20.0), "order": Log(1.001, 1000.0, also=(1.0,))},
    oracle=slow.bounded_range_renyi,
    examples=[({"epsilon": 1.0, "order": 1.0}, "0.125", "0.12330156")],
    misprints=[
        Misprint(
            "pure-dp-tight",
            r"\max D_\alpha = \alpha\varepsilon^2/2",
            claim=lambda epsilon, order: order * epsilon**2 / 2,
            kind="identity",
            source="the bound for pure DP, used for the exponential mechanism",
            note="True of every pure DP, and four times what bounded range gives.",
        ),
        Misprint(
            "any-pure-dp",
            r"\varepsilon\text{-DP} \Rightarrow D_\alpha \le \alpha\varepsilon^2/8",
            oracle=_largest_pure_renyi,
            source="accountants that file every pure mechanism under bounded range",
            note="Randomized response needs nearly epsilon^2/2.",
        ),
    ],
)
def bounded_range_renyi(*, epsilon: float, order: float) -> float:
    r"""Upper bound :math:`\alpha\varepsilon^2/8` on the Rényi divergence under bounded range.

    Parameters
    ----------
    epsilon : float
        Length > 0 of an interval that holds all privacy losses of a pair, nats.
    order : float
        alpha >= 1.

    Returns
    -------
    float
        Nats; (epsilon^2 / 8)-zCDP.

    References
    ----------
    Dong, Durfee & Rogers (2020); Cesar & Rogers (2021).

    Examples
    --------
    >>> bounded_range_renyi(epsilon=1.0, order=2.0)
    0.25
    """
    validate.positive(epsilon=epsilon)
    return order * epsilon**2 / 8


@formula(
    "G-B8",
    title="Utility of the exponential mechanism",
    kind="upper",
    statement=r"""P\Big(u(r) \le \mathrm{OPT} - \frac{2\Delta}\varepsilon(\ln|R| + t)\Big)
        \le e^{-t}""",
    requires="t >= 0",
    reference=Reference(_DR, 2014, "Corollary 3.12"),
    domain={
        "candidates": Whole(1, 300),
        "epsilon": Log(0.01, 20.0),
        "t": Linear(0.0, 8.0),
        "spread": Linear(0.2, 2.0, also=(0.5, 1.0)),
        "shape": Choice("cluster", "ramp"),
    },
    oracle=slow.shortfall_probability,
    unsafe=None,
    examples=[
        (
            {"candidates": 50, "epsilon": 1.0, "t": 2.0, "spread": 1.0, "shape": "cluster"},
            "0.1353353",
            "0.1171",
        ),
    ],
    misprints=[
        Misprint(
            "no-two",
            r"P\Big(u(r) \le \mathrm{OPT} - \frac\Delta\varepsilon(\ln|R| + t)\Big) \le e^{-t}",
            oracle=partial(slow.shortfall_probability, factor=1.0),
            source="course notebooks",
            note="The 2 of the exponent comes back here; without it the scores fall twice as far.",
        ),
    ],
)
def exponential_mechanism_shortfall(*, t: float) -> float:
    r"""Upper bound e^-t on the probability of a score of at most a certain distance from the best.

    Parameters
    ----------
    t : float
        >= 0; the distance is 2 Delta (ln |R| + t) / epsilon for |R| candidates.

    References
    ----------
    Dwork & Roth (2014), Corollary 3.12.

    Examples
    --------
    >>> round(exponential_mechanism_shortfall(t=2.0), 7)
    0.1353353
    """
    validate.non_negative(t=t)
    return math.exp(-t)


def _crowd(others: int, lead: float = 1.0, move: float = -2.0, other: float = 0.0) -> Parameters:
    """One candidate against many equal ones."""
    return {"lead": lead, "others": others, "move": move, "other_move": other}


@formula(
    "G-B9",
    title="Report noisy max with Laplace noise",
    kind="upper",
    statement=r"""\arg\max_r u_r + \mathrm{Lap}(b) \text{ is } (2\Delta/b)\text{-DP};
        \ (\Delta/b)\text{-DP if all scores move one way}""",
    requires="scale > 0",
    reference=Reference(_DR, 2014, "Claim 3.9"),
    domain={
        "scale": Log(0.2, 20.0),
        "lead": Linear(-5.0, 5.0, also=(1.0,)),
        "others": Whole(1, 1000),
        "move": Linear(-1.0, 1.0),
        "other_move": Linear(-1.0, 1.0),
        "sensitivity": Derived(lambda drawn: max(abs(drawn["move"]), abs(drawn["other_move"]))),
        "monotone": Derived(lambda drawn: drawn["move"] * drawn["other_move"] >= 0),
    },
    oracle=slow.noisy_max_loss,
    points=60,
    examples=[
        (
            {"scale": 2.0, **_crowd(999, 1.0, -1.0, 1.0), "sensitivity": 1.0, "monotone": False},
            "1",
            "1.0000",
        ),
        (
            {"scale": 1.0, **_crowd(999, 1.0, -1.0), "sensitivity": 1.0, "monotone": True},
            "1",
            "1.0000",
        ),
    ],
    misprints=[
        Misprint(
            "any-scores",
            r"\arg\max_r u_r + \mathrm{Lap}(\Delta/\varepsilon) \text{ is } \varepsilon\text{-DP}",
            claim=lambda scale, sensitivity: sensitivity / scale,
            source="a textbook chapter",
            note="Proved for scores that all move one way; else the winner and the rest add up.",
            examples=[
                ({"scale": 1.0, **_crowd(others, 1.0, -1.0, 1.0), "sensitivity": 1.0}, "1", truth)
                for others, truth in ((999, "2.0000"), (99, "2.0000"), (9, "1.9450"), (1, "0.9648"))
            ],
        ),
    ],
)
def noisy_max_epsilon(*, scale: float, sensitivity: float, monotone: bool = False) -> float:
    """Pure epsilon of the index of the largest score after Laplace noise.

    Parameters
    ----------
    scale : float
        b > 0 of the noise on every score.
    sensitivity : float
        The most that any score changes between neighbours.
    monotone : bool
        Whether all scores of neighbours move in the same direction.

    Returns
    -------
    float
        Upper bound, nats; only the index may be printed.

    References
    ----------
    Dwork & Roth (2014), Claim 3.9 for counts; Ding et al. (2021).

    Examples
    --------
    >>> noisy_max_epsilon(scale=2.0, sensitivity=1.0)
    1.0
    """
    validate.positive(scale=scale)
    return (1 if monotone else 2) * sensitivity / scale


def _softmax(scores: ArrayLike, scale: float) -> float:
    u = np.asarray(scores, dtype=float) / scale
    return float(np.exp(u[0] - np.logaddexp.reduce(u)))


_NOISY = {"scores": Given(_some_scores), "scale": Log(0.1, 10.0)}


@formula(
    "G-B10",
    title="Gumbel noise and the largest: the exponential mechanism",
    kind="identity",
    statement=r"""P\big(\arg\max_r u_r + \mathrm{Gumbel}(\beta) = i\big)
        = \frac{e^{u_i/\beta}}{\sum_r e^{u_r/\beta}},\quad \beta = 2\Delta/\varepsilon""",
    requires="scale > 0",
    reference=Reference("Durfee & Rogers", 2019, "Section 4"),
    domain=_NOISY,
    oracle=partial(slow.argmax_probability, law=slow.GUMBEL),
    unsafe=None,
    examples=[({"scores": np.array([1.0, 0.0, 0.0]), "scale": 2.0}, "0.45186276", "0.45186276")],
    misprints=[
        Misprint(
            "half-scale",
            r"\arg\max_r u_r + \mathrm{Gumbel}(\Delta/\varepsilon)"
            r" \sim e^{\varepsilon u_r/(2\Delta)}",
            claim=lambda scores, scale: _softmax(scores, 2 * scale),
            source="retyped descriptions of the trick",
            note="The scale is the inverse of the rate, so it has the 2 as well.",
        ),
        Misprint(
            "laplace-noise",
            r"\arg\max_r u_r + \mathrm{Lap}(2\Delta/\varepsilon)"
            r" \sim e^{\varepsilon u_r/(2\Delta)}",
            oracle=partial(slow.argmax_probability, law=slow.LAPLACE),
            source="notes that call report noisy max the exponential mechanism",
            note="Only Gumbel noise draws by a softmax.",
        ),
    ],
)
def gumbel_max_probability(*, scores: ArrayLike, scale: float) -> float:
    """Probability that the first score is the largest after Gumbel noise.

    Parameters
    ----------
    scores : array_like, shape (n,)
    scale : float
        beta > 0 of the noise, in units of the scores.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Durfee & Rogers (2019).

    Examples
    --------
    >>> round(gumbel_max_probability(scores=[1.0, 0.0, 0.0], scale=2.0), 8)
    0.45186276
    """
    validate.positive(scale=scale)
    return _softmax(scores, scale)


@formula(
    "G-B10b",
    title="Exponential noise and the largest: permute-and-flip",
    kind="identity",
    statement=r"""P\big(\arg\max_r u_r + \mathrm{Exp}(\beta) = i\big)
        = q_i\int_0^1\prod_{r\ne i}(1 - s\,q_r)\,ds,\quad q_r = e^{(u_r - \max u)/\beta}""",
    requires="scale > 0",
    reference=Reference("McKenna & Sheldon", 2020, "Section 3"),
    domain=_NOISY,
    oracle=partial(slow.argmax_probability, law=slow.EXPONENTIAL),
    unsafe=None,
    examples=[({"scores": np.array([1.0, 0.0]), "scale": 1.0}, "0.816060279")],
    misprints=[
        Misprint(
            "softmax",
            r"\arg\max_r u_r + \mathrm{Exp}(\beta) \sim e^{u_r/\beta}",
            claim=_softmax,
            source="notes that do not tell the two noises apart",
            note="It is never worse: permute-and-flip prefers the best score more.",
        ),
    ],
)
def permute_and_flip_probability(*, scores: ArrayLike, scale: float) -> float:
    """Probability that permute-and-flip chooses the first candidate.

    The candidates come at uniform times s, and the first one whose coin of bias q_r lands
    heads wins; at time s another one is still out of the way with probability 1 - s q_r.

    Parameters
    ----------
    scores : array_like, shape (n,)
    scale : float
        beta = 2 Delta / epsilon > 0.

    Returns
    -------
    float
        Exact.

    References
    ----------
    McKenna & Sheldon (2020); Ding et al. (2021) for exponential noise.

    Examples
    --------
    >>> round(permute_and_flip_probability(scores=[1.0, 0.0], scale=1.0), 6)
    0.81606
    """
    validate.positive(scale=scale)
    u = np.asarray(scores, dtype=float)
    q = np.exp((u - np.max(u)) / scale)
    # Exact for a polynomial of this degree.
    nodes, weights = np.polynomial.legendre.leggauss(u.size)
    still = np.prod(1 - 0.5 * (nodes[:, None] + 1) * q[1:], axis=1)
    return float(0.5 * q[0] * (weights @ still))


@formula(
    "G-B11",
    title="Laplace noise as an exponential mechanism",
    kind="identity",
    statement=r"""u(r) = -|q - r|,\ \Delta_u = \Delta_q:\quad
        e^{\varepsilon u(r)/(2\Delta_u)} \text{ is } \mathrm{Lap}(2\Delta_q/\varepsilon)""",
    requires="epsilon > 0 and sensitivity > 0",
    reference=Reference("McSherry & Talwar", 2007, "Section 3"),
    domain={"epsilon": Log(0.01, 50.0), "sensitivity": Log(0.01, 100.0)},
    oracle=slow.distance_mechanism_scale,
    points=60,
    examples=[({"epsilon": 0.5, "sensitivity": 1.0}, "4")],
    misprints=[
        Misprint(
            "needed",
            r"\varepsilon\text{-DP needs } \mathrm{Lap}(2\Delta_q/\varepsilon)",
            oracle=slow.needed_laplace_scale,
            source="the generic theorem, taken for tight",
            note="Half of it is enough: the normalising constant does not move with the answer.",
        ),
    ],
)
def distance_mechanism_scale(*, epsilon: float, sensitivity: float) -> float:
    """Scale of the Laplace noise that the exponential mechanism makes of u = -|q - r|.

    Parameters
    ----------
    epsilon : float
        Guarantee by the general theorem, > 0, nats.
    sensitivity : float
        Of the query q, > 0.

    Returns
    -------
    float
        Exact; the Laplace mechanism adds half as much.

    References
    ----------
    McSherry & Talwar (2007).

    Examples
    --------
    >>> distance_mechanism_scale(epsilon=0.5, sensitivity=1.0)
    4.0
    """
    validate.positive(epsilon=epsilon, sensitivity=sensitivity)
    return 2 * sensitivity / epsilon


@formula(
    "G-B11b",
    title="Sensitivity of a score that is a distance",
    kind="identity",
    statement=r"u(r) = -c\,|q - r| \Rightarrow \Delta_u = c\,\Delta_q",
    requires="stretch > 0 and sensitivity > 0",
    reference=Reference("McSherry & Talwar", 2007, "Section 3"),
    domain={"stretch": Log(0.1, 10.0), "sensitivity": Log(0.01, 100.0)},
    oracle=slow.distance_score_change,
    examples=[({"stretch": 2.0, "sensitivity": 1.0}, "2")],
    misprints=[
        Misprint(
            "of-the-query",
            r"u(r) = -2\,|q - r| \Rightarrow \Delta_u = \Delta_q",
            claim=lambda sensitivity: sensitivity,
            domain={"stretch": Choice(2.0)},
            source="a textbook chapter, to arrive at Laplace noise",
            note="The score moves by twice the query; a second error then hides the first.",
        ),
    ],
)
def distance_score_sensitivity(*, stretch: float, sensitivity: float) -> float:
    """Sensitivity of the score -stretch |q - r| for a query q of known sensitivity.

    Both > 0; exact.

    Examples
    --------
    >>> distance_score_sensitivity(stretch=2.0, sensitivity=1.0)
    2.0
    """
    validate.positive(stretch=stretch, sensitivity=sensitivity)
    return stretch * sensitivity


# Answers at random


@formula(
    "G-B12",
    title="Randomized response with k answers",
    kind="identity",
    statement=r"p = \frac{e^\varepsilon}{e^\varepsilon + k - 1}",
    requires="epsilon >= 0 and answers >= 2",
    reference=Reference("Kairouz, Oh & Viswanath", 2014, "Section 4"),
    domain={"epsilon": Log(1e-3, 25.0, also=(0.0,)), "answers": Whole(2, 10)},
    oracle=slow.largest_truth,
    unsafe="larger",
    examples=[
        ({"epsilon": 1.0, "answers": 2}, "0.731058579"),
        ({"epsilon": 1.0, "answers": 10}, "0.231969317"),
    ],
    misprints=[
        Misprint(
            "linear",
            r"p = \tfrac12 + \tfrac\varepsilon2",
            claim=lambda epsilon: min(0.5 + epsilon / 2, 1.0),
            domain={"answers": Choice(2)},
            source="students' answers",
            note="Near 0 it is 1/2 + epsilon/4.",
        ),
        Misprint(
            "k-for-k-minus-one",
            r"p = \frac{e^\varepsilon}{e^\varepsilon + k}",
            claim=lambda epsilon, answers: math.exp(epsilon) / (math.exp(epsilon) + answers),
            source="implementations that count the truth among the lies",
            note="The truth is one of the k answers and must not be counted twice.",
        ),
    ],
)
def randomized_response_truth(*, epsilon: float, answers: int = 2) -> float:
    """Largest probability of the true answer, the others being equally likely.

    Parameters
    ----------
    epsilon : float
        Pure guarantee >= 0 when the record is replaced, nats.
    answers : int
        k >= 2.

    Returns
    -------
    float
        Exact.

    References
    ----------
    Warner (1965); Kairouz, Oh & Viswanath (2014).

    Examples
    --------
    >>> round(randomized_response_truth(epsilon=1.0), 6)
    0.731059
    """
    validate.non_negative(epsilon=epsilon)
    validate.integer(minimum=2, answers=answers)
    return 1 / (1 + (answers - 1) * math.exp(-epsilon))


@formula(
    "G-B12b",
    title="Randomized response with two coins",
    kind="identity",
    statement=r"""\varepsilon = \max\Big\{\ln\frac{h + (1-h)y}{(1-h)y},
        \ln\frac{h + (1-h)(1-y)}{(1-h)(1-y)}\Big\},\quad h = y = \tfrac12:\ \ln 3""",
    requires="0 < honest and honest < 1 and 0 < yes and yes < 1",
    reference=Reference(_DR, 2014, "Section 3.2"),
    domain={"honest": Linear(0.01, 0.99, also=(0.5,)), "yes": Linear(0.01, 0.99, also=(0.5,))},
    oracle=slow.two_coins_loss,
    examples=[({"honest": 0.5, "yes": 0.5}, "1.098612289")],
    misprints=[
        Misprint(
            "ln-two",
            r"h = y = \tfrac12:\ \varepsilon = \ln 2",
            claim=lambda: math.log(2),
            domain={"honest": Choice(0.5), "yes": Choice(0.5)},
            source="summaries of the two-coin protocol",
            note="Truth is told with probability 3/4, three times that of a lie.",
        ),
    ],
)
def two_coin_epsilon(*, honest: float, yes: float) -> float:
    """Pure epsilon of telling the truth or, if a coin says so, what a second coin says.

    Parameters
    ----------
    honest : float
        Probability of the truth at the first coin, in (0, 1).
    yes : float
        Probability that the second coin says yes, in (0, 1).

    Returns
    -------
    float
        Exact, nats, when the record is replaced.

    References
    ----------
    Dwork & Roth (2014), Section 3.2.

    Examples
    --------
    >>> round(two_coin_epsilon(honest=0.5, yes=0.5), 6)
    1.098612
    """
    validate.probability(honest=honest, yes=yes)
    return math.log1p(honest / ((1 - honest) * min(yes, 1 - yes)))


# Noise that looks at the data


@formula(
    "G-B15",
    title="Propose-test-release: the threshold",
    kind="upper",
    statement=r"""\hat D = D + \mathrm{Lap}(1/\varepsilon) > \tau = \frac{\ln(1/\delta)}\varepsilon,
        \text{ then } f + \mathrm{Lap}(b/\varepsilon):\ (2\varepsilon,\delta)\text{-DP}""",
    requires="epsilon > 0 and delta > 0 and delta < 0.5",
    reference=Reference("Vadhan", 2017, "Section 3.2"),
    domain={"epsilon": Log(0.05, 5.0), "delta": Log(1e-10, 0.4)},
    oracle=slow.needed_test_threshold,
    points=40,
    examples=[({"epsilon": 0.5, "delta": 1e-5}, "23.02585", "21.63956")],
    misprints=[
        Misprint(
            "half-threshold",
            r"\tau = \ln(2/\delta)/(2\varepsilon)",
            claim=lambda epsilon, delta: math.log(2 / delta) / (2 * epsilon),
            source="a textbook chapter",
            note="At distance 0 the test is then passed with probability sqrt(delta/8).",
        ),
        Misprint(
            "one-epsilon",
            r"\text{with threshold } \ln(1/\delta)/\varepsilon \text{ it is }"
            r" (\varepsilon,\delta)\text{-DP}",
            claim=lambda epsilon: epsilon,
            oracle=slow.released_epsilon,
            source="a textbook chapter",
            note="The distance and the value each cost epsilon.",
        ),
    ],
)
def propose_test_release_threshold(*, epsilon: float, delta: float) -> float:
    """Threshold for the noisy distance to where the local sensitivity exceeds the bound b.

    Parameters
    ----------
    epsilon : float
        > 0, nats: of the noise on the distance, and of that on the value.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Upper bound on what (2 epsilon, delta)-DP needs; ln(1/(2 delta))/epsilon is enough.

    References
    ----------
    Dwork & Lei (2009); Vadhan (2017), Section 3.2.

    Examples
    --------
    >>> round(propose_test_release_threshold(epsilon=0.5, delta=1e-5), 4)
    23.0259
    """
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)
    return -math.log(delta) / epsilon


def _some_fractions(rng: Generator, drawn: Parameters) -> NDArray:
    """Of the upper end: at random, 0 or 1, or a single one that is not 0."""
    kind, n = rng.integers(3), rng.integers(2, 21)
    if kind == 0:
        return rng.integers(0, 11, n) / 10
    return (rng.random(n) < 0.5 if kind == 1 else np.arange(n) == 0).astype(float)


@formula(
    "G-B16",
    title="Local sensitivity of a clipped mean",
    kind="upper",
    statement=r"""x_i \in [0,u]:\quad \max_{x'\sim x}\,\lvert\bar x - \bar x'\rvert \le \frac un
        \text{ when a value joins or leaves}""",
    requires="upper > 0",
    reference=Reference("Nissim, Raskhodnikova & Smith", 2007, "Definition 2.1"),
    domain={
        "fractions": Given(_some_fractions),
        "count": Derived(lambda drawn: drawn["fractions"].size),
        "upper": Log(0.1, 100.0),
    },
    oracle=slow.clipped_mean_change,
    examples=[({"count": 10, "upper": 1.0, "fractions": np.eye(10)[0]}, "0.1", "0.1")],
    misprints=[
        Misprint(
            "joining-only",
            r"\max_{x'\sim x}\,\lvert\bar x - \bar x'\rvert \le \frac u{n+1}",
            claim=lambda count, upper: upper / (count + 1),
            source="a textbook chapter",
            note="That is for a value that joins; one that leaves can move the mean by u/n.",
            examples=[
                ({"count": 10, "upper": 1.0, "fractions": np.eye(10)[0]}, "0.0909091", "0.1"),
            ],
        ),
    ],
)
def clipped_mean_sensitivity(*, count: int, upper: float) -> float:
    """Upper bound u/n on the change of a mean when a value joins or leaves.

    Parameters
    ----------
    count : int
        Number of values n >= 2 before the change.
    upper : float
        u > 0; values lie in [0, u].

    Returns
    -------
    float
        Attained by a single value u that leaves n - 1 zeros behind. It depends on n, which is
        private under add_remove: a local sensitivity, no global one.

    Examples
    --------
    >>> clipped_mean_sensitivity(count=10, upper=1.0)
    0.1
    """
    validate.positive(upper=upper)
    validate.integer(minimum=2, count=count)
    return upper / count


def _some_sorted(rng: Generator, drawn: Parameters) -> NDArray:
    """Three or five values in [0, 1], sorted."""
    n = rng.choice([3, 5])
    values = (
        np.full(n, rng.random()) + 0.05 * rng.random(n) if rng.random() < 0.4 else rng.random(n)
    )
    return np.sort(np.round(np.minimum(values, 1.0), 2))


def _median_local(drawn: Parameters) -> NDArray:
    """Largest local sensitivity of the median after k replacements, k = 0 ... n."""
    n = drawn["values"].size
    x = np.concatenate([np.zeros(n + 1), drawn["values"], np.ones(n + 1)])
    m = n + 1 + n // 2
    return np.array(
        [
            max(x[m + t] - x[m + t - k - 1] for t in range(k + 2) if m + t - k - 1 >= 0)
            for k in range(n + 1)
        ]
    )


def _smooth_scale_by_force(*, values: ArrayLike, epsilon: float, delta: float) -> float:
    beta = epsilon / (2 * math.log(2 / delta))
    largest = slow.median_sensitivity_by_force(values=values, upper=1.0, beta=beta)
    return 2 * largest / epsilon


@formula(
    "G-B17",
    title="Noise by smooth sensitivity",
    kind="identity",
    statement=r"""\mathrm{Lap}(2S/\varepsilon),\quad S = \max_{k\ge0}e^{-\beta k}A(x,k),\quad
        \beta = \frac\varepsilon{2\ln(2/\delta)}""",
    requires="epsilon > 0 and delta > 0 and delta < 1",
    reference=Reference("Nissim, Raskhodnikova & Smith", 2007, "Corollary 2.4"),
    domain={
        "values": Given(_some_sorted),
        "local_at": Derived(_median_local),
        "epsilon": Log(0.05, 10.0),
        "delta": Log(1e-9, 0.9),
    },
    oracle=_smooth_scale_by_force,
    points=60,
    examples=[
        (
            {
                "local_at": 100 / (32562.0 - np.arange(201)),
                "epsilon": 1.0,
                "delta": 1 / 32561**2,
            },
            "0.00614212886186",
        )
    ],
    misprints=[
        Misprint(
            "from-one",
            r"S = \max_{k\ge1}e^{-\beta k}A(x,k)",
            claim=lambda local_at, epsilon, delta: (
                2 / epsilon * _smooth(local_at[1:], epsilon, delta, first=1)
            ),
            source="a textbook chapter, whose code begins at 0",
            note="Without k = 0 it can be smaller than the local sensitivity itself.",
        ),
    ],
)
def smooth_sensitivity_scale(*, local_at: ArrayLike, epsilon: float, delta: float) -> float:
    """Scale of the Laplace noise that a smooth bound on the local sensitivity asks for.

    Parameters
    ----------
    local_at : array_like, shape (n + 1,)
        Largest local sensitivity of all data sets within k changes, k = 0 ... n.
    epsilon : float
        > 0, nats; see `smooth_sensitivity_delta` for its range.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Exact: 2 S / epsilon.

    References
    ----------
    Nissim, Raskhodnikova & Smith (2007), Corollary 2.4.

    Examples
    --------
    >>> round(smooth_sensitivity_scale(local_at=[0.1, 0.5, 1.0], epsilon=1.0, delta=0.1), 6)
    1.432382
    """
    validate.positive(epsilon=epsilon)
    validate.probability(delta=delta)
    return 2 / epsilon * _smooth(local_at, epsilon, delta)


def _smooth(local_at: ArrayLike, epsilon: float, delta: float, first: int = 0) -> float:
    local = np.asarray(local_at, dtype=float)
    beta = epsilon / (2 * math.log(2 / delta))
    return float(np.max(np.exp(-beta * (first + np.arange(local.size))) * local))


_SMOOTH_RANGE = "epsilon > 0 and beta > 0 and 2*beta*log(2) < epsilon"


@formula(
    "G-B17b",
    title="What smooth noise guarantees",
    kind="upper",
    statement=r"""\mathrm{Lap}(2S/\varepsilon),\ S \text{ } \beta\text{-smooth}:\quad
        (\varepsilon,\delta)\text{-DP with } \delta = 2e^{-\varepsilon/(2\beta)}""",
    requires=_SMOOTH_RANGE + " and epsilon*(expm1(beta) - beta) <= 2*beta**2",
    reference=Reference("Nissim, Raskhodnikova & Smith", 2007, "Corollary 2.4"),
    domain={
        "epsilon": Log(0.01, 4.0),
        "delta": Log(1e-12, 0.9),
        "beta": Derived(lambda drawn: drawn["epsilon"] / (2 * math.log(2 / drawn["delta"]))),
    },
    oracle=slow.dilated_laplace_delta,
    points=40,
    absolute=0.0,
    misprints=[
        Misprint(
            "any-epsilon",
            r"\text{the same for every } \varepsilon > 0",
            requires=_SMOOTH_RANGE,
            domain={"epsilon": Log(0.1, 40.0)},
            source="the corollary quoted without a range",
            note="Where S may change by much, the tail of the wider noise tells which it is.",
        ),
        Misprint(
            "once",
            r"\mathrm{Lap}(S/\varepsilon) \text{ at the same } \beta",
            oracle=partial(slow.dilated_laplace_delta, noise=1.0),
            source="the Laplace mechanism with S for its sensitivity",
            note="Half of epsilon pays for the shift, half for the change of S.",
        ),
    ],
)
def smooth_sensitivity_delta(*, epsilon: float, beta: float) -> float:
    r"""Delta of Laplace noise of scale 2 S / epsilon, for a beta-smooth bound S.

    Parameters
    ----------
    epsilon : float
        > 0, nats. The density of the wider noise is at most e^(epsilon/2) times that of the
        narrower one up to ln(2/delta) scales where
        :math:`\varepsilon(e^\beta - 1 - \beta) \le 2\beta^2`, about epsilon <= 4.
    beta : float
        > 0: ln S changes by at most beta between neighbours.

    Returns
    -------
    float
        Upper bound.

    References
    ----------
    Nissim, Raskhodnikova & Smith (2007), Corollary 2.4.

    Examples
    --------
    >>> round(smooth_sensitivity_delta(epsilon=1.0, beta=0.05), 7)
    9.08e-05
    """
    validate.positive(epsilon=epsilon, beta=beta)
    return 2 * math.exp(-epsilon / (2 * beta))


# Sums

_ADJACENCY = Choice("add_remove", "replace_one")


@formula(
    "G-B18",
    title="Sensitivity of a clipped sum",
    kind="identity",
    statement=r"""x_i \in [l,u]:\quad \Delta = \max(|l|,|u|) \text{ (add/remove)},\quad
        u - l \text{ (replace one)}""",
    requires="lower <= upper",
    reference=Reference(_DR, 2014, "Definition 3.1"),
    domain={
        "lower": Linear(-100.0, 100.0, also=(0.0,)),
        "upper": Linear(-100.0, 100.0, also=(0.0,)),
        "adjacency": _ADJACENCY,
    },
    oracle=slow.sum_change,
    examples=[
        ({"lower": 50.0, "upper": 125.0, "adjacency": "add_remove"}, "125"),
        ({"lower": 50.0, "upper": 125.0, "adjacency": "replace_one"}, "75"),
    ],
    misprints=[
        Misprint(
            "difference",
            r"\Delta = u - l \text{ (add/remove)}",
            claim=lambda lower, upper: upper - lower,
            requires="lower < upper",
            domain={"adjacency": Choice("add_remove")},
            source="a textbook chapter",
            note="That is for replacing a record; one that joins brings its whole value.",
            examples=[
                ({"lower": 50.0, "upper": 125.0, "adjacency": "add_remove"}, "75", "125"),
            ],
        ),
        Misprint(
            "same-for-replacing",
            r"\Delta = \max(|l|,|u|) \text{ (replace one)}",
            claim=lambda lower, upper: max(abs(lower), abs(upper)),
            domain={"adjacency": Choice("replace_one")},
            source="notes that do not name the adjacency",
            note="From -u to u it is twice as much.",
            seen=("F04",),
        ),
        Misprint(
            "any-pair",
            r"\Delta = \max_{d,d'}\lvert f(d) - f(d')\rvert \text{ over all pairs of data sets}",
            claim=lambda lower, upper, count: count * (upper - lower),
            domain={"adjacency": Choice("replace_one"), "count": Whole(2, 1000)},
            source="lecture notes",
            note="Only neighbours count; over all pairs it grows with the number of records.",
            seen=("F09",),
        ),
    ],
)
def sum_sensitivity(*, lower: float, upper: float, adjacency: Adjacency) -> float:
    """The most that a sum of values in [lower, upper] changes between neighbours.

    Parameters
    ----------
    lower, upper : float
    adjacency : {"add_remove", "replace_one", "zero_out"}
        A record that is zeroed out counts like one that leaves.

    Returns
    -------
    float
        Exact.

    Raises
    ------
    ValueError
        If lower > upper.

    Examples
    --------
    >>> sum_sensitivity(lower=50, upper=125, adjacency="add_remove")
    125
    """
    if not lower <= upper:
        raise ValueError(f"Expected lower <= upper, got lower={lower!r}, upper={upper!r}.")
    return upper - lower if adjacency == "replace_one" else max(abs(lower), abs(upper))


@formula(
    "G-B18b",
    title="Sensitivity of a sum of clipped vectors",
    kind="identity",
    statement=r"""\lVert g_i\rVert_2 \le C:\quad \Delta_2 = C \text{ (add/remove)},\quad
        2C \text{ (replace one)}""",
    requires="max_norm > 0",
    reference=Reference("Abadi et al.", 2016, "Algorithm 1"),
    domain={"max_norm": Log(0.01, 100.0), "dimension": Whole(1, 4), "adjacency": _ADJACENCY},
    oracle=slow.clipped_sum_change,
    points=60,
    examples=[
        ({"max_norm": 1.5, "dimension": 3, "adjacency": "add_remove"}, "1.5"),
        ({"max_norm": 1.5, "dimension": 3, "adjacency": "replace_one"}, "3"),
    ],
    misprints=[
        Misprint(
            "coordinatewise",
            r"g_i \text{ clipped to } [-C,C]^d:\ \Delta_2 = C",
            domain={"adjacency": Choice("add_remove")},
            oracle=partial(slow.clipped_sum_change, coordinatewise=True),
            source="lecture notes that clip to [-C, C]",
            note="A cube is not a ball: its corners are sqrt(d) C away.",
            seen=("F10",),
        ),
        Misprint(
            "any-adjacency",
            r"\Delta_2 = C \text{ whatever the adjacency}",
            claim=lambda max_norm: max_norm,
            source="lecture notes",
            note="A record that is replaced by its opposite moves the sum by 2C.",
            seen=("F10",),
        ),
    ],
)
def clipped_sum_sensitivity(*, max_norm: float, adjacency: Adjacency) -> float:
    """L2 sensitivity of a sum of vectors of norm at most C = `max_norm` > 0.

    C if a record joins, leaves or is zeroed out, 2 C if it is replaced; exact.

    Examples
    --------
    >>> clipped_sum_sensitivity(max_norm=1.5, adjacency="replace_one")
    3.0
    """
    validate.positive(max_norm=max_norm)
    return 2 * max_norm if adjacency == "replace_one" else max_norm
