"""Where labels go: a column that never overlaps, and the spot that covers least."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dplearn.figures.kit.axes import TYPICAL_WIDTH, Canvas
from dplearn.figures.kit.template import GREY, RED

_LETTER, _LINE = 7.0, 20.0
# Points of ink between two values of x: dense enough that no curve slips through a box.
_FILL = 6


class Box(NamedTuple):
    """A rectangle in pixels, by its centre."""

    x: float
    y: float
    width: float
    height: float

    def outline(self) -> NDArray:
        """Points that keep other boxes away, shape (n, 2)."""
        x = np.linspace(self.x - self.width / 2, self.x + self.width / 2, 9)
        y = np.linspace(self.y - self.height / 2, self.y + self.height / 2, 3)
        return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def clearest(boxes: Sequence[Box], points: NDArray, *, width: float, height: float) -> int:
    """Index of the box that covers the fewest points; the first among equals.

    A box that sticks out of the area [0, width] x [0, height] counts as covered.
    """
    costs = []
    for x, y, wide, high in boxes:
        inside = wide / 2 <= x <= width - wide / 2 and high / 2 <= y <= height - high / 2
        covered = np.abs(points - (x, y)) < (wide / 2, high / 2)
        costs.append(int(np.count_nonzero(covered.all(axis=1))) + (0 if inside else 1000))
        if not costs[-1]:
            break  # none is clearer than one that covers nothing
    return costs.index(min(costs))


def spread(wishes: Sequence[float], *, gap: float, lower: float, upper: float) -> list[float]:
    """Positions closest to `wishes` in the least-squares sense, at least `gap` apart.

    They are pixels in the order of the wishes; equal wishes keep theirs. The gap is shrunk
    where [lower, upper] has no room for it.

    Examples
    --------
    >>> spread([10.0, 12.0, 90.0], gap=10.0, lower=0.0, upper=100.0)
    [6.0, 16.0, 90.0]
    """
    if not wishes:
        return []
    from scipy.optimize import isotonic_regression  # Opening the explorer does without it.

    gap = min(gap, (upper - lower) / max(len(wishes) - 1, 1))
    order, shares = np.argsort(wishes, kind="stable"), gap * np.arange(len(wishes))
    # After subtracting i * gap the constraint is "non-decreasing".
    flat = isotonic_regression(np.asarray(wishes, dtype=float)[order] - shares).x
    placed = np.empty(len(wishes))
    placed[order] = np.clip(flat, lower, upper - shares[-1]) + shares
    return placed.tolist()


def ink_under(
    lines: Iterable[Sequence[float]], x: Sequence[float], canvas: Canvas, upright: float | None
) -> NDArray:
    """Pixels under lines over x, and under an upright one, shape (n, 2)."""
    at, dense = np.arange(len(x)), np.linspace(0, len(x) - 1, _FILL * len(x))
    across = np.interp(dense, at, [canvas.x_pixel(value) for value in x])
    ink = [np.empty((0, 2))]
    for line in lines:
        heights = np.interp(dense, at, [canvas.pixel(value) for value in line])
        ink.append(np.column_stack([across, heights]))
    if upright is not None:
        y = np.arange(0.0, canvas.height, 4.0)
        ink.append(np.column_stack([np.full(y.size, canvas.x_pixel(upright)), y]))
    return np.concatenate(ink)


def fits(label: str, between: tuple[float, float]) -> bool:
    """Whether a name has room between two pixels."""
    return _LETTER * len(label) + 4 <= between[1] - between[0]


def along(
    label: str,
    value: float,
    canvas: Canvas,
    ink: NDArray,
    *,
    sides: Sequence[float],
    between: tuple[float, float] = (0.0, TYPICAL_WIDTH),
    colour: str = GREY,
) -> dict[str, Any]:
    """A name along a horizontal line, `sides` pixels above it, where it covers least ink.

    It keeps between two pixels of the line as far as these leave room for it.
    """
    width, y = _LETTER * len(label) + 4, canvas.pixel(value)
    first, last = between[0] + width / 2, between[1] - width / 2
    centres = [first + share * max(last - first, 0.0) for share in (0.05, 0.25, 0.45, 0.65, 0.85)]
    spots = [(x, side) for x in centres for side in sides]
    boxes = [Box(x, y + side, width, _LINE) for x, side in spots]
    x, side = spots[clearest(boxes, ink, width=TYPICAL_WIDTH, height=canvas.height)]
    # Held at the end that is nearer to an axis, which it crosses on no narrower page.
    anchor, shift = ("left", -width / 2) if x < TYPICAL_WIDTH / 2 else ("right", width / 2)
    across = {"x": (x + shift) / TYPICAL_WIDTH, "xref": "paper", "xanchor": anchor}
    up = {"y": canvas.y.place(value), "yshift": side}
    return {"text": label, **across, **up, "font": {"color": colour}}


def beside(
    label: str, x: float, y: float, canvas: Canvas, ink: NDArray
) -> tuple[dict[str, Any], Box]:
    """The label of a point, where it covers least ink, and its place."""
    width = _LETTER * len(label) + 8
    sides = (-0.5 * width - 14, 0.5 * width + 14)
    offsets = [(dx, dy) for dy in (26, 44, 64, -30, 90, -50, -74, 120) for dx in sides]
    boxes = [Box(canvas.x_pixel(x) + dx, canvas.pixel(y) + dy, width, _LINE) for dx, dy in offsets]
    best = clearest(boxes, ink, width=TYPICAL_WIDTH, height=canvas.height)
    dx, dy = offsets[best]
    at = {"x": canvas.x.place(x), "y": canvas.y.place(y)}
    ends = {"ax": dx + (8 if dx < 0 else -8), "ay": -dy, "standoff": 9}
    arrow = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1.2, "arrowcolor": RED, **ends}
    return {"text": label, **at, **arrow, "font": {"color": RED}}, boxes[best]
