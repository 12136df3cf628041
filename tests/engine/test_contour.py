"""Composition by contour integral: brackets are valid, and every error bound is needed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each, golden
from dplearn import Gaussian, PoissonSubsampled
from dplearn.engine.contour import SampledGaussian, brackets, deltas, log_moments, worse_brackets
from dplearn.engine.contour.epsilon import TRIES, tries
from dplearn.engine.contour.line import Line
from dplearn.engine.contour.table import Table, largest_power
from dplearn.engine.contour.trapezoid import Trapezoid
from dplearn.teaching.book.published import number

DIRECTIONS = ("remove", "add")


def bracket(sigma, q, steps, delta, rtol=1e-6):
    lower, upper = worse_brackets([steps], sigma=sigma, q=q, delta=delta, rtol=rtol)
    return float(lower[0]), float(upper[0])


@each("rtol", [1e-2, 1e-6])
@each("row", [row for row in golden("sampled_gaussian_epsilon") if number(row["sample_rate"]) < 1])
def test_bracket_of_epsilon_is_narrow_and_contains_the_high_precision_value(row, rtol):
    setting = [number(row[k]) for k in ("noise_multiplier", "sample_rate", "steps", "delta")]
    (lower, upper), target = bracket(*setting, rtol), number(row["value"])
    # Values of the table have `digits` digits, doubles about 16.
    doubt = target * 10.0 ** (1 - min(int(row["digits"]), 16))
    assert lower <= target + doubt and target - doubt <= upper
    assert upper - lower <= rtol * target


def test_brackets_are_narrow_even_if_the_saddle_point_estimate_is_poor():
    # The tilted loss has two peaks, and the saddle point estimate is wrong by a factor of ten.
    poor = (0.69, 3.1e-5, 70563, 2e-4), (3.95, 1.2e-5, 440, 3e-9), (0.74, 7.6e-4, 16541, 9e-22)
    for setting in poor:
        lower, upper = bracket(*setting)
        assert lower > 0 and upper - lower < 1e-5 * upper, setting


def logarithmic(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


SETTINGS = {
    "sigma": logarithmic(0.3, 100),
    "q": logarithmic(1e-5, 0.999),
    "steps": logarithmic(1, 1e6).map(round),
    "delta": logarithmic(1e-30, 1e-3),
}


@pytest.mark.slow
@given(**SETTINGS, side=st.sampled_from([*DIRECTIONS, "replace"]))
def test_bounds_on_delta_are_monotone_and_valid_for_one_step(sigma, q, steps, delta, side):
    pair = SampledGaussian(sigma, q, side)
    lower, upper = deltas(pair, steps, np.append(0, np.geomspace(1e-6, 50, 8)))
    assert np.all(lower <= upper) and np.all(upper <= 0)
    # Lower bounds never exceed upper bounds at smaller epsilons.
    assert np.all(lower[1:] <= np.minimum.accumulate(upper)[:-1])
    kind = "replace_one" if side == "replace" else "add_remove"
    profile = PoissonSubsampled(Gaussian(sigma), q).profiles(kind)[side == "add"]
    epsilon = float(profile.epsilon(delta))
    lower, upper = brackets(pair, [1], delta=delta)
    assert lower[0] <= epsilon * (1 + 1e-9) + 1e-13
    assert upper[0] >= epsilon * (1 - 1e-9) - 1e-13
    at = np.array([0.0, 0.3 * epsilon, epsilon])
    low, high = deltas(pair, 1, at)
    with np.errstate(divide="ignore"):
        exact = np.log(np.asarray(profile.delta(at), dtype=float))
    # Tolerance: the closed form is a difference of two numbers near one.
    doubt = 1e-9 + 1e-13 / np.maximum(np.exp(exact), 1e-300)
    assert np.all(low <= exact + doubt)
    assert np.all((high >= exact - doubt) | (high < -700))


def test_log_delta_has_narrow_bounds_where_delta_underflows():
    lower, upper = deltas(SampledGaussian(2.0, 0.1, "remove"), 1000, [0.0, 1.0, 60.0, 150.0])
    assert np.all(np.isfinite(lower))
    assert np.all(upper - lower < 1e-5)
    assert upper[-1] < -1000


@each("side", [*DIRECTIONS, "replace"])
@each("sigma, q", [(1.1, 0.004), (4, 0.01), (0.5, 0.3), (100, 0.9)])
def test_log_moments_equal_scaled_renyi_divergences(sigma, q, side):
    mu = np.array([0.25, 1.0, 1.5, 7.0, 31.5])
    found = log_moments(SampledGaussian(sigma, q, side), mu)
    replaced = side == "replace"
    step, kind = PoissonSubsampled(Gaussian(sigma), q), "replace_one" if replaced else "add_remove"
    exact = step.rdp(1 + mu, adjacency=kind) * mu
    # `rdp` returns the larger divergence, that for a removed record.
    hair = 1e-9 if replaced else 1e-12
    assert np.all(found <= exact * (1 + hair) + 1e-14)
    if side != "add":
        np.testing.assert_allclose(found, exact, rtol=hair, atol=1e-14)


def test_exchanging_remove_and_add_does_not_change_the_larger_epsilon(monkeypatch):
    # After the exchange, epsilon of "add" is the larger one.
    sigma, q, delta = 2.0, 0.1, 1e-5
    rows, swap = np.array([10, 1000, 100_000]), {"remove": "add", "add": "remove"}
    expected = worse_brackets(rows, sigma=sigma, q=q, delta=delta)
    monkeypatch.setattr(
        "dplearn.engine.contour.epsilon.SampledGaussian",
        lambda s, r, d: SampledGaussian(s, r, swap[d]),
    )
    found = worse_brackets(rows, sigma=sigma, q=q, delta=delta)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_brackets_are_narrow_even_if_few_steps_need_longer_sums_than_many_steps():
    # Few and many steps share a tilt and a sum, which is too short for few steps.
    rows = np.array([1, 2, 3, 5, 8, 13, 30, 100, 400, 2000, 10_000, 100_000])
    setting = {"sigma": 4.12365984, "q": 2.26995295e-03, "delta": 2.11808001e-04}
    lower, upper = worse_brackets(rows, **setting)
    assert np.all(upper - lower <= 1.01e-6 * upper)


@each("side", DIRECTIONS)
def test_likelihood_ratio_off_the_real_axis_equals_its_closed_form(side):
    pair, tilt = SampledGaussian(0.7, 0.02, side), 3.0
    x = np.linspace(-5, 9, 4000)
    on_axis, _ = pair.log_ratio(x)
    for phi in (0.1, 1.0, 2.0, 3.0):
        size, angle = pair.log_ratio(x, phi)
        exact = np.log1p(-0.02 + 0.02 * np.exp((2 * (x + 0.49j * phi) - 1) / 0.98))
        np.testing.assert_allclose(size + 1j * angle, exact, atol=1e-13)
        assert np.all((angle >= 0) & (angle <= phi))
        growth = (1 + tilt if side == "remove" else -tilt) * (size - on_axis)
        assert np.all(growth <= pair.loss_of_cosine(phi, tilt) + 1e-12)
        assert np.max(growth) >= pair.loss_of_cosine(phi, tilt) - 0.1


@each("side", [*DIRECTIONS, "replace"])
def test_truncation_bound_decreases_and_lies_above_the_integrand(side):
    line, h = Line(SampledGaussian(0.8, 0.01, side), 9.0), 0.05
    bound, *_ = line.cutoffs(np.array([10.0]), np.array([30.0]))
    size = np.log(np.abs(line.transform(h, 512)))[1:] + line.top + line.norm
    most = bound.log_at(h * np.arange(1, 512))
    assert np.all(most >= size)
    assert np.all(np.diff(most) <= 1e-9)
    # A tight bound lets the sum stop early.
    assert np.median(most - size) < (3.0 if side == "replace" else 1.0)


CASE = (2.0, 0.05, 400, 1e-6)


def misses(setting, truth, rtol=1e-6):
    lower, upper = bracket(*setting, rtol=rtol)
    assert math.isfinite(upper), "nothing was claimed"
    return lower > truth[1] or upper < truth[0]


def accept_anything(monkeypatch):
    """Make the engine accept brackets with large error bounds."""
    monkeypatch.setattr(Trapezoid, "poor", lambda self, charges: charges[0] < 0)
    monkeypatch.setattr("dplearn.engine.contour.epsilon._POOR", 1e300)


def cut_early(monkeypatch, part):
    cutoffs = Line.cutoffs

    def early(*args):
        bound, cuts, _ = cutoffs(*args)
        return bound, part * cuts, bound.log_at(part * cuts)

    monkeypatch.setattr("dplearn.engine.contour.epsilon._FEWEST_NODES", 4)
    monkeypatch.setattr(Line, "cutoffs", early)


def shorten_the_period(monkeypatch, part):
    period = Table.period
    monkeypatch.setattr(Table, "period", lambda *a: part * period(*a))


def drop_bounds(monkeypatch, names):
    """Remove error bounds of sums after they are computed."""
    whole = Trapezoid.__init__

    def init(self, *args):
        whole(self, *args)
        for name in names:
            setattr(self, name, getattr(self, name) - math.inf)

    monkeypatch.setattr(Trapezoid, "__init__", init)


@each("part", [0.5, 0.35])
@each(
    "spoil, charges",
    [(cut_early, ["log_cut"]), (shorten_the_period, ["log_aliases", "log_left"])],
)
def test_brackets_are_wrong_without_truncation_and_alias_bounds(monkeypatch, spoil, part, charges):
    target = bracket(*CASE, rtol=1e-8)
    assert target[1] - target[0] < 1e-7 * target[1]
    with monkeypatch.context() as patch:
        accept_anything(patch)
        spoil(patch, part)
        assert not misses(CASE, target)
        drop_bounds(patch, charges)
        assert misses(CASE, target)


@each(
    "setting, truth",
    [((1.1, 256 / 60000, 10**6, 1e-5), 31.58672802390752),
     ((2.0, 0.1, 1000, 1e-100), 43.48559086275637)],
)  # fmt: skip
def test_brackets_are_wrong_without_the_bound_on_rounding_errors(monkeypatch, setting, truth):
    assert not misses(setting, (truth, truth), rtol=1e-13)
    with monkeypatch.context() as patch:
        patch.setattr(Trapezoid, "rounding", lambda self, e: np.zeros(e.shape))
        assert misses(setting, (truth, truth), rtol=1e-13)


def test_epsilon_has_no_upper_bound_if_the_sum_needs_too_many_nodes(monkeypatch):
    assert max(most for most, *_ in TRIES) == 2**16
    pair = SampledGaussian(1.1, 256 / 60000, "remove")
    target = deltas(pair, 2, [0.1])
    short = tuple((min(most, 2**9), *more) for most, *more in TRIES)
    monkeypatch.setattr(tries, "__defaults__", (short, None))
    monkeypatch.setattr("dplearn.engine.contour.epsilon.TRIES", short)
    monkeypatch.setattr("dplearn.engine.contour.epsilon.ALONE", ())
    assert bracket(1.1, 256 / 60000, 2, 1e-5) == (0.0, math.inf)
    lower, upper = deltas(pair, 2, [0.1])
    table = Table(pair, largest_power(pair, -20.0))
    assert lower[0] == -math.inf
    # The upper bound on delta is still valid.
    assert target[0][0] <= upper[0] <= np.min(table.chernoff(np.array([2.0]), np.array([0.1])))


def test_fourier_transform_does_not_overflow_for_tiny_noise_and_sample_rate():
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        values = Line(SampledGaussian(0.025, 1e-12, "remove"), 1e-3).transform(1e-6, 64)
    assert np.all(np.isfinite(values))


@each("sigma, q, delta", [(2.0, 1e-3, 1e-7), (0.4, 0.1, 1e-4)])
def test_bracket_of_two_steps_agrees_with_an_integral_over_the_first_output(sigma, q, delta):
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
