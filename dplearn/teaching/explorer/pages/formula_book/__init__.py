"""Page of the book's formulas, with checks on request and refuted wrong variants."""

import streamlit as st

from dplearn.teaching.book import book
from dplearn.teaching.explorer.kit import address, language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.pages.formula_book import entry

_say = Words("formula_book")
TITLE, GROUP, ORDER = _say["title"], "Check", 50


def render() -> None:
    """Draw the list of entries, and the chosen entry."""
    more, state = address.follow("formula_book", entry.START), st.session_state
    for key, options in {"id": book, "picture": entry.PICTURES}.items():
        state[key] = state[key] if state[key] in options else entry.START[key]
    # Typing searches these texts: id, title and function name.
    words = {id: f"{id} · {one.title} · {one.function.__name__}" for id, one in book.items()}
    title, show = _say("id.label"), words.__getitem__
    st.selectbox(
        title, [*book], format_func=show, key="id", on_change=entry.begin, persist_state="session"
    )
    if language.current() != "en":
        st.caption(_say("english"))
    entry.show_entry()
    first = entry.START | {"along": state.get("formula_book_axis", "")}
    address.write("formula_book", first, more)
