"""What an accountant is: mechanism, delta and number of steps in, one `Guarantee` out.

Accountants are stateless. The base class expands `steps` and compositions into rows of
counts, one column per mechanism, answers what needs no theorem (nothing released, no noise
added) and refuses what a subclass does not cover; a subclass turns rows of counts into
bounds and never multiplies by anything else.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.ground import validate
from dplearn.ground.guarantee import ADJACENCIES, Adjacency, Guarantee, Kind, Reference
from dplearn.ground.solve import decreasing_root
from dplearn.mechanisms import Mechanism

_NO_BOUND = "no epsilon below 1e9 is proved at this delta"
# Smallest delta that `delta` distinguishes from 0.
_LEAST_LOG_DELTA = -690.0


class Bound(NamedTuple):
    """What a subclass says about one row of counts."""

    epsilon: float
    kind: Kind | None = None  # None: the class's own kind
    details: dict[str, float] = {}  # noqa: RUF012  (never mutated)
    reason: str = ""
    lower: float = 0.0


class Accountant(ABC):
    """Turns a mechanism, run some number of times, into a guarantee.

    Subclasses are frozen dataclasses of numerical settings and implement `_bounds`.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "upper"
    title: ClassVar[str]
    statement: ClassVar[str]
    reference: ClassVar[Reference]
    explanation: ClassVar[str]

    @abstractmethod
    def _bounds(
        self,
        mechanisms: tuple[Mechanism, ...],
        counts: NDArray,
        delta: float,
        adjacency: Adjacency,
    ) -> Sequence[Bound]:
        """One bound per row of `counts`, shape (n_rows, n_mechanisms), each row summing to >= 1."""

    def _refusal(self, mechanisms: tuple[Mechanism, ...], adjacency: Adjacency) -> str:
        """Why these mechanisms are not covered, or an empty string."""
        try:
            for mechanism in mechanisms:
                mechanism.profiles(adjacency)
        except NotImplementedError as error:
            return str(error)
        return ""

    def supports(self, mechanism: Mechanism, adjacency: Adjacency = "add_remove") -> bool:
        """Whether this accountant's theorem covers the mechanism under the adjacency."""
        validate.one_of(ADJACENCIES, adjacency=adjacency)
        return not self._refusal(tuple(m for m, _ in mechanism.parts()), adjacency)

    def epsilon(
        self,
        mechanism: Mechanism,
        *,
        delta: float,
        steps: int = 1,
        adjacency: Adjacency = "add_remove",
    ) -> Guarantee:
        """Guarantee of `steps` adaptive runs at the given delta.

        Parameters
        ----------
        mechanism : Mechanism
        delta : float
            In (0, 1).
        steps : int
            >= 0; 0 steps release nothing.
        adjacency : {"add_remove", "replace_one", "zero_out"}

        Returns
        -------
        Guarantee
            Its `kind` says what epsilon is; epsilon = inf comes with a `reason`.

        Raises
        ------
        ValueError, TypeError
            If an argument is out of range.
        NotImplementedError
            If no theorem covers the combination; the message names it.
        """
        validate.integer(minimum=0, maximum=10**12, steps=steps)
        return self.epsilon_curve(mechanism, delta=delta, steps=[steps], adjacency=adjacency)[0]

    def epsilon_curve(
        self,
        mechanism: Mechanism,
        *,
        delta: float,
        steps: ArrayLike,
        adjacency: Adjacency = "add_remove",
    ) -> tuple[Guarantee, ...]:
        """`epsilon` for many numbers of steps at once, sharing work between them.

        Parameters and errors are those of `epsilon`; `steps` has shape (n,).
        """
        validate.probability(delta=delta)
        validate.one_of(ADJACENCIES, adjacency=adjacency)
        steps = np.asarray(steps)
        if steps.ndim != 1 or steps.dtype.kind not in "iu" or np.any(steps < 0):
            raise ValueError(f"Expected steps to be whole numbers >= 0, got steps={steps!r}.")
        mechanisms, once = self._row(mechanism, 1, adjacency)
        counts = np.outer(steps, once)
        runs, reason = counts.sum(axis=1) > 0, mechanism.no_privacy()
        bounds = [Bound(0.0, "exact")] * steps.size
        if reason:
            bounds = [Bound(np.inf, "upper", {}, reason) if run else bounds[0] for run in runs]
        elif np.any(runs):
            found = iter(self._bounds(mechanisms, counts[runs], delta, adjacency))
            bounds = [next(found) if run else bounds[0] for run in runs]
        return tuple(self._guarantee(b, mechanisms, delta, adjacency) for b in bounds)

    def delta(
        self,
        mechanism: Mechanism,
        *,
        epsilon: float,
        steps: int = 1,
        adjacency: Adjacency = "add_remove",
    ) -> Guarantee:
        """Smallest delta at which `epsilon` is proved, rounded up; never below 1e-299.

        Parameters and errors as in `epsilon`. The guarantee returned holds at the epsilon it
        states, which is at most the one asked for; delta = 1 is the guarantee that always holds.
        Where delta is known from below too, `delta_lower` says so.
        """
        validate.non_negative(epsilon=epsilon)
        mechanisms, row = self._row(mechanism, steps, adjacency)
        if row.sum() and not mechanism.no_privacy():
            lower, upper = self._delta(mechanisms, row, epsilon, adjacency)
            if lower > 0 or upper < 1:
                upper = max(upper, math.exp(_LEAST_LOG_DELTA))
                kind = "exact" if lower == upper else "bracket" if lower > 0 else "upper"
                bound = Bound(epsilon, kind, lower=epsilon if kind == "exact" else 0.0)
                found = self._guarantee(bound, mechanisms, upper, adjacency)
                return dataclasses.replace(found, delta_lower=lower)

        def excess(log_delta: NDArray) -> NDArray:
            if log_delta > -1e-12:
                return np.asarray(-1.0)
            delta = float(np.exp(log_delta))
            found = self.epsilon(mechanism, delta=delta, steps=steps, adjacency=adjacency)
            return np.asarray(found.epsilon - epsilon)

        lowest, highest = np.array(_LEAST_LOG_DELTA), np.array(0.0)
        log_delta = float(decreasing_root(excess, lower=lowest, upper=highest, rtol=1e-9))
        if log_delta > -1e-12:
            return self._guarantee(Bound(epsilon), mechanisms, 1.0, adjacency)
        return self.epsilon(
            mechanism, delta=float(np.exp(log_delta)), steps=steps, adjacency=adjacency
        )

    def _delta(
        self, mechanisms: tuple[Mechanism, ...], row: NDArray, epsilon: float, adjacency: Adjacency
    ) -> tuple[float, float]:
        """Lower and upper bound on delta at epsilon; (0, 1) leaves it to a search."""
        return 0.0, 1.0

    def _row(
        self, mechanism: Mechanism, steps: int, adjacency: Adjacency
    ) -> tuple[tuple[Mechanism, ...], NDArray]:
        """What is run and how often, once it is clear that a theorem covers it."""
        validate.integer(minimum=0, maximum=10**12, steps=steps)
        validate.one_of(ADJACENCIES, adjacency=adjacency)
        mechanisms = tuple(m for m, _ in mechanism.parts())
        if refusal := self._refusal(mechanisms, adjacency):
            raise NotImplementedError(f"Accountant {self.name}: {refusal}")
        return mechanisms, steps * np.array([count for _, count in mechanism.parts()])

    def _guarantee(
        self,
        bound: Bound,
        mechanisms: tuple[Mechanism, ...],
        delta: float,
        adjacency: Adjacency,
    ) -> Guarantee:
        kind = bound.kind or self.kind
        assumptions = dict.fromkeys(a for m in mechanisms for a in m.assumptions)
        return Guarantee(
            epsilon=float(bound.epsilon),
            delta=float(delta),
            kind=kind,
            method=self.name,
            adjacency=adjacency,
            lower=float(bound.epsilon if kind == "exact" else bound.lower),
            assumptions=tuple(assumptions),
            reason=bound.reason or (_NO_BOUND if np.isinf(bound.epsilon) else ""),
            details=MappingProxyType(bound.details),
        )
