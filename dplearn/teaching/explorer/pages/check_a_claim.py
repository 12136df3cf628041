"""Page that checks a typed formula in every context, such as Gaussian noise, that it fits."""

import re
from collections import Counter
from collections.abc import Sequence

import streamlit as st

from dplearn.teaching import claims
from dplearn.teaching.claims import Finding, Place
from dplearn.teaching.claims.reading import Note
from dplearn.teaching.explorer.kit import address, elements, language, questions
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.language import translated
from dplearn.teaching.figures.claim_map import claim_map, map_finding, map_of

_say = Words("check_a_claim")
TITLE, GROUP, ORDER = _say["title"], "Check", 45

# Fields of the page's URL, with their defaults.
START = {"claim": r"\sigma \ge \sqrt{2\ln(1.25/\delta)}/\varepsilon", "words": ""}
# For each example button: a formula, and words that say what the formula is about.
EXAMPLES = {
    "classical": (START["claim"], ""),
    "small": (START["claim"], "for 0 < ε ≤ 1"),
    "shifted": ("ε = α/(2σ²) + ln(1/δ)/α", "Gaussian noise"),
    "renyi": ("ε = α/(2σ²) + ln(1/δ)/(α−1)", "Gaussian noise"),
    "sampled": ("ε' = q ε", "amplification by sampling"),
    "advanced": ("ε' = 2ε√(2k ln(1/δ'))", "k-fold composition"),
    "composed": ("ε' = ε√(2k ln(1/δ')) + kε(e^ε−1)", "k-fold composition"),
    "group": (r"k\rho\text{-zCDP}", ""),
}
# Box, icon and colour for each result of checking a formula.
_BOXES = {
    "holds": (st.success, ":material/check:", "green"),
    "safe": (st.success, ":material/shield:", "green"),
    "refuted": (st.error, ":material/close:", "red"),
    "conditional": (st.warning, ":material/rule:", "orange"),
    "open": (st.warning, ":material/hourglass_empty:", "orange"),
    "depends": (st.warning, ":material/call_split:", "orange"),
    "approximation": (st.info, ":material/waves:", "blue"),
    "not read": (st.warning, ":material/question_mark:", "gray"),
}
_LISTED = 40  # maximum number of formulas in one text; `dplearn proofread` has no such limit


def begin_with(name: str) -> None:
    """Fill both input fields with an example."""
    st.session_state.update(START | dict(zip(("claim", "words"), EXAMPLES[name], strict=True)))


def render() -> None:
    """Draw the input fields and, below them, the check of one formula or of all in a text."""
    address.follow("check_a_claim", START)
    st.markdown(_say("heading"))
    with st.container(key="examples", horizontal=True, gap="small"):
        for name in EXAMPLES:
            st.button(_say(f"examples.{name}"), on_click=begin_with, args=(name,))
    left, right = st.columns([6, 4])
    for place, key in ((left, "claim"), (right, "words")):
        about = _say(f"{key}.help")
        place.text_input(_say(f"{key}.label"), key=key, help=about, persist_state="session")
    address.write("check_a_claim", START)
    try:
        places = claims.places_in(st.session_state["claim"].encode(), "text.md")
    except ValueError as error:
        st.error(_escaped(str(error)), icon=":material/error:")
        return
    if len(places) < 2:
        _claim(places)
    else:
        _page(places)


def _page(places: Sequence[Place]) -> None:
    """List the formulas of a pasted text, each with the result of its check."""
    result, summary = Counter[str](), st.empty()
    with st.spinner(_say("trying")):
        for place in places[:_LISTED]:
            finding = _finding(place.formula, place.words)
            result[finding.verdict] += 1
            *_, colour = _BOXES[finding.verdict]
            st.markdown(f":{colour}-badge[{_verdict(finding.verdict)}]")
            (st.latex if "\\" in place.formula else st.text)(place.formula)
            _lines(finding)
    verdicts = ", ".join(f"{n} × {_verdict(verdict)}" for verdict, n in result.items())
    count = _say("page.count", count=len(places), listed=sum(result.values()))
    summary.markdown(f"**{count}** {verdicts}")


def _verdict(verdict: str) -> str:
    return _say(f"verdict.{verdict}").rstrip(".。")


def _finding(formula: str, words: str) -> Finding:
    """Return the result of checking a formula; if it was not checked, "not read" and the reason."""
    try:
        return questions.ask(claims.proofread, formula, words=words)
    except ValueError as error:
        return Finding(verdict="not read", reason=str(error))


def _claim(places: Sequence[Place]) -> None:
    """Draw the result of checking one formula, and a map of the points where it holds."""
    state = st.session_state
    formula, words = (places[0].formula, places[0].words) if places else (state["claim"], "")
    words = f"{words} {state['words']}".strip()
    finding = _finding(formula, words)
    box, icon, _ = _BOXES[finding.verdict]
    box(f"**{_say('verdict.' + finding.verdict)}** {_say('about.' + finding.verdict)}", icon=icon)
    _lines(finding)
    if drawn := questions.ask(map_of, formula, words=words):
        setting = drawn.chinese if language.current() == "zh" else drawn.setting
        about = _in_words(map_finding(drawn))
        with st.container(key="picture_box"):
            message = _say("alt", verdict=f"{about}. {setting}")
            elements.draw_figure(claim_map(drawn, setting, about), "map", message)


def _lines(finding: Finding) -> None:
    """List whether the formula holds in each context that it fits, first in the intended one."""
    if not finding.lines or finding.verdict == "not read":
        st.markdown(_escaped(_in_words(finding.reason), "$<"))
    for line in finding.lines:
        *_, colour = _BOXES[line.verdict]
        note = f"  \n:small[{_escaped(_in_words(line.note), '$<')}]" if line.note else ""
        text = line.chinese if language.current() == "zh" else line.setting
        setting = f"{_escaped(text, '$<')} ({address.entry_link(line.entry)}, {line.reference})"
        st.markdown(f":{colour}-badge[{_verdict(line.verdict)}] {setting}{note}")
    if finding.slip:
        why = "" if language.current() == "zh" else f" {_escaped(finding.slip, '$<')}"
        st.markdown(f"{address.entry_link(f'{finding.entry}/{finding.misprint}')}:{why}")


def _in_words(note: str) -> str:
    """Translate a note on the check of a formula to the reader's language."""
    if not isinstance(note, Note):
        return translated(note)
    values = {name: _in_words(value) for name, value in note.values.items()}
    return translated(note.template, **values)


def _escaped(text: str, signs: str = "\\`*_[]()<>!$~#:|") -> str:
    """Escape Markdown in a text, because a formula from the URL may contain any markup."""
    return re.sub(f"([{re.escape(signs)}])", r"\\\1", text)
