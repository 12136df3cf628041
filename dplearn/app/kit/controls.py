"""Widgets of the explorer: each shows a field of the state and writes back what is entered."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import streamlit as st

from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.slider import slider
from dplearn.app.kit.state import State


def note(state: State, key: str, problem: str = "") -> None:
    """The message at a control, when there is one."""
    if message := state.notes.get(key) or problem:
        st.error(message, icon=":material/error:")


def quantity(state: State, kind: Quantity, *, unit: Choice | None = None) -> None:
    """A slider and a box for one number; they always agree. `unit` is chosen beside the name."""
    with st.container(gap=None, key=f"field_{kind.key}"):
        if unit is None:
            st.markdown(kind.label, help=kind.help)
        else:
            left, right = st.columns(2, vertical_alignment="center", wrap=False)
            left.markdown(kind.label, help=kind.help)
            with right:
                choice(state, unit, widget="segments", label="collapsed")
        left, right = st.columns([5, 3], vertical_alignment="center", wrap=False)
        with left:
            _slider(state, kind)
        with right:
            _box(state, kind, label_visibility="collapsed")
        note(state, kind.key)


def number(state: State, kind: Quantity) -> None:
    """A box for one number; its message is shown by the caller, who knows where there is room."""
    with st.container(gap=None, key=f"field_{kind.key}"):
        _box(state, kind, label_visibility="visible")


def log_switch(state: State, kind: Choice) -> None:
    """A switch between a logarithmic and a linear axis."""
    key = f"choice_{kind.key}"
    _show(key, state.values[kind.key] == "log")
    st.toggle(
        kind.label,
        key=key,
        on_change=lambda: state.enter(kind, "log" if st.session_state[key] else "linear"),
    )
    note(state, kind.key)


def choice(
    state: State,
    kind: Choice,
    *,
    widget: str = "select",
    label: str = "visible",
    then: Callable[[State], None] | None = None,
    problem: str = "",
) -> None:
    """A list, a row of segments, or a set of pills for one choice; `then` runs after a change.

    Control and message share a container: one that comes or goes must not move the controls
    after it, or a slider being dragged would be built anew under the hand.
    """
    options = list(kind.options)
    common: dict[str, Any] = {
        "format_func": kind.options.__getitem__,
        "key": f"choice_{kind.key}",
        "help": kind.help or None,
        "on_change": _chosen,
        "args": (state, kind, then),
        "label_visibility": label,
    }
    wanted = state.values[kind.key]
    _show(common["key"], list(wanted) if isinstance(wanted, tuple) else wanted)
    with st.container(gap=None):
        if widget == "pills":
            st.pills(kind.label, options, selection_mode="multi", **common)
        elif widget == "segments":
            st.segmented_control(kind.label, options, required=True, **common)
        else:
            st.selectbox(kind.label, options, **common)
        note(state, kind.key, problem)


def _show(key: str, value: Any) -> None:
    """Make a widget show a value; untouched when it already does."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def _chosen(state: State, kind: Choice, then: Callable[[State], None] | None) -> None:
    found = st.session_state[f"choice_{kind.key}"]
    state.enter(kind, ",".join(found) if isinstance(found, (list, tuple)) else found)
    if then is not None:
        then(state)


def _box(state: State, kind: Quantity, *, label_visibility: Any) -> None:
    key = f"box_{kind.key}"
    _show(key, state.typed.get(kind.key, kind.show(_inside(state, kind))))
    st.text_input(
        kind.label,
        key=key,
        help=kind.help,
        on_change=lambda: state.enter(kind, st.session_state[key]),
        label_visibility=label_visibility,
    )


def _inside(state: State, kind: Quantity) -> float:
    """The value in use: a range may have shrunk since it was entered."""
    return min(max(state.values[kind.key], kind.lower), kind.upper)


@lru_cache(maxsize=64)
def _marks(kind: Quantity) -> tuple[tuple[float, ...], tuple[str, ...]]:
    values = kind.marks()
    return values, tuple(kind.show(v) for v in values)


def _nearest(values: tuple[float, ...], wanted: float) -> int:
    """Index of the mark with the smallest ratio to `wanted`."""
    after = min(bisect_left(values, wanted), len(values) - 1)
    before = max(after - 1, 0)
    return before if wanted / values[before] < values[after] / wanted else after


def _slider(state: State, kind: Quantity) -> None:
    values, texts = _marks(kind)
    index = _nearest(values, _inside(state, kind))

    def move(to: int, final: bool) -> None:
        state.enter(kind, texts[min(max(to, 0), len(texts) - 1)])
        state.moving = not final

    slider(kind.label, key=f"slider_{kind.key}", texts=texts, index=index, on_move=move)
