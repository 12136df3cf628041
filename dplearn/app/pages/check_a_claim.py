"""A formula typed by the reader, against the certified answer."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st

from dplearn.app.kit import controls, links, look, questions
from dplearn.app.kit.fields import Choice, Text, by_key
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State, load, save
from dplearn.claims import PARAMETERS, QUANTITIES, Verdict, aliases, canonical, check, setting
from dplearn.figures.claim_map import SYMBOLS, claim_map, map_finding
from dplearn.ground.written import read, split

TITLE = "Check a claim"
GROUP = "Check"
ORDER = 45

_QUANTITY = {
    "epsilon": "total ε",
    "delta": "δ",
    "sigma": "noise σ needed",
    "rdp": "Rényi divergence of one step",
    "amplified_epsilon": "ε after Poisson sampling",
}
_OF = {
    "gaussian": "Gaussian",
    "poisson_subsampled_gaussian": "Poisson-sampled Gaussian (DP-SGD)",
    "without_replacement_gaussian": "Gaussian, sampled without replacement",
    "laplace": "Laplace, ε per step",
    "randomized_response": "randomized response, ε per step",
    "pure_dp": "any ε-DP mechanism",
    "approximate_dp": "any (ε, δ)-DP mechanism",
}
_ABOUT_CLAIM = (
    "As on paper: σ ≥ √(2 ln 1.25/δ)/ε, q ε², LaTeX, np.sqrt; Greek letters may be spelled out. A "
    "left side says what the claim is about. There are + - * / ^, exp, ln, sqrt, min, max, abs, "
    "erf, erfc, Phi, sinh, cosh, tanh, binom, floor, ceil, pi, e, inf."
)
CLAIM = Text("claim", "The claim", _ABOUT_CLAIM, "sqrt(2*ln(1.25/delta))/epsilon")
QUANTITY = Choice("quantity", "is about", "", _QUANTITY, "sigma")
OF = Choice("of", "of", "", _OF, "gaussian")
_RELATION_NAMES = {"upper": "at most this", "lower": "at least this", "equal": "equal to this"}
RELATION = Choice("relation", "and says that it is", "", _RELATION_NAMES)
_ABOUT_HELD = "For instance: δ=1e-5, T=1..100. What is not named is tried over its whole range."
HELD = Text("held", "Hold or limit parameters", _ABOUT_HELD, "")
_AXES = {"auto": "auto"} | {n: f"{SYMBOLS[n]}, {p.meaning}" for n, p in PARAMETERS.items()}
X, Y = (Choice(key, f"Map: {key} axis", "", _AXES) for key in ("x", "y"))
_POISSON = "poisson_subsampled_gaussian"
# Title -> quantity, mechanism, claim, and what is held.
EXAMPLES = {
    "Classical Gaussian, any ε": ("sigma", "gaussian", CLAIM.default, ""),
    "Order shifted": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/alpha", ""),
    "ε′ = q ε": ("amplified_epsilon", "approximate_dp", "q*epsilon", ""),
    "2ε√(2k ln 1/δ)": ("epsilon", "pure_dp", "2*epsilon*sqrt(2*k*ln(1/delta))", ""),
    "q√(T ln 1/δ)/σ": ("epsilon", _POISSON, "q*sqrt(T*ln(1/delta))/sigma", ""),
    "Classical Gaussian, ε ≤ 1": ("sigma", "gaussian", CLAIM.default, "epsilon=0.01..1"),
    "Rényi conversion": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/(alpha-1)", ""),
    "Amplification": ("amplified_epsilon", "approximate_dp", "ln(1 + q*(exp(epsilon)-1))", ""),
    "Advanced composition": (
        "epsilon",
        "pure_dp",
        "epsilon*sqrt(2*k*ln(1/delta)) + k*epsilon*(exp(epsilon)-1)",
        "",
    ),
}


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    return State(by_key(CLAIM, QUANTITY, OF, RELATION, HELD, X, Y))


def start(state: State, title: str) -> None:
    """An example replaces everything."""
    state.read(dict(zip(("quantity", "of", "claim", "held"), EXAMPLES[title], strict=True)))


def drop_left_side(state: State) -> None:
    """After a choice of what the claim is about: its left side does not say so any more."""
    with suppress(ValueError):
        state.values["claim"] = split(state.values["claim"]).formula


def suit_claim(state: State) -> None:
    """After a change of the formula: the first mechanism that knows all of its names, if any."""
    suit(state)
    possible = QUANTITIES[state.values["quantity"]]
    for of in (state.values["of"], *possible):
        with suppress(ValueError):
            names = (*possible[of].names, "alpha")
            canonical(read(state.values["claim"], aliases(names)).names, names)
            state.values["of"] = of
            return


def suit(state: State) -> None:
    """What the left side of the claim is about; the first mechanism where it does not know ours."""
    with suppress(ValueError):  # which is told where the claim is read
        _, quantity, relation = split(state.values["claim"])
        state.values |= {"quantity": quantity} if quantity else {}
        state.values |= {"relation": relation} if relation else {}
    possible = QUANTITIES[state.values["quantity"]]
    if state.values["of"] not in possible:
        state.values["of"] = next(iter(possible))


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
_SYMBOLS = {
    "epsilon": r"\varepsilon_{\mathrm{total}}",
    "delta": r"\delta",
    "sigma": r"\sigma_{\mathrm{needed}}",
    "rdp": r"D_\alpha",
    "amplified_epsilon": r"\varepsilon'",
}


def render() -> None:
    """The question above; the map on the left, the verdict on the right."""
    entered = load("claim", state)
    suit(entered)
    verdict = _question(entered)
    if verdict is not None:
        left, right = st.columns([11, 10], gap="medium")
        with left:
            _map(entered, verdict)
        with right:
            _outcome(verdict)
    save(entered)


def _question(state: State) -> Verdict | None:
    """Examples, the formula, what it is about; and the verdict, or why there is none."""
    st.markdown(translated("**Check a claim** · is this formula true, and for which parameters?"))
    with st.container(key="examples", horizontal=True, gap="small"):
        for title in EXAMPLES:
            st.button(translated(title), on_click=start, args=(state, title))
    left, right = st.columns([7, 3])
    controls.box(state, CLAIM, then=suit_claim, place=left)
    controls.box(state, HELD, place=right)
    problem = st.container()
    left, middle, right = st.columns([3, 4, 3])
    controls.choice(state, QUANTITY, then=_suit, place=left)
    able = {name: OF.options[name] for name in QUANTITIES[state.values["quantity"]]}
    controls.choice(state, replace(OF, options=able), place=middle)
    controls.choice(state, RELATION, then=drop_left_side, place=right)
    names = ("claim", "quantity", "of", "relation", "held", "x", "y")
    claim, quantity, of, relation, held, x, y = (state.values[name] for name in names)
    axes = None if "auto" in (x, y) or x == y else (x, y)
    try:
        with problem:
            # The formula as it is read, before anything is computed.
            names = aliases((*QUANTITIES[quantity][of].names, "alpha"))
            sign = {"upper": r"\le", "lower": r"\ge", "equal": "="}[relation]
            st.latex(f"{_SYMBOLS[quantity]} {sign} {read(claim, names).latex}")
        return _judged(claim, quantity, of, relation, held, axes=axes)
    except ValueError as error:
        # A reader's words must stay text, whatever an address says.
        inert = re.sub(r"([\\`*_\[\]()<>!$~#:|])", r"\\\1", retold(str(error)))
        problem.error(inert, icon=":material/error:")
        return None


def _judged(claim: str, quantity: str, of: str, relation: Any, held: str, axes: Any) -> Verdict:
    """What comes out of many points, or a ValueError of one sentence; remembered for all."""
    about: dict[str, Any] = {"quantity": quantity, "of": of, "relation": relation}
    # As in ``delta=1e-5, T=1..100``.
    fixed = dict(setting(part) for part in held.split(",") if part.strip())
    with st.spinner(translated("Trying many points …")):
        return questions.ask(check, claim, **about, fixed=fixed, axes=axes)


def _suit(state: State) -> None:
    """After a change of quantity: a mechanism that it knows, and axes chosen anew."""
    drop_left_side(state)
    suit(state)
    state.values["x"] = state.values["y"] = X.default


def _outcome(verdict: Verdict) -> None:
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


def _map(state: State, verdict: Verdict) -> None:
    """The map, and the choice of its axes."""
    told = [f"{map_finding(verdict.map)}.", _headline(verdict), *verdict.sentences()[1:]]
    alt = translated(
        "Map of where the claim holds. {verdict}", verdict=_told(verdict, " ".join(told))
    )
    with st.container(key="picture"):
        look.chart(claim_map(verdict), "map", alt)
    names = QUANTITIES[verdict.quantity][verdict.of].names
    able = [X.default, *names, *(n for n in verdict.map.fixed if n not in names)]
    options = {name: X.options[name] for name in able}
    for place, kind in zip(st.columns(2), (X, Y), strict=True):
        if state.values[kind.key] not in options:
            state.values[kind.key] = kind.default
        controls.choice(state, replace(kind, options=options), place=place)
    st.caption(translated("Choose both axes; until then the map shows the two most telling ones."))
