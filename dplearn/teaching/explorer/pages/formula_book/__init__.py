"""Every formula of the book, checked in front of the reader, and its wrong variants refuted."""

import streamlit as st

from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.kit.state import load, save
from dplearn.teaching.explorer.pages.formula_book import draw, fields

_say = Words("formula_book")
TITLE, GROUP, ORDER = _say["title"], "Check", 50
_VIEWS = {
    "formula": draw.show_entry,
    "table": draw.show_entries,
    "figures": draw.show_figures,
    "sources": draw.show_sources,
}


def render() -> None:
    """The list of entries beside one of them, a table of many, published figures or sources."""
    wish = st.session_state.pop("formula_wish", None)
    # The picture of a wrong variant begins at its counterexample.
    with st.spinner(_say("searching")):
        state = load("formula_book", fields.state_at)
        if wish:
            state = st.session_state["formula_book"] = fields.turn(state, wish)
    with st.sidebar:
        draw.list_entries(state)
    save(state)
    names, key = {retold(name): word for word, name in fields.VIEW.options.items()}, "formula_view"
    st.session_state[key] = retold(fields.VIEW.options[state.values["view"]])
    chosen = lambda: state.enter(fields.VIEW, names[st.session_state[key]])
    tabs = st.tabs([*names], key=key, on_change=chosen)
    for tab, fill in zip(tabs, _VIEWS.values(), strict=True):
        with tab:
            if tab.open:
                fill(state)
