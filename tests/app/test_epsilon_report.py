"""Behind one click on the first page: a privacy statement, and nine readings of the run."""

import json
from typing import Any

import pytest
from test_language import left

from dplearn.figures import text
from dplearn.readings import readings
from dplearn.run import DPSGD, Phases
from explorer import checked, downloads, figure, opened

PLAN = DPSGD(noise_multiplier=4, sample_rate=0.01, steps=10_000)
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


def report(*boxes, **address):
    """The page with these boxes open."""
    app = opened(**address)
    assert not {*FILES} & {*downloads(app)} and len(app.get("plotly_chart")) == 2
    for box in boxes:
        app.session_state[box] = True
    return checked(app.run())


def told(app, **parts):
    """The page after these parts of the statement were told."""
    for part, words in parts.items():
        kind = app.text_input if part in ("unit", "period", "trusted") else app.selectbox
        kind = app.number_input if part == "records" else kind
        kind(key=f"told_{part}").set_value(words)
    return checked(app.run())


@pytest.mark.slow
def test_a_statement_is_refused_part_by_part_and_then_complete():
    app = report("in_full")
    for part in PARTS:
        assert app.info[0].value.startswith(f"Expected {part}, ")
        app = told(app, **{part: PARTS[part]})
    stated = PLAN.statement(delta=1e-5, **PARTS)
    assert not app.info and app.code[0].value == str(stated)
    assert downloads(app)[:4] == FILES
    app = told(app, records=100_000)
    assert "got 100000 * 1e-05 = 1: " in app.info[0].value
    app = told(app, sampling="shuffled")
    assert app.info[0].value.endswith("state the plan of what was run.")


@pytest.mark.slow
def test_a_schedule_is_stated_up_to_here_and_laplace_noise_is_not():
    app = report("in_full", "nine", steps="500", here="510", then="2, 0.02, 50; 1, 0.02, 99")
    phases = [DPSGD(noise_multiplier=4, sample_rate=0.01, steps=500)]
    phases += [
        DPSGD(noise_multiplier=s, sample_rate=0.02, steps=t) for s, t in ((2.0, 10), (1.0, 0))
    ]
    stated = Phases(tuple(phases)).statement(delta=1e-5, **PARTS)
    assert told(app, **PARTS).code[0].value == str(stated)
    assert any(c.value.startswith("Nine readings are of") for c in app.caption)
    laplace = report("in_full", mechanism="laplace", steps="50", here="7")
    assert any(c.value.startswith("A statement needs") for c in laplace.caption)


@pytest.mark.slow
def test_the_nine_readings_are_those_of_the_library():
    app = report("nine")
    expected = readings(PLAN, delta=1e-5, records=60_000, of_one=10)
    names, points = figure(app, 2)["data"]
    assert names["text"] == list(expected)
    assert [v.strip() for v in points["text"]] == [text.epsilon(g, 4) for g in expected.values()]


@pytest.mark.slow
def test_in_chinese_what_was_hidden_is_chinese():
    app = report("in_full", "nine", language="zh")
    assert not left(app)
    own = {"unit": "一张图像", "period": "一次", "trusted": "医院"}
    for wrong in ({"sampling": "shuffled"}, {"records": 10**9}, {"trust": "local"}):
        assert not left(told(app, **PARTS | own | wrong)) and app.info[0].value
    assert "�" not in json.dumps(figure(app, 2))
