"""Delta at a given epsilon by enumeration, which shares no code with the engines."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dplearn.book.chapters.discrete import sum_delta
from dplearn.book.kit.oracles import coins_delta

Case = dict[str, Any]
# Most nodes of a composed law, and nodes of one step.
_MOST, _NODES = 2**22, 4096


def agrees(case: Case) -> bool:
    """Whether delta at both ends lies on either side of the case's, up to rounding."""
    target, lower, upper = (float(case[name]) for name in ("delta", "lower", "upper"))
    # Connected dots are above the truth by their spacing, and their transform rounds.
    dots = case["family"] in ("laplace", "poisson_laplace")
    slack = 2e-4 + 2e-13 / target if dots else 1e-11
    enough = delta(case, upper) <= target * (1 + slack)
    return enough and (lower == 0 or delta(case, lower) >= target * (1 - slack))


def delta(case: Case, epsilon: float) -> float:
    """Delta of a case at epsilon."""
    steps = case["T"]
    match case:
        case {"family": "discrete_gaussian", "sigma": size}:
            # Of all outputs only their sum is told apart: it moves by one for each step.
            return sum_delta(sigma=float(size), clients=steps, sensitivity=steps, epsilon=epsilon)
        case {"epsilon0": size}:
            return coins_delta(epsilon, local=float(size), steps=steps)
        case {"family": "discrete_laplace", "b": b}:
            return coins_delta(epsilon, local=1 / float(b), steps=steps)
    laws = _dots(1 / float(case["b"]), float(case.get("q", 1)), steps)
    return max(math.fsum(law * -np.expm1(np.minimum(epsilon - at, 0))) for law, at in laws)


@lru_cache(1)
def _dots(a: float, q: float, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(Sampled) Laplace: the dots of both profiles connected, composed without folding.

    Each law of a composed loss is given by its masses and their places.
    """
    plain = lambda e: 1 - np.sqrt(e * math.exp(-a))
    remove = lambda e: q * plain((e - 1 + q) / q)
    add = lambda e: (1 - e * (1 - q)) * plain(e * q / (1 - e * (1 - q)))
    least, most = np.log1p(q * np.expm1([-a, a]))
    laws = []
    for profile, first, last in ((remove, least, most), (add, -most, -least)):
        grid = np.linspace(first, last, min(_NODES, _MOST // steps))
        e = np.exp(grid)
        # delta is the sum of law_j (1 - e / e_j)+, so its slope grows by law_j / e_j at e_j.
        slopes = np.diff(profile(e), prepend=1.0) / np.diff(e, prepend=0.0)
        law = np.maximum(e * np.diff(slopes, append=0.0), 0)
        count = steps * (law.size - 1) + 1
        size = 1 << (count - 1).bit_length()
        power = np.fft.irfft(np.fft.rfft(law, size) ** steps, size)[:count]
        laws.append((np.maximum(power, 0), np.linspace(steps * first, steps * last, count)))
    return laws
