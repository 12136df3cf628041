"""Gaussian differential privacy through the central limit theorem."""

import math
from dataclasses import dataclass

import numpy as np

from dplearn.accountants._base import Accountant, Bound
from dplearn.accountants._runs import Runs, plain_gaussian
from dplearn.accountants.pld import SUM_OF_GAUSSIANS
from dplearn.ground.guarantee import Adjacency, Reference
from dplearn.mechanisms import Gaussian, Mechanism, PoissonSubsampled
from dplearn.mechanisms.gaussian import gaussian_ends


@dataclass(frozen=True)
class GDP(Accountant):
    """mu of the limit T -> infinity. Exact for plain Gaussians, otherwise *not a bound*.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian, PoissonSubsampled
    >>> step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    >>> print(GDP().epsilon(step, delta=1e-5, steps=10_000))
    epsilon ~ 0.9424 at delta = 1.0e-05, add_remove, by gdp (an approximation, not a bound)
    """

    name = "gdp"
    kind = "approximate"
    title = "Gaussian DP (CLT)"
    statement = (
        r"\mu = q\sqrt{T(e^{1/\sigma^2}-1)},\qquad \delta = \Phi\big(\tfrac\mu2-"
        r"\tfrac\varepsilon\mu\big) - e^\varepsilon\Phi\big(-\tfrac\mu2-\tfrac\varepsilon\mu\big)"
        r"\quad\text{as } T\to\infty"
    )
    reference = Reference("Bu, Dong, Long & Su", 2020, "Theorem 5")
    explanation = (
        "It replaces the loss by its normal limit, which has too light a tail: the value can be "
        "below the true ε, and is for small T and small δ. Never report it as a guarantee."
    )

    def _refusal(self, runs: Runs) -> str:
        for m in runs.mechanisms:
            base = m.base if isinstance(m, PoissonSubsampled) else m
            if not isinstance(base, Gaussian):
                return f"its limit is stated for (Poisson-sampled) Gaussians, not for {m.name}"
        return super()._refusal(runs)

    def _bounds(self, runs: Runs, delta: float) -> list[Bound]:
        squares = np.array([_squared_mu(m, runs.adjacency) for m in runs.mechanisms])
        plain = all(map(plain_gaussian, runs.mechanisms))
        kind, proof = ("exact", SUM_OF_GAUSSIANS) if plain else (None, "")
        mu = np.sqrt(runs.counts @ squares)
        reach = mu < 1e6
        lower, epsilon = np.zeros(mu.shape), np.full(mu.shape, math.inf)
        lower[reach], epsilon[reach] = gaussian_ends(delta, mu[reach])
        reasons = np.where(reach, "", "mu of the limit exceeds 10^6")
        return [
            Bound(e, "upper" if why else kind, {"mu": float(m)}, str(why), low * plain, proof)
            for low, e, m, why in zip(lower, epsilon, mu, reasons, strict=True)
        ]


def _squared_mu(mechanism: Mechanism, adjacency: Adjacency) -> float:
    """Squared mu of one step: mu^2 itself, or q^2 (e^{mu^2} - 1) under sampling."""
    if whole := plain_gaussian(mechanism):
        return whole.shift(adjacency) ** 2
    mu, q = mechanism.base.shift(adjacency), mechanism.sample_rate  # type: ignore[attr-defined]
    return q**2 * math.expm1(mu**2) if mu**2 < 700 else math.inf
