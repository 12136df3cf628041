"""The parts of the page that checks a claim: question, verdict, map."""

import re
from dataclasses import replace
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, links, look, questions
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.check_a_claim import fields
from dplearn.claims import QUANTITIES, Verdict, aliases, check, setting
from dplearn.figures import claim_map, map_finding
from dplearn.ground.written import read

_OUTCOMES = {
    "violated": ("error", ":material/close:"),
    "holds": ("success", ":material/check:"),
    "undecided": ("warning", ":material/question_mark:"),
}
_WORDS = {
    "violated": "This claim is false.",
    "holds": "No violation was found.",
    "undecided": "Nothing could be decided.",
}
_AXES = "Choose both axes; until then the map shows the two most telling ones."
_SYMBOLS = {
    "epsilon": r"\varepsilon_{\mathrm{total}}",
    "delta": r"\delta",
    "sigma": r"\sigma_{\mathrm{needed}}",
    "rdp": r"D_\alpha",
    "amplified_epsilon": r"\varepsilon'",
}


def question(state: State) -> Verdict | None:
    """Examples, the formula, what it is about; and the verdict, or why there is none."""
    st.markdown(translated("**Check a claim** · is this formula true, and for which parameters?"))
    with st.container(key="examples", horizontal=True, gap="small"):
        for title in fields.EXAMPLES:
            st.button(translated(title), on_click=fields.start, args=(state, title))
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
        return _judged(*asked, axes=None if "auto" in (x, y) or x == y else (x, y))
    except ValueError as error:
        # A reader's words must stay text, whatever an address says.
        inert = re.sub(r"([\\`*_\[\]()<>!$~#:|])", r"\\\1", retold(str(error)))
        problem.error(inert, icon=":material/error:")
        return None


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
    with st.spinner(translated("Trying many points …")):
        return questions.ask(check, claim, **about, fixed=fixed, axes=axes)


def _suit(state: State) -> None:
    """After a change of quantity: a mechanism that it knows, and axes chosen anew."""
    fields.drop_left_side(state)
    fields.suit(state)
    state.values["x"] = state.values["y"] = fields.X.default


def outcome(verdict: Verdict) -> None:
    """What came out."""
    kind, icon = _OUTCOMES[verdict.status]
    getattr(st, kind)(f"**{_headline(verdict)}**", icon=icon)
    like = verdict.closest.id if verdict.closest else ""
    for sentence in verdict.sentences()[1:]:
        if like and sentence == str(verdict.closest):
            sentence = sentence.replace(like, links.entry(like), 1)
        head, colon, tail = sentence.partition(": ")
        # A title of the book may have a colon of its own.
        is_head = colon and len(head.split()) < 4
        told = _told(verdict, f"**{head}:** {tail}" if is_head else sentence)
        st.markdown(re.sub(r" ([=≤≥]) ", "\u00a0\\1\u00a0", told))


def _headline(verdict: Verdict) -> str:
    """What came out, in a word."""
    words = translated(_WORDS[verdict.status])
    if verdict.status == "violated" and verdict.relation == "upper":
        words += translated(" It promises more privacy than there is.")
    return words


def _told(verdict: Verdict, sentence: str) -> str:
    """A sentence in the reader's language; a title of the book stays as it is."""
    title = verdict.closest.name.removesuffix(", a misprint") if verdict.closest else "\0"
    return retold(sentence.replace(title, "\0")).replace("\0", title)


def map_of(state: State, verdict: Verdict) -> None:
    """The map, and the choice of its axes."""
    told = [f"{map_finding(verdict.map)}.", _headline(verdict), *verdict.sentences()[1:]]
    alt = translated(
        "Map of where the claim holds. {verdict}", verdict=_told(verdict, " ".join(told))
    )
    with st.container(key="picture"):
        look.chart(claim_map(verdict), "map", alt)
    names = QUANTITIES[verdict.quantity][verdict.of].names
    able = [fields.X.default, *names, *(n for n in verdict.map.fixed if n not in names)]
    options = {name: fields.X.options[name] for name in able}
    for place, kind in zip(st.columns(2), (fields.X, fields.Y), strict=True):
        if state.values[kind.key] not in options:
            state.values[kind.key] = kind.default
        controls.choice(state, replace(kind, options=options), place=place)
    st.caption(translated(_AXES))
