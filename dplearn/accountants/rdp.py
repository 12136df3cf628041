"""Rényi differential privacy."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.ground.guarantee import Reference
from dplearn.mechanisms._wrapped import Epoch

# Dense where large epsilons have their best order, whole numbers in the middle, and far
# enough out for small ones (a full batch at sigma = 1000 wants orders near 10^4).
_ORDERS = (
    *(1 + np.geomspace(0.01, 10.0, 60)),
    *range(12, 64),
    *np.unique(np.round(np.geomspace(64, 1e6, 180))),
)


@dataclass(frozen=True)
class RDP(Accountant):
    """Compose at every order, convert at the best one.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
    >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    >>> stated = RDP().epsilon(step, delta=1e-5, steps=10_000)
    >>> round(stated.epsilon, 3), round(stated.details["order"])
    (1.035, 17)
    """

    orders: tuple[float, ...] = tuple(float(a) for a in _ORDERS)  # > 1, fractional ones included

    name: ClassVar[str] = "rdp"
    title: ClassVar[str] = "Rényi DP"
    statement: ClassVar[str] = (
        r"\varepsilon = \min_{\alpha>1}\ T D_\alpha + \ln\frac{\alpha-1}{\alpha}"
        r" - \frac{\ln\delta+\ln\alpha}{\alpha-1}"
    )
    reference: ClassVar[Reference] = Reference(
        "Mironov 2017; Canonne, Kamath & Steinke", 2020, "Proposition 12"
    )
    explanation: ClassVar[str] = (
        "The same moments at all orders, turned into (ε, δ) by a sharper conversion. "
        "What remains above the exact curve is the price of that one conversion."
    )

    def __post_init__(self) -> None:
        orders = tuple(float(a) for a in self.orders)
        if not orders or not all(1 < a < math.inf for a in orders):
            raise ValueError(f"Expected orders > 1 and finite, at least one, got orders={orders}.")
        object.__setattr__(self, "orders", orders)

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        near = _near_the_best(runs, self.orders, delta)
        best = at_best_order(runs, near, rdp_to_epsilon, delta)
        return [Bound(epsilon, None, {"order": order}) for epsilon, order in best]


def _near_the_best(runs: Runs, orders: tuple[float, ...], delta: float) -> tuple[float, ...]:
    """Of many orders those that lie between every tenth of them only next to the best."""
    # Those of an epoch cost the most together, and few of them as much as all.
    if len(orders) < 100 or any(isinstance(mechanism, Epoch) for mechanism in runs.mechanisms):
        return orders
    orders = tuple(sorted(orders))
    rough = at_best_order(runs, orders[::10], rdp_to_epsilon, delta)
    best = np.searchsorted(orders, [order for _, order in rough])
    near = np.clip(best[:, None] + np.arange(-9, 10), 0, len(orders) - 1)
    return tuple(np.array(orders)[np.unique(near)])


def at_best_order(
    runs: Runs, orders: tuple[float, ...], conversion: Callable[..., NDArray], delta: float
) -> list[tuple[float, float]]:
    """Smallest epsilon over the orders, and the order that gives it, of every row of counts."""
    epsilon = conversion(orders, runs.rdp(orders), delta=delta)
    return [(row[i], orders[i]) for row, i in zip(epsilon, np.argmin(epsilon, axis=1), strict=True)]
