"""Teachers who vote on drawn digits, and what their noisy answers cost."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.app.kit import controls, look, questions
from dplearn.app.kit.fields import Choice, Quantity, by_key
from dplearn.app.kit.language import retold, translated
from dplearn.app.kit.people import people
from dplearn.app.kit.run_fields import DELTA
from dplearn.app.kit.state import State, idle, load, save
from dplearn.figures.prices import histogram, price_lines
from dplearn.ground.guarantee import round_up
from dplearn.pate import NO_ANSWER, PATE, SHIPPED, Aggregator, Votes, read_votes, shipped_votes
from dplearn.pate.as_printed import printed_rdp
from dplearn.pate.at_these_votes import ORDERS, divergences
from dplearn.pate.law import laws

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


# Places along the answers where epsilon is computed, and orders of exact divergences.
_POINTS, _FEW = 7, ORDERS[::6]
# Queries that are answered, and different rows that are looked at, in one piece.
_ROWS, _PIECE = 2**16, 64
PUBLIC, PRINTED, EXACT = "public ε", "paper's ε", "proved ε"


@dataclass(frozen=True)
class Replay:
    """What became of the queries, and epsilon after some numbers of answers."""

    teachers: int
    largest: dict[str, NDArray]  # votes for the favourite, by what became of the query
    answers: NDArray
    epsilons: dict[str, NDArray]
    found: float  # share of members, at most, by an attacker with 1 % false alarms
    assumptions: tuple[str, ...]


def shipped(teachers: str, plan: PATE, delta: float) -> Replay:
    """Answers to the first of the drawn digits."""
    return replay(*shipped_votes(int(teachers)), plan, delta)


def replay(
    votes: Votes,
    digits: NDArray | None,
    plan: PATE,
    delta: float,
    ask: Callable[..., Any] = lambda function, *arguments: function(*arguments),
    tell: Callable[[int, int], object] = lambda done, of: None,
) -> Replay:
    """Answers to the first queries by one draw of the noise; ValueError if there is none.

    `digits` are the right answers, if they are known. All that takes time is left to `ask`, piece
    by piece, and `tell` hears how many of how many different rows of votes are done.
    """
    votes = votes.first(plan.queries or 1)
    aggregator, labels = Aggregator(plan, rng=np.random.default_rng(0)), []
    for start in range(0, votes.queries, _ROWS):
        aggregator, some = ask(_answered, aggregator, votes.counts[start : start + _ROWS])
        labels.append(some)
    labels = np.concatenate(labels)
    given, asked = labels != NO_ANSWER, np.arange(votes.queries) < aggregator.asked
    if not given.any():
        raise ValueError("No query was answered: lower the threshold, or ask more.")
    answers = np.unique(np.linspace(1, given.sum(), _POINTS).astype(int))
    ends = np.flatnonzero(given)[answers - 1] + 1
    printed, exact = _at_votes(votes.counts[: ends[-1]], ends, plan, ask, tell)
    public = plan.guarantee(delta=delta)
    least = lambda orders, rdp: rdp_to_epsilon(orders, rdp, delta=delta).min(axis=1)
    epsilons = {PUBLIC: np.full(answers.size, public.epsilon)}
    epsilons |= {PRINTED: least(ORDERS, printed), EXACT: least(_FEW, exact)}
    found = PLD().true_positive_rate(plan.composed, false_positive_rate=0.01)[1]
    return Replay(
        teachers=votes.teachers,
        largest=_largest(votes, labels, digits, asked & ~given),
        answers=answers,
        epsilons=epsilons,
        found=float(found),
        assumptions=public.assumptions,
    )


def _answered(aggregator: Aggregator, counts: NDArray) -> tuple[Aggregator, NDArray]:
    """The aggregator after some queries, and their answers."""
    labels = aggregator.answer(Votes(counts))
    return aggregator, labels


def _largest(
    votes: Votes, labels: NDArray, digits: NDArray | None, refused: NDArray
) -> dict[str, NDArray]:
    """Votes for the favourites of the queries that were asked, by what became of them."""
    favourite, given = votes.counts.max(axis=1), labels != NO_ANSWER
    if digits is None:
        return {"answered queries": favourite[given], "no answer": favourite[refused]}
    right = labels == digits[: votes.queries]
    told = {"right answers": given & right, "wrong answers": given & ~right, "no answer": refused}
    return {name: favourite[where] for name, where in told.items()}


def _at_votes(
    counts: NDArray, ends: NDArray, plan: PATE, ask: Callable[..., Any], tell: Callable[..., Any]
) -> tuple[NDArray, NDArray]:
    """Divergences if so many queries are asked, an end each: by Theorem 6 at `ORDERS`, exact ones.

    Queries with the same counts, in any order, cost the same: each is computed once.
    """
    rows, place = ask(_different, counts)
    often = np.array([np.bincount(place[:end], minlength=len(rows)) for end in ends])
    printed, exact = np.zeros((ends.size, ORDERS.size)), np.zeros((ends.size, 2, _FEW.size))
    for start in range(0, len(rows), _PIECE):
        tell(start, len(rows))
        piece = slice(start, start + _PIECE)
        by_paper, by_law = ask(_of_rows, rows[piece], plan)
        printed += often[:, piece] @ by_paper
        exact += np.tensordot(often[:, piece], by_law, 1)
    return printed, exact.max(axis=1)


def _different(counts: NDArray) -> tuple[NDArray, NDArray]:
    """Ranked rows that differ, and which of them each row is."""
    rows, place = np.unique(Votes(counts).ranked, axis=0, return_inverse=True)
    return rows, place.ravel()


def _of_rows(rows: NDArray, plan: PATE) -> tuple[NDArray, NDArray]:
    """Of each row the divergences by Theorem 6 and the exact ones, there and back."""
    exact = []
    for row in rows:
        law = laws(row, plan)
        # What computed logarithms may be off by.
        exact.append(divergences(law, _FEW) + 2 * law.error * _FEW / (_FEW - 1))
    return printed_rdp(rows, plan), np.array(exact)


_MOST = 2**23
# Names in the session: the last replay and its question, the reader's votes, how many files went.
_LAST, _OWN, _GONE = "pate_replay", "pate_votes", "pate_gone"
_PURPOSE = (
    "Nobody trains on private records but the teachers, each on a part of them. A student asks; "
    "they vote, and only the winner of the noisy counts is told."
)

_ABOUT_FILE = (
    "A .npy or .csv file with a row for each query: how many teachers voted for each class. Every "
    "row has the same sum, the number of teachers."
)
_PROGRESS = "What these votes make of ε: {done} of {of} different rows of counts"
_GIVEN = "**{answers} answers.**"
_RIGHT = "**{answers} answers, {share:.1f}\u00a0% of them right.**"
_WHOLE = "**ε\u00a0≤\u00a0{whole}** may be published, however the teachers voted."
_SECRET = (
    "From these votes the paper's theorem would print {printed:.3g}, and ε\u00a0≤\u00a0{exact} is "
    "proved: keep both secret, they depend on votes."
)
_MEMBERS = (
    "A member is one whose records taught a teacher. The attacker sees every answer of the plan, "
    "and knows all other records."
)
_AGREE = "90\u00a0% of teachers agree on {share:.0f}\u00a0% of queries"
_VOTES = "Queries by the votes of their favourite. {title}. {counts}."
_BINS = 26
_COLUMNS = {"axes": ("votes for the favourite", "queries")}
_LINES = {"roles": ("safe", "guess", "exact"), "dashed": ("guess", "exact")}
_LINES["axes"] = ("answers given", "ε")
_SPENT = "Epsilon against answers given, one line for each way to state it; at the end: {ends}."


def render() -> None:
    """Controls, one sentence, votes beside what answers cost, the assumptions.

    While a slider moves, the sentence and the pictures are the last ones.
    """
    entered = load("pate", state)
    with st.sidebar:
        st.markdown(translated("**dplearn** · teachers who vote"), help=translated(_PURPOSE))
        # Above the file, which says how many queries there are.
        above = st.container()
        votes = _votes_of_a_file()
        with above:
            question = _sidebar(entered, votes)
    save(entered)
    last = st.session_state.get(_LAST)
    try:
        if last is None or (last[1:] != question and not entered.moving):
            st.session_state[_LAST] = (_replayed(votes, *question), *question)
    except questions.Refused:
        raise
    except ValueError as error:
        st.warning(retold(str(error)), icon=":material/info:")
        return
    told, _, plan, _ = st.session_state[_LAST]
    st.container(key="words").markdown(_sentence(told))
    _pictures(told, plan.threshold)
    left, right = look.below()
    with left:
        st.markdown(translated("**Whose records did the teachers learn from?**"))
        people(told.found)
    with right:
        look.assumptions(told.assumptions, translated(_MEMBERS))


def _votes_of_a_file() -> Votes | None:
    """What the reader's file holds; it is forgotten with the file."""
    label, key = translated("Votes of your own"), f"file_{st.session_state.get(_GONE, 0)}"
    file = st.file_uploader(label, ["npy", "csv"], key=key, help=translated(_ABOUT_FILE))
    if file is None:
        st.session_state.pop(_OWN, None)
        return None
    if st.session_state.get(_OWN, ("",))[0] != file.file_id:
        st.session_state.pop(_OWN, None)
        try:
            votes = questions.once(_read, file.getvalue())
        except (ValueError, TypeError) as error:
            st.error(retold(str(error)), icon=":material/error:")
            return None
        st.session_state[_OWN] = file.file_id, votes
    return st.session_state[_OWN][1]


