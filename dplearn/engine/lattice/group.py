"""Groups of compositions with similar numbers of runs, and the lattice that a group shares."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core.logspace import log
from dplearn.engine.lattice.laws import BLUR, Atoms, below_the_profile, connect_the_dots
from dplearn.engine.lattice.sum import Law, Sum, Window
from dplearn.engine.lattice.survey import Scan, Survey, log_c, paid, remaining

# Target relative widths of brackets in the first and second pass; most cells in the first.
_COARSE, _ROUGH, _FEW = 1e-2, 1e-3, 2**13
# Maximum cell width for lower bounds: in wider cells e^loss would overflow.
WIDEST = 600.0


class Span(NamedTuple):
    """Tilt, smaller and larger tilts for Chernoff bounds, first loss of each row, period."""

    tilt: float
    left: NDArray
    right: NDArray
    begin: NDArray
    period: float


@dataclass(frozen=True)
class Grid:
    """A lattice, and for each profile the atoms that lie on nodes."""

    window: Window
    anchors: list[Atoms]
    full: bool  # whether finer steps would need more cells than allowed

    def nodes(self, i: int, edges: tuple[float, float]) -> tuple[int, NDArray]:
        """Return the index of the first node, and all nodes of profile i, on both sides of 0."""
        h, loss = self.window.step, self.anchors[i].loss
        offset = float(loss[0] % h) if loss.size else 0.0
        # Treat an offset that is 0 up to rounding as 0: then sums of losses are multiples of h.
        offset = 0.0 if min(offset, h - offset) < 1e-9 * h else offset
        # Begin one node earlier: an atom on a node belongs to the cell on the node's left.
        start = min(math.floor((edges[0] - offset) / h), 0) - 1
        stop = max(math.ceil((edges[1] - offset) / h), 1)
        return start, offset + np.arange(start, stop + 1) * h


@dataclass
class Group:
    """Compositions with similar numbers of runs, which share lattice and tilt."""

    scans: list[Scan]
    counts: NDArray
    log_delta: float
    rtol: float
    most_cells: int
    survey: Survey

    @property
    def below(self) -> bool:
        """Whether lower bounds are possible: all parts have real pairs with tail probabilities."""
        return all(scan.witness and scan.witness.has_tails for scan in self.scans)

    def coarse(self) -> tuple[NDArray, NDArray]:
        """Return rough brackets from few cells, starting from the upper bounds of the survey."""
        lower, upper = np.zeros(len(self.counts)), self.survey.fallback.copy()
        if self.survey.scale == 0 or not np.any(np.isfinite(upper) & (upper > 0)):
            return lower, upper
        for _ in range(8):
            before = upper
            lower, upper, _ = self._pass(lower, upper, _COARSE, _FEW)
            # Repeat while an upper end decreases: the tilt was chosen for its previous value.
            if np.all(upper >= 0.9 * before):
                break
        return lower, upper

    def only(self, rows: NDArray) -> Self:
        """Return the group with only the selected rows."""
        survey = copy.copy(self.survey)
        survey.k, survey.fallback = survey.k[rows], survey.fallback[rows]
        return replace(self, counts=self.counts[rows], survey=survey)

    def refine(self, lower: NDArray, upper: NDArray) -> tuple[NDArray, NDArray]:
        """Return brackets of target relative width `rtol`, given rough brackets."""
        if not np.any(np.isfinite(upper) & (upper > lower)):
            return lower, upper
        for _ in range(6 if self.below else 0):
            if np.any(lower):
                break
            # If the range of losses begins at 0, its cells may be too wide for a lower bound.
            before = upper
            lower, upper, _ = self._pass(lower, upper, _ROUGH, self.most_cells, near=True)
            if np.all(upper >= 0.999 * before):
                break
        width = _width(lower, upper)
        # A wide bracket gives a poor tilt and period, so add a pass of intermediate width.
        aims = [_ROUGH, self.rtol] if width > 0.02 and self.rtol < _ROUGH else [self.rtol]
        while aims:
            aim, before = aims.pop(0), width
            lower, upper, full = self._pass(lower, upper, aim, self.most_cells)
            width = _width(lower, upper)
            if self.below and width > max(0.0 if full else 0.5, 0.7 * before):
                break  # a finer lattice would not help, or is not allowed
            more = self.below and not aims and not full
            if more and 4 * self.rtol < width < 0.7 * before:
                # Once the step h is about the spread of one loss, a bracket has width ~ h^2.
                aims.append(aim * max(self.rtol / width, 1e-3))
        return lower, upper

    def _pass(
        self, lower: NDArray, upper: NDArray, rtol: float, most_cells: int, near: bool = False
    ) -> tuple[NDArray, NDArray, bool]:
        """Return a narrower bracket, and whether the lattice has its maximum size.

        The lattice has the best tilt for the old bracket, and a period with little wrap-around. If
        it begins `near` the upper end, its cells are finer, but epsilons far below are omitted.
        """
        guess, mu = np.where(np.isfinite(upper), upper, 0.0), self.survey.mu
        # log of c(mu) exp(K(mu) - mu * guess); a larger value means more rounding.
        size = np.median(self.survey.k + log_c(mu) - mu * guess[:, None], axis=0)[1:-1]
        picks = 1 + np.flatnonzero(size <= np.min(size) + 7)
        span = self._span(mu[picks], lower, guess, near)
        grid = self._grid(span, guess, rtol, most_cells)
        if self.below and grid.window.step <= WIDEST:
            laws, tau, raised = self._lower_laws(grid)
            ends = self._read(Sum.epsilon_below, grid.window, laws, span.begin, tau)
            lower = np.maximum(lower, np.maximum(np.array(ends) - raised, 0.0))
        ends = self._read(Sum.epsilon_above, grid.window, self._upper_laws(grid), span.begin)
        upper = np.minimum(upper, np.maximum(np.minimum(ends, self.survey.fallback), 0.0))
        return lower, upper, grid.full

    def _span(self, tilts: NDArray, lower: NDArray, guess: NDArray, near: bool = False) -> Span:
        """Return the `Span` of the tilt that needs the smallest period at the guessed epsilons."""
        mu, tilt = self.survey.mu, tilts[:, None]
        # Shapes: begin (n_tilts, n_rows), need (n_tilts, n_rows, n_mu).
        begin = np.minimum(lower, guess) - 2 / tilt
        if near:
            # The guess is an upper bound, seldom above epsilon by more than 20 / tilt.
            begin = np.maximum(begin, guess - 20 / tilt)
        # Wrapped mass is below tau delta if need <= gap * period for one mu on each side.
        need = self.survey.k + log_c(mu) - mu * begin[..., None] - self.log_delta
        need += 0.1 - math.log(1e-3 * self.rtol)
        gap = (mu - tilt)[:, None, :]
        share = need / np.where(gap == 0, np.inf, np.abs(gap))
        left, right = np.where(gap < 0, share, np.inf), np.where(gap > 0, share, np.inf)
        ends = np.min(right, axis=2), np.min(left, axis=2), guess - begin + 4 / tilt
        period = np.max(ends, axis=(0, 2))
        best = int(np.argmin(period))
        smaller, larger = (np.unique(np.argmin(side[best], axis=1)) for side in (left, right))
        return Span(float(tilts[best]), mu[smaller], mu[larger], begin[best], float(period[best]))

    def _grid(self, span: Span, guess: NDArray, rtol: float, most_cells: int) -> Grid:
        """Return a lattice for bracket width `rtol`, with as many atoms as possible on nodes."""
        tilt, period = span.tilt, span.period
        most = float(np.max(self.counts.sum(axis=1)))
        fallback = float(np.median(self.survey.fallback))
        size = max(float(np.median(guess)), 1e-3 * fallback, self.survey.scale)
        # The upper law's error per run is step^2 (1 + tilt) / 12, half of the lower law's.
        step = math.sqrt(4 * rtol * size / (most * (1 + tilt)))
        widest = max(b - a for a, b in self.survey.edges)
        step = max(min(step, period / 64), max(period, widest / 4) / most_cells)
        anchors = [scan.atoms for scan in self.scans]
        gap, finest = min(a.spacing() for a in anchors), 4 * max(period, widest) / most_cells
        ratio = np.array([a.spacing() / gap if gap < np.inf else 0.5 for a in anchors])
        # A profile with fewer than two atoms has an infinite gap.
        whole = np.all(np.isfinite(ratio)) and np.all(np.abs(ratio - np.rint(ratio)) <= BLUR)
        if gap >= finest and whole and all(scan.discrete for scan in self.scans):
            step = gap  # no mass lies between the atoms, so this lattice is exact
        else:
            anchors = [a.apart(2 * step) for a in anchors]
            gaps = [a.spacing() for a in anchors if a.loss.size > 1]
            step = gaps[0] / math.ceil(gaps[0] / step) if gaps else step
        # Lengths 2^k and 3 * 2^k are fast to transform.
        power = 2 ** max(math.ceil(math.log2(period / step + 1)), 4)
        cells = 3 * power // 4 if period / step + 1 <= 0.75 * power else power
        window = Window(tilt, step, cells, span.left, span.right)
        return Grid(window, anchors, 1.5 * cells > most_cells)

    def _upper_laws(self, grid: Grid) -> list[Law]:
        laws = []
        for i, (scan, edges) in enumerate(zip(self.scans, self.survey.edges, strict=True)):
            start, nodes = grid.nodes(i, edges)
            laws.append(Law(grid.window, start, nodes, *connect_the_dots(scan.profile, nodes)))
        return laws

    def _lower_laws(self, grid: Grid) -> tuple[list[Law], NDArray, NDArray]:
        """Return lower laws, and per row the corrections of delta and epsilon for moved atoms."""
        laws, split, blur, h = [], [], [], grid.window.step
        for i, (scan, edges) in enumerate(zip(self.scans, self.survey.edges, strict=True)):
            (start, nodes), atoms = grid.nodes(i, edges), grid.anchors[i]
            pair = scan.witness or scan.profile
            masses, infinity, any_split = below_the_profile(pair, nodes, h, atoms)
            laws.append(Law(grid.window, start, nodes, masses, infinity))
            split.append(float(any_split))
            # An atom's loss differs from its node by at most a relative BLUR.
            blur.append(2 * BLUR * (float(np.max(np.abs(atoms.loss), initial=0.0)) + h))
        # An atom moved to two nodes keeps E exp(-loss), and its loss changes by at most h: the sum
        # rises by more than `raised` with probability below tau delta (Hoeffding 1963, Theorem 2).
        tau, moved = 1e-3 * self.rtol, self.counts @ split
        raised = moved * h**2 / 8
        raised += h * np.sqrt(-0.5 * moved * (math.log(tau) + self.log_delta))
        return laws, np.where(moved > 0, tau, 0.0), raised + self.counts @ blur

    def _read(
        self, end: Callable, window: Window, laws: list[Law], begin: NDArray, tau: ArrayLike = 0.0
    ) -> list[float]:
        """Return a bound on epsilon for each row by the method `end` of `Sum`; inf if none."""
        log_left = remaining(self.counts, [law.infinity for law in laws], self.log_delta)
        log_left = np.logaddexp(log_left, log(tau) + self.log_delta)
        return [
            end(Sum(window, row, laws, first, unit)) if unit > -np.inf else np.inf
            for row, first, unit in zip(self.counts, begin, log_left, strict=True)
        ]

    def log_deltas(self, tilt: float, epsilon: NDArray) -> tuple[NDArray, NDArray]:
        """Return bounds on log delta for a group of one row, at epsilons that suit `tilt`."""
        (row,), unit, tilts = self.counts, self.log_delta, self.survey.mu[1:-1]
        first, last = np.min(epsilon, keepdims=True), np.max(epsilon, keepdims=True)
        span = self._span(tilts[[np.argmin(np.abs(tilts - tilt))]], first, last)
        grid, begin = self._grid(span, last, self.rtol, self.most_cells), float(span.begin[0])
        laws = self._upper_laws(grid)
        above = Sum(grid.window, row, laws, begin, unit)
        high = log([above.delta(e)[1] for e in epsilon]) + unit
        high = np.minimum(np.logaddexp(high, log(paid(row, [law.infinity for law in laws]))), 0.0)
        if not self.below or grid.window.step > WIDEST:
            return np.full(epsilon.shape, -np.inf), high
        laws, (tau,), (raised,) = self._lower_laws(grid)
        below = Sum(grid.window, row, laws, begin, unit)
        finite = np.array([below.delta(e + raised)[0] for e in epsilon])
        low = log(np.maximum(finite - tau, 0.0)) + unit
        return np.logaddexp(low, log(paid(row, [law.infinity for law in laws]))), high


def _width(lower: NDArray, upper: NDArray) -> float:
    return float(np.median(1 - lower / np.maximum(upper, 1e-300)))
