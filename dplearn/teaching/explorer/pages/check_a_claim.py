"""A formula typed by the reader, against the certified answer."""

import re
from collections import Counter
from contextlib import suppress
from typing import Any

import streamlit as st

from dplearn.teaching import claims
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.claims import Finding, Verdict, verdict_on
from dplearn.teaching.claims.pages import places_in
from dplearn.teaching.explorer.kit import address, look, questions
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.figures.claim_map import SYMBOLS, claim_map, map_finding

_say = Words("check_a_claim")
TITLE, GROUP, ORDER = _say["title"], "Check", 45

# What an address may name, and what stands where it names nothing.
START = {
    "claim": "sqrt(2*ln(1.25/delta))/epsilon",
    "quantity": "sigma",
    "of": "gaussian",
    "relation": "upper",
    "held": "",
    "x": "auto",
    "y": "auto",
}
_AXES = {name: f"{SYMBOLS[name]}, {p.meaning}" for name, p in claims.PARAMETERS.items()}
_POISSON = "poisson_subsampled_gaussian"
_COMPOSED = "epsilon*sqrt(2*k*ln(1/delta)) + k*epsilon*(exp(epsilon)-1)"
# Quantity, mechanism, claim, and what is held.
EXAMPLES = {
    "classical": ("sigma", "gaussian", START["claim"], ""),
    "shifted": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/alpha", ""),
    "sampled": ("amplified_epsilon", "approximate_dp", "q*epsilon", ""),
    "advanced": ("epsilon", "pure_dp", "2*epsilon*sqrt(2*k*ln(1/delta))", ""),
    "sgd": ("epsilon", _POISSON, "q*sqrt(T*ln(1/delta))/sigma", ""),
    "small": ("sigma", "gaussian", START["claim"], "epsilon=0.01..1"),
    "renyi": ("epsilon", "gaussian", "alpha/(2*sigma^2) + ln(1/delta)/(alpha-1)", ""),
    "amplified": ("amplified_epsilon", "approximate_dp", "ln(1 + q*(exp(epsilon)-1))", ""),
    "composed": ("epsilon", "pure_dp", _COMPOSED, ""),
}
# Box, icon and colour of what is found.
_BOXES = {
    "holds": (st.success, ":material/check:", "green"),
    "safe": (st.success, ":material/shield:", "green"),
    "refuted": (st.error, ":material/close:", "red"),
    "approximation": (st.info, ":material/waves:", "blue"),
    "ambiguous": (st.warning, ":material/call_split:", "orange"),
    "not read": (st.warning, ":material/question_mark:", "gray"),
}
# What a map comes to looks like that.
_OUTCOMES = {"violated": "refuted", "holds": "holds", "undecided": "not read"}
# So many formulas of a page are judged here; the command judges them all.
_LISTED = 40
_SYMBOLS = {
    "epsilon": r"\varepsilon_{\mathrm{total}}",
    "delta": r"\delta",
    "sigma": r"\sigma_{\mathrm{needed}}",
    "rdp": r"D_\alpha",
    "amplified_epsilon": r"\varepsilon'",
}
_SIGNS = {"upper": r"\le", "lower": r"\ge", "equal": "="}


def begin_with(name: str) -> None:
    """Take an example, which replaces everything."""
    about = dict(zip(("quantity", "of", "claim", "held"), EXAMPLES[name], strict=True))
    st.session_state.update(START | about)


def choose_anew() -> None:
    """After a change of the formula: what is found about it chooses the reading."""
    st.session_state["claim_is_new"] = True
    # What is typed now counts, and no file that was dropped before.
    st.session_state["claim_pages"] = st.session_state.get("claim_pages", 0) + 1


