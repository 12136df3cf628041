"""What a run did: what is public, what is private, and what it guarantees."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from dplearn.accountants import Accountant
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.run import Phases, Plan
from dplearn.training.gradients import ClippedSum

# Sums over the records of a lot, and the draw that hides how many norms were below the bound.
TALLY = ("loss", "finite", "examples", "clipped", "non_finite", "below", "normal")

_STOPPED = "the data and the model did not decide when to stop"
_NOT_ADAPTED = "no run was planned by what an earlier one released"


@dataclass(frozen=True, kw_only=True)
class Private:
    """Diagnostics of one step, computed without noise: to look at, never to publish."""

    loss: float  # the mean before the step, of records whose loss is finite; NaN of an empty lot
    clipped_fraction: float  # of the lot, whose gradients were scaled down; NaN of an empty lot
    lot_size: int
    non_finite: int  # records left out because their gradient is infinite or not a number


@dataclass(frozen=True, kw_only=True)
class Record:
    """One step of a run: in public the largest norm of a record's contribution, else private."""

    step: int  # steps done, this one included
    norm: float | Tensor = field(repr=False)
    # Private sums, wherever they were computed, or what computes them.
    tally: Tensor | Callable[[], Tensor] = field(repr=False, compare=False)

    @cached_property
    def clipping_norm(self) -> float:
        """Largest norm; reading one that a quantile moved waits for the device."""
        return float(self.norm)

    @property
    def sums(self) -> Tensor:
        """Private sums; nobody waits for them."""
        return self.tally() if callable(self.tally) else self.tally

    @cached_property
    def private(self) -> Private:
        """Diagnostics; reading them waits for the device."""
        tally = dict(zip(TALLY, self.sums.tolist(), strict=True))
        return Private(
            loss=tally["loss"] / (tally["finite"] or math.nan),
            clipped_fraction=tally["clipped"] / (tally["examples"] or math.nan),
            lot_size=round(tally["examples"]),
            non_finite=round(tally["non_finite"]),
        )


@dataclass(frozen=True, kw_only=True)
class History:
    """A run so far, and what its guarantee presumes beyond the plan's own assumptions."""

    plan: Plan
    steps: int  # all that are done; `records` has those since the run began or was resumed
    records: tuple[Record, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def non_finite(self) -> int:
        """Records left out of the steps in `records`, which no checkpoint keeps; private."""
        return sum(record.private.non_finite for record in self.records)

    def guarantee(
        self,
        delta: float,
        *,
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Return the privacy of the steps that were done, as `DPSGD.guarantee` states it.

        After a stop that data or model decided, ``plan.guarantee(delta=delta)`` holds instead.
        """
        stated = self.plan.guarantee(accountant, delta=delta, steps=self.steps, adjacency=adjacency)
        assumptions = (*stated.assumptions, *self._presumed)
        return dataclasses.replace(stated, assumptions=assumptions)

    def __add__(self, other: "History") -> "History":
        """Return two runs on the same people as one, whichever of their records each used."""
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


def tally_of(parts: Sequence[ClippedSum], largest: Tensor, like: Tensor) -> Tensor:
    """Return sums over the records of micro-batches, in the order of TALLY."""
    tally = like.new_zeros(len(TALLY))
    for part in parts:
        finite = part.losses.abs() < math.inf
        loss = torch.where(finite, part.losses, 0).to(tally.dtype)  # all others become as wide
        counted, norms = part.counted, part.norms
        rows = [loss, finite, counted, part.scaled, ~(norms < math.inf), norms <= largest]
        tally[:-1] += torch.where(counted, torch.stack(rows), 0).sum(1)
    return tally
