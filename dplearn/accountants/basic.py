"""Basic composition."""

from dataclasses import dataclass
from typing import ClassVar

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.ground.guarantee import Reference


@dataclass(frozen=True)
class Basic(Accountant):
    """Epsilons add up, deltas add up; each release gets an equal share of delta.

    Examples
    --------
    >>> from dplearn.mechanisms import Laplace
    >>> round(Basic().epsilon(Laplace(10.0), delta=1e-9, steps=5).epsilon, 6)
    0.5
    """

    name: ClassVar[str] = "basic"
    title: ClassVar[str] = "Basic composition"
    statement: ClassVar[str] = (
        r"\varepsilon = \sum_t \varepsilon_t,\qquad \delta = \sum_t \delta_t,"
        r"\qquad \delta_t = \delta / T"
    )
    reference: ClassVar[Reference] = Reference("Dwork & Roth", 2014, "Theorem 3.16")
    explanation: ClassVar[str] = (
        "It adds the worst case of every step, as if each step could be the unluckiest one. "
        "So it grows like T and is the smallest bound only when T is very small."
    )

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        shares = delta / runs.totals
        each = runs.epsilon_of_one(shares)
        totals = (runs.counts * each).sum(axis=1)
        return [
            Bound(total, None, {"step_delta": share})
            for total, share in zip(totals, shares, strict=True)
        ]
