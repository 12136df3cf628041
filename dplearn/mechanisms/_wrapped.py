"""What mechanisms share that run another one on a part of the records."""

from dataclasses import dataclass
from typing import ClassVar

from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms.gaussian import Gaussian


@dataclass(frozen=True)
class Wrapped(Mechanism):
    """A mechanism inside another: its assumptions hold too, and nothing hides what it shows."""

    base: Mechanism

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (*self.conditions, *self.base.assumptions)

    def require_theorem(self, adjacency: Adjacency) -> None:
        super().require_theorem(adjacency)
        self.base.require_theorem(adjacency)

    def dominating(self, adjacency: Adjacency) -> Mechanism:
        """A mechanism that leaks no less: sampling never hurts."""
        return self.base

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """rho of what dominates it: zCDP cannot see that sampling helps."""
        return self.dominating(adjacency).zcdp(adjacency)

    def no_privacy(self) -> str:
        return self.base.no_privacy()


@dataclass(frozen=True)
class Sampled(Wrapped):
    """`base` on a sample of the records, drawn afresh for every run."""

    sample_rate: float

    def __post_init__(self) -> None:
        validate.instance(Mechanism, base=self.base)
        validate.rate(sample_rate=self.sample_rate)
        if self.base.only_for:
            only = f"{type(self.base).__name__}, which is about {self.base.only_for}"
            raise ValueError(f"Expected base to hold for all neighbours, got {only}.")
        if len(self.base.parts()) != 1 or self.base.parts()[0][0] is not self.base:
            raise ValueError("Expected base to be one mechanism, got a composition.")


@dataclass(frozen=True)
class Epoch(Wrapped):
    """A Gaussian on every batch of an epoch, all batches drawn at once.

    The profile of `base` bounds one epoch from above: that of a batch known to everybody.
    """

    base: Gaussian
    batches: int

    no_outputs: ClassVar[str] = "one epoch releases a vector per batch, not one number"

    def __post_init__(self) -> None:
        validate.instance(Gaussian, base=self.base)
        validate.integer(minimum=1, batches=self.batches)

    @property
    def attained(self) -> bool:
        return self.batches == 1
