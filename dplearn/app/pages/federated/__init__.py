"""Phones that train together: where noise stands, what the server sees, what a user is promised."""

import streamlit as st

from dplearn.app.kit.state import load, save
from dplearn.app.pages.federated import draw, fields

TITLE = "Federated"
ORDER = 55


def render() -> None:
    """Controls, one sentence, what the server sees beside what it costs, the assumptions."""
    state = load("federated", fields.state)
    with st.sidebar:
        setting = draw.sidebar(state)
    save(state)
    draw.outcome(setting, moving=state.moving)
