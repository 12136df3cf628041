"""The trapezoidal sum over t for rows that share a line, and all that is charged to it.

Every row has its own number of steps; S and all charges are in units of e^{T K - lambda epsilon}
until the last moment, so that neither can leave the range of doubles.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.contour.line import Bound, Line
from dplearn.engine.contour.pair import ULP
from dplearn.engine.contour.table import Table
from dplearn.ground.work import spend

# What is charged for rounding, truncation and aliases.
Charges = tuple[NDArray, NDArray, NDArray]
# Truncation and aliases are each held at, and charged at least, this part of rtol delta.
SHARE = 1e-2


class Rounding(NamedTuple):
    """Parts of the rounding of S: values of M and powers, products and sums, phases, the scale."""

    growth: NDArray
    adding: NDArray
    phases: NDArray
    scale: NDArray


class Trapezoid:
    """Terms M^T / z(1+z) at z = lambda + ikh, k = aB + b, as arrays (row, a, b)."""

    def __init__(
        self,
        table: Table,
        line: Line,
        values: NDArray,
        plan: tuple[NDArray, float, float],
        cut: tuple[Bound, NDArray],
    ) -> None:
        steps, period, self.log_tau = plan
        self.line, self.steps, self.h = line, steps, 2 * math.pi / period
        k = np.arange(values.size)
        spend(40 * steps.size * k.size)
        self.block = 1 << (k.size.bit_length() // 2 - 1)
        z = line.tilt + 1j * self.h * k
        kernel = self.h / math.pi / (1 + z)
        kernel[0] *= 0.5
        ratio = values / values[0]
        both = np.empty((2, steps.size, k.size), dtype=complex)
        slopes = np.multiply(_powers(ratio, steps), kernel, out=both[1])
        terms = np.divide(slopes, z, out=both[0])
        size = np.abs(terms)
        self.sizes = size.sum(axis=1), size @ k
        self.both = both.reshape(2, steps.size, -1, self.block)
        self.terms = self.both[0]
        last = k[-1] * self.h
        error = line.relative_error(self.h * k)
        # |a^T - b^T| <= T |a - b| max(|a|, |b|)^{T-1}.
        grown = np.exp((steps[:, None] - 1) * np.log(np.abs(ratio) + error))
        self.growth = steps * (grown @ (error * np.abs(kernel / z)))
        # What bounds M from the cut-off onwards holds from the last node; h sum 1/t^2 <= 1 / last.
        bound, cutoffs = cut
        log_b = bound.log_at(np.minimum(cutoffs, last))
        self.log_cut = steps * log_b - math.log(math.pi * last)
        # Aliases: geometric series of c(mu) e^{T K(mu) - mu (epsilon + mP) + lambda mP}.
        self.mu, gap = table.mu, table.mu - line.tilt
        self.log_aliases = table.chernoff(steps, np.zeros(1)) - _log_series(np.abs(gap) * period)
        self.right = gap > 0
        # Those to the left also by delta <= 1.
        self.log_left = -float(_log_series(line.tilt * period))

    def sums(self, terms: NDArray, epsilon: NDArray) -> NDArray:
        """S of `terms`, S and -S' of `both`, in units of e^{T K - lambda epsilon}."""
        angle = -1j * self.h * epsilon[:, None]
        fine = np.exp(angle * np.arange(self.block))
        coarse = np.exp(angle * self.block * np.arange(terms.shape[-2]))
        return np.real(np.sum((coarse[:, None, :] @ terms)[..., 0, :] * fine, axis=-1))

    def log_scale(self, epsilon: NDArray) -> NDArray:
        """log of e^{T K - lambda epsilon}."""
        return self.steps * self.line.log_m - self.line.tilt * epsilon

    def size(self, epsilon: NDArray, log_delta: NDArray | float) -> NDArray:
        """S in units of delta."""
        return self._unit(epsilon, log_delta) * self.sums(self.terms, epsilon)

    def _unit(self, epsilon: NDArray, log_delta: NDArray | float) -> NDArray:
        return np.exp(np.clip(self.log_scale(epsilon) - log_delta, -700, 300))

    def charges(self, epsilon: NDArray, log_delta: NDArray | float) -> Charges:
        """Rounding, truncation and aliases in units of delta; the last two at least tau.

        That floor makes the brackets for a smaller tau lie inside, though plans differ.
        """
        rounding = self._unit(epsilon, log_delta) * sum(self.rounding(epsilon))
        logs = self.truncation(epsilon) - log_delta, self.aliases(epsilon) - log_delta
        cut, aliases = (np.exp(np.clip(x, self.log_tau, 300)) for x in logs)
        return rounding, cut, aliases

    def poor(self, charges: Charges) -> NDArray:
        """Whether a better guess would pay: more is charged than was planned for."""
        return ~(charges[1] + charges[2] <= 10 * math.exp(self.log_tau))

    def rounding(self, epsilon: NDArray) -> Rounding:
        """Error of S from rounding and from the nodes in x, in units of the scale."""
        terms, moments = self.sizes
        adding = ULP * (30 + 2 * sum(self.terms.shape[1:])) * terms
        phases = 4 * ULP * self.h * np.abs(epsilon) * moments
        scale = np.abs(self.steps * self.line.log_m) + self.line.tilt * np.abs(epsilon)
        return Rounding(self.growth, adding, phases, 4 * ULP * scale * terms)

    def truncation(self, epsilon: NDArray) -> NDArray:
        """log of a bound on all nodes left out."""
        return self.log_cut - self.line.tilt * epsilon

    def aliases(self, epsilon: NDArray) -> NDArray:
        """log of a bound on all aliases, by the best mu on either side."""
        logs = self.log_aliases - self.mu * epsilon[:, None]
        above = np.min(logs[:, self.right], axis=1, initial=np.inf)
        below = np.min(logs[:, ~self.right], axis=1, initial=self.log_left)
        return np.logaddexp(above, below)


def _log_series(x: ArrayLike) -> NDArray:
    """log(e^x - 1), so that the sum over m >= 1 of e^{-mx} is e to the minus this."""
    x = np.maximum(np.asarray(x, dtype=float), 1e-9)
    return x + np.log(-np.expm1(-x))


def _powers(base: NDArray, steps: NDArray) -> NDArray:
    """base ** T, shape (n, base.size), by repeated squaring."""
    result, left = np.ones((steps.size, base.size), dtype=complex), steps.astype(np.int64)
    for _ in range(int(left.max()).bit_length()):
        result[left % 2 == 1] *= base
        base, left = base * base, left // 2
    return result
