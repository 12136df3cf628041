"""Every formula of the book, checked in front of the reader, and its wrong variants refuted."""

import streamlit as st

from dplearn.app.kit.state import save
from dplearn.app.pages.formula_book import controls, draw, tables

TITLE = "Formula book"
ORDER = 50


def render() -> None:
    """The catalogue beside one entry, a table of many, the published figures or the sources."""
    state = controls.current()
    with st.sidebar:
        controls.catalogue(state)
    save(state)
    views = (draw.entry, tables.entries, tables.figures, tables.sources)
    for tab, show in zip(controls.tabs(state), views, strict=True):
        with tab:
            if tab.open:
                show(state)
