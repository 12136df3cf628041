"""The truth about trade-off functions: best tests by integrals, by events, by Fourier transform."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from dplearn.book.kit import oracles

Tail = Callable[[float], float]


def _threshold(log_above: Tail, log_below: Tail, rate: float, far: float, xtol: float) -> float:
    """Where the tail above has the probability `rate`; solved for the smaller tail."""
    from scipy.optimize import brentq  # Opening the explorer does without it.

    log_tail, mass = (log_above, rate) if rate <= 0.5 else (log_below, 1 - rate)
    return brentq(lambda c: log_tail(c) - math.log(mass), -far, far, xtol=xtol)  # type: ignore


def threshold_test(log_p: oracles.Density, log_q: oracles.Density, *, rate, reach, kinks=()):
    """Q(x <= c) where P(x > c) = rate: the best test if the loss of Q from P grows with x."""
    if rate in (0.0, 1.0):
        return 1 - rate
    mass = lambda *ends: oracles.log_integral(log_p, *ends, kinks=kinks, rtol=1e-12)
    c = _threshold(lambda c: mass(c, reach), lambda c: mass(-reach, c), rate, reach - 1, 1e-13)
    return math.exp(oracles.log_integral(log_q, -reach, c, kinks=kinks))


def miss_of_two(*, false_positive_rate, mu_1, mu_2):
    """The likelihood ratio test of two independent releases, by integrals over the first."""

    def log_below(c: float, shift_1: float = 0.0, shift_2: float = 0.0) -> float:
        """P(mu_1 x + mu_2 y <= c)."""

        def log_f(x: NDArray) -> NDArray:
            y = (c - mu_1 * (x + shift_1)) / mu_2 - shift_2
            return oracles.log_normal()(x) + log_ndtr(y)

        return oracles.log_integral(log_f, -40.0, 40.0, rtol=1e-12)

    # Under P both tails are alike.
    far = 12.0 * (mu_1 + mu_2)
    c = _threshold(lambda c: log_below(-c), log_below, false_positive_rate, far, 1e-13 * far)
    return math.exp(log_below(c, mu_1, mu_2))


def composed_delta(*, sample_rate, noise_multiplier, steps, epsilon, symmetric):
    """delta of sampled Gaussians by Fourier transform of their losses, rounded to a fine lattice.

    P = (1-q) N(0, s^2) + q N(1, s^2), Q = N(0, s^2). The symmetric pair has the profile of
    (P, Q) in both orders: its losses -l have e^-l of the mass at l > 0.
    """
    q, s = sample_rate, noise_multiplier
    deviation = q * math.sqrt(math.expm1(s**-2))
    width = deviation / 25
    cells = 2 ** math.ceil(math.log2(24 * deviation * math.sqrt(steps) / width))
    index = np.arange(-cells // 2, cells // 2)
    ratio = np.exp((index + 0.5) * width) - (1 - q)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(ratio > 0, s**2 * np.log(ratio / q) + 0.5, -np.inf)
    above = (1 - q) * ndtr(-x / s) + q * ndtr((1 - x) / s)
    masses = -np.diff(above, prepend=1.0)
    if symmetric:
        masses[index <= 0] = 0.0
        masses[1 : cells // 2] = (masses * np.exp(-index * width))[: cells // 2 : -1]
        masses[index == 0] = 1 - above[-1] - np.sum(masses)
    total = np.fft.irfft(np.fft.rfft(np.fft.ifftshift(masses)) ** steps, cells)
    gains = -np.expm1(np.minimum(epsilon - np.fft.ifftshift(index) * width, 0.0))
    return float(total @ gains - math.expm1(steps * math.log1p(-above[-1])))


def limit_mu(*, spread, noise_multiplier, steps, epsilon=0.0, symmetric=False):
    """mu of the Gaussian with the delta at `epsilon` that `steps` sampled ones have."""
    from scipy.optimize import brentq

    rate = spread / math.sqrt(steps)
    about = {"sample_rate": rate, "noise_multiplier": noise_multiplier, "steps": steps}
    log_delta = math.log(composed_delta(**about, epsilon=epsilon, symmetric=symmetric))

    def excess(log_mu: float) -> float:
        return oracles.gaussian_log_delta(epsilon=epsilon, mu=math.exp(log_mu)) - log_delta

    return math.exp(brentq(excess, -6.0, 3.0, xtol=1e-10))  # type: ignore[arg-type]
