"""The page that checks a claim: examples, errors at the input, the map, the address."""

import functools
import math

import pytest

import explorer
from dplearn.app.pages import check_a_claim
from dplearn.claims import PARAMETERS, QUANTITIES, verdict_on
from dplearn.figures.claim_map import _FILL, SYMBOLS, claim_map, map_finding
from explorer import again, choose, enter, press, title
from explorer import words as shown

opened = functools.partial(explorer.opened, "check_a_claim")
AMPLIFIED = {"claim": "q*epsilon", "quantity": "amplified_epsilon", "of": "approximate_dp"}


@pytest.mark.slow
def test_examples_are_a_click_away_and_can_be_shared():
    app = opened()
    for name, (quantity, of, claim, held) in check_a_claim.EXAMPLES.items():
        # Those with Poisson sampling take seconds.
        if "poisson" in of:
            continue
        app = press(app, check_a_claim._say(f"examples.{name}"))
        assert app.text_input(key="box_claim").value == claim
        about = {"relation": "upper", "held": held, "x": "auto", "y": "auto"}
        verdict = check_a_claim._verdict(claim=claim, quantity=quantity, of=of, **about)
        assert title(app) == f"<b>{map_finding(verdict.map)}</b>", name
        assert title(again(app, "check_a_claim")) == title(app)


def test_examples_name_what_the_library_knows():
    for name, (quantity, of, _, _) in check_a_claim.EXAMPLES.items():
        assert of in QUANTITIES[quantity], name
    for quantity, able in QUANTITIES.items():
        assert set(able) <= set(check_a_claim.OF.options), quantity
    assert set(SYMBOLS) == set(PARAMETERS) and set(check_a_claim.QUANTITY.options) == set(
        QUANTITIES
    )


UNREADABLE = (
    ({"claim": "q*"}, "position 3"),
    ({"held": "![x](http://x.org)=1"}, r"\!\[x\]\(http\://x.org\)"),
)


def test_errors_are_shown_at_the_input_and_nothing_else():
    for change, message in UNREADABLE:
        app = opened(**AMPLIFIED | change)
        assert len(app.error) == 1 and message in app.error[0].value, change
        assert "This claim" not in shown(app) and not app.get("plotly_chart")
        assert app.text_input(key="box_claim").value == (AMPLIFIED | change)["claim"]
        # What was typed can be put right.
        app.text_input(key="box_claim").set_value("q*epsilon")
        enter(app, "held", "")
        assert "This claim is false" in shown(app) and app.get("plotly_chart")


def test_the_first_claim_is_refuted_and_its_axes_and_quantity_can_be_chosen():
    app = opened()
    assert "This claim is false. It promises more privacy" in shown(app)
    assert "begins to fail at epsilon = 8.42" in shown(app) and "Violated at 2" in title(app)
    app.selectbox(key="choice_x").set_value("delta")
    choose(app, "y", "epsilon")
    assert explorer.figure(app)["layout"]["xaxis"]["title"]["text"].startswith("δ")
    assert app.query_params["x"] == "delta"
    # A change of quantity brings a mechanism that it knows, and axes of its own.
    app = choose(opened(**AMPLIFIED, x="q", y="epsilon"), "quantity", "rdp")
    assert not {"x", "y"} & {*app.query_params}
    assert app.selectbox(key="choice_of").value == "gaussian"
    assert "got epsilon, q" in app.error[0].value


@pytest.mark.slow
def test_a_claim_as_written_on_paper_sets_the_question_and_is_echoed():
    app = enter(opened(), "claim", "ε ≤ 2ε√(2k ln 1/δ)")
    assert app.selectbox(key="choice_quantity").value == "epsilon"
    # The first mechanism that knows an epsilon of one step.
    assert app.selectbox(key="choice_of").value == "laplace"
    app = choose(app, "of", "pure_dp")
    assert "Expected" not in shown(app) and "This claim is false" in shown(app)
    (formula,) = app.latex
    assert r"\le 2\,\varepsilon\,\sqrt{2\,k\," in formula.value
    app = enter(app, "claim", "σ ≥ √(2 ln(1.25/δ))/ε")
    assert app.selectbox(key="choice_quantity").value == "sigma"
    assert app.selectbox(key="choice_of").value == "gaussian" and "Expected" not in shown(app)
    # Who chooses another quantity by hand takes the left side away.
    app = choose(app, "quantity", "epsilon")
    assert app.text_input(key="box_claim").value == "√(2 ln(1.25/δ))/ε"
    assert app.selectbox(key="choice_quantity").value == "epsilon"


def drawn_map(claim="q*epsilon", **limits):
    verdict = verdict_on(claim, quantity="amplified_epsilon", of="pure_dp", **limits)
    return verdict, claim_map(verdict).to_plotly_json()


def test_the_map_draws_what_was_found_of_one_point_and_of_nothing_as_well():
    verdict, drawn = drawn_map()
    cells = drawn["data"][0]
    assert [list(row) for row in cells["z"]] == [list(row) for row in verdict.map.status]
    assert len(cells["x"]) == len(verdict.map.x) + 1 and len(cells["y"]) == len(verdict.map.y) + 1
    star = next(t for t in drawn["data"] if t["name"] == "simplest counterexample")
    assert 10 ** star["x"][0] == pytest.approx(verdict.simplest.parameters["epsilon"])
    assert 10 ** star["y"][0] == pytest.approx(verdict.simplest.parameters["q"])
    left, right = drawn["layout"]["xaxis"]["range"]
    assert left < math.log10(verdict.map.x[0]) < math.log10(verdict.map.x[-1]) < right
    # Crosses lie on violated cells and on no others.
    crosses = next(t for t in drawn["data"] if t["name"] == "violated marks")
    status = {
        (math.log10(x), math.log10(y)): cell
        for y, row in zip(verdict.map.y, verdict.map.status, strict=True)
        for x, cell in zip(verdict.map.x, row, strict=True)
    }
    assert {status[at] for at in zip(crosses["x"], crosses["y"], strict=True)} == {1}
    verdict, drawn = drawn_map(fixed={"q": 0.1, "epsilon": 1})
    assert drawn["layout"]["title"]["text"] == "<b>Violated at every decided point of this map</b>"
    assert len(drawn["data"][0]["x"]) == 2 and verdict.map.x == (1.0,)
    _, drawn = drawn_map(claim="ln(-q)")
    assert "Nothing could be decided" in drawn["layout"]["title"]["text"]
    _, drawn = drawn_map(claim="epsilon")
    assert "Holds at every" in drawn["layout"]["title"]["text"]


def test_colours_stay_apart_in_grey():
    grey = [
        sum(w * int(c[i : i + 2], 16) for w, i in ((0.299, 1), (0.587, 3), (0.114, 5)))
        for c in _FILL[:3]
    ]
    # Undecided and holding are told apart by dots as well.
    assert abs(grey[0] - grey[1]) > 80 and abs(grey[1] - grey[2]) > 70
