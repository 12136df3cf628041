r"""Composition on a tilted lattice: the engine for every mechanism with a profile.

Two laws (distributions of the loss) on the same nodes bound one step (module `laws`): the profile
of the upper law consists of chords, that of the lower law lies below the exact one. Composition is
monotone in the profiles, so each law is convolved by Fourier transform. To reach delta = 1e-30 the
laws are first tilted: with weights :math:`e^{\lambda e_j}` the relevant losses lie at the centre of
the tilted law with full relative precision. Errors and their bounds:

* folding: a transform of N cells determines losses modulo P = N h. Wrapping around adds
  :math:`\sum_{m\ne0} e^{\lambda mP}\delta_T(\varepsilon+mP) \ge 0`, which is valid for the upper
  bound; the lower one subtracts :math:`\delta_T(\varepsilon) \le c(\mu)e^{TK(\mu)-\mu\varepsilon}`;
* above: for the upper bound, the probability of losses beyond the N cells and of infinite losses;
* rounding of transform and power, per cell of the tilted law, and of each step's masses,
  amplified T-fold;
* jitter: for the lower bound, atoms moved to the two nodes beside them, by Hoeffding's inequality.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.lattice.group import Group
from dplearn.engine.lattice.survey import Scan, Survey, log_c
from dplearn.engine.profile import Profile

# Below this log delta the masses underflow; use only the Chernoff bound there.
_LEAST = -690.0
# Profiles for a removed (or an added) record, one for each mechanism.
Side = Sequence[Profile]
# Do not refine brackets whose upper end is below this fraction of the largest upper end.
_LITTLE = 0.2


@dataclass(frozen=True)
class Lattice:
    """Accuracy and size of a composition on a lattice of losses.

    Parameters
    ----------
    rtol : float > 0, target relative width of a bracket; wider brackets are valid, too
    most_cells : int >= 64, largest length of a transform
    cuts : tuple of float in (0, 1), candidate fractions of delta for truncated losses; by default
        one, at most rtol / 100
    """

    rtol: float = 1e-6
    most_cells: int = 2**16
    cuts: tuple[float, ...] = ()

    def brackets(
        self,
        sides: Sequence[Side],
        counts: ArrayLike,
        *,
        delta: float,
        witnesses: Sequence[Side | None] | None = None,
        proved: ArrayLike = np.inf,
    ) -> tuple[NDArray, NDArray]:
        """Return bounds on the larger epsilon of removing and adding a record, per row of `counts`.

        Parameters
        ----------
        sides : one list per direction (remove or add a record), with a Profile per mechanism
        counts : array of int >= 0, shape (n_rows, n_profiles), numbers of runs
        delta : float in (0, 1)
        witnesses : shaped like `sides`, pairs whose composition gives lower bounds; without them,
            or if a pair has no tails, the lower ends are 0
        proved : upper ends proved elsewhere, shape (n_rows,); the search begins at them if they
            are far below its first bounds
        """
        counts = np.asarray(counts, dtype=float)
        totals = counts.sum(axis=1)
        proved = np.broadcast_to(proved, totals.shape)
        lower, upper = np.zeros(totals.shape), np.zeros(totals.shape)
        below = witnesses or [None] * len(sides)
        scans = [_scans(*side) for side in zip(sides, below, strict=True)]
        # Rows whose total numbers of runs are within a factor 4 share lattice, tilt and transform.
        octave = np.where(totals > 0, np.floor(np.log2(np.maximum(totals, 1)) / 2), -1)
        for number in np.unique(octave[octave >= 0]):
            rows = octave == number
            groups = [self._group(side, counts[rows], math.log(delta)) for side in scans]
            for survey in (group.survey for group in groups):
                far = proved[rows] < 0.5 * survey.fallback
                survey.fallback = np.where(far, proved[rows], survey.fallback)
            lower[rows], upper[rows] = _larger(groups)
        return lower, upper

    def log_deltas(
        self, profiles: Side, row: ArrayLike, *, epsilons: ArrayLike, witnesses: Side | None = None
    ) -> tuple[NDArray, NDArray]:
        """Return lower and upper bounds on log delta of one composition, at each epsilon.

        Without witnesses the lower ends are -inf.

        Parameters
        ----------
        profiles, row, witnesses : those of one direction and row in `brackets`
        epsilons : array of float >= 0, shape (n,)
        """
        counts, epsilons = np.atleast_2d(np.asarray(row, dtype=float)), np.asarray(epsilons)
        scans = _scans(profiles, witnesses)
        survey = self._group(scans, counts, _LEAST).survey
        lower = np.full(epsilons.shape, -np.inf)
        if survey.scale == 0:
            return lower, np.zeros(epsilons.shape)
        # Chernoff bounds, log of c(mu) e^{K(mu) - mu eps} at mu > 0, shape (n, n_tilts): epsilons
        # whose best tilts are close share a tilt.
        mu = survey.mu[1:]
        bound = survey.k[0, 1:] + log_c(mu) - mu * epsilons[:, None]
        best = np.min(bound, axis=1)
        upper = np.minimum(np.logaddexp(best, survey.log_paid), 0.0)
        left = np.flatnonzero(best > _LEAST)
        while left.size:
            pick = int(np.argmin(bound[left[0]]))
            near = left[bound[left, pick] <= best[left] + 4]
            unit = min(float(np.min(best[near])), -1e-3)
            group = self._group(scans, counts, unit)
            lower[near], upper[near] = group.log_deltas(mu[pick], epsilons[near])
            left = np.setdiff1d(left, near)
        return lower, upper

    def _group(self, scans: list[Scan], counts: NDArray, log_delta: float) -> Group:
        # Each of the cuts gives a valid Chernoff bound; the lattice uses the last cut.
        cuts = self.cuts or (1e-2 * min(self.rtol, 1e-2),)
        surveys = [Survey(scans, counts, log_delta, cut) for cut in cuts]
        surveys[-1].fallback = np.min([survey.fallback for survey in surveys], axis=0)
        return Group(scans, counts, log_delta, self.rtol, self.most_cells, surveys[-1])


def _scans(profiles: Side, witnesses: Side | None) -> list[Scan]:
    return [Scan(*pair) for pair in zip(profiles, witnesses or [None] * len(profiles), strict=True)]


def _larger(groups: list[Group]) -> tuple[NDArray, NDArray]:
    """Return per row a bracket of the largest epsilon of the groups; refine only where needed."""
    ends: list[tuple[NDArray, NDArray]] = []
    groups = sorted(groups, key=lambda group: -float(np.sum(group.survey.fallback)))
    for group in groups:
        # The first bounds may prove that a group has smaller epsilons than an earlier group.
        fallback, least = group.survey.fallback, np.max([low for low, _ in ends], axis=0, initial=0)
        smaller = np.all(fallback <= least)
        ends.append((np.zeros(fallback.shape), fallback) if smaller else group.coarse())
    for i in sorted(range(len(groups)), key=lambda i: -float(np.sum(ends[i][1]))):
        lower, upper = ends[i]
        # Refine rows whose upper end is at least every lower end and _LITTLE times every upper end.
        rows = upper >= np.max([(low, _LITTLE * high) for low, high in ends], axis=(0, 1))
        if groups[i].survey.scale > 0 and np.any(rows):
            lower[rows], upper[rows] = groups[i].only(rows).refine(lower[rows], upper[rows])
    lower, upper = np.max(ends, axis=0)
    return lower, upper
