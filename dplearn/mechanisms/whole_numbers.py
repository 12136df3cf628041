"""Noise on whole numbers: geometric, discrete Gaussian, Skellam and sums over parties."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ive

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import exp_rest, log1mexp, log_expm1
from dplearn.core.solve import first_true
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Outputs
from dplearn.mechanisms._epochs import repeated
from dplearn.mechanisms._noise import (
    OUTSIDE,
    TabledNoise,
    WholeNoise,
    even_law,
    tabled_profile,
)

# Half-width of tables in scales: Gaussian tails beyond it weigh less than e^-684.
_REACH = 37.0
_WIDEST = 250.0  # largest scale of a tabled sum; larger ones use one discrete Gaussian


@dataclass(frozen=True)
class Geometric(WholeNoise):
    r"""Two-sided geometric noise, :math:`P(X = k) \propto e^{-|k|/b}`, on an integer query.

    The discrete Laplace mechanism (Ghosh, Roughgarden & Sundararajan 2012).

    Parameters
    ----------
    noise_multiplier : float
        b / `sensitivity`, > 0: at delta = 0 the mechanism is (1 / noise_multiplier)-DP.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1. It matters beyond
        the ratio because the noise lives on whole numbers.

    Examples
    --------
    >>> (profile,) = Geometric(noise_multiplier=1.0).profiles()
    >>> round(float(profile.epsilon(1e-12)), 6)
    1.0
    """

    name = "geometric"
    fields_of_examples = ((1.0,), (0.5, 3), (20.0,))
    scales_drawn = 25.0

    def _atoms(self, laws: Outputs) -> tuple[NDArray, NDArray]:
        """Return log P and log Q, merging outcomes beyond a peak, which have equal losses."""
        k = np.arange(laws.corners[0], laws.corners[-1] + 1)
        lumped = np.where((k == k[0]) | (k == k[-1]), -log1mexp(-1 / self._scale), 0.0)
        return laws.log_p(k) + lumped, laws.log_q(k) + lumped

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return (Profile.from_atoms(*self._atoms(*self._outputs(adjacency))),)

    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        pair = Profile.from_atoms(*self._atoms(self.replaced_outputs(sample_rate)))
        return pair, pair

    def _log_noise(self, x: NDArray) -> NDArray:
        rate = 1 / self._scale
        return math.log(math.tanh(rate / 2)) - rate * np.abs(x)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return Rényi divergences as sums over positive losses, without cancellation.

        By symmetry E (P/Q)^(a-1) - 1 is the sum of p (e^{(a-1) L} - 1) (1 - e^{-a L}) over L > 0.
        """
        log_p, log_q = self._atoms(*self._outputs(adjacency))
        loss, a = (log_p - log_q)[log_p > log_q], orders[:, None]
        terms = log_p[log_p > log_q] + log_expm1((a - 1) * loss) + log1mexp(-a * loss)
        return np.logaddexp(0.0, np.logaddexp.reduce(terms, axis=1)) / (orders - 1)

    def _zcdp(self, adjacency: Adjacency) -> float:
        r"""Return the mean loss eps - (1 - e^-eps) u / sinh u, with u = 1/b.

        At distance 1 it is eps tanh(eps/2) (Harrison & Manurangsi 2026, arXiv 2510.25746). M of
        `_noise` is a power of z = e^{2su} times a polynomial with coefficients c, 1, ..., 1,
        c, where c = 1/(1 - a) and a = e^{-u}. At distance n its zeros satisfy
        :math:`z^n (z - a)/(1 - az) = 1`: they lie on the unit circle, so that s is imaginary.
        """
        epsilon, rate = self.shift(adjacency), min(1 / self._scale, 700.0)
        rest = float(exp_rest(rate) - exp_rest(-rate)) / (2 * math.sinh(rate))  # 1 - u / sinh u
        return float(exp_rest(-epsilon)) - math.expm1(-epsilon) * rest

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        success = -math.expm1(-1 / scale)
        return rng.geometric(success, size) - rng.geometric(success, size)


