"""The moments accountant, as the paper that introduced DP-SGD used it."""

from dataclasses import dataclass
from typing import ClassVar

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs
from dplearn.accountants.rdp import at_best_order
from dplearn.accountants.theorems import rdp_to_epsilon_mironov
from dplearn.ground import validate
from dplearn.ground.guarantee import Reference


@dataclass(frozen=True)
class Moments(Accountant):
    """Whole moments lambda = 1..32 and the tail bound of the paper: what papers report.

    The lambda-th log moment is lambda times the Rényi divergence of order lambda + 1.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
    >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    >>> round(Moments().epsilon(step, delta=1e-5, steps=10_000).epsilon, 4)
    1.2586
    """

    largest_moment: int = 32  # >= 1

    name: ClassVar[str] = "moments"
    title: ClassVar[str] = "Moments accountant (2016)"
    statement: ClassVar[str] = (
        r"\varepsilon = \min_{1\le\lambda\le32}\ \frac{T\,K(\lambda) + \ln(1/\delta)}{\lambda},"
        r"\qquad K(\lambda) = \lambda\,D_{\lambda+1}"
    )
    reference: ClassVar[Reference] = Reference("Abadi et al.", 2016, "Theorem 2", checked=True)
    explanation: ClassVar[str] = (
        "It composes the moments of the loss exactly and loses only when turning them into δ. "
        "With λ ≤ 32 it cannot fall below ln(1/δ)/32, the flat part on the left."
    )

    def __post_init__(self) -> None:
        validate.integer(minimum=1, maximum=10**6, largest_moment=self.largest_moment)

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        orders = tuple(float(moment + 1) for moment in range(1, self.largest_moment + 1))
        best = at_best_order(runs, orders, rdp_to_epsilon_mironov, delta)
        return [Bound(e, None, {"order": order, "moment": order - 1}) for e, order in best]
