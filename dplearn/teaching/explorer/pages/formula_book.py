"""Page of the formula book: each formula, checks on request, and refuted wrong variants."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from dplearn.teaching.book import Refutation, book, pictures, sentences
from dplearn.teaching.book.kit import domains
from dplearn.teaching.book.kit.entry import Formula, Misprint
from dplearn.teaching.book.pictures import View, shown
from dplearn.teaching.book.run_all import refutation, verification
from dplearn.teaching.book.sentences import label, signature
from dplearn.teaching.explorer.kit import address, elements, language, questions
from dplearn.teaching.explorer.kit.accountants import style_sheet
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.figures.formula import formula_cloud, formula_curve

_say = Words("formula_book")
TITLE, GROUP, ORDER = _say["title"], "Check", 50
# Sentences about a formula of the book, in the reader's language.
words = sentences.Wording(language.translated)
PICTURES = ("curve", "cloud")
# Fields of the URL with their defaults; all other fields are parameters of the formula.
START = {"id": next(iter(book)), "misprint": "none", "picture": "curve", "along": "", "draw": "0"}
_PICTURE = 1.5  # seconds after which the computation of a picture stops
_DRAWS = 10  # number of random choices of the parameters that no input sets


def begin() -> None:
    """Reset the wrong variant and the parameters when the reader chooses another formula."""
    st.session_state.update({key: START[key] for key in ("misprint", "along", "draw")})
    st.session_state["formula_book_more"] = {}


def render() -> None:
    """Draw the list of formulas, and the chosen formula."""
    more, state = address.follow("formula_book", START), st.session_state
    for key, options in {"id": book, "picture": PICTURES}.items():
        state[key] = state[key] if state[key] in options else START[key]
    # Texts that are searched when the reader types: id, title and function name.
    spelled = lambda id: f"{id} · {book[id].title} · {book[id].function.__name__}"
    st.selectbox(
        _say("id.label"),
        [*book],
        format_func=spelled,
        key="id",
        on_change=begin,
        persist_state="session",
    )
    if language.current() != "en":
        st.caption(_say("english"))
    _entry(book[state["id"]])
    first = START | {"along": state.get("formula_book_axis", "")}
    address.write("formula_book", first, more)


def _entry(formula: Formula) -> None:
    """Draw a formula and, below it, a picture beside checks, wrong variants and code."""
    st.header(f"{formula.id} · {formula.title}")
    with st.container(key="statement", gap="small"):
        st.latex(formula.statement)
        about = f"{words.kind_of(formula)} {words.hypothesis(formula)}"
        st.markdown(f"{about}  \n:small[{formula.reference}]")
    left, right = st.columns([9, 5], gap="medium")
    with right:
        results = st.session_state.setdefault("formula_checks", {})
        if st.button(_say("verify"), type="primary", icon=":material/check:", width="stretch"):
            with st.spinner(_say("comparing")):
                results[formula.id] = questions.ask(verification, formula.id)
        if result := results.get(formula.id):
            (st.success if result.good else st.error)(words.verified(result))
        else:
            st.caption(_say("checks", points=formula.points))
        view = _variants(formula.id)
        st.caption(f"`{signature(formula)}`")
        st.code(pictures.example_code(formula), wrap_lines=True)
        if link := claim_address(formula.id):
            st.markdown(f":material/fact_check: [{_say('as_claim')}]({link})")
        if link := run_address(view.parameters):
            st.markdown(f":material/show_chart: [{_say('as_run')}]({link})")
    with left:
        _picture(view)


def _variants(id: str) -> View:
    """Draw the list of wrong variants, refute the chosen one, and return what to draw."""
    names = {misprint.name: misprint.name.replace("-", " ") for misprint in book[id].misprints}
    chosen: Any = st.session_state["misprint"]
    if names:
        st.session_state["misprint"] = chosen if chosen in names else None
        chosen = st.pills(_say("variants"), [*names], format_func=names.__getitem__, key="misprint")
    else:
        st.caption(_say("no_variant"))
    if chosen in names:
        with st.spinner(_say("searching")):
            # Search now, because the picture of a wrong variant starts at its counterexample.
            result = pictures.refuted(id, chosen, partial(questions.ask, refutation))
        _refuted(id, book[id].misprint(chosen), result)
    return view_at(id, chosen if chosen in names else "none")


def view_at(id: str, misprint: str) -> View:
    """Return a formula, or its wrong variant, with the parameters that the URL sets."""
    more, settings = st.session_state["formula_book_more"], {}
    draw = st.session_state["draw"]
    for name, part in parameters(id, misprint):
        if (text := more.get(name)) is None:
            continue
        if "ends" in part:
            with suppress(ValueError):
                (low, high), value = part["ends"], float(text)
                if low <= value <= high and not (part["whole"] and value % 1):
                    settings[name] = int(value) if part["whole"] else value
        elif text in part["options"]:
            settings[name] = part["options"][text]
    rank = int(draw) if draw in map(str, range(_DRAWS)) else 0
    return View(id, misprint, rank, tuple(settings.items()))


def parameters(id: str, misprint: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each adjustable parameter, with its range or its options."""
    claim, first = shown(id, misprint), pictures.first_parameters(id, misprint)
    for name, domain in claim.domain.items():
        if isinstance(domain, domains.Linear):
            whole, even = isinstance(domain, domains.Whole), not isinstance(domain, domains.Log)
            ends = [float(domain.low), float(domain.high)]
            if math.isfinite(first[name]):
                ends = [min(ends[0], first[name]), max(ends[1], first[name])]
            if ends[0] < ends[1]:
                yield name, {"ends": ends, "whole": whole, "even": even}
    choices = {n: d.values for n, d in claim.domain.items() if isinstance(d, domains.Choice)}
    for name, values in (choices | dict(claim.along or {})).items():
        yield name, {"options": {str(v): v for v in (*values, first[name])}}


