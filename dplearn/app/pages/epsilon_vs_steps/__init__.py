"""Epsilon against the number of steps, across accountants."""

import streamlit as st

from dplearn.app.kit.language import translated
from dplearn.app.kit.state import load, save
from dplearn.app.pages.epsilon_vs_steps import (
    controls,
    draw,
    fields,
    inverse,
    live,
    present,
    presets,
    regimes,
    report,
)
from dplearn.app.pages.epsilon_vs_steps.answers import answers_of, printed_rows
from dplearn.app.pages.epsilon_vs_steps.run import accountants_of, pinned, scenario_of

TITLE = "ε against T"
GROUP = "See"
ORDER = 10
_NONE = "No theorem here covers this run; Neighbours says why. With one change there is one:"


def render() -> None:
    """Controls, the pictures, one sentence with the assumptions; then the numbers behind it."""
    state = load("explorer", fields.state)
    scenario, preset = scenario_of(state), presets.current(state)
    here, budget = state.values["here"], state.values["budget"]
    answers = answers_of(scenario, accountants_of(state), here, budget)
    with st.sidebar:
        controls.sidebar(state, preset, answers)
    save(state)
    if not answers.curves:
        st.info(translated(_NONE))
        inverse.repairs(state, scenario)
        return
    live.confirm(state, answers)
    rows = printed_rows(scenario, preset.printed if preset else ())
    other = pinned(state)
    kept = other and answers_of(other, accountants_of(state), answers.here, answers.budget)
    attack = draw.pictures(state, answers, rows, kept)
    with st.container(key="answers"):
        if kept and kept.curves:
            draw.comparison(answers, kept)
        draw.other_tools(regimes.sentences(scenario, answers.here, answers.readings))
        report.show(state, answers)
        draw.numbers(answers)
        draw.theorems(answers.readings)
        draw.printed(rows)
        draw.take_along(answers)
    with attack:
        live.follow(state, answers)
        present.show(state, answers)
