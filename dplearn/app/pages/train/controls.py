"""The sidebar of the training page: what is trained, and how."""

from dataclasses import replace

import streamlit as st

from dplearn.app.kit import controls
from dplearn.app.kit.run_fields import LENGTH_IN
from dplearn.app.kit.state import State
from dplearn.app.pages.train import fields
from dplearn.app.pages.train.plan import Training
from dplearn.figures import text


def sidebar(state: State, training: Training) -> None:
    """Data and model, then everything that the guarantee or the accuracy depends on."""
    st.markdown("**dplearn** · training with privacy")
    left, right = st.columns([3, 2])
    with left:
        controls.choice(state, fields.DATASET, then=fields.suit)
    with right:
        controls.choice(state, fields.MODEL, then=fields.suit)
    by_target = state.values["noise_from"] == "epsilon"
    noise = fields.TARGET if by_target else fields.NOISE
    controls.quantity(state, noise, unit=fields.NOISE_FROM)
    lot = replace(fields.LOT, upper=float(training.size))
    by_lot = state.values["lot_from"] == "lot"
    controls.quantity(state, lot if by_lot else fields.RATE, unit=fields.LOT_FROM)
    in_steps = state.values["length_in"] == "steps"
    epochs = replace(fields.EPOCHS, label=f"T = {text.whole(training.plan.steps)}")
    controls.quantity(state, fields.STEPS if in_steps else epochs, unit=LENGTH_IN)
    for kind in (fields.CLIPPING, fields.LEARNING_RATE, fields.DELTA):
        controls.quantity(state, kind)
    controls.choice(state, fields.COMPARE, widget="segments")
