"""Distribution of a sum of losses by FFT of tilted distributions, with bounds on its errors."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dplearn.core.logspace import log, log_expm1, log_sum
from dplearn.engine.lattice.survey import log_c

_ULP = 2.0**-53
# Slightly below e^700, because libraries differ in the last digits of e^700.
_LARGEST = math.exp(699.9)
# Up to this many runs, multiply the transforms; for more, add their logarithms.
_FEW = 8
# A sum with this relative rounding error or more gives no bound.
MOST_RELATIVE = 1e-2


@dataclass(frozen=True, eq=False)
class Window:
    """Tilt of the laws, and step and size of the lattice, which all rows of a group share."""

    tilt: float
    step: float
    cells: int  # length N of the transform; losses are known modulo N * step
    left: NDArray  # tilts below `tilt` for Chernoff bounds on mass that wraps around
    right: NDArray  # tilts above `tilt`, for the same

    @cached_property
    def fade(self) -> NDArray:
        """Discount factors exp(-j * step) for the cells j, shape (cells,)."""
        return np.exp(-self.step * np.arange(self.cells))

    def discounted(self, weight: NDArray) -> NDArray:
        """Return sum_{i >= j} weight_i exp((j - i) * step) for every j, shape (cells + 1,)."""
        if self.cells * self.step < 600:
            return np.append(np.cumsum((weight * self.fade)[::-1])[::-1] / self.fade, 0.0)
        steps = self.step * np.arange(self.cells)
        logs = log(weight) - steps
        return np.append(np.exp(np.logaddexp.accumulate(logs[::-1])[::-1] + steps), 0.0)


class Law:
    """Distribution of the loss of one step: tilted, wrapped around and Fourier transformed."""

    def __init__(
        self, window: Window, start: int, nodes: NDArray, masses: NDArray, infinity: float = 0.0
    ) -> None:
        self.infinity, self.offset = infinity, float(nodes[-start])
        log_masses = log(masses)
        log_tilted = log_masses + window.tilt * nodes
        self.log_m = float(log_sum(log_tilted))
        self.log_left = log_sum(log_masses + np.outer(window.left, nodes))
        self.log_right = log_sum(log_masses + np.outer(window.right, nodes))
        tilted = np.exp(log_tilted - self.log_m)
        cell = np.mod(start + np.arange(nodes.size), window.cells)
        self.spectrum = np.fft.rfft(np.bincount(cell, weights=tilted, minlength=window.cells))

    @cached_property
    def log_modulus(self) -> NDArray:
        return np.log(np.maximum(np.abs(self.spectrum), 1e-300))

    @cached_property
    def angle(self) -> NDArray:
        return np.angle(self.spectrum)


class Sum:
    """Distribution of the sum of a row's losses from `begin` on, in units of e^{log_unit}."""

    def __init__(
        self, window: Window, row: NDArray, laws: list[Law], begin: float, log_unit: float
    ) -> None:
        tilt, step, size = window.tilt, window.step, window.cells
        runs = [(n, law) for n, law in zip(row, laws, strict=True) if n]
        offset = sum(n * law.offset for n, law in runs)
        first = math.floor((begin - offset) / step)
        self.e = e = offset + (first + np.arange(size + 1)) * step
        log_m = float(sum(n * law.log_m for n, law in runs))
        law, noise = power(runs, size)
        law = np.maximum(np.roll(law, -(first % size)), 0.0)
        exponent = log_m - tilt * e[0] - log_unit - tilt * step * np.arange(size + 1)
        # Values beyond these limits are too far from 1 to affect a comparison with 1.
        untilt = np.exp(np.clip(exponent, -700.0, 700.0))
        weight = law * untilt[:-1]
        # Sums over losses >= e[j]: mass[j] of weight, discount[j] of weight * exp(e[j] - loss).
        self.mass = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
        self.discount = window.discounted(weight)
        # Rounding errors of transform and power, summed along the tail.
        self.rounding = (noise / -math.expm1(-tilt * step)) * untilt
        # Clipped weights give no bound.
        self.rounding[untilt >= _LARGEST] = np.inf
        # Relative rounding error of the masses of all steps and of the scale.
        self.relative = of_scale(float(row.sum()), log_m, tilt * float(np.max(np.abs(e))))
        log_left = sum(n * law.log_left for n, law in runs)
        log_right = sum(n * law.log_right for n, law in runs)
        # Bound on the mass above the last cell, which wraps around to losses below epsilon.
        self.beyond = _charge(np.min(log_right - window.right * e[-1]) - log_unit)
        # Bound on all mass that wraps around: Chernoff bounds on delta(e[0] + m P), summed over m.
        self.folded = 0.0
        for log_k, mu in ((log_left, window.left), (log_right, window.right)):
            log_series = log_expm1(np.abs(mu - tilt) * size * step)
            self.folded += _charge(np.min(log_k + log_c(mu) - mu * e[0] - log_series) - log_unit)

    def epsilon_above(self) -> float:
        """Return the smallest epsilon >= e[0] with a proof of delta <= exp(log_unit), or inf."""
        e, mass, discount = self.e, self.mass, self.discount
        if not (self.beyond < 1 and self.relative < MOST_RELATIVE):
            return np.inf
        budget = (1 - self.beyond) * (1 - self.relative)
        # delta at e[j] is a sum over the cells j + 1, ...: cell j, whose loss is e[j], adds 0.
        fits = mass - discount + self.rounding <= budget
        if fits[0]:
            return float(e[0])
        j = int(np.argmax(fits))
        if not fits[j]:
            return np.inf
        return self._inside(j, mass[j] + self.rounding[j - 1] - budget, e[j])

    def epsilon_below(self) -> float:
        """Return the largest epsilon with a proof of delta >= exp(log_unit), or 0."""
        e, mass, discount = self.e, self.mass, self.discount
        if not self.relative < MOST_RELATIVE:
            return 0.0
        charge, budget = self.rounding + self.folded, 1 + self.relative
        exceeds = mass - discount - charge >= budget
        if not np.any(exceeds):
            return 0.0
        j = exceeds.size - 1 - int(np.argmax(exceeds[::-1]))
        return self._inside(j + 1, mass[j + 1] - charge[j] - budget, e[j])

    def _inside(self, k: int, excess: float, proved: float) -> float:
        """Interpolate delta between e[k-1] and e[k] to solve for epsilon, or return `proved`."""
        if excess <= 0 or self.discount[k] == 0:
            return float(proved)  # rounding prevents interpolation
        inside = self.e[k] + math.log(excess) - math.log(self.discount[k])
        return float(min(max(inside, self.e[k - 1]), self.e[k]))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return bounds on delta / exp(log_unit) at an epsilon in the first half of the cells."""
        if not self.relative < MOST_RELATIVE:
            return 0.0, np.inf
        j = int(np.searchsorted(self.e, epsilon, side="right"))
        value = self.mass[j] - self.discount[j] * math.exp(epsilon - self.e[j])
        noise = self.rounding[j - 1]
        lower = (value - noise - self.folded) * (1 - self.relative)
        return max(lower, 0.0), (value + noise + self.beyond) * (1 + self.relative)


def of_scale(count: float, log_m: float, exponent: float) -> float:
    """Return the relative rounding error of e^{log_m - exponent} times masses of `count` steps."""
    return 64 * _ULP * (count + abs(log_m) + exponent)


def power(runs: list[tuple[float, Law]], size: int) -> tuple[NDArray, float]:
    """Return the tilted distribution of the sum, shape (size,), and the rounding error per cell."""
    count = sum(n for n, _ in runs)
    unit = 8 * _ULP * (count + 1) * math.log2(size)
    if count <= _FEW:
        transform = math.prod(law.spectrum ** int(n) for n, law in runs)
        return np.fft.irfft(transform, size), unit * float(np.mean(np.abs(transform)))
    modulus = np.exp(sum(n * law.log_modulus for n, law in runs))
    # Drop high frequencies of modulus below 1e-22, and add a bound on them to the error.
    last = int(np.max(np.flatnonzero(modulus > 1e-22), initial=0)) + 1
    angle = sum(n * law.angle[:last] for n, law in runs)
    transform = np.zeros(modulus.shape, dtype=np.complex128)
    transform[:last] = modulus[:last] * (np.cos(angle) + 1j * np.sin(angle))
    mean = float(np.mean(modulus)) + 1e-7 * (last < modulus.size)
    return np.fft.irfft(transform, size), unit * mean


def _charge(exponent: float) -> float:
    """Return e^exponent, but inf above e^700, because an error bound must not be capped."""
    return math.exp(exponent) if exponent < 700 else math.inf
