r"""Moment generating function M(lambda + it) of the loss, by sums over nodes x + i eta.

On Im x = eta the power f^{it} of the likelihood ratio has modulus :math:`e^{-t\arg f} \le 1`, so
one set of nodes suffices for every t, and for any height eta

.. math:: |M(\lambda + iu)| \le B(t) = e^{\eta^2/2\sigma^2} E|f(x+i\eta)|^s e^{-t\arg f}
   \qquad (u \ge t),

which decreases in t: B at the cut-off bounds M on the whole truncated part.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dplearn.core.logspace import log_sum
from dplearn.engine.contour.pair import QUADRATURE, ULP, L, SampledGaussian, ulps

_FURTHER = np.geomspace(0.7, 7e5, 64).reshape(8, 8)
_PARTS = np.linspace(0, 1, 10)[:, None]


class Majorant:
    """Bound B(t) on |M(lambda + iu)| for all u >= t: the minimum over ten heights of the line."""

    def __init__(self, line: "Line", first: float) -> None:
        pair, phi = line.pair, first * (2.5 / first) ** _PARTS
        log_p, loss = pair.logs(line.x, phi)
        # `log_size` is the log modulus of the integrand at t = 0. Shapes are (n_heights, n_nodes).
        self.line, self.phi, self.angle = line, phi, loss.imag
        self.log_size = (log_p + line.tilt * loss).real - 0.5 * (line.x / pair.sigma) ** 2
        self.log_size += 0.5 * (phi * pair.sigma) ** 2

    def log_at(self, t: NDArray) -> NDArray:
        """Return log B(t), with the shape of t."""
        return np.min(self.by_height(t), axis=1)

    def by_height(self, t: NDArray) -> NDArray:
        """Return log of the bound from each height, at each t, shape (n_t, n_heights)."""
        logs = self.log_size - t[:, None, None] * self.angle
        return np.logaddexp(log_sum(logs) + self.line.norm, self.log_error(t[:, None]))

    def log_error(self, t: NDArray) -> NDArray:
        """Return log of a bound on the quadrature error of `by_height`, shape (n_t, n_heights)."""
        line, pair, sigma, phi = self.line, self.line.pair, self.line.pair.sigma, self.phi[:, 0]
        # Shift the line by beta sigma^2 up and down, with and without the limit beta <= phi.
        far = np.minimum(line.height / sigma**2, 0.98 * (math.pi - phi))
        errors = []
        for beta in (far, np.minimum(far, phi)):
            cost = sigma**2 * (beta**2 + phi**2)
            # The angle of f (and that of g) decreases by at most beta - min(beta, phi).
            angles = 2 if pair.direction == "replace" else 1
            cost = 0.5 * (cost + angles * t * (beta - np.minimum(beta, phi)))
            for top in (phi + beta, phi - beta):
                cost = cost + 0.5 * pair.loss_of_cosine(top, line.tilt)
            errors.append(cost - np.minimum(2 * math.pi * beta * sigma**2 / line.step, L))
        return line.log_m + np.minimum(*errors) + 2.0


# The bound B, and for each row the cut-off t and log B(t) there.
Cutoffs = tuple[Majorant, NDArray, NDArray]


class Line:
    """Nodes on a line Im x = height for one tilt lambda, and all terms that do not depend on t."""

    def __init__(self, pair: SampledGaussian, tilt: float) -> None:
        self.pair, self.tilt, sigma = pair, tilt, pair.sigma
        self.height = min(0.5 * math.pi * sigma**2, 1.5 * sigma)
        if pair.direction != "remove":
            # At this height |f|^{-lambda} or |g|^{-lambda} is at most e^2 times its value at Re x.
            self.height = min(self.height, 4 * sigma**2 / math.sqrt(tilt))
        self.step = pair.step(tilt, self.height)
        self.x = x = pair.nodes(tilt, self.step)
        self.norm = math.log(self.step / sigma / math.sqrt(2 * math.pi))
        phi = self.height / sigma**2
        log_p, loss = pair.logs(x, phi)
        # log of the weights, density * e^{lambda loss}; for "add" on Im x = -height.
        log_w = log_p + tilt * loss
        size = log_w.real - 0.5 * ((x / sigma) ** 2 - self.height * phi)
        angle = log_w.imag - pair.sign * x * phi
        self.top = float(np.max(size))
        self.weight = np.exp(size - self.top + 1j * angle)
        # e^{it loss} = e^{turn t}.
        self.turn = 1j * loss
        self.log_m = math.log(abs(np.sum(self.weight))) + self.top + self.norm

    def relative_error(self, t: NDArray) -> NDArray:
        """Return a bound on the error of M(lambda + it), relative to M(lambda)."""
        power = 1 + self.tilt + t
        error = ULP * ulps(self.pair, self.x, np.abs(self.weight), self.turn, power)
        return error / abs(np.sum(self.weight)) + QUADRATURE

    def cutoffs(self, steps: NDArray, need: NDArray, farthest: float = math.inf) -> Cutoffs:
        """Return B, a cut-off t per row (or inf) with log(pi t (M / B)^T) >= need, and log B(t)."""
        # First guess of t, from the mean of sigma^2 |dL / dx| under the tilted distribution.
        log_p, loss = (log.real for log in self.pair.logs(self.x))
        tilted = log_p + self.tilt * loss - 0.5 * (self.x / self.pair.sigma) ** 2
        tilted = np.exp(tilted - np.max(tilted))
        each = self.pair.posterior(self.x)
        if self.pair.direction == "replace":
            each = each + self.pair.posterior(-self.x)
        posterior = float(each @ tilted / np.sum(tilted))
        # If the loss L were normal, the integral could stop at t^2 Var(L) = 2 need / steps.
        slope = max(posterior / self.pair.sigma, 1e-12)
        start = math.sqrt(2 * max(float(np.min(need / steps)), 1e-9)) / slope
        # The best phi = height / sigma^2 at t is then about t * (mean posterior) / sigma^2.
        bound = Majorant(self, min(0.6 * start * posterior / self.pair.sigma**2, 0.5))
        cuts, at_cuts = np.full(steps.shape, np.inf), np.zeros(steps.shape)
        for t in start * _FURTHER:
            log_b = bound.log_at(t)
            fall = steps[:, None] * (self.log_m - log_b)
            enough = fall + np.log(math.pi * t) >= need[:, None]
            now = np.isinf(cuts) & enough.any(axis=1)
            first = np.argmax(enough[now], axis=1)
            cuts[now], at_cuts[now] = t[first], log_b[first]
            if np.all(np.isfinite(cuts)) or t[-1] > farthest:
                break
        return bound, cuts, at_cuts

    def transform(self, h: float, count: int) -> NDArray:
        """Return M(lambda + ikh) / e^{top + norm} for k = a * block + b, from 0 to count - 1."""
        block = 1 << (count.bit_length() // 2 - 1)
        fine = np.exp(np.outer(h * np.arange(block), self.turn))
        coarse = np.exp(np.outer(block * h * np.arange(count // block), self.turn))
        return ((coarse * self.weight) @ fine.T).ravel()
