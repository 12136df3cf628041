"""Epsilon against the number of steps, across accountants."""

from __future__ import annotations

import streamlit as st

from dplearn.app.kit import look
from dplearn.app.kit.state import State, load, save
from dplearn.app.pages.epsilon_vs_steps import answers as calls
from dplearn.app.pages.epsilon_vs_steps import controls as panels
from dplearn.app.pages.epsilon_vs_steps import draw as details
from dplearn.app.pages.epsilon_vs_steps import fields, pictures, presets, regimes, run
from dplearn.app.pages.epsilon_vs_steps import words as reading
from dplearn.app.pages.epsilon_vs_steps.view import view_of

TITLE = "ε against T"
ORDER = 10


def render() -> None:
    """Controls, the pictures, one sentence with the assumptions; then the numbers behind it."""
    state = load("explorer", fields.state)
    look.style()
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
    view, found = view_of(state, setting, names), presets.current(state)
    printed = calls.published(setting, found.published if found else ())
    words = reading.in_words(view.readings, setting, view.here)
    st.container(key="words").markdown(words)
    pictures.epsilon(view, state, printed, words)
    panels.view_controls(state, setting)
    pictures.loose(view, state)
    st.caption(reading.assumptions(view.readings, setting))
    panels.elsewhere(regimes.sentences(setting, view.here))
    rows = reading.table(view.readings, view.reference_here, view.certified, setting, view.budget)
    details.numbers(rows, view.here, reading.assumed(view.readings))
    details.theorems(view.readings)
    details.published(printed)
    details.take_along(view)
