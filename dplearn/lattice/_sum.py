"""The law of a sum of losses: tilt, fold, transform, take powers, read off with every charge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dplearn._logspace import log_expm1
from dplearn.lattice._survey import log_c, remaining

_ULP = 2.0**-53


@dataclass(frozen=True, eq=False)
class Window:
    """What all rows of a group share.

    Parameters
    ----------
    tilt, step : float
    cells : int
        Length N of the transform; losses are known modulo N * step.
    left, right : ndarray
        Tilts below and above `tilt` with which Chernoff bounds what folds.
    """

    tilt: float
    step: float
    cells: int
    left: NDArray
    right: NDArray

    @property
    def period(self) -> float:
        return self.cells * self.step


class Law:
    """One step's masses on the lattice, tilted, folded and transformed."""

    def __init__(
        self, window: Window, start: int, nodes: NDArray, masses: NDArray, infinity: float = 0.0
    ) -> None:
        self.infinity, self.offset = infinity, float(nodes[-start])
        self.log_m = _log_mgf(nodes, masses, window.tilt)
        self.log_left = np.array([_log_mgf(nodes, masses, mu) for mu in window.left])
        self.log_right = np.array([_log_mgf(nodes, masses, mu) for mu in window.right])
        # The tilted masses sum to 1, so an exponent above 700 meets a mass of 0.
        tilted = masses * np.exp(np.minimum(window.tilt * nodes - self.log_m, 700.0))
        cell = np.mod(start + np.arange(nodes.size), window.cells)
        spectrum = np.fft.rfft(np.bincount(cell, weights=tilted, minlength=window.cells))
        self.log_transform = np.log(np.where(spectrum == 0, 1e-300, spectrum))


class Sum:
    """One row's law from `begin` on, over one period, untilted in units of e^{log_unit}."""

    def __init__(
        self, window: Window, row: NDArray, laws: list[Law], begin: float, log_unit: float
    ) -> None:
        tilt, step, size = window.tilt, window.step, window.cells
        runs = [(n, law) for n, law in zip(row, laws, strict=True) if n]
        offset = sum(n * law.offset for n, law in runs)
        first = math.floor((begin - offset) / step)
        self.e = e = offset + (first + np.arange(size + 1)) * step
        log_m = float(sum(n * law.log_m for n, law in runs))
        phi = np.exp(sum(n * law.log_transform for n, law in runs))
        law = np.maximum(np.roll(np.fft.irfft(phi, size), -(first % size)), 0.0)
        # What under- or overflows far from where the scale is the unit is decided beyond doubt.
        pivot = (log_m - log_unit) / tilt
        untilt = np.exp(np.clip(-tilt * (e - pivot), -700.0, 700.0))
        weight = law * untilt[:-1]
        # mass[j]: probability of losses >= e_j; discount[j]: the same, each times e^{e_j - loss}.
        self.mass = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
        self.discount = _discounted(weight, e)
        # Rounding of transform and powers, per cell of the tilted law, summed along the tail.
        noise = 8 * _ULP * (float(row.sum()) + 1) * math.log2(size) * np.mean(np.abs(phi))
        self.rounding = noise / -math.expm1(-tilt * step) * untilt
        # Rounding of the masses of each step, and of the scale.
        self.relative = 64 * _ULP * (float(row.sum()) + abs(log_m) + tilt * np.max(np.abs(e)))
        log_left = sum(n * law.log_left for n, law in runs)
        log_right = sum(n * law.log_right for n, law in runs)
        # Losses beyond the window, where folding puts them below epsilon.
        self.beyond = _capped(np.min(log_right - window.right * e[-1]) - log_unit)
        # What folds onto the window: a geometric series of delta(e + mP), by the best mu.
        self.folded = sum(
            _capped(
                np.min(log_k + log_c(mu) - mu * e[0] - log_expm1(gap * window.period)) - log_unit
            )
            for log_k, mu, gap in (
                (log_left, window.left, tilt - window.left),
                (log_right, window.right, window.right - tilt),
            )
        )

    def epsilon_above(self) -> float:
        """Smallest epsilon at which delta <= unit is proved, or inf; never left of the window."""
        e, mass, discount = self.e, self.mass, self.discount
        budget = (1 - self.beyond) * (1 - self.relative)
        # delta at the left end e_j of cell j: cells j+1, ... count (cell j itself has gain 0).
        fits = mass - discount + self.rounding <= budget
        if fits[0]:
            return float(e[0])
        j = int(np.argmax(fits))
        if not fits[j]:
            return np.inf
        # Inside (e_{j-1}, e_j) delta is linear in e^epsilon.
        excess = mass[j] + self.rounding[j - 1] - budget
        if excess <= 0 or discount[j] == 0:
            return float(e[j])  # where rounding blurs the line, the end that was seen to fit
        inside = e[j] + math.log(excess) - math.log(discount[j])
        return float(min(max(inside, e[j - 1]), e[j]))

    def epsilon_below(self) -> float:
        """Largest epsilon at which delta >= unit is proved, or 0."""
        e, mass, discount = self.e, self.mass, self.discount
        charge, budget = self.rounding + self.folded, 1 + self.relative
        exceeds = mass - discount - charge >= budget
        if not np.any(exceeds):
            return 0.0
        j = exceeds.size - 1 - int(np.argmax(exceeds[::-1]))
        rest = mass[j + 1] - charge[j] - budget
        if rest <= 0 or discount[j + 1] == 0:
            return float(e[j])
        inside = e[j + 1] + math.log(rest) - math.log(discount[j + 1])
        return float(min(max(inside, e[j]), e[j + 1]))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """delta at an epsilon of the first half of the window, less and plus every charge."""
        j = int(np.searchsorted(self.e, epsilon, side="right"))
        value = self.mass[j] - self.discount[j] * math.exp(epsilon - self.e[j])
        noise = self.rounding[j - 1]
        lower = (value - noise - self.folded) * (1 - self.relative)
        return max(lower, 0.0), (value + noise + self.beyond) * (1 + self.relative)


def paid(row: NDArray, laws: list[Law]) -> float:
    """Probability that any loss of a row is infinite."""
    return -math.expm1(float(row @ np.log1p([-law.infinity for law in laws])))


def log_remaining(counts: NDArray, laws: list[Law], log_delta: float) -> NDArray:
    """log of what is left of delta once infinite losses are paid, per row; -inf if nothing."""
    return remaining(counts, [law.infinity for law in laws], log_delta)


def _discounted(weight: NDArray, e: NDArray) -> NDArray:
    """sum_{i >= j} weight_i e^{e_j - e_i} for every j, shape (cells + 1,)."""
    if e[-1] - e[0] < 600:
        fade = np.exp(e[0] - e[:-1])
        return np.append(np.cumsum((weight * fade)[::-1])[::-1] / fade, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(weight) - e[:-1]
    total = np.logaddexp.accumulate(logs[::-1])[::-1]
    return np.append(np.exp(total + e[:-1]), 0.0)


def _log_mgf(x: NDArray, masses: NDArray, tilt: float) -> float:
    top = float(np.max(tilt * x[masses > 0]))
    return math.log(float(masses @ np.exp(np.minimum(tilt * x - top, 0.0)))) + top


def _capped(exponent: float) -> float:
    return math.exp(min(float(exponent), 700.0))
