"""The sidebar of the page of mechanisms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dplearn.app.kit import controls
from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.state import State
from dplearn.app.pages.mechanisms import answers as mechanism_pair
from dplearn.app.pages.mechanisms import fields as ask
from dplearn.app.pages.mechanisms.answers import Pair
from dplearn.app.pages.mechanisms.words import View
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import Mechanism, mechanisms

_PURPOSE = (
    "All that a mechanism can leak is in one pair of neighbouring outputs. Every picture shows "
    "that pair in another way; move a slider and watch all of them."
)


def draw(state: State) -> View | None:
    """All controls; what they describe, unless the mechanism refuses its parameters."""
    st.markdown("**dplearn** · one pair of outputs", help=_PURPOSE)
    controls.choice(state, ask.MECHANISM, then=_suit)
    name = state.values["mechanism"]
    for key in ask.used(name, state.values):
        _parameter(state, name, key)
    try:
        mechanism = ask.build(name, state.values)
    except ValueError as error:
        st.error(str(error), icon=":material/error:")
        return None
    adjacency = _adjacency(state, mechanism)
    pair = Pair(mechanism, adjacency)
    if pair.two_sided:
        controls.choice(state, ask.DIRECTION, widget="segments")
        pair = replace(pair, direction=state.values["direction"])
    for kind in (ask.EPSILON, ask.ORDER, ask.RATE):
        controls.quantity(state, kind)
    return View(pair, *(state.values[k.key] for k in (ask.EPSILON, ask.ORDER, ask.RATE)))


def _parameter(state: State, name: str, key: str) -> None:
    kind: Any = state.fields[key]
    if isinstance(kind, Quantity):
        controls.quantity(state, replace(kind, help=ask.described(name, key, state.values)))
    elif kind is ask.EXAMPLE:
        examples = enumerate(mechanisms[name].examples(), start=1)
        options = {str(rank): ask.spelled(example) for rank, example in examples}
        _among(state, kind, options)
    else:
        _among(state, kind, {b: kind.options[b] for b in ask.bases(name, key)})


def _among(state: State, kind: Choice, options: dict[str, str]) -> None:
    """A choice where there is one; a value that does not fit gives way to the first."""
    if state.values[kind.key] not in options:
        state.values[kind.key] = next(iter(options))
    if len(options) > 1:
        controls.choice(state, replace(kind, options=options))


def _adjacency(state: State, mechanism: Mechanism) -> Adjacency:
    """Neighbours for which there is a theorem, and why there is none for those asked for."""
    covered, wanted = mechanism_pair.covered(mechanism), state.values["adjacency"]
    options = {a: ask.ADJACENCY.options[a] for a in covered}
    if wanted not in covered:
        state.values["adjacency"] = covered[0]
        if wanted != ask.ADJACENCY.default:
            why = mechanism_pair.refusal(mechanism, wanted)
            state.notes["adjacency"] = f"{why}. {options[covered[0]]} is used."
    controls.choice(state, replace(ask.ADJACENCY, options=options))
    return state.values["adjacency"]


def _suit(state: State) -> None:
    """After a change of mechanism: an epsilon at which about half of the total variation is left.

    Unless there is enough to see at the one in use.
    """
    try:
        mechanism = ask.build(state.values["mechanism"], state.values)
    except ValueError:
        return  # The page will say why.
    known = mechanism_pair.profile(Pair(mechanism, mechanism_pair.covered(mechanism)[0]))
    total, now = known.delta(np.array([0.0, state.values["epsilon"]]))
    if now < 0.05 * total:
        marks = np.array(ask.EPSILON.marks())
        best = marks[np.argmin(np.abs(known.delta(marks) - 0.5 * total))]
        state.enter(ask.EPSILON, ask.EPSILON.show(float(best)))
