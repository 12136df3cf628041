"""Details below the page epsilon against T: certificate and privacy statement."""

import dataclasses
import itertools
from typing import Any

import pytest
from test_language import english_texts

from dplearn.accountants import ACCOUNTANTS
from dplearn.certificates import certify, check
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.mechanisms.sampling_scheme import EPOCH_SAMPLINGS, SAMPLINGS
from dplearn.run import DPSGD
from dplearn.teaching.explorer.pages import epsilon_vs_steps
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import Answers, Scenario
from explorer import checked, downloads, opened, words

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
ABADI = Scenario("gaussian", dataclasses.replace(PLAN, steps=40_000), 1e-5, "add_remove")
FILES = ["Text", "LaTeX", "JSON", "Card"]
HERE = Answers(ABADI, 10_000, tuple(ACCOUNTANTS), 60_000)


def open_details(*boxes: str, given: Answers = HERE, language: str = "en"):
    """Open the page with the details of a run, and open these boxes in the details."""
    app = opened("epsilon_vs_steps")
    app.session_state["language"] = language
    app.session_state["epsilon_details"] = given
    for box in boxes:
        app.session_state[box] = True
    return checked(app.run())


def enter_parts(app, **parts):
    """Enter parts of the privacy statement into its fields."""
    for part, value in parts.items():
        kind = app.text_input if part in ("unit", "period", "trusted") else app.selectbox
        kind = app.number_input if part == "records" else kind
        kind(key=f"entry_{part}").set_value(value)
    return checked(app.run())


def test_details_are_not_computed_before_a_request(monkeypatch):
    monkeypatch.setattr(confirmation, "answer_of", None)
    assert not opened("epsilon_vs_steps").subheader


@pytest.mark.slow
def test_privacy_statement_lists_its_missing_parts_until_complete():
    app = open_details("in_full")
    assert app.info[0].value.count("·") == len(PARTS) - 1
    app = enter_parts(app, **PARTS | {"unit": ""})
    assert app.info[0].value == "Still missing: Unit: whose data?"
    app = enter_parts(app, unit=PARTS["unit"])
    stated = PLAN.statement(delta=1e-5, **PARTS)
    assert not app.info and app.code[0].value == str(stated)
    assert {*FILES} < {*downloads(app)}
    app = enter_parts(app, records=100_000)
    assert "got 100000 * 1e-05 = 1: " in app.info[0].value
    laplace = dataclasses.replace(ABADI, mechanism="laplace")
    app = open_details("in_full", given=dataclasses.replace(HERE, scenario=laplace, here=7))
    assert any(c.value.startswith("A statement needs") for c in app.caption)


@pytest.mark.slow
def test_chinese_details_have_no_english():
    app = open_details("in_full", language="zh")
    assert not english_texts(app) and "还缺" in app.info[0].value


@pytest.mark.slow
def test_delta_of_at_least_one_over_n_gets_a_warning():
    loose = dataclasses.replace(
        HERE, records=1000, scenario=dataclasses.replace(ABADI, delta=0.001)
    )
    assert "is no less than 1/N" in words(open_details(given=loose))
    assert "is no less than 1/N" not in words(open_details())


def test_certificate_is_computed_on_request(monkeypatch):
    assert downloads(open_details()) == ["Certificate"]
    proved = check(epsilon_vs_steps.as_certificate(dataclasses.replace(HERE, here=1500)))
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    exact = ACCOUNTANTS["pld"]().epsilon(step, delta=1e-5, steps=1500)
    assert proved.startswith(f"proved: {exact.lower:.6f}") and "steps = 1500" in proved
    # For one step and delta = 9.9e-4, no proof is found; the file states the reason.
    vain = dataclasses.replace(HERE, scenario=dataclasses.replace(ABADI, delta=9.9e-4), here=1)
    assert epsilon_vs_steps.as_certificate(vain).startswith(
        "no proof of this run was found: its contour"
    )
    # Without python-flint, the page shows how to install it.
    monkeypatch.setattr(epsilon_vs_steps.util, "find_spec", lambda name: None)
    monkeypatch.setattr(epsilon_vs_steps, "as_certificate", None)
    bare = open_details()
    assert not downloads(bare) and epsilon_vs_steps._say["no_certificate.flint"] in [
        caption.value for caption in bare.caption
    ]


@pytest.mark.slow
def test_certificates_are_offered_exactly_where_certify_supports_the_run():
    for mechanism, sampling in itertools.product(confirmation.options()["mechanism"], SAMPLINGS):
        rate = 1.0 if sampling == "none" else 0.01
        plan = dataclasses.replace(PLAN, sampling=sampling, sample_rate=rate)
        scenario = Scenario(mechanism, plan, 1e-5, "add_remove")
        step = scenario.sampling_scheme.mechanism
        if epsilon_vs_steps.no_certificate(dataclasses.replace(HERE, scenario=scenario)):
            with pytest.raises(NotImplementedError, match="a proof of"):
                certify(step, delta=1e-5)
        else:
            for adjacency in ("add_remove", "replace_one"):
                text = certify(step, delta=1e-5, steps=100, adjacency=adjacency)
                assert check(text).startswith("proved: ")
    for sampling in EPOCH_SAMPLINGS:
        plan = dataclasses.replace(PLAN, sampling=sampling)
        shuffled = dataclasses.replace(ABADI, plan=plan)
        assert epsilon_vs_steps.no_certificate(dataclasses.replace(HERE, scenario=shuffled))
        with pytest.raises(NotImplementedError, match="a proof of"):
            certify(shuffled.sampling_scheme.mechanism, delta=1e-5)
