"""The truth about Gaussian noise: quadrature, walks, vectors of all sizes, searches."""

import itertools
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


def same_renyi(*, noise_multipliers):
    """The single multiplier with the Rényi divergence of order 2 that the groups add up to."""
    return math.fsum(oracles.gaussian_renyi(1.0, z) for z in noise_multipliers) ** -0.5


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
    """Least noise energy over shares s_m of the loss: z_m^-2 = s_m / z^2, moved between pairs."""
    cost = sizes * np.square(norms) * noise_multiplier**2
    share = np.full(sizes.size, 1 / sizes.size)
    for _ in range(60):
        for a, b in itertools.combinations(range(sizes.size), 2):
            both = share[a] + share[b]
            # Golden section for the part that a gets.
            low, high = 0.0, 1.0
            for _ in range(45):
                left, right = high - 0.618 * (high - low), low + 0.618 * (high - low)
                worth = [cost[a] / (t * both) + cost[b] / ((1 - t) * both) for t in (left, right)]
                low, high = (low, right) if worth[0] < worth[1] else (left, high)
            share[a] = both * (low + high) / 2
            share[b] = both - share[a]
    return float(np.sum(cost / share))


def std_of_divergence(*, order, epsilon, distance):
    """Where the integral of the Rényi divergence falls to epsilon as the noise grows."""
    scale = distance * order**0.5 / epsilon**0.5
    small = lambda std: oracles.gaussian_renyi(distance, std, order) <= epsilon
    return oracles.smallest(small, low=0.2 * scale, high=5 * scale)
