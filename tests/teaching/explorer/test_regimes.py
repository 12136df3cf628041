"""Each rule about other tools fires in its regime and not outside."""

import dataclasses
import math
import re

import pytest
from scenarios import ABADI

from cases import each
from dplearn.run import DPSGD
from dplearn.teaching.explorer.pages.epsilon_vs_steps import details
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import Answers, Scenario
from dplearn.teaching.explorer.pages.epsilon_vs_steps.details import (
    ORDERS,
    REGIMES,
    condition_value,
    warnings_of,
)

FULL = dataclasses.replace(ABADI, sampling="none", sample_rate=1.0)
LOUD = dataclasses.replace(FULL, noise_multiplier=1000.0)
DRAWN = dataclasses.replace(ABADI, sampling="without_replacement", adjacency="replace_one")
LONG = dataclasses.replace(ABADI, noise_multiplier=1.0, sample_rate=0.001, largest=10**6)


def at(delta: float, scenario: Scenario = LONG) -> Scenario:
    return dataclasses.replace(scenario, delta=delta)


SHUFFLED = dataclasses.replace(ABADI, noise_multiplier=1.0, sampling="shuffled", delta=1e-6)
SHUFFLED = dataclasses.replace(SHUFFLED, adjacency="zero_out", largest=1000)
ALLOCATED = dataclasses.replace(SHUFFLED, sampling="random_allocation", adjacency="add_remove")


# Beginning of a rule's sentence: cases inside, cases just outside.
FIRES = {
    "Accountants of Opacus, TensorFlow Privacy": (
        [(SHUFFLED, 100), (SHUFFLED, 1000)],
        [(SHUFFLED, 99), (ABADI, 100), (ALLOCATED, 1000)],
    ),
    "The CLT (GDP) accountant": (
        [(ABADI, 10_000), (ABADI, 100), (at(1e-12), 100_000)],
        [(FULL, 100), (DRAWN, 10_000)],
    ),
    "Opacus' GDP accountant": (
        [(dataclasses.replace(ABADI, noise_multiplier=0.5, sample_rate=0.5), 20_000)],
        [(ABADI, 10_000), (DRAWN, 10_000)],
    ),
    'PLD of dp-accounting 0.6** is not "pessimistic"': (
        [(at(1e-11), 30_000), (at(2e-15), 10**6)],
        [(at(delta), 30_000) for delta in (1.1e-11, 1e-15)]
        + [(at(1e-11), 29_999), (at(1e-12, FULL), 30_000)],
    ),
    "PLD of dp-accounting 0.6** returns": (
        [(at(1e-15), 100), (at(1e-30), 100), (at(1e-16, FULL), 100)],
        [(at(1.1e-15), 100), (at(1e-15, FULL), 100), (ABADI, 100)],
    ),
    "PRV accountants": (
        [(at(9e-14), 100), (at(1e-20, FULL), 100)],
        [(at(1e-13), 100), (at(1e-20, DRAWN), 100)],
    ),
    "FourierAccountant": (
        [(at(1e-10), 1000), (at(1e-30), 5000)],
        [(at(1.1e-10), 1000), (at(1e-10), 999), (at(1e-12, FULL), 5000)],
    ),
    "RDP in Opacus": ([(LOUD, 1), (at(1e-20, ABADI), 1000)], [(ABADI, 10_000)]),
    "RDP in dp-accounting": ([(LOUD, 1)], [(ABADI, 10_000), (FULL, 100)]),
    "The moments accountant": ([(ABADI, 100)], [(ABADI, 10_000), (FULL, 100)]),
    "RDP for sampling without": ([(DRAWN, 100)], [(ABADI, 100), (FULL, 100)]),
}


def spot(scenario: Scenario, here: int) -> Answers:
    """A run at one number of steps, nothing of which is asked yet."""
    return Answers(scenario, here, (), 1)


def said(rule: str, scenario: Scenario, here: int) -> list[str]:
    """The sentences of a rule at a spot."""
    told = (sentence.removeprefix("**") for sentence in warnings_of(spot(scenario, here)))
    return [sentence for sentence in told if sentence.startswith(rule)]


@pytest.mark.slow
@each("rule", FIRES)
def test_a_rule_fires_in_its_regime_and_not_outside(rule):
    inside, outside = FIRES[rule]
    for place in inside:
        (sentence,) = said(rule, *place)
        assert sentence.endswith("."), sentence
        assert not {"nan", "inf"} & set(re.findall(r"\w+", sentence)), sentence
    for place in outside:
        assert not said(rule, *place), place


def test_numbers_here_are_those_of_the_library():
    run, plan = spot(ABADI, 10_000), DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=10_000)
    gdp, pld = (plan.guarantee(name, delta=1e-5) for name in ("gdp", "pld"))
    assert condition_value(run, "gdp_misses") == pytest.approx(1 - gdp.epsilon / pld.lower)
    assert condition_value(run, "rdp_times") == pytest.approx(1.0935, abs=1e-4)
    assert "0.47\u00a0% below" in said("The CLT", ABADI, 10_000)[0]
    # A grid of orders costs and never gains; what a sentence says of it is so.
    for run in (spot(LOUD, 1), spot(at(1e-20, ABADI), 1000), spot(ABADI, 1)):
        opacus, google = condition_value(run, "opacus_more"), condition_value(run, "google_more")
        assert opacus >= google - 1e-12 >= -1e-6
    for name, orders in ORDERS.items():
        assert f"{orders[0]:g} to {orders[-1]:g}," in details._say[f"regimes.{name}.says"]
    assert len(FIRES) == len(REGIMES)


def test_an_accountant_without_a_theorem_says_nothing():
    run = spot(DRAWN, 100)
    assert all(
        math.isnan(condition_value(run, f"gdp_{what}")) for what in ("epsilon", "misses", "times")
    )
