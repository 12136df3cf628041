"""The frame of the epsilon-against-steps figure: what is in view, and where a value lies in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dplearn.ground.guarantee import Guarantee

HEIGHT = 480
MARGIN = {"l": 66, "r": 190, "t": 74, "b": 52}
# The width is the reader's; labels are placed as if it were this one.
TYPICAL_WIDTH = 640.0
# Curves that end further than this above the tightest bound leave the frame: what is
# worth comparing would be squeezed into one line otherwise.
_ABOVE = {True: 50.0, False: 4.0}
_BELOW = 300.0
# Points of ink between two numbers of steps: dense enough that no curve slips through a box.
_FILL = 6


@dataclass(frozen=True)
class Frame:
    """Both axes: kind and range, in data units; and the drawing area's height in pixels."""

    log_x: bool
    log_y: bool
    left: float
    right: float
    lower: float
    upper: float
    height: float

    def axis(self, value: float, log: bool) -> float:
        """A data value as Plotly's ranges and annotations want it."""
        return math.log10(value) if log else value

    def clip(self, epsilon: float) -> float:
        """`epsilon`, moved to the edge of the frame if it lies outside (inf included)."""
        return min(max(epsilon, self.lower), self.upper)

    def pixel(self, epsilon: float) -> float:
        """Height of an epsilon above the x axis, clipped to the frame."""
        low, high = self.axis(self.lower, self.log_y), self.axis(self.upper, self.log_y)
        share = (self.axis(self.clip(epsilon), self.log_y) - low) / (high - low)
        return share * self.height

    def x_pixel(self, steps: float) -> float:
        """Distance of a number of steps from the y axis, at the typical width."""
        left, right = self.x_range
        return (
            TYPICAL_WIDTH * (self.axis(max(steps, self.left), self.log_x) - left) / (right - left)
        )

    @property
    def x_range(self) -> list[float]:
        return [self.axis(self.left, self.log_x), self.axis(self.right, self.log_x)]

    @property
    def y_range(self) -> list[float]:
        return [self.axis(self.lower, self.log_y), self.axis(self.upper, self.log_y)]


def plot_height() -> float:
    """Height of the drawing area of epsilon against steps, in pixels."""
    return HEIGHT - MARGIN["t"] - MARGIN["b"]


def frame(
    curves: Mapping[str, Sequence[Guarantee]],
    steps: Sequence[int],
    wanted: Sequence[float],
    *,
    log_x: bool,
    log_y: bool,
) -> Frame:
    """A frame that shows the tightest bound, every value in `wanted`, and what is near."""
    ends = [c[-1].epsilon for c in curves.values() if 0 < c[-1].epsilon < math.inf]
    bounds = [c[-1].epsilon for c in curves.values() if c[-1].is_bound and c[-1].epsilon > 0]
    tightest = min([e for e in bounds if e < math.inf] or ends or [1.0])
    inside = [e for e in wanted if 0 < e < math.inf]
    upper = max([min(max(ends, default=tightest), _ABOVE[log_y] * tightest), *inside])
    lowest = min((g.epsilon for c in curves.values() for g in c if g.epsilon > 0), default=tightest)
    lower = min([max(lowest, tightest / _BELOW), *inside]) if log_y else 0.0
    left, right = sides(steps, log_x)
    return Frame(
        log_x=log_x,
        log_y=log_y,
        left=left,
        right=right,
        lower=min(lower, upper / 2) * (0.85 if log_y else 1.0),
        upper=upper * (1.25 if log_y else 1.06),
        height=plot_height(),
    )


def sides(steps: Sequence[int], log_x: bool) -> tuple[float, float]:
    """Where the x axis begins and ends; one number of steps gets room on both sides."""
    left, right = float(max(min(steps), 1)), float(max(max(steps), 1))
    if left == right:
        left, right = left / 2, right * 2
    return (left if log_x else 0.0), right


def ink_under(
    lines: Iterable[Sequence[float]], steps: Sequence[int], view: Frame, here: int | None
) -> NDArray:
    """Pixels under the lines and under the vertical one, shape (n, 2)."""
    x, at = np.array([view.x_pixel(t) for t in steps]), np.arange(len(steps))
    dense = np.linspace(0, len(steps) - 1, _FILL * len(steps))
    across = np.interp(dense, at, x)
    found = [np.empty((0, 2))]
    for line in lines:
        y = np.array([view.pixel(value) for value in line])
        found.append(np.column_stack([across, np.interp(dense, at, y)]))
    if here is not None:
        y = np.arange(0.0, view.height, 4.0)
        found.append(np.column_stack([np.full(y.size, view.x_pixel(here)), y]))
    return np.concatenate(found)
