"""The parts of the page of epsilon against steps, from the sidebar to the footnotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from dplearn.accountants import accountants
from dplearn.app.kit import controls
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields as ask
from dplearn.app.pages.epsilon_vs_steps import presets
from dplearn.app.pages.epsilon_vs_steps.answers import Setting
from dplearn.app.pages.epsilon_vs_steps.run import suit_adjacency
from dplearn.figures import text

_EPSILON = (
    "ε is the privacy loss: adding or removing one person's record changes the probability of "
    "anything that can happen by at most the factor e^ε, except with probability δ. "
    "Every step of training adds to it; an accountant says how much."
)


def run_controls(state: State, setting: Setting, refusal: str) -> None:
    """The sidebar: which run."""
    st.markdown("**dplearn** · how ε grows with T", help=_EPSILON)
    _preset(state)
    controls.quantity(state, ask.NOISE)
    _sampling(state, setting)
    controls.quantity(state, ask.DELTA)
    _length(state, setting)
    left, right = st.columns([4, 6])
    with left:
        controls.choice(state, ask.MECHANISM)
    with right:
        controls.choice(state, ask.SAMPLING, then=suit_adjacency)
    controls.choice(state, ask.ADJACENCY, problem=refusal)


def accountant_controls(state: State, refusals: Mapping[str, str]) -> None:
    """The sidebar, continued: which accountants, and which of them have no theorem here."""
    controls.choice(state, ask.ACCOUNTANTS, widget="pills")
    for name, refusal in refusals.items():
        st.caption(f":material/block: {accountants[name].title}: {refusal.partition(': ')[2]}")


def _preset(state: State) -> None:
    found = presets.current(state)
    titles = [p.title for p in presets.PRESETS]
    key = "choice_preset"
    shown = found.title if found else presets.CUSTOM
    if st.session_state.get(key) != shown:
        st.session_state[key] = shown

    def chosen() -> None:
        for preset in presets.PRESETS:
            if preset.title == st.session_state[key]:
                presets.apply(state, preset)

    help_text = "A published run to start from. Change anything and it becomes your own."
    st.selectbox("Run", [*titles, presets.CUSTOM], key=key, on_change=chosen, help=help_text)
    st.caption(found.source if found else presets.OWN)


def _sampling(state: State, setting: Setting) -> None:
    """The sample rate, or the two numbers it comes from."""
    if state.values["sampling"] == "none":
        st.caption("Every step uses all records: q = 1.")
        return
    if state.values["rate_from"] == "rate":
        controls.quantity(state, ask.RATE, unit=ask.RATE_FROM)
        return
    with st.container(gap=None, key="field_counts"):
        left, right = st.columns(2, vertical_alignment="center", wrap=False)
        left.markdown(f"q = {setting.sample_rate:.4g}", help=ask.RATE.help)
        with right:
            controls.choice(state, ask.RATE_FROM, widget="segments", label="collapsed")
        left, right = st.columns(2)
        with left:
            controls.number(state, ask.DATASET)
        with right:
            controls.number(state, ask.BATCH)
        controls.note(state, ask.DATASET.key)
        controls.note(state, ask.BATCH.key)


def _length(state: State, setting: Setting) -> None:
    in_steps = state.values["length_in"] == "steps"
    kind = (
        ask.STEPS if in_steps else replace(ask.EPOCHS, label=f"T = {text.whole(setting.largest)}")
    )
    controls.quantity(state, kind, unit=ask.LENGTH_IN)


def elsewhere(sentences: Sequence[str]) -> None:
    """Which other tools fail at this run; nothing where none is known to."""
    if sentences:
        lines = "\n".join(f"- {sentence}" for sentence in sentences)
        words = f"**Where other tools go wrong here**\n\n{lines}"
        st.container(key="regimes").markdown(words)


def view_controls(state: State, setting: Setting) -> None:
    """Below the picture: where one stands, what one can spend, and the axes."""
    left, middle, right = st.columns([9, 9, 3], gap="medium")
    with left:
        controls.quantity(state, replace(ask.HERE, upper=float(setting.largest)))
    with middle:
        controls.quantity(state, ask.BUDGET)
    with right, st.container(gap=None):
        controls.log_switch(state, ask.X_AXIS)
        controls.log_switch(state, ask.Y_AXIS)
