"""The truth about Gaussian noise: quadrature, walks, vectors of all sizes, searches."""

import math

import numpy as np

from dplearn.book.kit import oracles
from dplearn.ground.solve import crossing


def noise_epsilon(*, noise_multiplier, delta, distance=1.0):
    """Exact epsilon of one Gaussian release."""
    return oracles.gaussian_epsilon(delta=delta, mu=distance / noise_multiplier)


def first_failure(*, delta):
    """Walk up in epsilon until the delta of the classical noise is too large."""
    root = math.sqrt(math.log(1.25 / delta) * 2)
    log_delta = lambda epsilon: oracles.gaussian_log_delta(epsilon=epsilon, mu=epsilon / root)
    margin = lambda epsilon: math.log(delta) - log_delta(epsilon)
    good = 0.5
    while margin(good + 0.5) > 0:
        good += 0.5
    ends: dict = {"lower": good, "upper": good + 0.5, "tolerance": 1e-9}
    return crossing(margin, guess=good + 0.2, slope=-1.0, **ends).root


def longest_contribution(*, norms):
    """Largest norm of a vector of groups, each clipped by its norm; the corners are among them."""
    rng, longest = np.random.default_rng(5), 0.0
    for size in (1e-3, 1.0, 1e6):
        groups = [size * rng.normal(size=7) for _ in norms]
        scales = [min(1.0, c / np.linalg.norm(g)) for g, c in zip(groups, norms, strict=True)]
        clipped = [g * scale for g, scale in zip(groups, scales, strict=True)]
        longest = max(longest, float(np.linalg.norm(np.concatenate(clipped))))
    return longest


def energy_by_search(*, sizes, norms, noise_multiplier):
    """Least noise energy over shares s_m of the loss, z_m^-2 = s_m / z^2, by a general search."""
    from scipy.optimize import minimize

    log_cost = np.log(sizes * np.square(norms) * noise_multiplier**2)
    # Shares add up to 1 whatever their logarithms are up to a constant.
    log_energy = lambda x: np.logaddexp.reduce(log_cost - x) + np.logaddexp.reduce(x)
    return math.exp(minimize(log_energy, np.zeros(sizes.size), tol=1e-9).fun)


def std_of_divergence(*, order, epsilon, distance):
    """Where the integral of the Rényi divergence falls to epsilon as the noise grows."""
    scale = distance * order**0.5 / epsilon**0.5
    small = lambda std: oracles.gaussian_renyi(distance, std, order) <= epsilon
    return oracles.smallest(small, low=0.2 * scale, high=5 * scale)
