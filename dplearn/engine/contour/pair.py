r"""The pair of the sampled Gaussian, its log ratio off the real axis, and the nodes in x.

With phi = Im x / sigma^2, A = 1 - q and B = q e^{(2 Re x - 1) / 2 sigma^2} the ratio is
f = A + B e^{i phi}, so for 0 <= phi < pi, with f(Re x) = A + B,

.. math:: f(\Re x) \cos(\phi/2) \le |f| \le f(\Re x), \qquad 0 \le \arg f \le \phi.

A replaced record has P = f N(0) and Q = g N(0) with g(x) = f(-x), so that g off the axis is the
conjugate of f at - Re x: the loss log f - log g turns by both angles, and g is bounded as f is.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Sums over x err by a few e^{-L} of M(lambda).
L = 39.0
# The error of the rule in x, and of its two ends, as a fraction of M(lambda).
QUADRATURE = 4 * math.exp(-L)
ULP = 2.0**-53
_PARTS = np.linspace(0.02, 0.98, 49)
# With less noise no line has few enough nodes.
LEAST_SIGMA = 0.025


@dataclass(frozen=True)
class SampledGaussian:
    """The pair ((1-q)N(0) + qN(1), N(0)) of standard deviation sigma, or its reverse.

    For "replace" it is the pair of (1-q)N(0) + qN(1) and (1-q)N(0) + qN(-1).
    """

    sigma: float  # noise multiplier, > 0
    q: float  # sample rate in (0, 1)
    direction: Literal["remove", "add", "replace"]

    @property
    def sign(self) -> int:
        """Sign of the loss as a multiple of log f."""
        return -1 if self.direction == "add" else 1

    def power(self, tilt: ArrayLike) -> NDArray:
        """Return the s of M(lambda) = E f^s under N(0): 1 + lambda (remove) or -lambda (add)."""
        tilt = np.asarray(tilt, dtype=float)
        return 1 + tilt if self.sign > 0 else -tilt

    def drift(self, x: NDArray) -> NDArray:
        """log B at real x."""
        return math.log(self.q) + (2 * x - 1) / (2 * self.sigma**2)

    def log_ratio(self, x: NDArray, phi: ArrayLike = 0.0) -> tuple[NDArray, NDArray]:
        """log |f| and arg f at x + i phi sigma^2."""
        gap = self.drift(x) - math.log1p(-self.q)
        # The larger of A and B is taken out; the smaller is then r <= 1.
        r = np.exp(-np.abs(gap))
        turn, log_size = np.arctan2(r * np.sin(phi), 1 + r * np.cos(phi)), np.maximum(gap, 0)
        log_size = log_size + 0.5 * np.log1p(r * (2 * np.cos(phi) + r)) + math.log1p(-self.q)
        return log_size, np.where(gap > 0, phi - turn, turn)

    def logs(self, x: NDArray, phi: ArrayLike = 0.0) -> tuple[NDArray, NDArray]:
        """Return complex log P / N(0) and loss at x + i phi sigma^2, conjugated for "add".

        So the loss has an angle >= 0.
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
        """B / f at real x: the chance that the record was in the sample."""
        return 1 / (1 + np.exp(np.clip(math.log1p(-self.q) - self.drift(x), -700, 700)))

    def loss_of_cosine(self, phi: NDArray | float, tilt: float) -> NDArray | float:
        """log of |f|^s / f(Re x)^s at most: only negative powers grow off the axis."""
        return 0.0 if self.direction == "remove" else -tilt * np.log(np.cos(0.5 * phi))

    def ulps(self, x: NDArray, size: NDArray, loss: NDArray, power: NDArray | float) -> NDArray:
        """Bound on the rounding of a sum over nodes, in ulps, from the sizes of its terms.

        Ulps of one term: of s log f and it log f, where log f carries those of log A and log B;
        of x^2 / 2 sigma^2; then of adding up, and of the distance of nodes.
        """
        inner = np.abs(self.drift(x)) - math.log1p(-self.q)
        each = np.abs(loss) + self.posterior(x) * inner
        if self.direction == "replace":
            # Of log g as well; log f is not larger than the loss and log g.
            inner = np.abs(self.drift(-x)) - math.log1p(-self.q)
            each += 2 * np.abs(self.log_ratio(-x)[0]) + 4 + self.posterior(-x) * inner
        spread = size @ each
        fixed = size @ ((x / self.sigma) ** 2 + x.size + 20)
        return fixed + 4 * power * spread

    def step(self, tilt: float, height: float, sharper: float = 0.0) -> float:
        """Distance of nodes on Im x = height at which the sum errs by 2 e^{-L} M(lambda)."""
        sigma = self.sigma
        # Up by a, cost (height + a)^2 / 2 sigma^2 and the cosine, gain 2 pi a / step.
        a = _PARTS * min(math.pi * sigma**2 - height, 9 * sigma / math.sqrt(1 + sharper))
        top = (height + a) / sigma**2
        cost = 0.5 * (1 + sharper) * (top * sigma) ** 2 + self.loss_of_cosine(top, tilt)
        up = float(np.max(2 * math.pi * a / (L + cost)))
        # Down to the real axis costs nothing; the axis itself moves down as it moves up.
        return min(up, 2 * math.pi * height / L) if height else up

    def nodes(self, tilt: float, step: float) -> NDArray:
        """Real parts of the nodes for all tilts up to `tilt`.

        With p = `posterior`, the log of the integrand has the slope ((1 + lambda) p - x) / sigma^2
        (remove) or -(lambda p + x) / sigma^2 (add); for "replace" lambda p(-x) is added to the
        first. As 0 <= p <= 1, and p <= q left of 0, it falls faster than a normal density outside
        [0, 1 + lambda], [-lambda q, 0] or [0, 1 + 2 lambda].
        """
        far = self.sigma * math.sqrt(2 * (L + 8))
        ends = {"remove": (0.0, 1 + tilt), "add": (-tilt * self.q, 0.0)}
        left, right = ends.get(self.direction, (0.0, 1 + 2 * tilt))
        return np.arange(left - far, right + far + step, step)
