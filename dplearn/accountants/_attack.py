r"""Bounds on the best attacker's true positive rate, from lower and upper bounds on delta.

With x = e^epsilon and g(x) = delta(epsilon) over real epsilon, a test of false positive rate a
has a true positive rate of at most :math:`\min_{x>0} g(x) + ax`, and the best test attains it
(Dong, Roth & Su 2022, Proposition 2.12). g is convex and decreases from g(0) = 1 to 0 with slopes
of at least -1. So values at a few x bound the minimum: themselves from above, their extended chords
from below. The next values are taken near the lowest intersection of two chords.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 12
_ROUGH_RTOL = 1e-3  # target relative width of the first, rough search
_PARTS = 2.0 ** -np.arange(9)  # fractions of the way to the next knots, to place new epsilons
# Maps signed epsilons and a target relative width to lower and upper bounds on delta.
Brackets = Callable[[NDArray, float], tuple[NDArray, NDArray]]


def power_brackets(deltas: Brackets, rates: NDArray, rtol: float) -> tuple[NDArray, NDArray]:
    """Return lower and upper bounds on the true positive rate at each of `rates` in (0, 1)."""
    # Typical privacy losses are about as large as the total variation, delta(0).
    spread = max(float(deltas(np.zeros(1), 1.0)[1][0]), 1e-12) * np.array([0.5, 1.5, 4.0, 10.0])
    epsilon = np.concatenate([-spread[::-1], [0.0], spread])
    lower, upper = np.zeros(rates.shape), np.ones(rates.shape)
    for aim in sorted({rtol, max(rtol, _ROUGH_RTOL)}, reverse=True):
        knots = np.empty((3, 0))
        for _ in range(_ROUNDS):
            knots = np.hstack([knots, np.array([epsilon, *deltas(epsilon, aim)])])
            knots = knots[:, np.argsort(knots[0])]
            # Drop knots of equal exp(epsilon): the chord between them has no slope.
            knots = knots[:, np.append(True, np.diff(np.exp(knots[0])) > 0)]
            epsilon, low, high = knots
            total = high + rates[:, None] * np.exp(epsilon)
            best, upper = np.argmin(total, axis=1), np.min(total, axis=1)
            lower, at = _least(epsilon, low, high, rates)
            # Refine rates with brackets wider than the target plus the uncertainty of delta.
            open_ = upper - np.maximum(lower, rates) > aim * upper + 2 * (high - low)[best]
            every = _around(epsilon, at, rates)
            epsilon = np.setdiff1d(every[open_], epsilon)
            if not epsilon.size:
                break
        epsilon = np.unique(every)
    # Random guessing attains a true positive rate equal to the false positive rate.
    upper = np.clip(upper, rates, 1.0)
    return np.clip(lower, rates, upper), upper


def _around(epsilon: NDArray, at: NDArray, rates: NDArray) -> NDArray:
    """Return epsilons to try for every rate, between the knots beside `at` and denser near `at`.

    The search ends at e^epsilon = 1 / rate on the right, and at -80 on the left.
    """
    ends = np.concatenate([[-80.0], epsilon, [max(1 - np.log(np.min(rates)), epsilon[-1] + 1)]])
    cell = np.clip(np.searchsorted(ends, at), 1, ends.size - 1)
    sides = [at[:, None] + (ends[cell + k] - at)[:, None] * _PARTS for k in (-1, 0)]
    return np.concatenate([at[:, None], *sides], axis=1)


def _least(
    epsilon: NDArray, low: NDArray, high: NDArray, rates: NDArray
) -> tuple[NDArray, NDArray]:
    """Return lower bounds on min_x g(x) + rate * x, if low <= g <= high, and log x of each."""
    # Error of g: 1e-12 relative from delta, plus the effect of rounding x; x_k |g'(x_k)| <= 1.
    x, blur = np.exp(epsilon), 1e-12 * high
    # Add ends of the grid: g(0) = 1, and g(x) + rate * x >= 1 if x >= 1 / rate.
    x = np.concatenate([[0.0], x, [max(1 / float(np.min(rates)), 2 * x[-1])]])
    tail = np.append(1.0, x[1:-1] * np.abs(np.append(1.0, high[:-1]) - low) / np.diff(x[:-1]))
    blur = np.append(0.0, blur) + 4e-16 * np.minimum(tail, 1.0)
    low = np.append(np.append(1.0, low) - blur, 0.0)
    high = np.append(np.append(1.0, high) + blur, high[-1] + blur[-1])
    # Bound the slope of g right and left of x_k by all chords: chords over several
    # cells are looser, but less sensitive to the uncertainty of g at their ends.
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (low - high[:, None]) / (x - x[:, None])
    order = np.arange(x.size)
    right = np.max(np.where(order[:, None] < order, slope, -1.0), axis=0, initial=-1.0)
    left = np.max(np.where(order[:, None] > order, -slope, 0.0), axis=0, initial=0.0)
    right, left, gap = right[:-1], left[1:], np.diff(x)
    # The maximum of two lines is smallest at an end of the cell or where the lines meet.
    # Measure distances from the left end, because the last cell is wide.
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = np.clip(np.nan_to_num((np.diff(low) + left * gap) / (right + left)), 0.0, gap)
    step = np.stack([np.zeros_like(gap), meet, gap])
    floor = np.maximum(low[:-1] + right * step, low[1:] + left * (gap - step)).ravel()
    place = (x[:-1] + step).ravel()
    values = floor + rates[:, None] * place
    at = place[np.argmin(values, axis=1)]
    return np.min(values, axis=1), np.log(np.maximum(at, 1e-30))
