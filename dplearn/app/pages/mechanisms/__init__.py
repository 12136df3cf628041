"""One pair of neighbouring outputs, seen in five ways, for every mechanism there is."""

import streamlit as st

from dplearn.app.kit.state import load, save
from dplearn.app.pages.mechanisms import draw, fields, words

TITLE = "Mechanisms"
GROUP = "See"
ORDER = 20


def render() -> None:
    """Controls, one sentence, five pictures that move together, the assumptions."""
    state = load("mechanisms", fields.state)
    with st.sidebar:
        view = draw.sidebar(state)
    save(state)
    if view is not None:
        st.container(key="words").markdown(words.sentence(view))
        draw.pictures(view)
        st.caption(words.assumptions(view))
