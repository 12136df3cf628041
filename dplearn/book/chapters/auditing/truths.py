"""Slow ways to the truth about audits: all outcomes, all counts, and attacks that succeed."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, betaincinv

from dplearn.book.chapters.local.truths import binomial
from dplearn.book.kit import oracles


def largest_likely_rate(*, errors, trials, confidence):
    """The largest rate at which so few errors are not rarer than the level, by bisection."""
    rarer = lambda rate: math.fsum(binomial(trials, rate, errors)) < (1 - confidence) / 2
    return oracles.smallest(rarer, low=1e-15, high=1 - 1e-15)


def best_of_all_outcomes(*, trials, confidence, delta):
    """The largest epsilon that any counts of the two kinds of errors certify."""
    about = {"trials": trials, "confidence": confidence}
    limits = [largest_likely_rate(errors=k, **about) for k in range(min(trials, 4))] + [1.0]
    ratios = ((1 - delta - a) / b for a in limits for b in limits)
    return max([0.0, *(math.log(ratio) for ratio in ratios if ratio > 0)])


def chance_of_accusing(*, trials, positive, negative, confidence, estimated=False):
    """How often the epsilon reported exceeds that of the two true error rates; all outcomes."""
    k = np.arange(trials)
    limits = k / trials if estimated else betaincinv(k + 1, trials - k, (1 + confidence) / 2)
    limits = np.append(limits, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (1 - limits[:, None]) / limits
    reported = np.fmax(ratio, ratio.T)
    true = max((1 - positive) / negative, (1 - negative) / positive)
    accused = reported > true * (1 + 1e-12)
    return float(binomial(trials, positive) @ accused @ binomial(trials, negative))


def chance_of_correct(correct: NDArray, *, canaries, guesses, epsilon, delta) -> NDArray:
    """The largest P(W >= v), for every v, of coins that may show a block.

    Each inclusion is told by an epsilon-DP coin. With probability m delta / i a random block of i
    of the m canaries is shown as well, so each of them with probability delta at most.
    """
    truth = 1 / (1 + math.exp(-epsilon))
    block = np.unique(np.geomspace(1, guesses, 60).astype(int))[:, None]
    shown = np.minimum(canaries * delta / block, 1.0)
    lucky = at_least(correct - block, guesses - block, truth)
    plain = at_least(correct, np.array(guesses), truth)
    return np.max(plain + shown * (lucky - plain), axis=0)


def at_least(v: NDArray, n: NDArray, rate: float) -> NDArray:
    """P(Bin(n, rate) >= v)."""
    inner = bdtrc(np.clip(v - 1, 0, np.maximum(n, 1)), np.maximum(n, 1), rate)
    return np.where(v <= 0, 1.0, np.where(v > n, 0.0, np.where(n == 0, 0.0, inner)))


def chance_of_one(*, correct, canaries, guesses, epsilon, delta):
    """The same for one v."""
    about = {"canaries": canaries, "guesses": guesses, "epsilon": epsilon, "delta": delta}
    return float(chance_of_correct(np.array([correct]), **about)[0])


def worst_chance(*, canaries, guesses, correct, epsilon, delta):
    """The largest P(W >= v) of all (epsilon, delta)-DP mechanisms: a linear programme.

    Without loss they treat canaries and their bits alike: what counts is how many guesses are
    right and how many wrong. A swap of one canary makes a right guess wrong.
    """
    from scipy.optimize import linprog

    pairs = [(a, b) for a in range(guesses + 1) for b in range(guesses - a + 1)]
    place = {pair: k for k, pair in enumerate(pairs)}
    ways = [math.comb(canaries, a) * math.comb(canaries - a, b) for a, b in pairs]
    swaps = [(p, (p[0] - s, p[1] + s), p[s < 0]) for p in pairs for s in (1, -1) if p[s < 0]]
    n, growth = len(pairs), math.exp(epsilon)
    above = np.zeros((len(swaps) + 1, n + len(swaps)))
    for row, (before, after, count) in zip(above, swaps, strict=False):
        ratio = ways[place[before]] / ways[place[after]]
        row[place[before]], row[place[after]] = count, -count * growth * ratio
    above[:-1, n:], above[-1, n:] = -np.eye(len(swaps)), 1 / canaries
    aim, whole = np.zeros(n + len(swaps)), np.zeros((1, n + len(swaps)))
    aim[:n], whole[0, :n] = [-(a >= correct) for a, _ in pairs], 1
    limits = [*np.zeros(len(swaps)), delta]
    return -linprog(aim, above, limits, whole, [1]).fun


def best_guesser(*, channel):
    """For each output guess the value that makes it most likely."""
    return math.fsum(max(column) for column in channel.T.tolist()) / len(channel)
