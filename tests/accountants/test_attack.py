"""Bounds on true positive rates and deltas by PLD contain independently computed values."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from cases import each
from dplearn import Gaussian, PoissonSubsampled, RandomizedResponse
from dplearn.accountants._attack import power_brackets
from dplearn.accountants.pld import PLD
from outcomes import gaussian_ends, most_powerful

RATES = np.array([1e-12, 1e-5, 0.003, 0.1, 0.5, 0.9, 1 - 1e-9])
COIN = {"adjacency": "replace_one"}
# Rounding error of reference values, which are sums of a few doubles.
ULPS = 1e-12


def attacked(mechanism, rates=RATES, **question):
    """Return bounds on the true positive rate, after checking properties of all such bounds."""
    lower, upper = PLD().true_positive_rate(mechanism, false_positive_rate=rates, **question)
    assert np.all((rates <= lower) & (lower <= upper) & (upper <= 1))
    return lower, upper


def encloses(brackets, truth, *, slack=ULPS, more=0.0):
    """Assert that narrow brackets contain an exact value known up to `slack`."""
    lower, upper = brackets
    assert np.all(lower <= truth * (1 + slack)) and np.all(truth <= upper * (1 + slack))
    assert np.all(upper - lower <= 1e-5 * upper + more)


@each("sigma, steps", [(1.0, 1), (20.0, 100), (3000.0, 7), (0.5, 10), (1e6, 1)])
def test_true_positive_rates_of_gaussians_equal_their_closed_form(sigma, steps):
    expected = stats.norm.cdf(stats.norm.ppf(RATES) + math.sqrt(steps) / sigma)
    # The error of the normal quantile at 1e-12 is 1e-13 times the square of the quantile.
    encloses(attacked(Gaussian(sigma), steps=steps), expected)


@each("local_epsilon, steps", [(1.0, 1), (0.5, 7), (0.1, 400)])
def test_true_positive_rates_of_randomized_response_equal_binomial_tests(local_epsilon, steps):
    true = 1 / (1 + math.exp(-local_epsilon))
    # Masses of the number of answers 1 if the true answer is 1, and if it is 0.
    laws = (stats.binom.pmf(np.arange(steps + 1), steps, p) for p in (true, 1 - true))
    expected = most_powerful(*laws, RATES)
    stated = attacked(RandomizedResponse(local_epsilon), steps=steps, **COIN)
    # Tolerance: binomial laws of 400 trials in doubles, and errors of 1e-16 in the transform.
    encloses(stated, expected, slack=1e-11, more=1e-14)


@each("sigma, q", [(1.0, 0.1), (0.5, 0.01), (4.0, 0.5), (1.0, 1e-3)])
def test_true_positive_rates_of_a_sampled_gaussian_equal_threshold_tests(sigma, q):
    """The best test rejects at large outputs if a record is removed, at small if one is added."""
    x, rates = np.linspace(-9 * sigma, 1 + 9 * sigma, 200_001), RATES[1:-1]
    without, shifted = (stats.norm.pdf(x, mean, sigma) * (x[1] - x[0]) for mean in (0, 1))
    member = (1 - q) * without + q * shifted
    remove, add = most_powerful(member, without, rates), most_powerful(without, member, rates)
    # Tolerance: merging outputs into cells slightly lowers the best rate.
    stated = attacked(PoissonSubsampled(Gaussian(sigma), q), rates)
    encloses(stated, np.maximum(remove, add), slack=1e-6)


@pytest.mark.slow
@each("steps", [30, 10**5])
@each("sigma, q", [(4.0, 0.01), (0.6, 1e-4)])
def test_bounds_on_true_positive_rates_of_sampled_gaussians_are_narrow(sigma, q, steps):
    rates = np.array([1e-6, 1e-3, 0.1, 0.7])
    lower, upper = attacked(PoissonSubsampled(Gaussian(sigma), q), rates, steps=steps)
    # Without the contour integral, the lattice's brackets have a width of a few 1e-4.
    assert np.all(upper - lower <= (1e-5 if steps >= 1000 else 1e-3) * upper)


def test_false_positive_rates_may_have_any_shape_and_trivial_cases_are_exact():
    step, rates = PoissonSubsampled(Gaussian(2.0), 0.1), np.array([[0.1, 0.2], [0.3, 0.4]])
    lower, upper = attacked(step, rates, steps=20)
    assert lower.shape == upper.shape == (2, 2)
    assert attacked(step, 0.1, steps=20)[0] == pytest.approx(lower[0, 0], rel=1e-5)
    np.testing.assert_array_equal(attacked(step, rates, steps=0), [rates, rates])
    assert PLD().delta(step, epsilon=0.0, steps=0).delta < 1e-299
    for silent in (Gaussian(0.0), PoissonSubsampled(Gaussian(0.0), 0.1)):
        assert np.all(attacked(silent, rates, steps=3)[1] == 1)
        assert PLD().delta(silent, epsilon=1.0, steps=3).delta == 1.0


@pytest.mark.slow
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([0.0, 1e-7, 1e-3, 0.1]),
    st.sampled_from([0.01, 1.0, 8.0]), st.booleans(),
)  # fmt: skip
@example(905, 1, 1e-7, 0.01, False)  # no epsilon was tried right of the minimum
def test_wide_brackets_of_delta_enclose_the_true_positive_rate(seed, atoms, noise, size, lost):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(atoms))
    p = q * np.exp(size * rng.standard_normal(atoms))
    p /= p.sum()
    if lost:
        p, q = np.append(0.9 * p, 0.1), np.append(q, 0.0)

    def deltas(epsilon, rtol):
        exact = np.maximum(p - np.exp(epsilon)[:, None] * q, 0.0).sum(axis=1)
        # The brackets of delta include rounding.
        blur = noise + 1e-15 * (1 + np.exp(epsilon))
        down, up = blur * rng.random((2, epsilon.size))
        return np.maximum(exact - down, 0.0), exact + up

    rates = np.array([1e-9, 1e-3, 0.05, 0.4, 0.99])
    expected = most_powerful(p, q, rates)
    lower, upper = power_brackets(deltas, rates, 1e-6)
    assert np.all(lower <= expected + 1e-13) and np.all(expected <= upper + 1e-13)
    # The bracket is as wide as the errors of delta, so without errors it is narrow.
    assert noise or np.all(upper - lower <= 1e-5 * upper + 1e-12)


def test_delta_bracket_contains_a_published_value():
    stated = PLD().delta(PoissonSubsampled(Gaussian(2.0), 0.01), epsilon=1.0, steps=10_000)
    # Koskela et al. give eight digits.
    assert stated.delta_lower <= 0.0102249115 and stated.delta >= 0.0102249105
    assert stated.kind == "bracket" and stated.delta - stated.delta_lower <= 1e-6 * stated.delta
    assert "0.01022 <= delta <= 0.01023 at epsilon = 1, add_remove" in str(stated)


@each("epsilon", [0.0, 0.1, 1.0, 10.0, 50.0, 150.0])
@each("mu", [0.05, 1.0, 4.0])
def test_delta_of_gaussians_is_exact_down_to_1e_299(mu, epsilon):
    with mpmath.workdps(60):
        expected = gaussian_ends(mpmath.mpf(mu))[0](mpmath.mpf(epsilon))
    stated = PLD().delta(Gaussian(10 / mu), epsilon=epsilon, steps=100)
    if expected < mpmath.mpf(10) ** -299:
        assert stated.delta < 1e-299 and stated.delta_lower == 0
        return
    # Tolerance: rounding of a logarithm of size 700.
    assert stated.delta == pytest.approx(float(expected), rel=1e-11)
    assert stated.kind == "exact" and stated.delta_lower == stated.delta
