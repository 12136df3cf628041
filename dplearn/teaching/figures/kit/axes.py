"""Axes of figures: ends, ticks and positions of values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dplearn.teaching.figures.kit.text import spaced


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Axis of a figure; `lower` and `upper` are its ends in the units of the data."""

    title: str = ""
    lower: float
    upper: float
    log: bool = False
    open: bool = False  # whether Plotly chooses the ends, with room for names of curves
    ticks: Mapping[Any, str] | None = None  # tick labels by value; default: round numbers

    def place(self, value: float) -> float:
        """Convert a data value to Plotly's units: log10 of the value on a logarithmic axis."""
        return math.log10(value) if self.log else value

    def share(self, value: float) -> float:
        """Return the position of a value as a fraction of the axis's length, in [0, 1]."""
        low, high = self.span
        return (self.place(min(max(value, self.lower), self.upper)) - low) / (high - low)

    @cached_property
    def span(self) -> list[float]:
        """Ends of the axis in Plotly's units."""
        return [self.place(self.lower), self.place(self.upper)]

    def layout(self) -> dict[str, Any]:
        """Return Plotly's layout of the axis."""
        ends = {} if self.open else {"range": self.span}
        kind = {"title": {"text": self.title}, "type": "log" if self.log else "linear"}
        ticks = self.ticks
        if ticks is None and self.log:
            places = log_ticks(self.lower, self.upper, inside=not self.open)
            ticks = dict(zip(places, tick_words(places), strict=True)) if len(places) > 1 else None
        if ticks is not None:
            marks: dict[str, Any] = {"tickvals": list(ticks), "ticktext": list(ticks.values())}
        else:
            size = self.lower if self.log else max(abs(self.lower), abs(self.upper))
            marks = {"tickformat": ",.6~g"} if 1e-3 <= size < 1e6 else {}
        return {**kind, **ends, **marks}


def log_ticks(lower: float, upper: float, *, inside: bool = True) -> list[float]:
    """Return ticks in [lower, upper]: powers of ten and, on a short axis, 2 and 5 times powers.

    Examples
    --------
    >>> log_ticks(3, 40), log_ticks(3, 40, inside=False)
    ([5.0, 10.0, 20.0], [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0])
    >>> log_ticks(0.5, 2e4)
    [1.0, 10.0, 100.0, 1000.0, 10000.0]
    """
    first, last = math.floor(math.log10(lower)), math.ceil(math.log10(upper))
    marks = (1, 2, 5) if math.log10(upper / lower) <= 3.05 else (1,)
    powers = range(first, last + 1, 1 + (last - first) // 10)  # at most ten powers
    ticks = [float(f"{m}e{p}") for p in powers for m in marks]
    return [t for t in ticks if lower <= t <= upper] if inside else ticks


def tick_words(ticks: Sequence[float]) -> list[str]:
    """Return labels of ticks: plain numbers if all are short, otherwise powers of ten.

    Examples
    --------
    >>> tick_words([0.2, 10, 500]), tick_words([1e-9, 2e-5, 1])
    (['0.2', '10', '500'], ['10<sup>-9</sup>', '2 · 10<sup>-5</sup>', '1'])
    """
    if min(ticks) >= 1e-4 and max(ticks) < 1e9:
        return [spaced(t) if t >= 1000 else f"{t:g}" for t in ticks]
    parts = (f"{t:.0e}".split("e") for t in ticks)
    powers = [f"{lead} · 10<sup>{int(p)}</sup>".removeprefix("1 · ") for lead, p in parts]
    return [f"{t:g}" if 1 <= t < 100 else power for t, power in zip(ticks, powers, strict=True)]


def spread(wishes: Sequence[float], *, gap: float, lower: float, upper: float) -> list[float]:
    """Return positions of labels, at least `gap` apart and closest to `wishes` in squared error.

    The order of `wishes` is preserved. If [lower, upper] is too short, the gap is smaller.

    Examples
    --------
    >>> spread([10.0, 12.0, 90.0], gap=10.0, lower=0.0, upper=100.0)
    [6.0, 16.0, 90.0]
    """
    if not wishes:
        return []
    from scipy.optimize import isotonic_regression  # slow to import

    gap = min(gap, (upper - lower) / max(len(wishes) - 1, 1))
    order, shares = np.argsort(wishes, kind="stable"), gap * np.arange(len(wishes))
    # Positions are at least `gap` apart if position i minus i * gap is non-decreasing.
    flat = isotonic_regression(np.asarray(wishes, dtype=float)[order] - shares).x
    placed = np.empty(len(wishes))
    placed[order] = np.clip(flat, lower, upper - shares[-1]) + shares
    return placed.tolist()


def log_steps(largest: int) -> list[int]:
    """Return round whole numbers from 1 to `largest`, about ten per decade, in increasing order.

    Examples
    --------
    >>> log_steps(30)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30]
    """
    decades = range(1, math.ceil(math.log10(largest)) + 1)
    mantissas = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # their logarithms are about evenly spaced
    round_ones = {round(m * 10**p) for p in decades for m in mantissas}
    return sorted({t for t in round_ones | set(range(1, 10)) if t < largest} | {largest})
