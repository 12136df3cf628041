"""Rows of nearly equal length: where to put the lattice, and the two laws on it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dplearn.dominated import BLUR, Atoms, below_the_profile
from dplearn.lattice._sum import Law, Sum, Window
from dplearn.lattice._survey import Scan, Survey, log_c, log_remaining
from dplearn.pld import connect_the_dots

# Of a coarse pass: relative width, cells, and log of what may lie outside its window.
_COARSE, _FEW, _NEED = 1e-2, 2**13, 26.0
_ROUGH = 1e-3


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

    def coarse(self) -> tuple[NDArray, NDArray]:
        """A first bracket, with a window wide enough for any epsilon."""
        survey = self.survey
        if survey.scale == 0:
            return np.zeros(len(self.counts)), survey.fallback
        near = np.argmin(np.abs(survey.estimate - self.log_delta), axis=1)
        lower, upper = self._wide(near)
        # Of a law with two humps the estimate may mistake the tilt: then follow what was found.
        for _ in range(8):
            again = np.argmin(np.abs(survey.saddle - upper[:, None]), axis=1)
            if abs(np.median(again) - np.median(near)) <= 2:
                break
            (low, high), near, before = self._wide(again), again, upper
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
            if np.all(upper > 0.999 * before):
                break
        return lower, upper

    def refine(self, lower: NDArray, upper: NDArray) -> tuple[NDArray, NDArray]:
        """The bracket that `rtol` asks for, in a window that begins just below what is known."""
        if self.survey.scale == 0 or not np.any(np.isfinite(upper)):
            return lower, upper
        width = _width(lower, upper)
        # From a wide bracket tilt and window are poor: take a middling step first.
        aims = [_ROUGH, self.rtol] if width > 0.02 and self.rtol < _ROUGH else [self.rtol]
        while aims:
            aim, before = aims.pop(0), width
            low, high = self._narrow(lower, upper, aim)
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
            width = _width(lower, upper)
            more = self.below and not aims and not self.full
            if more and 4 * self.rtol < width < 0.7 * before:
                # Steps as wide as the spread of one loss: the width falls like h^2 from there.
                aims.append(aim * max(self.rtol / width, 1e-3))
        return lower, upper

    def _wide(self, near: NDArray) -> tuple[NDArray, NDArray]:
        """Bracket with the tilt of index `near`, from the left end of the tilted law."""
        survey, a = self.survey, self.survey.tilts
        # At least one larger tilt is needed for the Chernoff bound on the right.
        pick = min(int(np.median(near)), a.size - 2)
        guess = np.clip(survey.saddle[np.arange(near.size), near], 0.0, survey.fallback)
        with_zero = np.append(0.0, a)
        rise = survey.k - survey.k[:, [pick + 1]]
        right = (rise[:, pick + 2 :] + _NEED) / (a[pick + 1 :] - a[pick])
        left = (-rise[:, : pick + 1] - _NEED) / (a[pick] - with_zero[: pick + 1])
        begin = np.minimum(np.max(left, axis=1), guess - 3 / a[pick])
        period = float(np.max(np.min(right, axis=1) - begin))
        reach = 2 ** np.arange(6)
        tilts = np.maximum(pick + 1 - reach, 0), np.minimum(pick + reach, a.size - 1)
        return self._bracket(pick, tilts, begin, period, guess, _COARSE, _FEW)

    def _narrow(self, lower: NDArray, upper: NDArray, rtol: float) -> tuple[NDArray, NDArray]:
        """Bracket with the tilt that suits what is known, over the least period that folds well."""
        survey, a = self.survey, self.survey.tilts
        known = np.minimum(upper, survey.fallback)
        # log of c(mu) e^{K(mu) - mu e} / delta at what is known: rounding grows with it.
        mu = np.append(0.0, a)
        size = np.median(survey.k + log_c(mu) - mu * known[:, None], axis=0)[1:-1]
        found = [
            self._period(int(pick), lower, known)
            for pick in np.flatnonzero(size <= np.min(size) + 7)
        ]
        pick, tilts, begin, period = min(found, key=lambda choice: choice[-1])
        return self._bracket(pick, tilts, begin, period, known, rtol, self.most_cells)

    def _period(
        self, pick: int, lower: NDArray, known: NDArray
    ) -> tuple[int, tuple[NDArray, NDArray], NDArray, float]:
        """The least period that folds well with the tilt of index `pick`, and its two other mu."""
        survey, a = self.survey, self.survey.tilts
        mu = np.append(0.0, a)
        floor = lower if self.below else 0.7 * known - 20 / a[pick]
        begin = np.minimum(floor, known) - 2 / a[pick]
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
        tilt = float(self.survey.tilts[pick])
        most = float(np.max(self.counts.sum(axis=1)))
        fallback = float(np.median(self.survey.fallback))
        size = max(float(np.median(guess)), 1e-3 * fallback, self.survey.scale)
        # Each step costs h^2 lambda / 12 above and h^2 (1 + lambda) / 6 below.
        step = math.sqrt(4 * rtol * size / (most * (1 + tilt)))
        widest = max(b - a for a, b in self.survey.edges)
        step = max(min(step, period / 64), max(period, widest / 4) / most_cells)
        step = self._align(step)
        # A length 2^k or 3 * 2^k: the transform likes both.
        power = 2 ** max(math.ceil(math.log2(period / step + 1)), 4)
        cells = 3 * power // 4 if period / step + 1 <= 0.75 * power else power
        self.full = 1.5 * cells > most_cells
        with_zero = np.append(0.0, self.survey.tilts)
        left, right = with_zero[np.unique(tilts[0])], self.survey.tilts[np.unique(tilts[1])]
        window = Window(tilt, step, cells, left, right)
        lower = self._lower_ends(window, begin) if self.below else np.zeros(begin.shape)
        return lower, self._upper_ends(window, begin)

    def _align(self, step: float) -> float:
        """A step at most that long which puts atoms on nodes, as far as they fit one lattice."""
        self.anchors = [
            scan.atoms if scan.atoms.spacing() >= 2 * step else Atoms.none() for scan in self.scans
        ]
        gaps = [atoms.spacing() for atoms in self.anchors if atoms.loss.size > 1]
        if gaps:
            step = gaps[0] / math.ceil(gaps[0] / step)
        self.offsets = [float(a.loss[0] % step) if a.loss.size else 0.0 for a in self.anchors]
        return step

    def _nodes(self, i: int, h: float) -> tuple[int, NDArray]:
        """Index of the first node of profile i, and all of them, beyond 0 both ways."""
        (lower, upper), offset = self.survey.edges[i], self.offsets[i]
        start = min(math.floor((lower - offset) / h), -1)
        stop = max(math.ceil((upper - offset) / h), 1)
        nodes = offset + np.arange(start, stop + 1) * h
        return start, np.where(np.abs(nodes) < 1e-9 * h, 0.0, nodes)

    def _upper_ends(self, window: Window, begin: NDArray) -> NDArray:
        laws = []
        for i, scan in enumerate(self.scans):
            start, nodes = self._nodes(i, window.step)
            laws.append(Law(window, start, nodes, *connect_the_dots(scan.profile, nodes)))
        log_rest = log_remaining(self.counts, [law.infinity for law in laws], self.log_delta)
        found = [
            Sum(window, row, laws, first, rest).epsilon_above() if rest > -np.inf else np.inf
            for row, first, rest in zip(self.counts, begin, log_rest, strict=True)
        ]
        return np.maximum(np.minimum(found, self.survey.fallback), 0.0)

    def _lower_ends(self, window: Window, begin: NDArray) -> NDArray:
        laws, split, blur = [], [], []
        for i, (scan, atoms) in enumerate(zip(self.scans, self.anchors, strict=True)):
            start, nodes = self._nodes(i, window.step)
            witness = scan.witness or scan.profile
            masses, endless, some = below_the_profile(witness, nodes, window.step, atoms)
            laws.append(Law(window, start, nodes, masses, endless))
            split.append(float(some))
            blur.append(2 * BLUR * float(np.max(np.abs(atoms.loss), initial=0.0)))
        # Split atoms raise a loss by at most h and e^{-loss} not at all on average: the sum by
        # more than `raised` with a probability below tau delta (Hoeffding 1963, Theorem 2).
        log_tau, moved = math.log(1e-3 * self.rtol), self.counts @ split
        raised = moved * window.step**2 / 8
        raised += window.step * np.sqrt(-0.5 * moved * (log_tau + self.log_delta))
        log_rest = log_remaining(self.counts, [law.infinity for law in laws], self.log_delta)
        log_rest = np.logaddexp(log_rest, np.where(moved > 0, log_tau + self.log_delta, -np.inf))
        found = [
            Sum(window, row, laws, first, rest).epsilon_below() if rest > -np.inf else np.inf
            for row, first, rest in zip(self.counts, begin, log_rest, strict=True)
        ]
        return np.maximum(found - raised - self.counts @ blur, 0.0)


def _width(lower: NDArray, upper: NDArray) -> float:
    """Relative width of the middling row."""
    return float(np.median(1 - lower / np.maximum(upper, 1e-300)))
