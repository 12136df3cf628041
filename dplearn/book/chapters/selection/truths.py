"""Slow ways to the truth for choices: repeated runs, noisy iterations, sparse vectors."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from dplearn.book.chapters.composition.truths import adaptive_renyi
from dplearn.book.kit import oracles


def repetitions(*, shape, stop):
    """Probability of k = 1, 2, ... repetitions; those left out weigh less than 1e-17."""
    k = np.arange(1.0, math.ceil(60 / stop) + 1)
    # From k to k + 1 the weight changes by (1 - stop) (k + shape) / (k + 1).
    steps = math.log1p(-stop) + np.log(k[:-1] + shape) - np.log(k[1:])
    weights = np.exp(np.concatenate([[0.0], np.cumsum(steps)]))
    return weights / weights.sum()


def best_of(scores: ArrayLike, counts: NDArray) -> NDArray:
    """Law of the best score of K runs, where P(K = k) is `counts[k - 1]`.

    `scores` are the probabilities of one run's scores, the worst first.
    """
    scores, k = np.asarray(scores, dtype=float), np.arange(1, counts.size + 1)
    below = np.concatenate([[0.0], np.cumsum(scores)])
    # All of k runs are at most y, less all of them below y: free of cancellation.
    with np.errstate(divide="ignore"):
        share = np.log1p(-scores / below[1:])
    first = np.minimum(below[1:], 1.0)[:, None] ** k
    law = (first * -np.expm1(k * share[:, None])) @ counts
    return law / law.sum()


def best_renyi(*, p, q, order, shape, stop):
    """Rényi divergence of the best of a random number of runs, on two neighbours."""
    counts = repetitions(shape=shape, stop=stop)
    return oracles.finite_renyi(p=best_of(p, counts), q=best_of(q, counts), order=order)


def best_epsilon(p: ArrayLike, q: ArrayLike, counts: NDArray) -> float:
    """The largest log ratio of the best score's laws on two neighbours."""
    return oracles.worst_event_epsilon(p=best_of(p, counts), q=best_of(q, counts))


def last_iterate_renyi(
    *, order, lipschitz, noise_std, step_size, smoothness, steps, record, width, concave=False
):
    r"""Rényi divergence of the last iterates that differ in the `record`-th loss, from 1.

    Noisy projected gradient descent in one dimension starts in 0 and stays within `width`
    standard deviations of a step. All other losses have the derivative :math:`L\tanh(\beta w/L)`,
    the loss in question has L or -L. Laws are propagated on Gauss nodes; the projection leaves
    atoms at both ends.
    """
    spread, radius = noise_std * step_size, width * step_size * noise_std
    nodes, weights = _panels(-radius, radius, spread)
    points = np.concatenate([nodes, [-radius, radius]])

    def step(slopes: ArrayLike, start: NDArray = points) -> NDArray:
        """Masses at the nodes, then at the two ends, from each start."""
        means = start - step_size * slopes
        inside = weights * np.exp(oracles.log_normal(0.0, spread)(nodes - means[:, None]))
        ends = ndtr((-radius - means) / spread), ndtr((means - radius) / spread)
        return np.column_stack([inside, *ends])

    slopes = lipschitz * np.tanh(smoothness * points / lipschitz)
    ordinary, log_laws = step(-slopes if concave else slopes), []
    for slope in (lipschitz, -lipschitz):
        law = step(slope if record == 1 else 0.0, np.zeros(1))[0]  # 0 is no node
        special = step(slope)
        for t in range(2, steps + 1):
            law = law @ (special if t == record else ordinary)
        # What underflows makes the divergence too small, never too large.
        log_laws.append(np.log(np.maximum(law, 1e-300)))
    # A node's mass is density times weight, and the weights cancel to one power.
    log_p, log_q = log_laws
    return float(np.logaddexp.reduce(order * log_p + (1 - order) * log_q)) / (order - 1)


def _panels(low: float, high: float, width: float) -> tuple[NDArray, NDArray]:
    """Gauss nodes and weights on panels of about twice `width`."""
    x, w = oracles.legendre(16)
    count = math.ceil((high - low) / (2 * width))
    half = (high - low) / (2 * count)
    centres = low + half * (2 * np.arange(count) + 1)
    return (centres[:, None] + half * x).ravel(), np.tile(half * w, count)


def two_step_log_moment(*, order, noise, noise_below, noise_above, threshold):
    r"""log of the mean of :math:`e^{\lambda L}`; what comes out first sets the second noise."""
    noises = {"noise": noise, "below": noise_below, "above": noise_above, "cut": threshold}
    return order * adaptive_renyi(order=order + 1, **noises)


# Sparse vectors: noisy answers are compared to one noisy threshold, 0


def log_chance(outcome, answers, *, threshold_scale, query_scale, highest=math.inf):
    """log probability that of these queries exactly those marked True come out above.

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


def log_ratio(outcome: Sequence[bool], moves: ArrayLike, **about: float) -> float:
    """How much likelier in logs an outcome is for answers at the threshold than for moved ones."""
    still = np.zeros(len(outcome))
    return log_chance(outcome, still, **about) - log_chance(outcome, moves, **about)


def sparse_vector_epsilon(*, queries, threshold_scale, query_scale, positives):
    """The largest log ratio over all outcomes of the sparse vector, which stops after `positives`.

    `queries` holds the answers for one dataset, and how much they differ for its neighbour.
    """
    scales = {"threshold_scale": threshold_scale, "query_scale": query_scale}
    pair = np.asarray(queries[0], dtype=float), np.add(*queries)
    ratios = [-math.inf]
    for outcome in outcomes(pair[0].size, positives):
        log_p, log_q = (log_chance(outcome, x[: len(outcome)], **scales) for x in pair)
        if log_p > -math.inf:
            ratios.append(log_p - log_q)
    return max(ratios)


def outcomes(size: int, positives: int) -> set[tuple[bool, ...]]:
    """All ways to go through the queries, ended by the last positive that is allowed."""
    ways = set()
    for outcome in itertools.product((False, True), repeat=size):
        above = list(itertools.accumulate(map(int, outcome)))
        ways.add(outcome[: above.index(positives) + 1] if positives in above else outcome)
    return ways


def best_split(*, positives, monotone):
    """Ratio at which the variance of a noisy answer less the noisy threshold is smallest."""
    from scipy.optimize import minimize_scalar

    def variance(log_ratio: float) -> float:
        first = 1 / (1 + math.exp(log_ratio))
        scales = 1 / first, (1 if monotone else 2) * positives / (1 - first)
        return math.log(sum(2 * scale**2 for scale in scales))

    return math.exp(minimize_scalar(variance, bracket=(0.0, 3.0), tol=1e-10).x)  # type: ignore[union-attr]
