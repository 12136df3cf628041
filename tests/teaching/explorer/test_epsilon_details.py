"""Asked for with one button on the first page: proof, statement, readings, what is printed."""

import dataclasses
import itertools
import json
from typing import Any

import pytest
from scenarios import ABADI, CHUA_RUN
from test_language import left

from dplearn.accountants import ACCOUNTANTS
from dplearn.certificates import certify, check
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.mechanisms.sampling_scheme import EPOCH_SAMPLINGS, SAMPLINGS, epoch, sampled
from dplearn.run import DPSGD, Phases
from dplearn.teaching.choosing import readings
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation, details
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import Answers, Scenario
from dplearn.teaching.figures.kit import text
from explorer import checked, downloads, figure, opened, words

PLAN = DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=10_000)
PARTS: dict[str, Any] = {
    "unit": "one image",
    "records": 60_000,
    "period": "once",
    "sampling": "poisson",
    "tuning": "public",
    "released": "every_step",
    "trust": "central",
    "trusted": "the hospital",
}
FILES = ["Text", "LaTeX", "JSON", "Card"]
HERE = Answers(ABADI, 10_000, tuple(ACCOUNTANTS), 60_000)


def asked(*boxes: str, given: Answers = HERE, language: str = "en"):
    """The page after the library was asked, with these boxes open."""
    app = opened("epsilon_vs_steps")
    app.session_state["language"] = language
    app.session_state["epsilon_details"] = given
    for box in boxes:
        app.session_state[box] = True
    return checked(app.run())


def told(app, **parts):
    """The page after these parts of the statement were told."""
    for part, said in parts.items():
        kind = app.text_input if part in ("unit", "period", "trusted") else app.selectbox
        kind = app.number_input if part == "records" else kind
        kind(key=f"told_{part}").set_value(said)
    return checked(app.run())


def test_nothing_is_computed_before_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(confirmation, "answer_of", None)
    assert not opened("epsilon_vs_steps").subheader


@pytest.mark.slow
def test_a_statement_is_refused_part_by_part_and_then_complete():
    app = asked("in_full")
    for part in PARTS:
        assert app.info[0].value.startswith(f"Expected {part}, ")
        app = told(app, **{part: PARTS[part]})
    stated = PLAN.statement(delta=1e-5, **PARTS)
    assert not app.info and app.code[0].value == str(stated)
    assert {*FILES} < {*downloads(app)}
    app = told(app, records=100_000)
    assert "got 100000 * 1e-05 = 1: " in app.info[0].value
    app = told(app, sampling="shuffled")
    assert app.info[0].value.endswith("state the plan of what was run.")


@pytest.mark.slow
def test_a_schedule_is_stated_up_to_here_and_laplace_noise_is_not():
    scheduled = dataclasses.replace(ABADI, then="2, 0.02, 50; 1, 0.02, 99", largest=649)
    app = asked("in_full", "nine", given=dataclasses.replace(HERE, scenario=scheduled, here=510))
    phases = [DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=500)]
    phases += [
        DPSGD(noise_multiplier=s, sample_rate=0.02, steps=t) for s, t in ((2.0, 10), (1.0, 0))
    ]
    stated = Phases(tuple(phases)).statement(delta=1e-5, **PARTS)
    assert told(app, **PARTS).code[0].value == str(stated)
    assert any(c.value.startswith("Nine readings are of") for c in app.caption)
    laplace = dataclasses.replace(ABADI, mechanism="laplace", largest=50)
    app = asked("in_full", given=dataclasses.replace(HERE, scenario=laplace, here=7))
    assert any(c.value.startswith("A statement needs") for c in app.caption)


@pytest.mark.slow
def test_the_nine_readings_are_those_of_the_library():
    app = asked("nine")
    expected = readings(PLAN, delta=1e-5, records=60_000, of_one=10)
    names, points = figure(app)["data"]
    assert names["text"] == list(expected)
    assert [v.strip() for v in points["text"]] == [text.epsilon(g, 4) for g in expected.values()]


@pytest.mark.slow
def test_theorems_sources_and_printed_figures_are_told():
    app = asked("theorems")
    told = words(app)
    for law in ACCOUNTANTS.values():
        assert all(str(x) in told for x in (law.statement, law.reference, law.explanation))
    assert "0.47\u00a0% below the certified ε".replace("\u00a0", " ") in told
    (printed,) = (table.value for table in app.table)
    assert "does not reproduce" in set(printed["Verdict"])
    assert "0.9468667 ≤ ε ≤ 0.9468669" in told


@pytest.mark.slow
def test_in_chinese_what_was_hidden_is_chinese():
    app = asked("in_full", "nine", "theorems", language="zh")
    assert not left(app)
    own = {"unit": "一张图像", "period": "一次", "trusted": "医院"}
    for wrong in ({"sampling": "shuffled"}, {"records": 10**9}, {"trust": "local"}):
        assert not left(told(app, **PARTS | own | wrong)) and app.info[0].value
    assert "�" not in json.dumps(figure(app))


@pytest.mark.slow
def test_a_delta_that_promises_next_to_nothing_is_said():
    loose = dataclasses.replace(
        HERE, records=1000, scenario=dataclasses.replace(ABADI, delta=0.001)
    )
    assert "is no less than 1/N" in words(asked(given=loose))
    assert "is no less than 1/N" not in words(asked())


def test_a_certificate_is_made_when_it_is_asked_for(monkeypatch):
    assert downloads(asked()) == ["Certificate"]
    proved = check(details.as_certificate(dataclasses.replace(HERE, here=1500)))
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    truth = ACCOUNTANTS["pld"]().epsilon(step, delta=1e-5, steps=1500)
    assert proved.startswith(f"proved: {truth.lower:.6f}") and "steps = 1500" in proved
    # Nothing leaks at delta = 0.9: what is asked for in vain is told in the file.
    vain = dataclasses.replace(HERE, scenario=dataclasses.replace(ABADI, delta=0.9), here=1)
    assert details.as_certificate(vain).startswith("no proof of this run was found")
    # Without python-flint the page opens, and says how to add it.
    monkeypatch.setattr(details.util, "find_spec", lambda name: None)
    monkeypatch.setattr(details, "as_certificate", None)
    bare = asked()
    assert not downloads(bare) and details._say["no_certificate.flint"] in [
        caption.value for caption in bare.caption
    ]


@pytest.mark.slow
def test_certificates_are_offered_where_a_proof_has_a_form():
    for mechanism, sampling in itertools.product(confirmation.mechanism().options, SAMPLINGS):
        rate = 1.0 if sampling == "none" else 0.01
        scenario = Scenario(mechanism, 4.0, sampling, rate, 1e-5, "add_remove", 100)
        step = sampled(scenario.base, sampling=sampling, sample_rate=rate)
        if details.no_certificate(dataclasses.replace(HERE, scenario=scenario)):
            with pytest.raises(NotImplementedError, match="a proof of"):
                certify(step, delta=1e-5)
        else:
            for adjacency in ("add_remove", "replace_one"):
                text = certify(step, delta=1e-5, steps=100, adjacency=adjacency)
                assert check(text).startswith("proved: ")
    for sampling in EPOCH_SAMPLINGS:
        shuffled = dataclasses.replace(CHUA_RUN, sampling=sampling)
        assert details.no_certificate(dataclasses.replace(HERE, scenario=shuffled))
        with pytest.raises(NotImplementedError, match="a proof of"):
            certify(epoch(Gaussian(0.5), sampling=sampling, sample_rate=0.01), delta=1e-5)
