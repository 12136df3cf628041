"""Numbers of runs of composed mechanisms, and their profiles for removed and added records."""

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency
from dplearn.engine.contour import Ends, SampledGaussian, deltas
from dplearn.engine.lattice import Lattice
from dplearn.engine.profile import Profile
from dplearn.mechanisms import Composed, Mechanism
from dplearn.mechanisms._base import as_mechanism
from dplearn.mechanisms.gaussian import gaussian_log_delta

_PER_DECADE = 12
MOST_RUNS = 10**12  # largest count of runs; doubles hold such counts exactly


def as_counts(steps: ArrayLike, *, dimensions: tuple[int, ...] = (1,)) -> NDArray:
    """Return steps as an array; raise ValueError unless they are whole numbers >= 0."""
    counts = np.asarray(steps)
    if counts.ndim not in dimensions or counts.dtype.kind not in "iu" or np.any(counts < 0):
        raise ValueError(f"Expected steps to be whole numbers >= 0, got steps={counts!r}.")
    return counts


@dataclass(frozen=True, eq=False)
class Runs:
    """Adaptive compositions of the same mechanisms, one for each row of counts."""

    mechanisms: tuple[Mechanism, ...]  # none of them a composition
    counts: NDArray  # shape (n_rows, n_mechanisms); every row is a separate composition
    adjacency: Adjacency

    @classmethod
    def of(cls, mechanism: Mechanism, steps: ArrayLike, adjacency: Adjacency) -> Self:
        """Return a mechanism's parts, and how often each is run, in a row for each number of steps.

        Two-dimensional steps are the rows of counts themselves, with a column for each part.
        """
        mechanism = as_mechanism(mechanism)
        validate.one_of(ADJACENCIES, adjacency=adjacency)
        mechanisms, once = zip(*mechanism.parts(), strict=True)
        steps = np.asarray(steps)
        # Use Python integers, which do not overflow.
        rows = steps.astype(object) if steps.ndim == 2 else np.outer(steps.astype(object), once)
        if rows.shape[1] != len(once):
            expected = f"whole numbers >= 0 in {len(once)} columns, one for each part"
            raise ValueError(f"Expected steps to be {expected}, got {rows.shape[1]}.")
        if (most := np.max(rows.sum(axis=1), initial=0)) > MOST_RUNS:
            raise ValueError(f"Expected at most {MOST_RUNS:.0e} releases, got {most:.3g}.")
        # Drop mechanisms that never run, but keep at least one mechanism.
        used = np.asarray(rows.astype(bool).any(axis=0))
        used[0] |= not used.any()
        chosen = tuple(m for m, runs in zip(mechanisms, used, strict=True) if runs)
        return cls(chosen, rows[:, used].astype(np.int64), adjacency)

    @property
    def totals(self) -> NDArray:
        """Number of releases in every row."""
        return self.counts.sum(axis=1)

    def __getitem__(self, rows: NDArray) -> Self:
        return dataclasses.replace(self, counts=self.counts[rows])

    @cached_property
    def composed(self) -> Composed:
        """Composition of one run of each mechanism."""
        return Composed(self.mechanisms)

    def rdp(self, orders: NDArray) -> NDArray:
        """Return sums of Rényi divergences (Mironov 2017, Proposition 1), shape (n_rows, n_orders).

        Orders have this shape, or (n_orders,) if they are the same for all rows.
        """
        distinct, place = np.unique(orders, return_inverse=True)
        key, shape = tuple(distinct.tolist()), np.shape(orders)
        each = [_rdp(m, key, self.adjacency)[place].reshape(shape) for m in self.mechanisms]
        return sum(n[:, None] * one for n, one in zip(self.counts.T, each, strict=True))  # type: ignore[return-value]

    def epsilon_of_one(self, deltas: ArrayLike) -> NDArray:
        """Return each mechanism's epsilon for one run, shape (n_deltas, n_mechanisms)."""
        each = tuple(np.asarray(deltas, dtype=float).ravel().tolist())
        return np.stack([_epsilon(m, each, self.adjacency) for m in self.mechanisms], axis=-1)

    def summed_epsilons(self, delta: float) -> NDArray:
        """Return for each row the sum of epsilons at equal parts of delta, shape (n_rows,)."""
        return (self.counts * self.epsilon_of_one(delta / self.totals)).sum(axis=1)

    @cached_property
    def pure(self) -> bool:
        """Whether all mechanisms are DP with delta = 0."""
        return all(math.isfinite(m.pure_epsilon(self.adjacency)) for m in self.mechanisms)

    def delta_grid(self, delta: float) -> NDArray:
        """Return candidate deltas per step, from 1e-9 delta / most steps to delta / fewest steps.

        They are delta times powers of a fixed ratio, so that curves and single results share them.
        """
        first = np.floor(_PER_DECADE * np.log10(self.totals.min()))
        last = _PER_DECADE * np.log10(self.totals.max())
        return delta * 10.0 ** (-np.arange(first, last + 9 * _PER_DECADE) / _PER_DECADE)


