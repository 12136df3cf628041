"""The sidebar of the page of mechanisms."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dplearn.app.kit import controls
from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.run_fields import ADJACENCY
from dplearn.app.kit.state import State
from dplearn.app.pages.mechanisms import answers, fields
from dplearn.app.pages.mechanisms.answers import View
from dplearn.app.pages.mechanisms.pair import Pair, covered, refusal
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import Mechanism, mechanisms

# Field to the reader's own value and the one that the mechanism in view needs.
_LENT = "mechanisms_lent"
_PURPOSE = (
    "All that a mechanism can leak is in one pair of neighbouring outputs. Every picture shows "
    "that pair in another way; move a slider and watch all of them."
)


def sidebar(state: State) -> View | None:
    """All controls; what they describe, unless the mechanism refuses its parameters."""
    st.markdown(translated("**dplearn** · one pair of outputs"), help=translated(_PURPOSE))
    controls.choice(state, state.fields["mechanism"], then=_suit)  # type: ignore[arg-type]
    name = state.values["mechanism"]
    for key in fields.used(name, state.values):
        _parameter(state, name, key)
    try:
        mechanism = fields.build(name, state.values)
    except ValueError as error:
        st.error(retold(str(error)), icon=":material/error:")
        return None
    pair = Pair(mechanism, _adjacency(state, mechanism))
    if pair.two_sided:
        controls.choice(state, fields.DIRECTION, widget="segments")
        pair = replace(pair, direction=state.values["direction"])
    places = fields.EPSILON, fields.ORDER, fields.FALSE_ALARMS
    for kind in places:
        controls.quantity(state, kind)
    return View(pair, *(state.values[kind.key] for kind in places))


def _parameter(state: State, name: str, key: str) -> None:
    kind: Any = state.fields[key]
    if isinstance(kind, Quantity):
        controls.quantity(state, replace(kind, help=fields.described(name, key, state.values)))
    elif key == "example":
        examples = enumerate(mechanisms[name].examples(), start=1)
        _among(state, kind, {str(rank): fields.spelled(example) for rank, example in examples})
    else:
        _among(state, kind, {base: kind.options[base] for base in fields.bases(name, key)})


def _among(state: State, kind: Choice, options: dict[str, str]) -> None:
    """A choice where there is one; a value that does not fit gives way to the first."""
    if state.values[kind.key] not in options:
        state.values[kind.key] = next(iter(options))
    if len(options) > 1:
        controls.choice(state, replace(kind, options=options))


def _adjacency(state: State, mechanism: Mechanism) -> Adjacency:
    """Neighbours for which there is a theorem, and why there is none for those asked for."""
    able, chosen = covered(mechanism), state.values["adjacency"]
    options = {a: ADJACENCY.options[a] for a in able}
    if chosen not in able:
        _lend(state, "adjacency", able[0])
        if chosen != ADJACENCY.default:
            state.notes["adjacency"] = translated(
                "{why}. {name} is used.",
                why=retold(refusal(mechanism, chosen)),
                name=translated(options[able[0]]),
            )
    controls.choice(state, replace(ADJACENCY, options=options))
    return state.values["adjacency"]


def _suit(state: State) -> None:
    """After a change of mechanism: neighbours that it covers, and an epsilon to see something at.

    Half of the total variation is left there, unless there is enough to see at the one in use.
    What a visit to another mechanism had changed is as the reader left it.
    """
    for key, (own, lent) in st.session_state.pop(_LENT, {}).items():
        state.values[key] = own if state.values[key] == lent else state.values[key]
    try:
        mechanism = fields.build(state.values["mechanism"], state.values)
    except ValueError:
        return  # The page will say why.
    able = covered(mechanism)
    if state.values["adjacency"] not in able:
        _lend(state, "adjacency", able[0])
    profile = answers.profile(Pair(mechanism, state.values["adjacency"]))
    total, now = profile.delta(np.array([0.0, state.values["epsilon"]]))
    if now < 0.05 * total:
        marks = np.array(fields.EPSILON.marks())
        best = marks[np.argmin(np.abs(profile.delta(marks) - 0.5 * total))]
        _lend(state, "epsilon", float(best))


def _lend(state: State, key: str, value: Any) -> None:
    """Another value, as long as this mechanism stays."""
    st.session_state.setdefault(_LENT, {})[key] = state.values[key], value
    state.values[key] = value
