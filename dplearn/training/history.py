"""History of a training run: public and private results of its steps, and its guarantee."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from torch import Tensor

from dplearn.accountants import Accountant
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.run import Plan


@dataclass(frozen=True, kw_only=True)
class Private:
    """Diagnostics of one step, computed without noise: for inspection, never for release.

    Parameters
    ----------
    loss : float, mean of the lot's finite losses before the step; in any range, NaN if none is
    clipped_fraction : float in [0, 1], fraction of gradients scaled down; NaN for an empty lot
    lot_size : int >= 0
    non_finite : int >= 0, records left out because their gradient is infinite or NaN
    """

    loss: float
    clipped_fraction: float
    lot_size: int
    non_finite: int


@dataclass(frozen=True, kw_only=True)
class Record:
    """Result of one step of a run; only `step` and `clipping_norm` are public.

    Parameters
    ----------
    step : int >= 1, number of steps done, including this one
    clipping_norm : float > 0, largest norm of a record's clipped gradient
    tally : Tensor, shape (2, 3), private sum of the `ClippedSum.tally` of micro-batches, on device
    """

    step: int
    clipping_norm: float
    tally: Tensor = field(repr=False, compare=False)

    @cached_property
    def private(self) -> Private:
        """Private diagnostics of this step; reading them waits for the device."""
        (loss, _, clipped), (losses, norms, size) = self.tally.tolist()
        return Private(
            loss=loss / (losses or math.nan),
            clipped_fraction=clipped / (size or math.nan),
            lot_size=round(size),
            non_finite=round(size - norms),
        )


@dataclass(frozen=True, kw_only=True)
class History:
    """Steps of a training run so far, and assumptions of its guarantee beyond those of the plan.

    Parameters
    ----------
    plan : DPSGD, Phases or FederatedPlan
    steps : int >= 0, all steps done
    records : tuple of Record, from the first step or the last resume
    assumptions : tuple of str
    """

    plan: Plan
    steps: int
    records: tuple[Record, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def non_finite(self) -> int:
        """Number of non-finite gradients left out in `records`; private, not in checkpoints."""
        return sum(record.private.non_finite for record in self.records)

    def guarantee(
        self,
        delta: float,
        *,
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Return the guarantee of the steps done, as `DPSGD.guarantee` states it.

        If data or model decided when to stop, only ``plan.guarantee(delta=delta)`` holds.
        """
        stated = self.plan.guarantee(accountant, delta=delta, steps=self.steps, adjacency=adjacency)
        presumed = [*stated.assumptions, *self.assumptions]
        if self.steps < self.plan.steps:
            presumed.append("the data and the model did not decide when to stop")
        return replace(stated, assumptions=tuple(presumed))
