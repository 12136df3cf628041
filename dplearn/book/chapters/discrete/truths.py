"""Slow ways to the truth about whole-number noise: sums over all outputs."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln


def _log_masses(sigma: float, reach: int, centre: float = 0.0) -> NDArray:
    """Log masses of e^(-(k-centre)^2 / 2 sigma^2) on the whole numbers up to `reach`."""
    logs = -0.5 * ((np.arange(-reach, reach + 1.0) - centre) / sigma) ** 2
    return logs - np.logaddexp.reduce(logs)


def _renyi(logs: NDArray, shift: int, order: float) -> float:
    """Rényi divergence of a law on consecutive numbers and itself shifted; by its definition."""
    p, q = logs[: logs.size - shift], logs[shift:]
    return float(np.logaddexp.reduce(order * p + (1 - order) * q)) / (order - 1)


def gaussian_spread(*, sigma, centre=0.0):
    """Variance of a discrete Gaussian, term by term."""
    reach = math.ceil(40 * sigma) + 2
    masses, k = np.exp(_log_masses(sigma, reach, centre)), np.arange(-reach, reach + 1.0) - centre
    return float(masses @ (k - masses @ k) ** 2)


def gaussian_delta(*, sigma, sensitivity, epsilon):
    """Sum of what exceeds, over all outputs."""
    logs = _log_masses(sigma, math.ceil(40 * sigma) + 5 * sensitivity)
    p, q = logs[: logs.size - sensitivity], logs[sensitivity:]
    gains = np.maximum(-np.expm1(np.minimum(epsilon - (p - q), 0.0)), 0.0)
    return float(np.exp(p) @ gains)


def gaussian_renyi(*, sigma, sensitivity, order):
    """Rényi divergence; inf if the two outputs have no value in common."""
    if sensitivity != round(sensitivity):
        return math.inf
    shift = round(sensitivity)
    return _renyi(_log_masses(sigma, math.ceil(40 * sigma + order * shift) + shift), shift, order)


def _sum(sigma: float, clients: int) -> NDArray:
    """Masses of a sum of discrete Gaussians, one after the other."""
    law = one = np.exp(_log_masses(sigma, math.ceil(12 * sigma) + 2))
    for _ in range(clients - 1):
        law = np.convolve(law, one)
    return law


def sum_delta(*, sigma, clients, sensitivity, epsilon):
    """Sum of what exceeds, over all outputs."""
    law, gap = _sum(sigma, clients), np.zeros(sensitivity)
    p, q = np.append(gap, law), np.append(law, gap)
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))


def sum_against_one(*, sigma, clients):
    """Largest log ratio of the law of a sum and one discrete Gaussian, either way.

    The ratio repeats every `clients` numbers, so those around 0 are all.
    """
    law = _sum(sigma, clients)
    middle, reach = law.size // 2, (clients + 1) // 2
    near = slice(middle - reach, middle + reach + 1)
    wide = _log_masses(math.sqrt(clients) * sigma, middle)
    return float(np.max(np.abs(np.log(law[near]) - wide[near])))


def skellam_renyi(*, variance, order, shift):
    """The divergences of all coordinates, which are independent, add up."""
    mean, largest = variance / 2, max(shift)
    reach = math.ceil(3 * order * largest + variance + 12 * math.sqrt(variance)) + 60 + largest
    # The difference of two Poisson counts is k = 0, 1, ... where the first is k + extra.
    extra = np.arange(math.ceil(mean + 12 * math.sqrt(mean)) + 60.0)
    total = np.arange(reach + 1.0)[:, None] + extra
    pairs = (total + extra) * math.log(mean) - gammaln(total + 1) - gammaln(extra + 1) - variance
    half = np.logaddexp.reduce(pairs, axis=1)
    logs = np.concatenate([half[:0:-1], half])
    return sum(_renyi(logs, size, order) for size in shift)
