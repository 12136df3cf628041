"""Teachers who vote on drawn digits, and what their noisy answers cost."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dplearn.accountants.pld import PLD
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.core.guarantee import round_up
from dplearn.pate import NO_ANSWER, PATE, SHIPPED, Aggregator, Votes, read_votes, shipped_votes
from dplearn.pate.as_printed import printed_rdp
from dplearn.pate.at_these_votes import ORDERS, divergences, laws
from dplearn.teaching.explorer.kit import controls, look, questions
from dplearn.teaching.explorer.kit.fields import DELTA, Words, by_key
from dplearn.teaching.explorer.kit.language import retold
from dplearn.teaching.explorer.kit.state import State, Values, idle, load, save
from dplearn.teaching.figures.prices import histogram, price_lines

_say = Words("pate")
TITLE, GROUP, ORDER = _say["title"], "Systems", 50

TEACHERS = _say.selection("teachers", {str(n): str(n) for n in SHIPPED}, default="250")
QUERIES = _say.quantity("queries", 300, 10, 1000, whole=True)
ANSWERS = _say.quantity("answers", 200, 1, 1000, whole=True)
FIELDS = (
    TEACHERS,
    _say.quantity("noise_std", 40, 5, 400),
    _say.selection("check", segments=True),
    _say.quantity("threshold", 200, 10, 1000, whole=True),
    _say.quantity("check_std", 150, 10, 1000),
    QUERIES,
    ANSWERS,
    DELTA,
)
_IDLE = idle({"check": {"every": ("threshold", "check_std"), "agreed": ()}})

# Places along the answers where epsilon is computed, and orders of exact divergences.
_POINTS, _FEW = 7, ORDERS[::6]
# Queries that are answered, and different rows that are looked at, in one piece.
_ROWS, _PIECE = 2**16, 64


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
        part, aggregator = ask(_answered, aggregator, votes.counts[start : start + _ROWS])
        labels.append(part)
    labels = np.concatenate(labels)
    given, asked = labels != NO_ANSWER, np.arange(votes.queries) < aggregator.asked
    if not given.any():
        raise ValueError(_say.said("unanswered"))
    answers = np.unique(np.linspace(1, given.sum(), _POINTS).astype(int))
    ends = np.flatnonzero(given)[answers - 1] + 1
    printed, exact = _at_votes(votes.counts[: ends[-1]], ends, plan, ask, tell)
    public = plan.guarantee(delta=delta)
    least = lambda orders, rdp: rdp_to_epsilon(orders, rdp, delta=delta).min(axis=1)
    epsilons = {"public": np.full(answers.size, public.epsilon)}
    epsilons |= {"printed": least(ORDERS, printed), "exact": least(_FEW, exact)}
    found = PLD().true_positive_rate(plan.composed, false_positive_rate=0.01)[1]
    return Replay(
        teachers=votes.teachers,
        largest=_largest(votes, labels, digits, asked & ~given),
        answers=answers,
        epsilons=epsilons,
        found=float(found),
        assumptions=public.assumptions,
    )


def _answered(aggregator: Aggregator, counts: NDArray) -> tuple[NDArray, Aggregator]:
    """Answers to some queries, and the aggregator after them."""
    return aggregator.answer(Votes(counts)), aggregator


def _largest(
    votes: Votes, labels: NDArray, digits: NDArray | None, refused: NDArray
) -> dict[str, NDArray]:
    """Votes for the favourites of the queries that were asked, by what became of them."""
    favourite, given = votes.counts.max(axis=1), labels != NO_ANSWER
    if digits is None:
        return {"given": favourite[given], "none": favourite[refused]}
    right = labels == digits[: votes.queries]
    told = {"right": given & right, "wrong": given & ~right, "none": refused}
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
_BINS = 26


def render() -> None:
    """Controls, one sentence, votes beside what answers cost, the assumptions.

    While a slider moves, the sentence and the pictures are the last ones.
    """
    state = load("pate", lambda _: State(by_key(*FIELDS), _hidden))
    with st.sidebar:
        # Above the file, which says how many queries there are, and whose votes they are.
        above = st.container()
        votes = _votes_of_a_file()
        most = 1000 if votes is None else votes.queries
        ranged = lambda kind: replace(kind, lower=1, upper=most)
        kinds = [ranged(kind) if kind in (QUERIES, ANSWERS) else kind for kind in FIELDS]
        with above:
            controls.draw(state, _say, kinds)
    save(state)
    question = _question(state, votes)
    last = st.session_state.get(_LAST)
    try:
        if last is None or (last[1:] != question and not state.moving):
            st.session_state[_LAST] = (_replayed(votes, *question), *question)
    except questions.Refused:
        raise
    except ValueError as error:
        st.warning(retold(str(error)), icon=":material/info:")
        return
    told, _, plan, _ = st.session_state[_LAST]
    st.container(key="words").markdown(_sentence(told))
    look.pair(_asked(told, plan.threshold), _spent(told))
    with look.people_below(_say("whose"), told.found):
        look.assumptions(told.assumptions, _say("members"))


def _hidden(values: Values) -> set[str]:
    """Keys of controls that do not count: shipped votes beside the reader's, a check not made."""
    return {*_IDLE(values)} | ({"teachers"} if _OWN in st.session_state else set())


