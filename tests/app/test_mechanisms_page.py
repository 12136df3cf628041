"""The page of mechanisms: every mechanism is on it, and shows the numbers of its profile."""

import base64
import dataclasses
import functools
import json
import re
from unittest.mock import Mock

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import explorer
from cases import each
from dplearn.app.kit.run_fields import ADJACENCY
from dplearn.app.pages.mechanisms import answers, fields
from dplearn.app.pages.mechanisms.answers import Pair
from dplearn.mechanisms import Gaussian, Laplace, PoissonSubsampled, mechanisms
from dplearn.mechanisms.randomized_response import RandomizedResponse
from explorer import again, choose, enter, errors

FIELDS = fields.state().fields
VALUES = fields.state().values
PICTURES = ("outputs", "loss", "profile", "renyi", "tradeoff")
opened = functools.partial(explorer.opened, "mechanisms")


def sentence(app: AppTest) -> str:
    (found,) = (m.value for m in app.markdown if m.value.startswith("An attacker"))
    return found.replace("\u00a0", " ").replace("\u202f", "")


def pictures(app: AppTest) -> dict[str, dict]:
    charts = [json.loads(c.proto.spec) for c in app.get("plotly_chart")]
    names = PICTURES[-len(charts) :]
    return dict(zip(names, charts, strict=True))


def values(array) -> np.ndarray:
    """A trace's numbers, which may arrive in binary."""
    if isinstance(array, dict):
        return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).astype(float)
    return np.array([np.nan if v is None else v for v in array], dtype=float)


def traces(picture: dict) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {t["name"]: (values(t["x"]), values(t["y"])) for t in picture["data"]}


ALL = [
    Pair(mechanism, adjacency, direction)
    for mechanism in (fields.build(name, VALUES) for name in mechanisms)
    for adjacency in answers.covered(mechanism)
    for direction in ("remove", "add")[: 1 + Pair(mechanism, adjacency).two_sided]
]


@pytest.mark.slow
@each("pair", ALL)
def test_every_pair_shows_the_numbers_of_its_profile(pair):
    at = {"epsilon": "0.3", "order": "4", "false_positive_rate": "0.1"}
    neighbours = {"adjacency": pair.adjacency, "direction": pair.direction}
    app = opened(mechanism=pair.mechanism.name, **neighbours, **at)
    assert not app.error
    profile, words, shown = answers.profile(pair), sentence(app), pictures(app)
    delta = float(profile.delta(0.3))

    assert "accepts **10 % false alarms**" in words and "**ε = 0.3**" in words
    said = float(re.search(r"δ [=≤] ([\d.e-]+)\*\*", words).group(1))
    # Rounded up to four digits; a lattice and the dots that are drawn differ by 1e-6.
    assert delta * (1 - 1e-5) - 1e-6 <= said <= delta * (1 + 1.1e-3) + 1e-6
    caught = float(re.search(r"at most \*\*([\d.]+) %", words).group(1))
    assert caught == pytest.approx(100 * (1 - float(profile.tradeoff(0.1))), rel=1e-2)
    assert ADJACENCY.options[pair.adjacency].lower() in words
    assert not pair.exact or words.count("(exact)") == 2
    if pair.outputs is None:
        (reason,) = (i.value for i in app.info)
        assert pair.mechanism.no_outputs in reason and "outputs" not in shown
    else:
        assert set(shown) == set(PICTURES) and not app.info
    assert np.sum(traces(shown["loss"])["counted in δ"][1]) == pytest.approx(delta, abs=2e-6)
    x, y = traces(shown["profile"])["δ(ε)"]
    np.testing.assert_allclose(y[y > 0], profile.delta(x[y > 0]))
    x, y = traces(shown["renyi"])["D<sub>α</sub>"]
    np.testing.assert_allclose(y, pair.mechanism.rdp(x, adjacency=pair.adjacency))
    # What is certain lies below what is proved.
    for found in (answers.delta(pair, 0.3), answers.detected(pair, 0.1)):
        assert 0 <= found.lower <= found.upper * (1 + 1e-9)
    if pair.witnesses:
        rates = np.array([0.001, 0.02, 0.3, 0.9])
        real = answers.caught(pair, rates)
        best = 1 - np.min([w.tradeoff(rates) for w in pair.witnesses], axis=0)
        assert np.all(real <= best + 1e-9) and np.all(real >= best - 5e-3)


@each("pair", ALL)
@pytest.mark.slow
def test_the_tail_of_the_loss_and_the_lines_of_the_attacker_are_delta(pair):
    for epsilon in (0.05, 0.5, 2.0):
        edges, mass, counted = answers.losses(pair, epsilon)
        assert np.min(np.abs(edges - epsilon)) < 1e-12 and mass.sum() == pytest.approx(1.0)
        assert np.all(counted <= mass + 1e-12)
        above = edges[:-1] > epsilon - 1e-9
        beyond = answers.exceeds(pair, epsilon)
        assert mass[above].sum() == pytest.approx(beyond, rel=1e-6, abs=1e-9)
        delta = answers.delta(pair, epsilon).upper
        assert counted.sum() == pytest.approx(delta, rel=1e-4, abs=2e-6)
    # Two lines touch the curve of the attacker.
    epsilon, reverse = 0.3, answers.profile(pair).reverse()
    rates, misses = answers.tradeoff(pair)
    delta = answers.delta(pair, epsilon).upper
    back = np.exp(-epsilon) * (1 - float(reverse.delta(epsilon)) - rates)
    for line in (1 - delta - np.exp(epsilon) * rates, back):
        assert -1e-5 < np.min(misses - line) < 2e-3


