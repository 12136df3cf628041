"""The geometric mechanism (discrete Laplace) for whole-number queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp
from dplearn.mechanisms._base import Mechanism, contribution_norm
from dplearn.mechanisms._outputs import WHOLE, Outputs


@dataclass(frozen=True)
class Geometric(Mechanism):
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

    noise_multiplier: float
    sensitivity: int = 1

    name: ClassVar[str] = "geometric"
    conditions: ClassVar[tuple[str, ...]] = ("the query is one whole number",)

    def __post_init__(self) -> None:
        validate.positive(noise_multiplier=self.noise_multiplier)
        validate.integer(minimum=1, maximum=10**6, sensitivity=self.sensitivity)

    @property
    def _scale(self) -> float:
        return self.noise_multiplier * self.sensitivity

    def _atoms(self, adjacency: Adjacency) -> tuple[NDArray, NDArray]:
        """log P and log Q on the outcomes k <= 0, 1, ..., shift - 1, k >= shift.

        All k <= 0 share one likelihood ratio and so do all k >= shift: lumping them is exact.
        """
        shift, rate = contribution_norm(adjacency) * self.sensitivity, 1 / self._scale
        k = np.arange(shift + 1)
        log_norm = math.log1p(-math.exp(-rate)) - math.log1p(math.exp(-rate))
        log_tail = log_norm - float(log1mexp(-rate))  # log P(X >= 0) = log P(X <= 0)
        log_q = np.where(k == 0, log_tail, log_norm - rate * k)
        log_q[-1] = log_tail - rate * shift
        return log_q[::-1].copy(), log_q

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return (Profile.from_atoms(*self._atoms(adjacency)),)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        rate, reach = 1 / self._scale, math.ceil(25 * self._scale)
        log_norm = math.log(math.tanh(rate / 2))

        def log_noise(k: NDArray) -> NDArray:
            return log_norm - rate * np.abs(k)

        shift = contribution_norm(adjacency) * self.sensitivity
        return (Outputs.of_noise(log_noise, shift=shift, reach=reach, **WHOLE),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Sum over the finitely many likelihood ratios."""
        log_p, log_q = self._atoms(adjacency)
        terms = orders[:, None] * log_p + (1 - orders)[:, None] * log_q
        return np.maximum(np.logaddexp.reduce(terms, axis=1), 0.0) / (orders - 1)

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = eps^2 / 2 (Bun & Steinke 2016, Proposition 1.4)."""
        return 0.5 * (contribution_norm(adjacency) / self.noise_multiplier) ** 2

    @classmethod
    def examples(cls) -> tuple[Geometric, ...]:
        return (cls(1.0), cls(0.5, sensitivity=3), cls(20.0))

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1, rng: np.random.Generator
    ) -> NDArray:
        """`value` plus the difference of two geometric variables of scale b * `sensitivity`.

        Here `sensitivity` is the query's own and must equal the field for the profile to hold.
        """
        value = whole_numbers(value)
        validate.positive(sensitivity=sensitivity)
        success = -math.expm1(-1 / (self.noise_multiplier * sensitivity))
        return value + rng.geometric(success, value.shape) - rng.geometric(success, value.shape)


def whole_numbers(value: ArrayLike) -> NDArray:
    """What is released, as an array; a TypeError if it holds fractions."""
    value = np.asarray(value)
    if value.dtype.kind not in "iu":
        raise TypeError(f"Expected value to hold whole numbers, got dtype {value.dtype}.")
    return value
