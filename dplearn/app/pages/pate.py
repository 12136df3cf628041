"""Teachers who vote on drawn digits, and what their noisy answers cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.app.kit import controls, look, questions
from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State, idle, load, save
from dplearn.figures import histogram, price_lines
from dplearn.ground.guarantee import round_up
from dplearn.pate import NO_ANSWER, PATE, SHIPPED, Aggregator, Votes, at_these_votes, shipped_votes
from dplearn.pate.as_printed import as_printed
from dplearn.pate.at_these_votes import ORDERS

TITLE = "PATE"
GROUP = "Systems"
ORDER = 50

_ABOUT_TEACHERS = (
    "60 000 drawn digits were divided among so many teachers. More of them know less each, and "
    "their counts stand more noise."
)
TEACHERS = Choice(
    "teachers", "Teachers", _ABOUT_TEACHERS, {str(n): f"{n} teachers" for n in SHIPPED}, "250"
)
NOISE = Quantity(
    "noise_std",
    "Noise on each count σ₂ (votes)",
    "Standard deviation of the Gaussian noise on every count; the largest noisy count wins.",
    default=40,
    lower=5,
    upper=400,
)
CHECK = Choice(
    "check",
    "Answer",
    "Confident-GNMax first checks with noise whether the favourite has enough votes; every check "
    "is paid, whether or not an answer follows.",
    {"every": "every query", "agreed": "if enough agree"},
)
THRESHOLD = Quantity(
    "threshold", "Threshold T (votes)", "", default=200, lower=10, upper=1000, whole=True
)
CHECK_STD = Quantity(
    "check_std", "Noise of the check σ₁ (votes)", "", default=150, lower=10, upper=1000
)
_ABOUT_QUERIES = "How many of a thousand further digits are shown to the teachers."
QUERIES = Quantity(
    "queries", "Queries", _ABOUT_QUERIES, default=300, lower=10, upper=1000, whole=True
)
_ABOUT_ANSWERS = "The cap, fixed beforehand: after so many answers no more is asked."
ANSWERS = Quantity(
    "answers", "At most so many answers", _ABOUT_ANSWERS, 200, lower=1, upper=1000, whole=True
)


def state(address: Mapping[str, str] | None = None) -> State:
    """The page before anything is entered."""
    kinds = (TEACHERS, NOISE, CHECK, THRESHOLD, CHECK_STD, QUERIES, ANSWERS, DELTA)
    hidden = {"check": {"every": ("threshold", "check_std"), "agreed": ()}}
    return State(by_key(*kinds), idle(hidden))


# Places along the answers where epsilon is computed, and every so many orders of divergences.
_POINTS, _SPARSE = 7, 6
PUBLIC, PRINTED, EXACT = "publishable", "Theorem 6", "at these votes"


@dataclass(frozen=True)
class Replay:
    """What became of the queries, and epsilon after some numbers of answers."""

    largest: dict[str, NDArray]  # votes for the favourite, by what became of the query
    answers: NDArray
    epsilons: dict[str, NDArray]
    assumptions: tuple[str, ...]


@lru_cache(maxsize=64)
def replay(teachers: int, plan: PATE, delta: float) -> Replay:
    """Answers to the first queries by one draw of the noise; ValueError if there is none."""
    votes, digits = shipped_votes(teachers)
    votes, digits = votes.first(plan.queries or 1), digits[: plan.queries]
    aggregator = Aggregator(plan, rng=np.random.default_rng(0))
    labels = aggregator.answer(votes)
    given, right = labels != NO_ANSWER, labels == digits
    if not given.any():
        raise ValueError("No query was answered: lower the threshold, or ask more.")
    favourite, asked = votes.counts.max(axis=1), np.arange(votes.queries) < aggregator.asked
    largest = {
        "answered, right": favourite[given & right],
        "answered, wrong": favourite[given & ~right],
        "no answer": favourite[asked & ~given],
    }
    answers = np.unique(np.linspace(1, given.sum(), _POINTS).astype(int))
    ends = np.flatnonzero(given)[answers - 1] + 1
    public = plan.guarantee(delta=delta)
    # What the votes make of epsilon if so many queries are asked, in two ways.
    printed = [as_printed(votes.first(int(m)), plan, delta=delta).epsilon for m in ends]
    orders, total, exact = ORDERS[::_SPARSE], 0.0, []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        total = total + at_these_votes(Votes(votes.counts[start:end]), plan).rdp(orders)
        exact.append(float(rdp_to_epsilon(orders, total, delta=delta).min()))
    epsilons = {PUBLIC: np.full(answers.size, public.epsilon)}
    epsilons |= {PRINTED: np.array(printed), EXACT: np.array(exact)}
    return Replay(largest, answers, epsilons, public.assumptions)


_LAST = "pate_replay"
_PURPOSE = (
    "Nobody trains on private records but the teachers, each on a part of them. A student asks; "
    "they vote, and only the winner of the noisy counts is told."
)

_SENTENCE = (
    "**{answers} answers, {share:.1f}\u00a0% of them right.** Whatever the votes, the plan may be "
    "published with **ε\u00a0≤\u00a0{whole}**, however many it answered. At these votes Theorem 6 "
    "prints {printed:.3g} and exact divergences prove {exact}, which nobody may be told."
)
_VOTES = "Queries by the votes of their favourite. {title}. {counts}."
_BINS = 26
_COLUMNS = {"roles": ("second", "wrong", "quiet"), "axes": ("votes for the favourite", "queries")}
_LINES = {"roles": ("safe", "guess", "exact"), "dashed": ("guess", "exact")}
_LINES["axes"] = ("answers given", "ε")
_SPENT = "Epsilon against answers given, one line for each way to state it; at the end: {ends}."


def render() -> None:
    """Controls, one sentence, votes beside what answers cost, the assumptions.

    While a slider moves, the sentence and the pictures are the last ones.
    """
    entered = load("pate", state)
    with st.sidebar:
        question = _sidebar(entered)
    save(entered)
    try:
        if not (entered.moving and _LAST in st.session_state):
            st.session_state[_LAST] = questions.ask(replay, *question), *question
    except questions.Refused:
        raise
    except ValueError as error:
        st.warning(retold(str(error)), icon=":material/info:")
        return
    told, teachers, plan, _ = st.session_state[_LAST]
    st.container(key="words").markdown(_sentence(told))
    _pictures(told, teachers, plan.threshold)
    st.caption(retold(f"True if: {'; '.join(told.assumptions)}."))


def _sidebar(state: State) -> tuple[int, PATE, float]:
    """All controls, and what they describe."""
    st.markdown(translated("**dplearn** · teachers who vote"), help=translated(_PURPOSE))
    controls.choice(state, TEACHERS)
    controls.quantity(state, NOISE)
    controls.choice(state, CHECK, widget="segments")
    checked = state.values["check"] == "agreed"
    for kind in (THRESHOLD, CHECK_STD) if checked else ():
        controls.quantity(state, kind)
    for kind in (QUERIES, ANSWERS, DELTA):
        controls.quantity(state, kind)
    values = state.values
    answers = min(values["answers"], values["queries"])
    check = {name: values[name] for name in ("queries", "threshold", "check_std")}
    check = check if checked else {"queries": answers}
    plan = PATE(answers=answers, noise_std=values["noise_std"], **check)
    return int(values["teachers"]), plan, values["delta"]


def _pictures(told: Replay, teachers: int, threshold: float | None) -> None:
    """What became of the queries, beside what answers cost."""
    left, right = st.columns(2, gap="small")
    with left.container(key="pair_votes"):
        every = np.concatenate([*told.largest.values()])
        share = 100 * np.sum(every >= 0.9 * teachers) / every.size
        title = translated("Nine of ten teachers agree on {share:.0f}\u00a0%", share=share)
        counts = ", ".join(f"{name}: {len(votes)}" for name, votes in told.largest.items())
        edges = np.linspace(0, teachers, _BINS)
        look_of = {**_COLUMNS, "limits": [("T", threshold)]}
        figure = histogram(told.largest, edges, finding=title, **look_of)
        look.chart(figure, "votes", translated(_VOTES, title=title, counts=retold(counts)))
    with right.container(key="pair_spent"):
        title = translated("What is dashed depends on votes: tell nobody")
        ends = ", ".join(f"{name} {values[-1]:.3g}" for name, values in told.epsilons.items())
        figure = price_lines(told.answers, told.epsilons, finding=title, **_LINES)
        look.chart(figure, "spent", translated(_SPENT, ends=retold(ends)))


def _sentence(told: Replay) -> str:
    """What was answered, how well, and at which price for whom."""
    right, wrong = (len(told.largest[f"answered, {how}"]) for how in ("right", "wrong"))
    public, printed, exact = (told.epsilons[name][-1] for name in (PUBLIC, PRINTED, EXACT))
    return translated(
        _SENTENCE,
        answers=right + wrong,
        share=100 * right / (right + wrong),
        whole=round_up(public),
        printed=printed,
        exact=round_up(exact, 3),
    )
