r"""Composition on a tilted lattice: the engine for anything that has a profile.

Two laws on the same nodes enclose one step: the chords of its profile above (`above`), and a law
that it dominates below (`below`). Composition keeps the order of profiles, so each is convolved
by Fourier transform and read off. To reach delta = 1e-30 they are tilted first: with weights
:math:`e^{\lambda e_j}` the interesting losses sit at the centre of the tilted law and carry full
relative precision. What is charged:

* folding: a transform of N cells knows losses modulo P = N h. What folds in is
  :math:`\sum_{m\ne0} e^{\lambda mP}\delta_T(\varepsilon+mP) \ge 0`. It only raises the upper side,
  and is subtracted below, by :math:`\delta_T(\varepsilon) \le c(\mu)e^{TK(\mu)-\mu\varepsilon}`;
* above, what lies beyond the window, and infinite losses: T times the mass past the last node;
* rounding of transform and power, per cell of the tilted law, and of each step's masses,
  amplified T-fold;
* jitter (below): atoms that do not fit the lattice, by Hoeffding's inequality.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.lattice.group import Group
from dplearn.engine.lattice.survey import Scan
from dplearn.engine.profile import Profile

# Masses are doubles: where log delta is less the bound of Chernoff has to do.
_LEAST = -690.0
# A direction with an upper end below this part of the other's is left as it is.
_LITTLE = 0.2


@dataclass(frozen=True)
class Lattice:
    """Numerical settings of the composition."""

    rtol: float = 1e-6  # relative width of a bracket to aim at; it holds whatever is reached
    most_cells: int = 2**16  # of a transform
    # Parts of delta to try for losses cut off; by default at most rtol / 100.
    cuts: tuple[float, ...] = ()

    def brackets(
        self,
        sides: Sequence[Sequence[Profile]],
        counts: ArrayLike,
        *,
        delta: float,
        witnesses: Sequence[Sequence[Profile] | None] | None = None,
        proved: ArrayLike = np.inf,
    ) -> tuple[NDArray, NDArray]:
        """Lower and upper bounds on epsilon of the composed pairs, the larger of all directions.

        `sides` holds per direction one ordered pair per mechanism; `counts`, of shape (n_rows,
        n_profiles), how often each is run. `witnesses`, shaped like `sides`, are the pairs whose
        composition is bounded from below: without them, or where one knows no tails, the lower
        ends are 0. Upper ends are infinite only if the mass at infinity exceeds delta. An upper end
        that is `proved`, one for each row, is where the search begins if it is far less.
        """
        counts = np.asarray(counts, dtype=float)
        totals = counts.sum(axis=1)
        proved = np.broadcast_to(proved, totals.shape)
        lower, upper = np.zeros(totals.shape), np.zeros(totals.shape)
        below = witnesses or [None] * len(sides)
        scans = [_scans(*side) for side in zip(sides, below, strict=True)]
        # Rows within a factor 4 share one lattice, one tilt and one transform.
        with np.errstate(divide="ignore"):
            octave = np.floor(np.log2(totals) / 2)
        for number in np.unique(octave[totals > 0]):
            rows = octave == number
            groups = [self._group(side, counts[rows], math.log(delta)) for side in scans]
            for survey in (group.survey for group in groups):
                far = proved[rows] < 0.5 * survey.fallback
                survey.fallback = np.where(far, proved[rows], survey.fallback)
            lower[rows], upper[rows] = _larger(groups)
        return lower, upper

    def log_deltas(
        self,
        profiles: Sequence[Profile],
        row: ArrayLike,
        *,
        epsilons: ArrayLike,
        witnesses: Sequence[Profile] | None = None,
    ) -> tuple[NDArray, NDArray]:
        """Lower and upper bounds on log delta of one composed pair, at every epsilon >= 0.

        Profiles, row and witnesses are one direction's and one row's of those in `brackets`;
        without witnesses the lower ends are -inf.
        """
        counts, epsilons = np.atleast_2d(np.asarray(row, dtype=float)), np.asarray(epsilons)
        scans = _scans(profiles, witnesses)
        survey = self._group(scans, counts, _LEAST).survey
        lower = np.full(epsilons.shape, -np.inf)
        if survey.scale == 0:
            return lower, np.zeros(epsilons.shape)
        # Chernoff's log delta, shape (n, n_tilts): one tilt serves where it is nearly the best.
        bound = survey.chernoff(epsilons)
        best = np.min(bound, axis=1)
        upper = np.minimum(np.logaddexp(best, survey.log_paid), 0.0)
        left = np.flatnonzero(best > _LEAST)
        while left.size:
            pick = int(np.argmin(bound[left[0]]))
            near = left[bound[left, pick] <= best[left] + 4]
            unit = min(float(np.min(best[near])), -1e-3)
            group = self._group(scans, counts, unit)
            lower[near], upper[near] = group.log_deltas(survey.mu[1 + pick], epsilons[near])
            left = np.setdiff1d(left, near)
        return lower, upper

    def _group(self, scans: list[Scan], counts: NDArray, log_delta: float) -> Group:
        cuts = self.cuts or (1e-2 * min(self.rtol, 1e-2),)
        return Group(scans, counts, log_delta, self.rtol, self.most_cells, cuts)


def _scans(profiles: Sequence[Profile], witnesses: Sequence[Profile] | None) -> list[Scan]:
    return [Scan(*pair) for pair in zip(profiles, witnesses or [None] * len(profiles), strict=True)]


def _larger(groups: list[Group]) -> tuple[NDArray, NDArray]:
    """Brackets of the larger direction; rows proved smaller in the other are not refined."""
    ends: list[tuple[NDArray, NDArray]] = []
    groups = sorted(groups, key=lambda group: -float(np.sum(group.survey.fallback)))
    for group in groups:
        # What holds already may prove that a direction is smaller.
        fallback, least = group.survey.fallback, np.max([low for low, _ in ends], axis=0, initial=0)
        smaller = np.all(fallback <= least)
        ends.append((np.zeros(fallback.shape), fallback) if smaller else group.coarse())
    for i in sorted(range(len(groups)), key=lambda i: -float(np.sum(ends[i][1]))):
        lower, upper = ends[i]
        # Smaller, or so much smaller than the other that it would tell next to nothing.
        rows = upper >= np.max([(low, _LITTLE * high) for low, high in ends], axis=(0, 1))
        if groups[i].survey.scale > 0 and np.any(rows):
            lower[rows], upper[rows] = groups[i].only(rows).refine(lower[rows], upper[rows])
    lower, upper = np.max(ends, axis=0)
    return lower, upper
