"""The controls: which run and which accountants in the sidebar, where one looks below."""

from dataclasses import replace

import streamlit as st

from dplearn.accountants import accountants
from dplearn.app.kit import controls, language, run_fields
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields, inverse, presets
from dplearn.app.pages.epsilon_vs_steps.answers import Answers
from dplearn.app.pages.epsilon_vs_steps.run import Scenario, pin, suit_adjacency
from dplearn.figures import text

# Settings that most runs share.
_MORE = ("mechanism", "sampling", "adjacency", "then", "accountants")
_PIN = "Its curves stay in the picture, dotted, and a table compares another run with it."


def sidebar(state: State, preset: presets.Preset | None, answers: Answers) -> None:
    """Which run, and which accountants; those without a theorem here say why."""
    # Without the accountant's name, as all of them say the same when nobody answers.
    reasons = {name: why.partition(": ")[2] for name, why in answers.refusals.items()}
    refusal = "" if answers.curves else next(iter(reasons.values()))
    scenario = answers.scenario
    _preset(state, preset)
    controls.quantity(state, run_fields.NOISE)
    _sampling(state, scenario)
    controls.quantity(state, run_fields.DELTA)
    in_steps = state.values["length_in"] == "steps"
    epochs = replace(run_fields.EPOCHS, label=f"T = {text.whole(scenario.phases[0].steps)}")
    controls.quantity(state, run_fields.STEPS if in_steps else epochs, unit=run_fields.LENGTH_IN)
    # What went wrong must be seen; what is folded away is not sent, which is a tenth of a move.
    if refusal or {*_MORE} & {*state.notes}:
        st.session_state["more"] = True
    more = st.expander(translated("More settings"), key="more", on_change="rerun")
    if more.open:
        with more:
            _more(state, refusal)
            for name, reason in reasons.items() if answers.curves else ():
                st.caption(f":material/block: {accountants[name].title}: {retold(reason)}")
    language.switch()


def _more(state: State, refusal: str) -> None:
    """What most runs share; who wants another finds it here."""
    controls.choice(state, state.fields["mechanism"])  # type: ignore[arg-type]
    controls.choice(state, fields.SAMPLING, then=suit_adjacency)
    controls.choice(state, run_fields.ADJACENCY, problem=refusal)
    if "then" not in state.hidden(state.values):
        with st.container(gap=None, key="field_then"):
            controls.box(state, fields.THEN)
            controls.note(state, "then")
    controls.choice(state, fields.ACCOUNTANTS, widget="pills")


def _preset(state: State, preset: presets.Preset | None) -> None:
    by_title = {p.title: p for p in presets.PRESETS}
    key = "choice_preset"
    controls.show(key, preset.title if preset else presets.CUSTOM)

    def chosen() -> None:
        if (title := st.session_state[key]) in by_title:
            presets.start(state, by_title[title])

    about = preset.source if preset else presets.OWN
    names = {title: translated(title) for title in (*by_title, presets.CUSTOM)}
    common = {"format_func": names.__getitem__, "help": translated(about)}
    st.selectbox(translated("Run"), [*names], key=key, on_change=chosen, **common)


def _sampling(state: State, scenario: Scenario) -> None:
    """The sample rate, or the two numbers it comes from."""
    if scenario.sampling == "none":
        st.caption(translated("Every step uses all records: q = 1."))
        return
    if state.values["rate_from"] == "rate":
        controls.quantity(state, run_fields.RATE, unit=fields.RATE_FROM)
        return
    with st.container(gap=None, key="field_counts"):
        left, right = st.columns(2, vertical_alignment="center", wrap=False)
        left.markdown(f"q = {scenario.sample_rate:.4g}", help=translated(run_fields.RATE.help))
        controls.choice(state, fields.RATE_FROM, widget="segments", label="collapsed", place=right)
        for place, kind in zip(st.columns(2), (fields.DATASET, run_fields.BATCH), strict=True):
            controls.box(state, kind, place=place.container(gap=None, key=f"field_{kind.key}"))
        controls.note(state, fields.DATASET.key)
        controls.note(state, run_fields.BATCH.key)


def below(state: State, scenario: Scenario) -> None:
    """Below the picture: where one stands, what one can spend, and the axes."""
    left, middle, right = st.container(key="looking").columns([9, 9, 3], gap="medium")
    with left, st.container(gap=None):
        controls.quantity(state, replace(fields.HERE, upper=float(scenario.largest)))
        label = translated("Unpin" if state.values["pinned"] else "Pin to compare")
        pinned = {"on_click": pin, "args": (state,), "help": translated(_PIN)}
        with st.container(horizontal=True):
            st.button(label, key="pin", type="tertiary", **pinned)
            _all_curves(state)
    with middle, st.container(gap=None):
        controls.quantity(state, fields.BUDGET)
        inverse.buttons(state, scenario)
    with right, st.container(gap=None):
        controls.log_switch(state, fields.X_AXIS)
        controls.log_switch(state, fields.Y_AXIS)


def _all_curves(state: State) -> None:
    """Every accountant at a click, or the three of the beginning."""
    few, several = fields.ACCOUNTANTS.default, tuple(fields.ACCOUNTANTS.options)
    all_drawn = state.values["accountants"] == several
    label, other = ("Three curves", few) if all_drawn else ("All curves", several)
    draw = lambda: state.enter(fields.ACCOUNTANTS, ",".join(other))
    st.button(translated(label), key="all_curves", type="tertiary", on_click=draw)