@dataclass(frozen=True)
class DiscreteGaussian(TabledNoise):
    r"""Noise :math:`P(X = k) \propto e^{-k^2/2\sigma^2}` on one whole-number query.

    Its Rényi divergences equal those of the Gaussian at whole orders, but its profile differs: at
    sigma = 1, epsilon = 1 delta is 0.14135 instead of 0.12694 (Canonne, Kamath & Steinke 2020,
    Theorems 4 and 7).

    Parameters
    ----------
    noise_multiplier : float
        sigma / `sensitivity`, in (0, 1e4 / sensitivity]. The parameter sigma is not
        the standard deviation of X, which is slightly smaller.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1.

    Examples
    --------
    >>> (profile,) = DiscreteGaussian(noise_multiplier=1.0).profiles()
    >>> round(float(profile.delta(1.0)), 6)
    0.141351
    """

    name = "discrete_gaussian"
    fields_of_examples = ((1.0,), (0.5, 3), (20.0,))

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer(minimum=1, maximum=10**4, sensitivity=self.sensitivity)

    def _log_masses(self, scale: float) -> NDArray:
        return _log_discrete(np.arange(math.ceil(_REACH * scale) + 2.0), scale)

    @property
    def _error(self) -> float:
        return 2e-12  # rounding of logarithms down to OUTSIDE

    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        return orders * shift**2 / (2 * self._scale**2)

    def _below(self, pair: Adjacency | float) -> Profile:
        return tabled_profile(self, pair)  # its losses are exact

    def _log_noise(self, x: NDArray) -> NDArray:
        return _log_discrete(x, self._scale)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        r"""Return alpha s^2 / (2 sigma^2) plus a log ratio of theta sums, 0 at whole orders."""
        shift, sigma = self._distance(adjacency), self._scale
        ratio = np.array([_log_theta(a * shift, sigma) for a in orders]) - _log_theta(0.0, sigma)
        # The sum over a shifted lattice never exceeds the centred one (Poisson summation).
        return orders * self._zcdp(adjacency) + np.minimum(ratio, 0.0) / (orders - 1)


def _log_discrete(x: ArrayLike, sigma: float) -> NDArray:
    return -0.5 * (np.asarray(x) / sigma) ** 2 - _log_theta(0.0, sigma)


def _log_theta(centre: float, sigma: float) -> float:
    """Return the log of the sum of exp(-(k - centre)^2 / (2 sigma^2)) over whole k."""
    if sigma > 3:
        # Poisson summation: the other terms are below 1e-76 of the first.
        return math.log(sigma * math.sqrt(2 * math.pi))
    offset = centre - round(centre)
    reach = math.ceil(40 * sigma) + 1
    k = np.arange(-reach, reach + 1, dtype=float)
    return float(np.logaddexp.reduce(-0.5 * ((k - offset) / sigma) ** 2))


@dataclass(frozen=True)
class Skellam(TabledNoise):
    r"""Noise X = Poisson(mu/2) - Poisson(mu/2) on one whole-number query.

    Sums of Skellam noise are Skellam, so n parties can add mu/n each (Agarwal, Kairouz & Liu 2021,
    Theorem 3.5). No rho of zCDP is known: just above order 1 the divergence exceeds the Gaussian's
    line (G-J4).

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation, the root of mu, / `sensitivity`; their product is at most 1e4.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1.

    Examples
    --------
    >>> round(Skellam(1.0, 10).guarantee(delta=1e-5).epsilon, 3)
    4.27
    """

    name = "skellam"
    fields_of_examples = ((1.0, 5), (2.0,), (0.5, 40))

    def _log_masses(self, scale: float) -> NDArray:
        return _skellam_masses(scale**2)

    @property
    def _error(self) -> float:
        return 1e-10  # of Bessel functions, whose largest observed error is 3.2e-11

    def _zcdp(self, adjacency: Adjacency) -> None:
        return None

    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        return skellam_rdp_bound(orders, self._scale**2, l1=shift, l2=shift)


def skellam_rdp_bound(orders: NDArray, variance: float, *, l1: float, l2: float) -> NDArray:
    """Return upper bounds on Rényi divergences of Skellam noise at whole orders, in nats.

    `l1` and `l2` are norms of the change (Agarwal, Kairouz & Liu 2021, Theorem 3.5).
    """
    small = ((2 * orders - 1) * l2**2 + 6 * l1) / (4 * variance**2)
    return orders * l2**2 / (2 * variance) + np.minimum(small, 3 * l1 / (2 * variance))


@lru_cache(maxsize=8)
def _skellam_masses(variance: float) -> NDArray:
    """Return log e^-mu I_k(mu) up to the k where Chernoff's bound on the tail is e^OUTSIDE."""

    def enough(r: NDArray) -> NDArray:
        rate = r * np.arcsinh(r / variance) - np.hypot(r, variance) + variance
        return rate >= 1 - OUTSIDE

    reach = first_true(enough, lower=0.0, upper=50 * np.sqrt(variance) + 1000.0)
    with np.errstate(divide="ignore"):
        return np.log(ive(np.arange(float(reach) + 1), variance))


