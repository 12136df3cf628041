"""One pair of neighbouring outputs, seen in five ways, for every mechanism there is."""

from __future__ import annotations

import streamlit as st

from dplearn.app import mechanism_controls as controls
from dplearn.app import mechanism_fields as known
from dplearn.app import mechanism_pictures, panels
from dplearn.app.mechanism_reading import assumptions, in_words
from dplearn.app.state import State, load, save

TITLE = "Mechanisms"
ORDER = 20


def render() -> None:
    """Controls, one sentence, five pictures that move together, the assumptions."""
    state = load("mechanisms", lambda: State(fields=known.fields(), hidden=known.hidden))
    panels.style()
    with st.sidebar:
        look = controls.draw(state)
    save(state)
    if look is not None:
        st.container(key="words").markdown(in_words(look))
        mechanism_pictures.draw(look)
        st.caption(assumptions(look))
