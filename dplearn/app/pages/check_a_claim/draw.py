"""The parts of the page that checks a claim: question, verdict, map."""

import re
from dataclasses import replace
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, links, look, questions
from dplearn.app.kit.state import State
from dplearn.app.pages.check_a_claim import fields
from dplearn.claims import QUANTITIES, Verdict, aliases, check, setting
from dplearn.figures import claim_map, map_finding
from dplearn.ground.written import read

_LAST = "claim_verdict"
_OUTCOMES = {
    "violated": ("error", ":material/close:", "This claim is false."),
    "holds": ("success", ":material/check:", "No violation was found."),
    "undecided": ("warning", ":material/question_mark:", "Nothing could be decided."),
}
_SYMBOLS = {
    "epsilon": r"\varepsilon_{\mathrm{total}}",
    "delta": r"\delta",
    "sigma": r"\sigma_{\mathrm{needed}}",
    "rdp": r"D_\alpha",
    "amplified_epsilon": r"\varepsilon'",
}


def question(state: State) -> Verdict | None:
    """Examples, the formula, what it is about; and the verdict, or why there is none."""
    st.markdown("**Check a claim** · is this formula true, and for which parameters?")
    with st.container(key="examples", horizontal=True, gap="small"):
        for title in fields.EXAMPLES:
            st.button(title, on_click=fields.start, args=(state, title))
    left, right = st.columns([7, 3])
    controls.box(state, fields.CLAIM, then=fields.suit_claim, place=left)
    controls.box(state, fields.HELD, place=right)
    problem = st.container()
    left, middle, right = st.columns([3, 4, 3])
    controls.choice(state, fields.QUANTITY, then=_suit, place=left)
    able = {name: fields.OF.options[name] for name in QUANTITIES[state.values["quantity"]]}
    controls.choice(state, replace(fields.OF, options=able), place=middle)
    controls.choice(state, fields.RELATION, then=fields.drop_left_side, place=right)
    names = ("claim", "quantity", "of", "relation", "held", "x", "y")
    *asked, x, y = (state.values[name] for name in names)
    try:
        with problem:
            _echo(state)
        verdict = _judged(*asked, axes=None if "auto" in (x, y) or x == y else (x, y))
        st.session_state[_LAST] = verdict
        return verdict
    except ValueError as error:
        # A reader's words must stay text, whatever an address says.
        inert = re.sub(r"([\\`*_\[\]()<>!$~#:|])", r"\\\1", str(error))
        problem.error(inert, icon=":material/error:")
        if _LAST in st.session_state:
            problem.caption("Below stands what was found of the last formula that could be read.")
        return st.session_state.get(_LAST)


def _echo(state: State) -> None:
    """The formula as it is read, before anything is computed."""
    quantity, of, relation = (state.values[n] for n in ("quantity", "of", "relation"))
    sign = {"upper": r"\le", "lower": r"\ge", "equal": "="}[relation]
    names = aliases((*QUANTITIES[quantity][of].names, "alpha"))
    formula = read(state.values["claim"], names)
    st.latex(f"{_SYMBOLS[quantity]} {sign} {formula.latex}")


def _judged(claim: str, quantity: str, of: str, relation: Any, held: str, axes: Any) -> Verdict:
    """What comes out of many points, or a ValueError of one sentence; remembered for all."""
    about: dict[str, Any] = {"quantity": quantity, "of": of, "relation": relation}
    # As in ``delta=1e-5, T=1..100``.
    fixed = dict(setting(part) for part in held.split(",") if part.strip())
    with st.spinner("Trying many points …"):
        return questions.ask(check, claim, **about, fixed=fixed, axes=axes)


def _suit(state: State) -> None:
    """After a change of quantity: a mechanism that it knows, and axes chosen anew."""
    fields.drop_left_side(state)
    fields.suit(state)
    state.values["x"] = state.values["y"] = fields.X.default


def outcome(verdict: Verdict) -> None:
    """What came out."""
    kind, icon, words = _OUTCOMES[verdict.status]
    if verdict.status == "violated" and verdict.relation == "upper":
        words += " It promises more privacy than there is."
    getattr(st, kind)(f"**{words}**", icon=icon)
    like = verdict.closest.id if verdict.closest else ""
    for sentence in verdict.sentences()[1:]:
        if like and sentence == str(verdict.closest):
            sentence = sentence.replace(like, links.entry(like), 1)
        head, colon, tail = sentence.partition(": ")
        # A title of the book may have a colon of its own.
        is_head = colon and len(head.split()) < 4
        st.markdown(f"**{head}:** {tail}" if is_head else sentence)


def map_of(state: State, verdict: Verdict) -> None:
    """The map, and the choice of its axes."""
    alt = f"Map of where the claim holds. {map_finding(verdict.map)}. {verdict}"
    with st.container(key="picture"):
        look.chart(claim_map(verdict), "map", alt)
    names = QUANTITIES[verdict.quantity][verdict.of].names
    able = [fields.X.default, *names, *(n for n in verdict.map.fixed if n not in names)]
    options = {name: fields.X.options[name] for name in able}
    for place, kind in zip(st.columns(2), (fields.X, fields.Y), strict=True):
        if state.values[kind.key] not in options:
            state.values[kind.key] = kind.default
        controls.choice(state, replace(kind, options=options), place=place)
    st.caption("Choose both axes; until then the map shows the two most telling ones.")
