"""The controls of the formula book: which entry, and where its picture is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from dplearn.app.kit import controls
from dplearn.app.kit.slider import slider
from dplearn.app.kit.state import State, load
from dplearn.app.pages.formula_book import fields as ask
from dplearn.app.pages.formula_book import points, words
from dplearn.book import book

_NAME, _WISH = "formula_book", "formula_wish"


def current() -> State:
    """The page as the session, its address or the last click has it."""
    wish = st.session_state.pop(_WISH, None)
    # The picture of a wrong variant begins at its counterexample.
    with st.spinner("Looking for a counterexample …"):
        state = load(_NAME, ask.state)
        if wish:
            state = st.session_state[_NAME] = ask.turn(state, **wish)
    return state


def go(**changed: str) -> None:
    """To another entry, or another wrong variant, at the next run."""
    st.session_state[_WISH] = changed


def catalogue(state: State) -> None:
    """The sidebar: search, group, and what was found."""
    st.markdown("**dplearn** · the formula book", help="Every formula is checked on this machine.")
    controls.note(state, "id")
    _box(state, ask.FIND, "visible", then=lambda: state.values.update(group="all"))
    controls.choice(state, ask.groups(state.values["id"]))
    group = state.values["group"]
    found = words.matching(state.values["find"], "" if group == "all" else group)
    st.caption(f"{len(found)} of {len(book)} formulas" if found else "Nothing found.")
    if found:
        with st.container(height=520, border=False, key="found"):
            _list(state, found)


def _list(state: State, found: list[str]) -> None:
    here = state.values["id"]
    key = "choice_id"
    st.session_state[key] = here if here in found else None
    st.radio(
        "Formula",
        found,
        key=key,
        format_func=lambda id: f"**{id}** {book[id].title}",
        on_change=lambda: go(id=st.session_state[key]),
        label_visibility="collapsed",
    )


def view(state: State) -> list[Any]:
    """The tabs; only the open one is filled."""
    names, key = ask.VIEW.options, "formula_view"
    st.session_state[key] = names[state.values["view"]]
    back = {name: word for word, name in names.items()}
    chosen = lambda: state.enter(ask.VIEW, back[st.session_state[key]])
    return list(st.tabs(list(names.values()), key=key, on_change=chosen))


def picture(state: State) -> None:
    """Below the picture: what runs along the axis, and a slider for every other parameter."""
    along: Any = state.fields["along"]
    names = [n for n in ask.settings(state) if n != state.values["along"]]
    curve = state.values["picture"] == "curve" and along.options
    left, right = st.columns(2, gap="medium")
    if along.options:
        with left:
            controls.choice(state, ask.PICTURE)
    if curve:
        with right:
            controls.choice(state, along)
        for k, name in enumerate(names):
            with (left, right)[k % 2]:
                _parameter(state, ask.parameter_key(name))
        _held(state)


def _held(state: State) -> None:
    """The parameters that have no slider."""
    claim = points.shown(state.values["id"], state.values["misprint"])
    place = place_of(state)
    rest = [n for n in claim.parameters if ask.parameter_key(n) not in state.fields]
    if not rest:
        return
    left, right = st.columns([5, 2], vertical_alignment="center")
    left.caption(words.given(place.parameters, rest))
    after = str((place.draw + 1) % ask.DRAWS)
    draw = lambda: state.values.update(draw=after)
    right.button("Draw others", key="draw", on_click=draw, icon=":material/casino:")


def place_of(state: State) -> points.Place:
    """Entry, variant and parameters in use."""
    id, misprint, draw = (state.values[key] for key in ("id", "misprint", "draw"))
    return points.Place(id, misprint, int(draw), tuple(ask.settings(state).items()))


def _parameter(state: State, key: str) -> None:
    kind: Any = state.fields[key]
    if isinstance(kind, ask.Level):
        _level(state, kind)
    elif len(kind.options) > 1:
        controls.choice(state, kind)


def _level(state: State, kind: ask.Level) -> None:
    """Like `controls.quantity`, on a scale that may be linear and pass through 0."""
    marks = np.array(kind.marks())
    value = min(max(state.values[kind.key], kind.lower), kind.upper)
    scale = (lambda x: x) if kind.even else np.log
    index = int(np.argmin(np.abs(scale(marks) - scale(value))))

    def move(to: int, final: bool) -> None:
        state.enter(kind, kind.show(marks[min(max(to, 0), marks.size - 1)]))
        state.moving = not final

    with st.container(gap=None, key=f"field_{kind.key}"):
        st.markdown(kind.label)
        left, right = st.columns([5, 3], vertical_alignment="center", wrap=False)
        texts = [kind.show(x) for x in marks]
        with left:
            slider(kind.label, key=f"slider_{kind.key}", texts=texts, index=index, on_move=move)
        with right:
            _box(state, kind, "collapsed")
        controls.note(state, kind.key)


def _box(
    state: State, kind: Any, label_visibility: Any, then: Callable[[], None] = lambda: None
) -> None:
    key = f"box_{kind.key}"
    shown = state.typed.get(kind.key, kind.show(state.values[kind.key]))
    if st.session_state.get(key) != shown:
        st.session_state[key] = shown

    def entered() -> None:
        state.enter(kind, st.session_state[key])
        then()

    st.text_input(
        kind.label, key=key, help=kind.help or None, on_change=entered,
        label_visibility=label_visibility,
    )  # fmt: skip
