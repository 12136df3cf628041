"""Calibration: the guarantee returned is within the target, and a hair more is not."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dplearn.accountants import accountants
from dplearn.calibrate import (
    Unreachable,
    largest_sample_rate,
    largest_steps,
    smallest_noise_multiplier,
)
from dplearn.mechanisms import (
    Composed,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PoissonSubsampled,
    WithoutReplacement,
)

TARGET = {"epsilon": 2.0, "delta": 1e-5}
STEP = PoissonSubsampled(Gaussian(1.0), 0.01)
each_name = pytest.mark.parametrize("name", accountants)


def asked(name, mechanism, steps=1, adjacency="add_remove", delta=1e-5):
    return accountants[name]().epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)


@each_name
def test_noise_is_enough_and_a_hair_less_is_not(name):
    found = smallest_noise_multiplier(accountants[name](), mechanism=STEP, steps=500, **TARGET)
    assert found.parameter == "noise_multiplier"
    assert found.guarantee == asked(name, STEP.vary(noise_multiplier=found.value), 500)
    assert found.guarantee.epsilon <= 2.0
    less = STEP.vary(noise_multiplier=found.value * (1 - 1e-5))
    assert asked(name, less, 500).epsilon > 2.0


@each_name
def test_rate_is_allowed_and_a_hair_more_is_not(name):
    step = STEP.vary(noise_multiplier=2.0)
    if name == "zcdp":
        # It cannot see sampling, so at this noise no rate helps.
        with pytest.raises(Unreachable, match=r"sample_rate .* by zcdp"):
            largest_sample_rate(accountants[name](), mechanism=step, steps=500, **TARGET)
        return
    found = largest_sample_rate(accountants[name](), mechanism=step, steps=500, **TARGET)
    assert found.parameter == "sample_rate" and 0 < found.value < 1
    assert found.guarantee == asked(name, step.vary(sample_rate=found.value), 500)
    assert found.guarantee.epsilon <= 2.0
    more = asked(name, step.vary(sample_rate=found.value * (1 + 1e-4)), 500)
    # A single step's epsilon may jump over the target only for the lattice; not here.
    assert more.epsilon > 2.0


@each_name
def test_steps_are_allowed_and_one_more_is_not(name):
    step = STEP.vary(noise_multiplier=4.0)
    found = largest_steps(accountants[name](), mechanism=step, **TARGET)
    assert found.parameter == "steps" and isinstance(found.value, int)
    assert found.guarantee == asked(name, step, found.value)
    assert found.guarantee.epsilon <= 2.0 < asked(name, step, found.value + 1).epsilon


def test_golden_noise():
    """Exact roots: Balle & Wang for one release, the contour integral for a run."""
    pld = accountants["pld"]()
    exact = smallest_noise_multiplier(pld, mechanism=Gaussian(1.0), epsilon=1.0, delta=1e-5)
    assert exact.value == pytest.approx(3.730631635, rel=2e-6)
    assert exact.guarantee.kind == "exact"
    run = smallest_noise_multiplier(
        pld, mechanism=STEP, epsilon=1.0, delta=1e-5, steps=10_000, rtol=1e-9
    )
    assert run.value == pytest.approx(3.812816835, rel=1e-7)
    half = smallest_noise_multiplier(
        pld, mechanism=Gaussian(1.0), epsilon=1.0, delta=1e-5, adjacency="replace_one"
    )
    assert half.value == pytest.approx(2 * exact.value, rel=1e-5)


@pytest.mark.parametrize(
    "mechanism, adjacency",
    [
        (Laplace(1.0), "add_remove"),
        (WithoutReplacement(Laplace(1.0), 0.1), "replace_one"),
        (DiscreteGaussian(1.0), "replace_one"),
    ],
    ids=str,
)
def test_any_mechanism_with_noise_can_be_asked(mechanism, adjacency):
    found = smallest_noise_multiplier(
        accountants["pld"](), mechanism=mechanism, steps=10, adjacency=adjacency, **TARGET
    )
    again = asked("pld", mechanism.vary(noise_multiplier=found.value), 10, adjacency)
    assert found.guarantee == again and 1.9 < again.epsilon <= 2.0


@settings(max_examples=25)
@given(st.floats(-3, 3), st.floats(-60, -0.7), st.integers(1, 10**6))
def test_gaussian_noise_for_any_target(log_epsilon, log_delta, steps):
    target = {"epsilon": math.exp(log_epsilon), "delta": math.exp(log_delta)}
    found = smallest_noise_multiplier(
        accountants["gdp"](), mechanism=Gaussian(1.0), steps=steps, **target
    )
    best = Gaussian.analytic(**target).noise_multiplier * math.sqrt(steps)
    assert found.guarantee.epsilon <= target["epsilon"]
    assert best * (1 - 1e-9) <= found.value <= best * (1 + 2e-6)


def test_ends_of_the_range():
    pld = accountants["pld"]()
    # So generous a target that the least noise tried is enough.
    least = smallest_noise_multiplier(pld, mechanism=Gaussian(1.0), epsilon=1e8, delta=1e-5)
    assert least.value == pytest.approx(1e-3) and least.guarantee.epsilon <= 1e8
    whole = largest_sample_rate(pld, mechanism=STEP.vary(noise_multiplier=50.0), **TARGET)
    assert whole.value == 1.0
    none = largest_steps(pld, mechanism=Gaussian(0.1), **TARGET)
    assert (none.value, none.guarantee.epsilon) == (0, 0.0)


def test_so_many_steps_that_the_search_ends():
    """At the limit of 10^12 steps the answer is that limit or below, not an error."""
    for noise in (1e7, 1e9):
        found = largest_steps(accountants["zcdp"](), mechanism=Gaussian(noise), **TARGET)
        assert 2**39 <= found.value <= 10**12
        assert found.guarantee.epsilon <= 2.0


def test_rates_far_below_one_are_found():
    noisy = STEP.vary(noise_multiplier=0.3)
    found = largest_sample_rate(
        accountants["pld"](), mechanism=noisy, epsilon=0.01, delta=1e-9, steps=10_000
    )
    assert 1e-12 < found.value < 1e-6 and found.guarantee.epsilon <= 0.01


@pytest.mark.parametrize(
    "search, target, parameter",
    [
        (smallest_noise_multiplier, {"epsilon": 0.1, "delta": 1e-5}, "noise_multiplier"),
        (largest_sample_rate, {"epsilon": 0.1, "delta": 1e-5}, "sample_rate"),
    ],
)
def test_out_of_reach_says_how_far_one_got(search, target, parameter):
    # The moments accountant cannot fall below ln(1/delta) / 32 = 0.36.
    message = f"got epsilon=0.1: the smallest epsilon found over all {parameter} is 0.359"
    with pytest.raises(Unreachable, match=message):
        search(accountants["moments"](), mechanism=STEP, **target)


@pytest.mark.parametrize("search", [smallest_noise_multiplier, largest_sample_rate, largest_steps])
def test_bad_targets_are_named(search):
    for target, named in [({"epsilon": 0.0, "delta": 1e-5}, "epsilon"),
                          ({"epsilon": math.inf, "delta": 1e-5}, "epsilon"),
                          ({"epsilon": 1.0, "delta": 0.0}, "delta")]:  # fmt: skip
        with pytest.raises(ValueError, match=named):
            search(accountants["rdp"](), mechanism=STEP, **target)


def test_what_has_no_such_parameter_says_so():
    with pytest.raises(ValueError, match="parameter of gaussian, got 'sample_rate'"):
        largest_sample_rate(accountants["rdp"](), mechanism=Gaussian(1.0), **TARGET)
    with pytest.raises(ValueError, match="parameter of composed"):
        smallest_noise_multiplier(
            accountants["rdp"](), mechanism=Composed([Gaussian(1.0)]), **TARGET
        )
    with pytest.raises(NotImplementedError, match="replace_one"):
        largest_steps(accountants["rdp"](), mechanism=STEP, adjacency="replace_one", **TARGET)


def test_a_calibration_reads_as_a_sentence():
    found = largest_steps(accountants["pld"](), mechanism=Gaussian(10.0), epsilon=1.0, delta=1e-5)
    assert str(found).startswith("steps = 7: epsilon = 0.9")
