"""The trapezoidal sum S over t for rows that share a tilt, and bounds on its errors.

Rows have different numbers of steps. S and its error bounds are in units of
e^{T K - lambda epsilon}, so that they neither overflow nor underflow.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dplearn.core.logspace import log_expm1
from dplearn.engine.contour.line import Cutoffs, Line
from dplearn.engine.contour.pair import ULP
from dplearn.engine.contour.table import Table

# Error bounds, an array for each source of error.
Charges = tuple[NDArray, ...]
# Target and minimum of the bounds on truncation and aliases, as a fraction of rtol delta.
SHARE = 1e-2


class Nodes:
    """Values that rows share, such as M(z), at the nodes z = lambda + ikh, k = 0..count - 1."""

    def __init__(self, table: Table, line: Line, period: float, count: int) -> None:
        self.table, self.line, self.period = table, line, period
        self.h = h = 2 * math.pi / period
        values = line.transform(h, count)
        self.ratios = values / values[0]
        t = h * np.arange(count)
        # Factors h / (pi (1 + z)), halved at t = 0, and 1 / z, by real arithmetic.
        size = h / math.pi / ((1 + line.tilt) ** 2 + t * t)
        size[0] *= 0.5
        self.kernel = size * (1 + line.tilt - 1j * t)
        square = 1 / (line.tilt**2 + t * t)
        self.inverse = square * (line.tilt - 1j * t)
        error = line.relative_error(t)
        self.log_grown = np.log(np.abs(self.ratios) + error)
        # |a^T - b^T| <= T |a - b| max(|a|, |b|)^{T-1}; `Trapezoid` multiplies by T and the power.
        self.charge = error * np.sqrt(size * (h / math.pi) * square)
        self.charge[0] *= math.sqrt(0.5)


class Trapezoid:
    """Sum over k of M(z)^T / (z (1 + z)) at z = lambda + ikh, and bounds on its errors."""

    def __init__(
        self, nodes: Nodes, count: int, steps: NDArray, log_tau: float, cut: Cutoffs
    ) -> None:
        self.line, self.steps, self.h, self.log_tau = nodes.line, steps, nodes.h, log_tau
        table, line, period = nodes.table, nodes.line, nodes.period
        # Terms have shape (rows, a, b), where k = a * block + b.
        self.block = 1 << (count.bit_length() // 2 - 1)
        both = np.empty((2, steps.size, count), dtype=complex)
        slopes, terms = both[1], both[0]
        _powers(nodes.ratios[:count], steps, out=slopes)
        slopes *= nodes.kernel[:count]
        np.multiply(slopes, nodes.inverse[:count], out=terms)
        size = np.abs(terms)
        self.sizes = size.sum(axis=1), size @ np.arange(count)
        self.both = both.reshape(2, steps.size, -1, self.block)
        self.terms = self.both[0]
        last = (count - 1) * self.h
        grown = np.multiply(steps[:, None] - 1, nodes.log_grown[:count], out=size)
        self.growth = steps * (np.exp(grown, out=grown) @ nodes.charge[:count])
        # Beyond the last node |M| <= B(min(last, cut-off)), and h times the sum of 1/t^2 <= 1/last.
        bound, cutoffs, log_b = cut
        if np.any(short := cutoffs > last):
            log_b = np.where(short, bound.log_at(np.array([last])), log_b)
        self.log_cut = steps * log_b - math.log(math.pi * last)
        # Aliases: sum of c(mu) e^{T K(mu) - mu (epsilon + mP) + lambda mP}; the sum over m >= 1 of
        # e^{-mx} is 1 / (e^x - 1).
        self.mu, gap = table.mu, table.mu - line.tilt
        self.log_aliases = table.chernoff(steps, np.zeros(1)) - log_expm1(np.abs(gap) * period)
        self.right = int(np.searchsorted(gap, 0.0, side="right"))
        # delta <= 1 also bounds the aliases at smaller epsilons.
        self.log_left = -float(log_expm1(line.tilt * period))

    def sums(self, terms: NDArray, epsilon: NDArray) -> NDArray:
        """Return S for `terms`, or (S, -dS/deps) for `both`, in units of e^{T K - lambda eps}."""
        angle = -1j * self.h * epsilon[:, None]
        fine = np.exp(angle * np.arange(self.block))
        coarse = np.exp(angle * self.block * np.arange(terms.shape[-2]))
        return np.real(np.sum((coarse[:, None, :] @ terms)[..., 0, :] * fine, axis=-1))

    def log_scale(self, epsilon: NDArray) -> NDArray:
        """Return T K - lambda epsilon, the logarithm of the unit in which `sums` returns S."""
        return self.steps * self.line.log_m - self.line.tilt * epsilon

    def size(self, epsilon: NDArray, log_delta: NDArray | float) -> NDArray:
        """Return the sum S in units of delta."""
        return self._unit(epsilon, log_delta) * self.sums(self.terms, epsilon)

    def _unit(self, epsilon: NDArray, log_delta: NDArray | float) -> NDArray:
        return _exp(self.log_scale(epsilon) - log_delta, -700.0)

    def charges(self, epsilon: NDArray, log_delta: NDArray | float) -> Charges:
        """Return bounds on rounding, truncation and aliases in units of delta, the last two >= tau.

        The minimum tau makes brackets for a smaller tau lie inside those for a larger one.
        """
        # Use the best mu on each side of lambda.
        logs = self.log_aliases - self.mu * epsilon[:, None]
        right = logs[:, self.right :].min(axis=1, initial=np.inf)
        left = logs[:, : self.right].min(axis=1, initial=self.log_left)
        aliases = _exp(np.logaddexp(right, left) - log_delta, self.log_tau)
        return *self.above(epsilon, log_delta), aliases

    def above(self, epsilon: NDArray, log_delta: NDArray | float) -> tuple[NDArray, NDArray]:
        """Return bounds on rounding and truncation, the two errors that the upper bound adds."""
        rounding = self._unit(epsilon, log_delta) * sum(self.rounding(epsilon))
        cut = _exp(self.log_cut - self.line.tilt * epsilon - log_delta, self.log_tau)
        return rounding, cut

    def poor(self, charges: Charges) -> NDArray:
        """Return whether the bounds on truncation and aliases far exceed their target tau."""
        return ~(charges[1] + charges[2] <= 10 * math.exp(self.log_tau))

    def rounding(self, epsilon: NDArray) -> Charges:
        """Return bounds on rounding errors of S: from powers of M, summation, phases and scale."""
        terms, moments = self.sizes
        adding = ULP * (30 + 2 * sum(self.terms.shape[1:])) * terms
        phases = 4 * ULP * self.h * np.abs(epsilon) * moments
        scale = np.abs(self.steps * self.line.log_m) + self.line.tilt * np.abs(epsilon)
        return self.growth, adding, phases, 4 * ULP * scale * terms


def _exp(x: NDArray, least: float) -> NDArray:
    return np.exp(np.minimum(np.maximum(x, least), 300.0))


def _powers(base: NDArray, steps: NDArray, out: NDArray) -> None:
    """Write base ** steps, of shape (n, base.size), into `out` by repeated squaring."""
    left = steps.astype(np.int64)
    out[:] = 1
    for _ in range(int(left.max()).bit_length()):
        np.multiply(out, base, out=out, where=(left % 2 == 1)[:, None])
        base, left = base * base, left // 2
