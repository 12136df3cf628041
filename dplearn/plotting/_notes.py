"""Words inside the picture: what is published, and what the budget is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.guarantee import Guarantee
from dplearn.plotting._frame import TYPICAL_WIDTH, Frame, plot_height
from dplearn.plotting._labels import Box, clearest
from dplearn.plotting.theme import GREY, PUBLISHED

Curves = Mapping[str, Sequence[Guarantee]]
_LETTER, _LINE = 7.0, 20.0
# Points of ink between two numbers of steps: dense enough that no curve slips through a box.
_FILL = 6


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
    ink, found = _ink(curves, steps, view, here), []
    line = np.empty((0, 2)) if budget is None else _line(budget, view)
    for point in published:
        if point.label and view.lower <= point.epsilon <= view.upper:
            note, box = _beside(point, view, np.concatenate([ink, line]))
            ink = np.concatenate([ink, box.outline()])
            found.append(note)
    if budget is not None:
        found.append(_on_line(f"budget ε = {budget:g}", budget, view, ink))
    return found


def _ink(curves: Curves, steps: Sequence[int], view: Frame, here: int | None) -> NDArray:
    """Pixels under the curves and the vertical line, shape (n, 2)."""
    x = np.array([view.x_pixel(t) for t in steps])
    dense = np.linspace(0, len(steps) - 1, _FILL * len(steps))
    lines = []
    for curve in curves.values():
        y = np.array([view.pixel(g.epsilon) for g in curve])
        at = np.arange(len(steps))
        lines.append(np.column_stack([np.interp(dense, at, x), np.interp(dense, at, y)]))
    if here is not None:
        y = np.arange(0.0, plot_height(), 4.0)
        lines.append(np.column_stack([np.full(y.size, view.x_pixel(here)), y]))
    return np.concatenate(lines) if lines else np.empty((0, 2))


def _line(budget: float, view: Frame) -> NDArray:
    """Pixels under the budget."""
    x = np.arange(0.0, TYPICAL_WIDTH, 4.0)
    return np.column_stack([x, np.full(x.size, view.pixel(budget))])


def _beside(point: Published, view: Frame, ink: NDArray) -> tuple[dict[str, Any], Box]:
    """The label of a published figure, where it covers least."""
    x, y = view.x_pixel(point.steps), view.pixel(point.epsilon)
    width = _LETTER * len(point.label) + 8
    sides = (-0.5 * width - 14, 0.5 * width + 14)
    offsets = [(dx, dy) for dy in (26, 44, 64, -30, 90, -50, -74, 120) for dx in sides]
    boxes = [Box(x + dx, y + dy, width, _LINE) for dx, dy in offsets]
    best = clearest(boxes, ink, width=TYPICAL_WIDTH, height=plot_height())
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


def _on_line(label: str, budget: float, view: Frame, ink: NDArray) -> dict[str, Any]:
    """The name of the budget, somewhere along its line."""
    width, y = _LETTER * len(label) + 4, view.pixel(budget)
    spots = [(share, side) for share in (0.1, 0.22, 0.34, 0.46, 0.58, 0.7) for side in (11, -11)]
    boxes = [Box(share * TYPICAL_WIDTH, y + side, width, _LINE) for share, side in spots]
    best = clearest(boxes, ink, width=TYPICAL_WIDTH, height=plot_height())
    share, side = spots[best]
    return {
        "text": label,
        "x": share,
        "xref": "paper",
        "xanchor": "center",
        "y": view.axis(budget, view.log_y),
        "yshift": side,
        "showarrow": False,
        "font": {"color": GREY, "size": 13},
    }
