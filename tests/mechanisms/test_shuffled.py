"""Shuffled epochs: theorems against all orders of a few records, rounding against worse rounding."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from cases import each
from dplearn.accountants.pld import PLD
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Gaussian, _seats
from dplearn.mechanisms.random_allocation import RandomAllocation
from dplearn.mechanisms.shuffled import Shuffled

EPSILONS = np.concatenate([[0.0], np.geomspace(1e-2, 12, 12)])
both = each("adjacency", ["zero_out", "replace_one"])
# A statistical test below fails by chance once in two million runs.
SIGMAS = NormalDist().inv_cdf(1 - 0.25e-6)


@each(
    "sigma, batches, lower, upper, digits",
    [
        (0.5, 10_000, 10.9948, 10.9972, 4),
        (0.7, 10_000, 6.88, 7.37, 2),
        (1.0, 1000, 3.724, 4.887, 3),
    ],
)
def test_published_epsilons(sigma, batches, lower, upper, digits):
    """Chua et al. (2024), delta = 1e-6: never less from below, never more from above."""
    epoch, slack = Shuffled(Gaussian(sigma), batches), 0.51 * 10**-digits
    below, above = epoch.witnesses("zero_out")[0], Gaussian(sigma).profiles()[0]
    assert lower - slack < below.epsilon(1e-6) < upper
    assert abs(above.epsilon(1e-6) - upper) < slack


# Theorems A, B and C against every order of two or three records in two batches of one.

Y = np.linspace(-12.0, 12.0, 481)


def density(records, sigma):
    """Of the outputs of two steps, all orders of the records being as likely.

    A record is a function of the first output that tells its gradient at step 2, and a number, its
    gradient at step 1.
    """
    total = 0.0
    orders = list(itertools.permutations(records))
    for (one, _), (_, two), *_ in orders:
        second = norm.pdf(Y[None, :], two(Y)[:, None], sigma)
        total = total + norm.pdf(Y, one, sigma)[:, None] * second
    return total / len(orders)


def worst(pairs, epsilon, sigma):
    """Largest hockey-stick divergences of either order among the pairs, by a sum over a grid."""
    e, area, best = math.exp(epsilon), (Y[1] - Y[0]) ** 2, np.zeros(2)
    for first, second in pairs:
        p, q = density(first, sigma), density(second, sigma)
        gaps = np.maximum(p - e * q, 0).sum(), np.maximum(q - e * p, 0).sum()
        best = np.maximum(best, np.array(gaps) * area)
    return best


def fixed(g):
    return g, lambda y: np.full(y.shape, g)


def adaptive(g, low, high, cut):
    """Another record: its second gradient depends on the first output."""
    return g, lambda y: np.where(y < cut, low, high)


OTHERS = [
    adaptive(g, low, high, cut)
    for g, low, high in itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0))
    for cut in (-0.5, 0.7)
]
# Somebody else sees to it that the orders are worth mixing.
CROWDS = [[a, a] for a in OTHERS] + [[OTHERS[0], OTHERS[-1]], [OTHERS[3], OTHERS[4]]]


@each("sigma, epsilon", [(0.6, 0.0), (0.8, 0.5), (1.5, 0.2)])
@each(
    "adjacency, neighbour, left_out, attained",
    [
        ("zero_out", 0.0, 1 / 3, 0.85),
        ("replace_one", -1.0, 1 / 3, 0.55),
        ("zero_out", 0.0, 0.0, 0.55),
        ("replace_one", -1.0, 0.0, 0.55),
        ("add_remove", None, 1 / 3, 0.6),
    ],
)
def test_no_order_leaks_more_whatever_the_others_do(
    adjacency, neighbour, left_out, attained, sigma, epsilon
):
    crowds = CROWDS if left_out else [[a] for a in OTHERS]
    record = fixed(1.0)
    gone = [] if neighbour is None else [fixed(neighbour)]
    pairs = [([record, *crowd], [*gone, *crowd]) for crowd in crowds]
    found = worst(pairs, epsilon, sigma)
    epoch = Shuffled(Gaussian(sigma), 2, left_out)
    sides = epoch.profiles(adjacency)
    bound = np.array([float(p.delta(epsilon)) for p in (sides[0], sides[-1])])
    assert np.all(found <= bound * (1 + 1e-6))
    # A constant of half the size would be refuted.
    share = (1 - left_out) if adjacency != "zero_out" or left_out else 1.0
    assert np.max(found / (share * bound)) > attained
