"""The small-rate correction: its identity, its bounds, and a necessary charge."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr

from cases import each
from dplearn import Gaussian, PoissonSubsampled
from dplearn.engine.contour import SampledGaussian, brackets
from dplearn.engine.contour.pair import ULP
from dplearn.engine.contour.small_rate import (
    PartMajorant,
    Remainder,
    Split,
    left_part,
    log_left_part,
)
from dplearn.engine.contour.trapezoid import Trapezoid
from outcomes import assert_suits

S3, DELTA = SampledGaussian(0.8, 0.001, "remove"), 1e-6


def left_out(x0):
    """Return 1 - chi, the part of the law excluded from the integral."""
    return lambda x: np.exp(log_left_part((x0 - x) / (0.2 * S3.sigma)))


def two_steps(epsilon, part=np.ones_like, nodes=2001):
    """Return delta of two steps of the given part of the law, by definition."""
    x = np.linspace(-9 * S3.sigma, 1 + 9 * S3.sigma, nodes)
    loss = S3.log_ratio(x)[0]
    normal = np.exp(-0.5 * (x / S3.sigma) ** 2) / S3.sigma / math.sqrt(2 * math.pi)
    mass = normal * np.exp(loss) * part(x) * (x[1] - x[0])
    each_first = [np.maximum(0, -np.expm1(epsilon - s - loss)) @ mass for s in loss]
    return float(mass @ each_first)


@each("epsilon", [0.01, 0.02])
def test_integral_plus_remainder_is_delta(epsilon):
    line, h, count = Split(S3, 5.0, 2.5), 0.4, 2**16
    whole, rest = line.ratios(h, count)
    z = line.tilt + 1j * h * np.arange(count)
    terms = (whole**2 - rest**2) * np.exp(-z * epsilon) / (z * (1 + z))
    left = math.exp(2 * line.log_m) * h / math.pi * (terms.sum() - terms[0] / 2).real
    whole, rest = two_steps(epsilon), two_steps(epsilon, left_out(2.5))
    assert left == pytest.approx(whole - rest, rel=1e-3)
    assert rest > 0.01 * whole


@each("x0", [0.5, 1.2, 1.7, 2.5, 4.0])
@each("epsilon", [0.01, 0.05, 0.3])
def test_bound_on_the_remainder_holds(x0, epsilon):
    true = two_steps(epsilon, left_out(x0), nodes=1001)
    row = np.array([2.0]), np.array([epsilon])
    bound = min(Remainder(S3).log_delta(x0, *row, np.array([-aim]))[0] for aim in range(1, 50))
    assert math.log(max(true, 1e-300)) <= bound
    if x0 == 4.0:
        # Nearly all runs are excluded; the slack is that of a Chernoff bound.
        assert bound < math.log(true) + 4


def test_cells_have_normal_masses():
    """Cell i ends at x[i]; the first cell extends to -inf."""
    cells = Remainder(S3)
    mass = np.diff(ndtr(cells.x / S3.sigma), prepend=0.0)
    near = np.abs(cells.x) < 4 * S3.sigma  # farther out the differences cancel
    np.testing.assert_allclose(np.exp(cells.log_mass)[near], mass[near], rtol=1e-8)
    assert np.exp(cells.log_mass).sum() == pytest.approx(1, rel=1e-8)


def test_truncation_bound_lies_above_the_integrand():
    """The bound is tight at t = 0, where it is |M - M_a|."""
    line, h = Split(S3, 5.0, 1.7), 8.0
    whole, rest = line.ratios(h, 512)
    size = np.log(np.abs(whole - rest)) + line.log_m
    most = PartMajorant.of(line, 1e-4).log_at(h * np.arange(512))
    later = np.maximum.accumulate(size[::-1])[::-1]
    assert np.all(most >= later - 1e-9) and np.min(most - size) < math.log(2)


def both_sides(w):
    """Return 1 - chi and chi to forty digits, with three times as many densities."""
    centres = [mp.mpf(k) / 2 + mp.mpf(1) / 4 for k in range(54)]
    normal = lambda v: mp.exp(-v * v / 2) / 2 / mp.sqrt(2 * mp.pi)
    return tuple(mp.fsum(normal(side * w - c) for c in centres) for side in (1, -1))


@pytest.mark.slow
def test_rounding_bound_of_chi():
    allowed, errors = [], []
    for x0, sigma in ((1.7, 0.8), (0.3, 0.3), (9.0, 4.0), (1.02, 0.03)):
        line = Split(SampledGaussian(sigma, 0.01, "remove"), 4.0, x0)
        with mp.workdps(40):
            for j in np.flatnonzero(np.abs(line.small) > 1e-250)[::12]:
                # Exact position of the node, whose double is rounded.
                x = mp.mpf(line.x[0]) + int(j) * (mp.mpf(line.x[1]) - mp.mpf(line.x[0]))
                w = (mp.mpc(x, line.height) - x0) / mp.mpf(line.width)
                chi = both_sides(w)[0] if line.left[j] else 1 - both_sides(w)[1]
                value = line.small[j] if line.left[j] else 1 - line.small[j]
                errors.append(abs(mp.mpc(value) - chi))
                allowed.append(ULP * line.ulps_of_cut()[j])
    assert_suits(allowed, errors)


def test_chi_and_its_complement_sum_to_one():
    with mp.workdps(40):
        for w in (mp.mpf(0), mp.mpf("-0.2"), mp.mpc("-0.1", "1.46"), mp.mpc("-3", "1.46")):
            assert abs(sum(both_sides(w)) - 1) < 1e-25
            # The omitted densities are below rounding.
            short = left_part(np.array([complex(w)]))[0]
            assert abs(mp.mpc(short) - both_sides(mp.mpc(complex(w)))[0]) < 1e-15 * abs(short)
    w = np.linspace(-300, 300, 4001)
    assert np.all(np.diff(log_left_part(w)) >= 0) and np.all(log_left_part(w) <= 0)
    near = np.linspace(-8, 8, 101)
    np.testing.assert_allclose(
        np.exp(log_left_part(near)) + np.exp(log_left_part(-near)), 1, rtol=1e-14
    )


@each(
    "sigma, q, delta", [(0.8, 0.001, 1e-6), (0.5, 0.01, 1e-6), (2.0, 1e-3, 1e-7), (0.4, 0.1, 1e-4)]
)
def test_two_steps_equal_integral_of_the_closed_form(sigma, q, delta):
    pair, (remove, _) = (
        SampledGaussian(sigma, q, "remove"),
        PoissonSubsampled(Gaussian(sigma), q).profiles(),
    )
    (lower,), (upper,) = brackets(pair, [2], delta=delta)
    assert 0 < upper - lower < 1e-6 * upper
    x = np.linspace(-12 * sigma, 2 + 12 * sigma, 200_001)
    loss = pair.log_ratio(x)[0]
    log = loss - 0.5 * (x / sigma) ** 2
    weight = np.exp(log) * (x[1] - x[0]) / sigma / math.sqrt(2 * math.pi)
    at = [weight @ remove.delta(epsilon - loss) for epsilon in (lower, upper)]
    # The trapezoidal rule in x has a relative error of 1e-9.
    assert at[1] <= delta * (1 + 1e-9) and at[0] >= delta * (1 - 1e-9)


def test_charge_of_the_remainder_is_needed(monkeypatch):
    (low,), (high,) = brackets(S3, [3], delta=DELTA)
    place = Remainder.place

    def late(part):
        def placed(self, *row):
            x0 = place(self, *row)[0] + 0.8
            return x0, self.log_delta(x0, *row) + part

        monkeypatch.setattr(Remainder, "place", placed)
        (lower,), (upper,) = brackets(S3, [3], delta=DELTA)
        return lower <= high and low <= upper

    monkeypatch.setattr(Trapezoid, "poor", lambda self, charges: charges[0] < 0)
    monkeypatch.setattr("dplearn.engine.contour.epsilon._POOR", 1e300)
    monkeypatch.setattr("dplearn.engine.contour.epsilon.ALONE", ())
    monkeypatch.setattr(
        "dplearn.engine.contour.epsilon.tries.__defaults__", (((2**16, 2.0, 1.4, True),), None)
    )
    assert late(0.0)
    assert not late(-1000.0)
