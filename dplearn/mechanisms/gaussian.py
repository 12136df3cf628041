r"""The Gaussian mechanism: profile, calibration and closed-form Rényi divergence.

With mu = shift / standard deviation the loss is N(mu^2/2, mu^2) and

.. math:: \delta(\varepsilon) = \Phi(-x_1) - e^\varepsilon \Phi(-x_2),
          \quad x_{1,2} = \varepsilon/\mu \mp \mu/2.

Both terms are nearly equal for most relevant parameters. With the Mills ratio
:math:`M(x) = \Phi(-x)/\varphi(x)` and :math:`e^\varepsilon\varphi(x_2) = \varphi(x_1)` the
difference is :math:`\varphi(x_1)\,(M(x_1) - M(x_2))`. For small mu the second factor is computed
without cancellation, as the integral of :math:`-M'(x) = 1 - xM(x)` over :math:`[x_1, x_2]`.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, log_ndtr

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import log, log1mexp, log_expm1, log_sub
from dplearn.core.solve import decreasing_root, first_true
from dplearn.engine.profile import FAR, Profile
from dplearn.mechanisms._noise import Noise

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
MARGIN = 2e-12  # relative accuracy of delta, and of epsilon computed from delta
_LEGENDRE = np.polynomial.legendre.leggauss(8)


@dataclass(frozen=True)
class Gaussian(Noise):
    """Gaussian noise added to a vector query; the profile is exact (Balle & Wang 2018, Theorem 8).

    Parameters
    ----------
    noise_multiplier : float. Standard deviation of the noise / largest L2 norm of one record's
        contribution, >= 0; 0 means no noise and no privacy.
    """

    name = "gaussian"
    fields_of_examples = ((1.0,), (0.2,), (30.0,))
    conditions = ("L2 norm of each contribution is bounded",)
    scales_drawn = 7.0
    gaussian_shift = Noise.shift

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        mu = self.shift(adjacency)
        # Under Q = N(0, 1) the loss mu x - mu^2 / 2 exceeds eps where x > eps / mu + mu / 2.
        log_tail = lambda epsilon: log_ndtr(-(epsilon / mu + mu / 2))
        return (Profile(lambda epsilon: gaussian_log_delta(epsilon, mu), log_tail_of=log_tail),)

    def replaced(self, sample_rate: float) -> tuple[Profile, Profile]:
        r"""Return the exact profile for a replaced record, both as upper and as lower bound.

        With a = asinh(exp(1/(2 sigma^2)) (1-q)/q sinh(epsilon/2)) the loss exceeds epsilon at
        outputs x > sigma^2 (epsilon / 2 + a), and

        .. math:: \delta = q(1-e^{-2a})\,\delta_1(\tfrac\varepsilon2 + a - \tfrac1{2\sigma^2})
                  + qe^{-2a}\,\delta_2(\varepsilon + 2a)
        """
        # Losses beyond FAR count as infinite.
        q, mu = sample_rate, min(self.shift(), FAR)
        log_q, log_rest = math.log(q), math.log1p(-q)
        (one,), (two,) = self._profiles("add_remove"), self._profiles("replace_one")

        def middle(epsilon: NDArray) -> NDArray:
            log_y = mu**2 / 2 + log_rest - log_q + log_expm1(epsilon) - epsilon / 2 - math.log(2)
            small = np.arcsinh(np.exp(np.minimum(log_y, 20.0)))
            return np.where(log_y > 20, log_y + math.log(2), small)

        def log_delta(epsilon: NDArray) -> NDArray:
            a = middle(epsilon)
            near = log1mexp(-2 * a) + one.log_delta(epsilon / 2 + a - mu**2 / 2)
            return log_q + np.logaddexp(near, two.log_delta_of(epsilon + 2 * a) - 2 * a)

        def log_tail(epsilon: NDArray) -> NDArray:
            x = (epsilon / 2 + middle(epsilon)) / mu
            return np.logaddexp(log_rest + log_ndtr(-x), log_q + log_ndtr(-x - mu))

        pair = Profile(log_delta, log_tail_of=log_tail)
        return pair, pair

    def _log_noise(self, x: NDArray) -> NDArray:
        sigma = self.noise_multiplier
        return -0.5 * (x / sigma) ** 2 - math.log(sigma) - _HALF_LOG_2PI

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return Rényi divergences alpha mu^2 / 2 at orders alpha (Mironov 2017, Proposition 7)."""
        return orders * self._zcdp(adjacency)

    @classmethod
    def analytic(cls, *, epsilon: float, delta: float) -> Self:
        """Return the (epsilon, delta)-DP Gaussian with the least noise under add_remove.

        The noise is rounded up by at most a relative 1e-12 (Balle & Wang 2018, Algorithm 1).
        """
        validate.non_negative(epsilon=epsilon)
        validate.probability(delta=delta)

        def enough(sigma: NDArray) -> NDArray:
            return gaussian_log_delta(epsilon, 1 / sigma) <= math.log(delta)

        upper = 1e-3
        while upper < 1e51 and not enough(np.array(upper)):  # Gaussian allows up to 1e50
            upper *= 2
        return cls(float(first_true(enough, lower=1e-6, upper=upper)))

    def _draw(self, scale: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray:
        return rng.normal(0.0, scale, size)


def gaussian_log_delta(epsilon: ArrayLike, mu: ArrayLike) -> NDArray:
    """Return log delta of N(mu, 1) against N(0, 1) at epsilon >= 0, elementwise."""
    epsilon, mu = np.broadcast_arrays(np.asarray(epsilon, dtype=float), mu)
    result = np.where(mu == 0, -np.inf, 0.0)
    for part, branch in ((mu < 0.5, _by_integral), (mu >= 0.5, _by_difference)):
        part = part & (mu > 0) & np.isfinite(mu)
        if np.any(part):
            result[part] = branch(epsilon[part], mu[part])
    return result


def _by_integral(epsilon: NDArray, mu: NDArray) -> NDArray:
    x = epsilon / mu - 0.5 * mu
    nodes, weights = _LEGENDRE
    inside = x[..., None] + 0.5 * mu[..., None] * (nodes + 1)
    # 1 - x M(x), M the Mills ratio, by an asymptotic series where the difference would cancel.
    near = np.minimum(inside, 35.0)
    u = 1 / np.square(np.maximum(inside, 35.0))
    series = u * (1 - u * (3 - u * (15 - u * (105 - u * (945 - u * 10395)))))
    slope = np.where(inside < 35.0, 1 - near * _mills(near), series)
    bracket = 0.5 * mu * (slope @ weights)
    return -0.5 * x * x - _HALF_LOG_2PI + np.log(bracket)


def _by_difference(epsilon: NDArray, mu: NDArray) -> NDArray:
    x = epsilon / mu - 0.5 * mu
    high = np.maximum(x, -1.0)
    result = -0.5 * high * high - _HALF_LOG_2PI + log(_mills(high) - _mills(high + mu))
    # If epsilon < mu^2 / 2 - mu, delta is large and the plain difference is accurate.
    if np.any(low := x < -1.0):
        x, mu = x[low], mu[low]
        result[low] = log_sub(log_ndtr(-x), epsilon[low] + log_ndtr(-(x + mu)))
    return result


def gaussian_epsilon(delta: ArrayLike, mu: ArrayLike) -> NDArray:
    """Return the epsilon >= 0 of N(mu, 1) against N(0, 1) at delta, rounded up, elementwise."""
    delta, mu = np.broadcast_arrays(np.asarray(delta, dtype=float), mu)
    # Upper end by the Chernoff bound: log delta <= -(eps / mu - mu / 2)^2 / 2.
    upper = mu * (0.5 * mu + np.sqrt(-2 * np.log(delta)))
    excess = lambda x: gaussian_log_delta(x, mu) - np.log(delta)
    return decreasing_root(excess, lower=np.zeros(mu.shape), upper=upper)


def gaussian_ends(delta: ArrayLike, mu: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return lower and upper bounds on epsilon of N(mu, 1) against N(0, 1), elementwise."""
    delta, mu = np.broadcast_arrays(np.asarray(delta, dtype=float), mu)
    more, less = np.minimum(delta * (1 + MARGIN), 1), delta * (1 - MARGIN)
    lower, upper = gaussian_epsilon(np.stack([more, less]), np.stack([mu, mu]))
    return lower * (1 - MARGIN), upper


def _mills(x: NDArray) -> NDArray:
    return math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
