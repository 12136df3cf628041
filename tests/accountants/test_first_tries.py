"""Natural first calls work or raise an error that suggests the right one."""

import inspect
import math

import numpy as np
import pytest

from cases import each
from dplearn import (
    ACCOUNTANTS,
    DPSGD,
    Composed,
    ExponentialMechanism,
    Gaussian,
    Phases,
    largest_sample_rate,
    largest_steps,
    smallest_delta,
    smallest_noise_multiplier,
)

RUN = DPSGD(noise_multiplier=1.1, sample_rate=0.004, steps=1000)
STEP = RUN.mechanism
TARGET = {"epsilon": 2.0, "delta": 1e-5}
EPOCHS = DPSGD(
    noise_multiplier=1.1, sample_rate=0.01, steps=200, sampling="shuffled", drop_last=True
)


@pytest.mark.slow
def test_plans_are_accepted_as_mechanisms():
    assert smallest_noise_multiplier(RUN, **TARGET) == smallest_noise_multiplier(
        STEP, steps=1000, **TARGET
    )
    assert largest_sample_rate(RUN, **TARGET) == largest_sample_rate(STEP, steps=1000, **TARGET)
    assert largest_steps(RUN, **TARGET) == largest_steps(STEP, **TARGET)
    assert smallest_delta(RUN, epsilon=1.0) == smallest_delta(STEP, epsilon=1.0, steps=1000)
    assert ACCOUNTANTS["rdp"]().epsilon(RUN, delta=1e-5) == RUN.guarantee("rdp", delta=1e-5)
    assert Composed([RUN, (RUN, 2)]).parts() == ((STEP, 3000),)
    assert Phases([RUN, RUN]) == Phases((RUN, RUN))
    # Plans of epochs count epochs, and have another default adjacency.
    found = smallest_noise_multiplier(EPOCHS, **TARGET)
    assert found.guarantee.adjacency == "zero_out"
    assert DPSGD.for_epsilon(
        2.0, delta=1e-5, sample_rate=0.01, steps=200, sampling="shuffled", drop_last=True
    ).noise_multiplier == pytest.approx(found.value)
    for refused in (lambda: largest_steps(EPOCHS, **TARGET),
                    lambda: smallest_noise_multiplier(Phases([RUN, RUN.__class__(
                        noise_multiplier=2.0, sample_rate=0.1, steps=9)]), **TARGET)):  # fmt: skip
        with pytest.raises(ValueError, match=r"Expected (steps drawn afresh|a plan of one phase)"):
            refused()


def test_noise_is_calibrated_for_a_number_of_epochs():
    run = DPSGD.for_epsilon(3.0, delta=1e-5, dataset_size=60_000, batch_size=256, epochs=10)
    assert run.steps == 2344
    assert 2.99 < run.guarantee(delta=1e-5).epsilon <= 3.0


def test_plan_has_delta_true_positive_rate_and_advantage():
    at_one = RUN.delta(epsilon=1.0)
    assert at_one.delta == smallest_delta(RUN, epsilon=1.0).value
    rates = np.array([[0.01, 0.1], [0.5, 0.9]])
    lower, upper = RUN.true_positive_rate(false_positive_rate=rates)
    assert lower.shape == (2, 2) and np.all(rates < lower) and np.all(lower <= upper)
    advantage = RUN.delta(epsilon=0.0)
    assert np.all(upper - rates <= advantage.delta)
    least = smallest_noise_multiplier(Gaussian(1.0), advantage=0.05)
    # The total variation of N(0, 1) and N(mu, 1) is erf(mu / sqrt(8)).
    assert math.erf(1 / least.value / math.sqrt(8)) == pytest.approx(0.05, rel=1e-5)
    assert least.guarantee.delta <= 0.05


@each(
    "call, meant",
    [
        (lambda: Gaussian(sigma=1.0), "noise_multiplier"),
        (lambda: DPSGD(noise_multiplier=1.0, q=0.1, steps=3), "sample_rate"),
        (lambda: DPSGD(noise_multiplier=1.0, sample_rate=0.1, stepz=3), "steps"),
        (lambda: ExponentialMechanism(epsilon=1.0), "range_epsilon"),
        (lambda: smallest_noise_multiplier(RUN, epsilom=2.0, delta=1e-5), "epsilon"),
    ],
)
def test_unknown_keyword_error_suggests_the_parameter(call, meant):
    with pytest.raises(TypeError, match=rf"^Expected .*, got \w+; did you mean {meant}\?$"):
        call()
    with pytest.raises(TypeError, match=r"^Expected noise_multiplier as keywords of Gaussian, got"):
        Gaussian(colour=1.0)


def test_help_shows_the_parameters_of_a_class():
    assert [*inspect.signature(Gaussian).parameters] == ["noise_multiplier"]
    assert [*inspect.signature(DPSGD).parameters][:3] == [
        "noise_multiplier",
        "sample_rate",
        "steps",
    ]
