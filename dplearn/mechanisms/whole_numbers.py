"""Noise on whole numbers: two-sided geometric noise and the discrete Gaussian."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import exp_rest, log1mexp, log_expm1
from dplearn.engine.profile import Curve, Profile
from dplearn.mechanisms._base import Outputs
from dplearn.mechanisms._noise import WholeNoise

# Bounds for a table of the discrete Gaussian: log mass outside it, error of log masses in it.
_OUTSIDE, _ERROR = -680.0, 2e-12


@dataclass(frozen=True)
class Geometric(WholeNoise):
    r"""Two-sided geometric noise, :math:`P(X = k) \propto e^{-|k|/b}`, on an integer query.

    The discrete Laplace mechanism (Ghosh, Roughgarden & Sundararajan 2012).

    Parameters
    ----------
    noise_multiplier : float. b / `sensitivity`, > 0: at delta = 0 the mechanism is (1 /
        noise_multiplier)-DP.
    sensitivity : int. Largest change that one record's contribution makes, >= 1. It matters beyond
        the ratio because the noise lives on whole numbers.
    """

    name = "geometric"
    fields_of_examples = ((1.0,), (0.5, 3), (20.0,))
    scales_drawn = 25.0

    def _atoms(self, laws: Outputs) -> tuple[NDArray, NDArray]:
        """Return log masses of P and Q; outcomes beyond a peak have equal losses and are merged."""
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

        By symmetry E_P (P/Q)^(a-1) - 1 is the sum of p (e^{(a-1)L} - 1) (1 - e^{-aL}) over L > 0.
        """
        log_p, log_q = self._atoms(*self._outputs(adjacency))
        loss, a = (log_p - log_q)[log_p > log_q], orders[:, None]
        terms = log_p[log_p > log_q] + log_expm1((a - 1) * loss) + log1mexp(-a * loss)
        return np.logaddexp(0.0, np.logaddexp.reduce(terms, axis=1)) / (orders - 1)

    def _zcdp(self, adjacency: Adjacency) -> float:
        r"""Return the KL divergence eps - (1 - exp(-eps)) u / sinh u, with u = 1/b.

        At distance 1 it is eps tanh(eps/2) (Harrison & Manurangsi 2026, arXiv 2510.25746). M of
        module `_noise` is a power of z = e^{2su} times a polynomial with coefficients c, 1, ..., 1,
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
class DiscreteGaussian(WholeNoise):
    r"""Noise :math:`P(X = k) \propto e^{-k^2/2\sigma^2}` on one whole-number query.

    Its Rényi divergences equal those of the Gaussian at whole orders, but its profile differs: at
    sigma = 1 and epsilon = 1, delta is 0.14135 instead of 0.12694 (Canonne, Kamath & Steinke 2020,
    Theorems 4 and 7). The profile is that of a table, whose masses are correct up to a factor
    :math:`e^{\pm r}`, plus the mass t outside: :math:`\delta(\varepsilon) \le
    e^r\hat\delta(\varepsilon - 2r) + t`. For large epsilon a Rényi divergence gives
    :math:`\delta \le e^{(\alpha-1)(D_\alpha-\varepsilon)}`.

    Parameters
    ----------
    noise_multiplier : float. sigma / `sensitivity`, in (0, 1e4 / sensitivity]. The parameter sigma
        is not the standard deviation of X, which is slightly smaller.
    sensitivity : int. Largest change that one record's contribution makes, >= 1.
    """

    name = "discrete_gaussian"
    fields_of_examples = ((1.0,), (0.5, 3), (20.0,))
    attained: ClassVar[bool] = False  # the witnesses lie slightly below the profiles
    scales_drawn = 7.0

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer(minimum=1, maximum=10**4, sensitivity=self.sensitivity)
        if self._scale > 1e4:
            got = f"{self._scale:g}; the continuous Gaussian is indistinguishable there"
            raise ValueError(f"Expected noise_multiplier * sensitivity <= 1e4, got {got}.")

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        double_rho = self.shift(adjacency) ** 2

        def far(epsilon: NDArray) -> NDArray:
            # Round the best order of a Gaussian; every whole order is valid.
            orders = np.maximum(np.rint(epsilon / double_rho + 0.5), 2.0)
            return (orders - 1) * (0.5 * orders * double_rho - epsilon)

        return (self._above(adjacency, far),)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return (_tabled(self, adjacency),)

    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        (whole,) = self._profiles("replace_one")
        far = lambda epsilon: math.log(sample_rate) + whole.log_delta_of(epsilon)
        return self._above(sample_rate, far), _tabled(self, sample_rate)

    def _above(self, pair: Adjacency | float, far: Curve) -> Profile:
        """Return the smaller of two upper bounds on the profile of `pair`: by table, and `far`."""
        near = _tabled(self, pair)

        def log_delta(epsilon: NDArray) -> NDArray:
            epsilon = np.asarray(epsilon, dtype=float)
            inside = np.logaddexp(_ERROR + near.log_delta_of(epsilon - 2 * _ERROR), _OUTSIDE)
            return np.minimum(np.minimum(inside, far(epsilon)), 0.0)

        return Profile(log_delta, kinks=near.kinks)

    def _log_noise(self, x: NDArray) -> NDArray:
        return _log_discrete(x, self._scale)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        r"""Return Gaussian divergences plus a log ratio of theta sums (0 at whole orders)."""
        shift, sigma = self._distance(adjacency), self._scale
        ratio = np.array([_log_theta(a * shift, sigma) for a in orders]) - _log_theta(0.0, sigma)
        # The theta sum is largest on the centred lattice (Poisson summation): the ratio is <= 0.
        return orders * self._zcdp(adjacency) + np.minimum(ratio, 0.0) / (orders - 1)

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        k = np.arange(-(reach := _reach(scale)), reach + 1)
        masses = np.exp(_log_discrete(k, scale))
        return rng.choice(k, size=size, p=masses / masses.sum())


@lru_cache(4)
def _tabled(noise: DiscreteGaussian, pair: Adjacency | float) -> Profile:
    """Return the profile of a table of masses; `pair` is an adjacency, or the rate if sampled."""
    laws = noise.replaced_outputs(pair) if isinstance(pair, float) else noise._outputs(pair)[0]
    reach = _reach(noise._scale)
    k = np.arange(laws.corners[0] - reach, laws.corners[-1] + reach + 1)
    return Profile.from_atoms(laws.log_p(k), laws.log_q(k))


def _reach(scale: float) -> int:
    """Return the half-width of a table; the mass beyond it is less than e^-684."""
    return math.ceil(37 * scale) + 1


def _log_discrete(x: ArrayLike, sigma: float) -> NDArray:
    return -0.5 * (np.asarray(x) / sigma) ** 2 - _log_theta(0.0, sigma)


def _log_theta(centre: float, sigma: float) -> float:
    """Return the log of the sum of exp(-(k - centre)^2 / (2 sigma^2)) over whole k."""
    if sigma > 3:
        # Poisson summation: all later terms are below 1e-76 times the first.
        return math.log(sigma * math.sqrt(2 * math.pi))
    offset = centre - round(centre)
    reach = math.ceil(40 * sigma) + 1
    k = np.arange(-reach, reach + 1, dtype=float)
    return float(np.logaddexp.reduce(-0.5 * ((k - offset) / sigma) ** 2))
