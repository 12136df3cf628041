"""Page that checks a formula: examples, list of settings, address."""

import functools

import pytest

import explorer
from dplearn.teaching.explorer.pages import check_a_claim
from explorer import again, enter, press
from explorer import words as shown

opened = functools.partial(explorer.opened, "check_a_claim")


@pytest.mark.slow
def test_examples_open_with_a_click_and_from_their_address():
    app = opened()
    for name, (claim, around) in check_a_claim.EXAMPLES.items():
        app = press(app, check_a_claim._say(f"examples.{name}"))
        assert app.text_input(key="claim").value == claim
        verdict = check_a_claim._found(claim, around).verdict
        assert check_a_claim._say(f"verdict.{verdict}") in shown(app), name
        assert shown(again(app, "check_a_claim")) == shown(app), name


@pytest.mark.slow
def test_verdict_names_its_setting():
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
def test_unreadable_claims_have_a_reason():
    for claim, message in (("q*", "left side"), ("δ ≤ 1/n²", "No setting"), ("![x](y)=1", "left")):
        app = opened(claim=claim)
        assert "Not read." in shown(app) and message in shown(app), claim


NOTES = r"Noise of $\sigma^2 = 2\ln(1.25/\delta)\Delta/\varepsilon^2$ and, for zCDP, "
NOTES += r"$\varepsilon = \rho + 2\sqrt{\rho\ln(1/\delta)}$, where $L = \sum_i l_i$."


@pytest.mark.slow
def test_formulas_of_a_pasted_paragraph_are_listed():
    app = enter(opened(), "claim", NOTES)
    assert len(app.latex) == 2
    result = shown(app)
    assert "[Refuted]" in result and "[Holds]" in result
    assert "2 formulas make a claim, 2 are listed." in result
