"""Slow ways to the truth about PATE: laws of noisy winners, and the worst neighbour."""

import math
from collections.abc import Iterator
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from dplearn.book.chapters.mechanisms.truths import LAPLACE, argmax_log_probability
from dplearn.book.kit import oracles
from dplearn.book.kit.oracles import Density


def neighbours(votes: ArrayLike) -> Iterator[NDArray]:
    """All counts that differ by the vote of one teacher."""
    votes = np.asarray(votes)
    for a, b in permutations(range(votes.size), 2):
        if votes[a] > 0:
            moved = votes.copy()
            moved[a] -= 1
            moved[b] += 1
            yield moved


def gnmax_law(votes: ArrayLike, noise_std: float) -> NDArray:
    """Log probabilities of the winners under Gaussian noise, by the trapezoidal rule."""
    counts = np.asarray(votes, dtype=float) / noise_std
    x = np.linspace(counts.min() - 12, counts.max() + 12, 2001)
    below = log_ndtr(x - counts[:, None])
    wins = oracles.log_normal()(x - counts[:, None]) + below.sum(axis=0) - below
    law = np.logaddexp.reduce(wins, axis=1) + math.log(x[1] - x[0])
    # What is nearly certain is known best from what is not.
    first = int(np.argmax(law))
    law[first] = math.log1p(-float(np.sum(np.exp(np.delete(law, first)))))
    return law


def log_moment(log_p: NDArray, log_q: NDArray, moment: float) -> float:
    """ln E_P[e^(moment L)], good to many digits also where it is tiny."""
    x = moment * (log_p - log_q)
    total = float(np.logaddexp.reduce(log_p + x))
    if total > 1:
        return total
    # p (e^x - 1), where p may be far less than 1 and e^x far more.
    gains = np.where(
        x > 1, np.exp(log_p + x) - np.exp(log_p), np.exp(log_p) * np.expm1(np.fmin(x, 1))
    )
    return math.log1p(math.fsum(gains))


def worst_divergence(log_p: NDArray, log_q: NDArray, order: float) -> float:
    """The larger Rényi divergence of the two directions."""
    moment = order - 1
    return max(log_moment(log_p, log_q, moment), log_moment(log_q, log_p, moment)) / moment


def gnmax_worst(*, votes, noise_std, order, reverse=False):
    """The largest Rényi divergence of the winner at these votes from that at a neighbour."""
    law = gnmax_law(votes, noise_std)
    pairs = ((law, gnmax_law(other, noise_std)) for other in neighbours(votes))
    turned = ((q, p) if reverse else (p, q) for p, q in pairs)
    return max(log_moment(p, q, order - 1) for p, q in turned) / (order - 1)


def flips(votes: ArrayLike, log_density: Density, log_cdf: Density, reach: float) -> float:
    """Probability that not the first class wins: an integral for each of the others."""
    counts = np.asarray(votes, dtype=float)
    ends = float(counts.min() - reach), float(counts.max() + reach)

    def wins(j: int) -> float:
        rivals = np.delete(counts, j)[:, None]
        log_f = lambda x: log_density(x - counts[j]) + log_cdf(x - rivals).sum(axis=0)
        return math.exp(oracles.log_integral(log_f, *ends, kinks=counts.tolist()))

    return math.fsum(wins(j) for j in range(1, counts.size))


def lnmax_flips(*, votes, inverse_scale):
    """The same with Laplace noise."""
    log_cdf, scale = lambda x: LAPLACE[1](inverse_scale * x), 1 / inverse_scale
    return flips(votes, oracles.log_laplace(0.0, scale), log_cdf, 60 / inverse_scale)


def gnmax_flips(*, votes, noise_std):
    """The same with Gaussian noise."""
    log_cdf = lambda x: log_ndtr(x / noise_std)
    return flips(votes, oracles.log_normal(0.0, noise_std), log_cdf, 14 * noise_std)


def largest_moment(*, moment, inverse_scale, flip):
    """The largest log-moment among pairs of three outcomes that meet the hypothesis.

    The likely outcome has probability 1 - rare, rare <= flip; the others have the extreme ratios.
    """
    epsilon = 2 * inverse_scale
    rare = flip * np.linspace(0.02, 1.0, 50)[:, None]
    rare_q = rare * np.exp(epsilon * np.linspace(-1, 1, 401))
    up = (rare * math.exp(epsilon) - rare_q) / (2 * math.sinh(epsilon))
    ratio = np.log1p(-rare) - np.log1p(-np.minimum(rare_q, 0.999999))
    gain = (1 - rare) * np.expm1(moment * ratio) + up * math.expm1(moment * epsilon)
    gain += (rare - up) * math.expm1(-moment * epsilon)
    return math.log1p(float(np.max(gain[(rare_q < 0.999999) & (np.abs(ratio) <= epsilon)])))


def moment_of_a_tie(*, moment, inverse_scale):
    """The log-moment of two classes where the votes are equal."""
    ahead = (np.array([lead, 0.0]) * inverse_scale for lead in (0.0, 2.0))
    wins = [argmax_log_probability(scores, np.array([0, 1]), LAPLACE) for scores in ahead]
    log_p, log_q = (np.array([x, math.log(-math.expm1(x))]) for x in wins)
    return moment * worst_divergence(log_p, log_q, moment + 1)
