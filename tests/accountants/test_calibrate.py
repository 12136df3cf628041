"""Calibration: results reach the target, and values with slightly less privacy do not."""

import math
from functools import partial
from unittest.mock import Mock

import pytest
from scipy.stats import norm

from cases import each
from dplearn import (
    ACCOUNTANTS,
    Gaussian,
    Laplace,
    calibrate,
    largest_sample_rate,
    smallest_noise_multiplier,
)
from dplearn.calibrate import Attack, Unreachable, largest_steps
from dplearn.mechanisms import PoissonSubsampled, WithoutReplacement

TARGET = {"epsilon": 2.0, "delta": 1e-5}
STEP = PoissonSubsampled(Gaussian(1.0), 0.01)
PLD = ACCOUNTANTS["pld"]()
each_name = each("name", ACCOUNTANTS)


def proved(name, mechanism, steps=1, adjacency="add_remove", delta=1e-5):
    return ACCOUNTANTS[name]().epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)


@each("search, parameter, step, further", [
    (smallest_noise_multiplier, "noise_multiplier", STEP, lambda noise: noise * (1 - 1e-5)),
    (largest_sample_rate, "sample_rate", STEP.vary(noise_multiplier=2.0), lambda q: q * (1 + 1e-4)),
    (largest_steps, "steps", STEP.vary(noise_multiplier=4.0), lambda steps: steps + 1),
])  # fmt: skip
@each_name
def test_calibrated_parameter_reaches_the_target_and_the_next_value_does_not(
    name, search, parameter, step, further
):
    steps = {} if parameter == "steps" else {"steps": 500}
    calibrate = partial(search, step, name, **steps, **TARGET)
    if (name, parameter) == ("zcdp", "sample_rate"):
        # zcdp ignores sampling, so no rate reaches the target.
        with pytest.raises(Unreachable, match=r"sample_rate .* by zcdp"):
            calibrate()
        return

    def guarantee_at(value):
        if parameter == "steps":
            return proved(name, step, value)
        return proved(name, step.vary(**{parameter: value}), **steps)

    reached = calibrate()
    assert reached.parameter == parameter and isinstance(reached.value, float if steps else int)
    assert reached.guarantee == guarantee_at(reached.value)
    assert reached.guarantee.epsilon <= 2.0 < guarantee_at(further(reached.value)).epsilon


def test_noise_of_sampled_laplace_is_calibrated_under_replace_one():
    step, run = WithoutReplacement(Laplace(1.0), 0.1), {"steps": 10, "adjacency": "replace_one"}
    reached = smallest_noise_multiplier(step, **run, **TARGET)
    again = proved("pld", step.vary(noise_multiplier=reached.value), **run)
    assert reached.guarantee == again and 1.9 < again.epsilon <= 2.0


# Epsilon, delta, sample rate, steps, and the known noise multiplier.
TARGETS = [
    (1.0, 1e-5, 0.01, 10_000, 3.812816835),
    (3.0, 1e-5, 256 / 60_000, 14_062, 0.968407924),
    (8.0, 1e-6, 0.1, 1000, 2.217591112),
]


def test_calibration_evaluates_epsilon_at_most_nine_times():
    """An accountant without `rtol` has no coarse version, so all evaluations are full ones."""
    rdp = ACCOUNTANTS["rdp"]()
    for epsilon, delta, q, steps, _ in TARGETS:
        counting = Mock(spec=rdp, wraps=rdp)
        question = {"steps": steps, "epsilon": epsilon, "delta": delta}
        smallest_noise_multiplier(STEP.vary(sample_rate=q), counting, **question)
        mechanisms = [call.args[0] for call in counting.epsilon.call_args_list]
        assert 0 < len(mechanisms) == len(set(mechanisms)) <= 9


def test_calibration_may_return_the_ends_of_the_range_that_is_searched():
    # A target so large that the least noise reaches it.
    least = smallest_noise_multiplier(Gaussian(1.0), epsilon=1e8, delta=1e-5)
    assert least.value == pytest.approx(1e-3) and least.guarantee.epsilon <= 1e8
    assert str(least).startswith("noise_multiplier = 0.001 (the least that is tried): ")
    whole = largest_sample_rate(STEP.vary(noise_multiplier=50.0), **TARGET)
    assert whole.value == 1.0
    none = largest_steps(Gaussian(0.1), **TARGET)
    assert (none.value, none.guarantee.epsilon) == (0, 0.0)
    # If more than 10^12 steps reach the target, the result is 10^12, not an error.
    for noise in (1e7, 1e9):
        most = largest_steps(Gaussian(noise), "zcdp", **TARGET)
        assert most.value == 10**12 and most.guarantee.epsilon <= 2.0
    assert str(most).startswith("steps = 1000000000000 (the most that are tried): epsilon <= ")


ATTACK = {"true_positive_rate": 0.05, "false_positive_rate": 0.01}


def test_noise_is_calibrated_to_a_bound_on_the_true_positive_rate():
    """Compare with the Gaussian's closed form: the target is reached with the least noise."""
    found = smallest_noise_multiplier(Gaussian(1.0), steps=4, **ATTACK)
    least = 2 / (norm.ppf(0.05) - norm.ppf(0.01))
    assert least <= found.value <= least * (1 + 2e-6)
    assert 0.05 * (1 - 1e-5) < found.guarantee.lower <= found.guarantee.true_positive_rate <= 0.05
    reached = smallest_noise_multiplier(STEP, steps=1000, **ATTACK)
    step = STEP.vary(noise_multiplier=reached.value)
    rates = PLD.true_positive_rate(step, false_positive_rate=0.01, steps=1000)
    assert 0.0499 < rates[0] <= rates[1] == reached.guarantee.true_positive_rate <= 0.05


def test_calibration_rejects_results_slightly_above_the_target():
    """The search gets the same value for every parameter: the target, or slightly more."""
    place = {"guess": 0.0, "lower": -1.0, "upper": 1.0}
    for goal in (0.049, 0.3, 0.77):
        for answer, first in ((goal, -1.0), (math.nextafter(goal, 1), math.inf)):
            for target, result in (
                (calibrate._budget(goal, 1e-5, 1, "add_remove"), Mock(epsilon=answer, lower=0.0)),
                (calibrate._rates(goal, 0.01, 1, "add_remove"), Attack(0.02, answer, 0.01, "")),
            ):
                ask = lambda law, x, result=result: result
                found, _ = calibrate._search(
                    ask, ACCOUNTANTS["rdp"](), target, place, tolerance=0.1
                )
                assert found == first


@each(
    "coarse, below, answers, error",
    [(True, 1, 17, 2e-6), (False, 1, 30, 2e-9), (True, 0, 15, 1e-6)],
)
def test_calibration_rarely_evaluates_epsilon_at_full_accuracy(coarse, below, answers, error):
    """Count evaluations at full accuracy if epsilon jumps from 1.8 to 2.2.

    Without a lower bound the search does not bisect to six digits.
    """
    asked = []

    class Costly(type(PLD)):
        def coarse(self):
            return super().coarse() if coarse else self

        def epsilon(self, mechanism, **question):
            asked.append(self.rtol)
            leaks = 1.8 if mechanism.sample_rate < 1e-3 else 2.2
            return Mock(epsilon=leaks, lower=leaks * below)

    best = largest_sample_rate(STEP, Costly(), **TARGET)
    assert best.guarantee.epsilon == 1.8 and 0 < 1e-3 - best.value <= error
    assert (asked.count(PLD.rtol) or not answers) and asked.count(PLD.rtol) <= answers
