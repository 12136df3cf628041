r"""The best attacker's true positive rate, enclosed between two brackets of delta.

With x = e^epsilon and g(x) = delta(epsilon) over real epsilon, a test of false positive rate a
catches at most :math:`\min_{x>0} g(x) + ax`, and the best test attains it (Dong, Roth & Su 2022,
Proposition 2.12). g is convex, g(0) = 1, so values at a few x bound the minimum from both sides:
from above where they were taken, from below by the chords of neighbours, prolonged.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_ROUNDS, _POINTS = 14, 9
# From signed epsilons to lower and upper bounds on delta.
Brackets = Callable[[NDArray], tuple[NDArray, NDArray]]


def power_brackets(deltas: Brackets, rates: NDArray, rtol: float) -> tuple[NDArray, NDArray]:
    """Lower and upper bounds on the true positive rate at each false positive rate in (0, 1)."""
    epsilon = np.linspace(-1.0, 1.0, _POINTS)
    low, high = deltas(epsilon)
    for _ in range(_ROUNDS):
        brackets = np.array([_bracket(epsilon, low, high, rate) for rate in rates])
        wide = brackets[:, 1] - brackets[:, 0] > rtol * brackets[:, 1]
        inner = [_around(epsilon, high, rate) for rate in rates[wide]]
        asked = np.setdiff1d(np.concatenate([*inner, []]), epsilon)
        if asked.size == 0:
            break
        more = deltas(asked)
        order = np.argsort(np.append(epsilon, asked))
        epsilon = np.append(epsilon, asked)[order]
        low, high = (np.append(a, b)[order] for a, b in zip((low, high), more, strict=True))
    return brackets[:, 0], brackets[:, 1]


def _around(epsilon: NDArray, high: NDArray, rate: float) -> NDArray:
    """Where to look next: between the neighbours of the best epsilon, or further out."""
    best = int(np.argmin(high + rate * np.exp(epsilon)))
    first, last = epsilon[max(best - 1, 0)], epsilon[min(best + 1, epsilon.size - 1)]
    # Beyond e^epsilon = 1 / rate nothing is left to gain; far on the left all are caught.
    if best == 0 and first > -80:
        first = 3 * first - 1
    if best == epsilon.size - 1 and last < -math.log(rate):
        last = 3 * last + 1
    return np.linspace(first, last, _POINTS) if last - first > 1e-5 else np.empty(0)


def _bracket(epsilon: NDArray, low: NDArray, high: NDArray, rate: float) -> tuple[float, float]:
    x = np.exp(epsilon)
    upper = float(np.min(high + rate * x))
    # At x = 0 the sum is 1, and from 1 / rate on it is no less.
    inside = x < 1 / rate
    x = np.concatenate([[0.0], x[inside], [1 / rate]])
    low = np.concatenate([[1.0], low[inside], [0.0]]) + rate * x
    high = np.concatenate([[1.0], high[inside], [1.0]]) + rate * x
    # Announcing everybody at random is a test as well.
    return min(max(_least(x, low, high), rate), upper), min(max(upper, rate), 1.0)


def _least(x: NDArray, low: NDArray, high: NDArray) -> float:
    """Lower bound on the minimum over [x_0, x_n] of a convex function between `low` and `high`."""
    gap = np.diff(x)
    # Over cell k: the chord of cell k - 1 prolonged to the right, that of k + 1 to the left.
    # At the ends a line steep enough to say nothing.
    right = np.append(-1e200, (low[1:-1] - high[:-2]) / gap[:-1])
    left = np.append((low[1:-1] - high[2:]) / gap[1:], -1e200)
    # The larger of two lines is least at an end of the cell or where they meet.
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (low[1:] + left * gap - low[:-1]) / ((right + left) * gap)
    values = [
        np.maximum(low[:-1] + right * part * gap, low[1:] + left * (1 - part) * gap)
        for part in (0.0, np.clip(np.nan_to_num(meet, nan=0.5), 0.0, 1.0), 1.0)
    ]
    return float(np.min(values))
