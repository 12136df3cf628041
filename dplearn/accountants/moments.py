"""Accountants that add moments of the privacy loss: Rényi DP, zCDP and the moments accountant."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import theorems
from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.core import validate
from dplearn.core.guarantee import Reference

# Orders: dense near 1 for large epsilons, then whole numbers, up to large for small epsilons
# (a full batch at sigma = 1000 needs orders near 10^4).
_ORDERS = (
    *(1 + np.geomspace(0.01, 10.0, 60)).tolist(),
    *map(float, range(12, 64)),
    *np.unique(np.round(np.geomspace(64, 1e6, 180))).tolist(),
)
# Largest number of search rounds between these orders; relative change of epsilon to stop at.
_ROUNDS, _CLOSE = 15, 1e-10
_ROUNDING = 1e-12  # bound on the relative error of divergences and their conversion


@dataclass(frozen=True)
class RDP(Accountant):
    """Rényi DP: divergences of all releases add up and are converted at the best order."""

    # Orders > 1; a search between the default orders finds better orders.
    orders: tuple[float, ...] = _ORDERS

    name = "rdp"
    title = "Rényi DP"
    reference = Reference("Mironov 2017; Canonne, Kamath & Steinke", 2020, "Proposition 12")

    def __post_init__(self) -> None:
        orders = tuple(float(a) for a in self.orders)
        if not orders or not all(1 < a < math.inf for a in orders):
            raise ValueError(f"Expected orders > 1 and finite, at least one, got orders={orders}.")
        object.__setattr__(self, "orders", orders)

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        orders, rounds = np.unique(self.orders), 0
        if self.orders == _ORDERS:
            orders, rounds = np.append(orders[:-1:10], orders[-1]), _ROUNDS
        convert = partial(theorems.rdp_to_epsilon, delta=delta)
        epsilon, near = at_best_order(runs, orders, convert)
        for _ in range(rounds):
            # A row is done when the epsilons at its best order and the orders beside it agree.
            open_ = np.max(epsilon, axis=1) > epsilon[:, 1] * (1 + _CLOSE)
            if not np.any(open_):
                break
            low, high = np.log(near[open_, :1] - 1), np.log(near[open_, 2:] - 1)
            between = 1 + np.exp(low + (high - low) * np.arange(17) / 16)
            epsilon[open_], near[open_] = at_best_order(runs[open_], between, convert)
        best = zip(epsilon[:, 1], near[:, 1], strict=True)
        return [Bound(e, None, {"order": order}) for e, order in best]


def at_best_order(runs: Runs, orders: NDArray, convert: Callable) -> tuple[NDArray, NDArray]:
    """Return epsilons at each row's best order and the two orders beside it, and these orders.

    Orders increase; any order gives a valid bound. Both results have shape (n_rows, 3).
    """
    epsilon = convert(orders, runs.rdp(orders))
    near = np.add.outer(np.argmin(epsilon, axis=1), [-1, 0, 1]).clip(0, epsilon.shape[1] - 1)
    orders = np.broadcast_to(orders, epsilon.shape)
    epsilon = np.take_along_axis(epsilon, near, axis=1) * (1 + _ROUNDING)
    return epsilon, np.take_along_axis(orders, near, axis=1)


@dataclass(frozen=True)
class Moments(Accountant):
    """The moments accountant of 2016: log moments of order 1 to 32 and their tail bound.

    The log moment of order m is m times the Rényi divergence of order m + 1.
    """

    largest_moment: int = 32  # >= 1

    name = "moments"
    title = "Moments accountant (2016)"
    reference = Reference("Abadi et al.", 2016, "Theorem 2")

    def __post_init__(self) -> None:
        validate.integer(minimum=1, maximum=10**6, largest_moment=self.largest_moment)

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        orders = np.arange(2.0, self.largest_moment + 2)
        convert = partial(theorems.rdp_to_epsilon_mironov, delta=delta)
        epsilon, near = at_best_order(runs, orders, convert)
        found = zip(epsilon[:, 1], near[:, 1], strict=True)
        return [Bound(e, None, {"order": order, "moment": order - 1}) for e, order in found]


@dataclass(frozen=True)
class ZCDP(Accountant):
    """Zero-concentrated DP: rho of all releases add up and are converted to epsilon."""

    name = "zcdp"
    title = "Zero-concentrated DP"
    reference = Reference("Bun & Steinke", 2016, "Proposition 1.3")

    def _refusal(self, runs: Runs) -> str:
        if refusal := super()._refusal(runs):
            return refusal
        missing = [m.name for m in runs.mechanisms if m.zcdp(runs.adjacency) is None]
        return f"no rho is known for {missing[0]}" if missing else ""

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        rho = runs.counts @ [m.zcdp(runs.adjacency) for m in runs.mechanisms]
        epsilon = theorems.zcdp_to_epsilon(rho, delta=delta)
        order = theorems.best_zcdp_order(rho, delta=delta)
        found = zip(epsilon, rho, order, strict=True)
        return [Bound(e, None, {"rho": float(r), "order": float(a)}) for e, r, a in found]
