"""The truth about compositions: every sequence of outcomes, every pair of parts, every chain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dplearn.book.kit import oracles as oracles

# Releases on finite alphabets


def leaky_coin(*, epsilon: float, delta: float) -> tuple[NDArray, NDArray]:
    """The two laws of the worst (epsilon, delta)-release: all is told, or a coin is."""
    p, q = oracles.randomized_response(epsilon=epsilon)
    rest = 1 - delta
    return np.array([delta, *(rest * p), 0.0]), np.array([0.0, *(rest * q), delta])


def joint(laws: Iterable[ArrayLike]) -> NDArray:
    """Probability of every sequence of independent outcomes."""
    return reduce(lambda a, b: np.outer(a, b).ravel(), map(np.asarray, laws))


def enumerated_delta(*, epsilons: Sequence[float], deltas: Sequence[float], total: float) -> float:
    """Exact delta at epsilon `total` of worst releases, one for each epsilon and delta."""
    p, q = _all_sequences(epsilons, deltas)
    return math.fsum(np.maximum(p - math.exp(total) * q, 0.0))


def enumerated_epsilon(
    *, epsilons: Sequence[float], deltas: Sequence[float], delta: float
) -> float:
    """Smallest epsilon >= 0 that they allow at delta."""
    p, q = _all_sequences(epsilons, deltas)
    if delta == 0:
        return float(np.max(np.log(p) - np.log(q)))
    return oracles.smallest(
        lambda total: math.fsum(np.maximum(p - math.exp(total) * q, 0.0)) <= delta,
        low=0.0,
        high=2 * math.fsum(epsilons),
    )


def _all_sequences(epsilons: Sequence[float], deltas: Sequence[float]) -> tuple[NDArray, NDArray]:
    pairs = [
        leaky_coin(epsilon=e, delta=d) if d > 0 else oracles.randomized_response(epsilon=e)
        for e, d in zip(epsilons, deltas, strict=True)
    ]
    return joint(p for p, _ in pairs), joint(q for _, q in pairs)


def parts_epsilon(*, epsilons: Sequence[float], moves: bool) -> float:
    """Worst event of releases on disjoint parts, when a record comes, or also moves over.

    Each release is a coin that lies less if the record is in its part.
    """
    n = len(epsilons)
    coins = [oracles.randomized_response(epsilon=e) for e in epsilons]
    # Number of the part that holds the record before and after; n for none of them.
    pairs = itertools.permutations(range(n), 2) if moves else ((i, n) for i in range(n))

    def law(holder: int) -> NDArray:
        return joint(coins[i][i != holder] for i in range(n))

    return max(oracles.worst_event_epsilon(p=law(i), q=law(j)) for i, j in pairs)


# Concentrated DP and groups

_ORDERS = np.geomspace(1e-4, 1e3, 60) + 1


def finite_rho(p: ArrayLike, q: ArrayLike) -> float:
    """The largest D_a / a over a grid of orders above 1, in both orders of the pair."""
    log_p, log_q = np.log(p)[:, None], np.log(q)[:, None]

    def divergences(a: NDArray, b: NDArray) -> NDArray:
        return np.logaddexp.reduce(_ORDERS * a + (1 - _ORDERS) * b) / (_ORDERS - 1)

    both = np.maximum(divergences(log_p, log_q), divergences(log_q, log_p))
    return float(np.max(both / _ORDERS))


def chain_delta(*, epsilon: float, delta: float, group: int) -> float:
    """Exact delta at group * epsilon over chains of `group` neighbours.

    An event of probability x has at most min(e^epsilon x + delta, 1 - e^-epsilon (1 - x - delta))
    under a neighbour: walk the chain from every x.
    """
    start = np.append(0.0, np.geomspace(1e-12, 1.0, 200))
    excess, x = np.zeros_like(start), start
    for step in range(1, group + 1):
        least = math.exp(step * epsilon) * start
        ceiling = 1 - math.exp(-epsilon) * np.maximum(1 - x - delta, 0.0)
        # x - e^(step epsilon) start, without the difference as long as no ceiling is hit.
        excess = np.minimum(math.exp(epsilon) * excess + delta, ceiling - least)
        x = np.minimum(math.exp(epsilon) * x + delta, ceiling)
    return float(np.max(excess))


def coin_rho(*, epsilon: float) -> float:
    """The largest D_a / a of randomized response over orders from 1 on."""
    truth, lie = oracles.randomized_response(epsilon=epsilon)[0]
    excess = np.geomspace(1e-9, 1e4, 400)
    # ln E_P[e^((a-1) L)] for L = epsilon with the odds of the truth, else -epsilon.
    moment = np.where(
        excess * epsilon < 1,
        np.log1p(truth * _expm1(excess * epsilon) + lie * np.expm1(-excess * epsilon)),
        np.logaddexp(math.log(truth) + excess * epsilon, math.log(lie) - excess * epsilon),
    )
    at_one = oracles.mean_loss(p=[truth, lie], q=[lie, truth])
    return max(at_one, float(np.max(moment / (excess * (1 + excess)))))


def _expm1(x: NDArray) -> NDArray:
    return np.expm1(np.minimum(x, 1.0))


# Gaussians


def gaussians_mu(*, mus: Sequence[float]) -> float:
    """mu of the Gaussian pair with the total variation distance of several Gaussian releases.

    The law of the summed loss is a convolution of N(mu^2/2, mu^2), by the trapezoidal rule.
    """
    *others, last = sorted(mus)
    step = min(mus) / 4
    centre, weights = 0.0, np.ones(1)
    for mu in others:
        half = math.ceil(12 * mu / step)
        z = step * np.arange(-half, half + 1) / mu
        weights = np.convolve(weights, np.exp(-z * z / 2) * step / (mu * math.sqrt(2 * math.pi)))
        centre += mu * mu / 2
    losses = centre + step * (np.arange(weights.size) - weights.size // 2)
    log_last = oracles.log_normal(last * last / 2, last)

    def log_f(x: NDArray) -> NDArray:
        density = np.exp(log_last(x[:, None] - losses)) @ weights
        with np.errstate(divide="ignore"):
            return np.log(density) + np.log(-np.expm1(-x))

    spread = math.fsum(mus)
    distance = math.exp(oracles._gauss(log_f, 0.0, spread**2 + 12 * spread, 24))
    return float(2 * ndtri((1 + distance) / 2))


def adaptive_renyi(*, order: float, noise: float, below: float, above: float, cut: float) -> float:
    """Rényi divergence of a Gaussian release whose value decides the noise of the next one.

    Both releases move by 1; the second has noise `below` if the first fell below `cut`.
    """

    def divergence(std: float) -> float:
        laws = oracles.log_normal(1.0, std), oracles.log_normal(0.0, std)
        return oracles.density_renyi(*laws, order, -1e5, 1e5)

    next_cost = {std: (order - 1) * divergence(std) for std in (below, above)}
    log_p, log_q = oracles.log_normal(1.0, noise), oracles.log_normal(0.0, noise)

    def log_f(x: NDArray) -> NDArray:
        later = np.where(x < cut, next_cost[below], next_cost[above])
        return order * log_p(x) + (1 - order) * log_q(x) + later

    return oracles.log_integral(log_f, -1e5, 1e5, kinks=[cut]) / (order - 1)


def first_below(bound: Callable[[float], float], line: Callable[[float], float]) -> float:
    """The number of releases, not rounded, from which `bound` is below `line`; inf if never."""

    def better(log_count: float) -> bool:
        return bound(math.exp(log_count)) < line(math.exp(log_count))

    return math.exp(oracles.smallest(better, low=0.0, high=40 * math.log(10)))