def _read(data: bytes) -> Votes:
    """Votes in a file; they stay in the session, and are no more than a large .npy file holds."""
    votes = read_votes(io.BytesIO(data))
    if votes.counts.size > _MOST:
        raise ValueError(f"Expected at most {_MOST} counts, got {votes.counts.size}.")
    return votes


def _replayed(votes: Votes | None, source: str, plan: PATE, delta: float) -> Replay:
    """The replay of a question; of the reader's own votes with a bar, and a way to stop it."""
    if votes is None:
        return questions.ask(shipped, source, plan, delta)
    place = st.empty()
    with place.container():
        whole = round_up(plan.guarantee(delta=delta).epsilon)
        st.markdown(translated(_WHOLE, whole=whole))
        bar = st.progress(0.0, translated("The teachers vote …"))
        st.button(translated("Stop, and let the file go"), on_click=_let_go)
        tell = lambda done, of: bar.progress(done / of, translated(_PROGRESS, done=done, of=of))
        told = replay(votes, None, plan, delta, questions.once, tell)
    place.empty()
    return told


def _let_go() -> None:
    st.session_state[_GONE] = st.session_state.get(_GONE, 0) + 1


def _sidebar(state: State, votes: Votes | None) -> tuple[str, PATE, float]:
    """All controls, and what they describe: whose votes, the plan and delta."""
    if votes is None:
        controls.choice(state, TEACHERS)
    controls.quantity(state, NOISE)
    controls.choice(state, CHECK, widget="segments")
    checked = state.values["check"] == "agreed"
    for kind in (THRESHOLD, CHECK_STD) if checked else ():
        controls.quantity(state, kind)
    most = 1000 if votes is None else votes.queries
    for kind in (QUERIES, ANSWERS):
        controls.quantity(state, replace(kind, lower=1, upper=most))
    controls.quantity(state, DELTA)
    values = state.values
    queries = min(values["queries"], most)
    answers = min(values["answers"], queries)
    check = {"threshold": values["threshold"], "check_std": values["check_std"]}
    check = {"queries": queries, **check} if checked else {"queries": answers}
    plan = PATE(answers=answers, noise_std=values["noise_std"], **check)
    source = values["teachers"] if votes is None else st.session_state[_OWN][0]
    return source, plan, values["delta"]