def test_values_known_by_heart():
    # Normal noise of size 1: the loss is N(1/2, 1).
    gauss = Pair(Gaussian(1.0), "add_remove")
    assert answers.exceeds(gauss, 1.0) == pytest.approx(0.3085375387)
    assert answers.detected(gauss, 0.05).upper == pytest.approx(0.2595110228)
    assert answers.divergence(gauss, 8.0) == pytest.approx(4.0)
    for cached in (answers.profile, answers.tradeoff, answers.renyi):
        assert cached(gauss) is cached(dataclasses.replace(gauss)), "answers are remembered"
    # A coin never loses more than its epsilon, and then with the chance of the truth.
    coin = Pair(RandomizedResponse(1.0), "replace_one")
    assert answers.exceeds(coin, 1.0) == 0.0
    assert answers.exceeds(coin, 0.99) == pytest.approx(np.e / (1 + np.e))
    assert answers.detected(coin, 0.1).upper == pytest.approx(0.1 * np.e)
    # Half of all Laplace outputs lie beyond the peak, where the loss is largest.
    laplace = Pair(Laplace(1.0), "add_remove")
    assert answers.exceeds(laplace, 0.999999) == pytest.approx(0.5, abs=1e-6)


@each("name", mechanisms)
def test_every_number_of_a_mechanism_has_a_slider_with_words(name):
    keys = fields.used(name, VALUES)
    views = {"mechanism", "example", "adjacency", "direction", "epsilon", "order"}
    assert keys and not {*views, "false_positive_rate"} & {*fields.parameters(name)}
    for key in (key for key in keys if hasattr(FIELDS[key], "marks")):
        kind = FIELDS[key]
        assert len(fields.described(name, key, VALUES).split()) > 3
        assert kind.lower <= kind.default <= kind.upper and len(kind.marks()) > 10
        for end in (kind.lower, kind.upper):
            mechanism = fields.build(name, {**VALUES, key: end})
            assert mechanism != fields.build(name, VALUES) or end == kind.default


def test_a_mechanism_registered_on_the_fly_is_on_the_page(registered):
    app = opened(mechanism=registered.name, epsilon="0.5")
    assert app.selectbox(key="choice_mechanism").value == registered.name and not app.error
    app = enter(app, "noise_multiplier", "2")
    assert "How much noise there is" in app.text_input(key="box_noise_multiplier").help
    expected = float(Laplace(2.0).profiles()[0].delta(0.1))
    before = pictures(app)
    app = enter(app, "epsilon", "0.1")
    assert all(picture != before[name] for name, picture in pictures(app).items())
    assert f"δ = {expected:.3g}" in sentence(app)
    assert again(app, "mechanisms").query_params == app.query_params


def test_an_address_reproduces_the_page():
    sampled = {"mechanism": "poisson_subsampled", "base": "laplace", "sample_rate": "0.25"}
    app = opened(**sampled, noise_multiplier="0.5", direction="add", epsilon="0.2")
    expected = PoissonSubsampled(Laplace(0.5), 0.25).profiles()[1].delta(0.2)
    assert f"δ = {float(expected):.3g}" in sentence(app) and "that are missing" in sentence(app)
    twin = again(app, "mechanisms")
    assert pictures(twin) == pictures(app) and twin.query_params == app.query_params


@pytest.mark.slow
def test_a_mechanism_chosen_shows_something_to_see():
    app = opened()
    alts = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert len(alts) == 5 and "δ = 0.127" in alts[0] and "26 %" in alts[4]
    for name in mechanisms:
        app = choose(app, "mechanism", name)
        assert app.query_params.get("mechanism", "gaussian") == name
        assert not app.error, f"{name}: {errors(app)}"
        assert "δ = 0**" not in sentence(app), f"{name}: nothing to see, {sentence(app)}"
    # Neighbours that the next mechanism does not cover give way without an error.
    app = choose(choose(app, "mechanism", "randomized_response"), "mechanism", "random_allocation")
    assert app.query_params["mechanism"] == "random_allocation" and not app.error, errors(app)
    # Parameters that another mechanism does not have stay out of its address.
    assert "batches" not in app.query_params and "answers" not in app.query_params


@pytest.mark.slow
def test_a_visit_changes_neither_epsilon_nor_neighbours_of_the_next_mechanism():
    app = enter(opened(), "epsilon", "2")
    for name in ("exponential", "random_allocation", "randomized_response", "gaussian"):
        app = choose(app, "mechanism", name)
    assert {**app.query_params} in ({"epsilon": "2"}, {"epsilon": ["2"]})
    assert app.text_input(key="box_epsilon").value == "2"
    # What the reader enters at a mechanism stays.
    app = enter(choose(app, "mechanism", "exponential"), "epsilon", "0.2")
    assert choose(app, "mechanism", "gaussian").text_input(key="box_epsilon").value == "0.2"


def test_what_a_mechanism_refuses_is_said_in_its_words(monkeypatch):
    app = opened(mechanism="randomized_response", adjacency="zero_out")
    (message,) = (e.value for e in app.error)
    assert "fixed" in message and "Replace a record is used" in message
    assert not opened(mechanism="randomized_response").error
    refuse = Mock(side_effect=ValueError("Expected something else."))
    monkeypatch.setattr(fields, "build", refuse)
    app = opened()
    assert [e.value for e in app.error] == ["Expected something else."]
    assert not app.get("plotly_chart")
