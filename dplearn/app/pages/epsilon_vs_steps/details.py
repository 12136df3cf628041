"""What goes into a paper, asked for with one button: proof, statement, readings and theorems."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import util
from typing import Any

import streamlit as st

from dplearn.accountants import ACCOUNTANTS
from dplearn.app.kit import links, look
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.run_fields import ADJACENCY, DELTA
from dplearn.app.pages.epsilon_vs_steps import regimes
from dplearn.app.pages.epsilon_vs_steps.answers import Answers, printed_rows
from dplearn.book.spoken import VERDICTS
from dplearn.choosing import readings
from dplearn.figures import ladder
from dplearn.figures.kit import certificate, text
from dplearn.figures.kit.panel import Unchecked
from dplearn.figures.kit.template import style_of
from dplearn.ground.guarantee import Guarantee
from dplearn.mechanisms.drawing import sampled
from dplearn.run import DPSGD, Phases, Plan
from dplearn.statement import RELEASED, SAMPLED, TRUST, TUNINGS, Statement

_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "~": "≈"}
_VERDICTS = VERDICTS | {"reproduces": "reproduced"}
_PROOF = (
    "ε at T = {steps} with a proof, made when you press. Whoever has the file proves it again: "
    "`dplearn check certificate.json`."
)
NO_FORM = (
    "This run has no certificate: a proof that anybody can check has a form for Gaussian noise "
    "alone, the same in every step, with Poisson sampling or with all records."
)
NO_FLINT = (
    "A certificate, which proves ε to anybody, is made with python-flint: "
    "`pip install python-flint`, then start the explorer again."
)
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
_LOOSE_DELTA = (
    "**δ = {delta} is no less than 1/N = {share}:** who publishes a whole record now and then "
    "keeps this promise too."
)
_OF_ONE = 10
_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
_FULL, _NINE = "Say it in full", "One run, nine honest numbers"
_WHY = "Why is this curve above that one?"


def show(answers: Answers) -> None:
    """All of it, headed by the run that it is about; what is not open is not computed."""
    st.subheader(subtitle(answers), anchor="details")
    if not answers.readings:
        return
    name, best = answers.best
    said = certificate.both_ends(best) if best.kind == "bracket" else text.epsilon(best, 6)
    st.markdown(f"{style_of(name).label}: **{said}**. {retold(_assumptions(answers))}")
    if answers.scenario.delta * answers.records >= 1:
        share, delta = f"{1 / answers.records:.3g}", DELTA.show(answers.scenario.delta)
        st.warning(translated(_LOOSE_DELTA, delta=delta, share=share))
    _other_tools(regimes.sentences(answers.scenario, answers.here, answers.readings))
    _certificate(answers)
    for title, key, part in (
        (translated(_FULL), "in_full", _statement),
        (translated(_NINE), "nine", _readings),
        (translated(_WHY), "theorems", _theorems),
    ):
        box = st.expander(title, key=key, on_change="rerun")
        if box.open:
            with box:
                part(answers)
    _printed(printed_rows(answers))


def subtitle(answers: Answers) -> str:
    """The run in one line."""
    scenario = answers.scenario
    symbol = "b" if scenario.mechanism == "laplace" else "σ"
    parts = [
        f"{scenario.mechanism.capitalize()} noise, {symbol} = {scenario.noise_multiplier:.4g}",
        f"q = {scenario.sample_rate:.4g}",
        f"δ = {DELTA.show(scenario.delta)}",
        SAMPLED.get(scenario.sampling, scenario.sampling),
        ADJACENCY.options[scenario.adjacency].lower(),
        *(f"then {entry.strip()}" for entry in scenario.then.split(";") if entry.strip()),
        f"T = {text.spaced(answers.here)}",
    ]
    return retold(", ".join(parts))


def _assumptions(answers: Answers) -> str:
    conditions = dict.fromkeys(a for g in answers.readings.values() for a in g.assumptions)
    return f"True if: {'; '.join(conditions)}." if conditions else ""


def _other_tools(sentences: Sequence[str]) -> None:
    """Which other tools fail at this run; nothing where none is known to."""
    if sentences:
        lines = "\n".join(f"- {sentence}" for sentence in sentences)
        title = translated("Where other tools go wrong here")
        st.container(key="regimes").markdown(f"**{title}**\n\n{lines}")


def _certificate(answers: Answers) -> None:
    if refusal := no_certificate(answers):
        st.caption(translated(refusal))
        return
    proof = lambda: as_certificate(answers)
    about = translated(_PROOF, steps=text.spaced(answers.here))
    kind = ("certificate.json", "application/json")
    more: Any = {"icon": ":material/verified:", "help": about, "on_click": "ignore"}
    st.download_button(translated("Certificate"), proof, *kind, **more)


def no_certificate(answers: Answers) -> str:
    """Why a run has no certificate to take along, in a sentence; empty where it has one."""
    run = answers.scenario
    formed = run.mechanism == "gaussian" and run.sampling in ("poisson", "none") and not run.then
    if not formed:
        return NO_FORM
    return "" if util.find_spec("flint") else NO_FLINT


def as_certificate(answers: Answers) -> str:
    """Certificate at the chosen number of steps; where no proof is found, the reason."""
    # Loads python-flint, which the explorer does without until somebody asks.
    from dplearn.certificates import certify

    run, steps = answers.scenario, answers.here
    step = sampled(run.base, sampling=run.sampling, sample_rate=run.sample_rate)  # type: ignore[arg-type]
    try:
        return f"{certify(step, steps=steps, delta=run.delta, adjacency=run.adjacency)}\n"
    except NotImplementedError as error:
        return f"{error}\n"


def _theorems(answers: Answers) -> None:
    """Per accountant, tightest first: why its curve lies where it lies, statement and source."""
    for name in answers.readings:
        law = ACCOUNTANTS[name]
        entries = links.entries_of(law)
        listed = translated("; in the formula book: {entries}", entries=entries)
        source = f"{law.reference}{listed if entries else ''}"
        st.markdown(
            f"{style_of(name).glyph} **{law.title}.** {retold(law.explanation)}\n\n"
            f"$$\n{law.statement}\n$$\n\n:small[{source}]"
        )


def _printed(rows: Sequence[Mapping[str, str]]) -> None:
    """What was printed about this run, and what became of a check."""
    if not rows:
        return
    st.subheader(translated("Published figures for this run"), anchor="published")
    figure = lambda row: f"{_SIGNS.get(row['relation'], '')}\u00a0{row['published']}".strip()
    shown = [
        {
            translated("Source"): retold(row["source"]),
            "T": text.spaced(float(row["steps"])) if row["steps"] else "",
            translated("Printed ε"): figure(row),
            translated("Computed"): row["computed"],
            translated("Verdict"): translated(_VERDICTS[row["verdict"]]),
            translated("Why"): retold(row["why"]),
        }
        for row in rows
    ]
    look.table(shown)


def plan_of(answers: Answers) -> Plan | None:
    """The run up to T as a plan; None where its noise is no Gaussian."""
    if answers.scenario.mechanism != "gaussian":
        return None
    phases, left = [], answers.here
    for phase in answers.scenario.phases:
        phases.append(replace(phase, steps=min(phase.steps, left)))
        left -= phases[-1].steps
    return phases[0] if len(phases) == 1 else Phases(tuple(phases))


def _statement(answers: Answers) -> None:
    """The statement once all is told, and files of it."""
    plan, (name, best) = plan_of(answers), answers.best
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


def _readings(answers: Answers) -> None:
    plan, delta = plan_of(answers), answers.scenario.delta
    if not isinstance(plan, DPSGD) or plan.sampling != "poisson":
        st.caption(translated(_NO_READINGS))
        return
    told = _read(plan, delta, max(answers.records, 2))
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
