"""Questions, answers, and what it means that two answers contradict each other."""

import math
import time
from dataclasses import dataclass, field
from typing import ClassVar

from support import oracles

from dplearn import ACCOUNTANTS, Composed
from dplearn.mechanisms import Mechanism

PLD = ACCOUNTANTS["pld"]
# Two exact values may differ by the rounding of their root searches.
ROUNDING = 1e-12
# Of arguments that are no root searches.
MARGIN = 1e-9
# CPU seconds from which on an answer comes too late.
SLOW = 2.0


@dataclass(frozen=True)
class Opaque(Mechanism):
    """A mechanism of which only the profiles are seen, so that the lattice has to answer."""

    base: Mechanism
    name: ClassVar[str] = "opaque"

    def _profiles(self, adjacency):
        return self.base.profiles(adjacency)

    def _rdp(self, orders, adjacency):
        return self.base.rdp(orders, adjacency=adjacency)

    @property
    def attained(self) -> bool:
        return self.base.attained

    @classmethod
    def examples(cls):
        return ()


def blind(mechanism: Mechanism) -> Mechanism:
    """The mechanism, or every part of a list, seen through its profiles only."""
    return Composed([(Opaque(part), count) for part, count in mechanism.parts()])


@dataclass(frozen=True)
class Question:
    mechanism: Mechanism
    steps: int
    delta: float
    adjacency: str = "add_remove"

    def __str__(self) -> str:
        return (
            f"epsilon({self.mechanism!r}, steps={self.steps}, delta={self.delta!r}, "
            f"adjacency={self.adjacency!r})"
        )


@dataclass(frozen=True)
class Answer:
    question: Question
    source: str
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"[{self.lower:.15g}, {self.upper:.15g}] {self.source}.{self.question}"


@dataclass
class Case:
    """What one random case was asked, and what contradicts what."""

    answers: list[tuple[Answer, float]] = field(default_factory=list)  # and CPU seconds of each
    slow: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def ask(self, question: Question, accountant=None) -> Answer:
        return self.curve(question, [question.steps], accountant)[0]

    def curve(self, question: Question, steps: list[int], accountant=None) -> list[Answer]:
        """Answers for many numbers of steps in one call; `question.steps` is ignored."""
        accountant, start = accountant or PLD(), time.thread_time()
        bounds = accountant.epsilon_curve(
            question.mechanism, delta=question.delta, steps=steps, adjacency=question.adjacency
        )
        seconds = time.thread_time() - start
        each = [
            Question(question.mechanism, int(t), question.delta, question.adjacency) for t in steps
        ]
        source = repr(accountant) if len(steps) == 1 else f"{accountant!r}{list(map(int, steps))}"
        answers = [Answer(q, source, g.lower, g.epsilon) for q, g in zip(each, bounds, strict=True)]
        if seconds > SLOW * len(answers):
            self.slow.append(f"{seconds:.1f} s: {answers[-1]}")
        for a in answers:
            if not 0 <= a.lower <= a.upper:
                self.violations.append(f"not an interval: {a}")
        if isinstance(accountant, PLD):
            self.answers += [(a, seconds / len(answers)) for a in answers]
        return answers

    def ordered(self, less: Answer, more: Answer, why: str) -> None:
        """The truth behind `less` is at most that behind `more`."""
        if less.lower > more.upper * (1 + ROUNDING):
            excess = less.lower / more.upper - 1 if more.upper > 0 else math.inf
            self.violations.append(f"{why}, by {excess:.1e}:\n    {less}\n    {more}")

    def agree(self, one: Answer, other: Answer, why: str) -> None:
        """Both are about the same truth."""
        self.ordered(one, other, why)
        self.ordered(other, one, why)

    def increasing(self, answers: list[Answer], why: str) -> None:
        """Truths in increasing order: every pair, not only neighbours."""
        for i, less in enumerate(answers):
            for more in answers[i + 1 :]:
                self.ordered(less, more, why)

    def at_least(self, answer: Answer, value: float, why: str) -> None:
        """The truth is at least this."""
        if value > answer.upper * (1 + MARGIN) + MARGIN:
            self.violations.append(f"{why} alone proves {value:.9g}: {answer}")

    def at_most(self, answer: Answer, value: float, why: str) -> None:
        """The truth is at most this."""
        if answer.lower > value * (1 + MARGIN):
            self.violations.append(f"{why} proves {value:.9g} to be enough: {answer}")

    def exact(
        self, answer: Answer, log_delta: oracles.LogDelta, slack: float = oracles.SLACK
    ) -> None:
        """The oracle's delta is at most the one asked for at the upper end, and at least below."""
        wanted = math.log(answer.question.delta)
        upper = answer.upper * (1 + ROUNDING)
        if math.isfinite(upper) and (found := log_delta(upper)) > wanted + slack:
            self.violations.append(f"too small, delta is e^{found - wanted:.2g} as big: {answer}")
        lower = answer.lower * (1 - ROUNDING)
        if lower > 0 and (found := log_delta(lower)) < wanted - slack:
            self.violations.append(f"lower end too large, e^{found - wanted:.2g}: {answer}")
