"""Numbers as text: rounded bounds, groups of three digits, and closeness of two bounds."""

import math

from dplearn.core.guarantee import Guarantee, round_down, round_up

NARROW_SPACE = "\u202f"


def spaced(value: float) -> str:
    """Format a whole number, with a space between groups of three digits."""
    return f"{value:,.0f}".replace(",", NARROW_SPACE)


def bound(value: float, digits: int = 3) -> str:
    """Format a value in `digits` significant digits, rounded up.

    Examples
    --------
    >>> bound(0.94687), bound(1489.2).split(NARROW_SPACE), bound(99.97), bound(math.inf)
    ('0.947', ['1', '490'], '100', '∞')
    """
    if not math.isfinite(value):
        return "∞"
    shown = round_up(value, digits)
    return spaced(float(shown)) if 10**digits <= float(shown) < 1e9 else shown


def epsilon(guarantee: Guarantee, digits: int = 3) -> str:
    """Format the epsilon of a guarantee, with ≈, ≥ or ≲ if it is not a proved upper bound."""
    value, number = guarantee.epsilon, bound(guarantee.epsilon, digits)
    if guarantee.kind in ("approximate", "lower") and value < math.inf:
        number = spaced(value) if 10**digits <= value < 1e9 else f"{value:.{digits}g}"
    sign = {"approximate": "≈", "lower": "≥", "probable": "≲"}.get(guarantee.kind)
    return f"{sign}{NARROW_SPACE}{number}" if sign else number


def floor(guarantee: Guarantee) -> float:
    """Return the proved lower bound on epsilon, or 0 if none is proved."""
    return guarantee.epsilon if guarantee.kind == "exact" else guarantee.lower


def is_certified(guarantee: Guarantee) -> bool:
    """Return whether both an upper and a lower bound on epsilon are proved."""
    exact = guarantee.kind == "exact" and guarantee.epsilon < math.inf
    return exact or 0 < guarantee.lower <= guarantee.epsilon < math.inf


def width(guarantee: Guarantee) -> float:
    """Return the relative width, epsilon / (lower bound) - 1; infinity without a lower bound."""
    return guarantee.epsilon / guarantee.lower - 1 if guarantee.lower > 0 else math.inf


def precision(relative_width: float) -> str:
    """Say in words how close lower and upper bound are, given their relative distance.

    Examples
    --------
    >>> precision(1e-6), precision(0.0), precision(0.35), precision(9.0), precision(math.inf)
    ('exact to 6 digits', 'exact', 'within 35 %', 'within 10 ×', 'upper bound')
    """
    if relative_width == 0:
        return "exact"
    if relative_width < 0.01:
        return f"exact to {_digits(relative_width)} digits"
    if relative_width < 1:
        return f"within {bound(100 * relative_width, 2)} %"
    if relative_width < math.inf:
        return f"within {bound(1 + relative_width, 2)} ×"
    return "upper bound"


def both_ends(guarantee: Guarantee) -> str:
    """Format lower and upper bound in four to seven digits, enough to tell them apart.

    Examples
    --------
    >>> both_ends(Guarantee(epsilon=1.26, lower=1.25, delta=1e-5, kind="bracket", method="pld",
    ...                     adjacency="add_remove"))
    '1.250 ≤ ε ≤ 1.260'
    """
    digits = min(max(_digits(width(guarantee)) + 1, 4), 7)
    ends = round_down(floor(guarantee), digits), round_up(guarantee.epsilon, digits)
    # Keep trailing zeros, so that the text has a constant length while a slider moves.
    low, high = (f"{float(end):#.{digits}g}".rstrip(".") for end in ends)
    return f"{low} ≤ ε ≤ {high}"


def _digits(relative_width: float) -> int:
    """Return how many digits are certain if the bounds have this relative distance."""
    clipped = min(max(relative_width, 1e-12), 1.0)  # a width is infinite if the lower bound is 0
    return math.floor(1e-9 - math.log10(clipped))
