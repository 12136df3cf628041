"""What goes into a paper, asked for with one button: proof, statement, readings and theorems."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib import util
from string import Formatter
from typing import Any

import pyarrow as pa
import streamlit as st

from dplearn.accountants import ACCOUNTANTS
from dplearn.core.guarantee import Guarantee
from dplearn.mechanisms.sampling_scheme import SAMPLINGS, sampled
from dplearn.run import DPSGD, Plan
from dplearn.statement import RELEASED, SAMPLED, TRUST, TUNINGS, Statement
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.sentences import VERDICTS
from dplearn.teaching.choosing import readings
from dplearn.teaching.explorer.kit import links, look
from dplearn.teaching.explorer.kit.fields import Words, named
from dplearn.teaching.explorer.kit.language import listed, retold
from dplearn.teaching.explorer.pages.epsilon_vs_steps import confirmation
from dplearn.teaching.explorer.pages.epsilon_vs_steps.confirmation import REFERENCE, Answers
from dplearn.teaching.figures import ladder
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.kit.marks import TEMPLATE
from dplearn.teaching.figures.kit.template import style_of

_say = Words("epsilon_vs_steps")
_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "~": "≈"}
_VERDICTS = VERDICTS | {"reproduces": "reproduced"}
_OPTIONS = {"sampling": SAMPLED, "tuning": TUNINGS, "released": RELEASED, "trust": TRUST}
_OF_ONE = 10
_DELTAS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
# Where widely used software, or the theorem behind it, fails. Measured figures were taken from the
# versions named, against brackets that this library certifies; one "here" is of the run in view.
_TENTHS = tuple(1 + x / 10 for x in range(1, 100))
ORDERS = {
    "opacus": (*_TENTHS, *map(float, range(12, 64))),
    "google": (*_TENTHS, *map(float, range(11, 64)), 128.0, 256.0, 512.0, 1024.0),
}
# When, by what `condition_value` knows; the words of the page say whose tool does what.
REGIMES = {
    "claimed": "claim_misses >= 0.001",
    "limit": "gdp_misses >= 0.001",
    "range": "gdp_epsilon > 500",
    "optimistic": "gaussian and poisson and 1e-15 < delta <= 1e-11 and T >= 30000",
    # At once with sampling, else when δ is below that mass.
    "infinite": "poisson and delta <= 1e-15 or none and delta < 1e-15",
    "refused": "gaussian and (poisson or none) and delta < 1e-13",
    "fourier": "gaussian and poisson and delta <= 1e-10 and T >= 1000",
    "opacus": "opacus_more > 0.01",
    "google": "google_more > 0.01",
    "moments": "moments_moment == 32 and moments_times > 1.1",
    "subsets": "gaussian and without_replacement",
}


def show_details(answers: Answers) -> None:
    """All of it, headed by the run that it is about; what is not open is not computed."""
    st.subheader(subtitle(answers), anchor="details")
    if not answers.readings:
        return
    name, best = answers.best
    proved = text.both_ends(best) if best.kind == "bracket" else text.epsilon(best, 6)
    clauses = dict.fromkeys(a for g in answers.readings.values() for a in g.assumptions)
    assumed = _say("true_if", assumptions=listed("; ".join(clauses))) if clauses else ""
    st.markdown(f"{style_of(name).label}: **{proved}**. {assumed}")
    if answers.scenario.delta * answers.records >= 1:
        share = f"{1 / answers.records:.3g}"
        st.warning(_say("loose_delta", delta=f"{answers.scenario.delta:g}", share=share))
    if told := warnings_of(answers):
        lines = "\n".join(f"- {sentence}" for sentence in told)
        st.container(key="regimes").markdown(f"**{_say('other_tools')}**\n\n{lines}")
    if lacking := no_certificate(answers):
        st.caption(_say(f"no_certificate.{lacking}"))
    else:
        st.download_button(
            _say("certificate"),
            partial(as_certificate, answers),
            "certificate.json",
            "application/json",
            icon=":material/verified:",
            help=_say("proof", steps=text.spaced(answers.here)),
            on_click="ignore",
        )
    for key, part in (("in_full", _statement), ("nine", _readings), ("theorems", _theorems)):
        box = st.expander(_say(f"boxes.{key}"), key=key, on_change="rerun")
        if box.open:
            with box:
                part(answers)
    if rows := confirmation.printed_rows(answers.scenario):
        st.subheader(_say("printed"), anchor="published")
        # As Arrow, which is what is sent: Streamlit would take the long way, through pandas.
        table = pa.Table.from_pylist([_printed(row) for row in rows])
        st.table(table, border="horizontal", hide_index=True)


def subtitle(answers: Answers) -> str:
    """Return the run in one line."""
    run = answers.scenario
    words = named([run.mechanism, run.adjacency])
    sampled = retold(SAMPLED.get(run.sampling, run.sampling))
    return (
        f"{words[run.mechanism]}, {'b' if run.mechanism == 'laplace' else 'σ'} = "
        f"{run.noise_multiplier:.4g}, q = {run.sample_rate:.4g}, δ = {run.delta:g}, {sampled}, "
        f"{words[run.adjacency].lower()}, T = {text.spaced(answers.here)}"
    )


def no_certificate(answers: Answers) -> str:
    """Key of why a run has no certificate to take along; empty where it has one."""
    run = answers.scenario
    amplified = run.sampling == "poisson" and run.adjacency != "replace_one"
    if run.mechanism != "gaussian" or not (amplified or run.sampling == "none"):
        return "form"
    return "" if util.find_spec("flint") else "flint"


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
        source = f"{law.reference}{_say('entries', entries=entries) if entries else ''}"
        st.markdown(
            f"{style_of(name).glyph} **{law.title}.** {retold(law.explanation)}\n\n"
            f"$$\n{law.statement}\n$$\n\n:small[{source}]"
        )


def _printed(row: Mapping[str, str]) -> dict[str, str]:
    told = {
        "source": retold(row["source"]),
        "T": text.spaced(float(row["steps"])) if row["steps"] else "",
        "printed": f"{_SIGNS.get(row['relation'], '')}\u00a0{row['published']}".strip(),
        "computed": row["computed"],
        "verdict": retold(_VERDICTS[row["verdict"]]),
        "why": retold(row["why"]),
    }
    return {_say(f"columns.{key}"): value for key, value in told.items()}


def plan_of(answers: Answers) -> Plan | None:
    """Return the run up to T as a plan; None where its noise is no Gaussian."""
    run = answers.scenario
    return replace(run.plan, steps=answers.here) if run.mechanism == "gaussian" else None


def _statement(answers: Answers) -> None:
    plan, (name, best) = plan_of(answers), answers.best
    if plan is None or not best.is_bound:
        st.caption(_say("no_plan"))
        return
    st.caption(_say("about"))
    parts = _told() | {"adjacency": answers.scenario.adjacency, "accountant": name}
    parts["date"] = datetime.date.today()  # a server outlives the day
    try:
        stated = _stated(plan, answers.scenario.delta, **parts)
    except ValueError as refusal:
        st.info(retold(str(refusal)))
        return
    st.code(str(stated), language=None, wrap_lines=True)
    files = {"txt": ("Text", str(stated)), "tex": ("LaTeX", stated.latex())}
    files |= {"json": ("JSON", stated.json()), "html": (_say("card"), stated.card())}
    icon = ":material/download:"
    for column, (ending, (kind, content)) in zip(st.columns(4), files.items(), strict=True):
        file = f"privacy_statement.{ending}"
        column.download_button(kind, content, file, on_click="ignore", icon=icon)


def _told() -> dict[str, Any]:
    """What the settings cannot know, as a reader tells it."""
    parts: dict[str, Any] = {}
    for place, part in zip(4 * st.columns(2), _say.table("told"), strict=True):
        label, key = _say(f"told.{part}"), f"told_{part}"
        if options := _OPTIONS.get(part):
            names = {"": _say("choose"), **{o: retold(told) for o, told in options.items()}}
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
        st.caption(_say("no_readings"))
        return
    told, by_delta = _read(plan, delta, max(answers.records, 2))
    st.caption(_say("read"))
    margin = {"l": 8, "r": 8, "t": 8, "b": 44}
    figure = ladder(told, title="").update_layout(width=None, margin=margin, template=TEMPLATE)
    values = "; ".join(f"{name} {text.epsilon(g, 4)}" for name, g in told.items())
    look.draw_figure(figure, "readings", retold(f"{values}."))
    moved = [f"ε {text.epsilon(g, 4)} (δ = {d:.0e})" for d, g in by_delta.items()]
    st.caption(_say("by_delta", values="; ".join(moved)))


@lru_cache(maxsize=64)
def _read(
    plan: DPSGD, delta: float, records: int
) -> tuple[Mapping[str, Guarantee], Mapping[float, Guarantee]]:
    told = readings(plan, delta=delta, records=records, of_one=_OF_ONE)
    return told, {moved: plan.guarantee(delta=moved) for moved in _DELTAS}


def condition_value(answers: Answers, name: str) -> float:
    """What a condition names: T, delta, a kind of run, or something of an accountant.

    Of an accountant: `epsilon`; `times`, its epsilon over the certified one; `misses`, the share of
    the certified epsilon that it does not see; `more`, what the orders of a tool add to Rényi DP;
    or the order or moment that it chose. NaN where it has no theorem.
    """
    run, (who, _, what) = answers.scenario, name.partition("_")
    plain = {"T": answers.here, "delta": run.delta}
    plain["gaussian"] = run.mechanism == "gaussian"
    plain |= {sampling: run.sampling == sampling for sampling in SAMPLINGS}
    if name in plain:
        return plain[name]
    if what == "more":
        return _more(answers, ORDERS[who])
    theirs, measure = _guarantee(answers, who), _guarantee(answers, REFERENCE)
    if theirs is None or measure is None:
        return math.nan
    if what not in ("times", "misses"):
        return theirs.epsilon if what == "epsilon" else theirs.details.get(what, math.nan)
    certified = text.is_certified(measure)
    base = text.floor(measure) if certified else measure.epsilon
    comparable = 0 < base < math.inf and 0 < theirs.epsilon < math.inf
    times = theirs.epsilon / base if comparable else 1.0
    return times if what == "times" else max(1 - times, 0.0) * certified


def _guarantee(answers: Answers, accountant: str) -> Guarantee | None:
    """The accountant's guarantee, or that claim; nothing where it has no theorem."""
    if accountant in answers.readings:
        return answers.readings[accountant]
    asked = answers.scenario, (answers.here,)
    if accountant == "claim":
        return next(iter(confirmation.claimed_curve(*asked)), None)
    return next(iter(confirmation.answer_of(accountant, *asked).curve), None)