@lru_cache(64)
def _rdp(mechanism: Mechanism, orders: tuple[float, ...], adjacency: Adjacency) -> NDArray:
    return mechanism.rdp(orders, adjacency=adjacency)


@lru_cache(64)
def _epsilon(mechanism: Mechanism, deltas: tuple[float, ...], adjacency: Adjacency) -> NDArray:
    return np.max([p.epsilon(deltas) for p in mechanism.profiles(adjacency)], axis=0)


@dataclass(frozen=True, eq=False)
class Direction:
    """Ordered pairs of output distributions, one per mechanism, for a removed or added record."""

    profiles: list[Profile]  # upper bounds
    witnesses: list[Profile] | None  # lower bounds, or None if a mechanism has none
    shifts: NDArray | None = None  # gaussian_shift of each mechanism, if all are plain Gaussians
    # For a single sampled Gaussian: the dominating pair if `attained`, else a real pair below it.
    sampled: SampledGaussian | None = None
    attained: bool = True

    def reverse(self) -> Self:
        """Return the same pairs of distributions with P and Q swapped."""
        pair, other = self.sampled, {"remove": "add", "add": "remove", "replace": "replace"}
        if pair is not None:
            direction: Any = other[pair.direction]
            pair = dataclasses.replace(pair, direction=direction)
        profiles = [p.reverse() for p in self.profiles]
        witnesses = self.witnesses and [w.reverse() for w in self.witnesses]
        return dataclasses.replace(self, profiles=profiles, witnesses=witnesses, sampled=pair)

    def log_deltas(self, row: NDArray, epsilons: NDArray, lattice: Lattice) -> Ends:
        """Return lower and upper bounds on log delta at every epsilon >= 0, for one row."""
        if self.shifts is not None:
            mu = math.sqrt(float(row @ self.shifts**2))
            exact = gaussian_log_delta(epsilons, mu)
            return exact, exact
        if row.sum() == 1:
            i = int(np.argmax(row))
            nothing = np.full(epsilons.shape, -np.inf)
            lower = self.witnesses[i].log_delta(epsilons) if self.witnesses else nothing
            return lower, self.profiles[i].log_delta(epsilons)
        by_lattice = partial(lattice.log_deltas, self.profiles, row, witnesses=self.witnesses)
        if self.sampled is None:
            return by_lattice(epsilons=epsilons)
        lower, upper = deltas(self.sampled, int(row[0]), epsilons, rtol=lattice.rtol)
        if not self.attained:
            upper = np.zeros(epsilons.shape)
        open_ = np.isneginf(lower) | (upper == 0)
        if np.any(open_):
            low, high = by_lattice(epsilons=epsilons[open_])
            lower[open_] = np.maximum(lower[open_], low)
            upper[open_] = np.minimum(upper[open_], high)
        return lower, upper

    def deltas(self, row: NDArray, epsilon: NDArray, lattice: Lattice) -> Ends:
        """Return lower and upper bounds on delta at every real epsilon, for one row."""
        size, ahead = np.abs(epsilon), epsilon >= 0
        ends = np.zeros((2, epsilon.size))
        for rows, pair in ((ahead, self), (~ahead, self.reverse())):
            if np.any(rows):
                ends[:, rows] = np.exp(pair.log_deltas(row, size[rows], lattice))
        # delta(-eps) = 1 - exp(-eps) + exp(-eps) * (delta of the swapped pair at eps).
        lower, upper = np.where(ahead, ends, -np.expm1(-size) + np.exp(-size) * ends)
        return lower, upper


def directions(runs: Runs) -> list[Direction]:
    """Return a `Direction` for a removed and one for an added record, or one for both if equal."""
    mechanisms, adjacency = runs.mechanisms, runs.adjacency
    profiles = [m.profiles(adjacency) for m in mechanisms]
    witnesses = [m.witnesses(adjacency) for m in mechanisms]
    real, both = all(witnesses), any(len(p) > 1 for p in (*profiles, *witnesses))
    shifts = [m.gaussian_shift(adjacency) for m in mechanisms]
    sampled = mechanisms[0].sampled_gaussians(adjacency) if len(mechanisms) == 1 else ()
    return [
        Direction(
            [p[end] for p in profiles],
            [w[end] for w in witnesses] if real else None,
            None if None in shifts else np.array(shifts),
            sampled[end] if sampled else None,
            mechanisms[0].attained,
        )
        for end in (0, -1)[: 1 + both]
    ]


def dominating_shifts(runs: Runs) -> NDArray | None:
    """Return the shifts of dominating Gaussians, or None if any mechanism lacks such a Gaussian."""
    adjacency = runs.adjacency
    shifts = [m.dominating(adjacency).gaussian_shift(adjacency) for m in runs.mechanisms]
    return None if None in shifts else np.array(shifts)
