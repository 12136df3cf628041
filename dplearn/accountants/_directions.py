"""The two directions of a composition, and delta of either by the engine that suits it."""

import dataclasses
import math
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants._runs import Runs
from dplearn.engine.contour import SampledGaussian, deltas
from dplearn.engine.lattice import Lattice
from dplearn.engine.profile import Profile
from dplearn.mechanisms import CorrelatedGaussian, Gaussian, Mechanism, PoissonSubsampled
from dplearn.mechanisms._wrapped import Epoch, Sampled, Wrapped
from dplearn.mechanisms.gaussian import gaussian_log_delta


@dataclass(frozen=True, eq=False)
class Direction:
    """One ordered pair of outputs per mechanism."""

    profiles: list[Profile]  # what bounds every pair from above
    witnesses: list[Profile] | None  # pairs that occur, where every mechanism has one
    # If all are plain Gaussians: distances between neighbours in standard deviations.
    shifts: NDArray | None = None
    # If there is nothing but one sampled Gaussian: its pair, or one that occurs and is below.
    sampled: SampledGaussian | None = None
    attained: bool = True

    def reverse(self) -> Self:
        """Direction with every pair in the other order."""
        pair = self.sampled
        if pair is not None:
            other = "add" if pair.direction == "remove" else "remove"
            pair = dataclasses.replace(pair, direction=other)
        return dataclasses.replace(
            self,
            profiles=[p.reverse() for p in self.profiles],
            witnesses=self.witnesses and [w.reverse() for w in self.witnesses],
            sampled=pair,
        )

    def log_deltas(
        self, row: NDArray, epsilons: NDArray, lattice: Lattice
    ) -> tuple[NDArray, NDArray]:
        """Lower and upper bounds on log delta at every epsilon >= 0, for one row of counts."""
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

    def deltas(self, row: NDArray, epsilon: NDArray, lattice: Lattice) -> tuple[NDArray, NDArray]:
        """Lower and upper bounds on delta at every real epsilon."""
        size, ahead = np.abs(epsilon), epsilon >= 0
        ends = np.zeros((2, epsilon.size))
        for rows, pair in ((ahead, self), (~ahead, self.reverse())):
            if np.any(rows):
                ends[:, rows] = np.exp(pair.log_deltas(row, size[rows], lattice))
        # delta(-e) = 1 - e^{-e} + e^{-e} delta'(e).
        lower, upper = np.where(ahead, ends, -np.expm1(-size) + np.exp(-size) * ends)
        return lower, upper


def directions(runs: Runs) -> list[Direction]:
    """Remove, then add; symmetric pairs need only one."""
    mechanisms, adjacency = runs.mechanisms, runs.adjacency
    profiles = [m.profiles(adjacency) for m in mechanisms]
    witnesses = [m.witnesses(adjacency) for m in mechanisms]
    real, both = all(witnesses), any(len(p) > 1 for p in (*profiles, *witnesses))
    gaussians = [plain_gaussian(m) for m in mechanisms]
    shifts = np.array([g.shift(adjacency) for g in gaussians if g])
    step = mechanisms[0] if len(mechanisms) == 1 else None
    sides = []
    for end in (0, -1)[: 1 + both]:
        sampled = None
        if isinstance(step, Sampled) and isinstance(step.base, Gaussian) and both:
            # The witness of a subset of fixed size is a sampled Gaussian as well.
            sigma = 1 / step.base.shift(adjacency)
            sampled = SampledGaussian(sigma, step.sample_rate, "add" if end else "remove")
        sides.append(
            Direction(
                [p[end] for p in profiles],
                [w[end] for w in witnesses] if real else None,
                shifts if all(gaussians) else None,
                sampled,
                isinstance(step, PoissonSubsampled),
            )
        )
    return sides


def plain_gaussian(mechanism: Mechanism) -> Gaussian | None:
    """The Gaussian that a mechanism is, correlated or of one batch with every record in it."""
    whole = isinstance(mechanism, Sampled) and mechanism.sample_rate == 1
    whole = whole or (isinstance(mechanism, Epoch) and mechanism.attained)
    if whole or (isinstance(mechanism, CorrelatedGaussian) and mechanism.attained):
        mechanism = mechanism.base  # type: ignore[attr-defined]
    return mechanism if isinstance(mechanism, Gaussian) else None


def dominating_shifts(runs: Runs) -> NDArray | None:
    """Shifts of Gaussians that leak no less, where all mechanisms have one.

    A sample, or an epoch in which a record is used once, leaks no more than one Gaussian.
    """
    adjacency = runs.adjacency
    bases = [m.dominating(adjacency) if isinstance(m, Wrapped) else m for m in runs.mechanisms]
    shifts = [b.shift(adjacency) for b in bases if isinstance(b, Gaussian)]
    return np.array(shifts) if len(shifts) == len(bases) else None
