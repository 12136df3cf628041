r"""Output distributions of the sampled Gaussian, their complex log ratio, and nodes in x.

The ratio of (1-q)N(0) + qN(1) to N(0) at x is f = A + B e^{i phi}, with phi = Im x / sigma^2,
A = 1 - q and B = q e^{(2 Re x - 1) / 2 sigma^2}. So for 0 <= phi < pi, with f(Re x) = A + B,

.. math:: f(\Re x) \cos(\phi/2) \le |f| \le f(\Re x), \qquad 0 \le \arg f \le \phi.

If a record is replaced, P = f N(0) and Q = g N(0), g(x) = f(-x), so that g off the axis is the
conjugate of f at - Re x: the loss log f - log g has the sum of both angles, and g has f's bounds.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Target accuracy: sums over x have an error of a few e^{-L} M(lambda).
L = 39.0
# Error of the trapezoidal rule in x and of its truncation, relative to M(lambda).
QUADRATURE = 4 * math.exp(-L)
ULP = 2.0**-53
_PARTS = np.linspace(0.02, 0.98, 49)
# Smallest noise multiplier; with less noise sums need too many nodes.
LEAST_SIGMA = 0.025


@dataclass(frozen=True)
class SampledGaussian:
    """Pair of output distributions of one sampled Gaussian step, for two neighbouring data sets.

    Parameters
    ----------
    sigma : float > 0, noise multiplier
    q : float in (0, 1), sample rate
    direction : "remove" for P = (1-q)N(0) + qN(1) and Q = N(0) with standard deviation sigma, "add"
        for P and Q exchanged, or "replace" for this P and Q = (1-q)N(0) + qN(-1)
    """

    sigma: float
    q: float
    direction: Literal["remove", "add", "replace"]

    @property
    def sign(self) -> int:
        """1 if the loss increases with the ratio f; -1 for "add", where the loss is -log f."""
        return -1 if self.direction == "add" else 1

    def drift(self, x: NDArray) -> NDArray:
        """Return log B = log q + (2x - 1) / (2 sigma^2) at real x."""
        return math.log(self.q) + (2 * x - 1) / (2 * self.sigma**2)

    def log_ratio(self, x: NDArray, phi: ArrayLike = 0.0) -> tuple[NDArray, NDArray]:
        """Return log |f| and arg f of the ratio f at x + i phi sigma^2."""
        gap = self.drift(x) - math.log1p(-self.q)
        # Factor out the larger term of f = (1 - q) + q exp(drift + i phi), so that r <= 1.
        r = np.exp(-np.abs(gap))
        turn, log_size = np.arctan2(r * np.sin(phi), 1 + r * np.cos(phi)), np.maximum(gap, 0)
        log_size = log_size + 0.5 * np.log1p(r * (2 * np.cos(phi) + r)) + math.log1p(-self.q)
        return log_size, np.where(gap > 0, phi - turn, turn)

    def logs(self, x: NDArray, phi: ArrayLike = 0.0) -> tuple[NDArray, NDArray]:
        """Return log(P / N(0)) and the loss at x + i phi sigma^2, both conjugated for "add".

        Conjugation makes the imaginary part of the loss >= 0.
        """
        size, angle = self.log_ratio(x, phi)
        log_f = size + 1j * angle
        if self.direction == "add":
            return 0 * log_f, -log_f.conj()
        if self.direction == "replace":
            size, angle = self.log_ratio(-x, phi)
            return log_f, log_f - (size - 1j * angle)
        return log_f, log_f

    def posterior(self, x: NDArray) -> NDArray:
        """Return B / f at real x, the posterior probability that the record was sampled."""
        return 1 / (1 + np.exp(np.clip(math.log1p(-self.q) - self.drift(x), -700, 700)))

    def loss_of_cosine(self, phi: NDArray | float, tilt: float) -> NDArray | float:
        """Return log of a bound on |f / f(Re x)|^s: s = 1 + tilt for "remove", else -tilt."""
        return 0.0 if self.direction == "remove" else -tilt * np.log(np.cos(0.5 * phi))

    def step(self, tilt: float, height: float) -> float:
        """Return the spacing of nodes on Im x = height for sums with error 2 e^{-L} M(lambda)."""
        sigma = self.sigma
        # Moving the line up by `a` adds (height + a)^2 / 2 sigma^2 and `loss_of_cosine` to the log
        # of the error, and subtracts 2 pi a / step.
        a = _PARTS * min(math.pi * sigma**2 - height, 9 * sigma)
        top = (height + a) / sigma**2
        cost = 0.5 * (top * sigma) ** 2 + self.loss_of_cosine(top, tilt)
        up = float(np.max(2 * math.pi * a / (L + cost)))
        # Moving the line down to the real axis adds no error; at height 0 `up` is the only limit.
        return min(up, 2 * math.pi * height / L) if height else up

    def nodes(self, tilt: float, step: float) -> NDArray:
        """Return real parts of nodes that suffice for all tilts up to `tilt`.

        With p = `posterior`, the log of the integrand has the slope ((1 + lambda) p - x) / sigma^2
        (remove) or -(lambda p + x) / sigma^2 (add); for "replace" lambda p(-x) is added to the
        first. As 0 <= p <= 1, and p <= q left of 0, the integrand decays faster than a normal
        density outside [0, 1 + lambda], [-lambda q, 0] or [0, 1 + 2 lambda].
        """
        far = self.sigma * math.sqrt(2 * (L + 8))
        ends = {"remove": (0.0, 1 + tilt), "add": (-tilt * self.q, 0.0)}
        left, right = ends.get(self.direction, (0.0, 1 + 2 * tilt))
        return np.arange(left - far, right + far + step, step)


def ulps(
    pair: SampledGaussian, x: NDArray, size: NDArray, loss: NDArray, power: NDArray | float
) -> NDArray:
    """Return a bound on the rounding error of a sum over nodes, in units of `ULP`.

    Sources: (s + it) log f with |s + it| <= `power`, including log A and log B; x^2 / 2 sigma^2;
    summation; and the distance of nodes.
    """
    inner = np.abs(pair.drift(x)) - math.log1p(-pair.q)
    each = np.abs(loss) + pair.posterior(x) * inner
    if pair.direction == "replace":
        # Add the errors of log g, and bound those of log f by |log f| <= |loss| + |log g|.
        inner = np.abs(pair.drift(-x)) - math.log1p(-pair.q)
        each += 2 * np.abs(pair.log_ratio(-x)[0]) + 4 + pair.posterior(-x) * inner
    fixed = size @ ((x / pair.sigma) ** 2 + x.size + 20)
    return fixed + 4 * power * (size @ each)
