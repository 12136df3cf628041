"""Teachers who vote on drawn digits, and what their noisy answers cost."""

import streamlit as st

from dplearn.app.kit.state import load, save
from dplearn.app.pages.pate import draw, fields

TITLE = "PATE"
ORDER = 50


def render() -> None:
    """Controls, one sentence, votes beside what answers cost, the assumptions."""
    state = load("pate", fields.state)
    with st.sidebar:
        question = draw.sidebar(state)
    save(state)
    draw.outcome(state, question)
