"""Rows of nearly equal length: where to put the lattice, and the two laws on it."""

from __future__ import annotations

import copy
import math
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.lattice.above import connect_the_dots
from dplearn.engine.lattice.below import BLUR, Atoms, below_the_profile
from dplearn.engine.lattice.sum import Law, Sum, Window, log_remaining, paid
from dplearn.engine.lattice.survey import Scan, Survey, log_c

# Relative widths and cells of the passes before the last.
_COARSE, _ROUGH, _FEW = 1e-2, 1e-3, 2**13


class Group:
    """Compositions of nearly equal length that share lattice and tilt."""

    def __init__(
        self,
        scans: list[Scan],
        counts: NDArray,
        log_delta: float,
        rtol: float,
        most_cells: int,
    ) -> None:
        self.scans, self.counts, self.log_delta = scans, counts, log_delta
        self.rtol, self.most_cells = rtol, most_cells
        self.below = all(scan.witness and scan.witness.has_tails for scan in scans)
        self.survey = Survey(scans, counts, log_delta, min(rtol, _COARSE))

    @property
    def composes(self) -> bool:
        """Whether there is any finite loss but 0."""
        return self.survey.scale > 0

    def coarse(self) -> tuple[NDArray, NDArray]:
        """A first bracket from few cells, starting from what holds already."""
        lower, upper = np.zeros(len(self.counts)), self.survey.fallback.copy()
        if not self.composes or not np.any(np.isfinite(upper) & (upper > 0)):
            return lower, upper
        for _ in range(8):
            before = upper
            low, high = self._pass(lower, upper, _COARSE, _FEW)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
            # While the upper end falls, tilt and window were poor.
            if np.all(upper >= 0.9 * before):
                break
        return lower, upper

    def only(self, rows: NDArray) -> Self:
        """The same group with some of its rows."""
        part = copy.copy(self)
        part.survey = copy.copy(self.survey)
        part.counts, part.survey.k = self.counts[rows], self.survey.k[rows]
        part.survey.fallback = self.survey.fallback[rows]
        return part

    def refine(self, lower: NDArray, upper: NDArray) -> tuple[NDArray, NDArray]:
        """The bracket that `rtol` asks for, in a window that begins just below what is known."""
        if not np.any(np.isfinite(upper) & (upper > lower)):
            return lower, upper
        width = _width(lower, upper)
        # From a wide bracket tilt and window are poor: take a middling step first.
        aims = [_ROUGH, self.rtol] if width > 0.02 and self.rtol < _ROUGH else [self.rtol]
        while aims:
            aim, before = aims.pop(0), width
            low, high = self._pass(lower, upper, aim, self.most_cells)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
            width = _width(lower, upper)
            more = self.below and not aims and not self.full
            if more and 4 * self.rtol < width < 0.7 * before:
                # Steps as wide as the spread of one loss: the width falls like h^2 from there.
                aims.append(aim * max(self.rtol / width, 1e-3))
        return lower, upper

    def _pass(
        self, lower: NDArray, upper: NDArray, rtol: float, most_cells: int
    ) -> tuple[NDArray, NDArray]:
        """Bracket with the tilt that suits what is known, over the least period that folds well."""
        survey, a = self.survey, self.survey.tilts
        known = np.where(np.isfinite(upper), upper, 0.0)
        # log of c(mu) e^{K(mu) - mu e} / delta at what is known: rounding grows with it.
        mu = np.append(0.0, a)
        size = np.median(survey.k + log_c(mu) - mu * known[:, None], axis=0)[1:-1]
        found = [
            self._period(int(pick), lower, known)
            for pick in np.flatnonzero(size <= np.min(size) + 7)
        ]
        pick, tilts, begin, period = min(found, key=lambda choice: choice[-1])
        return self._bracket(pick, tilts, begin, period, known, rtol, most_cells)

    def _period(
        self, pick: int, lower: NDArray, known: NDArray
    ) -> tuple[int, tuple[NDArray, NDArray], NDArray, float]:
        """The least period that folds well with the tilt of index `pick`, and its two other mu."""
        survey, a = self.survey, self.survey.tilts
        mu = np.append(0.0, a)
        begin = np.minimum(lower, known) - 2 / a[pick]
        # What folds is below tau delta as soon as need <= gap * period for one mu a side.
        need = survey.k + log_c(mu) - mu * begin[:, None] - self.log_delta
        need += 0.1 - math.log(1e-3 * self.rtol)
        right = need[:, pick + 2 :] / (a[pick + 1 :] - a[pick])
        left = need[:, : pick + 1] / (a[pick] - mu[: pick + 1])
        ends = np.min(right, axis=1), np.min(left, axis=1), known - begin + 4 / a[pick]
        tilts = np.argmin(left, axis=1), pick + 1 + np.argmin(right, axis=1)
        return pick, tilts, begin, float(np.max(ends))

    def _bracket(
        self,
        pick: int,
        tilts: tuple[NDArray, NDArray],
        begin: NDArray,
        period: float,
        guess: NDArray,
        rtol: float,
        most_cells: int,
    ) -> tuple[NDArray, NDArray]:
        window = self._window(pick, tilts, period, guess, rtol, most_cells)
        lower = self._lower_ends(window, begin) if self.below else np.zeros(begin.shape)
        return lower, self._upper_ends(window, begin)

    def _window(
        self,
        pick: int,
        tilts: tuple[NDArray, NDArray],
        period: float,
        guess: NDArray,
        rtol: float,
        most_cells: int,
    ) -> Window:
        tilt = float(self.survey.tilts[pick])
        most = float(np.max(self.counts.sum(axis=1)))
        fallback = float(np.median(self.survey.fallback))
        size = max(float(np.median(guess)), 1e-3 * fallback, self.survey.scale)
        # Each step costs h^2 (1 + lambda) / 12 above and twice that below.
        step = math.sqrt(4 * rtol * size / (most * (1 + tilt)))
        widest = max(b - a for a, b in self.survey.edges)
        step = max(min(step, period / 64), max(period, widest / 4) / most_cells)
        step = self._align(step, 4 * max(period, widest) / most_cells)
        # A length 2^k or 3 * 2^k: the transform likes both.
        power = 2 ** max(math.ceil(math.log2(period / step + 1)), 4)
        cells = 3 * power // 4 if period / step + 1 <= 0.75 * power else power
        self.full = 1.5 * cells > most_cells
        with_zero = np.append(0.0, self.survey.tilts)
        left, right = with_zero[np.unique(tilts[0])], self.survey.tilts[np.unique(tilts[1])]
        return Window(tilt, step, cells, left, right)

    def _align(self, step: float, finest: float) -> float:
        """A step at most that long which puts atoms on nodes, as far as they fit one lattice."""
        atoms = [scan.atoms for scan in self.scans]
        gap = min(a.spacing() for a in atoms)
        ratio = np.array([a.spacing() / gap for a in atoms]) if gap < np.inf else np.full(1, 0.5)
        if gap >= finest and _whole(ratio) and all(a.complete for a in atoms):
            # Nothing lies between the atoms: their own lattice is exact.
            step, self.anchors = gap, atoms
        else:
            self.anchors = [a if a.spacing() >= 2 * step else Atoms.none() for a in atoms]
            gaps = [a.spacing() for a in self.anchors if a.loss.size > 1]
            step = gaps[0] / math.ceil(gaps[0] / step) if gaps else step
        self.offsets = [float(a.loss[0] % step) if a.loss.size else 0.0 for a in self.anchors]
        return step

    def _nodes(self, i: int, h: float) -> tuple[int, NDArray]:
        """Index of the first node of profile i, and all of them, beyond 0 both ways."""
        (lower, upper), offset = self.survey.edges[i], self.offsets[i]
        # One to spare: an atom on a node counts to the cell before it.
        start = min(math.floor((lower - offset) / h), 0) - 1
        stop = max(math.ceil((upper - offset) / h), 1)
        nodes = offset + np.arange(start, stop + 1) * h
        return start, np.where(np.abs(nodes) < 1e-9 * h, 0.0, nodes)

    def _upper_laws(self, window: Window) -> list[Law]:
        """Chords of every profile."""
        laws = []
        for i, scan in enumerate(self.scans):
            start, nodes = self._nodes(i, window.step)
            laws.append(Law(window, start, nodes, *connect_the_dots(scan.profile, nodes)))
        return laws

    def _lower_laws(self, window: Window) -> tuple[list[Law], NDArray, NDArray]:
        """Laws below every witness; what jitter costs, of delta and in epsilon, per row."""
        laws, split, blur = [], [], []
        for i, (scan, atoms) in enumerate(zip(self.scans, self.anchors, strict=True)):
            start, nodes = self._nodes(i, window.step)
            witness = scan.witness or scan.profile
            masses, endless, some = below_the_profile(witness, nodes, window.step, atoms)
            laws.append(Law(window, start, nodes, masses, endless))
            split.append(float(some))
            # Nodes within BLUR of an atom, or within ten of 0, stand for it.
            reach = float(np.max(np.abs(atoms.loss), initial=0.0)) + 10 * window.step
            blur.append(2 * BLUR * reach)
        # Split atoms raise a loss by at most h and e^{-loss} not at all on average: the sum by
        # more than `raised` with a probability below tau delta (Hoeffding 1963, Theorem 2).
        tau, moved = 1e-3 * self.rtol, self.counts @ split
        raised = moved * window.step**2 / 8
        raised += window.step * np.sqrt(-0.5 * moved * (math.log(tau) + self.log_delta))
        return laws, np.where(moved > 0, tau, 0.0), raised + self.counts @ blur

    def _upper_ends(self, window: Window, begin: NDArray) -> NDArray:
        laws = self._upper_laws(window)
        log_rest = log_remaining(self.counts, laws, self.log_delta)
        found = [
            Sum(window, row, laws, first, rest).epsilon_above() if rest > -np.inf else np.inf
            for row, first, rest in zip(self.counts, begin, log_rest, strict=True)
        ]
        return np.maximum(np.minimum(found, self.survey.fallback), 0.0)

    def _lower_ends(self, window: Window, begin: NDArray) -> NDArray:
        laws, tau, raised = self._lower_laws(window)
        log_rest = log_remaining(self.counts, laws, self.log_delta)
        with np.errstate(divide="ignore"):
            log_rest = np.logaddexp(log_rest, np.log(tau) + self.log_delta)
        found = [
            Sum(window, row, laws, first, rest).epsilon_below() if rest > -np.inf else np.inf
            for row, first, rest in zip(self.counts, begin, log_rest, strict=True)
        ]
        return np.maximum(found - raised, 0.0)

    def log_deltas(self, tilt: float, epsilon: NDArray) -> tuple[NDArray, NDArray]:
        """log delta of one row, less and plus every charge, near the epsilon that suits a tilt."""
        (row,), unit, tilts = self.counts, self.log_delta, self.survey.tilts
        pick = min(int(np.argmin(np.abs(tilts - tilt))), tilts.size - 2)
        first, last = np.min(epsilon, keepdims=True), np.max(epsilon, keepdims=True)
        _, mu, begin, period = self._period(pick, first, last)
        window = self._window(pick, mu, period, last, self.rtol, self.most_cells)
        laws = self._upper_laws(window)
        above = Sum(window, row, laws, float(begin[0]), unit)
        with np.errstate(divide="ignore"):
            high = np.log([above.delta(e)[1] for e in epsilon]) + unit
            high = np.minimum(np.logaddexp(high, np.log(paid(row, laws))), 0.0)
            if not self.below:
                return np.full(epsilon.shape, -np.inf), high
            laws, (tau,), (raised,) = self._lower_laws(window)
            below = Sum(window, row, laws, float(begin[0]), unit)
            finite = np.array([below.delta(e + raised)[0] for e in epsilon])
            low = np.log(np.maximum(finite - tau, 0.0)) + unit
            return np.logaddexp(low, np.log(paid(row, laws))), high


def _whole(ratio: NDArray) -> bool:
    # A law without two atoms has an infinite gap.
    return bool(np.all(np.isfinite(ratio)) and np.all(np.abs(ratio - np.rint(ratio)) <= BLUR))


def _width(lower: NDArray, upper: NDArray) -> float:
    """Relative width of the middling row."""
    return float(np.median(1 - lower / np.maximum(upper, 1e-300)))
