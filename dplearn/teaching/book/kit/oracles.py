"""Slow oracles for several entries: sums over events, integrals and randomized response.

Each oracle computes a definition. A `Density` maps an array to log densities.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, rel_entr, xlogy

from dplearn.core.logspace import log1mexp
from dplearn.core.solve import first_true
from dplearn.engine.profile import Profile

Density = Callable[[NDArray], NDArray]
Kinks = Sequence[float]


def smallest(
    holds: Callable[[float], bool], *, low: float, high: float, rtol: float = 1e-15
) -> float:
    """Return the smallest x in [low, high] for which monotone `holds(x)` is true, or inf."""
    if not holds(high):
        return math.inf
    at = first_true(lambda x: np.asarray(holds(float(x))), lower=low, upper=high, rtol=rtol)
    return float(at)


def event_masses(*laws: ArrayLike) -> tuple[NDArray, ...]:
    """Return, for each distribution, the probability of every event, the empty event first."""
    size = np.size(laws[0])
    members = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    return tuple(members @ np.asarray(law, dtype=float) for law in laws)


def worst_event_delta(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """Return delta as DP defines it: the largest P(S) - exp(epsilon) Q(S) over all events S."""
    p_of, q_of = event_masses(p, q)
    return float(np.max(p_of - math.exp(epsilon) * q_of))


def worst_event_epsilon(p: ArrayLike, q: ArrayLike, delta: float = 0.0) -> float:
    """Return the largest ln((P(S) - delta)/Q(S)) over events S with P(S) > delta, or inf."""
    p_of, q_of = event_masses(p, q)
    likely = p_of > delta
    with np.errstate(divide="ignore"):
        return float(np.max(np.log(p_of[likely] - delta) - np.log(q_of[likely]), initial=-math.inf))


def worst_event_epsilon_at(p: ArrayLike, q: ArrayLike, delta: float) -> float:
    """Return the least epsilon >= 0 at which `p` and `q` are (epsilon, delta)-indistinguishable."""
    return max(0.0, worst_event_epsilon(p, q, delta), worst_event_epsilon(q, p, delta))


def finite_renyi(p: ArrayLike, q: ArrayLike, order: float) -> float:
    """Compute the Rényi divergence of discrete `p` from `q` by their hockey-stick divergences."""
    if not np.any((np.asarray(p) > 0) & (np.asarray(q) > 0)):
        return math.inf
    with np.errstate(divide="ignore"):
        return float(Profile.from_atoms(np.log(p), np.log(q)).renyi(order))


def log_moment(log_p: NDArray, log_q: NDArray, moment: ArrayLike) -> NDArray:
    """Return ln of the mean of exp(moment * loss) along the last axis, accurate even near 0."""
    x = np.asarray(moment)[..., None] * (log_p - log_q)
    total = np.logaddexp.reduce(log_p + x, axis=-1)
    # Compute p (exp(x) - 1) stably, as p may be tiny and exp(x) huge.
    grown = np.exp(np.minimum(log_p + x, 700.0)) - np.exp(log_p)
    gains = np.where(x > 1, grown, np.exp(log_p) * np.expm1(np.minimum(x, 1)))
    return np.where(total > 1, total, np.log1p(np.sum(gains, axis=-1)))


def variance(masses: NDArray, values: NDArray) -> float:
    """Return the variance of `values` with weights `masses`, which need not add up to 1."""
    mean = masses @ values / masses.sum()
    return float(masses @ (values - mean) ** 2 / masses.sum())


def mean_loss(p: ArrayLike, q: ArrayLike) -> float:
    """Return the KL divergence by definition: the mean of ln(p/q) under p."""
    return math.fsum(rel_entr(p, q))


def largest_rho(renyi: Callable[[float], float]) -> float:
    """Return the zCDP rho: the largest renyi(a) / a over a grid of Rényi orders a >= 1."""
    return max(renyi(a) / a for a in (1.0, 1.01, 1.2, 2.0, 8.0, 100.0))


def randomized_response(epsilon: float) -> tuple[NDArray, NDArray]:
    """Return the two output distributions of `epsilon`-DP randomized response on one bit."""
    exact = 1 / (1 + math.exp(-epsilon))
    p = np.array([exact, 1 - exact])
    return p, p[::-1]


def leaky_response(epsilon: float, delta: float) -> tuple[NDArray, NDArray]:
    """Return distributions of randomized response that leaks its input with probability delta."""
    p, q = ((1 - delta) * law for law in randomized_response(epsilon))
    return np.array([delta, *p, 0.0]), np.array([0.0, *q, delta])


def coins_delta(epsilon: float, *, local: float, steps: int, delta0: float = 0.0) -> float:
    """Return the total delta at `epsilon` of `steps` worst-case (local, delta0)-DP releases.

    The result is a sum of terms >= 0 over the number of true answers, accurate to about 1e-11.
    """
    true = np.arange(steps + 1.0)
    counts = gammaln(steps + 1) - gammaln(true + 1) - gammaln(steps - true + 1)
    log_truth, log_lie = -np.log1p(np.exp(-local)), -np.log1p(np.exp(local))
    masses = np.exp(counts + true * log_truth + (steps - true) * log_lie)
    # 1 - exp(epsilon - loss) where loss > epsilon, else 0.
    gains = -np.expm1(np.minimum(epsilon - (2 * true - steps) * local, 0.0))
    survive = steps * math.log1p(-delta0)
    return float(-math.expm1(survive) + math.exp(survive) * np.sum(masses * gains))


def log_normal(mean: float = 0.0, std: float = 1.0) -> Density:
    """Return the log density of N(mean, std^2) as a function."""
    constant = -math.log(std) - 0.5 * math.log(2 * math.pi)
    return lambda x: constant - 0.5 * ((x - mean) / std) ** 2


def log_laplace(mean: float = 0.0, scale: float = 1.0) -> Density:
    """Return the log density of a Laplace distribution, a function with a kink at `mean`."""
    return lambda x: -np.abs(x - mean) / scale - math.log(2 * scale)


def log_integral(
    log_f: Density, low: float, high: float, *, kinks: Kinks = (), rtol: float = 1e-11
) -> float:
    """Return the log of the integral of exp(log_f); the interval [low, high] may be very wide.

    Gauss-Legendre quadrature on equal panels where the integrand is not negligible; the number of
    panels grows fourfold until two results agree, up to 16,384, else ArithmeticError. `low` and
    `high` are finite; `log_f` is smooth between `kinks`, and -inf where the integrand is 0.
    """
    inner = sorted({low, high, *(k for k in kinks if low < k < high)})
    pieces = []
    for left, right in pairwise(inner):
        for _ in range(6):  # narrow the interval to log_f > max(log_f) - 50
            x, width = np.linspace(left, right, 2001), right - left
            y = log_f(x)
            remaining = np.flatnonzero(y > np.max(y) - 50)
            if remaining.size:
                left = float(x[max(remaining[0] - 1, 0)])
                right = float(x[min(remaining[-1] + 1, 2000)])
            if right - left > 0.5 * width:
                break
        pieces.append((left, right))
    last: float = math.nan
    for count in (16, 64, 256, 1024, 4096, 16384):
        value = float(np.logaddexp.reduce([gauss(log_f, a, b, count) for a, b in pieces]))
        if value == last or abs(value - last) <= rtol * max(1.0, abs(value)):
            return value
        last = value
    raise ArithmeticError(f"The integral over [{low:g}, {high:g}] did not converge.")


def absolute_moment(log_f: Density, power: int, far: float) -> float:
    """Return the integral of |x|^power exp(log_f(x)) on [-far, far]; log_f has a kink at 0."""
    log_size = lambda x: xlogy(power, np.abs(x)) + log_f(x)
    return math.exp(log_integral(log_size, -far, far, kinks=[0.0]))


def gauss(log_f: Density, low: float, high: float, count: int) -> float:
    """Integrate exp(log_f) by 20-point quadrature on each of `count` panels, and return the log."""
    nodes, weights = legendre(20)
    x, half = on_panels(low, high, count, nodes)
    y = log_f(x)
    top = np.max(y)
    if not np.isfinite(top):
        return top
    return top + math.log(half * float(np.exp(y - top).reshape(count, -1).sum(axis=0) @ weights))


def on_panels(low: float, high: float, count: int, nodes: NDArray) -> tuple[NDArray, float]:
    """Return quadrature nodes in `count` equal panels of [low, high], and half the panel width."""
    half = 0.5 * (high - low) / count
    centres = low + half * (2 * np.arange(count) + 1)
    return (centres[:, None] + half * nodes).ravel(), half


@lru_cache
def legendre(count: int) -> tuple[NDArray, NDArray]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [-1, 1]."""
    return np.polynomial.legendre.leggauss(count)


