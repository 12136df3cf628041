"""Advanced composition."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.accountants.basic import Basic
from dplearn.accountants.theorems import composition_slack, heterogeneous_composition
from dplearn.ground.guarantee import Reference


@dataclass(frozen=True)
class Advanced(Accountant):
    """The closed forms that grow like sqrt(T), or basic composition where that is smaller.

    Delta is divided between the steps and the theorem's own slack in the best of many
    ways; every division gives a valid bound, so the search decides tightness only.

    Examples
    --------
    >>> from dplearn.mechanisms import Laplace
    >>> round(Advanced().epsilon(Laplace(10.0), delta=1e-5, steps=100).epsilon, 3)
    5.298
    """

    name: ClassVar[str] = "advanced"
    title: ClassVar[str] = "Advanced composition"
    statement: ClassVar[str] = (
        r"\varepsilon = \varepsilon_0\sqrt{2T\ln(1/\delta')} + T\varepsilon_0\,"
        r"\frac{e^{\varepsilon_0}-1}{e^{\varepsilon_0}+1},\qquad "
        r"\delta = 1-(1-\delta_0)^T(1-\delta')"
    )
    reference: ClassVar[Reference] = Reference("Kairouz, Oh & Viswanath", 2015, "Theorem 3.4")
    explanation: ClassVar[str] = (
        "Lucky and unlucky steps partly cancel, so the total grows like √T at first. "
        "It still keeps of each step only one pair (ε₀, δ₀) and forgets how the loss is spread."
    )

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        paid = runs.delta_grid(delta)
        totals, _ = closed_totals(runs, paid, runs.epsilon_of_one(paid), delta)
        best = np.argmin(totals, axis=1)
        basic = Basic()._bounds(runs, delta)
        return [
            min(Bound(row[i], None, {"step_delta": float(paid[i])}), plain, key=lambda b: b.epsilon)
            for row, i, plain in zip(totals, best, basic, strict=True)
        ]


def closed_totals(
    runs: Runs, paid: NDArray, each: NDArray, delta: float
) -> tuple[NDArray, NDArray]:
    """Closed forms, inf where nothing of delta is left, and the slack, by row and candidate."""
    slack = composition_slack(delta=delta, paid=paid, steps=runs.totals[:, None])
    # Axes: row of counts, candidate, mechanism.
    totals = heterogeneous_composition(
        epsilons=each[None], counts=runs.counts[:, None], slack=np.where(slack > 0, slack, 0.5)
    )
    return np.where(slack > 0, totals, np.inf), slack
