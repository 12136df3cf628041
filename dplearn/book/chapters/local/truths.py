"""Slow ways to the truth about local DP: all counts, all reports, whole channels, simulations."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dplearn.book.kit.entry import Interval


def binomial(trials: int, rate: float, last: int | None = None) -> NDArray:
    """Probabilities of 0, 1, ... `last` successes, or of all numbers."""
    k = np.arange((trials if last is None else last) + 1.0)
    ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    return np.exp(ways + k * math.log(rate) + (trials - k) * math.log1p(-rate))


def _variance(law: NDArray, values: NDArray) -> float:
    mean = law @ values / law.sum()
    return float(law @ (values - mean) ** 2 / law.sum())


def share_estimates(*, epsilon, users):
    """The unbiased estimate of the share of ones, for each number of ones that is reported."""
    truth = 1 / (1 + math.exp(-epsilon))
    return (np.arange(users + 1) / users - (1 - truth)) / (2 * truth - 1)


def share_variance(*, epsilon, users, share):
    """Variance of the estimate for users who are given, a `share` of them ones."""
    ones, lie = round(share * users), 1 / (1 + math.exp(epsilon))
    law = np.convolve(binomial(ones, 1 - lie), binomial(users - ones, lie))
    return _variance(law, share_estimates(epsilon=epsilon, users=users))


def sampled_share_variance(*, epsilon, users, share):
    """The same when each user was drawn at random."""
    lie = 1 / (1 + math.exp(epsilon))
    law = binomial(users, share * (1 - lie) + (1 - share) * lie)
    return _variance(law, share_estimates(epsilon=epsilon, users=users))


def symbol_variance(*, epsilon, users, symbols, frequency=0.0):
    """Variance of one symbol's estimated frequency, by inverting the whole channel."""
    channel = np.full((symbols, symbols), 1.0) + np.diag(np.full(symbols, math.expm1(epsilon)))
    channel /= channel.sum(axis=1, keepdims=True)
    # Row i is the law of the report on symbol i; in the mean `score` counts symbol 0.
    score = np.linalg.solve(channel, np.eye(symbols)[0])
    return _mixed_variance(channel[0], channel[1], score, frequency) / users


def bit_variance(*, epsilon, users, frequency=0.0):
    """The same for one bit of optimized unary encoding."""
    lie = 1 / (1 + math.exp(epsilon))
    channel = np.array([[0.5, 0.5], [lie, 1 - lie]])
    score = np.linalg.solve(channel, [1.0, 0.0])
    return _mixed_variance(channel[0], channel[1], score, frequency) / users


def _mixed_variance(yes: NDArray, no: NDArray, score: NDArray, frequency: float) -> float:
    """Mean variance of the reports of users a `frequency` of whom have the symbol."""
    return frequency * _variance(yes, score) + (1 - frequency) * _variance(no, score)


def simulated(*, epsilon, users, frequency=0.0):
    """Variance of 20,000 simulated estimates, up to an error of six standard deviations."""
    trials = 20_000
    rng = np.random.default_rng([int(1e6 * epsilon), users, int(1e6 * frequency)])
    lie, ones = 1 / (1 + math.exp(epsilon)), round(frequency * users)
    reported = rng.binomial(ones, 0.5, trials) + rng.binomial(users - ones, lie, trials)
    found = float(np.var((reported / users - lie) / (0.5 - lie), ddof=1))
    # Of the variance's own estimate; sums of few bits have heavier or lighter tails than normal.
    deviations = (reported - reported.mean()) ** 2
    error = 6 * float(np.std(deviations) / np.mean(deviations)) / math.sqrt(trials)
    return Interval(found * (1 - error), found * (1 + error), confidence=1 - 1e-8)


def where_variances_meet(*, epsilon):
    """The number of symbols, interpolated, at which both variances are equal."""

    def excess(symbols: int) -> float:
        bits = bit_variance(epsilon=epsilon, users=1)
        return symbol_variance(epsilon=epsilon, users=1, symbols=symbols) / bits - 1

    low, high = 2, 4
    while excess(high) < 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low - excess(low) / (excess(high) - excess(low))


def _string_law(*bits: NDArray) -> NDArray:
    """Law of independent bits: a probability for each string, from the laws (zero, one)."""
    return reduce(np.kron, bits)


def _largest_log_ratio(p: NDArray, q: NDArray) -> float:
    return float(np.max(np.log(p) - np.log(q)))


def one_hot_epsilon(*, one, other, symbols):
    """Largest log ratio of all strings, for the first symbol and for the second."""
    hot, cold = np.array([1 - one, one]), np.array([1 - other, other])
    rest = [cold] * (symbols - 2)
    return _largest_log_ratio(_string_law(hot, cold, *rest), _string_law(cold, hot, *rest))


def best_other(*, epsilon):
    """The q of the smallest variance for an absent item, found by trying all p."""
    from scipy.optimize import minimize_scalar

    def parts(log_odds: float) -> tuple[float, float]:
        return 1 / (1 + math.exp(-log_odds)), 1 / (1 + math.exp(epsilon - log_odds))

    def variance(log_odds: float) -> float:
        p, q = parts(log_odds)
        return math.log(_variance(np.array([1 - q, q]), np.array([-q, 1 - q]) / (p - q)))

    found = minimize_scalar(variance, bracket=(-1.0, epsilon + 1.0), tol=1e-10)
    return parts(found.x)[1]  # type: ignore[union-attr]


def _permanent(noise: float) -> NDArray:
    """Channel of a bit: kept, or replaced by a fair coin with probability `noise`."""
    return (1 - noise) * np.eye(2) + noise * np.full((2, 2), 0.5)


def _bloom_epsilon(channel: NDArray, hashes: int) -> float:
    """Largest log ratio of all strings, for two values that set disjoint bits of a filter."""
    zero, one = channel
    p, q = [one] * hashes + [zero] * hashes, [zero] * hashes + [one] * hashes
    return _largest_log_ratio(_string_law(*p), _string_law(*q))


def permanent_epsilon(*, noise, hashes):
    """Largest log ratio of the permanent bits."""
    return _bloom_epsilon(_permanent(noise), hashes)


def one_report_epsilon(*, noise, hashes, zero_rate, one_rate):
    """Largest log ratio of one report, randomized twice."""
    report = np.array([[1 - zero_rate, zero_rate], [1 - one_rate, one_rate]])
    return _bloom_epsilon(_permanent(noise) @ report, hashes)
