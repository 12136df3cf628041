"""The controls of the formula book: which entry, and where its picture is taken."""

from typing import Any

import streamlit as st

from dplearn.app.kit import controls, language
from dplearn.app.kit.fields import Quantity
from dplearn.app.kit.language import translated
from dplearn.app.kit.state import State, load
from dplearn.app.pages.formula_book import fields, search, words
from dplearn.app.pages.formula_book.place import Place
from dplearn.book import book

_NAME, _WISH = "formula_book", "formula_wish"


def current() -> State:
    """The page as the session, its address or the last click has it."""
    wish = st.session_state.pop(_WISH, None)
    # The picture of a wrong variant begins at its counterexample.
    with st.spinner(translated("Looking for a counterexample …")):
        state = load(_NAME, fields.state)
        if wish:
            state = st.session_state[_NAME] = fields.turn(state, **wish)
    return state


def go(**changed: str) -> None:
    """To another entry, or another wrong variant, at the next run."""
    st.session_state[_WISH] = changed


def catalogue(state: State) -> None:
    """The sidebar: search, group, and the entries that match."""
    about = translated("Every formula is checked on this machine.")
    st.markdown(translated("**dplearn** · the formula book"), help=about)
    if language.current() != "en":
        st.caption(translated("The entries of the book are in English."))
    controls.note(state, "id")
    controls.box(state, fields.FIND, then=lambda state: state.values.update(group="all"))
    controls.choice(state, fields.groups(state.values["id"]))
    ids = search.matching(state.values["find"], state.values["group"])
    meant = " ".join(search.meant(state.values["find"]))
    count = translated("{count} of {all} formulas", count=len(ids), all=len(book))
    count += translated(" with `{words}`", words=meant) if meant else ""
    st.caption(count if ids else translated("Nothing found."))
    if not ids:
        return
    chosen, key = state.values["id"], "choice_id"
    st.session_state[key] = chosen if chosen in ids else None
    with st.container(height=520, border=False, key="found"):
        st.radio(
            translated("Formula"),
            ids,
            key=key,
            format_func=lambda id: f"**{id}** {book[id].title}",
            on_change=lambda: go(id=st.session_state[key]),
            label_visibility="collapsed",
        )


def tabs(state: State) -> list[Any]:
    """One entry, many, and the published figures; only the open one is filled."""
    names = {word: translated(name) for word, name in fields.VIEW.options.items()}
    key = "formula_view"
    st.session_state[key] = names[state.values["view"]]
    back = {name: word for word, name in names.items()}
    chosen = lambda: state.enter(fields.VIEW, back[st.session_state[key]])
    return list(st.tabs(list(names.values()), key=key, on_change=chosen))


def below(state: State) -> None:
    """Below the picture: what runs along the axis, and a control for every other parameter."""
    along: Any = state.fields["along"]
    if not along.options:
        return
    left, right = st.columns(2, gap="medium")
    controls.choice(state, fields.PICTURE, place=left)
    if state.values["picture"] != "curve":
        return
    controls.choice(state, along, place=right)
    names = [name for name in fields.entered(state) if name != state.values["along"]]
    for rank, name in enumerate(names):
        kind: Any = state.fields[fields.parameter_key(name)]
        place = (left, right)[rank % 2]
        if isinstance(kind, Quantity):
            controls.quantity(state, kind, place=place)
        elif len(kind.options) > 1:
            controls.choice(state, kind, place=place)
    # The parameters that have no control, and a button that draws others.
    at = place_of(state)
    own = (n for n in at.claim.parameters if fields.parameter_key(n) not in state.fields)
    if not (without := {name: at.parameters[name] for name in own}):
        return
    left, right = st.columns([5, 2], vertical_alignment="center")
    left.caption(words.given(without))
    after = str((at.draw + 1) % fields.DRAWS)
    draw = lambda: state.values.update(draw=after)
    right.button(translated("Draw others"), key="draw", on_click=draw, icon=":material/casino:")


def place_of(state: State) -> Place:
    """Entry, variant and parameters in use."""
    id, misprint, draw = (state.values[key] for key in ("id", "misprint", "draw"))
    return Place(id, misprint, int(draw), tuple(fields.entered(state).items()))
