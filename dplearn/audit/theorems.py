"""Theorems behind the audits; the formula book states and checks each of them."""

import math
from collections.abc import Callable
from functools import partial

from scipy.special import betaincinv, ndtr, ndtri

from dplearn.core import validate

# Function from an event's probability P(E) to the least Q(E) that a trade-off curve allows.
Least = Callable[[float], float]


def audit_epsilon(
    *, false_positive_rate: float, false_negative_rate: float, delta: float = 0.0
) -> float:
    """Return the least epsilon that allows these error rates (Kairouz et al. 2015, Theorem 2.1)."""
    rates = (false_positive_rate, false_negative_rate), (false_negative_rate, false_positive_rate)
    ratios = ((1 - delta - a, b) for a, b in rates if 1 - delta - a > 0)
    return max([0.0, *(math.log(a / b) if b > 0 else math.inf for a, b in ratios)])


def audit_mu(*, false_positive_rate: float, false_negative_rate: float) -> float:
    """Return the least mu of a Gaussian trade-off curve that allows these error rates."""
    return float(-ndtri(false_positive_rate) - ndtri(false_negative_rate))


def clopper_pearson_upper(*, errors: int, trials: int, confidence: float = 0.95) -> float:
    """Return a limit that the error rate exceeds with probability <= (1 - confidence) / 2."""
    limit = betaincinv(errors + 1, trials - errors, (1 + confidence) / 2)
    return float(limit) if errors < trials else 1.0


def least_of_dp(epsilon: float, delta: float) -> Least:
    """Return the function from p = P(E) to the least Q(E) that (epsilon, delta)-DP allows."""
    grow, shrink = math.exp(epsilon), math.exp(-epsilon)
    return lambda p: max(0.0, (p - delta) * shrink, 1 - delta - grow * (1 - p))


def least_of_gaussian(mu: float) -> Least:
    """Return the function from p = P(E) to the least Q(E) that mu-GDP allows."""
    return lambda p: float(ndtr(ndtri(min(p, 1.0)) - mu))


def allows_guesses(
    least: Least, *, canaries: int, guesses: int, correct: int, chance: float
) -> bool:
    """Return whether a trade-off curve allows `correct` right guesses with probability >= `chance`.

    See Mahloujifar, Melis & Chaudhuri (2024), Appendix, audit_rh_with_cap.
    """
    validate.integer(minimum=1, canaries=canaries)
    validate.integer(minimum=1, maximum=canaries, guesses=guesses)
    validate.integer(minimum=0, maximum=guesses, correct=correct)
    right, wrong = chance * correct / canaries, chance * (guesses - correct) / canaries
    # Allow for rounding, in favour of the audited program.
    limit = guesses / canaries * (1 + 1e-12)
    for i in range(correct - 1, -1, -1):
        more = least(right) - wrong
        if more <= 0 or right + wrong > limit:
            break  # the sum stays the same, or above the limit
        right, wrong = right + i / (guesses - i) * more, wrong + more
    return right + wrong <= limit


def largest_refuted(refutes: Callable[[float], bool]) -> float:
    """Return the largest epsilon, or other parameter, for which `refutes` is true; 0 if none."""
    low, high = 0.0, 1.0
    if not refutes(low):
        return 0.0
    while refutes(high):
        low, high = high, 2 * high
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refutes(middle) else (low, middle)
    return low


def refuted_by_guesses(
    curve: Callable[[float], Least], *, canaries: int, guesses: int, correct: int, chance: float
) -> float:
    """Return the largest epsilon or mu that `correct` right guesses refute, or 0 if none."""
    allows = partial(
        allows_guesses, canaries=canaries, guesses=guesses, correct=correct, chance=chance
    )
    return largest_refuted(lambda strength: not allows(curve(strength)))
