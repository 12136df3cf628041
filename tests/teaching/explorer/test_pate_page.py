"""The page of PATE: what it says is what the library says, and it stays whole at every setting."""

import functools
import io
import math

import numpy as np
import pytest
from scipy.stats import norm

import explorer
from dplearn.core.guarantee import round_up
from dplearn.pate import PATE, Votes, at_these_votes, shipped_votes
from dplearn.pate.as_printed import as_printed
from dplearn.teaching.explorer.kit import questions
from dplearn.teaching.explorer.pages import pate
from dplearn.teaching.explorer.pages.pate import replay, shipped
from explorer import again, choose, enter, traces

opened = functools.partial(explorer.opened, "pate")
CHECKED = PATE(answers=40, queries=60, noise_std=40, threshold=200, check_std=100)


def said(app):
    return next(m.value for m in app.markdown if "keep both secret" in m.value)


def test_the_sentence_tells_the_publishable_number_first():
    app = opened(queries="60", answers="40")
    plan = PATE(answers=40, noise_std=40)
    assert f"ε\u00a0≤\u00a0{plan.guarantee(delta=1e-5).epsilon:.4g}"[:8] in said(app)
    assert "keep both secret" in said(app) and "one teacher" in app.caption[0].value
    assert set(traces(app, 1)) == {"public ε", "paper's ε", "proved ε"}
    right = sum(traces(app)["right answers"]["y"])
    assert right + sum(traces(app)["wrong answers"]["y"]) == 40


def test_people_are_those_that_the_noisy_counts_give_away():
    """Two counts move by one vote each, 200 times: a Gaussian with a mean of sqrt(2 T) / sigma."""
    best = norm.sf(norm.isf(0.01) - math.sqrt(2 * 200) / 40)
    told = shipped("250", PATE(answers=200, noise_std=40), 1e-5)
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
    told = shipped("250", plan, 1e-5)
    votes, _ = shipped_votes(250)
    given = sum(len(told.largest[name]) for name in ("right", "wrong"))
    assert given == told.answers[-1] <= 40
    assert all(np.all(np.diff(told.epsilons[name]) > 0) for name in ("printed", "exact"))
    # How many queries were asked before an answer depends on votes: only the plan is public.
    assert set(told.epsilons["public"]) == {plan.guarantee(delta=1e-5).epsilon}
    asked = given + len(told.largest["none"])
    here = at_these_votes(Votes(votes.counts[:asked]), plan).renyi_guarantee(delta=1e-5)
    # Fewer orders are tried, and checks after the last answer do not count.
    assert told.epsilons["exact"][-1] == pytest.approx(here.epsilon, rel=0.03)
    last = as_printed(Votes(votes.counts[:asked]), plan, delta=1e-5)
    assert told.epsilons["printed"][-1] == pytest.approx(
        last.epsilon, rel=0.03 * (given < asked) + 1e-9
    )


def test_who_holds_a_slider_waits_for_nothing(monkeypatch):
    app = opened(queries="30", answers="20")
    before = said(app)
    monkeypatch.setattr(pate, "_replayed", None)
    app.session_state["pate"].moving = True
    app.session_state["pate"].values["noise_std"] = 77.0
    assert said(explorer.checked(app.run())) == before


def test_votes_of_ones_own_are_replayed_in_pieces_as_at_once(monkeypatch):
    votes, digits = shipped_votes(100)
    at_once = replay(votes, digits, CHECKED, 1e-5)
    shares: list[tuple[int, int]] = []
    monkeypatch.setattr(pate, "_ROWS", 7)
    monkeypatch.setattr(pate, "_PIECE", 5)
    pieces = replay(votes, None, CHECKED, 1e-5, tell=lambda *share: shares.append(share))
    for name in ("public", "printed", "exact"):
        assert pieces.epsilons[name] == pytest.approx(at_once.epsilons[name])
    assert [*pieces.largest] == ["given", "none"]
    assert len(pieces.largest["given"]) == at_once.answers[-1]
    asked = sum(map(len, pieces.largest.values()))
    different = len({tuple(sorted(row)) for row in votes.counts[:asked].tolist()})
    assert shares == [(done, different) for done in range(0, different, 5)]


def given(app, name, data):
    return explorer.checked(app.file_uploader[0].set_value((name, data, "")).run())


def saved(table):
    file = io.BytesIO()
    np.save(file, table, allow_pickle=True)
    return file.getvalue()


def test_a_file_of_votes_is_read_asked_about_and_forgotten(monkeypatch):
    kept: dict = {}
    monkeypatch.setattr(questions, "_answers", kept)
    app = opened(queries="60", answers="40")
    before, asked = said(app), len(kept)
    counts = shipped_votes(100)[0].counts[:50]
    app = given(app, "votes.npy", saved(counts))
    own = replay(Votes(counts), None, PATE(answers=40, noise_std=40), 1e-5)
    assert f"ε\u00a0≤\u00a0{round_up(own.epsilons['exact'][-1], 3)} is proved" in said(app)
    assert "**40 answers.**" in said(app) and "right" not in said(app)
    assert not app.get("selectbox") and len(traces(app)) == 2
    # More queries than there are cannot be asked.
    assert "**50 answers.**" in said(enter(enter(app, "queries", "50"), "answers", "50"))
    assert any("from 1 to 50" in e.value for e in enter(app, "queries", "51").error)
    assert len(kept) == asked, "an answer about the reader's votes was kept"
    app = explorer.checked(app.file_uploader[0].set_value(None).run())
    app = enter(enter(app, "queries", "60"), "answers", "40")
    assert said(app) == before and pate._OWN not in app.session_state


@pytest.mark.parametrize(
    "data, told",
    [
        (b"\x80\x04junk\xff", "it is neither"),
        (saved(np.array([{"a": 1}], dtype=object)), "Python objects, which could run code"),
        (saved(np.ones(3)), "shape (queries, classes), got shape (3,)"),
        (b"3,-1\n1,1\n", "whole numbers in [0, 1e9], got -1"),
        (b"3,1\n2,1\n", "got sums from 3 to 4"),
        (b"", "it is empty"),
        (saved(np.ones((2**22 + 1, 2), dtype=np.int8)), "at most 8388608 counts"),
    ],
    ids=["junk", "pickled", "vector", "negative", "uneven", "empty", "many"],
)
def test_what_is_no_file_of_votes_is_told_in_one_line(data, told):
    app = given(opened(queries="60", answers="40"), "votes.csv", data)
    (error,) = (e.value for e in app.error)
    assert told in error and "\n" not in error and "allow_pickle" not in error
    assert "of them right" in said(app)


def test_votes_whose_law_would_take_all_memory_are_told_of():
    app = given(opened(queries="60", answers="40"), "votes.csv", b"1000000000,0\n" * 2)
    assert "2 classes, and counts up to 2.5e+07 deviations apart" in app.warning[0].value
