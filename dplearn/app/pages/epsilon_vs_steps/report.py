"""What goes into a paper, each behind one click: a statement, and nine readings of the run."""

import datetime
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from dplearn.app.kit import look
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.state import State
from dplearn.app.pages.epsilon_vs_steps import words
from dplearn.app.pages.epsilon_vs_steps.answers import Answers
from dplearn.app.pages.epsilon_vs_steps.run import Scenario
from dplearn.figures import ladder, text
from dplearn.figures.kit.panel import Unchecked
from dplearn.ground.guarantee import Guarantee
from dplearn.readings import readings
from dplearn.run import DPSGD, Phases, Plan
from dplearn.statement import RELEASED, SAMPLED, TRUST, TUNINGS, Statement

_ABOUT = (
    "A complete privacy statement of the run up to T. It asks for what the settings cannot know, "
    "and is refused while a part is missing."
)
_ASKED = {
    "unit": "Unit: whose data?",
    "records": "Number of units",
    "period": "Period: one ε for how long?",
    "sampling": "The program really draws",
    "tuning": "Settings were chosen",
    "released": "What is released?",
    "trust": "Where is noise added?",
    "trusted": "Who is trusted?",
}
_OPTIONS = {"sampling": SAMPLED, "tuning": TUNINGS, "released": RELEASED, "trust": TRUST}
_NO_PLAN = "A statement needs a run with Gaussian noise and a bound on ε."
_NO_READINGS = "Nine readings are of Gaussian noise, the same in every step, and Poisson sampling."
_READ = (
    "The same run under other assumptions, each number computed here; within a bar nothing is "
    "decided. A person with ten records is promised the last one."
)
_BY_DELTA = "The same run at other δ: {values}."
_OF_ONE = 10
_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
_TITLE = "One run, nine honest numbers"


def show(state: State, answers: Answers) -> None:
    """Both parts; what is not open is not computed."""
    scenario = answers.scenario
    box = st.expander(translated("Say it in full"), key="in_full", on_change="rerun")
    if box.open and not scenario.draft:
        with box:
            _statement(answers)
    box = st.expander(translated(_TITLE), key="nine", on_change="rerun")
    if box.open and not scenario.draft:
        with box:
            _readings(answers, records=int(state.values["dataset_size"]))


def plan_of(scenario: Scenario, here: int) -> Plan | None:
    """The run up to T as a plan; None where its noise is no Gaussian."""
    if scenario.mechanism != "gaussian":
        return None
    phases, left = [], here
    for phase in scenario.phases:
        phases.append(replace(phase, steps=min(phase.steps, left)))
        left -= phases[-1].steps
    return phases[0] if len(phases) == 1 else Phases(tuple(phases))


def _statement(answers: Answers) -> None:
    """The statement once all is told, and files of it."""
    plan, (name, best) = plan_of(answers.scenario, answers.here), words.ranked(answers.readings)[0]
    if plan is None or not best.is_bound:
        st.caption(translated(_NO_PLAN))
        return
    st.caption(translated(_ABOUT))
    parts = _told() | {"adjacency": answers.scenario.adjacency, "accountant": name}
    parts["date"] = datetime.date.today()  # a server outlives the day
    try:
        stated = _stated(plan, answers.scenario.delta, **parts)
    except ValueError as refusal:
        st.info(retold(str(refusal)))
        return
    st.code(str(stated), language=None, wrap_lines=True)
    files = {"txt": ("Text", str(stated)), "tex": ("LaTeX", stated.latex())}
    files |= {"json": ("JSON", stated.json()), "html": (translated("Card"), stated.card())}
    icon = ":material/download:"
    for column, (ending, (kind, content)) in zip(st.columns(4), files.items(), strict=True):
        file = f"privacy_statement.{ending}"
        column.download_button(kind, content, file, on_click="ignore", icon=icon)


def _told() -> dict[str, Any]:
    """What the settings cannot know, as a reader tells it."""
    parts: dict[str, Any] = {}
    for place, part in zip(4 * st.columns(2), _ASKED, strict=True):
        label, key = translated(_ASKED[part]), f"told_{part}"
        if options := _OPTIONS.get(part):
            names = {"": translated("choose"), **{o: retold(told) for o, told in options.items()}}
            parts[part] = place.selectbox(label, names, format_func=names.__getitem__, key=key)
        elif part == "records":
            parts[part] = place.number_input(label, min_value=1, value=None, step=1, key=key)
        else:
            parts[part] = place.text_input(label, key=key)
    return parts


@lru_cache(maxsize=64)
def _stated(plan: Plan, delta: float, **parts: Any) -> Statement:
    return plan.statement(delta=delta, **parts)


def _readings(answers: Answers, records: int) -> None:
    plan, delta = plan_of(answers.scenario, answers.here), answers.scenario.delta
    if not isinstance(plan, DPSGD) or plan.sampling != "poisson":
        st.caption(translated(_NO_READINGS))
        return
    told = _read(plan, delta, max(records, 2))
    st.caption(translated(_READ))
    parts = ladder(told, title="").to_dict()
    parts["layout"] |= {"width": None, "margin": {"l": 8, "r": 8, "t": 8, "b": 44}}
    values = "; ".join(f"{name} {text.epsilon(g, 4)}" for name, g in told.items())
    look.chart(Unchecked(parts), "readings", retold(f"{values}."))
    moved = [f"ε {text.epsilon(g, 4)} (δ = {d:.0e})" for d, g in _by_delta(plan).items()]
    st.caption(translated(_BY_DELTA, values="; ".join(moved)))


@lru_cache(maxsize=64)
def _read(plan: DPSGD, delta: float, records: int) -> Mapping[str, Guarantee]:
    return readings(plan, delta=delta, records=records, of_one=_OF_ONE)


@lru_cache(maxsize=64)
def _by_delta(plan: DPSGD) -> Mapping[float, Guarantee]:
    return {delta: plan.guarantee(delta=delta) for delta in _DELTAS}
