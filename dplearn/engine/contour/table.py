"""K = log M on a grid of real lambda: Chernoff bounds, saddle points, and plans of the sum."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from dplearn.core.work import spend
from dplearn.engine.contour.pair import QUADRATURE, ULP, SampledGaussian

# Rounding of M, about: only for plans.
_ROUNDING = 3e-14
_GRID = np.geomspace(1e-6, 1.0, 96)
# Room for an epsilon or a delta that is only guessed.
_ROOM = 0.3
# Number of sampled steps below which the sum of losses is one large loss and a rest, where a
# saddle point is poor.
_FEW = 10


def log_moments(pair: SampledGaussian, powers: ArrayLike) -> NDArray:
    """log E_P e^{mu L} of one step for real mu >= 0, to about 1e-15 absolutely.

    This is mu D_{1 + mu}(P, Q): T times it is the Renyi curve of T steps at any orders.
    """
    return moments(pair, np.asarray(powers, dtype=float)).k


class Cumulants(NamedTuple):
    """K with a bound on its error, K' and K'', shape (n_mu,) each."""

    k: NDArray
    error: NDArray
    mean: NDArray
    variance: NDArray


def moments(pair: SampledGaussian, mu: NDArray) -> Cumulants:
    """Cumulants of the loss at every mu, by the trapezoidal rule on the real axis."""
    tilt, sigma = float(np.max(mu)), pair.sigma
    step = pair.step(tilt, 0.0)
    x = pair.nodes(tilt, step)
    log_p, loss = (log.real for log in pair.logs(x))
    spend(2 * mu.size * x.size)
    # Row i is the integrand at mu[i].
    logs = np.outer(mu, loss)
    logs += log_p - 0.5 * (x / sigma) ** 2
    top = logs.max(axis=1, keepdims=True)
    logs -= top
    weight = np.exp(logs, out=logs)
    sums = weight @ np.stack([np.ones_like(x), loss, loss**2], axis=1)
    k = np.log(sums[:, 0]) + top[:, 0] + math.log(step / sigma / math.sqrt(2 * math.pi))
    mean, square = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
    error = ULP * pair.ulps(x, weight, loss, 1 + mu) / sums[:, 0] + QUADRATURE
    return Cumulants(k, error, mean, np.maximum(square - mean**2, 1e-300))


def largest_power(pair: SampledGaussian, log_delta: float) -> float:
    """Largest mu of the table; a saddle point further out is left to others."""
    mu = 2 * pair.sigma**2 * math.log(1 / pair.q) + 4 * pair.sigma * math.sqrt(-2 * log_delta) + 1
    # The add direction is bounded: its K grows slowly and a larger mu costs little.
    return min(mu if pair.sign > 0 else 16 * mu, 3000 * pair.sigma)


