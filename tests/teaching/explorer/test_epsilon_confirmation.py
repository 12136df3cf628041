"""Server's replies: epsilon curves for runs beyond the browser, and checks of its bounds."""

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


def reply_to(kind: str = "curves", shown=("rdp", "pld"), largest=1000, **run) -> dict:
    """Return the server's reply about a run as JSON."""
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
def test_curves_of_the_server_agree_with_the_library(run):
    reply, run = reply_to(**run), RUN | run
    assert 700 in reply["steps"] and reply["steps"][-1] == 1000 and not reply["refusals"]
    base = MECHANISMS[run["mechanism"]](run["noise_multiplier"])
    question = {"delta": 1e-5, "adjacency": run["adjacency"], "steps": reply["steps"]}
    for name in ("rdp", "pld"):
        if run["mechanism"] == "laplace":
            step = PoissonSubsampled(base, run["sample_rate"])
            own = ACCOUNTANTS[name]().epsilon_curve(step, **question)
        else:
            drawn = {n: run[n] for n in ("noise_multiplier", "sample_rate", "sampling")}
            own = DPSGD(**drawn, steps=1000).guarantees(name, **question)
        assert reply["of"][name]["upper"] == pytest.approx([g.epsilon for g in own], rel=1e-3)
        assert reply["of"]["rdp"]["lower"] is None
    pld = reply["of"]["pld"]
    assert all(low <= high for low, high in zip(pld["lower"], pld["upper"], strict=True))


@pytest.mark.slow
def test_false_claim_for_shuffled_batches_is_the_epsilon_of_poisson_sampling():
    reply = reply_to(**CHUA, largest=3000)
    step = PoissonSubsampled(Gaussian(0.5), sample_rate=1e-3)
    expected = ACCOUNTANTS["pld"]().epsilon_curve(step, delta=1e-6, steps=reply["steps"])
    assert reply["claim"] == pytest.approx([g.epsilon for g in expected], rel=1e-2)
    pld, place = reply["of"]["pld"], reply["steps"].index(1000)
    assert reply["stairs"] and pld["lower"][place] > 10.9 > 4.3 > reply["claim"][place]
    # After the first epoch, all steps are ends of epochs.
    assert all(t % 1000 == 0 for t in reply["steps"] if t > 1000)
    assert "claim" not in reply_to()


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
def test_refusal_of_a_run_states_the_reason_and_a_supported_change(run, why, change):
    result = reply_to(**run)
    assert why in result["refused"] and change in result["refused"] and not result["of"]


@each("run", [{"delta": 3}, {"noise_multiplier": "many"}, {"sampling": "dice"}, {"here": 0.5}])
def test_malformed_request_gets_an_error_message(run):
    for kind in ("curves", "confirm", "prove"):
        assert reply_to(kind, **run)["refused"].startswith("Expected ")
    for question in ({}, {"kind": "curves"}, {"kind": "prove", "run": 7}):
        assert confirmation.library_reply(question)["refused"].startswith("Expected ")


@pytest.mark.slow
def test_other_accountants_are_drawn_if_one_refuses_the_run():
    reply = reply_to(sampling="without_replacement", adjacency="replace_one", shown=("gdp", "rdp"))
    assert [*reply["refusals"]] == ["gdp"] and {*reply["of"]} == {"rdp", "pld"}


def test_bounds_of_the_browser_are_compared_with_the_library(caplog):
    (ours,) = ACCOUNTANTS["pld"]().epsilon_curve(
        PoissonSubsampled(Gaussian(4.0), 0.01), delta=1e-5, steps=[10_000]
    )

    def reply(lower: float, upper: float) -> dict:
        question = {"kind": "confirm", "key": "k", "run": RUN | {"here": 10_000}}
        return confirmation.library_reply(question | {"lower": lower, "upper": upper})

    for low, high in ((0.9, 0.95), (1, 1), (1, 1.1)):
        assert reply(low * ours.lower, 1.1 * high * ours.epsilon)["agrees"]
    assert not caplog.text
    # If the browser sends no bounds, the reply has the library's bounds.
    question = {"kind": "confirm", "key": "k", "run": RUN | {"here": 10_000}}
    left = confirmation.library_reply(question)
    assert (left["agrees"], left["lower"], left["upper"]) == (None, ours.lower, ours.epsilon)
    below = reply(0.9 * ours.lower, 0.99 * ours.lower)
    assert (below["agrees"], below["lower"], below["upper"]) == (False, ours.lower, ours.epsilon)
    assert "The browser drew" in caplog.text and "noise_multiplier=4.0" in caplog.text


@pytest.mark.slow
def test_claim_for_drop_last_is_drawn_and_a_refusal_proposes_changes():
    left = {"sampling": "shuffled_drop_last", "adjacency": "zero_out"}
    dropped, usual = reply_to(**left, here=120), reply_to(here=120)
    claimed = usual["of"]["pld"]["upper"][usual["steps"].index(120)]
    assert dropped["claim"][dropped["steps"].index(120)] == pytest.approx(claimed, rel=1e-2)
    result = reply_to(**left, mechanism="laplace")["refused"]
    assert "Noise: Gaussian" in result and "Batches: Poisson" in result
