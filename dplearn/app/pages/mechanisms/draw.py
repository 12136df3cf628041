"""The sidebar, and five pictures of one pair of outputs, so placed that one screen holds them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dplearn.app.kit import controls, look
from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.run_fields import ADJACENCY
from dplearn.app.kit.state import State
from dplearn.app.pages.mechanisms import answers, fields, words
from dplearn.app.pages.mechanisms.answers import Pair, View, covered, refusal
from dplearn.figures import leaking_area, loss_law, profile_curve, renyi_curve, tradeoff_curve
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
        kind: Any = state.fields[key]
        if isinstance(kind, Quantity):
            about = fields.described(name, key, state.values)
            controls.quantity(state, replace(kind, help=about))
        elif key == "example":
            examples = enumerate(mechanisms[name].examples(), start=1)
            _among(state, kind, {str(rank): fields.spelled(each) for rank, each in examples})
        else:
            _among(state, kind, {base: kind.options[base] for base in fields.bases(name, key)})
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


def pictures(view: View) -> None:
    """Laws above, curves below."""
    makers = (_outputs, _loss, _profile, _renyi, _tradeoff)
    # Without densities the others share their place.
    rows = [[6, 5], 3] if view.pair.outputs else [1, 2, 2]
    places = [place for row in rows for place in st.columns(row, gap="small")]
    titles, alts = words.titles(view), words.alts(view)
    for place, make, (name, title) in zip(places, makers, titles.items(), strict=True):
        figure = make(view, {"finding": title})
        with place.container(key=f"pair_{name}"):
            if figure is None:
                why = retold(view.pair.mechanism.no_outputs)
                none = translated("No densities to draw: {why}.", why=why)
                st.info(none, icon=":material/visibility_off:")
            else:
                look.chart(figure, f"plot_{name}", alts[name])


def _outputs(view: View, common: dict[str, Any]) -> Any:
    pair = view.pair.outputs
    if pair is None:
        return None
    x, _, p, q = pair.nodes(view.epsilon)
    return leaking_area(
        x=x,
        p=p,
        q=q,
        scaled_q=math.exp(view.epsilon) * q,
        whole=pair.whole,
        names=words.names_of(view),
        axis=pair.label,
        **common,
    )


def _loss(view: View, common: dict[str, Any]) -> Any:
    edges, mass, counted = answers.losses(view.pair, view.epsilon)
    return loss_law(edges=edges, mass=mass, counted=counted, epsilon=view.epsilon, **common)


def _profile(view: View, common: dict[str, Any]) -> Any:
    epsilons, deltas = answers.curve(view.pair, view.epsilon)
    return profile_curve(
        epsilons=epsilons,
        deltas=deltas,
        here=(view.epsilon, view.delta.upper),
        real=answers.real_deltas(view.pair, epsilons) if view.pair.is_above_witnesses else None,
        **common,
    )


def _renyi(view: View, common: dict[str, Any]) -> Any:
    orders, divergences = answers.renyi(view.pair)
    return renyi_curve(
        orders=orders,
        divergences=divergences,
        converted=answers.proved(orders, divergences, view.delta.upper),
        here=(view.order, answers.divergence(view.pair, view.order), view.converted),
        epsilon=view.epsilon,
        beside=words.beside(view),
        **common,
    )


def _tradeoff(view: View, common: dict[str, Any]) -> Any:
    rates, misses = answers.tradeoff(view.pair)
    behind = float(answers.profile(view.pair).reverse().delta(view.epsilon))
    return tradeoff_curve(
        rates=rates,
        misses=misses,
        here=(view.rate, 1 - view.detected.upper),
        epsilon=view.epsilon,
        deltas=(view.delta.upper, behind),
        real=1 - answers.caught(view.pair, rates) if view.pair.is_above_witnesses else None,
        **common,
    )
