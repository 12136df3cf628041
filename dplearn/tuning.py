"""Privacy of hyperparameter tuning, which releases the best of several private runs."""

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants.moments import RDP
from dplearn.accountants.theorems import expected_tries, rdp_to_epsilon, selection_rdp
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency, Guarantee
from dplearn.core.solve import decreasing_root
from dplearn.mechanisms import Mechanism
from dplearn.run import Plan

_CONDITIONS = (
    "the number of tries comes from Tuned.draw and stays secret",
    "each try draws its settings afresh from one public law",
    "a try's score is made of what the run releases, and only the best try is released",
)


@dataclass(frozen=True)
class Tuned:
    r"""Best of a random number K of private runs; the guarantee includes the choice of the best.

    The bound is Papernot & Steinke (2022), Theorem 2, after Liu & Talwar (2019). It holds if K is
    drawn by `draw` and kept secret, if each run draws its settings independently from the same
    public law, and if its score depends only on the releases of `run`: on public data, or with
    noise that `run` includes. Only the best run is released. If K is fixed or public, the guarantee
    is that of ``Composed([(run, K)])``. A choice by exact scores on private data has none.

    Parameters
    ----------
    run : Mechanism or plan, the whole run with the hyperparameters that leak most
    tries : float in [1, 1e6], expected number of runs
    shape : float in [-0.9, 10] of the distribution of K: 1 is geometric, 0 logarithmic; a lower
        shape leaks less, and K varies more

    Examples
    --------
    >>> from dplearn.mechanisms import Composed, Gaussian, PoissonSubsampled
    >>> run = Composed([(PoissonSubsampled(Gaussian(4.0), 0.01), 10_000)])
    >>> print(Tuned(run, tries=10).guarantee(delta=1e-5))
    epsilon <= 1.823 at delta = 1.0e-05, add_remove, by rdp
    >>> print(RDP().epsilon(run, delta=1e-5, steps=10))
    epsilon <= 3.688 at delta = 1.0e-05, add_remove, by rdp
    """

    run: Any  # a plan is stored as `plan.composed`
    tries: float
    shape: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.run, Plan):
            object.__setattr__(self, "run", self.run.composed)
        validate.instance(Mechanism, run=self.run)
        validate.between(1, 1e6, tries=self.tries)
        validate.between(-0.9, 10, shape=self.shape)

    @cached_property
    def stop(self) -> float:
        """Parameter gamma in (0, 1) of the distribution of K; a smaller gamma gives more tries."""
        excess = lambda x: expected_tries(shape=self.shape, stop=np.exp(x)) - self.tries
        return math.exp(decreasing_root(excess, lower=np.array(-600.0), upper=np.array(-1e-9)))

    def rdp(self, orders: ArrayLike, *, adjacency: Adjacency = "add_remove") -> NDArray:
        """Return upper bounds on the best run's Rényi divergences, in nats, shape (n_orders,)."""
        orders, others = np.asarray(orders, dtype=float), np.array(RDP().orders)
        one, other = (self.run.rdp(o, adjacency=adjacency) for o in (orders, others))
        best = partial(selection_rdp, shape=self.shape, stop=self.stop)
        bounds = best(
            order=orders[:, None], epsilon=one[:, None], other_order=others, other_epsilon=other
        )
        return bounds.min(axis=1)

    def guarantee(self, *, delta: float, adjacency: Adjacency = "add_remove") -> Guarantee:
        """Return an upper bound on epsilon of releasing the best run and score, at `delta`."""
        validate.probability(delta=delta)
        orders = np.array(RDP().orders)
        epsilons = rdp_to_epsilon(orders, self.rdp(orders, adjacency=adjacency), delta=delta)
        best = int(np.argmin(epsilons))
        unbounded = self.run.infinite_epsilon_reason() or "no order has a finite divergence"
        return Guarantee(
            epsilon=float(epsilons[best]),
            delta=delta,
            kind="upper",
            method="rdp",
            adjacency=adjacency,
            assumptions=(*self.run.assumptions, *_CONDITIONS),
            reason="" if epsilons[best] < math.inf else unbounded,
            proof="Papernot & Steinke (2022), Theorem 2",
            details={"order": float(orders[best])},
        )

    def draw(self, rng: np.random.Generator) -> int:
        """Draw the number of tries, >= 1; the seed of `rng` must stay secret."""
        left, count, log_stop = rng.random(), 1, math.log(self.stop)
        share = -math.expm1(log_stop)
        chance = -share / log_stop
        if self.shape:
            chance = self.shape * share / math.expm1(-self.shape * log_stop)
        while left > chance > 0:
            left, chance = left - chance, chance * share * (count + self.shape) / (count + 1)
            count += 1
        return count
