"""Every formula of the book, checked in front of the reader, and its wrong variants refuted."""

import streamlit as st

from dplearn.app.kit.state import save
from dplearn.app.pages.formula_book import draw

TITLE = "Formula book"
GROUP = "Check"
ORDER = 50


def render() -> None:
    """The catalogue beside one entry, a table of many, the published figures or the sources."""
    state = draw.current()
    with st.sidebar:
        draw.catalogue(state)
    save(state)
    views = (draw.entry, draw.entries, draw.figures, draw.sources)
    for tab, show in zip(draw.tabs(state), views, strict=True):
        with tab:
            if tab.open:
                show(state)
