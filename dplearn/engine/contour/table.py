"""K = log M on a grid of real mu, for Chernoff bounds, and to choose tilt lambda and period P."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.contour.pair import QUADRATURE, ULP, SampledGaussian, ulps

# Approximate relative rounding error of M, used only to choose lambda.
_ROUNDING = 3e-14
_GRID = np.geomspace(1e-6, 1.0, 96)
# Margin for the error of a guessed epsilon or delta.
_ROOM = 0.3


def log_moments(pair: SampledGaussian, powers: ArrayLike) -> NDArray:
    """Return log E_P e^{mu L} of one step of `pair`, for mu >= 0 in `powers`, to about 1e-15."""
    return moments(pair, np.asarray(powers, dtype=float))[0]


def moments(pair: SampledGaussian, mu: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return K = log M, a bound on its error, and two derivatives at mu, by trapezoidal sums."""
    tilt, sigma = float(np.max(mu)), pair.sigma
    step = pair.step(tilt, 0.0)
    x = pair.nodes(tilt, step)
    log_p, loss = (log.real for log in pair.logs(x))
    # Row i is the log of the integrand at mu[i].
    logs = np.outer(mu, loss)
    logs += log_p - 0.5 * (x / sigma) ** 2
    top = logs.max(axis=1, keepdims=True)
    logs -= top
    weight = np.exp(logs, out=logs)
    sums = weight @ np.stack([np.ones_like(x), loss, loss**2], axis=1)
    k = np.log(sums[:, 0]) + top[:, 0] + math.log(step / sigma / math.sqrt(2 * math.pi))
    mean, square = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
    error = ULP * ulps(pair, x, weight, loss, 1 + mu) / sums[:, 0] + QUADRATURE
    return k, error, mean, np.maximum(square - mean**2, 1e-300)


def largest_power(pair: SampledGaussian, log_delta: float) -> float:
    """Return the largest mu that is useful in a `Table` of Chernoff bounds at this delta."""
    mu = 2 * pair.sigma**2 * math.log(1 / pair.q) + 4 * pair.sigma * math.sqrt(-2 * log_delta) + 1
    # An added record's loss is bounded, so K(mu) grows slowly: larger mu are useful, too.
    return min(mu if pair.sign > 0 else 16 * mu, 3000 * pair.sigma)


class Table:
    """K = log M and its derivatives on a grid of mu, with bounds and estimates for T steps."""

    def __init__(self, pair: SampledGaussian, largest: float) -> None:
        self.pair = pair
        self.mu = mu = largest * _GRID
        self.k, error, self.mean, self.variance = moments(pair, mu)
        # Bounds are rounded up: K by its error, products and sums by a few ulps.
        self.k_above = self.k + error + 4 * ULP * np.abs(self.k)
        self.mu_below = mu * (1 - 4 * ULP)
        self.planned_c = mu * np.log(mu) - (1 + mu) * np.log1p(mu) + 1e-6
        self.log_c = -(mu * np.log1p(1 / mu) + np.log1p(mu)) * (1 - 8 * ULP)

    def chernoff(self, steps: NDArray, epsilon: NDArray) -> NDArray:
        """Return upper bounds on log delta, log c(mu) + T K(mu) - mu epsilon, shape (n, n_mu)."""
        return steps[:, None] * self.k_above - self.mu_below * epsilon[:, None] + self.log_c

    def _saddles(self, steps: NDArray) -> tuple[NDArray, NDArray]:
        """Return the epsilon with saddle point mu and an estimate of log delta, both (n, n_mu)."""
        a, t = self.mu, steps[:, None]
        epsilon = t * self.mean - 1 / a - 1 / (1 + a)
        curvature = t * self.variance + a**-2 + (1 + a) ** -2
        peak = t * self.k - a * epsilon - np.log(a * (1 + a))
        return epsilon, peak - 0.5 * np.log(2 * np.pi * curvature)

    def guess_epsilon(self, steps: NDArray, log_delta: float) -> NDArray:
        """Return the epsilon at which the saddle point estimate of log delta is `log_delta`."""
        # The estimate decreases along the grid where epsilon > 0; make it monotone everywhere.
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
        """Return log(b / (tau delta)) plus a margin, for each Chernoff bound b, and for b = 1."""
        room = _ROOM - log_tau - log_delta
        fall = steps[:, None] * self.k - self.mu * epsilon[:, None] + self.planned_c
        # For a good guess this is at least -log tau; a poor guess must not give a period < 0.
        return np.maximum(fall + room[:, None], 1.0), room

    def period(self, needs: tuple[NDArray, NDArray], tilt: float) -> float:
        """Return the smallest period P for which the aliases on both sides are below tau delta."""
        need, at_zero = needs
        gap = self.mu - tilt
        right, left = gap > 1e-3 * tilt, gap < -1e-3 * tilt
        above = np.min(need[:, right] / gap[right], axis=1, initial=np.inf)
        below = np.min(need[:, left] / -gap[left], axis=1, initial=np.inf)
        return float(np.max(np.maximum(above, np.minimum(below, at_zero / tilt))))

    def tilts(
        self, needs: tuple[NDArray, NDArray], steps: NDArray, freedom: float, longer: float
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Return each row's smallest period P, and the interval of tilts for `longer` times P."""
        need, at_zero = needs
        # Rounding errors grow away from the saddle point, to tau delta at need = -log(T _ROUNDING).
        best = need.min(axis=1)
        highest = np.clip(-np.log(_ROUNDING * steps), best + freedom, best + 7)
        near = need <= highest[:, None]
        least = self.mu[np.argmax(near, axis=1)]
        most = self.mu[self.mu.size - 1 - np.argmax(near[:, ::-1], axis=1)]
        # Reductions over many columns are faster along the first axis.
        mu, need = self.mu[:, None], np.ascontiguousarray(need.T)

        def interval(period: NDArray) -> tuple[NDArray, NDArray]:
            share = need / period
            low = np.minimum((mu + share).min(axis=0), at_zero / period)
            return np.maximum(low, least), np.minimum((mu - share).max(axis=0), most)

        small, large = np.full(at_zero.shape, -12.0), np.full(at_zero.shape, 20.0)
        for _ in range(10):
            middle = 0.5 * (small + large)
            low, high = interval(np.exp(middle))
            small, large = np.where(low > high, middle, small), np.where(low > high, large, middle)
        low, high = interval(longer * np.exp(large))
        # If even the longest period fails, the sum is too long: only keep lambda positive.
        high = np.maximum(high, least)
        return np.exp(large), np.minimum(low, high), high


def shared(
    period: NDArray, low: NDArray, high: NDArray, longer: float
) -> list[tuple[NDArray, float]]:
    """Group rows with overlapping intervals; return each group and a point in all its intervals."""
    groups, order = [], np.argsort(high)
    while order.size:
        ratio = period[order] / period[order[0]]
        meets = (low[order] <= high[order[0]]) & (ratio < longer) & (ratio > 1 / longer)
        rows, order = order[meets], order[~meets]
        groups.append((rows, 0.5 * float(np.max(low[rows]) + np.min(high[rows]))))
    return groups
