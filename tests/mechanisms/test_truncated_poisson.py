"""Truncated Poisson batches against enumeration of batches, cuts and other records."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from cases import each
from dplearn import Gaussian
from dplearn.mechanisms import PoissonSubsampled
from dplearn.mechanisms.truncated_poisson import TAIL_ERROR, TruncatedPoisson
from outcomes import EPSILONS

LINE = np.linspace(-9.0, 9.0, 3_601)


def laws(others, own, rate, largest):
    """Return laws of the sum if fewer than `largest` others were drawn, and if not."""
    uncut, cut = {}, {}
    for coins in itertools.product([False, True], repeat=len(others) + len(own)):
        chance = math.prod(rate if coin else 1 - rate for coin in coins)
        law = cut if sum(coins[: len(others)]) >= largest else uncut
        drawn = list(itertools.compress((*others, *own), coins))
        remaining = list(itertools.combinations(drawn, min(largest, len(drawn))))
        for subset in remaining:
            law[sum(subset)] = law.get(sum(subset), 0.0) + chance / len(remaining)
    return uncut, cut


def leak(p, q, sigma):
    """Return delta of two such laws with noise at each of EPSILONS, from masses of cells."""
    masses = [
        sum(w * np.diff(ndtr((LINE - centre) / sigma)) for centre, w in law.items())
        for law in (p, q)
    ]
    gap = masses[0] - np.exp(EPSILONS)[:, None] * masses[1]
    return np.sum(np.maximum(gap, 0.0), axis=1)


@each("sigma", [0.4, 1.0])
@each("rate", [0.3, 0.8, 1.0])
@each("largest", [1, 2])
def test_profile_bounds_delta_even_if_truncation_is_public(largest, rate, sigma):
    step = TruncatedPoisson(Gaussian(sigma), rate, dataset_size=2, max_batch_size=largest)
    seen = 0.0
    for others in itertools.product([-1, 0, 1], repeat=2):
        pairs = zip(*(laws(others, own, rate, largest) for own in ((1,), ())), strict=True)
        result = sum(np.array([leak(p, q, sigma), leak(q, p, sigma)]) for p, q in pairs)
        seen = np.fmax(seen, result)
    bound = [profile.delta(EPSILONS) for profile in step.profiles()]
    assert np.all(seen <= np.array(bound) + 1e-9)
    if largest == 1:  # uncut batches then have no other record
        np.testing.assert_allclose(seen, bound, rtol=1e-3, atol=2 * TAIL_ERROR)


@each("rate", [0.3, 0.8])
@each("largest", [1, 2])
def test_replace_one_profile_bounds_all_records_even_if_cuts_are_public(largest, rate):
    step = TruncatedPoisson(Gaussian(1.0), rate, dataset_size=3, max_batch_size=largest)
    (bound,), (witness,) = step.profiles("replace_one"), step.witnesses("replace_one")
    for old, new, *others in itertools.product([-1, 0, 1], repeat=4):
        pairs = zip(*(laws(others, (one,), rate, largest) for one in (new, old)), strict=True)
        assert np.all(sum(leak(p, q, 1.0) for p, q in pairs) <= bound.delta(EPSILONS) + 1e-9)
    opposite = []
    for one in (1, -1):
        uncut, cut = laws((0, 0), (one,), rate, largest)
        opposite.append({c: uncut.get(c, 0.0) + cut.get(c, 0.0) for c in (one, 0)})
    assert witness.delta(EPSILONS) == pytest.approx(leak(*opposite, 1.0), rel=1e-3, abs=1e-9)


@each("largest", [1, 2])
def test_witness_is_a_record_among_zero_contributions(largest):
    step = TruncatedPoisson(Gaussian(0.7), 0.6, dataset_size=2, max_batch_size=largest)
    pair = []
    for own in ((1,), ()):
        uncut, cut = laws((0, 0), own, 0.6, largest)
        pair.append({centre: uncut.get(centre, 0.0) + cut.get(centre, 0.0) for centre in (0, 1)})
    for witness, (p, q) in zip(step.witnesses(), (pair, pair[::-1]), strict=True):
        assert witness.delta(EPSILONS) == pytest.approx(leak(p, q, 0.7), rel=1e-3, abs=1e-9)


def test_batches_that_are_never_cut_are_poisson_samples():
    for largest in (1001, 10**6):
        step = TruncatedPoisson(Gaussian(1.0), 0.01, dataset_size=1000, max_batch_size=largest)
        whole = PoissonSubsampled(Gaussian(1.0), 0.01)
        for name in ("pld", "rdp"):
            said = step.guarantee(name, delta=1e-5, steps=100)
            exact = whole.guarantee(name, delta=1e-5, steps=100).epsilon
            assert said.epsilon == pytest.approx(exact, rel=1e-5)
    assert step.zcdp() == 0.5


def test_dominating_gaussian_has_half_the_noise_if_records_are_displaced():
    step = TruncatedPoisson(Gaussian(1.0), 0.5, dataset_size=3, max_batch_size=1)
    orders = np.array([1.5, 3.0, 8.0])
    assert step.zcdp() == 2.0
    assert np.all(step.rdp(orders) <= 2.0 * orders) and step.rdp(orders)[-1] > 0.5 * orders[-1]


@each("size, rate, largest", [(100, 0.3, 50), (10**5, 0.01, 1300), (10**8, 1e-5, 1250)])
def test_error_of_binomial_tails_is_below_its_bound(size, rate, largest):
    def tail(n, least):
        q = mpmath.mpf(rate)
        term = total = mpmath.binomial(n, least) * q**least * (1 - q) ** (n - least)
        for k in range(least, min(n, 2 * least)):
            term *= (n - k) / mpmath.mpf(k + 1) * q / (1 - q)
            total += term
        return total

    step = TruncatedPoisson(Gaussian(1.0), rate, dataset_size=size, max_batch_size=largest)
    with mpmath.workdps(40):
        expected = tail(size, largest), tail(size + 1, largest + 1) * largest / (size + 1)
        for said, chance in zip(step._cut(), expected, strict=True):
            assert abs(said / chance - 1) < TAIL_ERROR / 10


def test_weights_are_rounded_up():
    """With tiny noise a record leaks whenever it is kept, here in a batch of one of ten."""
    step = TruncatedPoisson(Gaussian(0.01), 0.9, dataset_size=9, max_batch_size=1)
    remaining = (1 - 0.1**10) / 10
    (remove, _), (witness, _) = step.profiles(), step.witnesses()
    assert 11 * TAIL_ERROR < remove.delta(0.0) / remaining - 1 < 13 * TAIL_ERROR
    assert TAIL_ERROR < 1 - witness.delta(0.0) / remaining < 2 * TAIL_ERROR
