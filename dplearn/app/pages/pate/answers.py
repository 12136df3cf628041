"""One replay of the teachers' answers, and its epsilon as it grows, stated in three ways."""

from dataclasses import dataclass, replace
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
    public: float  # epsilon of the plan
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
    epsilons = _epsilons(votes, plan, delta, answers, ends)
    return Replay(largest, answers, epsilons, public.epsilon, public.assumptions)


def _epsilons(
    votes: Votes, plan: PATE, delta: float, answers: NDArray, ends: NDArray
) -> dict[str, NDArray]:
    """Epsilon had the plan ended after each of these answers, in three ways."""
    plans = [
        replace(plan, answers=int(n), queries=int(m)) for n, m in zip(answers, ends, strict=True)
    ]
    public = [plan.guarantee(delta=delta).epsilon for plan in plans]
    printed = [as_printed(votes.first(int(m)), plan, delta=delta).epsilon for m in ends]
    orders, total, exact = ORDERS[::_SPARSE], 0.0, []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        total = total + at_these_votes(Votes(votes.counts[start:end]), plan).rdp(orders)
        exact.append(float(rdp_to_epsilon(orders, total, delta=delta).min()))
    return {PUBLIC: np.array(public), PRINTED: np.array(printed), EXACT: np.array(exact)}
