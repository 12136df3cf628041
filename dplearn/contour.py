r"""Composition of the sampled Gaussian by a contour integral, certified on both sides.

With M(z) = E_P e^{zL} for one step, K = log M, any lambda > 0 and z = lambda + it,

.. math:: \delta_T(\varepsilon) = \frac1{2\pi}\int M(z)^T e^{-z\varepsilon} \frac{dt}{z(1+z)}.

The trapezoidal sum with step h = 2 pi / P is exactly :math:`\sum_m e^{\lambda mP}
\delta_T(\varepsilon + mP)`: the answer plus aliases, all non-negative. What is charged:

* aliases (lower side only): :math:`\delta_T(\varepsilon) \le c(\mu)e^{TK(\mu)-\mu\varepsilon}`,
  :math:`c(\mu)=\mu^\mu/(1+\mu)^{1+\mu}`, for the best mu on either side of lambda;
* truncation at t: :math:`e^{-\lambda\varepsilon}B(t)^T/(\pi t)`, where B(t) bounds |M| from t
  onwards, because on the line Im x = eta the factor :math:`|f^{it}| = e^{-t\arg f}` decreases;
* rounding: a relative error of each M, amplified T-fold by the power.

M itself is a trapezoidal sum over x on a line Im x = eta; the integrand is analytic in a strip
of half-width pi sigma^2 around the real axis, so its error is below e^{-L} M(lambda).

References
----------
Alghamdi et al. (2023) for the integral; Poisson's summation formula for the aliases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

_ULP = 2.0**-53
_L = 39.0
_MOST_NODES = 2048
# Aliases and truncation are held below this fraction of delta.
_TAU = 1e-7


@dataclass(frozen=True)
class SampledGaussian:
    """The pair ((1-q)N(0) + qN(1), N(0)) of standard deviation sigma, or its reverse.

    Parameters
    ----------
    sigma : float
        Noise multiplier, > 0.
    q : float
        Sample rate in (0, 1).
    direction : {"remove", "add"}
    """

    sigma: float
    q: float
    direction: Literal["remove", "add"]

    def log_ratio(self, x: NDArray) -> NDArray:
        """log f = log(1 - q + q e^{(2x - 1) / 2 sigma^2}) at real or complex x."""
        u = math.log(self.q) + (2 * x - 1) / (2 * self.sigma**2)
        rest = math.log1p(-self.q)
        big = np.real(u) > rest
        # The larger term is taken out; the smaller is at most 1 in modulus.
        small = np.exp(np.where(big, rest - u, u - rest))
        return np.where(big, u, rest) + np.log1p(small)

    def exponent(self, log_f: NDArray, power: float | NDArray) -> NDArray:
        """log of f^{1 + z} (remove) or f^{-z} (add) at real z = power."""
        return (1 + power) * log_f if self.direction == "remove" else -power * log_f

    def nodes(self, reach: float, step: float) -> NDArray:
        """Real parts of the x nodes: 9.3 sigma beyond the bumps at 0 and at `reach`."""
        right = reach if self.direction == "remove" else 0.0
        return np.arange(-9.3 * self.sigma, right + 9.3 * self.sigma + step, step)


class Table:
    """K and two derivatives on a grid of real lambda, by the rule on the real axis."""

    def __init__(self, pair: SampledGaussian, largest: float) -> None:
        self.pair = pair
        self.mu = np.geomspace(2e-3, largest, 96)
        sigma = pair.sigma
        a = min(math.pi * sigma**2, sigma * math.sqrt(2 * _L))
        step = 2 * math.pi / (a / (2 * sigma**2) + _L / a)
        x = pair.nodes(1 + largest, step)
        log_f = pair.log_ratio(x)
        loss = log_f if pair.direction == "remove" else -log_f
        base = -0.5 * (x / sigma) ** 2 + math.log(step / sigma / math.sqrt(2 * math.pi))
        logs = base + pair.exponent(log_f, self.mu[:, None])
        top = logs.max(axis=1, keepdims=True)
        weight = np.exp(logs - top)
        total = weight.sum(axis=1)
        self.k = np.log(total) + top[:, 0]
        self.mean = weight @ loss / total
        self.variance = np.maximum(weight @ loss**2 / total - self.mean**2, 1e-300)
        self.log_c = self.mu * np.log(self.mu) - (1 + self.mu) * np.log1p(self.mu)

    def saddle(self, steps: NDArray, log_delta: float) -> tuple[NDArray, NDArray]:
        """Tilt and epsilon per number of steps at which the saddle point estimate is delta."""
        a, t = self.mu, steps[:, None]
        epsilon = t * self.mean - 1 / a - 1 / (1 + a)
        curvature = t * self.variance + a**-2 + (1 + a) ** -2
        log_estimate = (
            t * self.k - a * epsilon - np.log(a * (1 + a)) - 0.5 * np.log(2 * np.pi * curvature)
        )
        tilts, epsilons = np.empty(steps.size), np.empty(steps.size)
        for row in range(steps.size):
            # The estimate falls along the grid once epsilon is positive.
            i = min(max(int(np.argmax(log_estimate[row] < log_delta)), 1), a.size - 2)
            high, low = log_estimate[row, i - 1], log_estimate[row, i]
            part = min(max((high - log_delta) / max(high - low, 1e-12), 0.0), 1.0)
            tilts[row] = math.exp((1 - part) * math.log(a[i - 1]) + part * math.log(a[i]))
            epsilons[row] = (1 - part) * epsilon[row, i - 1] + part * epsilon[row, i]
        return tilts, epsilons

    def chernoff(self, steps: NDArray, epsilon: NDArray) -> NDArray:
        """log of c(mu) e^{T K(mu) - mu epsilon}, shape (n_steps, n_mu): bounds on log delta."""
        return steps[:, None] * self.k - self.mu * epsilon[:, None] + self.log_c


def brackets(pair: SampledGaussian, steps: NDArray, *, delta: float) -> tuple[NDArray, NDArray]:
    """Certified (lower, upper) for epsilon of each number of steps; (0, inf) where not reached.

    The upper end is also inf where the sum would be too long: few steps at a small sample rate.

    Parameters
    ----------
    pair : SampledGaussian
    steps : ndarray of int, shape (n,)
    delta : float

    Returns
    -------
    tuple of ndarray, shape (n,) each
    """
    log_delta, steps = math.log(delta), np.asarray(steps, dtype=float)
    tail = pair.sigma * math.sqrt(-2 * log_delta)
    largest = 2 * pair.sigma**2 * math.log(1 / pair.q) + 4 * tail + 10
    # A few thousand nodes are enough; a saddle point further out is left to the lattice.
    table = Table(pair, min(largest, 3000 * pair.sigma))
    lower, upper = np.zeros(steps.size), np.full(steps.size, np.inf)
    # Rows within a factor 4 share tilt, period and nodes.
    octave = np.floor(np.log2(steps) / 2)
    for group in np.unique(octave):
        rows = octave == group
        lower[rows], upper[rows] = _group(table, steps[rows], log_delta)
    return lower, upper


def _group(table: Table, steps: NDArray, log_delta: float) -> tuple[NDArray, NDArray]:
    tilts, guess = table.saddle(steps, log_delta)
    tilt = float(np.exp(np.mean(np.log(tilts))))
    period = _period(table, steps, guess, tilt, log_delta)
    line = _Line(table.pair, tilt)
    last = line.cutoff(steps, guess, log_delta)
    count = 0 if last is None else max(math.ceil(last * period / (2 * math.pi)), 4)
    if not 0 < count <= _MOST_NODES:
        return np.zeros(steps.size), np.full(steps.size, np.inf)
    return _Sum(table, line, steps, period, count).solve(guess, log_delta)


def _period(table: Table, steps: NDArray, epsilon: NDArray, tilt: float, log_delta: float) -> float:
    """Smallest P that keeps the aliases on both sides below tau delta, for every row."""
    need = table.chernoff(steps, epsilon) - log_delta - math.log(_TAU) + 0.1
    gap = table.mu - tilt
    right, left = gap > 1e-3 * tilt, gap < -1e-3 * tilt
    period = np.min(need[:, right] / gap[right], axis=1)
    # On the left mu = 0, that is delta <= 1, is always at hand.
    below = np.full(steps.size, (0.1 - log_delta - math.log(_TAU)) / tilt)
    if np.any(left):
        below = np.minimum(below, np.min(need[:, left] / -gap[left], axis=1))
    return float(np.max(np.maximum(period, below)))


class _Line:
    """The nodes x + i eta, with everything that does not depend on t."""

    def __init__(self, pair: SampledGaussian, tilt: float) -> None:
        self.pair, self.tilt, sigma = pair, tilt, pair.sigma
        eta = min(0.5 * math.pi * sigma**2, 1.5 * sigma)
        # Moving the line down to the real axis or up by another eta costs e^{-L} at this step.
        up = 2 * math.pi * eta / (_L + (2 * eta) ** 2 / (2 * sigma**2))
        if pair.direction == "add":
            # |f| may shrink to f cos(phi / 2) above the line.
            phi = min(2 * eta / sigma**2, 0.999 * math.pi)
            extra = tilt * -math.log(math.cos(0.5 * phi))
            up = 2 * math.pi * eta / (_L + (2 * eta) ** 2 / (2 * sigma**2) + extra)
        self.step = min(2 * math.pi * eta / _L, up)
        self.x = pair.nodes(1 + tilt, self.step)
        self.sign = sign = 1.0 if pair.direction == "remove" else -1.0
        w = self.x + 1j * sign * eta
        self.log_f = pair.log_ratio(w)
        logs = -(w**2) / (2 * sigma**2) + pair.exponent(self.log_f, tilt)
        self.norm = math.log(self.step / sigma / math.sqrt(2 * math.pi))
        self.top = float(np.max(np.real(logs)))
        self.weight = np.exp(logs - self.top)
        # Mean slope of log f under the tilted law: q e^u / (f sigma^2).
        log_f = np.real(pair.log_ratio(self.x))
        rise = np.exp(math.log(pair.q) + (2 * self.x - 1) / (2 * sigma**2) - log_f) / sigma**2
        tilted = pair.exponent(log_f, tilt) - 0.5 * (self.x / sigma) ** 2
        tilted = np.exp(tilted - np.max(tilted))
        self.drift = float(rise @ tilted / np.sum(tilted))
        # i t times the loss: e^{it log f} or e^{-it log f}, of modulus at most 1.
        self.turn = 1j * sign * self.log_f

    def cutoff(self, steps: NDArray, epsilon: NDArray, log_delta: float) -> float | None:
        """A t beyond which the integrand is below tau delta for every row, or None."""
        log_m = math.log(abs(np.sum(self.weight))) + self.top + self.norm
        need = steps * log_m - self.tilt * epsilon - log_delta - math.log(_TAU)
        if np.any(need <= 0) or self.drift == 0:
            return None
        # Where the loss were normal: t^2 times its variance = 2 need / T.
        start = math.sqrt(2 * float(np.max(need / steps))) / (self.pair.sigma * self.drift)
        t = start * np.geomspace(0.6, 2e3, 24)
        gain = log_m - self.log_bound(t)
        enough = np.all(steps[:, None] * gain + np.log(math.pi * t) >= need[:, None], axis=0)
        return float(t[np.argmax(enough)]) if np.any(enough) else None

    def log_bound(self, t: NDArray) -> NDArray:
        """log B(t) >= log |M(lambda + it')| for all t' >= t; the smaller of two lines."""
        return np.minimum(self._log_bound(t, 1.0), self._log_bound(t, 0.45))

    def _log_bound(self, t: NDArray, scale: float) -> NDArray:
        """The line Im x = eta that suits each t: any line gives a bound."""
        sigma, pair = self.pair.sigma, self.pair
        eta = scale * sigma**2 * np.minimum(2.8, t * self.drift)[:, None]
        log_f = pair.log_ratio(self.x + 1j * self.sign * eta)
        size = pair.exponent(np.real(log_f), self.tilt) - 0.5 * (self.x / sigma) ** 2
        logs = size - t[:, None] * self.sign * np.imag(log_f)
        top = logs.max(axis=1, keepdims=True)
        total = np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0] + self.norm
        # The sum stands for the integral of a smooth positive function: a hair of slack.
        return total + eta[:, 0] ** 2 / (2 * sigma**2) + 1e-9

    def transform(self, h: float, count: int) -> NDArray:
        """M(lambda + ikh) / e^{top + norm} for k = 0..count, by powers in two digits."""
        block = math.isqrt(count) + 1
        coarse = np.exp(np.outer(block * h * np.arange(count // block + 1), self.turn))
        fine = np.exp(np.outer(h * np.arange(block), self.turn))
        return ((coarse * self.weight) @ fine.T).ravel()[: count + 1]


class _Sum:
    """The trapezoidal sum over t for all rows, and what is charged to it."""

    def __init__(
        self, table: Table, line: _Line, steps: NDArray, period: float, count: int
    ) -> None:
        self.table, self.line, self.steps, self.period = table, line, steps, period
        self.h = 2 * math.pi / period
        values = line.transform(self.h, count)
        self.log_m = math.log(abs(values[0])) + line.top + line.norm
        ratio = values / values[0]
        k = np.arange(count + 1)
        z = line.tilt + 1j * self.h * k
        half = np.where(k == 0, 0.5, 1.0) * self.h / math.pi
        safe = np.where(ratio == 0, 1e-300, ratio)
        power = np.exp(steps[:, None] * np.log(safe))
        self.terms, self.slope_terms = power * half / (z * (1 + z)), power * half / (1 + z)
        self.k, self.last = k, count * self.h
        self.log_b = float(line.log_bound(np.array([self.last]))[0])
        self.charge = self._rounding(np.abs(ratio), np.abs(half / (z * (1 + z))))

    def _rounding(self, size: NDArray, kernel: NDArray) -> NDArray:
        """Error of the sum in units of e^{T K - lambda epsilon}, per row."""
        line = self.line
        inflation = float(np.sum(np.abs(line.weight)) / np.abs(np.sum(line.weight)))
        loss = float(np.abs(line.turn) @ np.abs(line.weight) / np.sum(np.abs(line.weight)))
        digits = 20 + 4 * math.log2(line.x.size) + 4 * (self.last + line.tilt) * loss
        relative = _ULP * inflation * (digits + 4 * math.sqrt(self.k.size))
        t = self.steps[:, None]
        with np.errstate(under="ignore"):
            grown = (size + relative) ** (t - 1)
        return (kernel * grown * (3 * t * relative + 30 * _ULP * size)).sum(axis=1)

    def value(self, epsilon: NDArray) -> tuple[NDArray, NDArray]:
        """log of the scale e^{T K - lambda epsilon}, and the sum in units of it."""
        scale = self.steps * self.log_m - self.line.tilt * epsilon
        wave = np.exp(-1j * self.h * self.k * epsilon[:, None])
        return scale, np.real(np.sum(self.terms * wave, axis=1))

    def _slope(self, epsilon: NDArray) -> NDArray:
        wave = np.exp(-1j * self.h * self.k * epsilon[:, None])
        return np.real(np.sum(self.slope_terms * wave, axis=1))

    def _log_truncation(self, epsilon: NDArray) -> NDArray:
        return self.steps * self.log_b - self.line.tilt * epsilon - math.log(math.pi * self.last)

    def _log_aliases(self, epsilon: NDArray) -> NDArray:
        """log of all aliases at epsilon, by the best mu on either side."""
        logs = self.table.chernoff(self.steps, epsilon)
        gap = self.table.mu - self.line.tilt
        # A geometric series; mu = lambda itself would not converge.
        series = np.log(np.expm1(np.clip(np.abs(gap) * self.period, 1e-9, 600.0)))
        sides = [np.min((logs - series)[:, gap > 0], axis=1, initial=np.inf)]
        whole = np.full(epsilon.size, -math.log(math.expm1(min(self.line.tilt * self.period, 600))))
        sides.append(np.minimum(whole, np.min((logs - series)[:, gap < 0], axis=1, initial=np.inf)))
        return np.logaddexp(*sides)

    def solve(self, guess: NDArray, log_delta: float) -> tuple[NDArray, NDArray]:
        """Newton on the sum, then step out until either side was seen to hold."""
        epsilon = np.maximum(guess, 1e-12)
        for _ in range(12):
            scale, value = self.value(epsilon)
            slope = self._slope(epsilon)
            good = (value > 0) & (slope > 0)
            gap = scale + np.log(np.where(good, value, 1.0)) - log_delta
            move = np.where(good, np.where(good, value, 0.0) / np.where(good, slope, 1.0) * gap, 0)
            epsilon = np.maximum(epsilon + move, 1e-12)
            if np.all(np.abs(move) <= 1e-13 * epsilon):
                break
        scale, _ = self.value(epsilon)
        per_delta = np.exp(np.clip(scale - log_delta, -700, 700)) * np.maximum(
            self._slope(epsilon), 1e-300
        )
        charges = self._charges(epsilon, log_delta)
        upper = np.full(epsilon.shape, np.inf)
        lower = np.zeros(epsilon.shape)
        for widen in (1.1, 2.0, 5.0, 20.0):
            high = epsilon + widen * charges[0] / per_delta
            low = np.maximum(epsilon - widen * (charges[0] + charges[1]) / per_delta, 0.0)
            upper = np.where(np.isinf(upper) & self._holds(high, log_delta, +1), high, upper)
            lower = np.where((lower == 0) & self._holds(low, log_delta, -1), low, lower)
            if np.all(np.isfinite(upper) & (lower > 0)):
                break
        # A bracket this wide says that the sum was not accurate: leave it to others.
        poor = ~(upper - lower <= 0.01 * upper)
        return np.where(poor, 0.0, lower), np.where(poor, np.inf, upper)

    def _charges(self, epsilon: NDArray, log_delta: float) -> tuple[NDArray, NDArray]:
        """Truncation plus rounding, and aliases, in units of delta."""
        grow, fall = self.steps * self.log_m, self.line.tilt * epsilon
        # The terms' own errors, those of the phases e^{-it epsilon}, and those of the scale.
        phases = 4 * _ULP * self.h * epsilon * (np.abs(self.terms) @ self.k)
        rounding = np.exp(np.clip(grow - fall - log_delta, -700, 700)) * (self.charge + phases)
        rounding += 4 * _ULP * (np.abs(grow) + fall - log_delta)
        cut = np.exp(np.clip(self._log_truncation(epsilon) - log_delta, -700, 700))
        return rounding + cut, np.exp(np.clip(self._log_aliases(epsilon) - log_delta, -700, 700))

    def _holds(self, epsilon: NDArray, log_delta: float, side: int) -> NDArray:
        """Whether delta is proved to be <= (side 1) or >= (side -1) at epsilon."""
        scale, value = self.value(epsilon)
        size = np.exp(np.clip(scale - log_delta, -700, 700)) * value
        numeric, aliases = self._charges(epsilon, log_delta)
        if side > 0:
            return size + numeric <= 1
        return size - numeric - aliases >= 1
