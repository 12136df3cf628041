"""The truth about compositions: every sequence of outcomes, every pair of parts, every chain."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dplearn.book.kit import oracles
from dplearn.book.kit.domains import Drawn


def joint(laws: Iterable[ArrayLike]) -> NDArray:
    """Probability of every sequence of independent outcomes."""
    return reduce(lambda a, b: np.outer(a, b).ravel(), map(np.asarray, laws))


def enumerated_delta(*, epsilons, deltas=None, total=None):
    """Exact delta at epsilon `total`, by default their sum, of worst releases one after another."""
    p, q = _all_sequences(epsilons, deltas)
    total = math.fsum(epsilons) if total is None else total
    return math.fsum(np.maximum(p - math.exp(total) * q, 0.0))


def enumerated_epsilon(*, epsilons, deltas=None, slack=None):
    """Smallest epsilon >= 0 that they allow at delta `slack`, by default the sum of the deltas."""
    p, q = _all_sequences(epsilons, deltas)
    slack = math.fsum([] if deltas is None else deltas) if slack is None else slack
    if slack == 0:
        return float(np.max(np.log(p) - np.log(q)))
    enough = lambda total: math.fsum(np.maximum(p - math.exp(total) * q, 0.0)) <= slack
    return oracles.smallest(enough, low=0.0, high=2 * math.fsum(epsilons))


def delta_of_releases(total, local, steps, paid=0.0):
    """Exact delta at epsilon `total` of worst (local, paid)-releases."""
    return enumerated_delta(epsilons=[local] * steps, deltas=[paid] * steps, total=total)


def coins_epsilon(*, epsilon, steps, slack):
    """Exact epsilon at delta `slack` of randomized responses."""
    enough = lambda e: oracles.coins_delta(epsilon=e, local=epsilon, steps=steps) <= slack
    return oracles.smallest(enough, low=0.0, high=steps * epsilon * (1 + 1e-12))


def _all_sequences(epsilons: Sequence[float], deltas: Sequence[float] | None) -> list[NDArray]:
    deltas = [0.0] * len(epsilons) if deltas is None else deltas
    pairs = [
        oracles.leaky_response(e, d) if d > 0 else oracles.randomized_response(e)
        for e, d in zip(epsilons, deltas, strict=True)
    ]
    return [joint(laws) for laws in zip(*pairs, strict=True)]


def parts_epsilon(*, epsilons, moves=False):
    """Worst event of releases on disjoint parts, when a record comes, or also moves over.

    Each release is a coin that lies less if the record is in its part.
    """
    n = len(epsilons)
    coins = [oracles.randomized_response(e) for e in epsilons]
    # Number of the part that holds the record before and after; n for none of them.
    pairs = itertools.permutations(range(n), 2) if moves else ((i, n) for i in range(n))
    law = lambda holder: joint(coins[i][i != holder] for i in range(n))
    return max(oracles.worst_event_epsilon(law(i), law(j)) for i, j in pairs)


def several(low: float, high: float, *, least: int = 1, most: int = 4) -> Drawn:
    """A few numbers between the ends, in two decimals."""

    def draw(rng: Generator) -> NDArray:
        size = rng.integers(least, most + 1)
        return np.round(np.exp(rng.uniform(math.log(low), math.log(high), size)), 2)

    return Drawn(draw)


_ORDERS = np.geomspace(1e-4, 1e3, 60) + 1


def finite_rho(p: ArrayLike, q: ArrayLike) -> float:
    """The largest D_a / a over a grid of orders above 1, in both orders of the pair."""
    pair = np.log(p)[:, None], np.log(q)[:, None]
    logs = [np.logaddexp.reduce(_ORDERS * a + (1 - _ORDERS) * b) for a, b in (pair, pair[::-1])]
    return float(np.max(np.maximum(*logs) / (_ORDERS - 1) / _ORDERS))


def chain_delta(*, epsilon, delta, group):
    """Exact delta at group * epsilon over chains of `group` neighbours.

    An event of probability x has at most min(e^epsilon x + delta, 1 - e^-epsilon (1 - x - delta))
    under a neighbour: walk the chain from every x.
    """
    start = np.append(0.0, np.geomspace(1e-12, 1.0, 200))
    excess, x = np.zeros_like(start), start
    for step in range(1, group + 1):
        least = math.exp(step * epsilon) * start
        ceiling = 1 - math.exp(-epsilon) * np.maximum(1 - x - delta, 0.0)
        # x - e^(step epsilon) start, without the difference as long as no ceiling is hit.
        excess = np.minimum(math.exp(epsilon) * excess + delta, ceiling - least)
        x = np.minimum(math.exp(epsilon) * x + delta, ceiling)
    return float(np.max(excess))


def coin_rho(*, epsilon):
    """The largest D_a / a of randomized response over orders from 1 on."""
    truth, lie = oracles.randomized_response(epsilon=epsilon)[0]
    excess = np.geomspace(1e-9, 1e4, 400)
    near = np.minimum(excess * epsilon, 1.0)
    # ln E_P[e^((a-1) L)] for L = epsilon with the odds of the truth, else -epsilon.
    moment = np.where(
        excess * epsilon < 1,
        np.log1p(truth * np.expm1(near) + lie * np.expm1(-near)),
        np.logaddexp(math.log(truth) + excess * epsilon, math.log(lie) - excess * epsilon),
    )
    at_one = oracles.mean_loss(p=[truth, lie], q=[lie, truth])
    return max(at_one, float(np.max(moment / (excess * (1 + excess)))))


def gaussians_mu(*, mus):
    """mu of the Gaussian pair with the total variation distance of several Gaussian releases.

    The law of the summed loss is a convolution of N(mu^2/2, mu^2), by the trapezoidal rule.
    """
    *others, last = sorted(mus)
    step = min(mus) / 4
    centre, weights = 0.0, np.ones(1)
    for mu in others:
        half = math.ceil(12 * mu / step)
        z = step * np.arange(-half, half + 1) / mu
        weights = np.convolve(weights, np.exp(-z * z / 2) * step / (mu * math.sqrt(2 * math.pi)))
        centre += mu * mu / 2
    losses = centre + step * (np.arange(weights.size) - weights.size // 2)
    log_last = oracles.log_normal(last * last / 2, last)

    def log_f(x: NDArray) -> NDArray:
        density = np.exp(log_last(x[:, None] - losses)) @ weights
        with np.errstate(divide="ignore"):
            return np.log(density) + np.log(-np.expm1(-x))

    spread = math.fsum(mus)
    distance = math.exp(oracles.gauss(log_f, 0.0, spread**2 + 12 * spread, 24))
    return float(2 * ndtri((1 + distance) / 2))


def adaptive_renyi(*, order, noise, below, above, cut):
    """Rényi divergence of a Gaussian release whose value decides the noise of the next one.

    Both releases move by 1; the second has noise `below` if the first fell below `cut`.
    """
    costs = [(order - 1) * oracles.gaussian_renyi(1.0, std, order) for std in (below, above)]
    log_p, log_q = oracles.log_normal(1.0, noise), oracles.log_normal(0.0, noise)
    log_f = lambda x: order * log_p(x) + (1 - order) * log_q(x) + np.where(x < cut, *costs)
    return oracles.log_integral(log_f, -1e5, 1e5, kinks=[cut]) / (order - 1)


def first_below(bound: Callable[..., ArrayLike], *, epsilon, slack):
    """The number of releases, not rounded, from which `bound` is below the sum; inf if never."""
    at = {"epsilon": epsilon, "slack": slack}
    better = lambda log: bound(**at, steps=math.exp(log)) < math.exp(log) * epsilon
    return math.exp(oracles.smallest(better, low=0.0, high=40 * math.log(10)))
