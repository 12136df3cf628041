"""The discrete Gaussian mechanism for whole-number queries."""

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
from dplearn.mechanisms._outputs import WHOLE, Outputs
from dplearn.mechanisms.geometric import whole_numbers

# Half-width of the table in standard deviations: what lies outside weighs less than e^-800.
_REACH = 40.0


@dataclass(frozen=True)
class DiscreteGaussian(Mechanism):
    r"""Noise :math:`P(X = k) \propto e^{-k^2/2\sigma^2}` on one whole-number query.

    Parameters
    ----------
    noise_multiplier : float
        sigma / `sensitivity`, in (0, 1e4 / sensitivity]. The parameter sigma is not
        the standard deviation of X, which is slightly smaller.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1.

    Notes
    -----
    Its Rényi divergences equal the continuous ones at whole orders, its profile does not:
    at sigma = 1, epsilon = 1 delta is 0.14135 against 0.12694.

    References
    ----------
    Canonne, Kamath & Steinke (2020), Theorems 4 and 7.

    Examples
    --------
    >>> (profile,) = DiscreteGaussian(noise_multiplier=1.0).profiles()
    >>> round(float(profile.delta(1.0)), 6)
    0.141351
    """

    noise_multiplier: float
    sensitivity: int = 1

    name: ClassVar[str] = "discrete_gaussian"
    conditions: ClassVar[tuple[str, ...]] = ("the query is one whole number",)

    def __post_init__(self) -> None:
        validate.positive(noise_multiplier=self.noise_multiplier)
        validate.integer(minimum=1, maximum=10**4, sensitivity=self.sensitivity)
        if self._sigma > 1e4:
            raise ValueError(
                f"Expected noise_multiplier * sensitivity <= 1e4, got {self._sigma:g}; "
                "the continuous Gaussian is indistinguishable there."
            )

    @property
    def _sigma(self) -> float:
        return self.noise_multiplier * self.sensitivity

    def _reach(self, shift: int) -> int:
        return math.ceil(_REACH * self._sigma) + 200 * shift

    def _table(self, shift: int) -> Profile:
        """The pair restricted to its likely outcomes."""
        sigma, reach = self._sigma, self._reach(shift)
        k = np.arange(-reach, reach + shift + 1, dtype=float)
        log_norm = _log_theta(0.0, sigma)
        # Under P the noise is Y = k - shift; the loss exceeds eps where Y > eps sigma^2/s - s/2.
        return Profile.from_atoms(
            -0.5 * ((k - shift) / sigma) ** 2 - log_norm, -0.5 * (k / sigma) ** 2 - log_norm
        )

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        shift, sigma = contribution_norm(adjacency) * self.sensitivity, self._sigma
        table, reach, log_norm = self._table(shift), self._reach(shift), _log_theta(0.0, sigma)
        edge = (reach - 1 + shift / 2) * shift / sigma**2

        def log_survival(x: ArrayLike) -> NDArray:
            # P(Y >= x) <= p(x) / (1 - e^{-x / sigma^2}), an upper bound.
            x = np.asarray(x, dtype=float)
            return -0.5 * (x / sigma) ** 2 - log_norm - log1mexp(-x / sigma**2)

        outside = log_survival(reach + 1)

        def log_delta(epsilon: NDArray) -> NDArray:
            inside = log_add(table.log_delta_of(np.minimum(epsilon, edge)), outside)
            past = log_survival(np.maximum(epsilon, edge) * sigma**2 / shift - shift / 2)
            return np.where(epsilon < edge, inside, past)

        # No tails: a bound from above must not serve in a statement from below.
        return (Profile(log_delta, kinks=table.kinks),)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """The table alone: the little mass outside claims nothing."""
        return (self._table(contribution_norm(adjacency) * self.sensitivity),)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        sigma, log_norm = self._sigma, _log_theta(0.0, self._sigma)

        def log_noise(k: NDArray) -> NDArray:
            return -0.5 * (k / sigma) ** 2 - log_norm

        shift, reach = contribution_norm(adjacency) * self.sensitivity, math.ceil(7 * sigma)
        return (Outputs.of_noise(log_noise, shift=shift, reach=reach, **WHOLE),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        r"""alpha s^2 / (2 sigma^2) plus the log ratio of two theta sums, 0 at whole orders."""
        shift, sigma = contribution_norm(adjacency) * self.sensitivity, self._sigma
        ratio = np.array([_log_theta(a * shift, sigma) for a in orders]) - _log_theta(0.0, sigma)
        # The sum over a shifted lattice never exceeds the centred one (Poisson summation).
        return orders * self._zcdp(adjacency) + np.minimum(ratio, 0.0) / (orders - 1)

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = s^2 / (2 sigma^2) (Canonne, Kamath & Steinke 2020, Theorem 4)."""
        return 0.5 * (contribution_norm(adjacency) / self.noise_multiplier) ** 2

    @classmethod
    def examples(cls) -> tuple[DiscreteGaussian, ...]:
        return (cls(1.0), cls(0.5, sensitivity=3), cls(20.0))

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1, rng: np.random.Generator
    ) -> NDArray:
        """`value` plus discrete Gaussian noise of parameter sigma * `sensitivity`.

        Drawn by inversion of the tabulated distribution; here `sensitivity` is the query's
        own and must equal the field for the profile to hold.
        """
        value = whole_numbers(value)
        validate.positive(sensitivity=sensitivity)
        sigma = self.noise_multiplier * sensitivity
        k = np.arange(-math.ceil(12 * sigma), math.ceil(12 * sigma) + 1)
        chance = np.exp(-0.5 * (k / sigma) ** 2)
        return value + rng.choice(k, size=value.shape, p=chance / chance.sum())


def _log_theta(centre: float, sigma: float) -> float:
    """log sum over whole k of exp(-(k - centre)^2 / (2 sigma^2))."""
    offset = centre - round(centre)
    reach = math.ceil(40 * sigma) + 1
    k = np.arange(-reach, reach + 1, dtype=float)
    return float(np.logaddexp.reduce(-0.5 * ((k - offset) / sigma) ** 2))
