"""Slow ways to the truth about local DP: all counts, all reports, whole channels, simulations."""

import math
from bisect import bisect_left
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


def _share_variance(law: NDArray, epsilon: float) -> float:
    """Variance of the unbiased estimate of the share of ones, by the number that is reported."""
    users, truth = law.size - 1, 1 / (1 + math.exp(-epsilon))
    return _variance(law, (np.arange(users + 1) / users - (1 - truth)) / (2 * truth - 1))


def share_variance(*, epsilon, users, share):
    """Variance of the estimate for users who are given, a `share` of them ones."""
    ones, lie = round(share * users), 1 / (1 + math.exp(epsilon))
    true, false = binomial(ones, 1 - lie), binomial(users - ones, lie)
    return _share_variance(np.convolve(true, false), epsilon)


def sampled_share_variance(*, epsilon, users, share):
    """The same when each user was drawn at random."""
    lie = 1 / (1 + math.exp(epsilon))
    return _share_variance(binomial(users, share * (1 - lie) + (1 - share) * lie), epsilon)


def response_channel(odds: float, values: int) -> NDArray:
    """Laws of the answer to `values` questions: the true one has so many times a lie's chance."""
    return (np.ones((values, values)) + (odds - 1) * np.eye(values)) / (odds + values - 1)


def _frequency_variance(channel: NDArray, users: int, frequency: float) -> float:
    """Variance of the first symbol's estimated frequency, by inverting the whole channel."""
    # Row i is the law of the report on symbol i; in the mean `score` counts symbol 0.
    score = np.linalg.solve(channel, np.eye(len(channel))[0])
    yes, no = (_variance(law, score) for law in channel[:2])
    return (frequency * yes + (1 - frequency) * no) / users


def symbol_variance(*, epsilon, users, symbols, frequency=0.0):
    """Variance of one symbol's estimated frequency."""
    return _frequency_variance(response_channel(math.exp(epsilon), symbols), users, frequency)


def bit_variance(*, epsilon, users, frequency=0.0):
    """The same for one bit of optimized unary encoding."""
    lie = 1 / (1 + math.exp(epsilon))
    return _frequency_variance(np.array([[0.5, 0.5], [lie, 1 - lie]]), users, frequency)


def simulated(*, epsilon, users, frequency=0.0):
    """Variance of 20,000 simulated estimates, up to an error of six standard deviations."""
    trials = 20_000
    rng = np.random.default_rng([int(1e6 * epsilon), users, int(1e6 * frequency)])
    lie, ones = 1 / (1 + math.exp(epsilon)), round(frequency * users)
    reported = rng.binomial(ones, 0.5, trials) + rng.binomial(users - ones, lie, trials)
    variance = float(np.var((reported / users - lie) / (0.5 - lie), ddof=1))
    # Of the variance's own estimate; sums of few bits have heavier or lighter tails than normal.
    deviations = (reported - reported.mean()) ** 2
    error = 6 * float(np.std(deviations) / np.mean(deviations)) / math.sqrt(trials)
    return Interval(variance * (1 - error), variance * (1 + error))


def where_variances_meet(*, epsilon):
    """The number of symbols, interpolated, at which both variances are equal."""
    bits = bit_variance(epsilon=epsilon, users=1)
    excess = lambda n: symbol_variance(epsilon=epsilon, users=1, symbols=n) / bits - 1
    high = 2 + bisect_left(range(2, 200), 0.0, key=excess)
    return high - 1 - excess(high - 1) / (excess(high) - excess(high - 1))


def _largest_log_ratio(p: list[NDArray], q: list[NDArray]) -> float:
    """Largest log ratio of all strings of independent bits, from the laws (zero, one) of each."""
    one, other = (reduce(np.kron, bits) for bits in (p, q))
    return float(np.max(np.log(one) - np.log(other)))


def one_hot_epsilon(*, one, other, symbols):
    """Largest log ratio of all strings, for the first symbol and for the second."""
    hot, cold = np.array([1 - one, one]), np.array([1 - other, other])
    absent = [cold] * (symbols - 2)
    return _largest_log_ratio([hot, cold, *absent], [cold, hot, *absent])


def best_other(*, epsilon):
    """The q of the smallest variance for an absent item, by trying all p."""
    from scipy.optimize import minimize_scalar

    def parts(log_odds: float) -> tuple[float, float]:
        return 1 / (1 + math.exp(-log_odds)), 1 / (1 + math.exp(epsilon - log_odds))

    def variance(log_odds: float) -> float:
        p, q = parts(log_odds)
        return math.log(_variance(np.array([1 - q, q]), np.array([-q, 1 - q]) / (p - q)))

    best = minimize_scalar(variance, bracket=(-1.0, epsilon + 1.0), tol=1e-10)
    return parts(best.x)[1]  # type: ignore[union-attr]


def permanent(noise: float) -> NDArray:
    """Channel of a bit: kept, or replaced by a fair coin with probability `noise`."""
    return (1 - noise) * np.eye(2) + noise * np.full((2, 2), 0.5)


def bloom_epsilon(channel: NDArray, hashes: int) -> float:
    """Largest log ratio of all strings, for two values that set disjoint bits of a filter."""
    zero, one = channel
    return _largest_log_ratio([one] * hashes + [zero] * hashes, [zero] * hashes + [one] * hashes)
