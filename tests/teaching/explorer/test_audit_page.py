"""The page of audits: what it says is what the library proves, and what its programs are."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import norm

import explorer
from cases import each
from dplearn.audit import one_run
from dplearn.core.guarantee import round_down
from dplearn.mechanisms import Gaussian
from dplearn.teaching.explorer.pages import audit
from dplearn.teaching.explorer.pages.audit import SHARPER, _mu, audited
from explorer import again, choose, enter, traces, words

opened = functools.partial(explorer.opened, "audit")
FEW = {"canaries": 100, "guesses": 20, "confidence": 0.9, "epsilon": 0.5}


def asked(**change):
    return {**explorer.start(audit).values, "confidence": 0.999, **change}


def test_every_program_has_a_signal_and_the_honest_one_that_of_its_claim():
    assert SHARPER.keys() == audit.FIELDS[0].options.keys()
    assert SHARPER["correct"] == SHARPER["short"] == 1
    twice, again = Gaussian(1.0).guarantee(delta=1e-5, steps=2), Gaussian(1 / SHARPER["again"])
    assert again.guarantee(delta=1e-5).epsilon == pytest.approx(twice.epsilon, rel=1e-3)
    for claim in (0.1, 3.0, 10.0):
        epsilon = Gaussian(1 / _mu(claim, 1e-5)).guarantee(delta=1e-5).epsilon
        assert epsilon == pytest.approx(claim, rel=1e-3)
    assert 0 < _mu(1.0, 1e-5) < _mu(3.0, 1e-5)


@each("program, caught", [("correct", False), ("short", False), ("forgets", True), ("twice", True)])
def test_the_page_says_what_the_guesses_prove(program, caught):
    app = opened(program=program)
    told = audited(**asked(program=program))
    assert f"{told.correct} of 200 guesses are right" in words(app)
    assert ("**refuted**" in words(app)) == caught != ("is not refuted" in words(app))
    assert f"**ε > {round_down(told.bound.epsilon)}**" in words(app)
    assert "99.9 %" in words(app) and "No audit says that a program is private" in words(app)
    bars = traces(app)
    heights = [sum(bars[name]["y"]) for name in ("canaries left out", "canaries included")]
    assert heights == [told.left_out.size, told.included.size] and sum(heights) == 1000


@each("change", [{}, {"guesses": 1}, {"canaries": 20, "guesses": 20}, {"assume": "gaussian"}])
def test_an_audit_is_that_of_the_library(change):
    question = asked(program="forgets", **change)
    told = audited(**question)
    scores = np.concatenate([told.left_out, told.included])
    included = np.arange(scores.size) >= told.left_out.size
    halves = (question["guesses"] - question["guesses"] // 2, question["guesses"] // 2)
    bound = one_run(
        included, scores, guesses=halves, delta=1e-5, confidence=0.999, assume=question["assume"]
    )
    assert bound == told.bound and np.all(told.proved <= told.ceiling)
    assert np.sum(scores >= told.limits[1]) == halves[0]
    assert halves[1] == 0 or np.sum(scores <= told.limits[0]) == halves[1]


def test_people_are_those_that_a_true_claim_permits():
    """Randomized response that fails with the chance delta, and the Gaussian of this epsilon."""
    any_program = 0.01 * math.exp(3) + (1 - 0.01) * 1e-5
    permitted = audit.permitted(epsilon=3.0, delta=1e-5, assume="any")
    assert any_program <= permitted < any_program + 1e-5
    gaussian = norm.sf(norm.isf(0.01) - _mu(3.0, 1e-5))
    presumed = audit.permitted(epsilon=3.0, delta=1e-5, assume="gaussian")
    assert presumed == pytest.approx(gaussian, rel=1e-6)
    told = opened(epsilon="10").get("html")[0].proto.body.replace("\u00a0", " ")
    assert "<b>at most 99.9956 %</b>" in told


def test_honest_programs_are_rarely_accused():
    """At 90 % one in ten may be, of 200; that more than 37 are has a chance below 1e-4."""
    bounds = [audited(**asked(**FEW, run=run)).bound.epsilon for run in range(1, 201)]
    assert np.sum(np.array(bounds) >= 0.5) <= 37


def test_settings_are_in_the_address_and_guesses_are_no_more_than_canaries():
    app = choose(enter(opened(guesses="500"), "canaries", "50"), "program", "twice")
    assert "of 50 guesses" in words(app) and words(again(app, "audit")) == words(app)
    assert app.query_params["program"] == "twice" and app.query_params["canaries"] == "50"
