"""One epoch of balls and bins: upper and lower laws."""

import math

import numpy as np
import pytest

from cases import each
from dplearn.mechanisms import Gaussian, RandomAllocation

SETTINGS = [(0.17, 3), (0.5, 1000), (1.0, 2), (1.0, 10**5), (4.0, 100), (60.0, 7)]
each_setting = each("sigma, batches", SETTINGS)
EPSILONS = np.concatenate([[0.0], np.geomspace(1e-6, 60, 60)])


def brackets(sigma, batches):
    """Return (lower, upper) for the remove and the add direction."""
    epoch = RandomAllocation(Gaussian(sigma), batches)
    return list(zip(epoch.witnesses(), epoch.profiles(), strict=True))


def two_batches(sigma, step=0.012, order=2):
    """Return Q-masses and likelihood ratio of the pair for B = 2 on a square lattice."""
    x = np.arange(-12, 12 + order / sigma, step)
    mass, y = np.exp(-x * x / 2) * step / math.sqrt(2 * math.pi), np.exp(x / sigma - 0.5 / sigma**2)
    return np.multiply.outer(mass, mass).ravel(), (np.add.outer(y, y) / 2).ravel()


@pytest.mark.slow
@each("sigma", [0.4, 1.0, 3.0])
def test_brackets_contain_two_batches_by_quadrature(sigma):
    mass, ratio = two_batches(sigma)
    for epsilon in (0.0, 0.1, 1.0, 2.5):
        x = math.exp(epsilon)
        deltas = [mass @ np.maximum(gain, 0.0) for gain in (ratio - x, 1 - x * ratio)]
        for (below, above), delta in zip(brackets(sigma, 2), deltas, strict=True):
            # At the integrand's kink the error of the lattice is 1e-5.
            assert below.delta(epsilon) * (1 - 1e-4) - 1e-30 < delta
            assert delta < above.delta(epsilon) * (1 + 1e-4) + 1e-30


def test_brackets_overlap_those_of_another_library():
    """Compare with PLD_accounting 2.0 (Feldman & Shenfeld), remove direction, two minutes."""
    lower, upper = brackets(0.6, 100)[0]
    assert lower.epsilon(1e-5) <= 3.43200 and 3.43031 <= upper.epsilon(1e-5) <= 1.005 * 3.43031


@pytest.mark.slow
@each_setting
def test_witness_and_profile_are_close_and_below_the_gaussian(sigma, batches):
    (gaussian,) = Gaussian(sigma).profiles()
    at = np.concatenate([-EPSILONS, EPSILONS])
    for lower, upper in brackets(sigma, batches):
        assert np.all(lower.log_delta(at) <= upper.log_delta(at) + 1e-12)
        assert np.all(lower.log_delta(at) <= gaussian.log_delta(at) + 1e-12)
    for delta in (1e-2, 1e-5, 1e-12):
        remove, add = ([float(p.epsilon(delta)) for p in pair] for pair in brackets(sigma, batches))
        for low, high in (remove, add):
            assert low <= high <= 1.015 * low + 2e-5
        assert add[0] <= remove[1] <= gaussian.epsilon(delta)
    # Merging lowers the moment of order 2, whose closed form is another sum.
    below = max(p.renyi(2.0) for p, _ in brackets(sigma, batches))
    share = below / math.log1p(math.expm1(1 / sigma**2) / batches)
    assert 0.99 * (sigma > 0.2) < share < 1


@each("sigma, batches", [(1.0, 1), (0.15, 50), (0.04, 9)])
def test_one_batch_or_tiny_noise_gives_the_gaussian(sigma, batches):
    epoch = RandomAllocation(Gaussian(sigma), batches)
    (profile,) = epoch.profiles()
    assert np.array_equal(profile.delta(EPSILONS), Gaussian(sigma).profiles()[0].delta(EPSILONS))
    assert epoch.attained == (batches == 1)
    for witness in epoch.witnesses():
        assert np.all(witness.delta(EPSILONS) <= profile.delta(EPSILONS))
    assert len(epoch.witnesses()) == {1.0: 1, 0.15: 2, 0.04: 0}[sigma]
