r"""Whole-number noise whose law is a table: sums of what several parties add.

The laws are log-concave and even. A table of what is likely, with masses right up to a factor
:math:`e^{\pm r}`, bounds the profile from both sides, with t the mass outside:

.. math:: e^{-3r}\hat\delta(\varepsilon + 2r) \le \delta(\varepsilon)
          \le e^r\hat\delta(\varepsilon - 2r) + t,

and far out a Rényi divergence gives :math:`\delta \le e^{(\alpha-1)(D_\alpha-\varepsilon)}`.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.profile import Curve, Profile
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log_add
from dplearn.mechanisms._noise import WholeNoise
from dplearn.mechanisms._outputs import Outputs

# log of the mass that a table may leave out: what is smaller loses digits.
OUTSIDE = -680.0
_ORDERS = np.unique(np.geomspace(2, 1e5, 80).round())


@dataclass(frozen=True)
class TabledNoise(WholeNoise):
    """Noise that is known by a table of log masses of 0, 1, ... ."""

    scales_drawn: ClassVar[float] = 7.0
    tabled: ClassVar[bool] = True
    attained: ClassVar[bool] = False  # nearly so, which the bracket tells

    @abstractmethod
    def _log_masses(self, scale: float) -> NDArray:
        """log P(X = k) for k = 0, 1, ..., beyond which is less than e^OUTSIDE."""

    @property
    def _masses(self) -> NDArray:
        return self._log_masses(self._scale)

    @property
    @abstractmethod
    def _error(self) -> float:
        """The r above."""

    @abstractmethod
    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        """Bounds on Rényi divergences from above, at whole orders."""

    def _log_noise(self, x: NDArray) -> NDArray:
        k = np.abs(np.asarray(x, dtype=float)).astype(np.int64)
        inside = k < self._masses.size
        return np.where(inside, self._masses[np.where(inside, k, 0)], -np.inf)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        shift, tails = self._distance(adjacency), np.cumsum(np.exp(self._masses[::-1]))[::-1]
        reach = int(np.count_nonzero(tails > 1e-11))
        return (Outputs.of_noise(self._log_noise, shift=shift, reach=reach, whole=True),)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        shift, error = self._distance(adjacency), self._error
        table, bounds = _pair(self, shift), self._renyi_above(shift, _ORDERS)

        def log_delta(epsilon: NDArray) -> NDArray:
            epsilon = np.asarray(epsilon, dtype=float)
            inside = log_add(error + table.log_delta_of(epsilon - 2 * error), OUTSIDE)
            far = np.min((_ORDERS - 1) * (bounds - epsilon[..., None]), axis=-1)
            return np.minimum(np.minimum(inside, far), 0.0)

        return (Profile(log_delta, kinks=table.kinks),)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """Masses e^-3r P and e^-r Q of the table, which are below those of the real pair."""
        table, r = _pair(self, self._distance(adjacency), finite=True), self._error
        tail: Curve = table.log_tail_of  # type: ignore[assignment]
        return (
            Profile(
                lambda epsilon: table.log_delta_of(epsilon + 2 * r) - 3 * r,
                log_tail_of=lambda epsilon: tail(epsilon + 2 * r) - r,
            ),
        )

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        """By inversion of the table."""
        masses = self._log_masses(scale)
        chance, k = np.exp(whole(masses)), np.arange(1 - masses.size, masses.size)
        return rng.choice(k, size=size, p=chance / chance.sum())


@lru_cache(maxsize=8)
def _pair(law: TabledNoise, shift: int, *, finite: bool = False) -> Profile:
    """The pair of likely outcomes, with or without those that only one of them has."""
    logs, gap = whole(law._masses), np.full(shift, -np.inf)
    log_p, log_q = np.append(gap, logs), np.append(logs, gap)
    kept = np.isfinite(log_p) & np.isfinite(log_q) if finite else slice(None)
    return Profile.from_atoms(log_p[kept], log_q[kept])


def whole(masses: NDArray) -> NDArray:
    """An even law on -n, ..., n from that on 0, ..., n."""
    return np.concatenate([masses[:0:-1], masses])
