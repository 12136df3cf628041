"""Formulas of the book as text, to tell what a claim is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dplearn.claims._parameters import canonical
from dplearn.ground.expression import Expression, parse

SAME = 1e-6


@dataclass(frozen=True)
class Closest:
    """The known formula most like a claim.

    Parameters
    ----------
    id : str
        In the formula book, as G-B4.
    name, formula : str
    factor : float
        The typical ratio of the two, >= 1; 1 where they are the same.
    same : bool
        Whether they agree within 1e-6 at every point.
    """

    id: str
    name: str
    formula: str
    factor: float
    same: bool

    def __str__(self) -> str:
        if self.same:
            return f"This is {self.id}, {self.name}."
        if self.factor < 1 + SAME:
            return f"At half of the points or more it equals {self.id}, {self.name}."
        by = f"{self.factor:.4g}" if self.factor < 1e4 else f"{self.factor:.0e}"
        return f"Closest known: {self.id}, {self.name}; typically a factor {by} away."


_PURE = ("pure_dp", "randomized_response", "laplace")
_POISSON = ("poisson_subsampled_gaussian",)
_SPREAD = "epsilon*sqrt(2*T*log(1/delta))"
# Quantity, mechanisms, id, name, formula.
_KNOWN = (
    ("sigma", ("gaussian",), "G-B4", "the classical Gaussian", "sqrt(2*log(1.25/delta))/epsilon"),
    ("sigma", ("gaussian",), "G-B4", "the classical Gaussian with the 2 forgotten",
     "sqrt(log(1.25/delta))/epsilon"),
    ("epsilon", ("gaussian",), "G-B4", "the classical Gaussian", "sqrt(2*log(1.25/delta))/sigma"),
    ("epsilon", ("gaussian",), "G-D1", "Rényi DP of the Gaussian, first conversion",
     "alpha*T/(2*sigma^2) + log(1/delta)/(alpha-1)"),
    ("epsilon", ("gaussian",), "G-D1", "the first conversion divided by alpha, a misprint",
     "alpha*T/(2*sigma^2) + log(1/delta)/alpha"),
    ("epsilon", ("gaussian",), "G-D1", "the first conversion without its bracket, a misprint",
     "alpha*T/(2*sigma^2) + log(1/delta)/alpha - 1"),
    ("epsilon", ("gaussian",), "G-D2", "Rényi DP of the Gaussian, improved conversion",
     "alpha*T/(2*sigma^2) + log((alpha-1)/alpha) - (log(delta)+log(alpha))/(alpha-1)"),
    ("epsilon", ("gaussian",), "G-D10", "the moments accountant of the Gaussian",
     "T/(2*sigma^2) + sqrt(2*T*log(1/delta))/sigma"),
    ("epsilon", ("gaussian",), "G-D10", "the moments accountant with the order shifted, a misprint",
     "sqrt(2*T*log(1/delta))/sigma - T/(2*sigma^2)"),
    ("delta", ("gaussian",), "G-B5", "the analytic Gaussian",
     "Phi(sqrt(T)/(2*sigma)-epsilon*sigma/sqrt(T))"
     " - exp(epsilon)*Phi(-sqrt(T)/(2*sigma)-epsilon*sigma/sqrt(T))"),
    ("delta", ("gaussian",), "G-D8", "the tail of the privacy loss",
     "Phi(sqrt(T)/(2*sigma)-epsilon*sigma/sqrt(T))"),
    ("rdp", ("gaussian",), "G-A4", "the Rényi divergence of Gaussians", "alpha/(2*sigma^2)"),
    ("rdp", _POISSON, "G-E7", "the law for small q", "q^2*alpha*(exp(1/sigma^2)-1)/2"),
    ("rdp", _POISSON, "G-E7", "the main term of the moments accountant",
     "q^2*alpha/((1-q)*sigma^2)"),
    ("rdp", _POISSON, "G-E8", "a closed upper bound of the sampled Gaussian",
     "2*q^2*alpha/sigma^2"),
    ("rdp", _POISSON, "G-E8", "a closed upper bound of the sampled Gaussian",
     "6*q^2*alpha/sigma^2"),
    ("rdp", ("laplace",), "G-A8", "the Rényi divergence of Laplace",
     "log(alpha/(2*alpha-1)*exp((alpha-1)*epsilon)"
     " + (alpha-1)/(2*alpha-1)*exp(-alpha*epsilon))/(alpha-1)"),
    ("rdp", _PURE, "G-D4", "the Rényi divergence of pure DP",
     "log((sinh(alpha*epsilon)-sinh((alpha-1)*epsilon))/sinh(epsilon))/(alpha-1)"),
    ("rdp", _PURE, "G-C10", "pure DP as concentrated DP", "alpha*epsilon^2/2"),
    ("rdp", _PURE, "G-B7", "the bound for bounded range, not for all pure DP",
     "alpha*epsilon^2/8"),
    ("epsilon", _PURE, "G-C1", "basic composition", "T*epsilon"),
    ("epsilon", _PURE, "G-C2", "advanced composition (Dwork, Rothblum & Vadhan)",
     f"{_SPREAD} + T*epsilon*(exp(epsilon)-1)"),
    ("epsilon", _PURE, "G-C2", "advanced composition (Kairouz, Oh & Viswanath)",
     f"{_SPREAD} + T*epsilon*(exp(epsilon)-1)/(exp(epsilon)+1)"),
    ("epsilon", _PURE, "G-C2", "advanced composition (Bun & Steinke)",
     f"{_SPREAD} + T*epsilon^2/2"),
    ("epsilon", _PURE, "G-C2", "the curve 2 epsilon sqrt(2k ln(1/delta)), no theorem",
     f"2*{_SPREAD}"),
    ("epsilon", _PURE, "G-C2", "advanced composition without its drift, no theorem", _SPREAD),
    ("epsilon", _POISSON, "G-F2", "the growth of the moments accountant's theorem 1, no bound",
     "q*sqrt(T*log(1/delta))/sigma"),
    ("amplified_epsilon", ("approximate_dp", "pure_dp"), "G-E1", "amplification by sampling",
     "log(1+q*(exp(epsilon)-1))"),
    ("amplified_epsilon", ("approximate_dp", "pure_dp"), "G-E1",
     "amplification with epsilon' = q epsilon, a misprint", "q*epsilon"),
    ("amplified_epsilon", ("approximate_dp", "pure_dp"), "G-E1",
     "amplification with epsilon' = 2 q epsilon", "2*q*epsilon"),
)  # fmt: skip


@lru_cache(maxsize=1)
def _expressions() -> tuple[Expression, ...]:
    return tuple(parse(row[-1]) for row in _KNOWN)


def closest(claimed: NDArray, points: dict[str, NDArray], quantity: str, of: str) -> Closest | None:
    """The known formula nearest to the values claimed; None where there is nothing to compare."""
    best: Closest | None = None
    for (about, mechanisms, id_, name, text), formula in zip(_KNOWN, _expressions(), strict=True):
        if about != quantity or of not in mechanisms or not formula.names <= set(points):
            continue
        value = formula(**{n: points[n] for n in canonical(formula.names, points)})
        with np.errstate(all="ignore"):
            apart = np.abs(np.log(claimed) - np.log(value))
        # Roundings of subtractions are not differences of formulas.
        known = np.isfinite(apart) & (value > 1e-9)
        if not np.any(known):
            continue
        factor, same = float(np.exp(np.median(apart[known]))), bool(np.max(apart[known]) <= SAME)
        if best is None or (not same, factor) < (not best.same, best.factor):
            best = Closest(id_, name, text, factor, same)
    return best
