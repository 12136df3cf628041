"""A formula typed by the reader, against the certified answer."""

from __future__ import annotations

import streamlit as st

from dplearn.app.kit.state import load, save
from dplearn.app.pages.check_a_claim import draw as panels
from dplearn.app.pages.check_a_claim import fields

TITLE = "Check a claim"
ORDER = 60


def render() -> None:
    """The question above; the map on the left, the verdict on the right."""
    state = load("claim", fields.state)
    panels.style()
    panels.suit(state)
    found = panels.question(state)
    if found is not None:
        left, right = st.columns([11, 10], gap="medium")
        with left:
            panels.picture(state, found)
        with right:
            panels.verdict(found)
    save(state)