def _refuted(id: str, misprint: Misprint, result: Refutation) -> None:
    claim = shown(id, misprint.name)
    st.latex(claim.statement)
    if result.counterexample:
        case = words.case(claim.kind, result.counterexample)
        (st.error if result.unsafe else st.warning)(f"{case}  \n{words.danger(result)}")
    else:
        st.info(f"{words.status(result.status)} {result.reason}")
    lines = [misprint.note]
    if misprint.given is not None:
        given = words.hypothesis(claim)
        lines.append(_say("claimed", given=f"{given[0].lower()}{given[1:]}"))
    if link := claim_address(id, misprint.name):
        lines.append(f"[{_say('check_it')}]({link})")
    lines.append(f":small[{_say('met', place=misprint.met or _say('notes'))}]")
    st.markdown("  \n".join(lines))


def _picture(view: View) -> None:
    """Draw controls, and compare formula and true value along a parameter or at all points."""
    left, right = st.columns(2, gap="medium")
    state: Any = st.session_state
    if view.axes:
        names = _say.table("picture.options")
        left.segmented_control(
            _say("picture.label"),
            [*names],
            format_func=names.__getitem__,
            required=True,
            key="picture",
            persist_state="session",
        )
    if view.axes and state["picture"] == "curve":
        state["formula_book_axis"] = view.axes[0]
        state["along"] = state["along"] if state["along"] in view.axes else view.axes[0]
        along = right.selectbox(_say("along.label"), view.axes, format_func=label, key="along")
        picture = pictures.curve(view, along, seconds=_PICTURE)
        _settings(view, along)
        headline = words.headline(view, picture.points)
        figure = formula_curve(picture.drawn, finding=headline, x=label(along))
    else:
        picture = pictures.cloud(view, words, seconds=_PICTURE)
        headline = words.headline(view, picture.points)
        figure = formula_cloud(picture.drawn, finding=headline)
    with st.container(key="picture_box"):
        alt = f"{_say('alt', id=view.claim.id)}, {book[view.id].title}. {headline}."
        elements.draw_figure(figure, "formula_picture", alt)
    if not picture.complete:
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.caption(_say("stopped", seconds=_PICTURE, points=len(picture.points)))
        right.button(_say("go_on"), key="go_on")


def _settings(view: View, along: str) -> None:
    """Draw all parameters except `along`: draggable numbers, lists of options, random values."""
    adjustable = dict(parameters(view.id, view.misprint))
    values, numbers = view.parameters, []
    for name, part in adjustable.items():
        if name == along or name not in view.claim.parameters:
            continue
        if "ends" in part:
            # JSON cannot represent infinity.
            value = float(values[name]) if math.isfinite(values[name]) else None
            numbers.append({"name": name, "label": label(name), "value": value, **part})
        elif len(options := [*part["options"]]) > 1:
            at, key = options.index(str(values[name])), f"choice_{view.id}_{name}"
            spelled = lambda text, part=part: words.spelled(part["options"][text])
            chosen = st.selectbox(label(name), options, at, format_func=spelled, key=key)
            if chosen != str(values[name]):
                st.session_state["formula_book_more"][name] = chosen
                st.rerun()
    if numbers:
        _sentence(key="numbers", data=[{"numbers": numbers}], on_asked_change=_moved)
    if given := {n: values[n] for n in view.claim.parameters if n not in adjustable}:
        left, right = st.columns([5, 2], vertical_alignment="center")
        left.caption(words.given(given))
        draw = lambda: st.session_state.update(draw=str((view.draw + 1) % _DRAWS))
        right.button(_say("others"), "others", on_click=draw, icon=":material/casino:")


def _moved() -> None:
    for name, value in st.session_state["numbers"].asked.items():
        st.session_state["formula_book_more"][name] = f"{value:.10g}"


def claim_address(id: str, misprint: str = "none") -> str:
    """Return the URL of the check of a formula or wrong variant, "" if it cannot be checked."""
    if not (settings := book[id].settings):
        return ""
    statement = " ".join(shown(id, misprint).statement.split())
    return address.to("check_a_claim", {"claim": statement, "words": settings[0].text})


def run_address(parameters: Mapping[str, Any]) -> str:
    """Return the URL of the epsilon curves of a run; "" if one of its parameters is missing."""
    names = {"noise_multiplier", "sample_rate", "steps", "delta"}
    if names - parameters.keys():
        return ""
    fields = {n: x for n, x in parameters.items() if n in names} | {"here": parameters["steps"]}
    return address.to("epsilon_vs_steps", fields)


_sentence = elements.component("sentence", style_sheet("page/page"))
