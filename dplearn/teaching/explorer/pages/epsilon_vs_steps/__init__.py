"""Page of epsilon against the number of steps, per accountant, drawn by the browser.

The browser computes epsilon where its JavaScript engine can. It asks the server for all other
runs, for a check of its own bounds, and for the details that a paper needs.
"""

import datetime
from dataclasses import replace
from functools import partial
from importlib import util
from typing import Any

import streamlit as st

from dplearn.core.guarantee import Guarantee
from dplearn.mechanisms.sampling_scheme import default_adjacency
from dplearn.statement import RELEASED, SAMPLED, TRUST, TUNINGS
from dplearn.teaching import browser
from dplearn.teaching.book.published import drawn_figures
from dplearn.teaching.explorer.kit import elements, language
from dplearn.teaching.explorer.kit.accountants import accountants, style_sheet
from dplearn.teaching.explorer.kit.fields import Words, named
from dplearn.teaching.explorer.kit.language import translated, translated_clauses
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import DROP_LAST, Answers
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.kit.template import style_of

_say = Words("epsilon_vs_steps")
TITLE, GROUP, ORDER = _say["title"], "See", 10
_QUESTION, _ANSWER = "epsilon_question", "epsilon_answer"
_OPTIONS = {"sampling": SAMPLED, "tuning": TUNINGS, "released": RELEASED, "trust": TRUST}


def render() -> None:
    """Draw the page, and below it the details that the reader requested."""
    _page()
    if proved := st.session_state.get("epsilon_details"):
        with st.container(key="details"):
            _details(proved)


@st.fragment
def _page() -> None:
    """Draw the page as a fragment: a request from the browser reruns this function only."""
    if question := st.session_state.pop(_QUESTION, None):
        answer = confirmation.library_reply(question)
        st.session_state[_ANSWER] = answer | {key: question.get(key) for key in ("id", "kind")}
        if question.get("kind") == "prove" and "refused" not in answer:
            st.session_state["epsilon_details"] = confirmation.details_of(question)
            st.rerun()
    # Mechanisms and samplings on offer, with displayed texts and default adjacencies.
    names = confirmation.options()
    kinds: dict[str, Any] = {key: named(names[key]) for key in ("mechanism", "sampling")}
    # Do not offer "none": the reader enters full batches as q = 100 %.
    del kinds["sampling"]["none"]
    natural = {name: default_adjacency(name.removesuffix(DROP_LAST)) for name in kinds["sampling"]}  # type: ignore[arg-type]
    fields = {"language": language.current(), "kinds": kinds | {"natural": natural}}
    fields |= {"answer": st.session_state.get(_ANSWER), "accountants": accountants()}
    fields |= {"presets": browser.presets(), "published": list(drawn_figures())}
    store = lambda: st.session_state.update({_QUESTION: st.session_state["epsilon"].asked})
    # Pass a list, because Streamlit searches all values of a dictionary for data frames.
    _component(key="epsilon", data=[fields], on_asked_change=store)


def _details(answers: Answers) -> None:
    """Draw a run's epsilon and certificate and, in an open box, its privacy statement."""
    st.subheader(subtitle(answers), anchor="details")
    if not answers.readings:
        return
    name, best = next(iter(answers.readings.items()))  # smallest upper bound, if any
    proved = text.both_ends(best) if best.kind == "bracket" else text.epsilon(best, 6)
    clauses = dict.fromkeys(a for g in answers.readings.values() for a in g.assumptions)
    assumed = _say("true_if", assumptions=translated_clauses("; ".join(clauses))) if clauses else ""
    st.markdown(f"{style_of(name).label}: **{proved}**. {assumed}")
    if answers.scenario.delta * answers.records >= 1:
        share = f"{1 / answers.records:.3g}"
        st.warning(_say("loose_delta", delta=f"{answers.scenario.delta:g}", share=share))
    if lacking := no_certificate(answers):
        st.caption(_say(f"no_certificate.{lacking}"))
    else:
        st.download_button(
            _say("certificate"),
            partial(as_certificate, answers),
            "certificate.json",
            "application/json",
            help=_say("proof", steps=text.spaced(answers.here)),
            icon=":material/verified:",
            on_click="ignore",
        )
    box = st.expander(_say("in_full"), key="in_full", on_change="rerun")
    if box.open:
        with box:
            _statement(answers, name, best)


