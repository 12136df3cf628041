"""A run without a theorem: which one change gives it one, as a button."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from dplearn.app.kit.language import translated
from dplearn.app.kit.run_fields import ADJACENCY
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields
from dplearn.app.pages.epsilon_vs_steps.run import Scenario
from dplearn.run import epoch, sampled


def buttons(state: State, scenario: Scenario) -> None:
    """Other neighbours, batches or noise that have a theorem with the rest as it is."""
    for kind in (ADJACENCY, fields.SAMPLING, fields.mechanism()):
        for option in kind.options:
            if option != state.values[kind.key] and _covers(
                replace(scenario, **{kind.key: option})
            ):
                label = f"{translated(kind.label)}: {translated(kind.options[option])}"
                chosen = {"on_click": state.enter, "args": (kind, option)}
                st.button(label, key=f"repair_{kind.key}", **chosen)
                break


def _covers(scenario: Scenario) -> bool:
    """Whether a step, or an epoch, has a profile under these neighbours."""
    run = {"sampling": scenario.sampling, "sample_rate": scenario.sample_rate}
    with suppress(NotImplementedError, TypeError, ValueError):
        drawn = (epoch if scenario.by_epoch else sampled)(scenario.base, **run)  # type: ignore[arg-type]
        drawn.profiles(scenario.adjacency)
        return True
    return False
