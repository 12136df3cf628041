"""The page of PATE: what it says is what the library says, and it stays whole at every setting."""

import functools
import math

import numpy as np
import pytest
from scipy.stats import norm

import explorer
from dplearn.app.pages import pate
from dplearn.app.pages.pate import EXACT, PRINTED, PUBLIC, replay
from dplearn.pate import PATE, Votes, at_these_votes, shipped_votes
from explorer import again, choose, enter, traces

opened = functools.partial(explorer.opened, "pate")
CHECKED = PATE(answers=40, queries=60, noise_std=40, threshold=200, check_std=100)


def said(app):
    return next(m.value for m in app.markdown if "answers," in m.value)


def test_the_sentence_tells_the_publishable_number_first():
    app = opened(queries="60", answers="40")
    plan = PATE(answers=40, noise_std=40)
    assert f"ε\u00a0≤\u00a0{plan.guarantee(delta=1e-5).epsilon:.4g}"[:8] in said(app)
    assert "keep both secret" in said(app) and "one teacher" in app.caption[0].value
    assert set(traces(app, 1)) == {PUBLIC, PRINTED, EXACT}
    right = sum(traces(app)["right answers"]["y"])
    assert right + sum(traces(app)["wrong answers"]["y"]) == 40


def test_people_are_those_that_the_noisy_counts_give_away():
    """Two counts move by one vote each, 200 times: a Gaussian with a mean of sqrt(2 T) / sigma."""
    best = norm.sf(norm.isf(0.01) - math.sqrt(2 * 200) / 40)
    told = replay(250, PATE(answers=200, noise_std=40), 1e-5)
    assert best <= told.found < 1.0001 * best
    assert "<b>at most 3.39\u00a0%</b>" in opened().get("html")[0].proto.body


def test_settings_are_in_the_address():
    app = choose(enter(opened(queries="60", answers="40"), "noise_std", "80"), "teachers", "500")
    assert said(again(app, "pate")) == said(app)
    assert app.query_params["teachers"] == "500" and "noise_std" in app.query_params


def test_a_threshold_out_of_reach_is_told_in_a_sentence():
    app = opened(check="agreed", threshold="1000", check_std="10", queries="30")
    assert "No query was answered" in app.warning[0].value and not app.get("plotly_chart")


@pytest.mark.parametrize("plan", [PATE(answers=40, noise_std=40), CHECKED])
def test_a_replay_adds_up(plan):
    told = replay(250, plan, 1e-5)
    votes, _ = shipped_votes(250)
    given = sum(len(told.largest[name]) for name in ("right answers", "wrong answers"))
    assert given == told.answers[-1] <= 40
    assert all(np.all(np.diff(told.epsilons[name]) > 0) for name in (PRINTED, EXACT))
    # How many queries were asked before an answer depends on votes: only the plan is public.
    assert set(told.epsilons[PUBLIC]) == {plan.guarantee(delta=1e-5).epsilon}
    asked = given + len(told.largest["no answer"])
    here = at_these_votes(Votes(votes.counts[:asked]), plan).renyi_guarantee(delta=1e-5)
    # Fewer orders are tried, each piece takes its worse direction, and checks after the last
    # answer do not count.
    assert told.epsilons[EXACT][-1] == pytest.approx(here.epsilon, rel=0.03)


def test_who_holds_a_slider_waits_for_nothing(monkeypatch):
    app = opened(queries="30", answers="20")
    before = said(app)
    monkeypatch.setattr(pate, "replay", None)
    app.session_state["pate"].moving = True
    app.session_state["pate"].values["noise_std"] = 77.0
    assert said(explorer.checked(app.run())) == before
