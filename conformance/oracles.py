"""Delta at a given epsilon by enumeration or in closed form, independent of the package."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath.ctx_mp import MPContext

Case = dict
mp = MPContext()
mp.dps = 60
# Most nodes of a composed law, and nodes of one step.
_MOST, _NODES = 2**22, 4096


def oracle(case: Case) -> Callable[[str], float] | None:
    """Delta at an epsilon, written as a decimal number; None where there is no oracle."""
    if case["family"] == "poisson_gaussian" and case["T"] > 1:
        return None
    laws = {
        "gaussian": _gaussian,
        "poisson_gaussian": _gaussian,
        "randomized_response": lambda case: _binary(case, mp.mpf(case["epsilon0"])),
        "discrete_laplace": lambda case: _binary(case, 1 / mp.mpf(case["b"])),
        "discrete_gaussian": _whole_numbers,
        "laplace": _dots,
        "poisson_laplace": _dots,
    }
    return laws[case["family"]](case)


def _sampled(plain: Callable, q: float) -> tuple[Callable, Callable]:
    """Profiles of a sampled release, remove and add, as functions of e^epsilon."""

    def add(e):
        rest = 1 - e * (1 - q)
        return rest * plain(e * q / rest)

    return lambda e: q * plain((e - 1 + q) / q), add


def _gaussian(case: Case) -> Callable[[str], float]:
    """The Gaussian of all releases, whose means are sqrt(T) apart, or one that is sampled."""
    mu, q = mp.sqrt(case["T"]) / mp.mpf(case["sigma"]), mp.mpf(case.get("q", 1))
    plain = lambda e: mp.ncdf(mu / 2 - mp.log(e) / mu) - e * mp.ncdf(-mu / 2 - mp.log(e) / mu)
    remove, add = _sampled(plain, q)

    def delta(epsilon: str) -> float:
        e = mp.exp(mp.mpf(epsilon))
        # Beyond e = 1 / (1 - q) an added record leaks nothing.
        return max(remove(e), add(e)) if e * (1 - q) < 1 else remove(e)

    return delta


def _binary(case: Case, size: Any) -> Callable[[str], float]:
    """T losses of +-size: of k true answers the sum is (2k - T) size."""
    steps = case["T"]

    def delta(epsilon: str) -> float:
        e, total = mp.mpf(epsilon), 0
        chance = (1 + mp.exp(-size)) ** -steps
        for k in range(steps, -1, -1):
            if (2 * k - steps) * size <= e:
                break
            total -= chance * mp.expm1(e - (2 * k - steps) * size)
            chance *= k * mp.exp(-size) / (steps - k + 1)
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
    return _above((law, (2 * total + steps) / (2 * sigma**2)))


def _above(*laws: tuple[np.ndarray, np.ndarray]) -> Callable[[str], float]:
    """The larger delta of two laws of a loss, each given by masses and values."""
    return lambda epsilon: max(
        math.fsum(law * -np.expm1(np.minimum(float(epsilon) - loss, 0))) for law, loss in laws
    )


def _dots(case: Case) -> Callable[[str], float]:
    """(Sampled) Laplace: the dots of both profiles connected, composed without folding."""
    a, q = 1 / float(case["b"]), float(case.get("q", 1))
    remove, add = _sampled(lambda e: 1 - np.sqrt(e * math.exp(-a)), q)
    first, last = np.log1p(q * np.expm1([-a, a]))
    steps = case["T"]
    return _above(_composed(remove, first, last, steps), _composed(add, -last, -first, steps))


def _composed(
    profile: Callable, first: float, last: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Law and values of the composed loss, whose profile has straight lines between the dots."""
    grid = np.linspace(first, last, min(_NODES, _MOST // steps))
    e = np.exp(grid)
    # delta is the sum of law_j (1 - e / e_j)+, so its slope grows by law_j / e_j at e_j.
    slopes = np.diff(profile(e), prepend=1.0) / np.diff(e, prepend=0.0)
    law = np.maximum(e * np.diff(slopes, append=0.0), 0)
    count = steps * (law.size - 1) + 1
    size = 1 << (count - 1).bit_length()
    power = np.fft.irfft(np.fft.rfft(law, size) ** steps, size)[:count]
    return np.maximum(power, 0), np.linspace(steps * first, steps * last, count)
