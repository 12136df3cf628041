"""Optimal composition of steps known by their (epsilon, delta) alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.accountants.advanced import closed_totals
from dplearn.accountants.basic import Basic
from dplearn.accountants.pld import PLD
from dplearn.accountants.theorems import optimal_composition
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference
from dplearn.mechanisms import Composed, RandomizedResponse


@dataclass(frozen=True)
class Optimal(Accountant):
    """The exact composition of T steps known only as (epsilon_0, delta_0)-DP.

    That of steps which differ is #P-hard (Murtagh & Vadhan 2016); theirs is the upper end of a
    bracket of the composed randomized responses.

    Examples
    --------
    >>> from dplearn.mechanisms import RandomizedResponse
    >>> coin = RandomizedResponse(0.1)
    >>> round(Optimal().epsilon(coin, delta=1e-5, steps=100, adjacency="replace_one").epsilon, 4)
    4.3068
    """

    candidates: int = 5  # divisions of delta tried around the best one of the closed form

    name: ClassVar[str] = "optimal"
    title: ClassVar[str] = "Optimal composition (KOV)"
    statement: ClassVar[str] = (
        r"\delta = 1-(1-\delta_0)^T\Big(1-\sum_k\tbinom Tk p^k(1-p)^{T-k}"
        r"\big(1-e^{\varepsilon-(2k-T)\varepsilon_0}\big)_+\Big),\quad "
        r"p=\tfrac{e^{\varepsilon_0}}{1+e^{\varepsilon_0}}"
    )
    reference: ClassVar[Reference] = Reference("Kairouz, Oh & Viswanath", 2015, "Theorem 3.3")
    explanation: ClassVar[str] = (
        "No bound that knows of each step only (ε₀, δ₀) can be smaller than this one. "
        "Curves below it know more: the whole distribution of one step's loss."
    )

    def __post_init__(self) -> None:
        validate.integer(minimum=1, maximum=1000, candidates=self.candidates)

    def _bounds(self, runs: Runs, delta: float) -> Sequence[Bound]:
        # Equal shares of delta need not be among the divisions that are tried.
        pairs = zip(self._composed(runs, delta), Basic()._bounds(runs, delta), strict=True)
        return [min(pair, key=lambda bound: bound.epsilon) for pair in pairs]

    def _composed(self, runs: Runs, delta: float) -> Sequence[Bound]:
        """The exact composition at divisions around the closed form's, never above that."""
        paid, steps = runs.delta_grid(delta), runs.counts.astype(float)
        each = runs.epsilon_of_one(paid)
        closed, slack = closed_totals(runs, paid, each, delta)
        best = np.argmin(closed, axis=1)
        if len(runs.mechanisms) > 1:
            return [
                _of_different(each, row, paid, left, total)
                for row, left, total in zip(runs.counts, slack, closed, strict=True)
            ]
        # Candidates spread around the closed form's choice, kept on the grid.
        reach = 5 * (np.arange(self.candidates) - self.candidates // 2)
        tried = np.clip(best[:, None] + reach, 0, paid.size - 1)
        left = np.take_along_axis(slack, tried, axis=1)
        totals = optimal_composition(
            epsilon=each[tried, 0], steps=steps, slack=np.where(left > 0, left, 0.5)
        )
        totals = np.minimum(totals, np.take_along_axis(closed, tried, axis=1))
        totals = np.where(left > 0, totals, np.inf)
        pick = np.argmin(totals, axis=1)
        # One step needs no slack: its own profile is exact.
        single = runs.epsilon_of_one([delta])[0, 0]
        return [
            Bound(
                min(row[i], single) if n == 1 else row[i], None, {"step_delta": float(paid[t[i]])}
            )
            for row, i, t, n in zip(totals, pick, tried, steps[:, 0], strict=True)
        ]


def _of_different(
    each: NDArray, counts: NDArray, paid: NDArray, slack: NDArray, closed: NDArray
) -> Bound:
    """Bound of one row of different releases, at two divisions of delta.

    The worst such releases are randomized responses, which the lattice composes.
    """
    tried, law = [], PLD().rougher()
    # The closed form's division, and next to nothing for the steps.
    for i in (int(np.argmin(closed)), paid.size - 1):
        coins = [(e, int(n)) for e, n in zip(each[i], counts, strict=True) if e * n > 0]
        epsilon = closed[i]
        if coins and max(coins)[0] < np.inf and slack[i] > 0:
            run = Composed((RandomizedResponse(max(e, 1e-50)), n) for e, n in coins)
            question = {"delta": float(slack[i]), "adjacency": "replace_one"}
            epsilon = min(epsilon, law.epsilon(run, **question).epsilon)
        tried.append(Bound(epsilon, None, {"step_delta": float(paid[i])}))
    return min(tried, key=lambda bound: bound.epsilon)
