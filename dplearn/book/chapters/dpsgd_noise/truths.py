"""The truth about private training: clipped gradients, certified runs, moments by integrals."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dplearn.book.chapters.mechanisms.truths import by_norm
from dplearn.book.kit import oracles
from dplearn.book.kit.entry import Interval
from dplearn.engine.contour import SampledGaussian, log_moments


def _largest_change(clipped: NDArray, average: Callable[[NDArray], NDArray]) -> float:
    """Over every record that may leave."""
    others = (np.delete(clipped, k, axis=0) for k in range(len(clipped)))
    return max(float(np.linalg.norm(average(clipped) - average(x))) for x in others)


def needed_noise(*, noise_multiplier, max_grad_norm, expected_batch, dimension, clip=by_norm):
    """noise_multiplier times the sensitivity of the clipped sum over a fixed denominator.

    The gradients are of all sizes, in both directions.
    """
    sizes = np.repeat([1e-6, 1e-2, 1.0, 1e6], 2) * np.tile([1.0, -1.0], 4)
    gradients = sizes[:, None] * (1 + np.random.default_rng(3).random(dimension))
    clipped = clip(gradients, max_grad_norm)
    return noise_multiplier * _largest_change(clipped, lambda g: g.sum(axis=0) / expected_batch)


def change_of_mean(*, max_grad_norm, batch):
    """One gradient against all others, clipped and averaged over those that are there."""
    gradients = np.full((batch, 3), -7e6)
    gradients[0] = 5e6
    return _largest_change(by_norm(gradients, max_grad_norm), lambda g: g.mean(axis=0))


def left_for_the_sum(*, noise_multiplier, bit_noise, shift=0.5):
    """Noise with the order-2 divergence that is left once the count has had its part.

    A shifted bit is 1/2 or -1/2, and 0 for a record that is absent. Both integrals are good to
    1e-11, which is much where little is left.
    """
    whole = oracles.gaussian_renyi(1.0, noise_multiplier)
    left = whole - oracles.gaussian_renyi(shift, bit_noise)
    low, high = left - 1e-11 * whole, left + 1e-11 * whole
    return Interval(high**-0.5, low**-0.5 if low > 0 else math.inf)


def divergence_of_lengths(*, batch, dimension):
    """Order-2 divergence of the lengths of two Gaussian vectors, which tell all there is."""

    def log_length(std: float) -> oracles.Density:
        # Up to a constant that both laws share.
        return lambda r: (
            (dimension - 1) * np.log(r) - r * r / (2 * std**2) - dimension * math.log(std)
        )

    wide, narrow = log_length(1.0), log_length(batch / (batch + 1))
    far = 3 * math.sqrt(dimension) + 40
    norm, moment = (
        oracles.log_integral(f, 1e-9, far) for f in (narrow, lambda r: 2 * wide(r) - narrow(r))
    )
    return moment - norm


def tree_by_counting(*, leaves, noise_multiplier, participations=1):
    """The largest sum over complete nodes of the order-2 divergence of their sums, halved."""
    # Entry i: the record takes part from step i on; a node counts the steps that fall into it.
    starts, total = np.arange(leaves - participations + 1), 0.0
    for size in (1 << level for level in range(leaves.bit_length())):
        for first in range(0, leaves - size + 1, size):
            stop = np.minimum(starts + participations, first + size)
            total = total + np.square(np.maximum(stop - np.maximum(starts, first), 0))
    return 0.5 * oracles.gaussian_renyi(1.0, noise_multiplier) * float(np.max(total))


# A run


ANY_MOMENT = np.geomspace(0.01, 5000.0, 60)
WHOLE_MOMENT = np.append(1.0, np.unique(np.round(np.geomspace(2.0, 2000.0, 60))))


def _log_moment(moment, noise_multiplier, sample_rate) -> NDArray:
    """K(lambda) of one step by an integral."""
    if sample_rate == 1:
        return moment * (moment + 1) / (2 * noise_multiplier**2)
    return log_moments(SampledGaussian(noise_multiplier, sample_rate, "remove"), moment)


_per_moment = lambda total, log, m: (total + log) / m


def least_epsilon(moments, bound=_per_moment, *, noise_multiplier, sample_rate, steps, delta):
    """The least bound(T K(m), ln(1/delta), m) on a grid, then between the best one's neighbours."""

    def epsilon_at(m: NDArray) -> NDArray:
        return bound(steps * _log_moment(m, noise_multiplier, sample_rate), -math.log(delta), m)

    whole = bool(np.all(moments == np.round(moments)))
    for _ in range(1 if whole else 3):
        k = int(np.argmin(epsilon_at(moments)))
        low, high = moments[max(k - 1, 0)], moments[min(k + 1, moments.size - 1)]
        moments = np.arange(low, high + 1) if whole else np.linspace(low, high, 50)
    return float(np.min(epsilon_at(moments)))
