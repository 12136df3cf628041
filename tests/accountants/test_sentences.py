"""Printed sentences are true: bounds computed at the printed numbers do not contradict them."""

import re

import numpy as np

from cases import each
from dplearn import (
    ACCOUNTANTS,
    Gaussian,
    Laplace,
    PoissonSubsampled,
    largest_sample_rate,
    largest_steps,
    smallest_noise_multiplier,
)

SENTENCE = re.compile(
    r"(?:(?P<lower>\S+) <= )?(?P<what>epsilon|delta) (?P<sign><=|=|>=) (?P<upper>\S+) "
    r"at (?:epsilon|delta) = (?P<at>[^\s,]+), (?P<adjacency>\w+), by (?P<method>\w+)"
)
# Accountants round both bounds outwards by less than this relative amount.
HAIR = 1e-11


def assert_true(result, mechanism, steps=1):
    """Check a printed sentence against bounds computed at its numbers; return the numbers."""
    printed = SENTENCE.search(str(result))
    assert printed, result
    high = float(printed["upper"])
    low = high if printed["sign"] == "=" else float(printed["lower"] or 0)
    other = "delta" if printed["what"] == "epsilon" else "epsilon"
    ask = getattr(ACCOUNTANTS[printed["method"]](), printed["what"])
    question = {other: float(printed["at"]), "steps": steps, "adjacency": printed["adjacency"]}
    now = ask(mechanism, **question)
    upper, lower = now.epsilon, now.epsilon if now.kind == "exact" else now.lower
    if printed["what"] == "delta":
        upper, lower = now.delta, now.delta_lower
    assert high >= lower * (1 - HAIR) and low <= upper * (1 + HAIR), (str(result), lower, upper)
    return printed


def runs(seed, count):
    """Return random sampled Gaussians, steps and deltas with many digits."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        noise, rate = float(rng.uniform(0.6, 4)), float(np.exp(rng.uniform(-7, -1)))
        steps, delta = int(np.exp(rng.uniform(0, 9))), float(np.exp(rng.uniform(-25, -4)))
        yield PoissonSubsampled(Gaussian(noise), rate), steps, delta


@each("method, count", {"pld": 40, "rdp": 8, "optimal": 8, "zcdp": 8}.items())
def test_printed_guarantees_are_true_despite_rounding(method, count):
    for mechanism, steps, delta in runs(5, count):
        assert_true(mechanism.guarantee(method, delta=delta, steps=steps), mechanism, steps)


@each("delta", [1 / 60_000, 1.66e-5, 0.00123, 1e-5, 3.3e-10, 1e-100])
def test_printed_deltas_are_parsed_exactly(delta):
    for mechanism in (PoissonSubsampled(Gaussian(1.0), 0.01), Gaussian(1.0), Laplace(0.7)):
        printed = assert_true(mechanism.guarantee("pld", delta=delta), mechanism)
        assert float(printed["at"]) == delta


@each("epsilon", [1.0, 1 / 3, 0.123456789])
def test_printed_deltas_at_a_given_epsilon_are_true_despite_rounding(epsilon):
    for mechanism in (Gaussian(1.0), Laplace(1.1), PoissonSubsampled(Gaussian(2.0), 0.03)):
        assert_true(ACCOUNTANTS["pld"]().delta(mechanism, epsilon=epsilon), mechanism)


def test_guarantees_of_calibrations_hold_at_the_printed_parameter():
    for mechanism, steps, delta in runs(11, 4):
        for search in (smallest_noise_multiplier, largest_sample_rate):
            found = search(mechanism, epsilon=2.0, delta=delta, steps=steps)
            name, value = re.match(r"(\w+) = ([^:]+):", str(found)).groups()
            assert_true(found, mechanism.vary(**{name: float(value)}), steps)
        found = largest_steps(mechanism, epsilon=9.0, delta=delta)
        assert_true(found, mechanism, found.value)
