"""A budget and a meter for mechanisms that are chosen one by one, each by what came out before."""

import math
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants.moments import RDP
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee
from dplearn.mechanisms import Mechanism

_ADAPTIVE = "only what the filter allowed was run, and data chose it through earlier releases alone"
# A divergence at which the conversion is far above its floor of 0.
_FAR = 1e3


def _added(
    spent: ArrayLike, mechanism: Mechanism, steps: int, orders: ArrayLike, adjacency: Adjacency
) -> NDArray:
    """Divergences of all that was spent and of `steps` runs more, in nats, rounded up."""
    validate.instance(Mechanism, mechanism=mechanism)
    validate.integer(minimum=1, steps=steps)
    if only := mechanism.only_for:
        what = f"{mechanism.name} among others that are chosen one by one"
        raise validate.unsupported(what, f"it is about {only}")
    each = mechanism.rdp(orders, adjacency=adjacency)
    # Upwards at each of two operations, which round by half an ulp.
    return np.nextafter(spent + np.nextafter(steps * each, np.inf), np.inf)


@dataclass
class PrivacyFilter:
    """A guarantee fixed beforehand, which refuses mechanisms that no longer fit into it.

    Mechanisms, their parameters and their number may depend on all that was released so far: Rényi
    divergences of one fixed order add up as if all had been chosen beforehand (Feldman & Zrnic
    2021, Theorem 3.1, number from memory; filters are from Rogers et al. 2016). Only what `spend`
    allows may run.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> budget = PrivacyFilter(epsilon=1.0, delta=1e-5)
    >>> [budget.spend(Gaussian(10.0), steps=3) for _ in range(3)]
    [True, True, False]
    >>> budget.spend(Gaussian(40.0))
    True
    >>> print(budget.guarantee)
    epsilon <= 1 at delta = 1.0e-05, add_remove, by rdp
    """

    _: KW_ONLY
    epsilon: float  # > 0
    delta: float  # in (0, 1)
    adjacency: Adjacency = "add_remove"
    # Of the divergence, in [1.01, 1e6]: the best for what is expected to run, for example
    # ``plan.guarantee("rdp", delta=delta).details["order"]``. Default: the best for Gaussians.
    order: float = 0.0
    spent: float = field(default=0.0, init=False)  # divergence of all that was allowed, in nats
    assumptions: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        validate.positive(epsilon=self.epsilon)
        validate.probability(delta=self.delta)
        validate.one_of(ADJACENCIES, adjacency=self.adjacency)
        if not self.order:
            orders = np.array(RDP().orders)
            left = self.epsilon - (rdp_to_epsilon(orders, _FAR, delta=self.delta) - _FAR)
            # Divergences of a Gaussian are in proportion to their orders.
            self.order = float(orders[np.argmax(left / orders)])
        validate.between(1.01, 1e6, order=self.order)

    def spend(self, mechanism: Mechanism, *, steps: int = 1) -> bool:
        """True where the mechanism may be run so often, which then counts as done.

        A refusal spends nothing. NotImplementedError is raised where no theorem covers it.
        """
        (total,) = _added(self.spent, mechanism, steps, [self.order], self.adjacency)
        epsilon = rdp_to_epsilon(self.order, total, delta=self.delta)
        if mechanism.infinite_epsilon_reason() or not epsilon <= self.epsilon * (1 - 1e-12):
            return False
        self.spent = float(total)
        self.assumptions = tuple(dict.fromkeys((*self.assumptions, *mechanism.assumptions)))
        return True

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of all releases together, whatever was chosen and however many there are."""
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta,
            kind="upper",
            method="rdp",
            adjacency=self.adjacency,
            assumptions=(*self.assumptions, _ADAPTIVE),
            details={"order": float(self.order)},
        )


@dataclass
class PrivacyOdometer:
    r"""A bound on the privacy loss of all releases so far, which may be read after each of them.

    Mechanisms, their number and when to stop may depend on all that was released. With probability
    1 - delta at least, over the outputs of either neighbour, the loss :math:`L_t = \ln P/Q` of the
    first t releases is at most the reading after t, for all t together. For each order
    :math:`e^{(\alpha - 1)(L_t - \sum D_\alpha)}` is a supermartingale of mean 1 at most, so by
    Ville's inequality it ever exceeds :math:`k/\delta` with probability :math:`\delta/k`; there are
    k orders (odometers are from Rogers et al. 2016; with Rényi divergences, Lécuyer 2021). A
    reading is random, so it is the epsilon of no (epsilon, delta)-DP: that one is fixed
    beforehand, in a `PrivacyFilter`.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> odometer = PrivacyOdometer(delta=1e-5)
    >>> [round(odometer.add(Gaussian(10.0), steps=20), 3) for _ in range(3)]
    [2.55, 3.499, 4.399]
    """

    _: KW_ONLY
    delta: float  # in (0, 1)
    adjacency: Adjacency = "add_remove"
    # Fixed beforehand, each > 1: more of them suit more runs, and share delta.
    orders: tuple[float, ...] = tuple(1 + 2.0**k for k in range(-1, 7))
    spent: NDArray = field(init=False)  # divergences of all releases at the orders, in nats

    def __post_init__(self) -> None:
        validate.probability(delta=self.delta)
        validate.one_of(ADJACENCIES, adjacency=self.adjacency)
        if not self.orders or min(self.orders) <= 1:
            raise ValueError(f"Expected orders > 1, got orders={self.orders!r}.")
        self.spent = np.zeros(len(self.orders))

    def add(self, mechanism: Mechanism, *, steps: int = 1) -> float:
        """The reading after `steps` runs more, in nats.

        NotImplementedError is raised where no theorem covers the mechanism; it then counts nothing.
        """
        self.spent = _added(self.spent, mechanism, steps, self.orders, self.adjacency)
        return self.reading

    @property
    def reading(self) -> float:
        """Largest loss so far, in nats, but for an event of probability delta."""
        rarely = math.log(len(self.orders) / self.delta) / (np.array(self.orders) - 1)
        return float(np.min(self.spent + rarely)) * (1 + 1e-12)
