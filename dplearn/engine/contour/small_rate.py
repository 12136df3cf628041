r"""Few steps at a small rate: the integral without the runs in which no step tells anything.

Nearly all of one step's law P lies next to loss log(1 - q), and that peak makes M^T fall slowly.
Let chi(x) rise from 0 to 1 near x_0, and let M_a be the transform of the part a = (1 - chi) P.
What is left without a^T falls at once:

.. math:: \delta_T(\varepsilon) = \frac1{2\pi}\int (M(z)^T - M_a(z)^T) e^{-z\varepsilon}
   \frac{dt}{z(1+z)} + \Delta(\varepsilon), \qquad 0 \le \Delta \le T P(x > X) (1 - \chi(X))
   + c(\nu) E_a[e^{\nu L}; x \le X]^T e^{-\nu\varepsilon}.

P^T - a^T is a measure between 0 and P^T: its aliases are no larger. From t on
|M^T - M_a^T| <= T B_r(t) M(lambda)^{T-1}, with B_r the B of the part chi. As chi is a sum of
normal densities of deviation s, |chi(x + iy)| <= e^{y^2 / 2 s^2} chi(x); so is 1 - chi.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn.core.logspace import log_sum
from dplearn.engine.contour.line import Line, Majorant
from dplearn.engine.contour.pair import QUADRATURE, ULP, SampledGaussian

# Deviation s of the densities in standard deviations; then, in s, where they stand left of x_0.
# Those on either side of it add up to 1 within 1e-25; further ones add less than 1e-17 of all.
_WIDTH = 0.2
_STEP = 0.5
_CENTRES = _STEP * (np.arange(18) + 0.5)
_CELLS = 400
_POWERS = np.array([1.0, 1.4, 2.0, 3.0])
_START = 4.0  # a t near which the integral is never cut off


def left_part(w: NDArray) -> NDArray:
    """chi at x = x_0 + ws where Re w <= 0, and 1 - chi at x_0 - ws."""
    return _STEP / math.sqrt(2 * math.pi) * np.exp(-0.5 * (w[..., None] - _CENTRES) ** 2).sum(-1)


def log_left_part(w: NDArray) -> NDArray:
    """log chi at x = x_0 + ws for any real w."""
    left = log_sum(-0.5 * (np.minimum(w, 0)[..., None] - _CENTRES) ** 2)
    left += math.log(_STEP / math.sqrt(2 * math.pi))
    return np.where(w < 0, left, np.log1p(-left_part(-np.abs(w))))


class Remainder:
    """The part a of the law in cells of x: what runs of such steps alone add to delta."""

    def __init__(self, pair: SampledGaussian) -> None:
        self.pair, sigma = pair, pair.sigma
        self.x = x = np.linspace(-9 * sigma, 10 * sigma + 2, _CELLS + 1)[1:]
        # Under Q the mass of every cell, the first of which has no left end; its largest loss.
        tail = log_ndtr(-x / sigma)
        mass = np.append(log_ndtr(x[0] / sigma), tail[:-1] + np.log(-np.expm1(np.diff(tail))))
        log_f, drift = pair.log_ratio(x)[0], np.abs(pair.drift(x))
        self.log_mass, self.log_f = mass + 1e-9, log_f + 8 * ULP * (1 + drift + np.abs(log_f))
        sampled = math.log(pair.q) + log_ndtr((1 - x) / sigma)
        self.log_beyond = np.logaddexp(math.log1p(-pair.q) + tail, sampled) + 1e-9

    def log_delta(self, x0: float, steps: NDArray, epsilon: NDArray, log_aim: NDArray) -> NDArray:
        """log of a bound on Delta, per row; X and nu are those that suit `log_aim`."""
        # 1 - chi where every cell begins is its largest there.
        rest = np.append(0, log_left_part((x0 - self.x) / (_WIDTH * self.pair.sigma)) + 1e-9)
        beyond = np.log(steps)[:, None] + self.log_beyond + rest[1:]
        last = np.argmax(beyond <= log_aim[:, None] - 1, axis=1)
        nu = (-log_aim / epsilon)[:, None] * _POWERS
        logs = (1 + nu)[..., None] * self.log_f + (self.log_mass + rest[:-1])
        logs = np.where(np.arange(_CELLS) <= last[:, None, None], logs, -np.inf)
        total = steps[:, None] * log_sum(logs)
        total = total + 1e-12 * np.abs(total) - nu * epsilon[:, None] * (1 - 4 * ULP)
        least = np.min(total - nu * np.log1p(1 / nu) - np.log1p(nu), axis=1)
        return np.logaddexp(least, beyond[np.arange(last.size), last]) + 1e-9

    def place(
        self, steps: NDArray, epsilon: NDArray, log_aim: NDArray
    ) -> tuple[float, NDArray | None]:
        """x_0 as far to the right as Delta keeps below `log_aim`, and the bounds there."""
        low, high, bound = -3 * self.pair.sigma, 5 * self.pair.sigma + 1, None
        # The power that suits an epsilon next to 0 is next to infinity.
        for _ in range(7 if np.all(epsilon > 1e-9) else 0):
            middle = 0.5 * (low + high)
            least = self.log_delta(middle, steps, epsilon, log_aim)
            if np.all(least <= log_aim):
                low, bound = middle, least
            else:
                high = middle
        return low, bound


class Split(Line):
    """The nodes of one tilt for the part chi, and a line of wider steps for M."""

    sharper = _WIDTH**-2

    def __init__(self, pair: SampledGaussian, tilt: float, x0: float) -> None:
        super().__init__(pair, tilt)
        self.x0, self.width, self.whole = x0, _WIDTH * pair.sigma, Line(pair, tilt)
        self.at = at = (self.x - x0 + 1j * self.height) / self.width
        # The side that is small is computed.
        self.left = at.real < 0
        self.small = left_part(np.where(self.left, at, -at))
        self.sum, self.size = np.sum(self.weight), np.abs(self.weight)
        self.weight = self.weight * np.where(self.left, self.small, 1 - self.small)
        self.log_m = self.whole.log_m

    def ratios(self, h: float, count: int) -> list[NDArray]:
        (whole,) = self.whole.ratios(h, count)
        return [whole, whole - self.transform(h, count) / self.sum]

    def relative_error(self, t: NDArray) -> NDArray:
        # Errors of the part and of the sum that divides it.
        size = self.size + np.abs(self.weight)
        ulps = self.pair.ulps(self.x, size, self.turn, 1 + self.tilt + t)
        ulps = (ulps + self.size @ self.ulps_of_cut()) / abs(self.sum)
        return ULP * ulps + QUADRATURE + self.whole.relative_error(t)

    def ulps_of_cut(self) -> NDArray:
        """Ulps of chi at every node: of the densities, of where it is, and of 1 less them."""
        at = 1 + np.abs(self.at)
        argument = 4 * at * (at + (np.abs(self.x) + abs(self.x0)) / self.width)
        # Off the axis the densities may cancel to a third.
        return np.abs(self.small) * (100 + argument) + np.where(self.left, 0, 4)

    def log_tail(self, steps: NDArray, log_b: NDArray) -> NDArray:
        return np.log(steps) + (steps - 1) * self.log_m + log_b + 1e-9

    def _majorant(self, need: float) -> tuple[Majorant, float]:
        return PartMajorant.of(self, 1e-4), _START


class PartMajorant(Majorant):
    """B of the part chi."""

    @classmethod
    def of(cls, line: Split, first: float) -> PartMajorant:
        whole = super().of(line, first)
        size = whole.log_size + log_left_part((line.x - line.x0) / line.width)
        return cls(line, whole.phi, whole.angle, size)
