"""Epsilon against the number of steps, across accountants."""

from __future__ import annotations

import streamlit as st

from dplearn.app import calls, details, panels, presets, reading, run
from dplearn.app.state import State, load, save
from dplearn.plotting import epsilon_curves

TITLE = "ε against T"
ORDER = 10


def render() -> None:
    """Controls, one picture, one sentence with the assumptions; then the numbers behind it."""
    state = load()
    panels.style()
    setting, asked = run.setting_of(state), run.names_of(state)
    refusals = calls.refusals(asked, setting)
    names = tuple(name for name in asked if name not in refusals)
    with st.sidebar:
        panels.run_controls(state, setting, "" if names else run.refusal(refusals))
        panels.accountant_controls(state, refusals if names else {})
    save(state)
    if names:
        _picture(state, setting, names)
    else:
        st.info("No theorem here covers this run: see the message at Neighbours.")


def _picture(state: State, setting: calls.Setting, names: tuple[str, ...]) -> None:
    here, budget = run.here_of(state, setting), state.values["budget"]
    found = presets.current(state)
    curves, steps = calls.curves(names, setting, here)
    readings = {name: calls.reading(name, setting, here) for name in names}
    certified = {name: calls.certified(name, setting, budget) for name in names}
    printed = calls.published(setting, found.published if found else ())
    words = reading.in_words(readings, setting, here)
    st.container(key="words").markdown(words)
    st.container(key="picture").plotly_chart(
        epsilon_curves(
            curves,
            steps,
            published=reading.points(printed),
            here=here,
            budget=budget,
            certified=reading.crossings(readings, certified, setting),
            subtitle=reading.run_in_a_line(setting),
            log_x=state.values["x_axis"] == "log",
            log_y=state.values["y_axis"] == "log",
            ink=panels.ink(),
        ),
        theme=None,
        key="curves",
        config=details.picture_config(),
        alt=details.alt(words, readings),
    )
    panels.view_controls(state, setting)
    st.caption(reading.assumptions(readings, setting))
    rows = reading.table(readings, certified, setting, budget)
    details.numbers(rows, here, reading.assumed(readings))
    details.theorems(readings)
    details.published(printed)
    details.take_along(curves, steps, setting, here=here, budget=budget)
