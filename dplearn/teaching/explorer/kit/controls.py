"""Widgets of the explorer: each shows a field of the state and writes back what is entered."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.components.v2 import component

from dplearn.teaching.explorer.kit.fields import Field, Quantity, Selection
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.kit.state import State

Then = Callable[[State], None] | None


def note(state: State, key: str) -> None:
    """The message at a control, when there is one."""
    state.unseen.pop(key, None)
    if message := state.notes.get(key):
        st.error(retold(message), icon=":material/error:")


def quantity(state: State, kind: Quantity, *, place: Any = st) -> None:
    """Draw a slider, which sends each move, and a box for a number."""
    # Laid out by look.css: a column for each part would be one more message to the browser.
    with place.container(gap=None, key=f"field_{kind.key}"):
        st.markdown(retold(kind.label), help=retold(kind.help) or None)
        marks, texts = _marks(kind)
        key, value = f"slider_{kind.key}", np.clip(state.values[kind.key], marks[0], marks[-1])
        # The mark next to the value: by difference on a linear scale, else by ratio.
        apart = np.subtract(marks, value) if kind.even else np.log(np.divide(marks, value))

        def moved() -> None:
            place = st.session_state[key].moved
            state.enter(kind, texts[min(max(int(place["index"]), 0), len(texts) - 1)])
            state.moving = not place["final"]

        at = {"texts": list(texts), "index": int(np.argmin(np.abs(apart)))}
        told = {"key": kind.key, "label": retold(kind.label), **at}
        # In a list: Streamlit would look for data frames among the values of a dictionary.
        _component(key=key, data=[told], on_moved_change=moved, height="content")
        text_box(state, kind, label="collapsed")
        note(state, kind.key)


def text_box(
    state: State, kind: Field, *, label: Any = "visible", then: Then = None, place: Any = st
) -> None:
    """A box for a number or for words; `then` runs after a change."""
    key = f"box_{kind.key}"
    value: Any = state.values[kind.key]
    # A range may have shrunk since the value was entered.
    if isinstance(kind, Quantity) and value not in kind.also:
        value = min(max(value, kind.lower), kind.upper)
    put(key, state.typed.get(kind.key, kind.show(value)))  # type: ignore[arg-type]
    place.text_input(
        retold(kind.label),
        key=key,
        help=retold(kind.help) or None,
        on_change=_entered,
        args=(state, kind, key, then),
        label_visibility=label,
    )


def choice(state: State, kind: Selection, *, then: Then = None, place: Any = st) -> None:
    """A list for one choice; `then` runs after a change.

    Control and message share a container: one that comes or goes must not move the controls
    after it, or a slider being dragged would be built anew under the hand.
    """
    names, key = {o: retold(name) for o, name in kind.options.items()}, f"choice_{kind.key}"
    put(key, state.values[kind.key])
    with place.container(gap=None):
        st.selectbox(
            retold(kind.label),
            [*names],
            key=key,
            format_func=names.__getitem__,
            help=retold(kind.help) or None,
            on_change=_entered,
            args=(state, kind, key, then),
        )
        note(state, kind.key)


def put(key: str, value: Any) -> None:
    """Make a widget show a value; untouched when it already does."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def _entered(state: State, kind: Field, key: str, then: Then) -> None:
    state.enter(kind, st.session_state[key])
    if then is not None:
        then(state)


@lru_cache(maxsize=512)
def _marks(kind: Quantity) -> tuple[tuple[float, ...], tuple[str, ...]]:
    values = kind.marks()
    return values, tuple(kind.show(v) for v in values)


_SLIDER = Path(__file__).with_name("slider")
_component = component(
    "dplearn_slider",
    html='<input type="range" min="0" step="1">',
    css=_SLIDER.with_suffix(".css").read_text(encoding="utf-8"),
    js=_SLIDER.with_suffix(".js").read_text(encoding="utf-8"),
)
