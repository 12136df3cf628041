"""Numbers and controls of the page of mechanisms, opened from a file in Chromium."""

import json
import math
import random
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from browsing import BROKEN, DRAWN, as_file, boxes_on_screens, dragged, moved_to
from cases import each
from dplearn.mechanisms import MECHANISMS, Gaussian, Laplace
from dplearn.teaching import browser as engine
from dplearn.teaching.browser import pairs
from dplearn.teaching.explorer.kit.accountants import style_sheet
from dplearn.teaching.explorer.kit.language import in_each

pytestmark = DRAWN

# Values of a privacy loss distribution: log delta, tails on either side of 0, Renyi divergences,
# true positive rates, and sums over bins of the loss.
ASKED = """const tell = (law, epsilons, orders, rates) => {
  const pair = new pairs.Pair(law), finite = x => x === -Infinity ? null : x;
  return {
    delta: epsilons.map(e => finite(law.logDelta(e))),
    behind: epsilons.map(e => Math.exp(law.logDeltaReversed?.(e) ?? law.logDelta(e))),
    exact: pair.exact,
    tails: epsilons.map(e => law.tails(e)), below: epsilons.map(e => law.tails(-e)),
    renyi: orders.map(a => law.renyi(a)),
    true_positive_rate: rates.map(a => pair.true_positive_rate(a)),
    bins: epsilons.map(e => pair.losses(e).bins.reduce(
      ([all, counted], bin) => [all + bin.mass, counted + bin.counted], [0, 0])),
  };
};"""
CLOSED = "([name, own, adjacency, ...at]) => tell(laws.closedForm(name, own, adjacency), ...at)"
PATHS = "[...document.querySelectorAll('.dp-panel path')].map(path => path.getAttribute('d'))"
TABLE = "([table, ...at]) => tell(tables.fromTable(table), ...at)"


PARTS = (("laws", "laws"), ("pairs", "pair"), ("tables", "atoms"))
SCRIPTS = [*(engine.source(name, f"mechanisms/{entry}") for name, entry in PARTS), ASKED]


def drawn_at_random(name: str, seed: int):
    """Return a mechanism's random parameters, adjacency, epsilons, orders and rates."""
    pick = random.Random(f"{name} {seed}")
    within = lambda low, high: float(f"{low * (high / low) ** pick.random():.4g}")
    adjacency = pick.choice(["add_remove", "zero_out", "replace_one"])
    if name == "randomized_response":
        own = {"local_epsilon": within(0.02, 15), "answers": pick.choice([2, 3, 7, 50])}
        adjacency = "replace_one"
    else:
        own = {"noise_multiplier": within(0.04, 150)}
        if name == "geometric":
            own["sensitivity"] = pick.choice([1, 2, 5, 40])
            own["noise_multiplier"] = within(0.04, 250 / own["sensitivity"])
    epsilons = [0, 0.001, within(0.001, 0.1), within(0.1, 1), 1, within(1, 30), 100]
    orders = [1.01, within(1.01, 5), 2, 8, within(8, 1000), 1000]
    rates = [1e-6, within(1e-6, 0.01), 0.05, 0.3, 0.5, 0.75, 0.9]
    return own, adjacency, epsilons, orders, rates


@each("name", engine.CLOSED_FORMS)
def test_closed_forms_in_javascript_agree_with_python(evaluate, name):
    for seed in range(20):
        own, adjacency, epsilons, orders, rates = drawn_at_random(name, seed)
        result = evaluate(CLOSED, [name, own, adjacency, epsilons, orders, rates])
        mechanism = MECHANISMS[name](**own)
        (whole,), real = mechanism.profiles(adjacency), mechanism.witnesses(adjacency)[0]
        logs = whole.log_delta(np.array(epsilons, dtype=float))
        assert result["exact"]
        for mine, log in zip(result["delta"], logs, strict=True):
            if math.isinf(log):
                assert mine is None, (own, adjacency)
            elif log > -700:
                assert mine == pytest.approx(log, abs=1e-11, rel=1e-13), own
            else:
                assert mine < -690
        tails = np.exp(real.log_tails(np.array(epsilons, dtype=float)))
        np.testing.assert_allclose(np.transpose(result["tails"]), tails, rtol=1e-9, atol=1e-300)
        # By symmetry of the pair, the loss L has P(L <= -x) = Q(L >= x) >= Q(L > x).
        below = 1 - np.array(result["below"])[:, 0]
        assert np.all(below >= tails[1] - 1e-12)
        theirs = mechanism.rdp(orders, adjacency=adjacency)
        np.testing.assert_allclose(result["renyi"], theirs, rtol=1e-10)
        theirs, ours = 1 - whole.tradeoff(rates), result["true_positive_rate"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=2e-11)
        for (mass, counted), log in zip(result["bins"], logs, strict=True):
            assert [mass, counted] == pytest.approx([1, math.exp(log)], abs=5e-12)