@dataclass(frozen=True)
class SummedDiscreteGaussian(TabledNoise):
    r"""Noise of many parties on one whole-number query: a sum of discrete Gaussians.

    For sigma >= 1 the sum is nearly a discrete Gaussian with parameter sqrt(n) sigma. For
    sigma = 1/2 its variance is 14 % smaller, and it leaks more than that one (Kairouz,
    Liu & Steinke 2021, Theorem 9 and Proposition 14).

    Parameters
    ----------
    noise_multiplier : float
        :math:`\sqrt{n}\,\sigma` / `sensitivity`, where each of n parties adds noise of the
        parameter sigma; the product with `sensitivity` is at most 1e4.
    sensitivity : int
        Largest change that one record's contribution makes, >= 1.
    clients : int
        Number n of parties whose noise is in the sum, at most 1e4.

    Examples
    --------
    >>> for law in (DiscreteGaussian(1.0, 5), SummedDiscreteGaussian(1.0, 5, clients=100)):
    ...     print(round(law.guarantee(delta=1e-5).epsilon, 3))
    4.383
    4.572
    """

    clients: int = 100

    name = "summed_discrete_gaussian"
    fields_of_examples = ((1.0, 5), (2.0, 1, 3), (0.5, 40))

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer(minimum=1, maximum=10**4, clients=self.clients)

    def _log_masses(self, scale: float) -> NDArray:
        return _sum_masses(scale, self.clients)

    @property
    def _error(self) -> float:
        """Rounding error, which grows with `clients`, or the theorem's gap (G-J3)."""
        if self._scale <= _WIDEST:
            return 1e-11 * self.clients
        return 1e-11 + _sum_gap(self._scale / math.sqrt(self.clients), self.clients)

    def _renyi_above(self, shift: int, orders: NDArray) -> NDArray:
        return orders * self._rho(shift)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return the smaller bound by the profile, loose at large orders, and by zCDP."""
        (profile,) = self._profiles(adjacency)
        return np.minimum(profile.renyi(orders), orders * self._zcdp(adjacency))

    def _zcdp(self, adjacency: Adjacency) -> float:
        return self._rho(self._distance(adjacency))

    def _rho(self, shift: int) -> float:
        return summed_zcdp(self._scale / math.sqrt(self.clients), self.clients, shift=shift)


def _sum_gap(sigma: float, clients: int) -> float:
    """Return tau of G-J3, the distance of log masses from those of one discrete Gaussian."""
    k = np.arange(1, clients)
    return 10 * float(np.sum(np.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1))))


def summed_zcdp(sigma: float, clients: int, *, shift: float, dimension: int = 1) -> float:
    r"""Return a zCDP rho of a sum of `clients` discrete Gaussians in `dimension` coordinates.

    A whole-number query with L2 distance `shift` has :math:`\rho \le \Delta^2/2\sigma^2` by
    the noise of one party (the others' noise is post-processing), and for sigma >= 1/2
    :math:`\rho \le (\Delta/\sqrt n\sigma + \tau\sqrt d)^2/2` by that of all parties (Kairouz, Liu &
    Steinke 2021, Proposition 14).
    """
    alone = shift**2 / (2 * sigma**2)
    if sigma < 0.5:
        return alone
    gap = _sum_gap(sigma, clients) * math.sqrt(dimension)
    return min(alone, (shift / (math.sqrt(clients) * sigma) + gap) ** 2 / 2)


@lru_cache(maxsize=8)
def _sum_masses(scale: float, clients: int) -> NDArray:
    """Return log masses of 0, 1, ... of the sum, by convolution or for large sums by G-J3."""
    # The sum has sub-Gaussian tails with variance proxy `scale`^2.
    reach = math.ceil(_REACH * scale) + 1
    if scale > _WIDEST:
        return _log_discrete(np.arange(reach + 1.0), scale)
    sigma = scale / math.sqrt(clients)
    k = np.arange(min(reach, math.ceil(38 * sigma)) + 1.0)
    factor = even_law(np.exp(-0.5 * (k / sigma) ** 2))
    factor /= factor.sum()

    def join(one: NDArray, two: NDArray) -> NDArray:
        law = np.convolve(one, two)  # positive terms lose no digits
        cut = max(law.size // 2 - reach, 0)
        return law[cut : law.size - cut]

    total = repeated(factor, clients, join)
    with np.errstate(divide="ignore"):
        return np.log(total[total.size // 2 :])
