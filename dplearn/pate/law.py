r"""Exact laws of what is released at given votes, and what their computation may be off by.

Class j wins with probability
:math:`p_j = \int \varphi(y - c_j) \prod_{i\ne j} \Phi(y - c_i)\,dy`, counts being in deviations of
the noise. The trapezoidal rule is as good as exact: on a line at height a in the complex plane
:math:`|\varphi(y + ia)| = e^{a^2/2}\varphi(y)` and, integrating along that line,
:math:`|\Phi(y + ia)| \le e^{a^2/2}\Phi(y)`, so that the error of steps h is at most
:math:`2 e^{ka^2/2} / (e^{2\pi a/h} - 1)` of :math:`p_j` itself, for k classes and any a > 0; with
:math:`a = 2\pi/(hk)` this is :math:`2e^{-2\pi^2/(h^2 k)}`. The integrand is log-concave, with a
second logarithmic derivative between -k and -1: what lies further than 9 from its mode is less
than :math:`2\sqrt{k}\,\Phi(-9)` of the whole.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn.ground import validate
from dplearn.pate.plan import PATE

_REACH = 9.0
# Numbers at once: a published vote takes far fewer, and a made-up one would take all memory.
_LARGEST = 5e7
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class Laws(NamedTuple):
    """Log probabilities of the outcomes at one row of votes and at its neighbours."""

    here: NDArray  # (outcomes,)
    neighbours: NDArray  # (n_neighbours, outcomes): a vote moved from one class to another
    error: float  # what any of these logarithms may be off by


def laws(counts: NDArray, plan: PATE) -> Laws:
    """Laws of what one query releases: the winner, and no answer last where there is a check.

    Neighbours that differ only in which of several equally frequent classes is meant are one.

    Examples
    --------
    >>> np.exp(laws(np.array([150, 50]), PATE(answers=1, noise_std=40)).here).round(8)
    array([0.96145006, 0.03854994])
    """
    if plan.noise != "gaussian":
        raise validate.unsupported("the law of the winner under Laplace noise", "use 'gaussian'")
    moves = _moves(counts)
    log_p = _certain(_winners(counts / plan.noise_std, moves, 1 / plan.noise_std))
    if plan.check_std is not None and plan.threshold is not None:
        moved = [counts + _one(b, counts.size) - _one(a, counts.size) for a, b in moves]
        largest = np.max([counts, *moved], axis=1, keepdims=True)
        place = (largest - plan.threshold) / plan.check_std
        log_p = np.hstack([log_ndtr(place) + log_p, log_ndtr(-place)])
    # Logarithms of Phi are good to some units in the last place; there are k in a product.
    largest_log = -float(np.min(log_p))
    error = 2.0**-47 * counts.size * (1 + largest_log)
    return Laws(log_p[0], log_p[1:], error)


def _moves(counts: NDArray) -> list[tuple[int, int]]:
    """Classes from and to which a vote may move, one pair for each pair of counts."""
    pairs = {}
    for a in np.flatnonzero(counts):
        for b in range(counts.size):
            if a != b:
                pairs.setdefault((counts[a], counts[b]), (int(a), b))
    return list(pairs.values())


def _one(place: int, size: int) -> NDArray:
    return np.eye(1, size, place, dtype=np.int64)[0]


def _winners(c: NDArray, moves: list[tuple[int, int]], shift: float) -> NDArray:
    """Log probabilities of the winners here, then at every move, shape (1 + moves, classes)."""
    k = c.size
    h = math.pi * math.sqrt(2 / (k * math.log(2 / 1e-17)))
    # The slope of the logarithm is negative there: k phi / Phi (b) < b.
    b = 1 + math.sqrt(2 * math.log(k))
    start, end = c.min() - _REACH - shift, c.max() + b + _REACH + shift + h
    if (numbers := (1 + len(moves)) * k * (end - start) / h) > _LARGEST:
        raise ValueError(
            f"Expected votes and noise whose law takes at most {_LARGEST:.0e} numbers, got "
            f"{numbers:.1e}: {k} classes, and counts up to {np.ptp(c):.3g} deviations apart."
        )
    y = np.arange(start, end, h)
    x = y - (c[:, None] + shift * np.array([0, -1, 1])[:, None, None])
    # Of every class as it is, with a vote less and a vote more: log Phi, and log of phi / Phi.
    below = log_ndtr(x)
    rise = -0.5 * x**2 - _HALF_LOG_2PI - below
    total = below[0].sum(axis=0)
    a, b_ = np.array(moves, dtype=int).reshape(-1, 2).T
    moved = total - below[0, a] - below[0, b_] + below[1, a] + below[2, b_]
    exponent = np.concatenate([[total], moved])[:, None, :] + rise[0]
    rows = np.arange(len(moves))
    exponent[rows + 1, a] = moved + rise[1, a]
    exponent[rows + 1, b_] = moved + rise[2, b_]
    top = exponent.max(axis=2, keepdims=True)
    return np.log(np.exp(exponent - top).sum(axis=2)) + top[..., 0] + math.log(h)


def _certain(log_p: NDArray) -> NDArray:
    """The same, the likeliest winner known from the others."""
    rows, first = np.arange(len(log_p)), np.argmax(log_p, axis=1)
    others = np.exp(log_p)
    others[rows, first] = 0.0
    certain = log_p.copy()
    certain[rows, first] = np.log1p(-others.sum(axis=1))
    return certain
