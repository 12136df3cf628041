"""Delta at a given epsilon by enumeration, independent of the package."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath.ctx_mp import MPContext

Case = dict[str, Any]
Delta = Callable[[str], float]
mp = MPContext()
mp.dps = 60
# Most nodes of a composed law, and nodes of one step.
_MOST, _NODES = 2**22, 4096


def agrees(case: Case) -> bool:
    """Whether delta at both ends lies on either side of the case's, up to rounding."""
    target, slack = float(case["delta"]), 1e-12
    match case:
        case {"family": "discrete_gaussian", "sigma": sigma}:
            delta = _whole_numbers(float(sigma), case["T"])
        case {"epsilon0": size}:
            delta = _binary(mp.mpf(size), case["T"])
        case {"family": "discrete_laplace", "b": b}:
            delta = _binary(1 / mp.mpf(b), case["T"])
        case {"b": b}:
            delta = _dots(1 / float(b), float(case.get("q", 1)), case["T"])
            # Its dots are above the truth by their spacing, and its transform rounds.
            slack = 2e-4 + 2e-13 / target
    below = float(case["lower"]) == 0 or delta(case["lower"]) >= target * (1 - slack)
    return bool(below and delta(case["upper"]) <= target * (1 + slack))


def _binary(size: Any, steps: int) -> Delta:
    """Losses of +-size: where k of T answers are true their sum is (2k - T) size."""
    lie = 1 / (1 + mp.exp(size))
    law = [
        (mp.binomial(steps, k) * (1 - lie) ** k * lie ** (steps - k), (2 * k - steps) * size)
        for k in range(steps + 1)
    ]
    return lambda epsilon: mp.fsum(
        -mass * mp.expm1(mp.mpf(epsilon) - loss) for mass, loss in law if loss > mp.mpf(epsilon)
    )


def _whole_numbers(sigma: float, steps: int) -> Delta:
    """Discrete Gaussians: their sum by convolution of positive numbers, without cancellation."""
    k = np.arange(-math.ceil(20 * sigma), math.ceil(20 * sigma) + 1)
    one, law = np.exp(-(k**2) / (2 * sigma**2)), np.ones(1)
    for _ in range(steps):
        law = np.convolve(law, one / math.fsum(one))
    total = np.arange(law.size) - law.size // 2
    return _above((law, (2 * total + steps) / (2 * sigma**2)))


def _above(*laws: tuple[np.ndarray, np.ndarray]) -> Delta:
    """The larger delta of two laws of a loss, each given by masses and values."""
    return lambda epsilon: max(
        math.fsum(law * -np.expm1(np.minimum(float(epsilon) - loss, 0))) for law, loss in laws
    )


def _dots(a: float, q: float, steps: int) -> Delta:
    """(Sampled) Laplace: the dots of both profiles connected, composed without folding."""
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
    return _above(*laws)
