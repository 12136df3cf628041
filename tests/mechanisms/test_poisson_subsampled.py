"""Renyi divergence of the sampled Gaussian: three independent ways to the same numbers."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from cases import agrees, each, golden, number
from dplearn.mechanisms import Gaussian, Laplace, PoissonSubsampled


def step(sigma, q):
    return PoissonSubsampled(Gaussian(sigma), q)


@each("row", golden("sampled_gaussian_rdp"))
def test_golden_quadrature(row):
    one = step(number(row["noise_multiplier"]), number(row["sample_rate"]))
    order, steps, digits = number(row["order"]), int(row["steps"]), int(row["digits"])
    if row["direction"] == "add":
        # There is no closed form: the integral of the profile, which aims at 1e-10.
        value = float(one.profiles()[1].renyi(order))
        assert steps * value == pytest.approx(number(row["value"]), rel=1e-8)
        assert value <= one.rdp([order])[0]
        return
    value = steps * one.rdp([order], method="formula")[0]
    if digits < 12:
        assert agrees(value, row)
    # Sums of positive terms in double precision, divided by order - 1.
    assert value == pytest.approx(number(row["value"]), rel=max(2e-13, 10.0 ** (1 - digits)))


def binomial_sum(sigma, q, order):
    """E_Q f^order at a whole order, every term in 60 digits."""
    with mpmath.workdps(60):
        sigma, q = mpf(sigma), mpf(q)
        total = mpmath.fsum(
            mpmath.binomial(order, k)
            * (1 - q) ** (order - k)
            * q**k
            * mpmath.exp(mpf(k * k - k) / (2 * sigma**2))
            for k in range(order + 1)
        )
        return float(mpmath.log(total) / (order - 1))


@pytest.mark.slow
@each("order", [2, 3, 32, 255, 256, 257, 700])
@each("sigma, q", [(0.2, 1e-7), (1.0, 1e-7), (1.1, 0.004), (4.0, 0.5), (1e3, 0.3)])
def test_whole_orders_against_the_binomial_sum(sigma, q, order):
    value = step(sigma, q).rdp([order], method="formula")[0]
    # Log gammas of 256 carry an error of 1e-13; the quadrature beyond is better than that.
    assert value == pytest.approx(binomial_sum(sigma, q, order), rel=1e-12)


def signed_series(sigma, q, order):
    """The two erfc series of Mironov, Talwar & Zhang (2019), section 3.3, signs included."""
    with mpmath.workdps(30):
        s, q, a = mpf(sigma), mpf(q), mpf(order)
        z0 = mpf(1) / 2 + s**2 * mpmath.log(1 / q - 1)
        tail = lambda x: mpmath.erfc(x / (mpmath.sqrt(2) * s)) / 2
        gauss = lambda x: mpmath.exp((x * x - x) / (2 * s**2))

        def term(i):
            i = mpf(int(i))
            j = a - i
            weight = mpmath.binomial(a, i)
            left = (1 - q) ** j * q**i * gauss(i) * tail(i - z0)
            right = (1 - q) ** i * q**j * gauss(j) * tail(z0 - j)
            return weight * (left + right)

        # The terms alternate from i > order on and fall like i^(-order - 2) only.
        first = int(mpmath.ceil(a)) + 6
        head = mpmath.fsum(term(i) for i in range(first))
        tail_sum = mpmath.nsum(term, [first, mpmath.inf], method="alternating")
        return float(mpmath.log(head + tail_sum) / (a - 1))


@pytest.mark.slow
@each("order", [1.05, 1.5, 2.5, 6.7])
@each("sigma, q", [(0.6, 0.02), (1.0, 0.1), (2.0, 0.2), (4.0, 0.01), (1.5, 0.7)])
def test_fractional_orders_against_the_signed_series(sigma, q, order):
    value = step(sigma, q).rdp([order], method="formula")[0]
    # 30 digits of E f^a lose what the divergence is smaller than 1.
    assert value == pytest.approx(signed_series(sigma, q, order), rel=1e-12)


def test_dropping_the_signs_is_seen():
    """The fault of a well known library at q = 0.2, sigma = 2, order 1.5: 73 percent too much."""
    assert step(2.0, 0.2).rdp([1.5])[0] == pytest.approx(0.00828143317, rel=1e-8)


@pytest.mark.slow
@each("order", [1.0001, 1.01, 3.5, 30.5])
@each("sigma, q", [(0.2, 1e-7), (1.0, 1e-7), (30.0, 1e-7), (1.0, 0.999)])
def test_corners_by_integrating_the_definition(sigma, q, order):
    with mpmath.workdps(40):
        s, rate, a = mpf(sigma), mpf(q), mpf(order)
        f = lambda x: 1 - rate + rate * mpmath.exp((2 * x - 1) / (2 * s**2))
        z0 = mpf(1) / 2 + s**2 * mpmath.log(1 / rate - 1)
        cuts = sorted({*(c * s for c in (-14, -5, 0, 5)), a - 5 * s, a, a + 5 * s, z0, a + 14 * s})
        # E f^a - 1 loses 2 log10(1/q) = 14 of the 40 digits.
        total = mpmath.quad(lambda x: mpmath.npdf(x, 0, s) * (f(x) ** a - 1 - a * (f(x) - 1)), cuts)
        truth = float(mpmath.log1p(total) / (a - 1))
    value = step(sigma, q).rdp([order], method="formula")[0]
    assert value == pytest.approx(truth, rel=1e-11)


def test_orders_together_equal_orders_alone():
    orders = np.concatenate([1 + np.geomspace(1e-4, 10, 40), np.geomspace(12, 1e6, 40)])
    for sigma, q in [(0.5, 1e-3), (2.0, 0.1), (20.0, 0.9)]:
        together = step(sigma, q).rdp(orders)
        alone = np.array([step(sigma, q).rdp([a])[0] for a in orders])
        # The nodes depend on the largest order of a chunk.
        np.testing.assert_allclose(together, alone, rtol=1e-11)


@each("sigma, q", [(0.2, 1e-7), (1.0, 0.01), (1000.0, 0.5), (5.0, 1e-7)])
def test_huge_orders_approach_the_full_batch_less_one_coin(sigma, q):
    """Where the hit outweighs all: D_a -> a / (2 sigma^2) + log(q) a / (a - 1), from above."""
    orders = 10.0 ** np.arange(1, 7)
    value = step(sigma, q).rdp(orders)
    full = orders / (2 * sigma**2)
    assert np.all(np.isfinite(value)) and np.all(np.diff(value) > 0)
    assert np.all(value <= full * (1 + 1e-13))
    # The hit alone: P >= q N(1).
    only_hit = full + math.log(q) * orders / (orders - 1)
    assert np.all(value >= only_hit - 1e-9 * full)
    near = full > 30 + 3 * math.log(1 / q)
    np.testing.assert_allclose(value[near], only_hit[near], rtol=1e-6)


@each("q", [1e-7, 1e-3, 0.3])
def test_small_rates_fall_like_their_square(q):
    """(a - 1) D_a -> q^2 a (a - 1) (e^{1/sigma^2} - 1) / 2 below the phase transition."""
    tiny, orders = 1e-9, np.array([1.5, 2.0, 7.5])
    law = tiny**2 * orders * math.expm1(1 / 4) / 2
    np.testing.assert_allclose(step(2.0, tiny).rdp(orders), law, rtol=1e-6)
    # More records in the sample, more leaks; and it never falls faster than q^2.
    low, high = step(2.0, q / 2).rdp(orders), step(2.0, q).rdp(orders)
    assert np.all(low < high) and np.all(high >= 2 * low)


@each("order", [1.3, 2.0, 12.5])
@each("sigma, q", [(0.5, 0.05), (1.0, 0.3), (3.0, 0.9)])
def test_removing_a_record_is_the_larger_direction(sigma, q, order):
    remove, add = (float(p.renyi(order)) for p in step(sigma, q).profiles())
    assert add < remove == pytest.approx(step(sigma, q).rdp([order])[0], rel=1e-8)


def test_full_rate_is_the_base_itself():
    orders = [1.5, 2.0, 300.0]
    np.testing.assert_array_equal(step(1.3, 1.0).rdp(orders), Gaussian(1.3).rdp(orders))
    near = step(1.3, 1 - 1e-12).rdp(orders)
    np.testing.assert_allclose(near, Gaussian(1.3).rdp(orders), rtol=1e-9)


def test_other_bases_have_no_closed_form():
    sampled = PoissonSubsampled(Laplace(1.0), 0.1)
    with pytest.raises(NotImplementedError, match="poisson_subsampled"):
        sampled.rdp([2.0], method="formula")
    # E_Q f^2 - 1 = q^2 E_Q (r - 1)^2 with r the ratio of the full batch, of any base.
    excess = 0.01 * math.expm1(Laplace(1.0).rdp([2.0])[0])
    assert sampled.rdp([2.0])[0] == pytest.approx(math.log1p(excess), rel=1e-8)
