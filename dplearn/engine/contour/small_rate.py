r"""The contour integral for few steps at a small rate, without uninformative runs.

Most mass of one step's law P lies near the loss log(1 - q), and that peak makes M^T decay slowly.
Let chi(x) rise from 0 to 1 near x_0, and let M_a be the transform of the part a = (1 - chi) P.
Without a^T the integrand decays fast:

.. math:: \delta_T(\varepsilon) = \frac1{2\pi}\int (M(z)^T - M_a(z)^T) e^{-z\varepsilon}
   \frac{dt}{z(1+z)} + \Delta(\varepsilon), \qquad 0 \le \Delta \le T P(x > X) (1 - \chi(X))
   + c(\nu) E_a[e^{\nu L}; x \le X]^T e^{-\nu\varepsilon}.

P^T - a^T is a measure between 0 and P^T, so its aliases are no larger. Beyond t
|M^T - M_a^T| <= T B_r(t) M(lambda)^{T-1}, with B_r the B of the part chi. Both chi and 1 - chi are
sums of normal densities of deviation s, so |chi(x + iy)| <= e^{y^2 / 2 s^2} chi(x).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn.core.logspace import log_sum
from dplearn.engine.contour.line import Line, Majorant
from dplearn.engine.contour.pair import QUADRATURE, ULP, SampledGaussian

# Deviation s of the densities in units of sigma, and their centres left of x_0 in units of s.
# All densities sum to 1 within 1e-25; those beyond the 18th contribute less than 1e-17.
_WIDTH = 0.2
_STEP = 0.5
_CENTRES = _STEP * (np.arange(18) + 0.5)
_CELLS = 400
_POWERS = np.array([1.0, 1.4, 2.0, 3.0])
_START = 4.0  # unit of the candidate cut-offs t


def left_part(w: NDArray) -> NDArray:
    """Return chi at x = x_0 + ws for Re w <= 0, which is 1 - chi at x_0 - ws."""
    return _STEP / math.sqrt(2 * math.pi) * np.exp(-0.5 * (w[..., None] - _CENTRES) ** 2).sum(-1)


def log_left_part(w: NDArray) -> NDArray:
    """Return log chi at x = x_0 + ws for any real w."""
    left = log_sum(-0.5 * (np.minimum(w, 0)[..., None] - _CENTRES) ** 2)
    left += math.log(_STEP / math.sqrt(2 * math.pi))
    return np.where(w < 0, left, np.log1p(-left_part(-np.abs(w))))


class Remainder:
    """The part a of the law in cells of x, and a bound on its contribution Delta to delta."""

    def __init__(self, pair: SampledGaussian) -> None:
        self.pair, sigma = pair, pair.sigma
        self.x = x = np.linspace(-9 * sigma, 10 * sigma + 2, _CELLS + 1)[1:]
        # Q-mass and largest loss of every cell; the first cell extends to -inf.
        tail = log_ndtr(-x / sigma)
        mass = np.append(log_ndtr(x[0] / sigma), tail[:-1] + np.log(-np.expm1(np.diff(tail))))
        log_f, drift = pair.log_ratio(x)[0], np.abs(pair.drift(x))
        self.log_mass, self.log_f = mass + 1e-9, log_f + 8 * ULP * (1 + drift + np.abs(log_f))
        sampled = math.log(pair.q) + log_ndtr((1 - x) / sigma)
        self.log_beyond = np.logaddexp(math.log1p(-pair.q) + tail, sampled) + 1e-9

    def log_delta(self, x0: float, steps: NDArray, epsilon: NDArray, log_aim: NDArray) -> NDArray:
        """Return log of a bound on Delta per row, with X and nu chosen for `log_aim`."""
        # 1 - chi is largest at the left end of each cell.
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
        """Return the largest x_0 with log Delta <= `log_aim`, and the bounds on log Delta."""
        low, high, bound = -3 * self.pair.sigma, 5 * self.pair.sigma + 1, None
        # The best power tends to infinity as epsilon tends to 0.
        for _ in range(7 if np.all(epsilon > 1e-9) else 0):
            middle = 0.5 * (low + high)
            least = self.log_delta(middle, steps, epsilon, log_aim)
            if np.all(least <= log_aim):
                low, bound = middle, least
            else:
                high = middle
        return low, bound


class Split(Line):
    """The nodes of one tilt for the part chi, and a line with wider steps for M."""

    sharper = _WIDTH**-2

    def __init__(self, pair: SampledGaussian, tilt: float, x0: float) -> None:
        super().__init__(pair, tilt)
        self.x0, self.width, self.whole = x0, _WIDTH * pair.sigma, Line(pair, tilt)
        self.at = at = (self.x - x0 + 1j * self.height) / self.width
        # Compute the smaller of chi and 1 - chi.
        self.left = at.real < 0
        self.small = left_part(np.where(self.left, at, -at))
        self.sum, self.size = np.sum(self.weight), np.abs(self.weight)
        self.weight = self.weight * np.where(self.left, self.small, 1 - self.small)
        self.log_m = self.whole.log_m

    def ratios(self, h: float, count: int) -> list[NDArray]:
        (whole,) = self.whole.ratios(h, count)
        return [whole, whole - self.transform(h, count) / self.sum]

    def relative_error(self, t: NDArray) -> NDArray:
        # Errors of the part chi and of the sum it is divided by.
        size = self.size + np.abs(self.weight)
        ulps = self.pair.ulps(self.x, size, self.turn, 1 + self.tilt + t)
        ulps = (ulps + self.size @ self.ulps_of_cut()) / abs(self.sum)
        return ULP * ulps + QUADRATURE + self.whole.relative_error(t)

    def ulps_of_cut(self) -> NDArray:
        """Return ulps of chi at every node: from densities, their argument and 1 - density."""
        at = 1 + np.abs(self.at)
        argument = 4 * at * (at + (np.abs(self.x) + abs(self.x0)) / self.width)
        # Off the axis cancellation may reduce the sum of densities to a third.
        return np.abs(self.small) * (100 + argument) + np.where(self.left, 0, 4)

    def log_tail(self, steps: NDArray, log_b: NDArray) -> NDArray:
        return np.log(steps) + (steps - 1) * self.log_m + log_b + 1e-9

    def _majorant(self, need: float) -> tuple[Majorant, float]:
        return PartMajorant.of(self, 1e-4), _START


class PartMajorant(Majorant):
    """B(t) of the part chi."""

    @classmethod
    def of(cls, line: Split, first: float) -> PartMajorant:
        whole = super().of(line, first)
        size = whole.log_size + log_left_part((line.x - line.x0) / line.width)
        return cls(line, whole.phi, whole.angle, size)
