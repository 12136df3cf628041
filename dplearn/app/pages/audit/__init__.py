"""One simulated run with canaries: what an auditor's guesses prove about its epsilon."""

import streamlit as st

from dplearn.app.kit.state import load, save
from dplearn.app.pages.audit import draw, fields

TITLE = "Audit"
ORDER = 60


def render() -> None:
    """Controls, one sentence, scores beside what guesses prove, what an audit cannot say."""
    state = load("audit", fields.state)
    with st.sidebar:
        question = draw.sidebar(state)
    save(state)
    draw.outcome(state, question)
