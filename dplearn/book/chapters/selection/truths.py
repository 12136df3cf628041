"""Slow ways to the truth for choices: repeated runs, noisy iterations, sparse vectors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.book.kit import oracles as oracles

# The best of several runs


def repetitions(*, shape: float, stop: float) -> NDArray:
    """Probability of k = 1, 2, ... repetitions, up to a rest that weighs less than 1e-17."""
    last = math.ceil(60 / stop)
    k = np.arange(1.0, last + 1)
    # From k to k + 1 the weight changes by (1 - stop) (k + shape) / (k + 1).
    steps = math.log1p(-stop) + np.log(k[:-1] + shape) - np.log(k[1:])
    weights = np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
    return weights / weights.sum()


def best_of(scores: ArrayLike, counts: NDArray) -> NDArray:
    """Law of the best score of K runs, where P(K = k) is `counts[k - 1]`.

    Parameters
    ----------
    scores : array_like
        Probabilities of one run's scores, the worst first.
    counts : ndarray
    """
    scores, k = np.asarray(scores, dtype=float), np.arange(1, counts.size + 1)
    below = np.concatenate([[0.0], np.cumsum(scores)])
    # All of k runs are at most y, less all of them below y: free of cancellation.
    with np.errstate(divide="ignore"):
        share = np.log1p(-scores / below[1:])
    first = np.minimum(below[1:], 1.0)[:, None] ** k
    law = (first * -np.expm1(k * share[:, None])) @ counts
    return law / law.sum()


def best_of_pair(
    *, p: ArrayLike, q: ArrayLike, shape: float, stop: float
) -> tuple[NDArray, NDArray]:
    """Laws of the best of a random number of runs, on two neighbours."""
    counts = repetitions(shape=shape, stop=stop)
    return best_of(p, counts), best_of(q, counts)


def best_of_fixed(*, p: ArrayLike, q: ArrayLike, runs: int) -> tuple[NDArray, NDArray]:
    """The same for exactly `runs` runs."""
    counts = np.eye(runs)[-1]
    return best_of(p, counts), best_of(q, counts)


# Noisy projected gradient descent in one dimension


def last_iterate_renyi(
    *,
    order: float,
    lipschitz: float,
    noise_std: float,
    step_size: float,
    smoothness: float,
    steps: int,
    record: int,
    radius: float,
    concave: bool = False,
) -> float:
    r"""Rényi divergence of the last iterates that differ in the `record`-th loss, from 1.

    The iterate starts in 0 and stays in [-radius, radius]. All other losses have the derivative
    :math:`L\tanh(\beta w/L)`, the loss in question has L or -L. Laws are propagated on Gauss
    nodes; the projection leaves atoms at both ends.
    """
    spread = noise_std * step_size
    nodes, weights = _panels(-radius, radius, spread)
    points = np.concatenate([nodes, [-radius, radius]])
    slopes = lipschitz * np.tanh(smoothness * points / lipschitz) * (-1 if concave else 1)
    ordinary = _transition(points - step_size * slopes, nodes, weights, radius, spread)
    log_laws = []
    for sign in (1, -1):
        changed = points - sign * step_size * lipschitz
        special = _transition(changed, nodes, weights, radius, spread)
        law = np.zeros(points.size)  # in step 1 all starts from 0, which is no node
        for t in range(1, steps + 1):
            if t == 1:
                slope = sign * lipschitz if record == 1 else 0.0
                start = np.array([-step_size * slope])
                law = _transition(start, nodes, weights, radius, spread)[0]
            else:
                law = law @ (special if t == record else ordinary)
        # What underflows makes the divergence too small, never too large.
        log_laws.append(np.log(np.maximum(law, 1e-300)))
    # A node's mass is density times weight, and the weights cancel to one power.
    log_p, log_q = log_laws
    return float(np.logaddexp.reduce(order * log_p + (1 - order) * log_q)) / (order - 1)


def _panels(low: float, high: float, width: float) -> tuple[NDArray, NDArray]:
    """Gauss nodes and weights on panels of about twice `width`."""
    x, w = np.polynomial.legendre.leggauss(16)
    count = math.ceil((high - low) / (2 * width))
    half = (high - low) / (2 * count)
    centres = low + half * (2 * np.arange(count) + 1)
    return (centres[:, None] + half * x).ravel(), np.tile(half * w, count)


def _transition(
    means: NDArray, nodes: NDArray, weights: NDArray, radius: float, std: float
) -> NDArray:
    """Masses of a clipped Gaussian around each mean: at the nodes, then at the two ends."""
    from scipy.special import ndtr

    inside = weights * np.exp(oracles.log_normal(0.0, std)(nodes - means[:, None]))
    ends = ndtr((-radius - means) / std), ndtr((means - radius) / std)
    return np.column_stack([inside, *ends])


# Adaptive composition of two Gaussian releases


def two_step_log_moment(
    *, order: float, noise: float, noise_below: float, noise_above: float, threshold: float
) -> float:
    r"""log of the mean of :math:`e^{\lambda L}`; what comes out first sets the second noise."""
    after = [_gaussian_log_moment(order, std) for std in (noise_below, noise_above)]
    log_p, log_q = oracles.log_normal(1.0, noise), oracles.log_normal(0.0, noise)

    def log_f(x: NDArray) -> NDArray:
        return (order + 1) * log_p(x) - order * log_q(x) + np.where(x < threshold, *after)

    return oracles.log_integral(log_f, -1e3 * noise, 1e3 * noise, kinks=[threshold])


def _gaussian_log_moment(order: float, noise: float) -> float:
    """log E_P[(P/Q)^order] of one Gaussian release of sensitivity 1."""
    log_p, log_q = oracles.log_normal(1.0, noise), oracles.log_normal(0.0, noise)
    return oracles.log_integral(
        lambda x: (order + 1) * log_p(x) - order * log_q(x), -1e3 * noise, 1e3 * noise
    )


# Sparse vectors: noisy answers are compared to one noisy threshold, 0


def log_chance(
    outcome: Sequence[bool],
    answers: ArrayLike,
    *,
    threshold_scale: float,
    query_scale: float,
    highest: float = math.inf,
) -> float:
    """log probability that exactly the queries marked True are found above the threshold.

    By integration over the threshold's noise, up to `highest`; a query scale of 0 means that
    answers are compared without noise.
    """
    answers = np.asarray(answers, dtype=float)
    sign = np.where(outcome, -1.0, 1.0)[:, None]

    def log_f(z: NDArray) -> NDArray:
        gap = sign * (z - answers[:, None])
        if query_scale == 0:
            chances = np.where(gap > 0, 0.0, -math.inf)
        else:
            x = -np.abs(gap) / query_scale - math.log(2)
            chances = np.where(gap < 0, x, np.log1p(-np.exp(x)))
        return oracles.log_laplace(0.0, threshold_scale)(z) + chances.sum(axis=0)

    far = 60 * threshold_scale + float(np.max(np.abs(answers)))
    return oracles.log_integral(log_f, -far, min(far, highest), kinks=[0.0, *answers])


def sparse_vector_epsilon(
    *,
    answers: ArrayLike,
    changes: ArrayLike,
    threshold_scale: float,
    query_scale: float,
    positives: int = 1,
) -> float:
    """The largest log ratio over all outcomes of the sparse vector on these neighbours.

    It stops after so many `positives`.
    """
    scales = {"threshold_scale": threshold_scale, "query_scale": query_scale}
    pair = np.asarray(answers, dtype=float), np.add(answers, changes)
    found = -math.inf
    for outcome in _outcomes(pair[0].size, positives):
        log_p, log_q = (log_chance(outcome, x[: len(outcome)], **scales) for x in pair)
        if log_p > -math.inf:
            found = max(found, log_p - log_q)
    return found


def _outcomes(size: int, positives: int) -> list[tuple[bool, ...]]:
    """All ways to go through the queries, ended by the last positive that is allowed."""
    found = {}
    for outcome in itertools.product((False, True), repeat=size):
        so_far = list(itertools.accumulate(map(int, outcome)))
        stop = so_far.index(positives) + 1 if positives in so_far else size
        found[outcome[:stop]] = None
    return list(found)
