r"""Noise that clients add themselves, in whole numbers, so that no server sees an exact sum.

A client clips its update to the norm C, writes it in units of 1 / `scale`, rounds it at random to
whole numbers of a norm of at most `sensitivity`, and adds a discrete Gaussian of its own: that is
what secure aggregation adds up. `sensitivity` covers rounding. The noise that counts is that of
`clients`, the fewest whose sum is ever opened: who leaves takes noise along.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from dplearn.accountants.theorems import zcdp_to_epsilon
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.federated.plan import UserGuarantee
from dplearn.mechanisms.whole_numbers import summed_zcdp

_SENDS = "each of those whose sum is opened has added its noise, and nobody of them reveals it"
_PRESENT = "a user's update is or is not in the sum; who takes part is known"


@dataclass(frozen=True, kw_only=True)
class DistributedNoise:
    """Noise that clients add to their own updates, and the guarantee of the sum.

    Examples
    --------
    >>> noise = DistributedNoise(
    ...     clients=100, noise_multiplier=1.0, max_update_norm=0.3, scale=1e4, dimension=1280
    ... )
    >>> print(noise.guarantee(delta=1e-5))
    epsilon <= 4.729 at delta = 1.0e-05, zero_out, by zcdp, per user
    """

    clients: int  # whose noise is in a sum at least: the fewest that may be left
    noise_multiplier: float  # root of the sum of all clients' sigma^2, / `sensitivity`
    max_update_norm: float
    scale: float  # whole numbers in one unit of an update: the larger, the finer
    dimension: int

    def __post_init__(self) -> None:
        validate.integer(minimum=1, clients=self.clients, dimension=self.dimension)
        validate.positive(max_update_norm=self.max_update_norm, scale=self.scale)
        validate.scale(noise_multiplier=self.noise_multiplier)

    @property
    def sensitivity(self) -> float:
        r"""Norm that no rounded update exceeds: it is rounded again until that is so.

        No rounding adds more than :math:`\sqrt d`, and at most a share of :math:`e^{-1/2}` is
        longer than the other bound (Kairouz, Liu & Steinke 2021: conditional rounding).
        """
        norm, root = self.scale * self.max_update_norm, math.sqrt(self.dimension)
        return min(norm + root, math.sqrt(norm**2 + root**2 / 4 + norm + root / 2))

    @property
    def variance(self) -> Fraction:
        """The sigma^2 of one client's noise, rounded up to a simple fraction."""
        one = (self.noise_multiplier * self.sensitivity) ** 2 / self.clients
        return Fraction(math.ceil(one * 1024), 1024)

    def guarantee(self, *, delta: float, rounds: int = 1) -> Guarantee:
        """Return the guarantee of a user in every round: no sampling is counted, which is safe."""
        validate.probability(delta=delta)
        validate.integer(minimum=0, rounds=rounds)
        sigma, shift = math.sqrt(self.variance), self.sensitivity
        rho = summed_zcdp(sigma, self.clients, shift=shift, dimension=self.dimension)
        stated = Guarantee(
            epsilon=float(zcdp_to_epsilon(rounds * rho, delta=delta)),
            delta=delta,
            kind="upper",
            method="zcdp",
            adjacency="zero_out",
        )
        return UserGuarantee.of(stated, _SENDS, _PRESENT)

    def deviations(self) -> dict[str, float]:
        r"""Return the noise in a coordinate of the sum of `clients` updates, by its source.

        For one guarantee per user: a server that is trusted with every update adds zC once,
        clients who trust nobody add zC each, :math:`zC\sqrt n` in all, and clients whose sum alone
        is opened add a share each, which rounding makes more.

        Examples
        --------
        >>> clipped = {"noise_multiplier": 2.0, "max_update_norm": 0.5}
        >>> noise = DistributedNoise(clients=100, **clipped, scale=500.0, dimension=1000)
        >>> {where: round(size, 3) for where, size in noise.deviations().items()}
        {'central': 1.0, 'local': 10.0, 'distributed': 1.004}
        """
        central, n = self.noise_multiplier * self.max_update_norm, self.clients
        rounded = math.sqrt(n * (float(self.variance) + 0.25)) / self.scale
        return {"central": central, "local": central * math.sqrt(n), "distributed": rounded}
