"""Pairs with finitely many outcomes, and what they leak by definition."""

import mpmath as mp
import numpy as np
from scipy.special import gammaln

from dplearn.engine.profile import Profile

EPSILONS = np.concatenate([-np.geomspace(0.01, 9, 12), [0.0], np.geomspace(0.01, 9, 12)])


def of_atoms(p, q):
    with np.errstate(divide="ignore"):
        return Profile.from_atoms(np.log(p), np.log(q))


def delta_by_definition(p, q, epsilon=EPSILONS):
    """sum of (p - e^epsilon q)_+ over the outcomes, at every real epsilon of an array."""
    return np.maximum(p - np.exp(epsilon)[:, None] * q, 0.0).sum(axis=1)


def laws(count=6, size=5):
    """Random pairs of finite laws; every second pair has outcomes only one of them can give."""
    rng = np.random.default_rng(20160701)
    for i in range(count):
        p, q = rng.dirichlet(np.ones(size), 2)
        if i % 2:
            p[0], q[1] = 0.0, 0.0
        yield p / p.sum(), q / q.sum()


LAWS = list(laws())


def mixtures(p, q, weight):
    """Both mixtures of a pair and their reverses: profile, first law, second law."""
    pair, mixed, other = (
        of_atoms(p, q),
        (1 - weight) * q + weight * p,
        (1 - weight) * p + weight * q,
    )
    first, second = pair.mix_first(weight), pair.mix_second(weight)
    yield from [(first, mixed, q), (first.reverse(), q, mixed)]
    yield from [(second, p, other), (second.reverse(), other, p)]


def delta_of_coins(epsilon, *, local_epsilon, steps):
    """delta of `steps` randomized responses, by summing over the number k of truthful answers."""
    k, log_truth = np.arange(steps + 1), -np.log1p(np.exp(-local_epsilon))
    log_count = gammaln(steps + 1) - gammaln(k + 1) - gammaln(steps - k + 1)
    log_p = log_count + k * log_truth + (steps - k) * (log_truth - local_epsilon)
    loss = (2 * k - steps) * local_epsilon
    above = loss > epsilon
    return float(np.exp(log_p[above]) @ -np.expm1(epsilon - loss[above]))


def epsilon_of_coins_in_forty_digits(epsilon, steps, delta):
    """Epsilon at delta of `steps` randomized responses, going down from the largest loss.

    Between two losses delta is linear in e^total.
    """
    with mp.workdps(40):
        ratio = mp.exp(epsilon)
        p = mp.mpf(1) / (1 + 1 / ratio) ** steps
        ahead, behind, ways = p, p / ratio**steps, p
        for k in range(steps, steps // 2, -1):
            if ahead - behind * ratio ** (2 * (k - 1) - steps) > delta:
                return max(mp.log((ahead - delta) / behind), mp.mpf(0))
            ways *= mp.mpf(k) / (steps - k + 1) / ratio
            ahead, behind = ahead + ways, behind + ways / ratio ** (2 * (k - 1) - steps)
    return mp.mpf(0)