def _votes_of_a_file() -> Votes | None:
    """What the reader's file holds; it is forgotten with the file."""
    key = f"file_{st.session_state.get(_GONE, 0)}"
    file = st.file_uploader(_say("file"), ["npy", "csv"], key=key, help=_say("file_help"))
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
        raise ValueError(_say.said("counts", most=_MOST, given=votes.counts.size))
    return votes


def _replayed(votes: Votes | None, source: str, plan: PATE, delta: float) -> Replay:
    """The replay of a question; of the reader's own votes with a bar, and a way to stop it."""
    if votes is None:
        return questions.ask(shipped, source, plan, delta)
    place = st.empty()
    with place.container():
        whole = round_up(plan.guarantee(delta=delta).epsilon)
        st.markdown(_say("publish", whole=whole))
        bar = st.progress(0.0, _say("voting"))
        gone = {_GONE: st.session_state.get(_GONE, 0) + 1}
        st.button(_say("stop"), on_click=st.session_state.update, args=(gone,))
        tell = lambda done, of: bar.progress(done / of, _say("progress", done=done, of=of))
        told = replay(votes, None, plan, delta, questions.once, tell)
    place.empty()
    return told


def _question(state: State, votes: Votes | None) -> tuple[str, PATE, float]:
    """Whose votes, the plan and delta."""
    values = state.values
    queries = min(values["queries"], 1000 if votes is None else votes.queries)
    answers, noise_std = min(values["answers"], queries), values["noise_std"]
    plan = PATE(answers=answers, noise_std=noise_std, queries=answers)
    if values["check"] == "agreed":
        threshold, check_std = values["threshold"], values["check_std"]
        plan = replace(plan, queries=queries, threshold=threshold, check_std=check_std)
    source = values["teachers"] if votes is None else st.session_state[_OWN][0]
    return source, plan, values["delta"]


def _asked(told: Replay, threshold: float | None) -> tuple[Any, str, str]:
    """What became of the queries, by the votes of their favourites."""
    largest = {_say(f"became.{name}"): votes for name, votes in told.largest.items()}
    every = np.concatenate([*largest.values()])
    title = _say("agree", share=100 * np.sum(every >= 0.9 * told.teachers) / every.size)
    counts = ", ".join(f"{name}: {len(votes)}" for name, votes in largest.items())
    figure = histogram(
        largest,
        np.linspace(0, told.teachers, _BINS),
        finding=title,
        axes=(_say("votes"), _say("number")),
        roles=("second", *("wrong",) * (len(largest) == 3), "quiet"),
        limits=[("T", threshold)],
    )
    return figure, "votes", _say("votes_alt", title=title, counts=counts)


def _spent(told: Replay) -> tuple[Any, str, str]:
    """What answers cost, by how it is stated."""
    epsilons = {_say(f"ways.{name}"): values for name, values in told.epsilons.items()}
    figure = price_lines(
        told.answers,
        epsilons,
        finding=_say("keep"),
        axes=(_say("answered"), "ε"),
        roles=("safe", "guess", "exact"),
        dashed=("guess", "exact"),
    )
    ends = ", ".join(f"{name} {values[-1]:.3g}" for name, values in epsilons.items())
    return figure, "spent", _say("spent_alt", ends=ends)


def _sentence(told: Replay) -> str:
    """What was answered, how well, and at which price for whom."""
    public, printed, exact = (values[-1] for values in told.epsilons.values())
    given = int(told.answers[-1])
    first = _say("given", answers=given)
    if "right" in told.largest:
        first = _say("given_right", answers=given, share=100 * told.largest["right"].size / given)
    rest = _say("secret", printed=printed, exact=round_up(exact, 3))
    return f"{first} {_say('publish', whole=round_up(public))} {rest}"
