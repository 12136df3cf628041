r"""The best attacker's true positive rate, enclosed between two brackets of delta.

With x = e^epsilon and g(x) = delta(epsilon) over real epsilon, a test of false positive rate a
catches at most :math:`\min_{x>0} g(x) + ax`, and the best test attains it (Dong, Roth & Su 2022,
Proposition 2.12). g is convex and falls from g(0) = 1 to 0 with slopes of at least -1, so values
at a few x bound the minimum from both sides: from above where they were taken, from below by
chords, prolonged. The minimum is where -g', the false positive rate of the threshold x, is a.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_ROUNDS, _REPAIRS = 20, 4
_ROUGH_RTOL = 1e-3  # where to look is found out roughly
_DOUBLINGS = 10  # how often distances between points double around a minimum that is known roughly
# From signed epsilons and a relative width to aim at, to lower and upper bounds on delta.
Brackets = Callable[[NDArray, float], tuple[NDArray, NDArray]]
Knots = tuple[NDArray, NDArray, NDArray]  # epsilons in ascending order, and what bounds delta there


def power_brackets(deltas: Brackets, rates: NDArray, rtol: float) -> tuple[NDArray, NDArray]:
    """Lower and upper bounds on the true positive rate at each false positive rate in (0, 1)."""
    # The total variation is about as large as losses are.
    spread = max(float(deltas(np.zeros(1), 1.0)[1][0]), 1e-12) * np.array([0.5, 1.5, 4.0, 10.0])
    epsilon = np.concatenate([-spread[::-1], [0.0], spread])
    if rtol < _ROUGH_RTOL:
        epsilon, _, high = _refined(deltas, epsilon, rates, _ROUGH_RTOL)
        best = np.argmin(high + rates[:, None] * np.exp(epsilon), axis=1)
        inner = [_around(epsilon, high, rate, rtol, _DOUBLINGS) for rate in rates]
        epsilon = np.unique(np.concatenate([epsilon[best], *inner]))
    knots = _refined(deltas, epsilon, rates, rtol)
    for trial in range(_REPAIRS + 1):
        epsilon, low, high = knots
        total = high + rates[:, None] * np.exp(epsilon)
        best, upper = np.argmin(total, axis=1), np.min(total, axis=1)
        lower, at = _least(epsilon, low, high, rates)
        # More than is unknown at the minimum itself: ask where the lower end is attained.
        open_ = upper - np.maximum(lower, rates) > rtol * upper + 4 * (high - low)[best]
        if trial == _REPAIRS or not np.any(open_):
            break
        knots = _with(knots, deltas, at[open_], rtol)
    # Announcing everybody at random is a test as well.
    upper = np.clip(upper, rates, 1.0)
    return np.clip(lower, rates, upper), upper


def _refined(deltas: Brackets, epsilon: NDArray, rates: NDArray, rtol: float) -> Knots:
    """Knots so close that more of them would hardly lower any upper end."""
    knots = _with((np.empty(0), np.empty(0), np.empty(0)), deltas, epsilon, rtol)
    for _ in range(_ROUNDS):
        epsilon, _, high = knots
        upper = np.min(high + rates[:, None] * np.exp(epsilon), axis=1)
        open_ = upper - _least(epsilon, high, high, rates)[0] > 0.25 * rtol * upper
        inner = [_around(epsilon, high, rate, rtol) for rate in rates[open_]]
        knots = _with(knots, deltas, np.concatenate([*inner, []]), rtol)
        if knots[0].size == epsilon.size:
            break
    return knots


def _with(knots: Knots, deltas: Brackets, epsilon: NDArray, rtol: float) -> Knots:
    epsilon = np.setdiff1d(epsilon, knots[0])
    if not epsilon.size:
        return knots
    order = np.argsort(np.append(knots[0], epsilon))
    more = epsilon, *deltas(epsilon, rtol)
    every, low, high = (np.append(a, b)[order] for a, b in zip(knots, more, strict=True))
    # Two that exp cannot tell apart have no chord.
    new = np.append(True, np.diff(np.exp(every)) > 0)
    return every[new], low[new], high[new]


def _around(
    epsilon: NDArray, high: NDArray, rate: float, rtol: float, doublings: int = 0
) -> NDArray:
    """New epsilons to ask at: where the slope is expected to be the rate, or further out."""
    x = np.exp(epsilon)
    best = int(np.argmin(high + rate * x))
    # Beyond e^epsilon = 1 / rate nothing is left to gain; far on the left all are caught.
    ends = -80.0, 1 - np.log(rate)
    if best in (0, epsilon.size - 1):
        out = np.clip(epsilon[best] * np.array([2.0, 4.0]), *ends)
        return out[np.abs(out) > abs(epsilon[best])]
    near = slice(best - 1, best + 2)
    log_slope = np.log(np.maximum(-np.diff(high[near]) / np.diff(x[near]), 1e-300))
    middle = 0.5 * (epsilon[near][1:] + epsilon[near][:-1])
    fall = max((log_slope[0] - log_slope[1]) / (middle[1] - middle[0]), 1e-9)
    target = np.clip(middle[0] + (log_slope[0] - np.log(rate)) / fall, middle[0], middle[1])
    # Chords at a distance w leave open 3/8 w^2 times the curvature over epsilon.
    w = np.sqrt(rtol * (high[best] / rate / x[best] + 1) / fall) / 2
    width = epsilon[best + 1] - epsilon[best - 1]
    if not doublings and width < w:
        return np.empty(0)
    # Wider ones close in should the guess be wrong, and suffer less from what is unknown of delta.
    doublings = doublings or max(int(np.log2(width / w)) - 2, 0)
    steps = min(w, width) * np.concatenate([[0.5, 1.5], 3.0 * 2.0 ** np.arange(doublings)])
    return np.clip(target + np.concatenate([-steps, steps]), *ends)


def _least(
    epsilon: NDArray, low: NDArray, high: NDArray, rates: NDArray
) -> tuple[NDArray, NDArray]:
    """Lower bound on min g(x) + ax for every rate a, g lying between low and high; log x there."""
    x = np.exp(epsilon)
    # g(0) = 1, and from 1 / a on the sum is no less.
    x = np.concatenate([[0.0], x, [max(1 / float(np.min(rates)), 2 * x[-1])]])
    low, high = np.concatenate([[1.0], low, [0.0]]), np.concatenate([[1.0], high, high[-1:]])
    right, left = _slopes(x, low, high)
    gap, least, at = np.diff(x), np.empty(rates.shape), np.empty(rates.shape)
    for i, a in enumerate(rates):
        # The larger of two lines is least at an end of the cell or where they meet.
        first, last = low[:-1] + a * x[:-1], low[1:] + a * x[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            meet = (last + (left - a) * gap - first) / ((right + left) * gap)
        meet = np.clip(np.nan_to_num(meet, nan=0.5), 0.0, 1.0)
        part = np.stack([np.zeros_like(meet), meet, np.ones_like(meet)])
        lines = first + (right + a) * part * gap, last + (left - a) * (1 - part) * gap
        values = np.maximum(*lines)
        row, cell = np.unravel_index(np.argmin(values), values.shape)
        least[i] = values[row, cell]
        at[i] = np.log(max(x[cell] + part[row, cell] * gap[cell], 1e-30))
    return least, at


def _slopes(x: NDArray, low: NDArray, high: NDArray) -> tuple[NDArray, NDArray]:
    """Steepest fall that g may have right of x_k, and least one left of x_{k+1}, per cell k.

    Chords over several cells are looser, but suffer less from what is unknown of their ends.
    """
    # Errors of a delta near 1e-12, and of x: x_k |g'(x_k)| is at most 1 and at most `tail`.
    tail = np.append(1.0, x[1:] * np.abs(high[:-1] - low[1:]) / np.diff(x))
    blur = 1e-12 * high + 4e-16 * np.minimum(tail, 1.0)
    low, high = low - blur, high + blur
    right, left = np.full(x.shape, -1.0), np.zeros(x.shape)
    for apart in 2 ** np.arange(int(x.size - 1).bit_length()):
        gap = x[apart:] - x[:-apart]
        right[apart:] = np.maximum(right[apart:], (low[apart:] - high[:-apart]) / gap)
        left[:-apart] = np.maximum(left[:-apart], (low[:-apart] - high[apart:]) / gap)
    return right[:-1], left[1:]
