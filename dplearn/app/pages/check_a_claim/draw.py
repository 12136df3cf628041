"""The parts of the page that checks a claim: question, verdict, map."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, look
from dplearn.app.kit.state import State
from dplearn.app.pages.check_a_claim import fields as ask
from dplearn.claims import QUANTITIES, Verdict, check
from dplearn.figures import claim_map, map_finding
from dplearn.ground.expression import parse

_SECONDS = 8.0
_WORDS = {
    "violated": ("error", ":material/close:", "This claim is false."),
    "holds": ("success", ":material/check:", "No violation was found."),
    "undecided": ("warning", ":material/question_mark:", "Nothing could be decided."),
}
_STYLE = """<style>
.st-key-box_claim input { font-family: monospace; font-size: 1.1rem; }
.st-key-examples { gap: 0.5rem; }
.st-key-examples button { padding: 0 0.55rem; min-height: 2rem; }
</style>"""


def style() -> None:
    """The formula in a fixed pitch, the examples in one or two rows."""
    look.style()
    st.html(_STYLE)


def question(state: State) -> Verdict | None:
    """Examples, the formula, what it is about; and the verdict, or why there is none."""
    st.markdown("**Check a claim** · is this formula true, and for which parameters?")
    with st.container(key="examples", horizontal=True, gap="small"):
        for example in ask.EXAMPLES:
            st.button(example.title, on_click=_start, args=(state, example))
    left, right = st.columns([7, 3])
    with left:
        _text(state, ask.CLAIM)
    with right:
        _text(state, ask.HELD)
    problem = st.container()
    left, middle, right = st.columns([3, 4, 3])
    with left:
        controls.choice(state, ask.QUANTITY, then=_suit)
    with middle:
        controls.choice(state, replace(ask.OF, options=ask.mechanisms_of(state.values["quantity"])))
    with right:
        controls.choice(state, ask.RELATION)
    try:
        return _verdict_on(state)
    except ValueError as error:
        problem.error(_inert(str(error)), icon=":material/error:")
        return None


def _start(state: State, example: ask.Example) -> None:
    """An example replaces everything."""
    state.put(example.values)


def suit(state: State) -> None:
    """A mechanism that this quantity does not know gives way to the first."""
    known = QUANTITIES[state.values["quantity"]]
    if state.values["of"] not in known:
        state.values["of"] = next(iter(known))


def _suit(state: State) -> None:
    suit(state)
    state.values["x"] = state.values["y"] = ask.X.default


def _text(state: State, kind: Any) -> None:
    key = f"box_{kind.key}"
    if st.session_state.get(key) != state.values[kind.key]:
        st.session_state[key] = state.values[kind.key]
    entered = lambda: state.enter(kind, st.session_state[key])
    st.text_input(kind.label, key=key, help=kind.help, on_change=entered)


def _inert(text: str) -> str:
    """A reader's words must stay text, whatever an address says."""
    return re.sub(r"([\\`*_\[\]()<>!$~#:|])", r"\\\1", text)


@st.cache_data(max_entries=256, show_spinner="Trying many points …")
def _judged(claim: str, quantity: str, of: str, relation: Any, held: str, axes: Any) -> Verdict:
    fixed = ask.settings(held)
    asked = {"quantity": quantity, "of": of, "relation": relation, "fixed": fixed}
    return check(claim, **asked, axes=axes, budget_s=_SECONDS)


def _verdict_on(state: State) -> Verdict:
    names = ("claim", "quantity", "of", "relation", "held")
    claim, quantity, of, relation, held = (state.values[n] for n in names)
    chosen = state.values["x"], state.values["y"]
    axes = None if ask.X.default in chosen or chosen[0] == chosen[1] else chosen
    return _judged(claim, quantity, of, relation, held, axes)


def verdict(found: Verdict) -> None:
    """The formula as it was read, and what was found."""
    sign = {"upper": r"\le", "lower": r"\ge", "equal": "="}[found.relation]
    symbols = {
        "epsilon": r"\varepsilon_{\mathrm{total}}",
        "delta": r"\delta",
        "sigma": r"\sigma_{\mathrm{needed}}",
        "rdp": r"D_\alpha",
        "amplified_epsilon": r"\varepsilon'",
    }
    st.latex(f"{symbols[found.quantity]} {sign} {parse(found.claim).latex}")
    kind, icon, words = _WORDS[found.status]
    if found.status == "violated" and found.relation == "upper":
        words += " It promises more privacy than there is."
    getattr(st, kind)(f"**{words}**", icon=icon)
    for sentence in found.sentences()[1:]:
        head, colon, rest = sentence.partition(": ")
        st.markdown(f"**{head}:** {rest}" if colon else sentence)


def picture(state: State, found: Verdict) -> None:
    """The map, and the choice of its axes."""
    st.container(key="picture").plotly_chart(
        claim_map(found, ink=look.ink()),
        theme=None,
        key="map",
        config={"displayModeBar": False},
        alt=f"Map of where the claim holds. {map_finding(found.map)}. {found}",
    )
    names = QUANTITIES[found.quantity][found.of].names
    known = [*names, *(n for n in found.map.fixed if n not in names)]
    options = {n: ask.X.options[n] for n in (ask.X.default, *known)}
    for place, kind in zip(st.columns(2), (ask.X, ask.Y), strict=True):
        if state.values[kind.key] not in options:
            state.values[kind.key] = kind.default
        with place:
            controls.choice(state, replace(kind, options=options))
    st.caption("Choose both axes; until then the map shows the two most telling ones.")