CATALOGUE = pairs.catalogue()
START = {key: number["start"] for key, number in CATALOGUE["numbers"].items()}
ALL = [
    (name, adjacency, direction)
    for name, entry in CATALOGUE["mechanisms"].items()
    for adjacency in entry["covered"]
    for direction in ("remove", "add")[: 1 + entry["two_sided"]]
]


@pytest.mark.slow
@each("name, adjacency, direction", ALL)
def test_tables_give_upper_bounds_on_values_of_the_library(evaluate, name, adjacency, direction):
    pair = pairs.Pair(pairs.mechanism_of(name, START), adjacency, direction)
    table = pairs.worded(pairs.table(pair), in_each)
    assert len(json.dumps(table)) < 70_000 and np.all(np.diff(table["orders"]) > 0)
    epsilons, orders, rates = [0.0, 0.05, 0.3, 1.0], [1.01, 3.7, 64.0, 1000.0], [1e-4, 0.05, 0.4]
    result = evaluate(TABLE, [table, epsilons, orders, rates])
    whole = pairs.profile(pair)
    logs = [-math.inf if x is None else x for x in result["delta"]]
    delta, mine = whole.delta(np.array(epsilons)), np.exp(logs)
    assert np.all(mine >= delta * (1 - 1e-9)) and np.all(mine <= delta * (1 + 2e-3) + 1e-9)
    behind = whole.reverse().delta(np.array(epsilons))
    assert np.all(np.array(result["behind"]) >= behind * (1 - 1e-6))
    caught = 1 - whole.tradeoff(rates)
    assert np.all(np.array(result["true_positive_rate"]) >= caught - 1e-9)
    np.testing.assert_allclose(result["true_positive_rate"], caught, rtol=5e-3)
    theirs = pair.mechanism.rdp(orders, adjacency=adjacency)
    assert np.all(np.array(result["renyi"]) >= theirs * (1 - 1e-9))
    np.testing.assert_allclose(result["renyi"], theirs, rtol=2e-2)
    for (mass, counted), value in zip(result["bins"], mine, strict=True):
        assert [mass, counted] == pytest.approx([1, value], rel=1e-6, abs=1e-7)
    if table["real"]:
        real = {key: np.array(values) for key, values in table["real"].items()}
        assert np.all(real["deltas"] <= whole.delta(real["epsilons"]) * (1 + 1e-9) + 1e-12)
        assert np.all(real["misses"] >= whole.tradeoff(real["rates"]) - 1e-9)


def as_page(folder):
    """Write the page to a file."""
    result = json.dumps(pairs.worded(CATALOGUE, in_each))
    mount = f"const {{ page }} = mechanismsPage.mount(here, {{catalogue: {result}}});"
    source = engine.source("mechanismsPage", "mechanisms/mechanisms")
    style = style_sheet("page/page", "mechanisms/mechanisms")
    return as_file(folder, style, source, mount)


def delta_of(view) -> float:
    return float(view.locator(".dp-eps output").text_content())


@each(
    "state, mechanism, adjacency",
    [
        ({"mechanism": "gaussian", "epsilon": 2}, Gaussian(1.0), "add_remove"),
        (
            dict(mechanism="laplace", noise_multiplier=2, epsilon=0.3, adjacency="replace_one"),
            Laplace(2.0),
            "replace_one",
        ),
    ],
)
def test_page_shows_the_numbers_of_the_library(view, state, mechanism, adjacency):
    moved_to(view, **state, false_positive_rate=0.01)
    (whole,) = mechanism.profiles(adjacency)
    delta = float(whole.delta(state["epsilon"]))
    # Delta is rounded up to three digits in the headline and in two titles.
    assert delta * (1 - 1e-9) <= delta_of(view) <= delta * 1.01
    written = view.locator(".dp-eps output").text_content()
    titles = view.locator(".dp-title").all_text_contents()
    assert titles[0].startswith(f"δ = {written}") and titles[2] == f"δ = {written}"
    members, others = (float(n.text_content()) for n in view.locator("figcaption b").all())
    caught = 100 * (1 - float(whole.tradeoff(0.01)))
    assert caught * (1 - 1e-9) <= members <= 1.01 * caught and others == 1
    expect(view.locator(".dp-unread")).to_have_text("")
    assert not view.evaluate(BROKEN)


