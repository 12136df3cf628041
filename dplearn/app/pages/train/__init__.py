"""Training a model with differential privacy, and watching it."""

import streamlit as st

from dplearn.app.kit import look
from dplearn.app.kit.state import load, save
from dplearn.app.pages.train import draw, fields, runs
from dplearn.app.pages.train.plan import Training, training_of

TITLE = "Train"
ORDER = 40
# Seconds between two looks at a run.
_PAUSE = 0.5


def render() -> None:
    """Controls, the guarantee of the plan, and the run as it goes on."""
    state = load("training", fields.state)
    look.style(__file__)
    training = training_of(state)
    with st.sidebar:
        draw.sidebar(state, training)
    save(state)
    run = runs.current()
    draw.heading(training, run)
    st.fragment(_watch, run_every=_PAUSE if run and run.live else None)(training)
    draw.below(training)


def _watch(training: Training) -> None:
    """The picture; drawn anew by itself as long as a run goes on."""
    before = st.session_state.get("training_run")
    went_on = before is not None and before.live
    run = runs.current()
    draw.picture(training, run)
    draw.status(training, run)
    if run is not None and went_on and not run.live:
        st.rerun()
