"""Page that checks a formula: examples, results in all settings, map, URL."""

import functools
import math

import numpy as np
import pytest

import explorer
from dplearn.teaching.explorer.pages import check_a_claim
from dplearn.teaching.figures.claim_map import _FILL, claim_map, map_finding, map_of
from explorer import again, enter, press, title
from explorer import words as shown

opened = functools.partial(explorer.opened, "check_a_claim")


@pytest.mark.slow
def test_examples_open_with_a_click_and_from_their_address():
    app = opened()
    for name, (claim, around) in check_a_claim.EXAMPLES.items():
        app = press(app, check_a_claim._say(f"examples.{name}"))
        assert app.text_input(key="claim").value == claim
        verdict = check_a_claim._finding(claim, around).verdict
        assert check_a_claim._say(f"verdict.{verdict}") in shown(app), name
        if drawn := map_of(claim, words=around):
            assert title(app) == f"<b>{map_finding(drawn)}</b>", name
            assert title(again(app, "check_a_claim")) == title(app)


@pytest.mark.slow
def test_check_of_a_formula_shows_the_result_and_the_theorem():
    app = opened()
    assert "Conditional." in shown(app) and "only if 0" in shown(app)
    link = "([G-B4](formula_book?id=G-B4&misprint=none), Dwork & Roth (2014), Theorem A.1)"
    assert link in shown(app)
    app = opened(claim="ε' = 2ε√(2k ln(1/δ'))", words="k-fold composition")
    assert "Refuted." in shown(app)
    app = enter(opened(), "claim", r"k\rho\text{-zCDP}")
    assert "Depends." in shown(app)
    assert "Holds" in shown(app) and "Refuted" in shown(app)
    app = enter(app, "words", "a group of k people")
    assert "Refuted." in app.error[0].value


@pytest.mark.slow
def test_unreadable_claims_have_a_reason_and_no_map():
    for claim, message in (("q*", "left side"), ("δ ≤ 1/n²", "No setting"), ("![x](y)=1", "left")):
        app = opened(claim=claim)
        assert "Not read." in shown(app) and message in shown(app), claim
        assert not app.get("plotly_chart")


NOTES = r"Noise of $\sigma^2 = 2\ln(1.25/\delta)\Delta/\varepsilon^2$ and, for zCDP, "
NOTES += r"$\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}$, where $L = \sum_i l_i$."


@pytest.mark.slow
def test_formulas_of_a_pasted_paragraph_are_listed():
    app = enter(opened(), "claim", NOTES)
    assert not app.get("plotly_chart") and len(app.latex) == 2
    result = shown(app)
    assert "[Refuted]" in result and "[Holds]" in result
    assert "2 formulas make a claim, 2 are listed." in result


def test_map_draws_the_status_of_every_cell_and_the_counterexample():
    area = map_of("ε' = q ε", words="sampling")
    drawn = claim_map(area).to_plotly_json()
    cells = drawn["data"][0]
    assert [list(row) for row in cells["z"]] == [list(row) for row in area.status]
    assert len(cells["x"]) == len(area.x) + 1 and len(cells["y"]) == len(area.y) + 1
    star = next(t for t in drawn["data"] if t["name"] == "simplest counterexample")
    place = [10 ** star["x"][0], 10 ** star["y"][0]]
    assert place == pytest.approx([area.simplest[n] for n in area.axes])
    left, right = drawn["layout"]["xaxis"]["range"]
    assert left < math.log10(area.x[0]) < math.log10(area.x[-1]) < right
    # Crosses mark violated cells only.
    crosses = next(t for t in drawn["data"] if t["name"] == "violated marks")
    logs = [(x, y) for y in np.log10(area.y) for x in np.log10(area.x)]
    status = dict(zip(logs, area.status.ravel(), strict=True))
    assert {status[at] for at in zip(crosses["x"], crosses["y"], strict=True)} == {1}
    holds = map_of("ε' = ln(1 + q(e^ε - 1))", words="sampling")
    assert "Holds at every" in claim_map(holds).layout.title.text


def test_colours_of_the_map_differ_in_greyscale():
    grey = [
        sum(w * int(c[i : i + 2], 16) for w, i in ((0.299, 1), (0.587, 3), (0.114, 5)))
        for c in _FILL[:3]
    ]
    # Undecided cells and cells where the claim holds may be alike: dots distinguish them, too.
    assert abs(grey[0] - grey[1]) > 80 and abs(grey[1] - grey[2]) > 70