def render() -> None:
    """Draw the question above; the map and the verdict below it, or a page's formulas."""
    address.follow("check_a_claim", START)
    st.markdown(_say("heading"))
    with st.container(key="examples", horizontal=True, gap="small"):
        for name in EXAMPLES:
            st.button(_say(f"examples.{name}"), on_click=begin_with, args=(name,))
    left, right = st.columns([7, 3])
    told = {"key": "claim", "on_change": choose_anew, "help": _say("claim.help")}
    left.text_input(_say("claim.label"), **told, persist_state="session")
    told = {"key": "held", "help": _say("held.help")}
    right.text_input(_say("held.label"), **told, persist_state="session")
    if not _page():
        _claim()
    st.file_uploader(_say("page.label"), ["tex", "md", "ipynb", "html"], key=_dropped())
    address.write("check_a_claim", START)


def _dropped() -> str:
    """The key of the box for a file, a new one for each formula that is typed."""
    return f"claim_page_{st.session_state.get('claim_pages', 0)}"


def _page() -> bool:
    """Whether a file was dropped or a paragraph pasted, whose claims are then listed."""
    file, text = st.session_state.get(_dropped()), st.session_state["claim"]
    try:
        if file is not None:
            places = places_in(file.getvalue(), file.name)
        elif len(places := places_in(text.encode(), "text.md")) < 2:
            return False
    except ValueError as error:
        st.error(_inert(str(error)), icon=":material/error:")
        return True
    told, summary = Counter[str](), st.empty()
    with st.spinner(_say("trying")):
        for place in places[:_LISTED]:
            finding = _proofread(place.formula, place.words)
            told[finding.verdict] += 1
            key = "page.in_cell" if place.cell else "page.line"
            where = _say(key, cell=place.cell, line=place.line)
            *_, colour = _BOXES[finding.verdict]
            st.markdown(f":{colour}-badge[{_named(finding.verdict)}] :small[{where}]")
            (st.latex if "\\" in place.formula else st.text)(place.formula)
            st.markdown(_found(finding))
    verdicts = ", ".join(f"{count} × {_named(verdict)}" for verdict, count in told.items())
    summary.markdown(
        f"**{_say('page.count', count=len(places), listed=sum(told.values()))}** {verdicts}"
    )
    return True


def _named(verdict: str) -> str:
    return _say(f"verdict.{verdict}").rstrip(".。")


def _proofread(formula: str, words: str) -> Finding:
    """What is found about a formula; where the server cannot be asked, that."""
    try:
        return questions.ask(claims.proofread, formula, words=words)
    except ValueError as error:
        return Finding(verdict="not read", reason=str(error))


def _claim() -> None:
    asked: Any = st.session_state
    places = places_in(asked["claim"].encode(), "text.md")
    formula, words = (places[0].formula, places[0].words) if places else (asked["claim"], "")
    finding = _proofread(formula, f"{words} {asked['held']}")
    side = claims.Claim("", "", formula)
    with suppress(ValueError):
        side = claims.side_of(formula)
    if able := claims.readings(side, judged=bool(finding.entry)):
        new = st.session_state.pop("claim_is_new", False)
        if new or (asked["quantity"], asked["of"]) not in able:
            asked["quantity"], asked["of"] = able[0]
            asked["x"] = asked["y"] = START["x"]
        _chips(able)
    if able and finding.reading:
        st.caption(_linked(retold(finding.reading)))
    verdict, read = None, ""
    try:
        if able:
            question = {n: asked[n] for n in ("quantity", "of", "held", "x", "y")}
            question |= {"claim": side.right, "relation": side.relation or asked["relation"]}
            names = claims.letters(asked["quantity"], asked["of"])
            sign, formula = _SIGNS[question["relation"]], parse(side.right, names).latex
            read = f"{_SYMBOLS[asked['quantity']]} {sign} {formula}"
            verdict = _verdict(**question)
        elif finding.verdict == "not read":
            parse(side.right)  # which says where it cannot be read
            raise ValueError(finding.reason)
    except ValueError as error:
        st.error(_inert(retold(str(error))), icon=":material/error:")
        # What was found before, so that a slip of the finger loses nothing.
        if last := st.session_state.get("claim_found"):
            with st.container(key="faded"):
                _answer(*last)
        return
    st.session_state["claim_found"] = finding, verdict, read
    _answer(finding, verdict, read)


