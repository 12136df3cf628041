"""Logarithms of sums and differences against 50-digit arithmetic."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import each
from dplearn.core.logspace import exp_rest, log1mexp, log_comb, log_expm1, log_sub, log_sum

# A few rounded operations have an error of a few units in the last place.
RTOL = 8 * 2.0**-53


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


@each("size", [1e-300, 1e-17, 1e-8, 0.3, 0.692, 0.694, 1.0, 20.0, 40.0, 700.0])
def test_log1mexp_and_log_expm1_agree_with_fifty_digits(size):
    below = float(mpmath.log(-mpmath.expm1(-size)))
    above = float(mpmath.log(mpmath.expm1(size)))
    assert float(log1mexp(-size)) == pytest.approx(below, rel=RTOL)
    assert float(log_expm1(size)) == pytest.approx(above, rel=RTOL)


@each("x", [-700.0, -1.0, -0.0101, -0.0099, -1e-9, 1e-9, 0.0099, 0.0101, 1.0, 700.0])
def test_exp_x_minus_1_minus_x_agrees_with_fifty_digits(x):
    # Where no series is used, the result, about x^2 / 2, is a difference of two numbers near x.
    rtol = RTOL + 2.0**-52 / abs(x) * (abs(x) > 0.01)
    assert float(exp_rest(x)) == pytest.approx(float(mpmath.expm1(x) - mpf(x)), rel=rtol)


@each("row", [[1e4, 1e4 - 1, 9e3], [-1e5, -1e5 - 2, -math.inf], [0.0, -40.0, -41.0]])
def test_log_of_summed_exponentials_of_each_row_agrees_with_fifty_digits(row):
    exact = float(mpmath.log(mpmath.fsum(mpmath.exp(x) for x in row)))
    sums = log_sum(np.array([row, [-math.inf] * 3]))
    assert sums[0] == pytest.approx(exact, rel=RTOL) and sums[1] == -math.inf


def test_log1mexp_log_expm1_and_log_sub_are_exact_at_zero_and_infinity():
    assert log1mexp(0.0) == -math.inf == log_expm1(0.0)
    assert log1mexp(-math.inf) == 0.0
    # An argument slightly above 0 through rounding counts as 0.
    assert log1mexp(1e-16) == -math.inf
    # Subtracting exp(-inf) returns the first argument without a warning.
    np.testing.assert_array_equal(
        log_sub([3.0, -np.inf, 3.0, 3.0], [-np.inf, -np.inf, 3.0, 3.0 + 1e-15]),
        [3.0, -np.inf, -np.inf, -np.inf],
    )


@each("a, b", [(0.0, -1e-9), (-800.0, -801.0), (700.0, 3.0), (2.0, -900.0)])
def test_log_of_a_difference_of_exponentials_agrees_with_fifty_digits(a, b):
    big, small = mpmath.exp(mpf(a)), mpmath.exp(mpf(b))
    # A relative error of the difference is an absolute error of its log; `a` is rounded, too.
    tolerance = RTOL * (1 + abs(a)) / min(1.0, a - b)
    assert float(log_sub(a, b)) == pytest.approx(float(mpmath.log(big - small)), abs=tolerance)


@each("n, k", [(5, 0), (5, 5), (256, 128), (40, 3), (7.5, 3), (2.5, 6)])
def test_log_binomial_coefficient_agrees_with_fifty_digits(n, k):
    expected = float(mpmath.log(abs(mpmath.binomial(n, k))))
    # The three log gammas cancel, so the error is relative to the largest.
    tolerance = RTOL * (1 + abs(math.lgamma(n + 1)))
    assert float(log_comb(n, k)) == pytest.approx(expected, abs=tolerance)
