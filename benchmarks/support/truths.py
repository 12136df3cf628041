"""What epsilon is at least, and at most, by arguments of one line each.

From below: the probability of any event under both laws, and Cantelli's inequality for the sum of
losses. From above: the largest loss times the number of steps, the chance that the record is never
sampled, the Gaussian that a mechanism hides, and what the other accountants prove.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn import (
    ExponentialMechanism,
    Gaussian,
    Geometric,
    Laplace,
    PoissonSubsampled,
    RandomAllocation,
    RandomizedResponse,
    Shuffled,
    WithoutReplacement,
)
from dplearn.mechanisms import Mechanism, Outputs

# Cells between two corners of a density, and the nodes of one.
CELLS, (NODES, WEIGHTS) = 400, np.polynomial.legendre.leggauss(12)
# Of one step's mean and masses, relative.
QUADRATURE = 1e-12


class Cells(NamedTuple):
    """Masses of events {loss above a threshold} of one step, in logarithms, and the loss's law."""

    log_p: NDArray
    log_q: NDArray
    mean: float
    variance: float


@lru_cache(maxsize=64)
def cells(mechanism: Mechanism, adjacency: str, *, added: bool) -> Cells | None:
    """One step between real neighbours; `added` is the other order of the pair."""
    pairs = _pairs(mechanism, adjacency)
    if not pairs:
        return None
    pair = pairs[0] if not added else pairs[1] if len(pairs) > 1 else pairs[0].reverse()
    x, log_weight = _grid(pair)
    log_p, log_q = pair.log_p(x), pair.log_q(x)
    loss, p = log_p - log_q, np.exp(log_p + log_weight)
    mean = float(np.sum(p * loss))
    order = np.argsort(-np.max(loss, axis=1))
    masses = (np.logaddexp.reduce(m + log_weight, axis=1)[order] for m in (log_p, log_q))
    return Cells(*map(_accumulated, masses), mean, float(np.sum(p * (loss - mean) ** 2)))


def _grid(pair: Outputs) -> tuple[NDArray, NDArray]:
    """Nodes and logarithms of their weights, shape (n_cells, n_nodes)."""
    more = 3 + 0.5 * (pair.upper - pair.lower) if pair.corners else 0
    if pair.whole:
        x = np.arange(pair.lower - math.ceil(more), pair.upper + math.ceil(more) + 1.0)[:, None]
        return x, np.zeros(x.shape)
    corners = np.unique([pair.lower - more, pair.lower, *pair.corners, pair.upper])
    corners = np.append(corners, pair.upper + more)
    ends = np.concatenate([np.linspace(*c, CELLS + 1) for c in pairwise(corners)])
    half = 0.5 * np.diff(ends)[:, None]
    keep = half[:, 0] > 0
    x, weight = ends[:-1, None] + half * (NODES + 1), np.maximum(half, 1e-300) * WEIGHTS
    return x[keep], np.log(weight[keep])


def _accumulated(log_masses: NDArray) -> NDArray:
    """log of the sums of the first masses; near 1 by what is missing."""
    sums = np.minimum(np.logaddexp.accumulate(log_masses), 0.0)
    missing = np.append(np.logaddexp.accumulate(log_masses[::-1])[::-1][1:], -np.inf)
    return np.where(sums > -0.5, np.log1p(-np.minimum(np.exp(missing), 0.5)), sums)


def _pairs(mechanism: Mechanism, adjacency: str) -> tuple[Outputs, ...]:
    """Laws of real neighbours, where they are known: (remove, add) or one for both."""
    norm = 2 if adjacency == "replace_one" else 1
    if isinstance(mechanism, ExponentialMechanism):
        # Of its range, a pair of two answers: losses +-range / 2.
        answer = RandomizedResponse(0.5 * norm * mechanism.range_epsilon)
        return answer.outputs("replace_one")
    if isinstance(mechanism, Shuffled):
        second = 0.0 if adjacency == "replace_one" else 1.0
        return (largest_coordinate(mechanism, second, 2.0),)
    if isinstance(mechanism, RandomAllocation):
        return (largest_coordinate(mechanism, 0.0, 1.0),)
    if isinstance(mechanism, (PoissonSubsampled, WithoutReplacement)):
        (pair, *_), q = _pairs(mechanism.base, adjacency) or (None,), mechanism.sample_rate
        if pair is None or q == 1:
            return () if pair is None else (pair,)
        if isinstance(mechanism, WithoutReplacement):
            return (pair.mix_first(q),)
        return (pair.mix_first(q), pair.reverse().mix_second(q))
    return mechanism.outputs(adjacency)


