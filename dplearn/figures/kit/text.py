"""Numbers as a reader meets them on a figure: bounds rounded up, thousands spaced."""

import math

from dplearn.ground.guarantee import Guarantee, round_up

NARROW_SPACE = "\u202f"


def spaced(value: float) -> str:
    """A whole number with spaced thousands.

    Examples
    --------
    >>> spaced(40000).split(NARROW_SPACE)
    ['40', '000']
    """
    return f"{value:,.0f}".replace(",", NARROW_SPACE)


def bound(value: float, digits: int = 3) -> str:
    """`value` in `digits` significant digits, never smaller than it is.

    Examples
    --------
    >>> bound(0.94687), bound(1489.2).split(NARROW_SPACE), bound(99.97), bound(math.inf)
    ('0.947', ['1', '490'], '100', '∞')
    """
    if not math.isfinite(value):
        return "∞"
    shown = round_up(value, digits)
    return spaced(float(shown)) if 10**digits <= float(shown) < 1e9 else shown


def rounded(value: float, digits: int = 3) -> str:
    """A number that is no bound, to the nearest.

    Examples
    --------
    >>> rounded(1.0912), rounded(2287.4).split(NARROW_SPACE)
    ('1.09', ['2', '287'])
    """
    return spaced(value) if 10**digits <= abs(value) < 1e9 else f"{value:.{digits}g}"


def epsilon(guarantee: Guarantee, digits: int = 3) -> str:
    """The epsilon of a guarantee; an approximation never looks like a bound."""
    number = bare(guarantee, digits)
    return number if guarantee.is_bound else f"{relation(guarantee)}{NARROW_SPACE}{number}"


def bare(guarantee: Guarantee, digits: int = 3) -> str:
    """The number alone: rounded up where it is a bound, to the nearest where it is not."""
    nearest = guarantee.kind in ("approximate", "lower") and math.isfinite(guarantee.epsilon)
    return (rounded if nearest else bound)(guarantee.epsilon, digits)


def relation(guarantee: Guarantee) -> str:
    """The sign between epsilon and its number."""
    return {"exact": "=", "approximate": "≈", "lower": "≥", "probable": "≲"}.get(
        guarantee.kind, "≤"
    )
