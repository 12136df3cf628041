"""Delta at a given epsilon by enumeration or in closed form, independent of the package."""

import math
from collections.abc import Callable

import numpy as np
from mpmath import mp, mpf

# Most nodes of a composed law, and nodes of one step.
_MOST, _NODES = 2**22, 4096
Case = dict


def oracle(case: Case) -> Callable[[str], float] | None:
    """Delta at an epsilon, written as a decimal number; None where there is no oracle."""
    if case["family"] == "poisson_gaussian" and case["T"] > 1:
        return None
    laws = {
        "gaussian": _gaussian,
        "poisson_gaussian": _gaussian,
        "randomized_response": lambda case: _binary(case, mpf(case["epsilon0"])),
        "discrete_laplace": lambda case: _binary(case, 1 / mpf(case["b"])),
        "discrete_gaussian": _whole_numbers,
        "laplace": _dots,
        "poisson_laplace": _dots,
    }
    with mp.workdps(60):
        return laws[case["family"]](case)


def _gaussian(case: Case) -> Callable[[str], float]:
    """(Once sampled) Gaussian, both orders: q or 1 - e^eps (1 - q) times a Gaussian's delta."""
    mu, q = mp.sqrt(case["T"]) / mpf(case["sigma"]), mpf(case.get("q", 1))
    plain = lambda e: mp.ncdf(mu / 2 - mp.log(e) / mu) - e * mp.ncdf(-mu / 2 - mp.log(e) / mu)

    def delta(epsilon: str) -> float:
        with mp.workdps(60):
            e = mp.exp(mpf(epsilon))
            rest = 1 - e * (1 - q)
            remove = q * plain((e - 1 + q) / q)
            return max(remove, rest * plain(e * q / rest)) if rest > 0 else remove

    return delta


def _binary(case: Case, size: mpf) -> Callable[[str], float]:
    """T losses of +-size: of k true answers the sum is (2k - T) size."""
    steps = case["T"]

    def delta(epsilon: str) -> float:
        with mp.workdps(60):
            e, p, total = mpf(epsilon), 1 / (1 + mp.exp(-size)), mpf(0)
            chance = p**steps
            for k in range(steps, -1, -1):
                if (2 * k - steps) * size <= e:
                    break
                total -= chance * mp.expm1(e - (2 * k - steps) * size)
                chance *= mpf(k) / (steps - k + 1) * mp.exp(-size)
            return total

    return delta


def _whole_numbers(case: Case) -> Callable[[str], float]:
    """T discrete Gaussians: their sum by convolution of positive numbers, without cancellation."""
    sigma, steps = float(case["sigma"]), case["T"]
    k = np.arange(-math.ceil(20 * sigma), math.ceil(20 * sigma) + 1)
    one = np.exp(-(k**2) / (2 * sigma**2))
    one /= math.fsum(one)
    law = np.ones(1)
    for bit in f"{steps:b}":
        law = np.convolve(law, law)
        law = np.convolve(law, one) if bit == "1" else law
    total = np.arange(law.size) - law.size // 2
    loss = (2 * total + steps) / (2 * sigma**2)
    return lambda epsilon: math.fsum(law * -np.expm1(np.minimum(float(epsilon) - loss, 0)))


def _dots(case: Case) -> Callable[[str], float]:
    """(Sampled) Laplace: the dots of both profiles connected, composed without folding."""
    both = [_composed(*_masses(case, side), case["T"]) for side in ("remove", "add")]

    def delta(epsilon: str) -> float:
        return max(
            float(np.sum(law * -np.expm1(np.minimum(float(epsilon) - s, 0)))) for law, s in both
        )

    return delta


def _masses(case: Case, side: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of cells of the loss, and the masses of both laws in (edge j, edge j + 1]."""
    a, q = 1 / float(case["b"]), float(case.get("q", 1))
    ends = np.log1p(q * np.expm1([-a, a]))
    edges = np.linspace(*ends, min(_NODES, _MOST // case["T"]))
    # Where the loss of one record removed equals an edge: 0 <= x <= 1, beyond it is constant.
    x = (1 + np.log1p(np.expm1(edges[1:-1]) / q) / a) / 2
    lower = lambda x: np.exp(-a * np.abs(x)) / 2
    zero = np.diff([0.0, *(1 - lower(x)), 1.0])
    one = np.diff([0.0, *lower(1 - x), 1.0])
    mixed = (1 - q) * zero + q * one
    # The least losses are an atom on the first edge, in the first cell.
    if side == "remove":
        return edges, mixed, zero
    return -edges[::-1], zero[::-1], mixed[::-1]


def _composed(
    edges: np.ndarray, p: np.ndarray, q: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Law and values of the composed loss (Doroshenko et al. 2022, Algorithm 1)."""
    h = (edges[-1] - edges[0]) / (edges.size - 1)
    up = np.clip((p - np.exp(edges[:-1]) * q) / -math.expm1(-h), 0, p)
    law = np.append(p - up, 0) + np.append(0, up)
    count = steps * (law.size - 1) + 1
    size = 1 << (count - 1).bit_length()
    power = np.fft.irfft(np.fft.rfft(law, size) ** steps, size)[:count]
    return np.maximum(power, 0), steps * edges[0] + h * np.arange(count)