@each("picture, name, by", [
    ("loss", "epsilon", (80, 0)), ("delta", "epsilon", (60, 0)), ("outputs", "epsilon", (0, 60)),
    ("renyi", "order", (70, 0)), ("tradeoff", "false_positive_rate", (90, 0)),
])  # fmt: skip
def test_dragging_in_one_panel_updates_all_panels(view, picture, name, by):
    moved_to(view)
    before = view.evaluate(f"({{...page.run, paths: {PATHS}}})")
    spans = "page.spans.flat().map(axis => axis.high - axis.low)"
    narrow = view.evaluate(spans)
    dragged(view, f".dp-at-{picture} .dp-area", by, at=(0.55, 0.4), held=True)
    view.wait_for_function(f"page.run.{name} !== {before[name]} && !page.queued")
    held = view.evaluate("page.run")
    assert view.evaluate("location.hash") == "", "the address waits for the end"
    paths = view.evaluate(PATHS)
    moved = sum(a != b for a, b in zip(paths, before["paths"], strict=True))
    assert moved >= 6 or name != "epsilon"
    assert all(a <= b for a, b in zip(narrow, view.evaluate(spans), strict=True))
    view.mouse.up()
    view.wait_for_function(f"location.hash.includes('{name}=')")
    assert view.evaluate("page.run") == held
    assert held[name] == float(f"{held[name]:.3g}") and not view.evaluate(BROKEN)


def test_invalid_fields_of_an_address_are_listed(view):
    wrong = {"adjacency": "zero_out", "epsilon": "x", "colour": "red"}
    moved_to(view, mechanism="randomized_response", **wrong)
    words = view.locator(".dp-unread").text_content()
    assert all(part in words for part in ("epsilon=x", "colour=red", "adjacency=zero_out"))
    assert view.evaluate("page.run.epsilon") == 1
    moved_to(view, mechanism="shuffled")
    expect(view.locator(".dp-unread")).to_contain_text("mechanism=shuffled")


@each(
    "state",
    [
        {"mechanism": "gaussian", "noise_multiplier": 0.04, "epsilon": 100},
        {"mechanism": "gaussian", "noise_multiplier": 150, "epsilon": 100, "order": 1000},
        {"mechanism": "laplace", "noise_multiplier": 0.04, "epsilon": 0.001, "order": 1.01},
        {"mechanism": "laplace", "epsilon": 1},
        {"mechanism": "randomized_response", "local_epsilon": 15, "answers": 50, "epsilon": 20},
        {"mechanism": "geometric", "sensitivity": 200, "noise_multiplier": 150},
    ],
)
def test_extreme_parameters_show_valid_numbers(view, state):
    moved_to(view, **state)
    view.locator("b[data-drag=epsilon]").press("ArrowUp")
    view.wait_for_function("!page.queued")
    assert not view.evaluate(BROKEN)
    assert view.locator(".dp-eps output").text_content()


def test_page_chooses_a_smaller_epsilon_if_delta_would_be_0(view):
    moved_to(view, mechanism="laplace", noise_multiplier=20)
    lent = view.evaluate("page.run.epsilon")
    assert lent < 0.05 and "e-" not in view.locator(".dp-eps output").text_content()
    view.locator("select[name=mechanism]").select_option("gaussian")
    view.wait_for_function("page.run.epsilon === 1 || page.view.logDelta > -6")
    moved_to(view, mechanism="laplace", noise_multiplier=20, epsilon=1)
    assert view.evaluate("page.run.epsilon") == 1


def test_delta_is_0_beyond_the_largest_privacy_loss(view):
    moved_to(view, mechanism="laplace", epsilon=1.5)
    expect(view.locator(".dp-eps output")).to_have_text("0")
    expect(view.locator(".dp-proves")).to_contain_text("no ε")
    # The delta of a Gaussian is positive even where it underflows.
    moved_to(view, epsilon=100)
    exponent = math.ceil(float(Gaussian(1.0).profiles()[0].log_delta(100.0)) / math.log(10))
    raised = str(-exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    expect(view.locator(".dp-eps output")).to_have_text(f"10⁻{raised}")


@pytest.mark.thorough
def test_pages_fit_their_screens_in_both_languages(open_page):
    for boxes in boxes_on_screens(open_page(scheme="dark"), ".dp-title, .dp-eps, .dp-pill"):
        assert len(boxes) > 8


def test_chinese_page_has_no_english(open_page):
    view = open_page()
    view.locator("[data-do=language]").click()
    expect(view.locator(".dp[lang=zh]")).to_be_visible()
    text = view.evaluate("document.querySelector('.dp').innerText")
    assert not re.search(r"\b[a-z]{2,}(?:[ ,]+[a-z]{2,}){2,}", text), text
