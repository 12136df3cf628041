"""Releases of which only a privacy guarantee is known; they are not in the registry."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import log
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms.choices import RandomizedResponse

MOST_EPSILON = 1e3


@dataclass(frozen=True)
class ApproximateDP(Mechanism):
    r"""An arbitrary release known to be (epsilon, delta)-DP, under the adjacency of that proof.

    The worst such release reveals everything with probability delta and is otherwise a randomized
    response (Kairouz, Oh & Viswanath 2015, Theorem 3.1); bounds are upper bounds only.

    Parameters
    ----------
    epsilon : float >= 0, in nats
    delta : float in [0, 1); 0 is pure differential privacy
    """

    epsilon: float
    delta: float = 0.0

    name = "approximate_dp"
    conditions = ("the release has the (epsilon, delta) that is said of it",)
    attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate.between(0, MOST_EPSILON, epsilon=self.epsilon)
        validate.between(0, 1 - 1e-12, delta=self.delta)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        log_p = np.array([self.epsilon, 0.0]) - np.logaddexp(self.epsilon, 0.0)
        log_p += math.log1p(-self.delta)
        result, nothing = log([self.delta]), [-math.inf]
        return (Profile.from_atoms([*result, *log_p, *nothing], [*nothing, *log_p[::-1], *result]),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        if self.delta:
            return np.full(orders.shape, np.inf)
        if self.epsilon < 1e-50:
            return np.zeros(orders.shape)
        return RandomizedResponse(self.epsilon).rdp(orders, adjacency="replace_one")

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        """Return epsilon^2 / 2 if delta is 0 (Bun & Steinke 2016, Proposition 3.3), else None."""
        return None if self.delta else self.epsilon**2 / 2


@dataclass(frozen=True)
class ZCDP(Mechanism):
    """An arbitrary rho-zCDP release (Bun & Steinke 2016), for accountants "rdp" and "zcdp" only.

    Parameters
    ----------
    rho : float >= 0
    """

    rho: float

    name = "rho_zcdp"
    conditions = ("the release has the rho that is said of it",)
    attained: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate.between(0, 1e6, rho=self.rho)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        raise validate.unsupported("profiles() of rho_zcdp", "rho alone does not name a worst pair")

    def pure_epsilon(self, adjacency: Adjacency = "add_remove") -> float:
        return math.inf if self.rho else 0.0

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        return self.rho * orders

    def _zcdp(self, adjacency: Adjacency) -> float:
        return self.rho
