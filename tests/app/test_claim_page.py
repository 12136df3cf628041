"""The page that checks a claim: examples, errors at the input, the map, the address."""

from __future__ import annotations

import json
import math
import urllib.parse
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from test_browser import ARTEFACTS, address, browser  # noqa: F401

from dplearn.app.pages.check_a_claim import fields as ask
from dplearn.claims import PARAMETERS, QUANTITIES, check
from dplearn.figures import SYMBOLS, claim_map, map_finding

ROOT = Path(__file__).parents[2]
SECONDS = 60_000
SCRIPT = "from dplearn.app.pages.check_a_claim import render\nrender()"


def page(**values: str) -> AppTest:
    """The page, opened at an address."""
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    for key, value in values.items():
        app.query_params[key] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [e.message for e in app.exception]
    return app


def said(app: AppTest) -> str:
    return "\n".join(m.value for m in [*app.error, *app.success, *app.warning, *app.markdown])


def title(app: AppTest) -> str:
    return json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["title"]["text"]


AMPLIFIED = {"claim": "q*epsilon", "quantity": "amplified_epsilon", "of": "approximate_dp"}


# Page


def test_the_first_claim_is_the_classical_gaussian():
    app = page()
    assert "This claim is false. It promises more privacy" in said(app)
    assert "begins to fail at epsilon = 8.42" in said(app)
    assert "Violated at 2" in title(app)
    assert app.query_params == {}


@pytest.mark.parametrize("example", [e for e in ask.EXAMPLES if "poisson" not in e.values["of"]],
                         ids=lambda e: e.title)  # fmt: skip
def test_examples_are_a_click_away_and_can_be_shared(example):
    app = page()
    button = next(b for b in app.button if b.label == example.title)
    checked(button.click().run())
    assert app.text_input(key="box_claim").value == example.values["claim"]
    fixed = ask.settings(example.values["held"])
    asked = {k: example.values[k] for k in ("quantity", "of")}
    found = check(example.values["claim"], **asked, fixed=fixed)
    assert title(app) == f"<b>{map_finding(found.map)}</b>"
    again = page(**app.query_params)
    assert title(again) == title(app)


def test_examples_name_what_the_library_knows():
    for example in ask.EXAMPLES:
        assert example.values["of"] in QUANTITIES[example.values["quantity"]]
    assert {q: list(ask.mechanisms_of(q)) for q in QUANTITIES} == {
        q: list(known) for q, known in QUANTITIES.items()
    }
    assert set(SYMBOLS) == set(PARAMETERS) and set(ask.QUANTITY.options) == set(QUANTITIES)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"claim": "q*"}, "position 3"),
        ({"claim": "q*sigma"}, "got sigma"),
        ({"held": "q"}, "NAME=VALUE"),
        ({"held": "q=7"}, r"q to be a number or a range"),
        ({"held": "![x](http://x.org)=1"}, r"\!\[x\]\(http\://x.org\)"),
    ],
)
def test_errors_are_shown_at_the_input_and_nothing_else(change, message):
    app = page(**AMPLIFIED | change)
    assert len(app.error) == 1 and message in app.error[0].value
    assert not app.get("plotly_chart")
    assert app.text_input(key="box_claim").value == (AMPLIFIED | change)["claim"]
    # What was typed can be put right.
    app.text_input(key="box_claim").set_value("q*epsilon")
    checked(app.text_input(key="box_held").set_value("").run())
    assert "This claim is false" in said(app) and app.get("plotly_chart")


def test_a_change_of_quantity_brings_a_mechanism_that_it_knows():
    app = page(**AMPLIFIED)
    checked(app.selectbox(key="choice_quantity").set_value("rdp").run())
    assert app.selectbox(key="choice_of").value == "gaussian"
    assert "got epsilon, q" in app.error[0].value


def test_axes_can_be_chosen_and_nonsense_in_the_address_does_no_harm():
    app = page(**AMPLIFIED)
    app.selectbox(key="choice_x").set_value("q")
    checked(app.selectbox(key="choice_y").set_value("epsilon").run())
    spec = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert spec["layout"]["xaxis"]["title"]["text"] == "q, sample rate"
    assert app.query_params["x"] == "q"
    page(**AMPLIFIED, x="delta", y="T", relation="sideways")