def _more(answers: Answers, orders: tuple[float, ...]) -> float:
    """What some orders cost; 0 unless the best of all is not among them."""
    rdp = _guarantee(answers, "rdp")
    if rdp is None or not 0 < rdp.epsilon < math.inf or 1.1 <= rdp.details["order"] <= 63:
        return 0.0
    coarse = confirmation.answer_of("rdp", answers.scenario, (answers.here,), orders=orders)
    return coarse.curve[0].epsilon / rdp.epsilon - 1


def warnings_of(answers: Answers) -> list[str]:
    """What goes wrong at this run, one sentence each."""
    told = []
    for name, condition in REGIMES.items():
        asked = _parsed(condition)
        if asked(**{of: condition_value(answers, of) for of in asked.names}):
            values = {}
            for _, hole, _, _ in Formatter().parse(_say[f"regimes.{name}.says"]):
                if hole:
                    value, share = (
                        condition_value(answers, hole),
                        hole.endswith(("_misses", "_more")),
                    )
                    number = f"{value:.4g}" if hole == "rdp_order" else text.bound(value)
                    values[hole] = f"{text.rounded(100 * value, 2)}\u00a0%" if share else number
            says = _say(f"regimes.{name}.says", **values)
            told.append(f"**{_say(f'regimes.{name}.tool')}** {says}")
    return told


_parsed = lru_cache(maxsize=len(REGIMES))(parse)
