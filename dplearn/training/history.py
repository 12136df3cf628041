"""What a run did: what may be told, what may not, and what it guarantees."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from dplearn.accountants import Accountant
from dplearn.ground.guarantee import Adjacency, Guarantee
from dplearn.run import DPSGD

# Sums over the records of a lot, and the draw that hides how many norms were below the bound.
TALLY = ("loss", "finite", "examples", "clipped", "non_finite", "right", "below", "normal")


@dataclass(frozen=True, kw_only=True)
class Private:
    """Diagnostics of one step, computed without noise: to look at, never to publish.

    Parameters
    ----------
    loss : float
        Mean over the lot before the step, without records whose loss is not finite; NaN if there
        are none.
    accuracy : float
        Fraction of the lot that was classified rightly; NaN for other tasks and an empty lot.
    clipped_fraction : float
        Fraction of the lot whose gradient was scaled down; NaN for an empty lot.
    lot_size : int
    non_finite : int
        Records left out because their gradient is infinite or not a number.
    """

    loss: float
    accuracy: float
    clipped_fraction: float
    lot_size: int
    non_finite: int


@dataclass(frozen=True, kw_only=True)
class Record:
    """One step of a run.

    Parameters
    ----------
    step : int
        Steps done, this one included.
    clipping_norm : float
        Largest norm that a record's contribution could have; public.
    private : Private
    """

    step: int
    clipping_norm: float
    private: Private


@dataclass(frozen=True, kw_only=True)
class History:
    """A run so far.

    Parameters
    ----------
    plan : DPSGD
    steps : int
        Steps done, those before the run was resumed included.
    records : tuple of Record
        The steps since the run began or was resumed.
    assumptions : tuple of str
        What the guarantee presumes beyond the plan's own assumptions.
    """

    plan: DPSGD
    steps: int
    records: tuple[Record, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def non_finite(self) -> int:
        """Records left out because their gradient is infinite or not a number; private."""
        return sum(record.private.non_finite for record in self.records)

    def guarantee(
        self,
        delta: float,
        *,
        accountant: Accountant | str = "pld",
        adjacency: Adjacency | None = None,
    ) -> Guarantee:
        """Privacy of the steps that were done, as `DPSGD.guarantee` has it.

        Whoever stopped because of what the data or the model looked like has the guarantee of
        all planned steps, ``plan.guarantee(delta=delta)``.
        """
        stated = self.plan.guarantee(accountant, delta=delta, steps=self.steps, adjacency=adjacency)
        stopped = ("the data and the model did not decide when to stop",)
        extra = self.assumptions + (stopped if self.steps < self.plan.steps else ())
        return dataclasses.replace(stated, assumptions=(*stated.assumptions, *extra))


def private(tally: Mapping[str, float]) -> Private:
    """Means over a lot from sums over its records."""
    return Private(
        loss=_mean(tally["loss"], tally["finite"]),
        accuracy=_mean(tally["right"], tally["examples"]),
        clipped_fraction=_mean(tally["clipped"], tally["examples"]),
        lot_size=round(tally["examples"]),
        non_finite=round(tally["non_finite"]),
    )


def _mean(total: float, count: float) -> float:
    return total / count if count else math.nan
