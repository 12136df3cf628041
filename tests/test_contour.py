"""The contour integral: brackets that contain the truth, and charges that are needed."""

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dplearn import Gaussian, PoissonSubsampled, contour
from dplearn.contour import SampledGaussian, brackets
from dplearn.lattice import Lattice

GOLDEN = Path(__file__).parent / "golden" / "sampled_gaussian_epsilon.csv"


def golden():
    with GOLDEN.open() as file:
        rows = [row for row in csv.DictReader(file) if Fraction(row["sample_rate"]) < 1]
    for row in rows:
        values = [
            float(Fraction(row[k])) for k in ("noise_multiplier", "sample_rate", "steps", "delta")
        ]
        name = "sigma={} q={} T={} delta={}".format(*(row[k] for k in list(row)[1:5]))
        yield pytest.param(*values, float(row["value"]), int(row["digits"]), id=name)


def worse(sigma, q, steps, delta):
    """The bracket of the larger direction."""
    ends = [
        brackets(SampledGaussian(sigma, q, side), np.array([steps]), delta=delta)
        for side in ("remove", "add")
    ]
    return max(float(low[0]) for low, _ in ends), max(float(high[0]) for _, high in ends)


@pytest.mark.parametrize("sigma, q, steps, delta, truth, digits", list(golden()))
def test_bracket_contains_the_high_precision_value(sigma, q, steps, delta, truth, digits):
    lower, upper = worse(sigma, q, steps, delta)
    # The table is rounded to `digits`; binary64 carries about 16.
    doubt = truth * 10.0 ** (1 - min(digits, 16))
    assert lower <= truth + doubt
    assert upper >= truth - doubt


def test_most_brackets_are_narrow():
    widths = []
    for case in golden():
        sigma, q, steps, delta, truth, _ = case.values
        if steps >= 1000:
            low, high = brackets(SampledGaussian(sigma, q, "remove"), [steps], delta=delta)
            widths.append((high[0] - low[0]) / truth)
    assert len(widths) >= 20
    assert np.median(widths) < 1e-6
    assert np.mean(np.isfinite(widths)) > 0.9


RANDOM = np.random.default_rng(11)
SETTINGS = [
    (
        float(10 ** RANDOM.uniform(-0.4, 0.9)),
        float(10 ** RANDOM.uniform(-3.5, -0.05)),
        int(10 ** RANDOM.uniform(0.5, 6)),
        float(10 ** RANDOM.uniform(-30, -2)),
    )
    for _ in range(150)
]


@pytest.mark.parametrize("side", ["remove", "add"])
def test_lower_end_never_exceeds_the_lattice(side):
    # Two independent engines: the lattice is an upper bound built from the profile alone.
    reached = 0
    for sigma, q, steps, delta in SETTINGS:
        profile = PoissonSubsampled(Gaussian(sigma), q).profiles()[side == "add"]
        # Several lengths at once: they share a lattice and must not spoil each other.
        rows = np.array([steps, 2 * steps, 3 * steps])
        above = Lattice(1e-2, 2**13).epsilons([profile], rows[:, None], delta=delta)
        lower, upper = brackets(SampledGaussian(sigma, q, side), rows, delta=delta)
        assert np.all(lower <= upper)
        assert np.all(lower <= above * (1 + 1e-12))
        reached += np.isfinite(upper[0])
    assert reached > 75


def test_transform_equals_the_integral_of_its_definition():
    import mpmath as mp

    pair, tilt, h = SampledGaussian(1.3, 0.05, "remove"), 6.0, 0.7
    line = contour._Line(pair, tilt)
    values = line.transform(h, 5) * math.exp(line.top + line.norm)
    for k in (0, 2, 5):
        z = mp.mpc(tilt, k * h)

        def density(x, z=z):
            f = 0.95 + 0.05 * mp.exp((2 * x - 1) / (2 * mp.mpf("1.3") ** 2))
            return mp.npdf(x, 0, mp.mpf("1.3")) * f ** (1 + z)

        exact = complex(mp.quad(density, [-14, -5, 0, 5, 10, 22]))
        assert values[k] == pytest.approx(exact, rel=1e-12)


def test_truncation_bound_lies_above_the_integrand():
    for side in ("remove", "add"):
        line = contour._Line(SampledGaussian(0.8, 0.01, side), 9.0)
        h, count = 0.05, 400
        size = np.log(np.abs(line.transform(h, count))) + line.top + line.norm
        bound = line.log_bound(h * np.arange(1, count + 1))
        assert np.all(bound >= size[1:] - 1e-9)
        # And it bounds everything further out, so it decreases.
        assert np.all(np.diff(bound) <= 1e-9)


CASE = (2.0, 0.05, 400, 1e-6)


def _truth():
    lower, upper = worse(*CASE)
    assert upper - lower < 1e-6 * upper
    return lower, upper


def test_dropping_the_truncation_charge_shows(monkeypatch):
    lower, upper = _truth()
    # Cut the sum far too early: only the charge keeps the bracket honest.
    monkeypatch.setattr(contour._Line, "cutoff", lambda self, *a: 0.35 * _cutoff(self, *a))
    low, high = worse(*CASE)
    assert low <= upper and high >= lower
    monkeypatch.setattr(contour._Sum, "_log_truncation", lambda self, e: np.full(e.shape, -np.inf))
    low, high = worse(*CASE)
    assert low > upper or high < lower


_cutoff = contour._Line.cutoff


def test_dropping_the_alias_charge_shows(monkeypatch):
    lower, upper = _truth()
    monkeypatch.setattr(contour, "_period", lambda *a: 0.35 * _period(*a))
    low, high = worse(*CASE)
    assert low <= upper and high >= lower
    monkeypatch.setattr(contour._Sum, "_log_aliases", lambda self, e: np.full(e.shape, -np.inf))
    low, high = worse(*CASE)
    assert low > upper


_period = contour._period
