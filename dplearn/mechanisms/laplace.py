"""The Laplace mechanism, for numbers and for vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp, log_add
from dplearn.mechanisms._base import Mechanism, contribution_norm
from dplearn.mechanisms._outputs import Outputs

_LOG_2 = math.log(2)


@dataclass(frozen=True)
class Laplace(Mechanism):
    r"""Independent Laplace noise added to every coordinate of a query.

    Parameters
    ----------
    noise_multiplier : float
        Scale b of the noise / largest L1 norm of one record's contribution,
        >= 0. The variance is 2 b^2, not b^2.

    Notes
    -----
    The scalar profile also serves vectors. Split a shift a + b over two coordinates: the
    likelihood ratio becomes e^{2S - a - b} with S the sum of two clipped exponentials, and
    P(S > s) crosses P(Z > s) of the scalar case exactly once, at equal mean. So the split
    pair is less spread out in convex order and leaks no more at any epsilon; induction
    gives every dimension. A shift along one axis attains the bound.

    References
    ----------
    Dwork, McSherry, Nissim & Smith (2006); Balle, Barthe & Gaboardi (2018) for the profile.

    Examples
    --------
    >>> (profile,) = Laplace(noise_multiplier=1.0).profiles()
    >>> round(float(profile.delta(0.5)), 7)
    0.2211992
    """

    noise_multiplier: float

    name: ClassVar[str] = "laplace"
    conditions: ClassVar[tuple[str, ...]] = ("L1 norm of each contribution is bounded",)

    def __post_init__(self) -> None:
        validate.non_negative(noise_multiplier=self.noise_multiplier)

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        """Epsilon at delta = 0: shift / scale."""
        if self.noise_multiplier == 0:
            return math.inf
        return contribution_norm(adjacency) / self.noise_multiplier

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        pure = self.pure_epsilon(adjacency)
        kinks = [pure] if math.isfinite(pure) else []

        def log_delta(epsilon: NDArray) -> NDArray:
            # delta = 1 - e^{(eps - pure)/2} below pure, 0 from there on.
            return log1mexp(np.minimum((epsilon - pure) / 2, 0.0))

        def log_tail(epsilon: NDArray) -> NDArray:
            # The loss exceeds eps beyond (eps + pure) / 2 in units of b, and never exceeds pure.
            return np.where(epsilon < pure, -(epsilon + pure) / 2 - _LOG_2, -np.inf)

        return (Profile(log_delta, kinks=kinks, log_tail_of=log_tail),)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        b, shift = self.noise_multiplier, contribution_norm(adjacency)

        def log_noise(x: NDArray) -> NDArray:
            return -np.abs(x) / b - math.log(2 * b)

        return (Outputs.of_noise(log_noise, shift=shift, reach=25 * b),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Mironov (2017), Proposition 6."""
        pure = self.pure_epsilon(adjacency)
        up = np.log(orders / (2 * orders - 1)) + (orders - 1) * pure
        down = np.log((orders - 1) / (2 * orders - 1)) - orders * pure
        # Rounding may leave a sum just below 1; a divergence is never negative.
        return np.maximum(log_add(up, down), 0.0) / (orders - 1)

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = eps^2 / 2 (Bun & Steinke 2016, Proposition 1.4)."""
        return 0.5 * self.pure_epsilon(adjacency) ** 2

    def no_privacy(self) -> str:
        return "noise_multiplier = 0 adds no noise" if self.noise_multiplier == 0 else ""

    @classmethod
    def examples(cls) -> tuple[Laplace, ...]:
        return (cls(1.0), cls(0.2), cls(20.0))

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """`value` plus independent Laplace noise of scale b * sensitivity (an L1 norm)."""
        validate.positive(sensitivity=sensitivity)
        value = np.asarray(value, dtype=float)
        return value + rng.laplace(0.0, self.noise_multiplier * sensitivity, value.shape)
