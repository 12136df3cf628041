"""Training a model with differential privacy, and watching it."""

from importlib.util import find_spec

import streamlit as st

from dplearn.app.job import Job
from dplearn.app.kit.fields import Words, by_key
from dplearn.app.kit.state import State, load, save
from dplearn.app.pages.train import draw, runs
from dplearn.app.pages.train.fields import FIELDS, HIDDEN, job_of, training_code
from dplearn.app.pages.train.runs import Run

_say = Words("train")
TITLE, GROUP, ORDER = _say["title"], "See", 40
# Seconds between two looks at a run.
_PAUSE = 0.3


def render() -> None:
    """Controls, the guarantee of the plan, and the run as it goes on."""
    state = load("training", lambda _: State(by_key(*FIELDS), HIDDEN))
    job = job_of(state)
    with st.sidebar:
        draw.settings(state, job)
    if runs.reader() and find_spec("torch"):
        runs.pool().prepare()
    run = runs.run_in_view(state.values["run"])
    state.values["run"] = run.name if run else ""
    save(state)
    draw.heading(job, run)
    st.fragment(_watch, run_every=_PAUSE if run and run.live else None)(job, run)
    with st.expander(_say("code")):
        st.code(training_code(job), wrap_lines=True)


def _watch(job: Job, run: Run | None) -> None:
    """The picture; drawn anew by itself as long as a run goes on."""
    went_on = run is not None and run.live
    run = runs.run_in_view(run.name if run else "")
    draw.picture(job, run)
    draw.outcome(job, run)
    if run is not None and went_on and not run.live:
        st.rerun()
