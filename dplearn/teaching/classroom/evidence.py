"""Tests of a published value by formula, by definition and by simulation."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

_CONFIDENCE = 0.999


@dataclass(frozen=True)
class Estimate:
    """Mean of independent draws, with its two-sided normal 99.9 % confidence interval."""

    value: float
    lower: float
    upper: float
    draws: int

    def map(self, function: Callable[[float], float]) -> "Estimate":
        """Apply an increasing `function` to the mean and to the ends of its confidence interval."""
        low, middle, high = (float(function(x)) for x in (self.lower, self.value, self.upper))
        return Estimate(middle, low, high, self.draws)

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        interval = f"[{self.lower:.4g}, {self.upper:.4g}]"
        return f"{self.value:.4g} in {interval}, {100 * _CONFIDENCE:g} % of {self.draws:,} draws"


def estimate(samples: ArrayLike) -> Estimate:
    """Return the mean of independent samples, with a confidence interval for large samples.

    Parameters
    ----------
    samples : array_like, at least two independent draws, shape (n,)

    Examples
    --------
    >>> print(estimate([0.0, 1.0] * 5000))
    0.5 in [0.4835, 0.5165], 99.9 % of 10,000 draws
    """
    samples = np.asarray(samples, dtype=float)
    mean, deviation = float(samples.mean()), float(samples.std(ddof=1))
    half = float(ndtri(0.5 + _CONFIDENCE / 2)) * deviation / math.sqrt(samples.size)
    return Estimate(mean, mean - half, mean + half, samples.size)


def estimate_delta(epsilon: float, losses: ArrayLike) -> Estimate:
    r"""Estimate delta, :math:`E(1-e^{\varepsilon-L})_+`, from simulated privacy losses L.

    Parameters
    ----------
    epsilon : float >= 0, in nats, at which delta is estimated
    losses : array_like, privacy losses of independent releases with the record, in nats, shape (n,)
    """
    return estimate(np.maximum(0.0, -np.expm1(epsilon - np.asarray(losses, dtype=float))))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Test of a published value by formula, definition and simulation; ``print`` gives the result.

    Parameters
    ----------
    what : str, the quantity in words
    closed : float, value of the formula, any number
    exact : float, value of the definition, any number, computed by `exact_by`
    simulated : Estimate, value of a simulation
    printed : float or None, published value to be tested, any number; None without one
    exact_by : str, method of `exact`, such as "enumeration"

    Examples
    --------
    >>> coin = estimate([0, 1] * 5000)
    >>> print(Evidence("mean of a fair coin", closed=0.5, exact=0.5, simulated=coin,
    ...                printed=0.6, exact_by="enumeration"))
    mean of a fair coin
      closed form  0.5
      enumeration  0.5
      Monte Carlo  0.5 in [0.4835, 0.5165], 99.9 % of 10,000 draws
      as printed   0.6
      verdict      the three ways agree; as printed it is refuted
    """

    what: str = field(kw_only=False)
    closed: float
    exact: float
    simulated: Estimate
    printed: float | None = None
    exact_by: str = "quadrature"

    @property
    def agree(self) -> bool:
        """Whether `closed` equals `exact` and lies in the confidence interval of `simulated`."""
        # `closed` and `exact` are not random, so their relative difference must be below 1e-6.
        close = math.isclose(self.closed, self.exact, rel_tol=1e-6)
        return close and self.closed in self.simulated

    @property
    def refuted(self) -> bool:
        """Whether the methods agree and `printed` is outside the confidence interval."""
        return self.agree and self.printed is not None and self.printed not in self.simulated

    def __str__(self) -> str:
        rows = [("closed form", f"{self.closed:.6g}"), (self.exact_by, f"{self.exact:.6g}")]
        rows.append(("Monte Carlo", str(self.simulated)))
        verdict = "the three ways agree" if self.agree else "THE THREE WAYS DISAGREE"
        if self.printed is not None:
            rows.append(("as printed", f"{self.printed:.6g}"))
            verdict += "; as printed it is " + ("refuted" if self.refuted else "not refuted")
        lines = (f"  {label:<13}{value}" for label, value in [*rows, ("verdict", verdict)])
        return "\n".join([self.what, *lines])
