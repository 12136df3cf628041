"""The geometric mechanism (discrete Laplace) for whole-number queries."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp, log_add, log_expm1
from dplearn.mechanisms._noise import WholeNoise


@dataclass(frozen=True)
class Geometric(WholeNoise):
    r"""Two-sided geometric noise, :math:`P(X = k) \propto e^{-|k|/b}`, on an integer query.

    Parameters
    ----------
    noise_multiplier : float
        b / `sensitivity`, > 0: at delta = 0 the mechanism is (1 / noise_multiplier)-DP.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1. It matters beyond
        the ratio because the noise lives on whole numbers.

    References
    ----------
    Ghosh, Roughgarden & Sundararajan (2012).

    Examples
    --------
    >>> (profile,) = Geometric(noise_multiplier=1.0).profiles()
    >>> round(float(profile.epsilon(1e-12)), 6)
    1.0
    """

    name: ClassVar[str] = "geometric"
    scales_drawn: ClassVar[float] = 25.0

    def _atoms(self, adjacency: Adjacency) -> tuple[NDArray, NDArray]:
        """log P and log Q on the outcomes k <= 0, 1, ..., shift - 1, k >= shift.

        All k <= 0 share one likelihood ratio and so do all k >= shift: lumping them is exact.
        """
        shift, rate = self._distance(adjacency), 1 / self._scale
        k = np.arange(shift + 1)
        log_norm = math.log1p(-math.exp(-rate)) - math.log1p(math.exp(-rate))
        log_tail = log_norm - float(log1mexp(-rate))  # log P(X >= 0) = log P(X <= 0)
        log_q = np.where(k == 0, log_tail, log_norm - rate * k)
        log_q[-1] = log_tail - rate * shift
        return log_q[::-1].copy(), log_q

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return (Profile.from_atoms(*self._atoms(adjacency)),)

    def _log_noise(self, x: NDArray) -> NDArray:
        rate = 1 / self._scale
        return math.log(math.tanh(rate / 2)) - rate * np.abs(x)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Sum over positive losses: the other order is the mirror, so nothing cancels.

        E (P/Q)^(a-1) - 1 is the sum of p (e^{(a-1) L} - 1) (1 - e^{-a L}) over L > 0.
        """
        log_p, log_q = self._atoms(adjacency)
        loss, a = (log_p - log_q)[log_p > log_q], orders[:, None]
        terms = log_p[log_p > log_q] + log_expm1((a - 1) * loss) + log1mexp(-a * loss)
        return log_add(0.0, np.logaddexp.reduce(terms, axis=1)) / (orders - 1)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(1.0), cls(0.5, sensitivity=3), cls(20.0))

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        success = -math.expm1(-1 / scale)
        return rng.geometric(success, size) - rng.geometric(success, size)
