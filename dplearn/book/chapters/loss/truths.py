"""The truth about privacy losses: integrals over densities, sums over outcomes."""

import math

import numpy as np

from dplearn.book.chapters.local.truths import binomial
from dplearn.book.kit import oracles


def loss_cdf(log_p: oracles.Density, log_q: oracles.Density, *, loss, reach, kinks=()):
    """P(L <= loss) for two densities; an atom may be missed by a rounding and still counts."""
    excess = lambda x: log_p(x) - log_q(x) - loss - 1e-13 * (1 + abs(loss))
    inside = lambda x: np.where(excess(x) <= 0, log_p(x), -np.inf)
    kinks = [*kinks, *oracles.sign_changes(excess, -60.0, reach)]
    return math.exp(oracles.log_integral(inside, -60.0, reach, kinks=kinks))


def sampled_coins_deltas(*, local, sample_rate, steps, epsilon):
    """delta of sampled randomized responses, a record removed and added; all counts of truths."""
    truth = 1 / (1 + math.exp(-local))
    a, b = sample_rate * truth + (1 - sample_rate) * (1 - truth), 1 - truth
    laws = [binomial(steps, rate) for rate in (a, b)]
    gains = (x - math.exp(epsilon) * y for x, y in (laws, laws[::-1]))
    return [float(np.sum(np.maximum(gain, 0.0))) for gain in gains]


def delta_by_convolution(*, mu_1, mu_2, epsilon):
    """E[(1 - e^(epsilon - L1 - L2))+] over the plane of two normal losses."""
    mu_1, mu_2 = sorted((mu_1, mu_2))  # the inner integral is smooth on the scale of mu_2
    x, w = oracles.legendre(200)
    first = mu_1**2 / 2 + 9 * mu_1 * x
    weights = 9 * mu_1 * w * np.exp(oracles.log_normal(mu_1**2 / 2, mu_1)(first))
    high = mu_2**2 / 2 + 9 * mu_2
    low = np.clip(epsilon - first, mu_2**2 / 2 - 9 * mu_2, high)
    # Inner nodes run from where the gain begins, so that nothing has a kink.
    half = 0.5 * (high - low)[:, None]
    second = low[:, None] + half * (1 + x)
    gains = -np.expm1(np.minimum(epsilon - first[:, None] - second, 0.0))
    densities = np.exp(oracles.log_normal(mu_2**2 / 2, mu_2)(second))
    return float(weights @ ((half * densities * gains) @ w))