def density_renyi(
    log_p: Density, log_q: Density, order: float, low: float, high: float, *, kinks: Kinks = ()
) -> float:
    """Return the Rényi divergence of two densities by definition; order 1 is the KL divergence.

    The result is inf if the integrand is not negligible at `low` or `high`, far out in the tails.
    """

    def gain(x: NDArray) -> NDArray:
        # The KL divergence is E[loss + exp(-loss) - 1], whose integrand is never negative.
        loss = log_p(x) - log_q(x)
        with np.errstate(divide="ignore", over="ignore"):
            small = np.log(np.maximum(loss + np.expm1(-loss), 0.0))
        return log_p(x) + np.where(loss < -50, -loss, small)

    if order == 1:
        return math.exp(log_integral(gain, low, high, kinks=kinks, rtol=1e-9))
    log_f = lambda x: order * log_p(x) + (1 - order) * log_q(x)
    if np.max(log_f(np.array([low, high]))) > np.max(log_f(np.linspace(low, high, 2001))) - 30:
        return math.inf
    return log_integral(log_f, low, high, kinks=kinks) / (order - 1)


def density_delta(
    log_p: Density, log_q: Density, epsilon: float, low: float, high: float, *, kinks: Kinks = ()
) -> float:
    """Return the hockey-stick divergence of two densities at `epsilon` by definition."""

    def excess(x: NDArray) -> NDArray:
        # Where the loss equals epsilon, only rounding errors remain: set them to 0.
        over = log_p(x) - log_q(x) - epsilon
        return np.where(np.abs(over) > 1e-13 * (1 + abs(epsilon)), over, 0.0)

    kinks = [*kinks, *sign_changes(excess, low, high)]
    log_gain = lambda x: log_p(x) + log1mexp(-excess(x))
    return math.exp(log_integral(log_gain, low, high, kinks=kinks, rtol=1e-10))


