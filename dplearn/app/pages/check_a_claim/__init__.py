"""A formula typed by the reader, against the certified answer."""

import streamlit as st

from dplearn.app.kit.state import load, save
from dplearn.app.pages.check_a_claim import draw, fields

TITLE = "Check a claim"
ORDER = 60


def render() -> None:
    """The question above; the map on the left, the verdict on the right."""
    state = load("claim", fields.state)
    fields.suit(state)
    verdict = draw.question(state)
    if verdict is not None:
        left, right = st.columns([11, 10], gap="medium")
        with left:
            draw.map_of(state, verdict)
        with right:
            draw.outcome(verdict)
    save(state)
