"""Questions, answers, and what it means that two answers contradict each other."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from support import oracles

from dplearn import Composed, accountants
from dplearn.mechanisms import Mechanism

PLD = accountants["pld"]
# Two exact values may differ by the rounding of their root searches.
ROUNDING = 1e-12


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

    points: int = 0
    seconds: float = 0.0
    widths: list[float] = field(default_factory=list)  # of brackets, relative
    exact_ones: int = 0
    one_sided: int = 0
    warned: int = 0
    violations: list[str] = field(default_factory=list)

    def ask(self, question: Question, accountant=None) -> Answer:
        return self.curve(question, [question.steps], accountant)[0]

    def curve(self, question: Question, steps: list[int], accountant=None) -> list[Answer]:
        """Answers for many numbers of steps in one call; `question.steps` is ignored."""
        accountant = accountant or PLD()
        found = accountant.epsilon_curve(
            question.mechanism, delta=question.delta, steps=steps, adjacency=question.adjacency
        )
        each = [
            Question(question.mechanism, int(t), question.delta, question.adjacency) for t in steps
        ]
        source = repr(accountant) if len(steps) == 1 else f"{accountant!r}{list(map(int, steps))}"
        answers = [Answer(q, source, g.lower, g.epsilon) for q, g in zip(each, found, strict=True)]
        if isinstance(accountant, PLD):
            self._count(answers)
        return answers

    def _count(self, answers: list[Answer]) -> None:
        self.points += len(answers)
        for a in answers:
            if not 0 <= a.lower <= a.upper:
                self.violations.append(f"not an interval: {a}")
            elif a.lower == a.upper:
                self.exact_ones += 1
            elif a.lower > 0 and math.isfinite(a.upper):
                self.widths.append((a.upper - a.lower) / a.upper)
            else:
                self.one_sided += 1

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
