"""Poisson lots that are cut, against all lots, all ways of cutting and contrary companions."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from cases import each
from dplearn import Gaussian
from dplearn.mechanisms import PoissonSubsampled
from dplearn.mechanisms.truncated_poisson import TruncatedPoisson
from outcomes import EPSILONS

LINE = np.linspace(-9.0, 9.0, 3_601)


def sums(there, own, rate, largest):
    """Chance of each sum of a lot: these others were drawn; the record's own coin is tossed."""
    law = {}
    for drawn, chance in (([*there, *own], rate), (there, 1 - rate)):
        kept = list(itertools.combinations(drawn, min(largest, len(drawn))))
        for subset in kept:
            law[sum(subset)] = law.get(sum(subset), 0.0) + chance / len(kept)
    return law


def leak(p, q, sigma):
    """delta at each of EPSILONS of two such laws under noise: masses of cells of a line."""
    masses = [
        sum(w * np.diff(ndtr((LINE - centre) / sigma)) for centre, w in law.items())
        for law in (p, q)
    ]
    gap = masses[0] - np.exp(EPSILONS)[:, None] * masses[1]
    return np.sum(np.maximum(gap, 0.0), axis=1)


@each("sigma", [0.4, 1.0])
@each("rate", [0.3, 0.8])
@each("largest", [1, 2])
def test_no_companions_leak_more_even_if_one_is_told_who_was_drawn(largest, rate, sigma):
    step = TruncatedPoisson(Gaussian(sigma), rate, dataset_size=3, largest=largest)
    for adjacency, gone in (("add_remove", ()), ("zero_out", (0,))):
        seen = np.zeros((2, EPSILONS.size))
        for others in itertools.product([-1, 0, 1], repeat=2):
            told = np.zeros(seen.shape)
            for drawn in itertools.product([False, True], repeat=2):
                chance = math.prod(rate if d else 1 - rate for d in drawn)
                there = list(itertools.compress(others, drawn))
                p, q = (sums(there, own, rate, largest) for own in ((1,), gone))
                told += chance * np.array([leak(p, q, sigma), leak(q, p, sigma)])
            seen = np.fmax(seen, told)
        remove, add = (profile.delta(EPSILONS) for profile in step.profiles(adjacency))
        assert np.all(seen <= np.array([remove, add]) + 1e-9)


@each("adjacency, gone", [("add_remove", ()), ("zero_out", (0,))])
@each("largest", [1, 2])
def test_a_record_among_silent_ones_leaks_more_than_the_witness(largest, adjacency, gone):
    step = TruncatedPoisson(Gaussian(0.7), 0.1, dataset_size=3, largest=largest)
    pair = [mixed(0.1, largest, own) for own in ((1,), gone)]
    for witness, (p, q) in zip(step.witnesses(adjacency), (pair, pair[::-1]), strict=True):
        said, truth = witness.delta(EPSILONS), leak(p, q, 0.7)
        assert np.all(said <= truth * (1 + 1e-3) + 1e-9)
        # Where others fill the lot she may be kept nonetheless.
        assert said[0] >= truth[0] * (1 - math.exp(step.log_cut))


def mixed(rate, largest, own):
    """Law of the sum of a lot among two others that contribute nothing."""
    law = {}
    for drawn in range(3):
        chance = math.comb(2, drawn) * rate**drawn * (1 - rate) ** (2 - drawn)
        for centre, weight in sums([0] * drawn, own, rate, largest).items():
            law[centre] = law.get(centre, 0.0) + chance * weight
    return law


def test_lots_that_are_never_cut_are_poisson_lots():
    for largest in (1000, 10**6):
        step = TruncatedPoisson(Gaussian(1.0), 0.01, dataset_size=1000, largest=largest)
        whole = PoissonSubsampled(Gaussian(1.0), 0.01)
        for name in ("pld", "rdp"):
            said = step.guarantee(name, delta=1e-5, steps=100)
            exact = whole.guarantee(name, delta=1e-5, steps=100).epsilon
            assert said.epsilon == pytest.approx(exact, rel=1e-5)
    assert step.zcdp() == 0.5


def test_a_record_may_take_the_place_of_another():
    step = TruncatedPoisson(Gaussian(1.0), 0.5, dataset_size=3, largest=1)
    orders = np.array([1.5, 3.0, 8.0])
    assert step.zcdp() == 2.0
    assert np.all(step.rdp(orders) <= 2.0 * orders) and step.rdp(orders)[-1] > 0.5 * orders[-1]


@each("size, rate, largest", [(100, 0.3, 50), (10**5, 0.01, 1300), (10**8, 1e-5, 1250)])
def test_the_chance_of_a_cut_is_the_binomial_tail_rounded_up(size, rate, largest):
    step = TruncatedPoisson(Gaussian(1.0), rate, dataset_size=size, largest=largest)
    with mpmath.workdps(40):
        q, n = mpmath.mpf(rate), size - 1
        term = mpmath.binomial(n, largest) * q**largest * (1 - q) ** (n - largest)
        tail = term
        for k in range(largest, min(n, 2 * largest)):
            term *= (n - k) / mpmath.mpf(k + 1) * q / (1 - q)
            tail += term
        excess = step.log_cut - float(mpmath.log(tail))
    assert 0 < excess < 2e-6


def test_fixed_shapes_cost_little_if_the_largest_lot_is_rare():
    """Adding the chance of a cut to delta, steps times, would ask for larger lots."""
    step = TruncatedPoisson(Gaussian(1.0), 0.01, dataset_size=10_000, largest=160)
    assert 1000 * math.exp(step.log_cut) > 1e-5
    whole = PoissonSubsampled(Gaussian(1.0), 0.01)
    cut, whole = (m.guarantee(delta=1e-5, steps=1000) for m in (step, whole))
    assert whole.lower <= cut.epsilon <= 1.001 * whole.epsilon
