"""What several parties add together: a sum of discrete Gaussians."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._noise import TabledNoise, whole
from dplearn.mechanisms.discrete_gaussian import DiscreteGaussian

# Largest deviation whose table is summed up; beyond, one discrete Gaussian is all but the sum.
_WIDEST = 250.0


@dataclass(frozen=True)
class SummedDiscreteGaussian(TabledNoise):
    r"""Noise of many parties on one whole-number query: a sum of discrete Gaussians.

    Parameters
    ----------
    noise_multiplier : float
        :math:`\sqrt{n}\,\sigma` / `sensitivity`, where each of n parties adds noise of the
        parameter sigma; the product with `sensitivity` is at most 1e4.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1.
    clients : int
        Number n of parties whose noise is in the sum, at most 1e4.

    Notes
    -----
    The sum is not a discrete Gaussian of the variance n sigma^2. From sigma = 1 on it nearly is;
    for sigma = 1/2 its variance is smaller by 14 %, and more is leaked than that claims.

    References
    ----------
    Kairouz, Liu & Steinke (2021), Theorem 9 and Proposition 14.

    Examples
    --------
    >>> from dplearn import DiscreteGaussian, ACCOUNTANTS
    >>> for law in (DiscreteGaussian(1.0, 5), SummedDiscreteGaussian(1.0, 5, clients=100)):
    ...     print(round(ACCOUNTANTS["pld"]().epsilon(law, delta=1e-5).epsilon, 3))
    4.383
    4.572
    """

    clients: int = 100

    name: ClassVar[str] = "summed_discrete_gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer(minimum=1, maximum=10**4, clients=self.clients)

    def _log_masses(self, scale: float) -> NDArray:
        return _sum_masses(scale, self.clients)

    @property
    def _error(self) -> float:
        """Rounding, which grows with the number of factors, or the theorem's gap (G-J3)."""
        if self._scale <= _WIDEST:
            return 1e-11 * self.clients
        return 1e-11 + sum_gap(self._scale / math.sqrt(self.clients), self.clients)

    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        return orders * self._rho(shift)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """By the profile, whose little slack weighs much at large orders, or by zCDP."""
        (profile,) = self._profiles(adjacency)
        return np.minimum(profile.renyi(orders), orders * self._zcdp(adjacency))

    def _zcdp(self, adjacency: Adjacency) -> float:
        return self._rho(self._distance(adjacency))

    def _rho(self, shift: int) -> float:
        """By one party's noise alone, or by that of all."""
        return summed_zcdp(self._scale / math.sqrt(self.clients), self.clients, shift=shift)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(1.0, 5), cls(2.0, clients=3), cls(0.5, sensitivity=40))


def sum_gap(sigma: float, clients: int) -> float:
    """The tau of G-J3: how far log masses of the sum are from those of one discrete Gaussian."""
    k = np.arange(1, clients)
    return 10 * float(np.sum(np.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1))))


def summed_zcdp(sigma: float, clients: int, *, shift: float, dimension: int = 1) -> float:
    r"""A rho of zCDP of a sum of `clients` discrete Gaussians in so many coordinates.

    A whole-number query that moves by `shift` in norm has :math:`\rho \le \Delta^2/2\sigma^2` by
    the noise of one party (the others' is added to what is released), and for sigma >= 1/2
    :math:`\rho \le (\Delta/\sqrt n\sigma + \tau\sqrt d)^2/2` by that of all (Kairouz, Liu &
    Steinke 2021, Proposition 14).
    """
    alone = shift**2 / (2 * sigma**2)
    if sigma < 0.5:
        return alone
    gap = sum_gap(sigma, clients) * math.sqrt(dimension)
    return min(alone, (shift / (math.sqrt(clients) * sigma) + gap) ** 2 / 2)


@lru_cache(maxsize=8)
def _sum_masses(scale: float, clients: int) -> NDArray:
    """log masses of 0, 1, ... of the sum, by its definition or by the theorem for large sums."""
    # A sum has Gaussian tails of the variance `scale`^2: 37 deviations leave less than e^-684.
    reach = math.ceil(37 * scale) + 1
    if scale > _WIDEST:
        return DiscreteGaussian(scale)._log_noise(np.arange(reach + 1.0))
    sigma = scale / math.sqrt(clients)
    k = np.arange(min(reach, math.ceil(38 * sigma)) + 1.0)
    factor = whole(np.exp(-0.5 * (k / sigma) ** 2))
    factor /= factor.sum()
    total, power = np.ones(1), clients
    while power:  # all terms are positive, so that no digits are lost
        if power % 2:
            total = _middle(np.convolve(total, factor), reach)
        if power := power // 2:
            factor = _middle(np.convolve(factor, factor), reach)
    with np.errstate(divide="ignore"):
        return np.log(total[total.size // 2 :])


def _middle(law: NDArray, reach: int) -> NDArray:
    """The law of numbers up to `reach` in size."""
    cut = max(law.size // 2 - reach, 0)
    return law[cut : law.size - cut]
