"""A budget for mechanisms that are chosen one after the other, each by what came out before."""

import math
from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from dplearn.accountants.moments import RDP
from dplearn.accountants.theorems import rdp_to_epsilon
from dplearn.ground import validate
from dplearn.ground.guarantee import ADJACENCIES, Adjacency, Guarantee
from dplearn.mechanisms import Mechanism

_ADAPTIVE = "only what the filter allowed was run, and data chose it through earlier releases alone"
# A divergence at which the conversion is far above its floor of 0.
_FAR = 1e3


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
        validate.instance(Mechanism, mechanism=mechanism)
        validate.integer(minimum=1, steps=steps)
        if only := mechanism.only_for:
            raise validate.unsupported(f"{mechanism.name} in a filter", f"it is about {only}")
        (each,) = mechanism.rdp([self.order], adjacency=self.adjacency)
        # Upwards at each of two operations, which round by half an ulp.
        total = math.nextafter(self.spent + math.nextafter(steps * each, math.inf), math.inf)
        epsilon = rdp_to_epsilon(self.order, total, delta=self.delta)
        if mechanism.no_privacy() or not epsilon <= self.epsilon * (1 - 1e-12):
            return False
        self.spent = total
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
