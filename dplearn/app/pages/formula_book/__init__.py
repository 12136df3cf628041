"""Every formula of the book, checked in front of the reader, and its wrong variants refuted."""

from __future__ import annotations

import streamlit as st

from dplearn.app.kit.state import State, save
from dplearn.app.pages.formula_book import controls
from dplearn.app.pages.formula_book import draw as panels
from dplearn.book import book

TITLE = "Formula book"
ORDER = 50


def render() -> None:
    """The catalogue beside one entry, a table of many, or the published figures."""
    state = controls.current()
    panels.style()
    with st.sidebar:
        controls.catalogue(state)
    save(state)
    entry, table, figures = controls.view(state)
    with entry:
        if entry.open:
            _entry(state)
    with table:
        if table.open:
            panels.table(state)
    with figures:
        if figures.open:
            panels.figures()


def _entry(state: State) -> None:
    entry = book[state.values["id"]]
    panels.statement(entry)
    left, right = st.columns([9, 5], gap="medium")
    with right:
        panels.verification(entry)
        panels.misprints(state)
        panels.code(entry)
    with left:
        panels.picture(state)
        controls.picture(state)
