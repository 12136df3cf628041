"""Record of a run: its public and private results, and its guarantee."""

import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from dplearn.accountants import Accountant
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.run import Phases, Plan
from dplearn.training.gradients import ClippedSum

# Sums over the records of a lot; `below` counts norms at most C.
TALLY = ("loss", "finite", "examples", "clipped", "non_finite", "below")

_STOPPED = "the data and the model did not decide when to stop"
_NOT_ADAPTED = "no run was planned by what an earlier one released"


@dataclass(frozen=True, kw_only=True)
class Private:
    """Diagnostics of one step, computed without noise: for inspection, never for release."""

    loss: float  # mean of finite losses before the step; NaN for an empty lot
    clipped_fraction: float  # share of gradients that were scaled down; NaN for an empty lot
    lot_size: int
    non_finite: int  # records left out because their gradient is infinite or NaN


@dataclass(frozen=True, kw_only=True)
class Record:
    """One step of a run; only its number and its clipping norm are public."""

    step: int  # number of steps done, including this one
    norm: float | Tensor = field(repr=False)
    tally: Tensor = field(repr=False, compare=False)  # private, on the device that computed it

    @cached_property
    def clipping_norm(self) -> float:
        """Largest norm of a contribution; reading an adaptive one waits for the device."""
        return float(self.norm)

    @cached_property
    def private(self) -> Private:
        """Diagnostics; reading them waits for the device."""
        tally = dict(zip(TALLY, self.tally.tolist(), strict=True))
        return Private(
            loss=tally["loss"] / (tally["finite"] or math.nan),
            clipped_fraction=tally["clipped"] / (tally["examples"] or math.nan),
            lot_size=round(tally["examples"]),
            non_finite=round(tally["non_finite"]),
        )


@dataclass(frozen=True, kw_only=True)
class History:
    """Steps of a run so far, and assumptions of its guarantee beyond those of the plan."""

    plan: Plan
    steps: int  # all steps done; `records` starts at the first step or the last resume
    records: tuple[Record, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def non_finite(self) -> int:
        """Number of records left out in the steps of `records`; private, not in checkpoints."""
        return sum(record.private.non_finite for record in self.records)

    def guarantee(
        self,
        delta: float,
        *,
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Return the guarantee of the steps done, as `DPSGD.guarantee` states it.

        If data or model decided when to stop, ``plan.guarantee(delta=delta)`` holds instead.
        """
        stated = self.plan.guarantee(accountant, delta=delta, steps=self.steps, adjacency=adjacency)
        return dataclasses.replace(stated, assumptions=(*stated.assumptions, *self._presumed))

    def __add__(self, other: "History") -> "History":
        """Return the combined history of two runs, on any records of the same people."""
        later = tuple(dataclasses.replace(r, step=self.steps + r.step) for r in other.records)
        presumed, done = (*self._presumed, *other._presumed, _NOT_ADAPTED), []
        for run in (self, other):
            before = 0
            for phase in run.plan.phases:
                steps = min(max(run.steps - before, 0), phase.steps)
                done.append(dataclasses.replace(phase, steps=steps))
                before += phase.steps
        return History(
            plan=Phases(tuple(done)),
            steps=self.steps + other.steps,
            records=self.records + later,
            assumptions=tuple(dict.fromkeys(presumed)),
        )

    @property
    def _presumed(self) -> tuple[str, ...]:
        return self.assumptions + ((_STOPPED,) if self.steps < self.plan.steps else ())


def tally_of(part: ClippedSum, largest: Tensor) -> Tensor:
    """Return sums over the records of a micro-batch, in the order of TALLY."""
    finite, below = part.losses.abs() < math.inf, part.norms <= largest
    loss = torch.where(finite, part.losses, 0).to(part.norms)  # stack converts the others
    every = torch.ones_like(below)
    rows = [loss, finite, every, part.scaled, ~(part.norms < math.inf), below]
    return torch.stack(rows).sum(1)