def _chips(able: list[tuple[str, str]]) -> None:
    asked: Any = st.session_state
    quantities, mechanisms = _say.table("quantity.options"), _say.table("of.options")
    told = {f"{what}:{of}": f"{quantities[what]} · {mechanisms[of]}" for what, of in able}
    asked["claim_reading"] = f"{asked['quantity']}:{asked['of']}"

    def chosen() -> None:
        if pair := asked["claim_reading"]:
            asked["quantity"], asked["of"] = pair.split(":")
            asked["x"] = asked["y"] = START["x"]

    st.pills(
        _say("reading"),
        [*told],
        key="claim_reading",
        format_func=told.__getitem__,
        on_change=chosen,
        label_visibility="collapsed",
    )


def _answer(finding: Finding, verdict: Verdict | None, read: str) -> None:
    if verdict is None:
        box, icon, _ = _BOXES[finding.verdict]
        box(f"**{_say('verdict.' + finding.verdict)}** {_found(finding)}", icon=icon)
        return
    left, right = st.columns([11, 10], gap="medium")
    with left:
        _map(verdict)
    with right:
        st.latex(read)
        box, icon, _ = _BOXES[_OUTCOMES[verdict.status]]
        box(f"**{_headline(verdict)}**", icon=icon)
        for sentence in verdict.sentences()[1:]:
            told = retold(sentence)
            # A short head stands out.
            told = re.sub(r"^((?:\w+ ){0,2}\w+[:：]) ", r"**\1** ", told)
            st.markdown(re.sub(r" ([=≤≥]) ", "\u00a0\\1\u00a0", told))


def _found(finding: Finding) -> str:
    told = [retold(x) for x in (finding.reading, finding.reason) if x]
    others = [f"{retold(r.reading)} {_say('verdict.' + r.verdict)}" for r in finding.candidates]
    return _linked("\n\n".join([" ".join(told), *others]))


def _linked(told: str) -> str:
    return re.sub(r"\bG-[A-Z]\d+[a-h]?", lambda m: address.entry_link(m[0]), _inert(told, "$<"))


def _inert(text: str, signs: str = "\\`*_[]()<>!$~#:|") -> str:
    """A reader's words must stay text, whatever an address says."""
    return re.sub(f"([{re.escape(signs)}])", r"\\\1", text)


def _verdict(
    *, claim: str, quantity: str, of: str, relation: Any, held: str, x: str, y: str
) -> Verdict:
    """What comes out of many points, or a ValueError of one sentence; remembered for all."""
    # As in ``delta=1e-5, T=1..100``.
    fixed = dict(claims.setting(part) for part in held.split(",") if part.strip())
    axes = None if "auto" in (x, y) or x == y else (x, y)
    with st.spinner(_say("trying")):
        return questions.ask(
            verdict_on, claim, quantity=quantity, of=of, relation=relation, fixed=fixed, axes=axes
        )


def _headline(verdict: Verdict) -> str:
    words = _say(f"outcome.{verdict.status}")
    if verdict.status == "violated" and verdict.relation == "upper":
        words += _say("too_much")
    return words


def _map(verdict: Verdict) -> None:
    told = [f"{retold(map_finding(verdict.map))}.", _headline(verdict)]
    told += map(retold, verdict.sentences()[1:])
    with st.container(key="picture_box"):
        look.draw_figure(claim_map(verdict), "map", _say("alt", verdict=" ".join(told)))
    names = claims.QUANTITIES[verdict.quantity][verdict.of].names
    able = ["auto", *names, *(n for n in verdict.map.fixed if n not in names)]
    axes = {"auto": _say("auto")} | {name: retold(_AXES[name]) for name in able[1:]}
    for place, key in zip(st.columns(2), ("x", "y"), strict=True):
        if st.session_state[key] not in able:
            st.session_state[key] = "auto"
        place.selectbox(_say(f"{key}.label"), able, format_func=axes.__getitem__, key=key)
    st.caption(_say("axes"))
