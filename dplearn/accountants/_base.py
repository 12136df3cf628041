"""Base class of accountants: from mechanism, delta and number of steps to a `Guarantee`.

The base class expands `steps` and compositions into `Runs` and handles the trivial cases (nothing
released, no noise added). A subclass returns a bound on epsilon for each row of counts.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants._runs import MOST_RUNS, Runs, as_counts
from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee, Kind, Reference
from dplearn.core.solve import decreasing_root
from dplearn.mechanisms import Mechanism

_NO_BOUND = "no epsilon below 1e9 is proved at this delta"
_SUM = "the epsilons of all releases added up"
_SAME = 1e-9  # largest relative difference of two bounds that may be due to rounding
_LEAST_LOG_DELTA = -690.0  # log of the smallest delta that `Accountant.delta` returns
_NO_LOG_DELTA = -1e-12  # treat a larger log delta as delta = 1


class Bound(NamedTuple):
    """Bound on epsilon of one composition, as subclasses of `Accountant` return it."""

    epsilon: float
    kind: Kind | None = None  # if None, the accountant's kind
    details: dict[str, float] = {}  # noqa: RUF012  (never mutated)
    reason: str = ""
    lower: float = 0.0
    proof: str = ""


class Accountant(ABC):
    """A theorem that gives the guarantee of a mechanism after a number of runs."""

    name: ClassVar[str]
    kind: ClassVar[Kind] = "upper"
    title: ClassVar[str]
    reference: ClassVar[Reference]

    @abstractmethod
    def _bounds(self, runs: Runs, delta: float) -> Sequence[Bound]:
        """Return a bound on epsilon for each row of counts; every row has at least one run."""

    def _refusal(self, runs: Runs) -> str:
        """Return the reason why no theorem covers these mechanisms, or an empty string."""
        try:
            for mechanism in runs.mechanisms:
                mechanism.require_theorem(runs.adjacency)
        except NotImplementedError as error:
            return str(error)
        return ""

    def coarse(self) -> Self:
        """Return a faster, less precise accountant of the same theorem, or this accountant."""
        return self

    def supports(self, mechanism: Mechanism, adjacency: Adjacency = "add_remove") -> bool:
        """Return whether this accountant covers the mechanism under the adjacency."""
        return not self._refusal(Runs.of(mechanism, 1, adjacency))

    def epsilon(
        self, mechanism: Any, *, delta: float, steps: int = 1, adjacency: Adjacency = "add_remove"
    ) -> Guarantee:
        """Return the privacy guarantee of `steps` adaptive runs of a mechanism.

        Parameters
        ----------
        mechanism : Mechanism or plan
        delta : float in (0, 1)
        steps : int >= 0
        adjacency : "add_remove", "replace_one" or "zero_out"

        Raises
        ------
        ValueError or TypeError if an argument is out of range
        NotImplementedError if no theorem covers the combination, which the message names
        """
        validate.integer(minimum=0, maximum=MOST_RUNS, steps=steps)
        return self.epsilon_curve(mechanism, delta=delta, steps=[steps], adjacency=adjacency)[0]

    def epsilon_curve(
        self, mechanism: Any, *, delta: float, steps: ArrayLike, adjacency: Adjacency = "add_remove"
    ) -> tuple[Guarantee, ...]:
        """Return a guarantee for each number of steps, with shared computations.

        Parameters and errors are those of `Accountant.epsilon`; `steps` has shape (n,), or
        (n, n_parts) with a column for each of ``mechanism.parts()``, whose own counts it replaces;
        if any row runs a part that adds no noise, epsilon is infinite in every row that releases
        anything.
        """
        validate.probability(delta=delta)
        validate.one_of(ADJACENCIES, adjacency=adjacency)
        # Compute each distinct number of steps once.
        counts = as_counts(steps, dimensions=(1, 2))
        counts, place = np.unique(counts, axis=0, return_inverse=True)
        runs = self._covered(mechanism, counts, adjacency)
        released, nothing = runs.totals > 0, Bound(0.0, "exact", proof="nothing is released")
        bounds: Iterator[Bound] = iter(())
        if reason := runs.composed.infinite_epsilon_reason():
            bounds = repeat(Bound(np.inf, "upper", {}, reason))
        elif np.any(released):
            bounds = self._capped(runs[released], delta)
        every = [next(bounds) if any_ else nothing for any_ in released]
        if np.all(np.diff(counts, axis=0) >= 0):
            # Lower bounds for fewer runs hold for more runs: omitting outputs is post-processing.
            most = accumulate((bound.lower for bound in every), max)
            every = [
                bound._replace(lower=low, kind="exact" if bound.kind == "exact" else "bracket")
                if bound.lower < low <= bound.epsilon
                else bound
                for bound, low in zip(every, most, strict=True)
            ]
        guarantees = [self._guarantee(bound, runs, delta) for bound in every]
        return tuple(guarantees[i] for i in place.ravel())

    def _capped(self, runs: Runs, delta: float) -> Iterator[Bound]:
        """Yield bounds on epsilon, none above the sum of epsilons if all releases are purely DP."""
        most = np.full(runs.totals.shape, np.inf)
        if self.kind == "upper" and runs.pure:
            most = runs.summed_epsilons(delta)
        for bound, cap in zip(self._bounds(runs, delta), most, strict=True):
            above = bound.epsilon > cap * (1 + _SAME)
            yield bound._replace(epsilon=max(cap, bound.lower), proof=_SUM) if above else bound

    def delta(
        self, mechanism: Any, *, epsilon: float, steps: int = 1, adjacency: Adjacency = "add_remove"
    ) -> Guarantee:
        """Return the guarantee at `epsilon` with the smallest proved delta (at least 2e-300).

        Other parameters and errors are those of `Accountant.epsilon`. Delta is rounded up,
        `delta_lower` is a lower bound, and the guarantee's epsilon is at most the argument.

        Parameters
        ----------
        epsilon : float >= 0
        """
        validate.non_negative(epsilon=epsilon)
        validate.integer(minimum=0, maximum=MOST_RUNS, steps=steps)
        runs = self._covered(mechanism, [steps], adjacency)
        composes = runs.totals[0] and not runs.composed.infinite_epsilon_reason()
        if composes and (ends := self._delta(runs, epsilon)) is not None:
            lower, upper = ends[0], max(ends[1], math.exp(_LEAST_LOG_DELTA))
            kind = "exact" if lower == upper else "bracket" if lower > 0 else "upper"
            bound = Bound(epsilon, kind, lower=epsilon if kind == "exact" else 0.0)
            return dataclasses.replace(self._guarantee(bound, runs, upper), delta_lower=lower)

        def at(log_delta: float) -> Guarantee:
            delta = float(np.exp(log_delta))
            return self.epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)

        def excess(log_delta: NDArray) -> NDArray:
            past = log_delta > _NO_LOG_DELTA
            return np.asarray(-1.0 if past else at(float(log_delta)).epsilon - epsilon)

        lowest, highest = np.array(_LEAST_LOG_DELTA), np.array(0.0)
        log_delta = float(decreasing_root(excess, lower=lowest, upper=highest, rtol=1e-9))
        if log_delta > _NO_LOG_DELTA:
            return self._guarantee(Bound(epsilon), runs, 1.0)
        return at(log_delta)

    def _delta(self, runs: Runs, epsilon: float) -> tuple[float, float] | None:
        """Return bounds on delta for one run, or None if `delta` must invert `epsilon` instead."""
        return None

    def _covered(self, mechanism: Mechanism, steps: ArrayLike, adjacency: Adjacency) -> Runs:
        """Return the runs of a mechanism; raise unless a theorem covers them."""
        runs = Runs.of(mechanism, steps, adjacency)
        if refusal := self._refusal(runs):
            raise NotImplementedError(f"Accountant {self.name}: {refusal}")
        return runs

    def _guarantee(self, bound: Bound, runs: Runs, delta: float) -> Guarantee:
        stated: dict[str, Any] = bound._asdict() | {"kind": bound.kind or self.kind}
        stated |= {"epsilon": float(bound.epsilon), "lower": float(bound.lower)}
        stated |= {"method": self.name, "assumptions": runs.composed.assumptions}
        if math.isinf(bound.epsilon) and not bound.reason:
            stated["reason"] = _NO_BOUND
        return Guarantee(delta=float(delta), adjacency=runs.adjacency, **stated)
