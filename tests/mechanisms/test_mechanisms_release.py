"""Outputs of release() have the distribution that the profile assumes.

The largest gap between the empirical and the stated distribution function is compared with the
bound of Dvoretzky, Kiefer and Wolfowitz, which holds for every distribution: a correct
implementation fails each test with probability below 1e-6 over random seeds. Seeds are fixed.
"""

import math

import numpy as np
from scipy import stats

from cases import each
from dplearn import DiscreteGaussian, Gaussian, Geometric, Laplace
from dplearn.mechanisms import RandomizedResponse

FALSE_ALARM = 1e-6
DRAWS = 100_000


def rng(seed=7):
    return np.random.default_rng(seed)


def gap(drawn, distribution):
    """Return Kolmogorov's distance of a sample from a distribution function."""
    values, counts = np.unique(np.ravel(drawn), return_counts=True)
    after = np.cumsum(counts) / counts.sum()
    before = np.append(0.0, after[:-1])
    # Just below an atom: the distribution function at the next smaller double.
    return max(
        np.max(np.abs(after - distribution(values))),
        np.max(np.abs(before - distribution(np.nextafter(values, -np.inf)))),
    )


def largest_gap(draws):
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * draws))


def steps_of(log_weight):
    """Return the distribution function of integer noise with these log weights."""
    k = np.arange(-400, 401)
    mass = np.exp(log_weight(k))
    total = np.append(0.0, np.cumsum(mass) / mass.sum())
    return lambda x: total[np.searchsorted(k, x, side="right")]


# Noise around 10 of scale 1.5 * 2 = 3, because the sensitivity is 2.
AROUND_TEN = [
    (Gaussian(1.5), lambda x: stats.norm.cdf(x, 10, 3), "f"),
    (Laplace(1.5), lambda x: stats.laplace.cdf(x, 10, 3), "f"),
    (Geometric(1.5), steps_of(lambda k: -np.abs(k - 10) / 3), "i"),
    (DiscreteGaussian(1.5), steps_of(lambda k: -0.5 * ((k - 10) / 3) ** 2), "i"),
]


@each("mechanism, distribution, kind", AROUND_TEN)
def test_noise_has_its_distribution_and_independent_coordinates(mechanism, distribution, kind):
    drawn = mechanism.release(np.full((DRAWS // 2, 2), 10, dtype=kind), sensitivity=2, rng=rng())
    assert drawn.shape == (DRAWS // 2, 2) and drawn.dtype.kind == kind
    assert gap(drawn, distribution) < largest_gap(DRAWS)
    # A sample correlation exceeds five deviations, 5 / sqrt(n), with probability 6e-7.
    assert abs(np.corrcoef(*drawn.T)[0, 1]) < 5 / math.sqrt(len(drawn))


@each("answers, log_chances", [(2, [0, 1.2]), (5, [0, 1.2, 0, 0, 0])])
def test_released_answers_have_the_stated_probabilities(answers, log_chances):
    drawn = RandomizedResponse(1.2, answers).release(np.ones(DRAWS, dtype=int), rng=rng())
    observed = np.cumsum(np.bincount(drawn, minlength=len(log_chances)) / len(drawn))
    chance = np.cumsum(np.exp(log_chances) / np.exp(log_chances).sum())
    assert np.max(np.abs(observed - chance)) < largest_gap(len(drawn))


ALL = [Gaussian(1.0), Laplace(1.0), Geometric(1.0), DiscreteGaussian(1.0), RandomizedResponse(1.0)]


@each("mechanism", ALL)
def test_release_is_deterministic_given_the_seed_and_does_not_change_its_input(mechanism):
    value = np.array([0, 1, 1])
    drawn = [mechanism.release(value, sensitivity=1, rng=rng(5)) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)
    np.testing.assert_array_equal(value, [0, 1, 1])
    assert mechanism.release(1, sensitivity=1, rng=rng(5)).shape == ()
