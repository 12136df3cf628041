"""Lower bounds on valid privacy claims, from the exact privacy loss of worst-case mechanisms.

A claim below the lower bound is refuted; above the proved value it is safe, in between open.
"""

import itertools
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, log_ndtr, ndtr

from dplearn.core.solve import decreasing_root
from dplearn.teaching.book.kit.oracles import separation

_ROOM = 1 - 1e-8  # keeps a lower bound valid despite rounding errors of the root finder
root = partial(decreasing_root, rtol=1e-15)


def gaussian_delta(
    epsilon: ArrayLike, mu: Any = None, noise_multiplier: Any = None, rho: Any = None
) -> NDArray:
    """Return the exact delta at `epsilon` of a Gaussian release (mu, noise multiplier or rho)."""
    mu = separation(mu, noise_multiplier, rho, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        tail = np.exp(epsilon + log_ndtr(-np.divide(mu, 2) - np.divide(epsilon, mu)))
        return ndtr(np.divide(mu, 2) - np.divide(epsilon, mu)) - tail


def gaussian_epsilon(
    delta: ArrayLike, mu: Any = None, noise_multiplier: Any = None, rho: Any = None, steps: Any = 1
) -> NDArray:
    """Return the exact epsilon at `delta` of `steps` Gaussian releases; inf if `delta` is 0."""
    mu = separation(mu, noise_multiplier, rho, steps)
    enough = np.square(mu) + 60.0 * np.asarray(mu) + 0 * np.asarray(delta)
    excess = lambda epsilon: gaussian_delta(epsilon, mu) - delta
    epsilon = np.maximum(root(excess, lower=0.0, upper=enough), 0.0)
    return np.where(np.asarray(delta) > 0, epsilon, np.inf)


def gaussian_sigma(epsilon: ArrayLike, delta: ArrayLike, steps: ArrayLike = 1) -> NDArray:
    """Return the least noise std to make `steps` answers of sensitivity 1 (epsilon, delta)-DP."""
    width = 0 * np.asarray(epsilon) * np.asarray(delta)
    excess = lambda log: gaussian_delta(epsilon, np.exp(-log)) - delta
    return np.sqrt(steps) * np.exp(root(excess, lower=-8.0, upper=12 + width))


def coins_epsilon(epsilon: ArrayLike, steps: ArrayLike, slack: ArrayLike) -> NDArray:
    """Return epsilon at delta `slack` of randomized response, run `steps` times at `epsilon`."""
    columns = (np.asarray(x, float)[..., None] for x in (epsilon, steps, slack))
    epsilon, steps, slack = np.broadcast_arrays(*columns)
    lies = np.arange(int(np.max(steps)) + 1.0)
    missing = np.maximum(steps - lies, 0)
    log_mass = gammaln(steps + 1) - gammaln(lies + 1) - gammaln(missing + 1)
    log_mass += missing * epsilon - steps * np.logaddexp(0, epsilon)
    mass = np.where(lies <= steps, np.exp(log_mass), 0.0)
    return _epsilon_of_losses((steps - 2 * lies) * epsilon, mass, slack)[..., 0]


def lists_epsilon(epsilons: ArrayLike, slack: ArrayLike) -> NDArray:
    """Return epsilon at delta `slack` of all randomized responses in each row of `epsilons`."""
    epsilons, slack = np.asarray(epsilons, float)[..., None, :], np.asarray(slack, float)
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=epsilons.shape[-1])))
    mass = np.exp(np.sum(np.minimum(signs, 0) * epsilons - np.logaddexp(0, -epsilons), axis=-1))
    return _epsilon_of_losses(np.sum(signs * epsilons, axis=-1), mass, slack)


def _epsilon_of_losses(loss: NDArray, mass: NDArray, delta: NDArray) -> NDArray:
    """Return epsilon at `delta`, given privacy losses `loss` and their probabilities `mass`."""

    def excess(total: NDArray) -> NDArray:
        remaining = np.maximum(-np.expm1(np.minimum(total - loss, 0)), 0)
        return np.sum(mass * remaining, axis=-1, keepdims=True) - delta

    return root(excess, lower=0.0, upper=np.max(loss, axis=-1, keepdims=True)) * _ROOM


def coin_rho(epsilon: ArrayLike) -> NDArray:
    """Return the zCDP rho of `epsilon`-DP randomized response, which is its KL divergence."""
    return epsilon * np.tanh(np.divide(epsilon, 2))


def coin_rdp(epsilon: ArrayLike, order: ArrayLike) -> NDArray:
    """Return the RDP of `epsilon`-DP randomized response at Rényi order `order`."""
    epsilon, order = np.asarray(epsilon, float), np.asarray(order, float)
    both = np.logaddexp(order * epsilon, (1 - order) * epsilon) - np.logaddexp(0, epsilon)
    return np.minimum(both / (order - 1), epsilon)


def rdp_epsilon(orders: ArrayLike, rdp: ArrayLike, delta: ArrayLike) -> NDArray:
    """Return the largest epsilon at `delta` found for Bernoulli pairs of Rényi divergence `rdp`."""
    orders, rdp, delta = np.broadcast_arrays(*(np.asarray(x, float) for x in (orders, rdp, delta)))
    best = np.zeros(orders.shape)
    for times in (1.0001, 1.02, 1.1, 1.3, 1.8, 3, 6, 15, 50, 200, 1000):
        p = np.minimum(times * delta, 1 - 1e-12)  # the pair's probabilities: p, exp(log_q)

        def excess(log_q: NDArray, p: NDArray = p) -> NDArray:
            inside = orders * np.log(p) + (1 - orders) * log_q
            outside = orders * np.log1p(-p) + (1 - orders) * np.log1p(-np.exp(log_q))
            return np.logaddexp(inside, outside) - (orders - 1) * rdp

        log_q = root(excess, lower=-80.0, upper=np.log(p))
        best = np.maximum(best, np.log(np.maximum(p - delta, 1e-300)) - log_q)
    return np.where(delta > 0, best * _ROOM, np.inf)


def sampled_rdp(order: ArrayLike, noise_multiplier: ArrayLike, sample_rate: ArrayLike) -> NDArray:
    """Return the RDP of the Poisson-subsampled Gaussian mechanism at order floor(`order`)."""
    order = np.asarray(order, float)
    whole, sigma = np.floor(order), np.asarray(noise_multiplier, float)
    total = np.full(np.broadcast_shapes(whole.shape, sigma.shape, np.shape(sample_rate)), -np.inf)
    for j in range(int(np.max(whole)) + 1):
        log_binomial = gammaln(whole + 1) - gammaln(j + 1) - gammaln(np.maximum(whole - j, 0) + 1)
        log_rates = (whole - j) * np.log1p(-np.asarray(sample_rate)) + j * np.log(sample_rate)
        term = log_binomial + log_rates + (j * j - j) / (2 * sigma**2)
        total = np.where(j <= whole, np.logaddexp(total, term), total)
    return np.where(whole < 2, 0.0, total / np.maximum(whole - 1, 1)) * _ROOM