def _pictures(told: Replay, threshold: float | None) -> None:
    """What became of the queries, beside what answers cost."""
    left, right = look.pair()
    with left.container(key="pair_votes"):
        every = np.concatenate([*told.largest.values()])
        share = 100 * np.sum(every >= 0.9 * told.teachers) / every.size
        title = translated(_AGREE, share=share)
        counts = ", ".join(f"{name}: {len(votes)}" for name, votes in told.largest.items())
        edges = np.linspace(0, told.teachers, _BINS)
        roles = ("second", *("wrong",) * (len(told.largest) == 3), "quiet")
        look_of = {**_COLUMNS, "roles": roles, "limits": [("T", threshold)]}
        figure = histogram(told.largest, edges, finding=title, **look_of)
        look.chart(figure, "votes", translated(_VOTES, title=title, counts=retold(counts)))
    with right.container(key="pair_spent"):
        title = translated("Keep the dashed lines secret")
        ends = ", ".join(f"{name} {values[-1]:.3g}" for name, values in told.epsilons.items())
        figure = price_lines(told.answers, told.epsilons, finding=title, **_LINES)
        look.chart(figure, "spent", translated(_SPENT, ends=retold(ends)))


def _sentence(told: Replay) -> str:
    """What was answered, how well, and at which price for whom."""
    public, printed, exact = (told.epsilons[name][-1] for name in (PUBLIC, PRINTED, EXACT))
    given = int(told.answers[-1])
    first = translated(_GIVEN, answers=given)
    if "right answers" in told.largest:
        first = translated(
            _RIGHT, answers=given, share=100 * told.largest["right answers"].size / given
        )
    rest = translated(_SECRET, printed=printed, exact=round_up(exact, 3))
    return f"{first} {translated(_WHOLE, whole=round_up(public))} {rest}"
