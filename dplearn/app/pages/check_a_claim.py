"""A formula typed by the reader, against the certified answer."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, links, look, questions
from dplearn.app.kit.fields import Words, by_key
from dplearn.app.kit.language import retold
from dplearn.app.kit.state import State, load, save
from dplearn.book.kit.written import claim_of, right_side
from dplearn.claims import PARAMETERS, QUANTITIES, Verdict, aliases, canonical, setting, verdict_on
from dplearn.figures.claim_map import SYMBOLS, claim_map, map_finding

_say = Words("check_a_claim")
TITLE, GROUP, ORDER = _say["title"], "Check", 45

CLAIM = _say.text("claim", "sqrt(2*ln(1.25/delta))/epsilon")
QUANTITY, OF = _say.selection("quantity", default="sigma"), _say.selection("of")
RELATION, HELD = _say.selection("relation"), _say.text("held")
_AXES = {"auto": _say["auto"]}
_AXES |= {name: f"{SYMBOLS[name]}, {p.meaning}" for name, p in PARAMETERS.items()}
X, Y = _say.selection("x", _AXES), _say.selection("y", _AXES)
FIELDS = CLAIM, QUANTITY, OF, RELATION, HELD, X, Y
_POISSON = "poisson_subsampled_gaussian"
# Quantity, mechanism, claim, and what is held.
EXAMPLES = {
    "classical": ("sigma", "gaussian", CLAIM.default, ""),
    "shifted": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/alpha", ""),
    "sampled": ("amplified_epsilon", "approximate_dp", "q*epsilon", ""),
    "advanced": ("epsilon", "pure_dp", "2*epsilon*sqrt(2*k*ln(1/delta))", ""),
    "sgd": ("epsilon", _POISSON, "q*sqrt(T*ln(1/delta))/sigma", ""),
    "small": ("sigma", "gaussian", CLAIM.default, "epsilon=0.01..1"),
    "renyi": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/(alpha-1)", ""),
    "amplified": ("amplified_epsilon", "approximate_dp", "ln(1 + q*(exp(epsilon)-1))", ""),
    "composed": (
        "epsilon",
        "pure_dp",
        "epsilon*sqrt(2*k*ln(1/delta)) + k*epsilon*(exp(epsilon)-1)",
        "",
    ),
}
_OUTCOMES = {
    "violated": (st.error, ":material/close:"),
    "holds": (st.success, ":material/check:"),
    "undecided": (st.warning, ":material/question_mark:"),
}
_SYMBOLS = {
    "epsilon": r"\varepsilon_{\mathrm{total}}",
    "delta": r"\delta",
    "sigma": r"\sigma_{\mathrm{needed}}",
    "rdp": r"D_\alpha",
    "amplified_epsilon": r"\varepsilon'",
}
_SIGNS = {"upper": r"\le", "lower": r"\ge", "equal": "="}


def begin_with(state: State, name: str) -> None:
    """An example replaces everything."""
    state.read(dict(zip(("quantity", "of", "claim", "held"), EXAMPLES[name], strict=True)))


def drop_left_side(state: State) -> None:
    """After a choice of what the claim is about: its left side does not say so any more."""
    with suppress(ValueError):
        state.values["claim"] = claim_of(state.values["claim"]).formula


def suit_claim(state: State) -> None:
    """After a change of the formula: the first mechanism that knows all of its names, if any."""
    suit_left_side(state)
    possible = QUANTITIES[state.values["quantity"]]
    for of in (state.values["of"], *possible):
        with suppress(ValueError):
            names = (*possible[of].names, "alpha")
            canonical(right_side(state.values["claim"], aliases(names)).names, names)
            state.values["of"] = of
            return


def suit_left_side(state: State) -> None:
    """What the left side of the claim is about; the first mechanism where it does not know ours."""
    with suppress(ValueError):  # which is told where the claim is read
        _, quantity, relation = claim_of(state.values["claim"])
        state.values |= {"quantity": quantity} if quantity else {}
        state.values |= {"relation": relation} if relation else {}
    possible = QUANTITIES[state.values["quantity"]]
    if state.values["of"] not in possible:
        state.values["of"] = next(iter(possible))


def suit_quantity(state: State) -> None:
    """After a change of quantity: a mechanism that it knows, and axes chosen anew."""
    drop_left_side(state)
    suit_left_side(state)
    state.values["x"] = state.values["y"] = X.default


def render() -> None:
    """The question above; the map on the left, the verdict on the right."""
    state = load("claim", lambda _: State(by_key(*FIELDS)))
    suit_left_side(state)
    verdict = _question(state)
    if verdict is not None:
        left, right = st.columns([11, 10], gap="medium")
        with left:
            _map(state, verdict)
        with right:
            _outcome(verdict)
    save(state)


def _question(state: State) -> Verdict | None:
    """Examples, the formula, what it is about; and the verdict, or why there is none."""
    st.markdown(_say("heading"))
    with st.container(key="examples", horizontal=True, gap="small"):
        for name in EXAMPLES:
            st.button(_say(f"examples.{name}"), on_click=begin_with, args=(state, name))
    left, right = st.columns([7, 3])
    controls.text_box(state, CLAIM, then=suit_claim, place=left)
    controls.text_box(state, HELD, place=right)
    problem = st.container()
    left, middle, right = st.columns([3, 4, 3])
    controls.choice(state, QUANTITY, then=suit_quantity, place=left)
    able = {name: OF.options[name] for name in QUANTITIES[state.values["quantity"]]}
    controls.choice(state, replace(OF, options=able), place=middle)
    controls.choice(state, RELATION, then=drop_left_side, place=right)
    asked = state.values
    try:
        with problem:
            # The formula as it is read, before anything is computed.
            names = aliases((*QUANTITIES[asked["quantity"]][asked["of"]].names, "alpha"))
            sign, formula = _SIGNS[asked["relation"]], right_side(asked["claim"], names).latex
            st.latex(f"{_SYMBOLS[asked['quantity']]} {sign} {formula}")
        return _verdict(**asked)
    except ValueError as error:
        # A reader's words must stay text, whatever an address says.
        inert = re.sub(r"([\\`*_\[\]()<>!$~#:|])", r"\\\1", retold(str(error)))
        problem.error(inert, icon=":material/error:")
        return None


def _verdict(
    *, claim: str, quantity: str, of: str, relation: Any, held: str, x: str, y: str
) -> Verdict:
    """What comes out of many points, or a ValueError of one sentence; remembered for all."""
    # As in ``delta=1e-5, T=1..100``.
    fixed = dict(setting(part) for part in held.split(",") if part.strip())
    axes = None if "auto" in (x, y) or x == y else (x, y)
    with st.spinner(_say("trying")):
        return questions.ask(
            verdict_on, claim, quantity=quantity, of=of, relation=relation, fixed=fixed, axes=axes
        )


def _outcome(verdict: Verdict) -> None:
    """What came out."""
    box, icon = _OUTCOMES[verdict.status]
    box(f"**{_headline(verdict)}**", icon=icon)
    for sentence in verdict.sentences()[1:]:
        told = _told(verdict, sentence)
        if verdict.closest and sentence == str(verdict.closest):
            told = told.replace(verdict.closest.id, links.entry_link(verdict.closest.id), 1)
        # A short head stands out; a title of the book may have a colon of its own.
        told = re.sub(r"^((?:\w+ ){0,2}\w+[:：]) ", r"**\1** ", told)
        st.markdown(re.sub(r" ([=≤≥]) ", "\u00a0\\1\u00a0", told))


def _headline(verdict: Verdict) -> str:
    """What came out, in a word."""
    words = _say(f"outcome.{verdict.status}")
    if verdict.status == "violated" and verdict.relation == "upper":
        words += _say("too_much")
    return words


def _told(verdict: Verdict, sentence: str) -> str:
    """A sentence in the reader's language; a title of the book stays as it is."""
    title = verdict.closest.name.removesuffix(", a misprint") if verdict.closest else "\0"
    return retold(sentence.replace(title, "\0")).replace("\0", title)


def _map(state: State, verdict: Verdict) -> None:
    """The map, and the choice of its axes."""
    told = [f"{retold(map_finding(verdict.map))}.", _headline(verdict)]
    told += [_told(verdict, sentence) for sentence in verdict.sentences()[1:]]
    with st.container(key="picture"):
        look.draw_figure(claim_map(verdict), "map", _say("alt", verdict=" ".join(told)))
    names = QUANTITIES[verdict.quantity][verdict.of].names
    able = [X.default, *names, *(n for n in verdict.map.fixed if n not in names)]
    options = {name: retold(_AXES[name]) for name in able}
    for place, kind in zip(st.columns(2), (X, Y), strict=True):
        if state.values[kind.key] not in options:
            state.values[kind.key] = kind.default
        controls.choice(state, replace(kind, options=options), place=place)
    st.caption(_say("axes"))
