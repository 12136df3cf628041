"""Training a model with differential privacy, and watching it."""

from importlib.util import find_spec

import streamlit as st

from dplearn.app.kit.language import translated
from dplearn.app.kit.state import load, save
from dplearn.app.pages.train import draw, fields, runs
from dplearn.app.pages.train.fields import Training, as_python, training_of
from dplearn.app.pages.train.runs import Run

TITLE = "Train"
GROUP = "See"
ORDER = 40
# Seconds between two looks at a run.
_PAUSE = 0.3


def render() -> None:
    """Controls, the guarantee of the plan, and the run as it goes on."""
    state = load("training", fields.state)
    training = training_of(state)
    with st.sidebar:
        draw.sidebar(state, training)
    if runs.reader() and find_spec("torch"):
        runs.pool().prepare()
    run = runs.current(state.values["run"])
    state.values["run"] = run.name if run else ""
    save(state)
    draw.heading(training, run)
    st.fragment(_watch, run_every=_PAUSE if run and run.live else None)(training, run)
    with st.expander(translated("See the code")):
        st.code(as_python(training), wrap_lines=True)


def _watch(training: Training, run: Run | None) -> None:
    """The picture; drawn anew by itself as long as a run goes on."""
    went_on = run is not None and run.live
    run = runs.current(run.name if run else "")
    draw.picture(training, run)
    draw.below(training, run)
    if run is not None and went_on and not run.live:
        st.rerun()