def sign_changes(f: Density, low: float, high: float) -> NDArray:
    """Return the points where f changes sign, found on a fine grid and refined by bisection."""
    x = np.linspace(low, high, 20_001)
    sign = f(x) > 0
    at = np.flatnonzero(sign[1:] != sign[:-1])
    turned = lambda y: (f(y) > 0) != sign[at]
    return first_true(turned, lower=x[at], upper=x[at + 1], rtol=1e-15)


def normal_renyi(shift: float, std: float, order: float = 2.0) -> float:
    """Return the Rényi divergence of N(shift, std^2) from N(0, std^2) by definition."""
    far = 60 * std + max(10.0, 5 * order * shift)
    return density_renyi(log_normal(shift, std), log_normal(0.0, std), order, -far, far)


def normal_log_delta(*, epsilon: float, mu: float) -> float:
    """Return log delta at `epsilon` of N(mu, 1) and N(0, 1), by an integral over the privacy loss.

    The loss is N(mu^2/2, mu^2). At s standard deviations above epsilon the integrand is
    phi(x + s) (1 - exp(-mu s)), where x = (epsilon - mu^2/2) / mu.
    """
    x = epsilon / mu - mu / 2
    low, high = max(0.0, -x - 12), -x + math.sqrt(max(x, 0.0) ** 2 + 144)
    log_gain = gauss(lambda s: -s * (x + s / 2) + log1mexp(-mu * s), low, high, 64)
    return log_gain - 0.5 * x * x - 0.5 * math.log(2 * math.pi)


def separation(mu: Any, noise_multiplier: Any, rho: Any, steps: Any) -> Any:
    """Return the Gaussian DP mu of `steps` releases, each given by mu, noise multiplier or rho."""
    if mu is None:
        mu = np.sqrt(2 * rho) if noise_multiplier is None else 1 / noise_multiplier
    return np.sqrt(steps) * mu


def normal_epsilon(
    *, delta: float, mu=None, noise_multiplier=None, rho=0.0, steps=1, distance=1.0
) -> float:
    """Return epsilon at `delta` of `steps` Gaussian releases with mu, noise multiplier or rho."""
    mu = distance * float(separation(mu, noise_multiplier, rho, steps))
    log_delta, high = math.log(delta), mu * (mu + 1)
    enough = lambda epsilon: normal_log_delta(epsilon=epsilon, mu=mu) <= log_delta
    while not enough(high):
        high *= 2
    return smallest(enough, low=0.0, high=high)


def normal_delta(*, epsilon: float, mu=None, noise_multiplier=None, rho=0.0, steps=1) -> float:
    """Return delta at `epsilon` of `steps` Gaussian releases with mu, noise multiplier or rho."""
    mu = float(separation(mu, noise_multiplier, rho, steps))
    return math.exp(normal_log_delta(epsilon=epsilon, mu=mu))


def normal_sigma(*, epsilon: float, delta: float, steps: int = 1) -> float:
    """Return the least noise std to make `steps` answers of sensitivity 1 (epsilon, delta)-DP."""
    log_delta = math.log(delta)
    enough = lambda x: normal_log_delta(epsilon=epsilon, mu=math.exp(-x)) <= log_delta
    return math.sqrt(steps) * math.exp(smallest(enough, low=-10.0, high=10.0 - log_delta))
