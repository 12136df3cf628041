"""Answers to questions, never more of them than the plan allows."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dplearn.ground import validate
from dplearn.pate.plan import PATE
from dplearn.pate.votes import Votes

NO_ANSWER = -1


class Aggregator:
    """Answers what the teachers' votes say, until the plan is used up.

    One object serves one set of private data: its counters are what makes the guarantee true. Once
    all answers are given, or all questions asked, it looks at no further vote. Floating-point
    noise, as everywhere here, is teaching-grade.

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
        """Whether another question would be looked at."""
        return self.answered < self.plan.answers and self.asked < (self.plan.queries or 0)

    def answer(self, votes: Votes) -> NDArray[np.int64]:
        """The winner of each query in turn, or `NO_ANSWER`, shape (queries,)."""
        validate.instance(Votes, votes=votes)
        labels = np.full(votes.queries, NO_ANSWER)
        for i, counts in enumerate(votes.counts):
            if not self.open:
                break
            # Counted before anything is released: who interrupts has paid.
            self.asked += 1
            if not self._agreed(counts):
                continue
            self.answered += 1
            labels[i] = np.argmax(counts + self._noise(counts.size))
        return labels

    def _agreed(self, counts: NDArray) -> bool:
        """Whether the largest count passes the noisy check, if there is one."""
        if self.plan.check_std is None or self.plan.threshold is None:
            return True
        return counts.max() + self._rng.normal(0.0, self.plan.check_std) >= self.plan.threshold

    def _noise(self, size: int) -> NDArray:
        draw = self._rng.laplace if self.plan.noise == "laplace" else self._rng.normal
        return draw(0.0, self.plan.noise_std, size)
