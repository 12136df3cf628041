"""Plan of a PATE aggregation, fixed before the first query, and an aggregator that obeys it."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dplearn.accountants import Accountant, accountant_of
from dplearn.accountants._runs import MOST_RUNS
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.mechanisms import Composed, Gaussian
from dplearn.pate.votes import Votes
from dplearn.statement import HasGuarantee

NO_ANSWER = -1
_UNIT = (
    "neighbours differ in the data of one teacher: one record more or less, or one user, if a "
    "public rule gives each of them to one part; who reaches m teachers changes m votes"
)
_CAPPED = "no more is asked and answered than the plan allows"


@dataclass(frozen=True, kw_only=True)
class PATE(HasGuarantee):
    """Public plan of a PATE aggregation of votes: GNMax or Confident-GNMax.

    A query is answered by the class with the largest noisy count. With `check_std` it is answered
    only if the largest count, plus noise of that deviation, reaches `threshold`; the guarantee
    counts the check of every query asked, answered or not.

    Parameters
    ----------
    answers : int >= 0, largest number of queries that are answered
    noise_std : float > 0, of the Gaussian noise on every count
    queries : int >= `answers`, the default, largest number of queries that are asked
    threshold : float, any number of votes; given together with check_std
    check_std : float > 0, standard deviation of the noise on the largest count

    Examples
    --------
    >>> plan = PATE(queries=640, answers=286, noise_std=40, threshold=200, check_std=150)
    >>> print(plan.guarantee(delta=1e-5))
    epsilon <= 2.543 at delta = 1.0e-05, add_remove, by pld
    """

    unit: ClassVar[str] = "the data of one teacher"
    releases: ClassVar[Mapping[str, str]] = {
        "answers": "every answer, and which queries got none; their epsilon is at most that of "
        "all noisy counts",
        "student": "a student taught by the answers; its epsilon is at most theirs",
    }

    answers: int
    noise_std: float
    queries: int | None = None
    threshold: float | None = None
    check_std: float | None = None

    def __post_init__(self) -> None:
        validate.integer(minimum=0, maximum=MOST_RUNS, answers=self.answers)
        queries = self.answers if self.queries is None else self.queries
        validate.integer(minimum=self.answers, maximum=MOST_RUNS, queries=queries)
        object.__setattr__(self, "queries", queries)
        validate.scale(noise_std=self.noise_std)
        if (self.threshold is None) != (self.check_std is None):
            got = f"threshold={self.threshold!r} and check_std={self.check_std!r}"
            raise ValueError(f"Expected threshold and check_std together or neither, got {got}.")
        if self.check_std is not None and self.threshold is not None:
            validate.scale(check_std=self.check_std)
            validate.between(-1e9, 1e9, threshold=self.threshold)

    @property
    def composed(self) -> Composed:
        """Mechanism that releases all noisy counts and checks; the answers follow from them."""
        # A moved vote changes two counts by one each: their L2 distance is sqrt(2).
        released: Any = Gaussian(self.noise_std / math.sqrt(2)), self.answers
        checks: Any = [(Gaussian(self.check_std), self.queries)] if self.check_std else []
        return Composed([released, *checks])

    def guarantee(self, accountant: Accountant | str = "pld", *, delta: float) -> Guarantee:
        """Return the guarantee to publish, an upper bound on epsilon for any votes and queries.

        It is that of the noisy counts, whose winners leak no more. ``add_remove`` stands for a
        change of one teacher's data.
        """
        stated = accountant_of(accountant).epsilon(self.composed, delta=delta)
        kind = "approximate" if stated.kind == "approximate" else "upper"
        notes = (_UNIT, _CAPPED, *stated.assumptions)
        return dataclasses.replace(stated, kind=kind, lower=0.0, assumptions=notes)


class Aggregator:
    """Aggregator of votes that returns noisy winners, as many as the plan allows.

    Use one object per private data set: its counters enforce the guarantee. After the last answer
    or query that the plan allows, it reads no further vote. Its floating-point noise is
    for teaching.

    Parameters
    ----------
    plan : PATE
    rng : numpy.random.Generator

    Examples
    --------
    >>> plan = PATE(answers=2, noise_std=1.0)
    >>> aggregator = Aggregator(plan, rng=np.random.default_rng(0))
    >>> aggregator.answer(Votes([[240, 10], [10, 240], [240, 10]])).tolist()
    [0, 1, -1]
    """

    def __init__(self, plan: PATE, *, rng: Generator) -> None:
        validate.instance(PATE, plan=plan)
        validate.instance(Generator, rng=rng)
        self.plan, self._rng = plan, rng
        self.asked = self.answered = 0

    @property
    def open(self) -> bool:
        """Whether the plan allows another query."""
        return self.answered < self.plan.answers and self.asked < (self.plan.queries or 0)

    def answer(self, votes: Votes) -> NDArray[np.int64]:
        """Return the noisy winner of each query, or `NO_ANSWER`, shape (queries,)."""
        validate.instance(Votes, votes=votes)
        labels = np.full(votes.queries, NO_ANSWER)
        for i, counts in enumerate(votes.counts):
            if not self.open:
                break
            # Count the query before any release, so that an interrupted query counts, too.
            self.asked += 1
            if self.plan.check_std is not None and self.plan.threshold is not None:
                largest = counts.max() + self._rng.normal(0.0, self.plan.check_std)
                if largest < self.plan.threshold:
                    continue
            self.answered += 1
            labels[i] = np.argmax(counts + self._rng.normal(0.0, self.plan.noise_std, counts.size))
        return labels
