"""What the server says of runs that a browser has no engine for, and of what a browser drew."""

import json

import pytest

from cases import each
from dplearn.accountants import ACCOUNTANTS
from dplearn.mechanisms import MECHANISMS, Gaussian, PoissonSubsampled
from dplearn.run import DPSGD
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation

RUN = {"mechanism": "gaussian", "noise_multiplier": 4, "sampling": "poisson", "sample_rate": 0.01}
RUN |= {"delta": 1e-5, "adjacency": "add_remove", "here": 700}
CHUA = {"noise_multiplier": 0.5, "sampling": "shuffled", "sample_rate": 1e-3, "delta": 1e-6}
CHUA |= {"adjacency": "zero_out", "here": 1000}


def asked(kind: str = "curves", shown=("rdp", "pld"), largest=1000, **run) -> dict:
    """Return the answer to a question about a run, as a browser receives it."""
    question = {"kind": kind, "key": "k", "run": RUN | run, "shown": shown, "records": 60_000}
    answer = confirmation.library_reply(question | {"largest": largest})
    return json.loads(json.dumps(answer, allow_nan=False))


@each(
    "run",
    [
        {"mechanism": "laplace", "noise_multiplier": 8},
        {"sampling": "without_replacement", "adjacency": "replace_one"},
        {"adjacency": "replace_one"},
        {"sampling": "random_allocation"},
        {"sampling": "none", "sample_rate": 1},
    ],
)
@pytest.mark.slow
def test_curves_are_the_librarys(run):
    said, run = asked(**run), RUN | run
    assert 700 in said["steps"] and said["steps"][-1] == 1000 and not said["refusals"]
    base = MECHANISMS[run["mechanism"]](run["noise_multiplier"])
    question = {"delta": 1e-5, "adjacency": run["adjacency"], "steps": said["steps"]}
    for name in ("rdp", "pld"):
        if run["mechanism"] == "laplace":
            step = PoissonSubsampled(base, run["sample_rate"])
            own = ACCOUNTANTS[name]().epsilon_curve(step, **question)
        else:
            drawn = {n: run[n] for n in ("noise_multiplier", "sample_rate", "sampling")}
            own = DPSGD(**drawn, steps=1000).guarantees(name, **question)
        assert said["of"][name]["upper"] == pytest.approx([g.epsilon for g in own], rel=1e-3)
        assert said["of"]["rdp"]["lower"] is None
    pld = said["of"]["pld"]
    assert all(low <= high for low, high in zip(pld["lower"], pld["upper"], strict=True))


@pytest.mark.slow
def test_the_claim_of_shuffling_is_the_poisson_curve_and_no_bound():
    said = asked(**CHUA, largest=3000)
    step = PoissonSubsampled(Gaussian(0.5), sample_rate=1e-3)
    expected = ACCOUNTANTS["pld"]().epsilon_curve(step, delta=1e-6, steps=said["steps"])
    assert said["claim"] == pytest.approx([g.epsilon for g in expected], rel=1e-2)
    pld, place = said["of"]["pld"], said["steps"].index(1000)
    assert said["stairs"] and pld["lower"][place] > 10.9 > 4.3 > said["claim"][place]
    # Nothing but ends of epochs beyond the first: no saw teeth.
    assert all(t % 1000 == 0 for t in said["steps"] if t > 1000)
    assert "claim" not in asked()


@each(
    "run, why, change",
    [
        (
            {"adjacency": "replace_one", "sampling": "random_allocation"},
            "add_remove",
            "Neighbours: Add or remove a record",
        ),
        (
            {"sampling": "shuffled", "adjacency": "zero_out", "mechanism": "laplace"},
            "Gaussian noise",
            "Noise: Gaussian",
        ),
    ],
)
@pytest.mark.slow
def test_a_refused_run_names_the_reason_and_a_provable_change(run, why, change):
    result = asked(**run)
    assert why in result["refused"] and change in result["refused"] and not result["of"]


@each(
    "run",
    [
        {"delta": 3},
        {"noise_multiplier": "many"},
        {"sampling": "dice"},
        {"here": 0.5},
    ],
)
def test_a_question_that_is_none_gets_one_sentence(run):
    for kind in ("curves", "confirm", "prove"):
        assert asked(kind, **run)["refused"].startswith("Expected ")
    for question in ({}, {"kind": "curves"}, {"kind": "prove", "run": 7}):
        assert confirmation.library_reply(question)["refused"].startswith("Expected ")


@pytest.mark.slow
def test_an_accountant_that_refuses_says_why_and_the_others_are_drawn():
    said = asked(sampling="without_replacement", adjacency="replace_one", shown=("gdp", "rdp"))
    assert [*said["refusals"]] == ["gdp"] and {*said["of"]} == {"rdp", "pld"}


def test_what_a_browser_drew_is_compared_with_the_library(caplog):
    (ours,) = ACCOUNTANTS["pld"]().epsilon_curve(
        PoissonSubsampled(Gaussian(4.0), 0.01), delta=1e-5, steps=[10_000]
    )

    def said(lower: float, upper: float) -> dict:
        question = {"kind": "confirm", "key": "k", "run": RUN | {"here": 10_000}}
        return confirmation.library_reply(question | {"lower": lower, "upper": upper})

    for low, high in ((0.9, 0.95), (1, 1), (1, 1.1)):
        assert said(low * ours.lower, 1.1 * high * ours.epsilon)["agrees"]
    assert not caplog.text
    # Where the browser left the run open the library's numbers are taken.
    question = {"kind": "confirm", "key": "k", "run": RUN | {"here": 10_000}}
    left = confirmation.library_reply(question)
    assert (left["agrees"], left["lower"], left["upper"]) == (None, ours.lower, ours.epsilon)
    below = said(0.9 * ours.lower, 0.99 * ours.lower)
    assert (below["agrees"], below["lower"], below["upper"]) == (False, ours.lower, ours.epsilon)
    assert "The browser drew" in caplog.text and "noise_multiplier=4.0" in caplog.text


@pytest.mark.slow
def test_an_epoch_without_a_record_has_a_claim_and_a_refusal_names_a_change():
    left = {"sampling": "shuffled_drop_last", "adjacency": "zero_out"}
    said, usual = asked(**left, here=120), asked(here=120)
    claimed = usual["of"]["pld"]["upper"][usual["steps"].index(120)]
    assert said["claim"][said["steps"].index(120)] == pytest.approx(claimed, rel=1e-2)
    result = asked(**left, mechanism="laplace")["refused"]
    assert "Noise: Gaussian" in result and "Batches: Poisson" in result
