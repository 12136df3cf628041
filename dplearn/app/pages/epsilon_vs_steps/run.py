"""From what a browser tells of a run to the run."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from dplearn.app.kit.fields import Text
from dplearn.app.kit.run_fields import NOISE, RATE, STEPS
from dplearn.figures.kit.axes import log_steps
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import MECHANISMS, Gaussian, Mechanism
from dplearn.mechanisms.drawing import EPOCH_SAMPLINGS, epoch
from dplearn.run import DPSGD

# The accountant that proves from both sides: the others are measured by it.
REFERENCE = "pld"
# One point in so many is enough for a draft.
_THIN = 4
# What the name of a sampling ends in whose epochs leave a record out.
LEAVES_OUT = "_leaves_out"


def phases_of(text: str) -> tuple[DPSGD, ...]:
    """Plans of the phases that a text names, within the ranges of the fields."""
    phases = (entry.split(",") for entry in text.split(";") if entry.strip())
    return tuple(
        DPSGD(
            noise_multiplier=NOISE.parse(noise),
            sample_rate=RATE.parse(rate),
            steps=int(STEPS.parse(steps)),
        )
        for noise, rate, steps in phases
    )


_EXPECTED = "σ, q, T of each further phase, as in 2, 0.02, 500; 1, 0.01, 99"
THEN = Text("then", "Then σ, q, T", "", "", phases_of, _EXPECTED)


@dataclass(frozen=True)
class Scenario:
    """A run and how far to follow it: all that a curve depends on.

    A draft is a run whose number is on its way: fewer points, with less work for each, so that
    the picture can follow. What it proves is true all the same.
    """

    mechanism: str
    noise_multiplier: float
    sampling: str
    sample_rate: float
    delta: float
    adjacency: Adjacency
    largest: int
    draft: bool = False
    then: str = ""  # further phases, in the words of the box
    leaves_out: bool = False  # whether each shuffled epoch leaves out a record

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The numbers of steps that its curves are drawn at."""
        return self._grid[::-_THIN][::-1] if self.draft else self._grid

    @property
    def _grid(self) -> tuple[int, ...]:
        if not self.by_epoch:
            return tuple(log_steps(self.largest, include=self.marks))
        # Nothing happens inside an epoch: a few steps of the first, then the ends of epochs.
        first, whole = min(self.batches, self.largest), self.largest // self.batches
        begun = [t for t in log_steps(first) if t >= first / 20]
        ends = [self.batches * k for k in log_steps(whole)] if whole else []
        return tuple(sorted({*begun, *ends, self.largest}))

    @cached_property
    def by_epoch(self) -> bool:
        """Whether all batches of an epoch are drawn at once."""
        return self.sampling in EPOCH_SAMPLINGS

    @cached_property
    def batches(self) -> int:
        """Steps in one epoch, of a scheme that draws them at once."""
        return epoch(Gaussian(1.0), **self.drawing).batches

    @property
    def drawing(self) -> dict[str, Any]:
        """How batches are drawn, in the library's keywords."""
        rest = {"leaves_out": True} if self.leaves_out else {}
        return {"sampling": self.sampling, "sample_rate": self.sample_rate, **rest}

    @cached_property
    def base(self) -> Mechanism:
        """The noise of one step."""
        return MECHANISMS[self.mechanism](self.noise_multiplier)

    @cached_property
    def phases(self) -> tuple[DPSGD, ...]:
        """The run and what comes then; `largest` counts the steps of all."""
        rest: Any = {"sampling": self.sampling, "leaves_out": self.leaves_out}
        then = [replace(p, **rest) for p in phases_of(self.then)]
        first = DPSGD(
            noise_multiplier=self.noise_multiplier,
            sample_rate=self.sample_rate,
            steps=self.largest - sum(p.steps for p in then),
            **rest,
        )
        return (first, *then)

    @cached_property
    def marks(self) -> list[int]:
        """The numbers of steps after which another phase begins, and every fifth of it."""
        ends = accumulate(phase.steps for phase in self.phases)
        return sorted({a + k * (b - a) // 5 for a, b in pairwise(ends) for k in range(5)})


def scenario_of(run: Mapping[str, Any], fields: Mapping[str, Any], **more: Any) -> Scenario:
    """The run of entries by name; ValueError, in one sentence, where a field does not take one."""
    entries = {name: field.parse(run[name]) for name, field in fields.items()}
    first, sampling = entries.pop("first"), entries.pop("sampling")
    more |= {
        "sampling": sampling.removesuffix(LEAVES_OUT),
        "leaves_out": sampling.endswith(LEAVES_OUT),
    }
    if entries["then"]:
        more["largest"] = first + sum(phase.steps for phase in phases_of(entries["then"]))
    return Scenario(**entries, **more)
