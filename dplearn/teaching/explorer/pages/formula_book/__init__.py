"""Every formula of the book, checked in front of the reader, and its wrong variants refuted."""

import streamlit as st

from dplearn.teaching.book import book
from dplearn.teaching.explorer.kit import address, language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.pages.formula_book import entry, tables

_say = Words("formula_book")
TITLE, GROUP, ORDER = _say["title"], "Check", 50
_VIEWS = {
    "formula": entry.show_entry,
    "table": tables.show_entries,
    "figures": tables.show_figures,
}


def render() -> None:
    """Draw a list to choose an entry from, and one of the views."""
    more, state = address.follow("formula_book", entry.START), st.session_state
    for key, able in {"id": book, "view": _VIEWS, "picture": entry.PICTURES}.items():
        state[key] = state[key] if state[key] in able else entry.START[key]
    left, right = st.columns([2, 1], gap="medium", vertical_alignment="bottom")
    with left:
        # It is searched as one types: title, group, name of the function.
        words = {id: f"{id} · {one.title} · {one.function.__name__}" for id, one in book.items()}
        st.selectbox(
            _say("id.label"),
            [*book],
            format_func=words.get,
            key="id",
            on_change=entry.begin,
            persist_state="session",
        )
    with right:
        entry.segments("view")
    if language.spoken() != "en":
        st.caption(_say("english"))
    _VIEWS[state["view"]]()
    first = entry.START | {"along": state.get("formula_book_axis", "")}
    address.write("formula_book", first, more)
