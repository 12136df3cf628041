"""Where labels go: a column that never overlaps, and the clearest spot beside a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Box(NamedTuple):
    """A rectangle in pixels, by its centre."""

    x: float
    y: float
    width: float
    height: float

    def ink(self, points: NDArray) -> int:
        """How many of the points, shape (n, 2), lie inside."""
        near = np.abs(points - (self.x, self.y)) < (self.width / 2, self.height / 2)
        return int(np.count_nonzero(near.all(axis=1)))

    def outline(self) -> NDArray:
        """Points that keep other boxes away, shape (n, 2)."""
        x = np.linspace(self.x - self.width / 2, self.x + self.width / 2, 9)
        y = np.linspace(self.y - self.height / 2, self.y + self.height / 2, 3)
        return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def clearest(boxes: Sequence[Box], points: NDArray, *, width: float, height: float) -> int:
    """Index of the box that covers the fewest points; the first among equals.

    A box that sticks out of the area [0, width] x [0, height] counts as covered.

    Examples
    --------
    >>> boxes = [Box(5.0, 5.0, 4.0, 4.0), Box(15.0, 5.0, 4.0, 4.0)]
    >>> clearest(boxes, np.array([[5.0, 5.0]]), width=20.0, height=10.0)
    1
    """

    def cost(box: Box) -> int:
        inside = (
            box.width / 2 <= box.x <= width - box.width / 2
            and box.height / 2 <= box.y <= height - box.height / 2
        )
        return box.ink(points) + (0 if inside else 1000)

    return min(range(len(boxes)), key=lambda i: cost(boxes[i]))


def spread(wanted: Sequence[float], *, gap: float, lower: float, upper: float) -> list[float]:
    """Positions closest to `wanted` in the least-squares sense, at least `gap` apart.

    Parameters
    ----------
    wanted : sequence of float
        Positions in any order, in pixels.
    gap : float
        Smallest distance; shrunk where [lower, upper] has no room for it.
    lower, upper : float
        The column.

    Returns
    -------
    list of float
        In the order of `wanted`; equal wishes keep their order.

    Examples
    --------
    >>> spread([10.0, 12.0, 90.0], gap=10.0, lower=0.0, upper=100.0)
    [6.0, 16.0, 90.0]
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (upper - lower) / max(len(wanted) - 1, 1))
    room = upper - gap * (len(wanted) - 1)
    # After subtracting i * gap the constraint is "non-decreasing": pool adjacent violators.
    blocks: list[tuple[float, int]] = []
    for rank, i in enumerate(order):
        mean, size = wanted[i] - rank * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    flat = [min(max(mean, lower), room) for mean, size in blocks for _ in range(size)]
    placed = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        placed[i] = flat[rank] + rank * gap
    return placed
