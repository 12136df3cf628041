r"""Integer noise that clients add to their updates, so that the server sees no exact sum.

A client clips its update to the norm C, scales it by `scale`, rounds it at random to integers of
norm at most `sensitivity`, and adds a discrete Gaussian; secure aggregation adds up the results.
`sensitivity` includes the rounding. A client that drops out adds no noise, so the guarantee counts
the noise of `clients`, the fewest whose sum is opened.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dplearn.accountants.theorems import zcdp_to_epsilon
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.federated.plan import UserGuarantee

_SENDS = "each of those whose sum is opened has added its noise, and nobody of them reveals it"
_PRESENT = "a user's update is or is not in the sum; who takes part is known"


@dataclass(frozen=True, kw_only=True)
class DistributedNoise:
    """Noise that clients add to their own updates, and the guarantee of the sum.

    Parameters
    ----------
    clients : int >= 1, smallest number of clients in an opened sum
    noise_multiplier : float > 0, sqrt(sum of the clients' sigma^2) / `sensitivity`
    max_update_norm : float > 0, clipping norm of an update
    scale : float > 0, integers per unit of an update: larger is finer
    dimension : int >= 1, number of coordinates of an update

    Examples
    --------
    >>> noise = DistributedNoise(
    ...     clients=100, noise_multiplier=1.0, max_update_norm=0.3, scale=1e4, dimension=1280
    ... )
    >>> print(noise.guarantee(delta=1e-5))
    epsilon <= 4.729 at delta = 1.0e-05, zero_out, by zcdp, per user
    """

    clients: int
    noise_multiplier: float
    max_update_norm: float
    scale: float
    dimension: int

    def __post_init__(self) -> None:
        validate.integer(minimum=1, clients=self.clients, dimension=self.dimension)
        validate.positive(max_update_norm=self.max_update_norm, scale=self.scale)
        validate.scale(noise_multiplier=self.noise_multiplier)

    @property
    def sensitivity(self) -> float:
        r"""Largest norm of a rounded update; a client whose rounded update is larger rounds again.

        Rounding adds at most :math:`\sqrt d` to the norm, which exceeds the second bound with
        probability at most :math:`e^{-1/2}` (Kairouz, Liu & Steinke 2021: conditional rounding).
        """
        norm, root = self.scale * self.max_update_norm, math.sqrt(self.dimension)
        return min(norm + root, math.sqrt(norm**2 + root**2 / 4 + norm + root / 2))

    @property
    def variance(self) -> Fraction:
        """Variance sigma^2 of one client's noise, rounded up to a multiple of 1/1024."""
        one = (self.noise_multiplier * self.sensitivity) ** 2 / self.clients
        return Fraction(math.ceil(one * 1024), 1024)

    def guarantee(self, *, delta: float, rounds: int = 1) -> Guarantee:
        """Return the guarantee, an upper bound on epsilon, for a user present in every round."""
        validate.probability(delta=delta)
        validate.integer(minimum=0, rounds=rounds)
        sigma, shift = math.sqrt(self.variance), self.sensitivity
        rho = summed_zcdp(sigma, self.clients, shift=shift, dimension=self.dimension)
        epsilon = float(zcdp_to_epsilon(rounds * rho, delta=delta))
        stated = Guarantee(
            epsilon=epsilon, delta=delta, kind="upper", method="zcdp", adjacency="zero_out"
        )
        return UserGuarantee.of(stated, _SENDS, _PRESENT)

    def deviations(self) -> dict[str, float]:
        r"""Return the noise's standard deviation per coordinate of the sum, by trust model.

        All three have the same guarantee per user. With multiplier z and norm C, a trusted server
        adds zC once (central), clients that trust no server add zC each, :math:`zC\sqrt n` in all
        (local), and clients whose sum alone is opened add a part each, slightly more because of
        rounding (distributed).

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


def summed_zcdp(sigma: float, clients: int, *, shift: float, dimension: int = 1) -> float:
    r"""Return a zCDP rho of a sum of `clients` discrete Gaussians in `dimension` coordinates.

    A whole-number query with L2 distance `shift` has :math:`\rho \le \Delta^2/2\sigma^2` by
    the noise of one party (the others' noise is post-processing), and for sigma >= 1/2
    :math:`\rho \le (\Delta/\sqrt n\sigma + \tau\sqrt d)^2/2` by that of all parties.

    Parameters
    ----------
    sigma : float > 0, parameter of each client's discrete Gaussian
    clients : int >= 1
    shift : float >= 0, L2 distance of the sums of neighbours
    dimension : int >= 1

    Returns
    -------
    float, an upper bound

    References
    ----------
    Kairouz, Liu & Steinke (2021), Proposition 14.
    """
    alone = shift**2 / (2 * sigma**2)
    if sigma < 0.5:
        return alone
    # tau bounds the difference in log probability between the sum and one discrete Gaussian.
    k = np.arange(1, clients)
    tau = 10 * float(np.sum(np.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1))))
    return min(alone, (shift / (math.sqrt(clients) * sigma) + tau * math.sqrt(dimension)) ** 2 / 2)
