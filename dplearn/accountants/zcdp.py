"""Zero-concentrated differential privacy."""

from dataclasses import dataclass
from typing import ClassVar

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.accountants.theorems import best_zcdp_order, zcdp_to_epsilon
from dplearn.ground.guarantee import Reference


@dataclass(frozen=True)
class ZCDP(Accountant):
    """One number rho per mechanism; rhos add up.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> round(ZCDP().epsilon(Gaussian(1.0), delta=1e-5).epsilon, 4)
    4.7284
    """

    name: ClassVar[str] = "zcdp"
    title: ClassVar[str] = "Zero-concentrated DP"
    statement: ClassVar[str] = (
        r"\rho = \sum_t\rho_t,\qquad \varepsilon = \min_{\alpha>1}\ \rho\alpha"
        r" + \ln\frac{\alpha-1}{\alpha} - \frac{\ln\delta+\ln\alpha}{\alpha-1}"
        r"\ \le\ \rho + 2\sqrt{\rho\ln(1/\delta)}"
    )
    reference: ClassVar[Reference] = Reference("Bun & Steinke", 2016, "Proposition 1.3")
    explanation: ClassVar[str] = (
        "One line ρα must lie above the Rényi curve at every order, so a single ρ cannot see "
        "that sampling helps: at q < 1 it is the bound of the full batch."
    )

    def _refusal(self, runs: Runs) -> str:
        if refusal := super()._refusal(runs):
            return refusal
        missing = [m.name for m in runs.mechanisms if m.zcdp(runs.adjacency) is None]
        return f"no rho is known for {missing[0]}" if missing else ""

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        rho = runs.counts @ [m.zcdp(runs.adjacency) for m in runs.mechanisms]
        epsilon, order = zcdp_to_epsilon(rho, delta=delta), best_zcdp_order(rho, delta=delta)
        return [
            Bound(e, None, {"rho": float(r), "order": float(a)})
            for e, r, a in zip(epsilon, rho, order, strict=True)
        ]
