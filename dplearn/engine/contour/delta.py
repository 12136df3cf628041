"""Delta at given epsilons."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.contour.pair import LEAST_SIGMA, SampledGaussian
from dplearn.engine.contour.plan import tries
from dplearn.engine.contour.table import Table, largest_power
from dplearn.engine.contour.trapezoid import SHARE, Trapezoid


def deltas(
    pair: SampledGaussian, steps: int, epsilons: ArrayLike, *, rtol: float = 1e-6
) -> tuple[NDArray, NDArray]:
    """Certified (lower, upper) for log delta at each epsilon >= 0; `rtol` is aimed at.

    Where the sum does not reach they are -inf and the smaller of 0 and the Chernoff bound.
    """
    epsilon = np.asarray(epsilons, dtype=float)
    if pair.sigma < LEAST_SIGMA:
        return np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)
    largest, most = largest_power(pair, -20.0), float(np.max(epsilon, initial=0.0))
    table = Table(pair, largest)
    # Delta may be far smaller: the largest mu has to suit the largest epsilon.
    while pair.sign > 0 and steps * table.mean[-1] < 2 * most and largest < 3000 * pair.sigma:
        largest *= 4
        table = Table(pair, largest)
    every = np.full(epsilon.shape, float(steps))
    guess = table.guess_log_delta(every, epsilon)
    upper = np.minimum(np.min(table.chernoff(every, epsilon), axis=1), 0.0)
    lower = np.full(epsilon.shape, -np.inf)

    def update(rows: NDArray, total: Trapezoid) -> NDArray:
        at, value = epsilon[rows], total.sums(total.terms, epsilon[rows])
        estimate = total.log_scale(at) + np.log(np.where(value > 0, value, 1.0))
        # A sum that is not positive is aliases or noise.
        guess[rows] = np.where(value > 0, np.minimum(estimate, upper[rows]), guess[rows] - 3)
        charges = total.charges(at, guess[rows])
        size, (rounding, cut, aliases) = total.size(at, guess[rows]), charges
        high, low = size + rounding + cut, size - rounding - cut - aliases
        upper[rows] = np.minimum(upper[rows], guess[rows] + np.log(np.maximum(high, 1e-300)))
        proved = guess[rows] + np.log(np.maximum(low, 1e-300))
        lower[rows] = np.maximum(lower[rows], np.where(low > 0, proved, -np.inf))
        return total.poor(charges)

    tries(table, (every, epsilon, guess), math.log(SHARE * rtol), update)
    return lower, upper