# Picture


def figure(claim="q*epsilon", **asked):
    found = check(claim, quantity="amplified_epsilon", of="pure_dp", **asked)
    return found, claim_map(found).to_plotly_json()


def test_the_map_draws_what_was_found():
    found, drawn = figure()
    cells = drawn["data"][0]
    assert [list(row) for row in cells["z"]] == [list(row) for row in found.map.status]
    assert len(cells["x"]) == len(found.map.x) + 1 and len(cells["y"]) == len(found.map.y) + 1
    star = next(t for t in drawn["data"] if t["name"] == "simplest counterexample")
    assert 10 ** star["x"][0] == pytest.approx(found.simplest.parameters["epsilon"])
    assert 10 ** star["y"][0] == pytest.approx(found.simplest.parameters["q"])
    left, right = drawn["layout"]["xaxis"]["range"]
    assert left < math.log10(found.map.x[0]) < math.log10(found.map.x[-1]) < right
    # Crosses lie on violated cells and on no others.
    crosses = next(t for t in drawn["data"] if t["name"] == "violated marks")
    status = {(math.log10(x), math.log10(y)): found.map.status[j][i]
              for i, x in enumerate(found.map.x) for j, y in enumerate(found.map.y)}  # fmt: skip
    assert {status[at] for at in zip(crosses["x"], crosses["y"], strict=True)} == {1}


def test_the_map_of_one_point_and_of_nothing():
    found, drawn = figure(fixed={"q": 0.1, "epsilon": 1})
    assert drawn["layout"]["title"]["text"] == "<b>Violated at every decided point of this map</b>"
    assert len(drawn["data"][0]["x"]) == 2 and found.map.x == (1.0,)
    _, drawn = figure(claim="ln(-q)")
    assert "Nothing could be decided" in drawn["layout"]["title"]["text"]
    _, drawn = figure(claim="epsilon")
    assert "Holds at every" in drawn["layout"]["title"]["text"]


def test_colours_stay_apart_in_grey():
    from dplearn.figures.claim_map import _FILL

    grey = [
        sum(w * int(c[i : i + 2], 16) for w, i in ((0.299, 1), (0.587, 3), (0.114, 5)))
        for c in _FILL[:3]
    ]
    # Undecided and holding are told apart by dots as well.
    assert abs(grey[0] - grey[1]) > 80 and abs(grey[1] - grey[2]) > 70


# Browser


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_typing_a_formula_moves_map_and_address(browser, address):  # noqa: F811
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(SECONDS)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(address)
    opened.get_by_role("link", name="Check a claim").click()
    heading = opened.locator(".st-key-picture .gtitle")
    heading.get_by_text("Violated at 22 %").wait_for()
    ARTEFACTS.mkdir(exist_ok=True)
    opened.wait_for_timeout(500)
    opened.screenshot(path=ARTEFACTS / "claim.png")
    box = opened.locator(".st-key-picture .js-plotly-plot").bounding_box()
    assert box["y"] + box["height"] <= 900, "the first screen shows the whole map"

    opened.get_by_role("textbox", name="The claim").fill("7/epsilon")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**claim=7%2Fepsilon")
    opened.get_by_text("No violation was found").or_(
        opened.get_by_text("This claim is false")
    ).wait_for()
    fresh = context.new_page()
    fresh.set_default_timeout(SECONDS)
    fresh.goto(opened.url)
    fresh.locator(".st-key-picture .gtitle").wait_for()
    assert fresh.get_by_role("textbox", name="The claim").input_value() == "7/epsilon"
    assert urllib.parse.urlparse(fresh.url).path == "/check_a_claim"
    opened.get_by_role("textbox", name="The claim").fill("7/(epsilon")
    opened.keyboard.press("Enter")
    opened.get_by_text("Expected an operator or ) at position 11, got the end.").wait_for()
    context.close()
    assert not complaints