class Table:
    """K, K' and K'' on a grid of mu, and what follows from them for T steps."""

    def __init__(self, pair: SampledGaussian, largest: float) -> None:
        self.pair = pair
        self.mu = mu = largest * _GRID
        self.k, error, self.mean, self.variance = moments(pair, mu)
        # What is proved is rounded up: K by its error, and products and sums by some ulps.
        self.k_above = self.k + error + 4 * ULP * np.abs(self.k)
        self.mu_below = mu * (1 - 4 * ULP)
        self.planned_c = mu * np.log(mu) - (1 + mu) * np.log1p(mu) + 1e-6
        self.log_c = -(mu * np.log1p(1 / mu) + np.log1p(mu)) * (1 - 8 * ULP)

    def chernoff(self, steps: NDArray, epsilon: NDArray) -> NDArray:
        """log of c(mu) e^{T K(mu) - mu epsilon}, rounded up, shape (n, n_mu): log delta is less."""
        return steps[:, None] * self.k_above - self.mu_below * epsilon[:, None] + self.log_c

    def _saddles(self, steps: NDArray) -> tuple[NDArray, NDArray]:
        """Epsilon with its saddle at mu, and the estimate of log delta there: (n, n_mu) each."""
        a, t = self.mu, steps[:, None]
        epsilon = t * self.mean - 1 / a - 1 / (1 + a)
        curvature = t * self.variance + a**-2 + (1 + a) ** -2
        peak = t * self.k - a * epsilon - np.log(a * (1 + a))
        return epsilon, peak - 0.5 * np.log(2 * np.pi * curvature)

    def guess_epsilon(self, steps: NDArray, log_delta: float) -> NDArray:
        """Epsilon near which delta is reached, by a saddle point or else by few sampled steps."""
        guess, few = self.guess_at_saddle(steps, log_delta), self.rarely_sampled(steps)
        if np.any(few):
            # Of one run in which the record was sampled, and of the normal rest.
            sigma, q = self.pair.sigma, self.pair.q
            x = np.linspace(-sigma, 14 * sigma + 1, 300)
            loss = (2 * x - 1) / (2 * sigma**2)
            # q times delta of the unsampled step at its loss.
            p, ratio = log_ndtr((1 - x) / sigma), loss + log_ndtr(-x / sigma)
            log = math.log(q) + p + np.log(-np.expm1(np.minimum(ratio - p, -1e-15)))
            one = np.interp(np.log(steps[few]) - log_delta, -log, self.pair.log_ratio(x)[0])
            rest = -0.8 * log_delta * steps[few] * q**2 * math.expm1(min(sigma**-2, 50.0))
            one = np.sqrt(np.maximum(one, 0) ** 2 + rest)
            guess[few] = np.where(guess[few] > 1.15 * one, one, guess[few])
        return guess

    def rarely_sampled(self, steps: NDArray) -> NDArray:
        """Whether so few records are sampled that the sum is far from normal."""
        return (self.pair.q * steps < _FEW) & (self.pair.direction == "remove")

    def guess_at_saddle(self, steps: NDArray, log_delta: float) -> NDArray:
        """Epsilon at which the saddle point estimate is delta."""
        # The estimate falls along the grid once epsilon is positive; both are made monotone.
        rows = zip(*self._saddles(steps), strict=True)
        return np.array(
            [np.interp(-log_delta, np.maximum.accumulate(-log), eps) for eps, log in rows]
        )

    def guess_log_delta(self, steps: NDArray, epsilon: NDArray) -> NDArray:
        """Return the saddle point estimate of log delta."""
        rows = zip(*self._saddles(steps), epsilon, strict=True)
        return np.array([min(0.0, np.interp(e, eps, log)) for eps, log, e in rows])

    def needs(
        self, steps: NDArray, epsilon: NDArray, log_delta: NDArray, log_tau: float
    ) -> tuple[NDArray, NDArray]:
        """Return logs by which the aliases must fall to tau delta: at every mu, and at mu = 0."""
        room = _ROOM - log_tau - log_delta
        fall = steps[:, None] * self.k - self.mu * epsilon[:, None] + self.planned_c
        # A good guess needs at least -log tau; a poor one must not ask for a negative period.
        return np.maximum(fall + room[:, None], 1.0), room

    def period(self, needs: tuple[NDArray, NDArray], tilt: float) -> float:
        """Smallest P that keeps the aliases on both sides of `tilt` below tau delta."""
        need, at_zero = needs
        gap = self.mu - tilt
        right, left = gap > 1e-3 * tilt, gap < -1e-3 * tilt
        above = np.min(need[:, right] / gap[right], axis=1, initial=np.inf)
        below = np.min(need[:, left] / -gap[left], axis=1, initial=np.inf)
        return float(np.max(np.maximum(above, np.minimum(below, at_zero / tilt))))

    def tilts(
        self, needs: tuple[NDArray, NDArray], steps: NDArray, freedom: float, longer: float
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Smallest P of each row, and the interval of lambda that `longer` times as much allows."""
        need, at_zero = needs
        # Off the saddle point rounding is amplified, to tau delta where need = -log(T _ROUNDING).
        best = need.min(axis=1)
        highest = np.clip(-np.log(_ROUNDING * steps), best + freedom, best + 7)
        near = need <= highest[:, None]
        least = self.mu[np.argmax(near, axis=1)]
        most = self.mu[self.mu.size - 1 - np.argmax(near[:, ::-1], axis=1)]
        # The smallest of many columns is found faster along the first axis.
        mu, need = self.mu[:, None], np.ascontiguousarray(need.T)

        def interval(period: NDArray) -> tuple[NDArray, NDArray]:
            share = need / period
            low = np.minimum((mu + share).min(axis=0), at_zero / period)
            return np.maximum(low, least), np.minimum((mu - share).max(axis=0), most)

        # Bisection on log P.
        small, large = np.full(at_zero.shape, -12.0), np.full(at_zero.shape, 20.0)
        for _ in range(10):
            middle = 0.5 * (small + large)
            low, high = interval(np.exp(middle))
            small, large = np.where(low > high, middle, small), np.where(low > high, large, middle)
        low, high = interval(longer * np.exp(large))
        # Where even a huge period is not enough the sum will be too long; lambda stays positive.
        high = np.maximum(high, least)
        return np.exp(large), np.minimum(low, high), high


def shared(
    period: NDArray, low: NDArray, high: NDArray, longer: float
) -> list[tuple[NDArray, float]]:
    """Few points that meet all intervals, (rows, point) each; periods of a group are similar."""
    groups, order = [], np.argsort(high)
    while order.size:
        ratio = period[order] / period[order[0]]
        meets = (low[order] <= high[order[0]]) & (ratio < longer) & (ratio > 1 / longer)
        rows, order = order[meets], order[~meets]
        groups.append((rows, 0.5 * float(np.max(low[rows]) + np.min(high[rows]))))
    return groups
