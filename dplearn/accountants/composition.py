"""Basic, advanced and optimal composition of (epsilon, delta) guarantees."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants import theorems
from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.accountants.pld import PLD
from dplearn.core.guarantee import Reference
from dplearn.mechanisms import Composed, RandomizedResponse


@dataclass(frozen=True)
class Basic(Accountant):
    """Basic composition: epsilons add up, each release with an equal part of delta."""

    name = "basic"
    title = "Basic composition"
    reference = Reference("Dwork & Roth", 2014, "Theorem 3.16")

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        return _with_shares(runs.summed_epsilons(delta), delta / runs.totals)


@dataclass(frozen=True)
class Advanced(Accountant):
    """Advanced composition, which grows like sqrt(T), or basic composition where it is smaller.

    Of many ways to split delta between the steps and the slack of the theorem, the best is used.
    Every split gives a valid bound: the search affects only tightness.
    """

    name = "advanced"
    title = "Advanced composition"
    reference = Reference("Kairouz, Oh & Viswanath", 2015, "Theorem 3.4")

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        paid = runs.delta_grid(delta)
        totals, _ = self._totals(runs, paid, runs.epsilon_of_one(paid), delta)
        closed = _with_shares(np.min(totals, axis=1), paid[np.argmin(totals, axis=1)])
        return _smaller(closed, Basic()._bounds(runs, delta))

    @staticmethod
    def _totals(runs: Runs, paid: NDArray, each: NDArray, delta: float) -> tuple[NDArray, NDArray]:
        """Return closed-form epsilons (inf if slack <= 0) and slacks, shape (rows, candidates)."""
        slack = theorems.composition_slack(delta=delta, paid=paid, steps=runs.totals[:, None])
        # Axes: row of counts, candidate delta per step, mechanism.
        totals = theorems.heterogeneous_composition(
            epsilons=each[None], counts=runs.counts[:, None], slack=np.where(slack > 0, slack, 0.5)
        )
        return np.where(slack > 0, totals, np.inf), slack


@dataclass(frozen=True)
class Optimal(Accountant):
    """Exact composition of T steps that are only known to be (epsilon_0, delta_0)-DP.

    For different steps it is #P-hard (Murtagh & Vadhan 2016); the result is then an upper
    bound on the composition of randomized responses.
    """

    name = "optimal"
    title = "Optimal composition (KOV)"
    reference = Reference("Kairouz, Oh & Viswanath", 2015, "Theorem 3.3")

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        # Also divide delta equally between steps: the candidate splits may not contain this split.
        return _smaller(self._composed(runs, delta), Basic()._bounds(runs, delta))

    def _composed(self, runs: Runs, delta: float) -> Sequence[Bound]:
        """Return exact compositions for splits of delta near the best split of the closed form."""
        paid, steps = runs.delta_grid(delta), runs.counts.astype(float)
        each = runs.epsilon_of_one(paid)
        closed, slack = Advanced._totals(runs, paid, each, delta)
        if len(runs.mechanisms) > 1:
            return [
                _of_different(each, row, paid, left, total)
                for row, left, total in zip(runs.counts, slack, closed, strict=True)
            ]
        reach = np.array([-10, -5, 0, 5, 10])
        tried = np.clip(np.argmin(closed, axis=1)[:, None] + reach, 0, paid.size - 1)
        left = np.take_along_axis(slack, tried, axis=1)
        spare = np.where(left > 0, left, 0.5)
        totals = theorems.optimal_composition(epsilon=each[tried, 0], steps=steps, slack=spare)
        totals = np.minimum(totals, np.take_along_axis(closed, tried, axis=1))
        totals = np.where(left > 0, totals, np.inf)
        pick = np.argmin(totals, axis=1)[:, None]
        best, chosen = (np.take_along_axis(a, pick, axis=1)[:, 0] for a in (totals, paid[tried]))
        # A single step needs no slack: epsilon follows from its profile at the whole delta.
        single = runs.epsilon_of_one([delta])[0, 0]
        best = np.where(steps[:, 0] == 1, np.minimum(best, single), best)
        return _with_shares(best, chosen)


def _with_shares(totals: NDArray, shares: NDArray) -> list[Bound]:
    return [Bound(e, None, {"step_delta": float(d)}) for e, d in zip(totals, shares, strict=True)]


def _smaller(one: Sequence[Bound], other: Sequence[Bound]) -> list[Bound]:
    return [min(pair, key=lambda b: b.epsilon) for pair in zip(one, other, strict=True)]


def _of_different(
    each: NDArray, counts: NDArray, paid: NDArray, slack: NDArray, closed: NDArray
) -> Bound:
    """Return the smaller bound for two splits of delta, by composing randomized responses."""
    tried, law = [], PLD().coarse()
    # Try the best split of the closed form, and the smallest candidate delta per step.
    for i in (int(np.argmin(closed)), paid.size - 1):
        coins = [(e, int(n)) for e, n in zip(each[i], counts, strict=True) if e * n > 0]
        epsilon = closed[i]
        if coins and max(coins)[0] < np.inf and slack[i] > 0:
            run = Composed((RandomizedResponse(max(e, 1e-50)), n) for e, n in coins)
            stated = law.epsilon(run, delta=float(slack[i]), adjacency="replace_one")
            epsilon = min(epsilon, stated.epsilon)
        tried.append(Bound(epsilon, None, {"step_delta": float(paid[i])}))
    return min(tried, key=lambda bound: bound.epsilon)
