"""Exact privacy profiles of compositions, by routes that share nothing with the package.

Every oracle maps epsilon to log delta of the composed pair, as a sum of terms >= 0, so that
its relative error is a few units in the last place per term.
"""

import math
from collections.abc import Callable

import mpmath
import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

LogDelta = Callable[[float], float]

# Relative error of delta that the oracles below may make themselves. gammaln(10^5) is near
# 10^6 and good to 10^-16 of that, three times.
SLACK, LONG_SLACK = 1e-11, 1e-9


def _hockey_stick(log_masses: NDArray, losses: NDArray) -> LogDelta:
    """log E_P (1 - e^{epsilon - L})_+ of a law of finitely many losses."""

    def log_delta(epsilon: float) -> float:
        above = (losses > epsilon) & (log_masses > -np.inf)
        if not np.any(above):
            return -math.inf
        gain = np.log(-np.expm1(epsilon - losses[above]))
        return float(np.logaddexp.reduce(log_masses[above] + gain))

    return log_delta


def binary_response(local_epsilon: float, steps: int) -> LogDelta:
    """Randomized response with two answers: T binomial trials, each worth +-epsilon."""
    k = np.arange(steps + 1.0)
    log_r = -np.logaddexp(local_epsilon, 0.0)
    chances = gammaln(steps + 1) - gammaln(k + 1) - gammaln(steps - k + 1)
    log_masses = chances + k * (local_epsilon + log_r) + (steps - k) * log_r
    return _hockey_stick(log_masses, (2 * k - steps) * local_epsilon)


def many_answers(local_epsilon: float, answers: int, steps: int) -> LogDelta:
    """Randomized response with k answers: losses +-epsilon or 0, convolved directly."""
    weight = np.array([1.0, answers - 2.0, math.exp(local_epsilon)])
    masses = _convolved(weight / weight.sum(), steps)
    return _on_a_line(masses, np.arange(-steps, steps + 1) * local_epsilon)


def geometric(scale: float, shift: int, steps: int) -> LogDelta:
    """Two-sided geometric noise: shift + 1 losses at even distances 2 / scale."""
    tail = 1 / (1 + math.exp(-1 / scale))  # P(X <= 0)
    single = math.tanh(0.5 / scale)  # P(X = 0)
    # Entry j: the outcome of loss (2j - shift) / scale; its noise under P is j - shift.
    masses = single * np.exp((np.arange(shift + 1) - shift) / scale)
    masses[0], masses[-1] = tail * math.exp(-shift / scale), tail
    total = _convolved(masses, steps)
    return _on_a_line(total, (2 * np.arange(total.size) - steps * shift) / scale)


def discrete_gaussian(sigma: float, shift: int, steps: int) -> LogDelta:
    """Discrete Gaussian noise: the loss is linear in the outcome."""
    reach = math.ceil(36 * sigma) + shift
    k = np.arange(-reach, reach + 1.0)
    masses = np.exp(-0.5 * (k / sigma) ** 2)
    total = _convolved(masses / masses.sum(), steps)
    noise = np.arange(total.size) - steps * reach
    return _on_a_line(total, (noise + 0.5 * steps * shift) * shift / sigma**2)


def _convolved(masses: NDArray, steps: int) -> NDArray:
    """The `steps`-fold convolution by squaring; all terms are >= 0, so no digit is lost."""
    result, power = np.ones(1), masses
    while steps:
        if steps & 1:
            result = np.convolve(result, power)
        steps >>= 1
        power = np.convolve(power, power) if steps else power
    return result


def _on_a_line(masses: NDArray, losses: NDArray) -> LogDelta:
    with np.errstate(divide="ignore"):
        return _hockey_stick(np.log(masses), losses)


def gaussian(shift: float) -> LogDelta:
    """N(shift, 1) against N(0, 1), in as many digits as the difference needs."""

    def log_delta(epsilon: float) -> float:
        with mpmath.workdps(60):
            mu, x = mpmath.mpf(shift), mpmath.mpf(epsilon)
            first = _upper_normal(x / mu - mu / 2)
            return float(mpmath.log(first - mpmath.exp(x) * _upper_normal(x / mu + mu / 2)))

    return log_delta


def sampled_gaussian(sigma: float, q: float) -> LogDelta:
    """One step of the sampled Gaussian, a record removed (the larger direction of the two)."""

    def log_delta(epsilon: float) -> float:
        with mpmath.workdps(60):
            s, rate = mpmath.mpf(sigma), mpmath.mpf(q)
            y = 1 + mpmath.expm1(epsilon) / rate
            x = s**2 * mpmath.log(y) + 0.5
            gap = _upper_normal((x - 1) / s) - y * _upper_normal(x / s)
            return float(mpmath.log(rate * gap))

    return log_delta


def sampled_laplace(scale: float, q: float) -> LogDelta:
    """One step of sampled Laplace, a record removed: q (1 - e^{(epsilon' - 1/b) / 2})."""

    def log_delta(epsilon: float) -> float:
        with mpmath.workdps(60):
            inner = mpmath.log1p(mpmath.expm1(epsilon) / q)
            gap = -mpmath.expm1((inner - 1 / mpmath.mpf(scale)) / 2)
            return float(mpmath.log(q * gap)) if gap > 0 else -math.inf

    return log_delta


def _upper_normal(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2