def subtitle(answers: Answers) -> str:
    """Return the parameters of the run as one line of text."""
    run, plan = answers.scenario, answers.scenario.plan
    words = named([run.mechanism, run.adjacency])
    drawn = translated(SAMPLED.get(plan.sampling, plan.sampling))
    return (
        f"{words[run.mechanism]}, {'b' if run.mechanism == 'laplace' else 'σ'} = "
        f"{plan.noise_multiplier:.4g}, q = {plan.sample_rate:.4g}, δ = {run.delta:g}, {drawn}, "
        f"{words[run.adjacency].lower()}, T = {text.spaced(answers.here)}"
    )


def no_certificate(answers: Answers) -> str:
    """Return the key of a message that says why a run has no certificate; "" if it has one."""
    run = answers.scenario
    if run.mechanism != "gaussian" or run.plan.sampling not in ("poisson", "none"):
        return "form"
    return "" if util.find_spec("flint") else "flint"


def as_certificate(answers: Answers) -> str:
    """Return the text of the certificate for `here` steps, or the reason why there is none."""
    # Imported only on request, because it loads python-flint.
    from dplearn.certificates import certify

    run, steps = answers.scenario, answers.here
    step = run.sampling_scheme.mechanism
    try:
        return f"{certify(step, steps=steps, delta=run.delta, adjacency=run.adjacency)}\n"
    except NotImplementedError as error:
        return f"{error}\n"


def _statement(answers: Answers, name: str, best: Guarantee) -> None:
    run = answers.scenario
    if run.mechanism != "gaussian" or not best.is_bound:
        st.caption(_say("no_plan"))
        return
    st.caption(_say("about"))
    parts = _entries()
    if missing := [_say(f"entries.{part}") for part, entry in parts.items() if not entry]:
        st.info(_say("missing", parts=" · ".join(missing)))
        return
    parts |= {"adjacency": run.adjacency, "accountant": name}
    parts["date"] = datetime.date.today()  # today, not the day of the server's start
    try:
        stated = replace(run.plan, steps=answers.here).statement(delta=run.delta, **parts)
    except ValueError as refusal:
        st.info(str(refusal))
        return
    st.code(str(stated), language=None, wrap_lines=True)
    files = {"txt": ("Text", str(stated)), "tex": ("LaTeX", stated.latex())}
    files |= {"json": ("JSON", stated.json()), "html": (_say("card"), stated.card())}
    icon = ":material/download:"
    for column, (ending, (kind, content)) in zip(st.columns(4), files.items(), strict=True):
        file = f"privacy_statement.{ending}"
        column.download_button(kind, content, file, on_click="ignore", icon=icon)


def _entries() -> dict[str, Any]:
    """Draw input fields for a privacy statement; return what the reader enters."""
    parts: dict[str, Any] = {}
    for place, part in zip(4 * st.columns(2), _say.table("entries"), strict=True):
        label, key = _say(f"entries.{part}"), f"entry_{part}"
        if options := _OPTIONS.get(part):
            names = {"": _say("choose"), **{o: translated(result) for o, result in options.items()}}
            parts[part] = place.selectbox(label, names, format_func=names.__getitem__, key=key)
        elif part == "records":
            parts[part] = place.number_input(label, min_value=1, value=None, step=1, key=key)
        else:
            parts[part] = place.text_input(label, key=key)
    return parts


_component = elements.component("epsilonPage", style_sheet("page/page"))
