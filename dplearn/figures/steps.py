"""Numbers of steps at which a curve is worth knowing."""

from __future__ import annotations

import math
from collections.abc import Iterable

# Round numbers, about evenly spaced in the logarithm.
MANTISSAS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


def log_steps(largest: int, *, include: Iterable[int] = ()) -> list[int]:
    """Round whole numbers from 1 to `largest`, ten per power of ten, and the ends.

    Parameters
    ----------
    largest : int
        >= 1; always the last one.
    include : iterable of int
        More numbers of steps, put in their places.

    Examples
    --------
    >>> log_steps(30)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30]
    >>> log_steps(12, include=[11])[-3:]
    [10, 11, 12]
    """
    decades = range(1, math.ceil(math.log10(largest)) + 1)
    round_ones = {round(m * 10**p) for p in decades for m in MANTISSAS}
    return sorted({t for t in round_ones | set(range(1, 10)) if t < largest} | {largest, *include})
