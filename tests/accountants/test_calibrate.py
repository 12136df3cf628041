"""Calibration: the guarantee returned is within the target, and a hair more is not."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import each
from dplearn.accountants import accountants
from dplearn.calibrate import (
    Calibration,
    Unreachable,
    largest_sample_rate,
    largest_steps,
    smallest_delta,
    smallest_noise_multiplier,
)
from dplearn.ground.guarantee import Guarantee
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
each_name = each("name", accountants)


def proved(name, mechanism, steps=1, adjacency="add_remove", delta=1e-5):
    return accountants[name]().epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)


@each_name
def test_noise_is_enough_and_a_hair_less_is_not(name):
    reached = smallest_noise_multiplier(accountants[name](), mechanism=STEP, steps=500, **TARGET)
    assert reached.parameter == "noise_multiplier"
    assert reached.guarantee == proved(name, STEP.vary(noise_multiplier=reached.value), 500)
    assert reached.guarantee.epsilon <= 2.0
    less = STEP.vary(noise_multiplier=reached.value * (1 - 1e-5))
    assert proved(name, less, 500).epsilon > 2.0


@each_name
def test_rate_is_allowed_and_a_hair_more_is_not(name):
    step = STEP.vary(noise_multiplier=2.0)
    if name == "zcdp":
        # It cannot see sampling, so at this noise no rate helps.
        with pytest.raises(Unreachable, match=r"sample_rate .* by zcdp"):
            largest_sample_rate(accountants[name](), mechanism=step, steps=500, **TARGET)
        return
    reached = largest_sample_rate(accountants[name](), mechanism=step, steps=500, **TARGET)
    assert reached.parameter == "sample_rate" and 0 < reached.value < 1
    assert reached.guarantee == proved(name, step.vary(sample_rate=reached.value), 500)
    assert reached.guarantee.epsilon <= 2.0
    more = proved(name, step.vary(sample_rate=reached.value * (1 + 1e-4)), 500)
    # A single step's epsilon may jump over the target only for the lattice; not here.
    assert more.epsilon > 2.0


@each_name
def test_steps_are_allowed_and_one_more_is_not(name):
    step = STEP.vary(noise_multiplier=4.0)
    reached = largest_steps(accountants[name](), mechanism=step, **TARGET)
    assert reached.parameter == "steps" and isinstance(reached.value, int)
    assert reached.guarantee == proved(name, step, reached.value)
    assert reached.guarantee.epsilon <= 2.0 < proved(name, step, reached.value + 1).epsilon


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


TARGETS = {
    # Section by section a known root: epsilon, delta, q, T, sigma.
    "one": (1.0, 1e-5, 0.01, 10_000, 3.812816835),
    "three": (3.0, 1e-5, 256 / 60_000, 14_062, 0.968407924),
    "eight": (8.0, 1e-6, 0.1, 1000, 2.217591112),
}


class Counting:
    """An accountant that counts how often it is asked, and how roughly."""

    def __init__(self, accountant):
        self.accountant, self.asked = accountant, []

    def __getattr__(self, name):
        return getattr(self.accountant, name)

    def epsilon(self, mechanism, **asked):
        self.asked.append(mechanism)
        return self.accountant.epsilon(mechanism, **asked)


@each("epsilon, delta, q, steps, sigma", TARGETS.values())
def test_golden_runs_backwards(epsilon, delta, q, steps, sigma):
    pld, step = accountants["pld"](), PoissonSubsampled(Gaussian(sigma), q)
    target = {"epsilon": epsilon, "delta": delta}
    noise = smallest_noise_multiplier(pld, mechanism=step, steps=steps, **target)
    # Ten digits are golden; the search stops at 1e-6 and rounds up.
    assert sigma * (1 - 1e-9) <= noise.value <= sigma * (1 + 1e-6)
    rate = largest_sample_rate(pld, mechanism=step, steps=steps, **target)
    assert q * (1 - 2e-6) <= rate.value <= q * (1 + 1e-8)
    # A hair more noise, lest the last digit decide.
    most = largest_steps(pld, mechanism=step.vary(noise_multiplier=sigma * (1 + 1e-9)), **target)
    assert most.value == steps
    for reached in (noise, rate, most):
        assert reached.guarantee.epsilon <= epsilon


@each("epsilon, delta", [(50.0, 1e-5), (1.0, 1e-20), (0.01, 1e-7)])
def test_extreme_targets(epsilon, delta):
    target = {"epsilon": epsilon, "delta": delta}
    reached = smallest_noise_multiplier(
        accountants["pld"](), mechanism=STEP, steps=10_000, **target
    )
    again = proved("pld", STEP.vary(noise_multiplier=reached.value), 10_000, delta=delta)
    assert reached.guarantee == again and again.epsilon <= epsilon
    less = proved(
        "pld", STEP.vary(noise_multiplier=reached.value / (1 + 1.1e-6)), 10_000, delta=delta
    )
    assert less.epsilon > epsilon


def test_few_questions_are_asked():
    """Without an `rtol` to relax, the accountant itself is all there is to ask."""
    for epsilon, delta, q, steps, _ in TARGETS.values():
        rdp = Counting(accountants["rdp"]())
        target = {"epsilon": epsilon, "delta": delta}
        step = STEP.vary(sample_rate=q)
        smallest_noise_multiplier(rdp, mechanism=step, steps=steps, **target)
        assert len(rdp.asked) == len(set(rdp.asked)) <= 9


@each(
    "mechanism, adjacency",
    [
        (Laplace(1.0), "add_remove"),
        (WithoutReplacement(Laplace(1.0), 0.1), "replace_one"),
        (DiscreteGaussian(1.0), "replace_one"),
    ],
)
def test_any_mechanism_with_noise_can_be_asked(mechanism, adjacency):
    reached = smallest_noise_multiplier(
        accountants["pld"](), mechanism=mechanism, steps=10, adjacency=adjacency, **TARGET
    )
    again = proved("pld", mechanism.vary(noise_multiplier=reached.value), 10, adjacency)
    assert reached.guarantee == again and 1.9 < again.epsilon <= 2.0


@settings(max_examples=25)
@given(st.floats(-3, 3), st.floats(-60, -0.7), st.integers(1, 10**6))
def test_gaussian_noise_for_any_target(log_epsilon, log_delta, steps):
    target = {"epsilon": math.exp(log_epsilon), "delta": math.exp(log_delta)}
    reached = smallest_noise_multiplier(
        accountants["gdp"](), mechanism=Gaussian(1.0), steps=steps, **target
    )
    best = Gaussian.analytic(**target).noise_multiplier * math.sqrt(steps)
    assert reached.guarantee.epsilon <= target["epsilon"]
    assert best * (1 - 1e-9) <= reached.value <= best * (1 + 2e-6)


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
        reached = largest_steps(accountants["zcdp"](), mechanism=Gaussian(noise), **TARGET)
        assert 2**39 <= reached.value <= 10**12
        assert reached.guarantee.epsilon <= 2.0


@pytest.mark.slow
def test_rates_far_below_one_are_found():
    noisy = STEP.vary(noise_multiplier=0.3)
    reached = largest_sample_rate(
        accountants["pld"](), mechanism=noisy, epsilon=0.01, delta=1e-9, steps=10_000
    )
    assert 1e-12 < reached.value < 1e-6 and reached.guarantee.epsilon <= 0.01


@each(
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


@each("search", [smallest_noise_multiplier, largest_sample_rate, largest_steps])
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


@pytest.mark.slow
@each_name
def test_the_least_delta_is_that_of_the_accountant(name):
    step = Gaussian(20.0)
    reached = smallest_delta(accountants[name](), mechanism=step, epsilon=1.0, steps=10)
    assert (reached.parameter, reached.value) == ("delta", reached.guarantee.delta)
    assert reached.guarantee == accountants[name]().delta(step, epsilon=1.0, steps=10)
    with pytest.raises(Unreachable, match=f"no delta below 1 is proved by {name}"):
        smallest_delta(accountants[name](), mechanism=Gaussian(0.0), epsilon=2.0)


def test_a_calibration_reads_as_a_sentence():
    reached = largest_steps(accountants["pld"](), mechanism=Gaussian(10.0), epsilon=1.0, delta=1e-5)
    assert str(reached).startswith("steps = 7: epsilon = 0.9")


@each(
    "parameter, value, shown",
    [("noise_multiplier", 3.81281234, "3.81282"), ("sample_rate", 0.0123456789, "0.0123456"),
     ("delta", 1.2345612e-7, "1.23457e-07"), ("steps", 1234567, "1234567")],
)  # fmt: skip
def test_what_is_shown_is_proved_too(parameter, value, shown):
    guarantee = Guarantee(epsilon=1.0, delta=1e-5, kind="upper", method="m", adjacency="add_remove")
    reached = Calibration(parameter=parameter, value=value, guarantee=guarantee)
    assert str(reached) == f"{parameter} = {shown}: {guarantee}"
