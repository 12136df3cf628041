r"""Noise that clients add themselves, in whole numbers, so that no server sees an exact sum.

A client clips its update to the norm C, writes it in units of 1 / `scale`, rounds it at random to
whole numbers of a norm of at most `sensitivity`, adds whole noise of its own, and reduces
everything mod 2^`bits`: that is what secure aggregation adds up. `sensitivity` covers rounding.
Wrapping around is post-processing; it spoils a sum, with a chance that `overflow` bounds. The noise
that counts is that of `clients`, the fewest whose sum is ever opened: who leaves takes noise along.
"""

import math
import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants.theorems import rdp_to_epsilon, zcdp_to_epsilon
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.federated.plan import UserGuarantee
from dplearn.mechanisms.whole_numbers import skellam_rdp_bound, summed_zcdp

Law = Literal["discrete_gaussian", "skellam"]
LAWS: tuple[Law, ...] = get_args(Law)
_ORDERS = np.unique(np.geomspace(2, 1e5, 400).round())  # whole: others have no theorem
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
    bits: int = 32
    law: Law = "discrete_gaussian"

    def __post_init__(self) -> None:
        validate.integer(minimum=1, clients=self.clients, dimension=self.dimension)
        validate.positive(max_update_norm=self.max_update_norm, scale=self.scale)
        validate.scale(noise_multiplier=self.noise_multiplier)
        validate.integer(minimum=2, maximum=62, bits=self.bits)
        validate.one_of(LAWS, law=self.law)
        if self.sensitivity > 2**30:
            raise ValueError(
                f"Expected scale * max_update_norm below 2^30, got {self.sensitivity:.3g} after "
                "rounding: squares of such numbers would not be exact."
            )

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
        """The sigma^2, or variance, of one client's noise, rounded up to a simple fraction."""
        one = (self.noise_multiplier * self.sensitivity) ** 2 / self.clients
        return Fraction(math.ceil(one * 1024), 1024)

    def encode(self, update: ArrayLike) -> NDArray[np.uint64]:
        """Clipped, rounded and noisy update: numbers mod 2^bits, shape (dimension,).

        The discrete Gaussian is exact, Skellam noise NumPy's Poisson, freshly seeded with 256 bits.
        """
        whole = self._rounded(np.asarray(update, dtype=float))
        if self.law == "skellam":
            rng, mean = np.random.default_rng(secrets.randbits(256)), float(self.variance) / 2
            noise = rng.poisson(mean, whole.shape) - rng.poisson(mean, whole.shape)
        else:
            noise = discrete_gaussian(self.variance, size=self.dimension)
        return (whole + noise).astype(np.uint64) & np.uint64(2**self.bits - 1)

    def decode(self, total: ArrayLike) -> NDArray[np.float64]:
        """Return the noisy sum of updates, in their own unit, from a sum mod 2^bits."""
        half, total = 2 ** (self.bits - 1), np.asarray(total).astype(np.int64)
        return ((total + half) % 2**self.bits - half) / self.scale

    def _rounded(self, update: NDArray) -> NDArray[np.int64]:
        """Round the clipped update to whole numbers, right on average, of at most that norm."""
        if update.shape != (self.dimension,) or not np.all(np.isfinite(update)):
            expected = f"finite numbers of shape ({self.dimension},)"
            raise ValueError(f"Expected update to hold {expected}, got shape {update.shape}.")
        norm = float(np.linalg.norm(update))
        exact = update * (self.scale * min(1.0, self.max_update_norm / max(norm, 1e-300)))
        rng = np.random.default_rng(secrets.randbits(256))
        while True:
            whole = np.floor(exact + rng.random(exact.shape)).astype(np.int64)
            if np.dot(whole, whole) <= self.sensitivity**2:
                return whole

    def guarantee(self, *, delta: float, rounds: int = 1) -> Guarantee:
        """Return the guarantee of a user in every round: no sampling is counted, which is safe."""
        validate.probability(delta=delta)
        validate.integer(minimum=0, rounds=rounds)
        change, variance, n = self.sensitivity, float(self.variance), self.clients
        if self.law == "skellam":
            # Of whole numbers the sum is at most that of the squares.
            l1 = min(change * math.sqrt(self.dimension), change**2)
            rdp = rounds * skellam_rdp_bound(_ORDERS, n * variance, l1=l1, l2=change)
            epsilon = np.min(rdp_to_epsilon(_ORDERS, rdp, delta=delta)) if rounds else 0.0
        else:
            rho = summed_zcdp(math.sqrt(variance), n, shift=change, dimension=self.dimension)
            epsilon = zcdp_to_epsilon(rounds * rho, delta=delta)
        stated = Guarantee(
            epsilon=float(epsilon),
            delta=delta,
            kind="upper",
            method="rdp" if self.law == "skellam" else "zcdp",
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

    def overflow(self, clients: int) -> float:
        """Bound on the chance that a sum of so many clients, at least `clients`, wraps around.

        Updates may all point the same way; noise has Gaussian tails (Skellam's: Chernoff's).
        """
        validate.integer(minimum=1, clients=clients)
        room = 2 ** (self.bits - 1) - clients * self.sensitivity
        spread = clients * float(self.variance)
        if room <= 0:
            return 1.0
        rate = room**2 / (2 * spread)
        if self.law == "skellam":
            rate = room * math.asinh(room / spread) - math.hypot(room, spread) + spread
        return min(1.0, 2 * self.dimension * math.exp(-min(rate, 700.0)))


def discrete_gaussian(variance: Fraction | int, *, size: int) -> NDArray[np.int64]:
    r"""Independent whole numbers with :math:`P(k) \propto e^{-k^2/2\sigma^2}`, exactly.

    All decisions compare whole numbers with random ones of the operating system, for a fraction
    sigma^2, the `variance` (Canonne, Kamath & Steinke 2020, Algorithms 1 to 3).
    """
    variance = Fraction(variance)
    validate.positive(variance=float(variance))
    p, q = variance.numerator, variance.denominator
    t, kept = math.isqrt(p // q) + 1, []
    while len(kept) < size:
        drawn = discrete_laplace(t)
        # (|Y| - sigma^2 / t)^2 / (2 sigma^2), a fraction of whole numbers of any size.
        if exponential_coin((abs(drawn) * q * t - p) ** 2, 2 * p * q * t * t):
            kept.append(drawn)
    return np.array(kept, np.int64)


def discrete_laplace(t: int) -> int:
    """Random whole number k, with a chance in proportion to e^(-|k| / t)."""
    while True:
        below, steps = secrets.randbelow(t), 0
        if not exponential_coin(below, t):
            continue
        while exponential_coin(1, 1):
            steps += 1
        size, minus = below + t * steps, secrets.randbelow(2)
        if size or not minus:  # 0 has one sign
            return -size if minus else size


def exponential_coin(above: int, below: int) -> bool:
    """Toss a coin that is true with chance e^(-above/below), for whole numbers >= 0."""
    while above > below:  # a factor 1/e for every one
        if not exponential_coin(1, 1):
            return False
        above -= below
    place = 1
    while secrets.randbelow(below * place) < above:
        place += 1
    return place % 2 == 1  # the first tail, of chances above / (below * place), at an odd place
