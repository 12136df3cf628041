"""Page of mechanisms in the explorer: the catalogue of all mechanisms, and their tables."""

import json
from dataclasses import dataclass
from typing import ClassVar
from unittest.mock import Mock

import pytest

from cases import each
from dplearn.mechanisms import MECHANISMS, Composed, Gaussian, Laplace, PoissonSubsampled
from dplearn.teaching.browser.pairs import Pair, catalogue, mechanism_of
from dplearn.teaching.explorer.kit import questions
from dplearn.teaching.explorer.pages.mechanisms import table_or_refusal
from explorer import opened

CATALOGUE = catalogue()
START = {key: number["start"] for key, number in CATALOGUE["numbers"].items()}


@each("name", MECHANISMS)
def test_every_parameter_has_a_range_and_a_description(name):
    result = CATALOGUE["mechanisms"][name]
    assert result["covered"] and result["conditions"] and [*result["about"]] == result["keys"]
    views = {"mechanism", "example", "adjacency", "direction", "epsilon", "order"}
    assert not {*views, "false_positive_rate"} & {*result["keys"]}
    assert result["keys"] or result["examples"]
    for key in result["about"].keys() & START.keys():
        (low, high), start = CATALOGUE["numbers"][key]["ends"], START[key]
        assert len(result["about"][key].split()) > 3 and low <= start <= high and high > 3 * low
        for end in (low, high):
            assert (
                mechanism_of(name, START | {key: end}) != mechanism_of(name, START) or end == start
            )


@dataclass(frozen=True)
class NewMechanism(Laplace):
    """Mechanism that is not in the registry.

    Parameters
    ----------
    noise_multiplier : float
        How much noise there is in it.
    """

    name: ClassVar[str] = "new_mechanism"


def test_newly_registered_mechanism_is_on_the_page(monkeypatch):
    monkeypatch.setitem(MECHANISMS, NewMechanism.name, NewMechanism)
    result = catalogue()["mechanisms"][NewMechanism.name]
    assert result["keys"] == ["noise_multiplier"]
    assert "How much noise there is" in result["about"]["noise_multiplier"]
    table = table_or_refusal({"mechanism": NewMechanism.name, "noise_multiplier": 2})["table"]
    divergences = Laplace(2.0).rdp(table["orders"])
    assert table["divergences"] == pytest.approx(divergences) and len(table["logs"]) > 1000
    assert NewMechanism.name in json.dumps(opened("mechanisms").get("bidi_component")[0].proto.json)


def test_table_is_requested_for_the_fields_of_the_url(monkeypatch):
    question = {"mechanism": "poisson_subsampled", "base": "laplace", "sample_rate": 0.25}
    question |= {"noise_multiplier": 0.5, "direction": "add", "key": "k", "then": "<b>"}
    recorded = Mock(side_effect=questions.ask)
    monkeypatch.setattr(questions, "ask", recorded)
    assert set(table_or_refusal(question)) == {"table"}
    _, pair = recorded.call_args.args
    assert pair == Pair(PoissonSubsampled(Laplace(0.5), 0.25), "add_remove", "add")


def test_composition_is_two_sided_if_one_of_its_mechanisms_is():
    both = Composed([Gaussian(1.0), PoissonSubsampled(Gaussian(1.0), 0.25)])
    assert Pair(both, "add_remove", "remove").two_sided
    assert not Pair(Gaussian(1.0), "add_remove", "remove").two_sided


@each(
    "question, why",
    [
        ({"mechanism": "discrete_gaussian", "noise_multiplier": "many"}, "from"),
        ({"mechanism": "nothing"}, "one of"),
        ({"mechanism": "randomized_response"}, "fixed"),
        ({"mechanism": "discrete_gaussian", "sensitivity": 200}, "sensitivity from 1 to"),
    ],
)
def test_refusals_of_tables_are_in_english_and_chinese(question, why):
    refused = table_or_refusal(question)["refused"]
    assert why in refused["en"] and refused["zh"] != refused["en"]
