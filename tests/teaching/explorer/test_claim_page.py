"""The page that checks a claim: examples, errors at the input, the map, the address."""

import functools
import math

import pytest

import explorer
from dplearn.teaching.claims import PARAMETERS, QUANTITIES, verdict_on
from dplearn.teaching.explorer.pages import check_a_claim
from dplearn.teaching.figures.claim_map import _FILL, SYMBOLS, claim_map, map_finding
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
        assert app.text_input(key="claim").value == claim
        about = {"relation": "upper", "held": held, "x": "auto", "y": "auto"}
        verdict = check_a_claim._verdict(claim=claim, quantity=quantity, of=of, **about)
        assert title(app) == f"<b>{map_finding(verdict.map)}</b>", name
        assert title(again(app, "check_a_claim")) == title(app)


def test_examples_name_what_the_library_knows():
    for name, (quantity, of, _, _) in check_a_claim.EXAMPLES.items():
        assert of in QUANTITIES[quantity], name
    for quantity, able in QUANTITIES.items():
        assert set(able) <= set(check_a_claim._say.table("of.options")), quantity
    assert set(SYMBOLS) == set(PARAMETERS) and set(
        check_a_claim._say.table("quantity.options")
    ) == set(QUANTITIES)


UNREADABLE = (
    ({"claim": "q*"}, "position 3"),
    ({"held": "![x](http://x.org)=1"}, r"\!\[x\]\(http\://x.org\)"),
)


@pytest.mark.slow
def test_errors_are_shown_at_the_input_and_nothing_else():
    for change, message in UNREADABLE:
        app = opened(**AMPLIFIED | change)
        assert len(app.error) == 1 and message in app.error[0].value, change
        assert "This claim" not in shown(app) and not app.get("plotly_chart")
        assert app.text_input(key="claim").value == (AMPLIFIED | change)["claim"]
        # What was typed can be put right.
        app.text_input(key="claim").set_value("q*epsilon")
        enter(app, "held", "")
        assert "This claim is false" in shown(app) and app.get("plotly_chart")


@pytest.mark.slow
def test_the_first_claim_is_refuted_and_its_axes_and_quantity_can_be_chosen():
    app = opened()
    assert "This claim is false. It promises more privacy" in shown(app)
    assert "begins to fail at epsilon = 8.42" in shown(app) and "Violated at 2" in title(app)
    app.selectbox(key="x").set_value("delta")
    choose(app, "y", "epsilon")
    assert explorer.figure(app)["layout"]["xaxis"]["title"]["text"].startswith("δ")
    assert app.query_params["x"] == "delta"
    # Another reading brings axes of its own.
    app = opened(**AMPLIFIED, x="q", y="epsilon")
    app.get("button_group")[0].set_value("amplified_epsilon:pure_dp")
    app = explorer.checked(app.run())
    assert not {"x", "y"} & {*app.query_params} and app.query_params["of"] == "pure_dp"


@pytest.mark.slow
def test_a_claim_as_written_on_paper_sets_the_question_and_is_echoed():
    app = enter(opened(), "claim", "ε ≤ 2ε√(2k ln 1/δ)")
    assert "Read as: every ε from this on is enough (Advanced composition" in shown(app)
    assert "This claim is false" in shown(app) and app.query_params["quantity"] == "epsilon"
    (formula,) = app.latex
    assert r"\le 2\,\varepsilon\,\sqrt{2\,k\," in formula.value
    # What is at least this is enough, for noise and for epsilon alike.
    for claim in ("σ ≥ √(2 ln(1.25/δ))/ε", r"\epsilon\geq\frac{\sqrt{2\ln(1.25/\delta)}}{\sigma}"):
        app = enter(app, "claim", claim)
        assert (
            "Read as: every" in shown(app) and "G-B4" in shown(app) and r"\le" in app.latex[0].value
        )


@pytest.mark.slow
def test_a_formula_without_a_map_is_judged_by_the_book_and_a_refused_one_fades_the_last():
    app = enter(opened(), "claim", r"\rho + 2\sqrt{\rho\ log(\frac1\delta)}")
    assert "Holds." in app.success[0].value and "G-D3" in app.success[0].value
    app = enter(app, "claim", r"\rho + 2\sqrt{\rho")
    assert len(app.error) == 1 and "Holds." in app.success[0].value


NOTES = r"Noise of $\sigma^2 = 2\ln(1.25/\delta)\Delta/\varepsilon^2$ and, for zCDP, "
NOTES += r"$\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}$, where $L = \sum_i l_i$."


@pytest.mark.slow
def test_a_pasted_paragraph_is_listed_formula_by_formula():
    app = enter(opened(), "claim", NOTES)
    assert not app.get("plotly_chart") and len(app.latex) == 2
    told = shown(app)
    assert "[Refuted]" in told and "Twice the sensitivity" in told and "[Holds]" in told
    assert "2 formulas make a claim, 2 are listed." in told


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
