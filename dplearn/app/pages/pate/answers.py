"""One replay of the teachers' answers: the plan's epsilon, and what votes would make of it."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.pate import NO_ANSWER, PATE, Aggregator, Votes, at_these_votes, shipped_votes
from dplearn.pate.as_printed import as_printed
from dplearn.pate.at_these_votes import ORDERS

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
    epsilons = {PUBLIC: np.full(answers.size, public.epsilon)}
    epsilons |= _private(votes, plan, delta, ends)
    return Replay(largest, answers, epsilons, public.assumptions)


def _private(votes: Votes, plan: PATE, delta: float, ends: NDArray) -> dict[str, NDArray]:
    """What the votes make of epsilon if so many queries are asked, in two ways."""
    printed = [as_printed(votes.first(int(m)), plan, delta=delta).epsilon for m in ends]
    orders, total, exact = ORDERS[::_SPARSE], 0.0, []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        total = total + at_these_votes(Votes(votes.counts[start:end]), plan).rdp(orders)
        exact.append(float(rdp_to_epsilon(orders, total, delta=delta).min()))
    return {PRINTED: np.array(printed), EXACT: np.array(exact)}
