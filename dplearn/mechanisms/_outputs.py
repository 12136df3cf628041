r"""What two neighbours release, as two laws on a line: the pair whose profile is known.

A profile is a number per epsilon; the laws show where it comes from,

.. math:: \delta(\varepsilon) = \int (p(x) - e^\varepsilon q(x))_+\,dx,

the area by which p rises above the scaled q. The nodes below serve both a drawing and that
integral: they are Gauss-Legendre nodes between the places where the integrand is not smooth.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dplearn.engine.profile import Curve
from dplearn.ground.logspace import log_add
from dplearn.ground.solve import first_true

_LEGENDRE = np.polynomial.legendre.leggauss(96)
# Losses closer to epsilon than this are equal to it: a constant loss must not cross it.
_SAME = 1e-10


class Nodes(NamedTuple):
    """Abscissae, their weights in a sum over the line, and p and q there, shape (n,) each."""

    x: NDArray
    weight: NDArray
    p: NDArray
    q: NDArray


@dataclass(frozen=True, eq=False)
class Outputs:
    """Densities, or probabilities of whole numbers, of two neighbours' outputs.

    `log_p` and `log_q` map an array of places to logarithms of these; outside of `lower` and
    `upper` is less than 1e-10 of either law.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> (pair,) = Gaussian(noise_multiplier=1.0).outputs()
    >>> round(pair.delta(1.0), 7)
    0.1269367
    """

    log_p: Curve
    log_q: Curve
    lower: float
    upper: float
    corners: tuple[float, ...] = ()  # where a density is not smooth, and where it peaks
    whole: bool = False  # the laws live on the whole numbers from `lower` to `upper`
    # What the number on the line is.
    label: str = "released number / largest contribution of one record"

    @classmethod
    def of_noise(cls, log_noise: Curve, *, shift: float, reach: float, whole: bool) -> Self:
        """Outputs with one noise around `shift` and around 0; all of it lies within `reach`."""
        reach, label = (math.ceil(reach), "released whole number") if whole else (reach, cls.label)
        ends, corners = (-reach, shift + reach), (0.0, shift)
        return cls(lambda x: log_noise(x - shift), log_noise, *ends, corners, whole, label)

    def reverse(self) -> Self:
        """The laws in the other order."""
        return dataclasses.replace(self, log_p=self.log_q, log_q=self.log_p)

    def mix_first(self, weight: float) -> Self:
        """The laws (1-w)Q + wP and Q, as in `Profile.mix_first`; 0 < w < 1."""
        log_w, log_rest = math.log(weight), math.log1p(-weight)
        return dataclasses.replace(
            self, log_p=lambda x: log_add(log_w + self.log_p(x), log_rest + self.log_q(x))
        )

    def mix_second(self, weight: float) -> Self:
        """The laws P and (1-w)P + wQ, as in `Profile.mix_second`."""
        return self.reverse().mix_first(weight).reverse()

    def nodes(self, epsilon: float) -> Nodes:
        """Nodes that show, and measure, what p has above e^epsilon q."""
        if self.whole:
            x = np.arange(self.lower, self.upper + 1)
            weight = np.ones(x.size)
        else:
            ends = [self.lower, *self.corners, *self._crossings(epsilon), self.upper]
            ends = np.unique(ends)[:, None]
            half, (t, w) = 0.5 * np.diff(ends, axis=0), _LEGENDRE
            x, weight = (ends[:-1] + half * (t + 1)).ravel(), (half * w).ravel()
        return Nodes(x, weight, np.exp(self.log_p(x)), np.exp(self.log_q(x)))

    def delta(self, epsilon: float) -> float:
        """The area itself, at any real epsilon: the definition, summed over the nodes."""
        _, weight, p, q = self.nodes(epsilon)
        return float(weight @ np.maximum(p - math.exp(epsilon) * q, 0.0))

    def _crossings(self, epsilon: float) -> NDArray:
        """Places where p and e^epsilon q cross."""

        def above(x: NDArray) -> NDArray:
            return self.log_p(x) - self.log_q(x) > epsilon + _SAME

        # A narrow peak may cross twice between two even points.
        x = np.union1d(np.linspace(self.lower, self.upper, 1001), self.corners)
        left = np.flatnonzero(np.diff(above(x)))
        before = above(x[left])
        return first_true(lambda y: above(y) != before, lower=x[left], upper=x[left + 1])