def largest_coordinate(epoch: Shuffled | RandomAllocation, a: float, b: float) -> Outputs:
    """The largest of B normal numbers, one of which has mean b under P and a under Q."""
    sigma, others = epoch.base.noise_multiplier, epoch.batches - 1.0

    def law(mean: float):
        def log_density(x: NDArray) -> NDArray:
            z, far = x / sigma, (x - mean) / sigma
            log_phi = lambda u: -0.5 * u * u - 0.5 * math.log(2 * math.pi) - math.log(sigma)
            itself = log_phi(far) + others * log_ndtr(z)
            if not others:
                return itself
            other = log_phi(z) + (others - 1) * log_ndtr(z) + log_ndtr(far)
            return np.logaddexp(itself, math.log(others) + other)

        return log_density

    top = sigma * math.sqrt(2 * math.log(epoch.batches))
    return Outputs(law(b), law(a), -9 * sigma, max(b, top) + 9 * sigma, (a, b, top))


def at_least(mechanism: Mechanism, adjacency: str, steps: int, delta: float) -> Iterator[tuple]:
    """(reason, lower bound on the true epsilon) by every argument."""
    for added in (False, True):
        each = [(cells(m, adjacency, added=added), n * steps) for m, n in mechanism.parts()]
        laws = [(law, n) for law, n in each if law is not None and n]
        if laws and delta < 0.6:
            # The sum lies below with a probability of at most 1/101 (Cantelli), and where it is
            # larger by 1 than epsilon, delta is at least 1 - 1/e.
            mean = sum(n * law.mean for law, n in laws)
            variance = sum(n * law.variance for law, n in laws)
            yield "mean loss", mean - 10 * math.sqrt(variance) - 1 - QUADRATURE * abs(mean)
        for law, n in laws:
            yield "in some step", _event(*_in_one_step(law, n), delta)
            yield "in every step", _event(n * law.log_p, n * law.log_q, delta) - QUADRATURE * n


def _in_one_step(law: Cells, steps: int) -> tuple[NDArray, NDArray]:
    """log probabilities that the event happens at least once; under Q an upper bound."""
    never = steps * np.log1p(-np.minimum(np.exp(law.log_p), 1 - 1e-16))
    happens = np.maximum(-np.expm1(never), 1e-300)
    return np.log(happens), np.minimum(math.log(steps) + law.log_q, 0.0)


def _event(log_p: NDArray, log_q: NDArray, delta: float) -> float:
    """The epsilon that an event demands: P(E) <= e^epsilon Q(E) + delta."""
    usable = (log_p > math.log(delta) + 1e-6) & (log_q > -np.inf)
    if not np.any(usable):
        return 0.0
    gain = np.log1p(-np.exp(math.log(delta) - log_p[usable]))
    return float(np.max(log_p[usable] + gain - log_q[usable]))


def at_most(mechanism: Mechanism, adjacency: str, steps: int, delta: float) -> Iterator[tuple]:
    """(reason, upper bound on the true epsilon) by every argument."""
    parts = [(m, n * steps) for m, n in mechanism.parts()]
    yield "largest losses", sum(n * largest_loss(m, adjacency) for m, n in parts if n)
    if all(isinstance(m, PoissonSubsampled) for m, _ in parts):
        rates = [(m.sample_rate, n) for m, n in parts]
        if all(q < 1 for q, _ in rates):
            sampled = -math.expm1(sum(n * math.log1p(-q) for q, n in rates))
            yield "never sampled", 0.0 if sampled < delta * (1 - 1e-9) else math.inf


def largest_loss(mechanism: Mechanism, adjacency: str) -> float:
    """The largest loss of one step, or infinity."""
    norm = 2 if adjacency == "replace_one" else 1
    if isinstance(mechanism, (PoissonSubsampled, WithoutReplacement)):
        inner = largest_loss(mechanism.base, adjacency)
        rest = math.log1p(-q) if (q := mechanism.sample_rate) < 1 else -math.inf
        return float(np.logaddexp(rest, math.log(q) + inner))
    if isinstance(mechanism, RandomizedResponse):
        return mechanism.local_epsilon
    if isinstance(mechanism, (Laplace, Geometric)):
        return norm / mechanism.noise_multiplier
    if isinstance(mechanism, ExponentialMechanism):
        return norm * mechanism.range_epsilon
    return math.inf


def dominating_shift(mechanism: Mechanism, adjacency: str, steps: int) -> float | None:
    """Shift of the Gaussian that all parts together hide, where all hide one."""
    bases = [(getattr(m, "base", m), n * steps) for m, n in mechanism.parts()]
    if not all(isinstance(base, Gaussian) for base, _ in bases):
        return None
    norm = 2 if adjacency == "replace_one" else 1
    return math.sqrt(sum(n * (norm / base.noise_multiplier) ** 2 for base, n in bases))
