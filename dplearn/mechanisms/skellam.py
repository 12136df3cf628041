"""Skellam noise: the difference of two Poisson counts, which is closed under sums."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ive

from dplearn.ground.guarantee import Adjacency
from dplearn.ground.solve import first_true
from dplearn.mechanisms._noise import OUTSIDE, TabledNoise


@dataclass(frozen=True)
class Skellam(TabledNoise):
    r"""Noise X = Poisson(mu/2) - Poisson(mu/2) on one whole-number query.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation, the root of mu, / `sensitivity`; their product is at most 1e4.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1.

    Notes
    -----
    A sum of such noise is such noise: parties that add mu/n each need no theorem of sums.

    References
    ----------
    Agarwal, Kairouz & Liu (2021), Theorem 3.5.

    Examples
    --------
    >>> from dplearn import ACCOUNTANTS
    >>> round(ACCOUNTANTS["pld"]().epsilon(Skellam(1.0, 10), delta=1e-5).epsilon, 3)
    4.27
    """

    name: ClassVar[str] = "skellam"

    def _log_masses(self, scale: float) -> NDArray:
        return _masses(scale**2)

    @property
    def _error(self) -> float:
        return 1e-10  # of Bessel functions: 3.2e-11 was seen

    def _zcdp(self, adjacency: Adjacency) -> None:
        """None: the Gaussian's line is too low just above order 1 (G-J4)."""

    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        return skellam_rdp(orders, self._scale**2, l1=shift, l2=shift)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(1.0, 5), cls(2.0), cls(0.5, sensitivity=40))


def skellam_rdp(orders: NDArray, variance: float, *, l1: float, l2: float) -> NDArray:
    """A bound from above at whole orders, for changes of these norms (Theorem 3.5)."""
    small = ((2 * orders - 1) * l2**2 + 6 * l1) / (4 * variance**2)
    return orders * l2**2 / (2 * variance) + np.minimum(small, 3 * l1 / (2 * variance))


@lru_cache(maxsize=8)
def _masses(variance: float) -> NDArray:
    """log e^-mu I_k(mu) as far as Chernoff's bound leaves more than e^OUTSIDE beyond."""

    def enough(r: NDArray) -> NDArray:
        rate = r * np.arcsinh(r / variance) - np.hypot(r, variance) + variance
        return rate >= 1 - OUTSIDE

    reach = first_true(enough, lower=0.0, upper=50 * np.sqrt(variance) + 1000.0)
    with np.errstate(divide="ignore"):
        return np.log(ive(np.arange(float(reach) + 1), variance))
