"""Words inside the picture: what is published, and what the budget is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.figures._frame import TYPICAL_WIDTH, Frame, ink_under
from dplearn.figures._labels import Box, clearest
from dplearn.figures.theme import GREY, PUBLISHED
from dplearn.ground.guarantee import Guarantee

Curves = Mapping[str, Sequence[Guarantee]]
_LETTER, _LINE = 7.0, 20.0


@dataclass(frozen=True)
class Published:
    """A figure printed somewhere, to be drawn as a point.

    Parameters
    ----------
    steps : int
    epsilon : float
        As printed, in nats.
    label : str
        Short text beside the point; may be empty.
    note : str
        Longer text on hover: source and what became of a check.
    """

    steps: int
    epsilon: float
    label: str = ""
    note: str = ""


def notes(
    curves: Curves,
    steps: Sequence[int],
    view: Frame,
    *,
    published: Sequence[Published],
    here: int | None,
    budget: float | None,
) -> list[dict[str, Any]]:
    """One annotation per labelled published figure and one for the budget, out of the way."""
    lines = [[g.epsilon for g in curve] for curve in curves.values()]
    covered, found = ink_under(lines, steps, view, here), []
    line = np.empty((0, 2)) if budget is None else _line(budget, view)
    for point in published:
        if point.label and view.lower <= point.epsilon <= view.upper:
            note, box = _beside(point, view, np.concatenate([covered, line]))
            covered = np.concatenate([covered, box.outline()])
            found.append(note)
    if budget is not None:
        found.append(along(f"budget ε = {budget:g}", budget, view, covered, sides=(11, -11)))
    return found


def _line(budget: float, view: Frame) -> NDArray:
    """Pixels under the budget."""
    x = np.arange(0.0, TYPICAL_WIDTH, 4.0)
    return np.column_stack([x, np.full(x.size, view.pixel(budget))])


def _beside(point: Published, view: Frame, covered: NDArray) -> tuple[dict[str, Any], Box]:
    """The label of a published figure, where it covers least."""
    x, y = view.x_pixel(point.steps), view.pixel(point.epsilon)
    width = _LETTER * len(point.label) + 8
    sides = (-0.5 * width - 14, 0.5 * width + 14)
    offsets = [(dx, dy) for dy in (26, 44, 64, -30, 90, -50, -74, 120) for dx in sides]
    boxes = [Box(x + dx, y + dy, width, _LINE) for dx, dy in offsets]
    best = clearest(boxes, covered, width=TYPICAL_WIDTH, height=view.height)
    dx, dy = offsets[best]
    note = {
        "text": point.label,
        "x": view.axis(point.steps, view.log_x),
        "y": view.axis(point.epsilon, view.log_y),
        "ax": dx + (8 if dx < 0 else -8),
        "ay": -dy,
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1.2,
        "arrowcolor": PUBLISHED,
        "standoff": 9,
        "font": {"color": PUBLISHED, "size": 13},
    }
    return note, boxes[best]


def fits(label: str, between: tuple[float, float]) -> bool:
    """Whether a name has room between two pixels."""
    return _LETTER * len(label) + 4 <= between[1] - between[0]


def along(
    label: str,
    value: float,
    view: Frame,
    covered: NDArray,
    *,
    sides: Sequence[float],
    between: tuple[float, float] = (0.0, TYPICAL_WIDTH),
) -> dict[str, Any]:
    """A name along a horizontal line, `sides` pixels above it, where it covers least.

    It keeps between two pixels of the line as far as these leave room for it.
    """
    width, y = _LETTER * len(label) + 4, view.pixel(value)
    first, last = between[0] + width / 2, between[1] - width / 2
    centres = [first + share * max(last - first, 0.0) for share in (0.05, 0.25, 0.45, 0.65, 0.85)]
    spots = [(x, side) for x in centres for side in sides]
    boxes = [Box(x, y + side, width, _LINE) for x, side in spots]
    best = clearest(boxes, covered, width=TYPICAL_WIDTH, height=view.height)
    x, side = spots[best]
    return {
        "text": label,
        "x": x / TYPICAL_WIDTH,
        "xref": "paper",
        "xanchor": "center",
        "y": view.axis(value, view.log_y),
        "yshift": side,
        "showarrow": False,
        "font": {"color": GREY, "size": 13},
    }
