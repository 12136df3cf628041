"""One epoch of shuffled batches: a bound from above, a real pair from below, and the gap."""

import itertools
import math
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import each
from dplearn.mechanisms import Gaussian
from dplearn.mechanisms.shuffled import Shuffled

EPSILONS = np.concatenate([[0.0], np.geomspace(1e-3, 12, 30)])
both = each("adjacency", ["zero_out", "replace_one"])
# A statistical test below fails by chance once in two million runs.
SIGMAS = NormalDist().inv_cdf(1 - 0.25e-6)


def shifts(sigma, adjacency):
    """Means of the record's own update under Q and P, in standard deviations."""
    return (0.0 if adjacency == "replace_one" else 1 / sigma), 2 / sigma


@each(
    "sigma, batches, lower, upper, digits",
    [
        (0.5, 10_000, 10.9948, 10.9972, 4),
        (0.7, 10_000, 6.88, 7.37, 2),
        (1.0, 1000, 3.724, 4.887, 3),
    ],
)
def test_published_epsilons(sigma, batches, lower, upper, digits):
    """Chua et al. (2024), delta = 1e-6."""
    epoch = Shuffled(Gaussian(sigma), batches)
    value = [p[0].epsilon(1e-6) for p in (epoch.witnesses("zero_out"), epoch.profiles("zero_out"))]
    assert [round(float(e), digits) for e in value] == [lower, upper]


def tail(z):
    """P(N > z)."""
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def above(x, shift, batches):
    """P(max > x), one of the numbers being shifted."""
    others = -mpmath.expm1((batches - 1) * mpmath.log1p(-tail(x)))
    return tail(x - shift) + tail(shift - x) * others


def below(x, shift, batches):
    """P(max <= x)."""
    return tail(shift - x) * tail(-x) ** (batches - 1)


def best_threshold(gain, low, high):
    """Where a unimodal function is largest."""
    golden = (mpmath.sqrt(5) - 1) / 2
    for _ in range(100):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if gain(left) >= gain(right) else (left, high)
    return (low + high) / 2


CORNERS = [
    (0.1, 2, 30.0), (0.1, 10**6, 100.0), (0.5, 10**4, 0.0), (1.0, 1000, 3.7), (4.0, 10, 0.05),
    (4.0, 10**6, 1.0), (20.0, 30, 5.0), (100.0, 10**6, 0.0), (100.0, 2, 1.0),
]  # fmt: skip


@pytest.mark.slow
@both
@each("sigma, batches, epsilon", CORNERS)
def test_witness_is_the_best_threshold_for_the_largest_update(sigma, batches, epsilon, adjacency):
    remove, add = Shuffled(Gaussian(sigma), batches).witnesses(adjacency)
    a, b = map(mpf, shifts(sigma, adjacency))
    with mpmath.workdps(50):
        e, reach = mpmath.exp(mpf(epsilon)), mpmath.log(batches) / (b - a)
        ahead = lambda x: above(x, b, batches) - e * above(x, a, batches)
        behind = lambda x: below(x, a, batches) - e * below(x, b, batches)
        # Left of these ends even the record's own update has too small a loss.
        right, left = ((a + b) / 2 + s * mpf(epsilon) / (b - a) for s in (1, -1))
        x = best_threshold(ahead, right, right + reach)
        expected = [mpmath.log(ahead(x)), mpmath.log(above(x, a, batches))]
        x = best_threshold(behind, left, left + reach)
        expected += [mpmath.log(behind(x)), mpmath.log(below(x, b, batches))]
    at = np.array([epsilon])
    value = [f(at)[0] for p in (remove, add) for f in (p.log_delta_of, p.log_tail_of)]
    # A loss near 0 that many other updates blur places its threshold less sharply.
    np.testing.assert_allclose(value, [float(v) for v in expected], rtol=1e-8, atol=1e-8)


@both
@each("sigma, batches", [(0.3, 10), (1.0, 100), (5.0, 10**5), (40.0, 2)])
def test_bounds_are_those_of_the_gaussian_and_the_witness_lies_below(sigma, batches, adjacency):
    epoch, gaussian, orders = Shuffled(Gaussian(sigma), batches), Gaussian(sigma), [1.5, 40.0]
    assert epoch.zcdp(adjacency) == gaussian.zcdp(adjacency)
    rdp = [m.rdp(orders, adjacency=adjacency) for m in (epoch, gaussian)]
    np.testing.assert_array_equal(*rdp)
    (upper,), at = epoch.profiles(adjacency), np.concatenate([-EPSILONS, EPSILONS])
    for lower in epoch.witnesses(adjacency):
        assert np.all(lower.log_delta(at) <= upper.log_delta(at) + 1e-13)


@both
def test_more_batches_hide_the_record_better_and_one_batch_does_not(adjacency):
    curves = [
        Shuffled(Gaussian(1.0), n).witnesses(adjacency)[0].delta(EPSILONS)
        for n in (1, 2, 10, 1000, 10**6)
    ]
    for fewer, more in itertools.pairwise(curves):
        assert np.all(more < fewer)
    alone = Shuffled(Gaussian(1.0), 1)
    assert alone.attained and not Shuffled(Gaussian(1.0), 2).attained
    assert np.array_equal(curves[0], Gaussian(1.0).profiles(adjacency)[0].delta(EPSILONS))


def one_epoch(record, others, sigma, batches, size, rng, runs):
    """Updates of the epoch, recentred by what a full batch of the others sums to."""
    data = np.append(record, np.full(batches * size - 1, others))
    sums = np.stack([rng.permutation(data).reshape(batches, size).sum(axis=1) for _ in range(runs)])
    return sums - others * size + rng.normal(0, sigma, sums.shape)


@each("adjacency, neighbour", [("zero_out", 0.0), ("replace_one", -1.0)])
def test_the_witness_is_an_attack_on_a_real_epoch(adjacency, neighbour):
    rng, runs, batches, sigma = np.random.default_rng(74), 20_000, 5, 0.8
    a, b = shifts(sigma, adjacency)
    for record, shift in ((1.0, b), (neighbour, a)):
        largest = one_epoch(record, -1.0, sigma, batches, 4, rng, runs).max(axis=1) / sigma
        for x in (0.5, 1.5, 3.0):
            expected = float(above(mpf(x), mpf(shift), batches))
            error = math.sqrt(expected * (1 - expected) / runs)
            assert abs(np.mean(largest > x) - expected) < SIGMAS * error


@each("sigma, batches, epsilon", [(0.8, 20, 1.0), (2.0, 5, 0.1)])
def test_exact_pair_lies_between(sigma, batches, epsilon):
    """delta of the whole pair, not of its largest coordinate, by simulation under P."""
    rng, mu = np.random.default_rng(2024), 1 / sigma
    x = rng.standard_normal((200_000, batches))
    x[:, 0] += 2 * mu
    p, q = (np.log(np.mean(np.exp(c * x - c * c / 2), axis=1)) for c in (2 * mu, mu))
    gain = np.maximum(-np.expm1(epsilon - (p - q)), 0.0)
    slack = SIGMAS * gain.std() / math.sqrt(gain.size)
    epoch = Shuffled(Gaussian(sigma), batches)
    lower, upper = epoch.witnesses("zero_out")[0], epoch.profiles("zero_out")[0]
    assert lower.delta(epsilon) - slack < gain.mean() < upper.delta(epsilon) + slack
