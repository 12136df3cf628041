"""Changes of the run, each a button: to meet a wanted epsilon, or to have a theorem."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from dplearn.accountants import accountants
from dplearn.app.kit import questions
from dplearn.app.kit.fields import Quantity
from dplearn.app.kit.language import translated
from dplearn.app.kit.run_fields import ADJACENCY, LENGTH_IN, NOISE, RATE, STEPS
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import fields
from dplearn.app.pages.epsilon_vs_steps.run import REFERENCE, Scenario, scenario_of
from dplearn.calibrate import (
    Unreachable,
    largest_sample_rate,
    largest_steps,
    smallest_noise_multiplier,
)
from dplearn.ground.guarantee import round_down, round_up
from dplearn.run import SAMPLINGS, epoch, sampled

# What a button searches, the field that takes it, and the side on which it is safe.
_SEARCHES = {
    "σ": (
        smallest_noise_multiplier,
        NOISE,
        round_up,
        "The least noise with which the tightest bound stays within the budget.",
    ),
    "q": (
        largest_sample_rate,
        RATE,
        round_down,
        "The largest sample rate with which the tightest bound stays within the budget.",
    ),
    "T": (
        largest_steps,
        fields.HERE,
        lambda value, digits: f"{value:.0f}",
        "The most steps with which the tightest bound stays within the budget.",
    ),
}
_NEVER = "No value of “{label}” meets this budget with the rest as it is."


def buttons(state: State, scenario: Scenario) -> None:
    """What may be changed to meet the budget; nothing where each step is not a step of its own."""
    if scenario.sampling not in SAMPLINGS or scenario.then:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="meet"):
        st.caption(translated("Meet it by"), width="content")
        for symbol, (_, _, _, which) in _SEARCHES.items():
            about = translated(which)
            whole = symbol == "q" and scenario.sampling == "none"
            common = {"on_click": meet, "args": (state, symbol), "help": about, "disabled": whole}
            st.button(symbol, key=f"meet_{symbol}", type="tertiary", **common)


def meet(state: State, symbol: str) -> None:
    """Set the field to the value that meets the budget at the chosen number of steps."""
    scenario, budget = scenario_of(state), state.values["budget"]
    search, kind, rounded, _ = _SEARCHES[symbol]
    step = sampled(scenario.base, sampling=scenario.sampling, sample_rate=scenario.sample_rate)  # type: ignore[arg-type]
    question = {"delta": scenario.delta, "adjacency": scenario.adjacency, "epsilon": budget}
    if symbol != "T":
        question["steps"] = min(state.values["here"], scenario.largest)
    try:
        best = questions.ask(search, accountants[REFERENCE](), mechanism=step, **question)
        if not best.value:
            raise Unreachable
    except Unreachable:
        state.notes["budget"] = translated(_NEVER, label=translated(kind.label))
        return
    except (ValueError, NotImplementedError, ArithmeticError) as error:
        state.notes["budget"] = str(error)
        return
    _set(state, kind, rounded(best.value, 4), scenario)


def _set(state: State, kind: Quantity, text: str, scenario: Scenario) -> None:
    """Enter the value, as if typed; what counts in another unit, or is too short, gives way."""
    if kind is RATE:
        state.enter(fields.RATE_FROM, "rate")
        state.enter(LENGTH_IN, "steps")
        state.enter(STEPS, str(scenario.largest))
    if kind is fields.HERE:
        text = str(min(int(text), int(kind.upper)))
        if int(text) > scenario.largest:
            state.enter(LENGTH_IN, "steps")
            state.enter(STEPS, text)
    state.enter(kind, text)


def repairs(state: State, scenario: Scenario) -> None:
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
