"""Each rule about other tools fires in its regime and not outside."""

import dataclasses
import itertools
import re

import pytest
from scenarios import ABADI

from cases import each
from dplearn.app.pages.epsilon_vs_steps import regimes
from dplearn.app.pages.epsilon_vs_steps.regimes import GOOGLE_ORDERS, OPACUS_ORDERS, REGIMES, Spot
from dplearn.app.pages.epsilon_vs_steps.run import Scenario

FULL = dataclasses.replace(ABADI, sampling="none", sample_rate=1.0)
LOUD = dataclasses.replace(FULL, noise_multiplier=1000.0)
DRAWN = dataclasses.replace(ABADI, sampling="without_replacement", adjacency="replace_one")
LONG = dataclasses.replace(ABADI, noise_multiplier=1.0, sample_rate=0.001, largest=10**6)


def at(delta: float, scenario: Scenario = LONG) -> Scenario:
    return dataclasses.replace(scenario, delta=delta)


SHUFFLED = dataclasses.replace(ABADI, noise_multiplier=1.0, sampling="shuffled", delta=1e-6)
SHUFFLED = dataclasses.replace(SHUFFLED, adjacency="zero_out", largest=1000)
ALLOCATED = dataclasses.replace(SHUFFLED, sampling="random_allocation", adjacency="add_remove")


# Beginning of a rule's sentence, in the order of the rules: cases inside, cases just outside.
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


@pytest.mark.slow
@each("rule, regime", zip(FIRES, REGIMES, strict=True))
def test_a_rule_fires_in_its_regime_and_not_outside(rule, regime):
    inside, outside = FIRES[rule]
    for spot in itertools.starmap(Spot, inside):
        assert regime.applies(spot), spot
        sentence = f"{regime.tool}** {regime.says(spot)}"
        assert sentence.startswith(rule) and sentence.endswith("."), sentence
        assert not {"nan", "inf"} & set(re.findall(r"\w+", sentence)), sentence
    for spot in itertools.starmap(Spot, outside):
        assert not regime.applies(spot), spot


def test_numbers_here_are_those_of_the_library():
    spot = Spot(ABADI, 10_000)
    gdp, pld = spot.guarantee("gdp"), spot.guarantee("pld")
    assert gdp is not None and pld is not None
    assert spot.missing("gdp") == pytest.approx(1 - gdp.epsilon / pld.lower)
    assert spot.times("rdp") == pytest.approx(1.0936, abs=1e-4)
    (clt,) = (s for s in regimes.sentences(ABADI, 10_000, {}) if s.startswith("**The CLT"))
    assert "0.47\u00a0% below" in clt
    # A grid of orders costs and never gains.
    for spot in (Spot(LOUD, 1), Spot(at(1e-20, ABADI), 1000), Spot(ABADI, 1)):
        assert spot.grid(OPACUS_ORDERS) >= spot.grid(GOOGLE_ORDERS) * (1 - 1e-12) >= 1 - 1e-6


@pytest.mark.slow
def test_an_accountant_without_a_theorem_says_nothing():
    spot = Spot(DRAWN, 100)
    assert spot.guarantee("gdp") is None and spot.missing("gdp") == 0.0 and spot.times("gdp") == 1.0
