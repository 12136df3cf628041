"""SVG drawings for the lessons: people, boxes with arrows, grey images, and basic shapes."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from dplearn.teaching.figures.kit.template import GREY, INK, colour_of, transparent

_BLUE, _GREEN, _ORANGE = map(colour_of, ("exact", "second", "third"))
Point = tuple[float, float]


@dataclass(frozen=True)
class Sheet:
    """Drawing on a white sheet.

    Parameters
    ----------
    width, height : float, size in pixels, > 0
    title : str, title at the top
    shapes : Sequence of str, elements of SVG, in pixels from the upper left corner
    """

    width: float
    height: float
    title: str
    shapes: Sequence[str]

    def svg(self) -> str:
        """Return the sheet as an SVG image with a title."""
        tip = '<marker id="tip" markerUnits="userSpaceOnUse" orient="auto" refX="11" refY="5" '
        tip += 'markerWidth="12" markerHeight="10"'
        tip += '><path d="M0,0 L12,5 L0,10 z" fill="context-stroke"/></marker>'
        size = f'width="{self.width:g}" height="{self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}'
            f' viewBox="0 0 {self.width:g} {self.height:g}" font-family="sans-serif">'
            f"<title>{escape(self.title)}</title><defs>{tip}</defs>"
            f'<rect {size} fill="white"/>{lettering(16, 26, self.title, size=17, anchor="start")}'
            f"{''.join(self.shapes)}</svg>"
        )


def lettering(
    x: float, y: float, text: str, *, size: int = 15, colour: str = INK, anchor: str = "middle"
) -> str:
    """Return lines of text as SVG; the baseline of the first line goes through (x, y)."""
    look = f'font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    lines = "".join(
        f'<tspan x="{x:g}" y="{y + 1.25 * size * i:g}">{escape(line)}</tspan>'
        for i, line in enumerate(text.split("\n"))
    )
    return f"<text {look}>{lines}</text>"


def arrow(
    start: Point, end: Point, *, colour: str = INK, width: float = 1.6, dash: str = ""
) -> str:
    """Draw a straight arrow or, given a `dash` such as "5 4", a dashed line without a tip."""
    way = 'x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}"'.format(*start, *end)
    tip = f'stroke-dasharray="{dash}"' if dash else 'marker-end="url(#tip)"'
    return f'<line {way} stroke="{colour}" stroke-width="{width:g}" {tip}/>'


def rectangle(
    x: float, y: float, width: float, height: float, *, edge: str, fill: str = "white"
) -> str:
    """Draw a rectangle with round corners, centred at (x, y)."""
    at = f'x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {at} rx="6" fill="{fill}" stroke="{edge}" stroke-width="1.6"/>'


def circle(x: float, y: float, radius: float, *, edge: str, fill: str = "none") -> str:
    """Draw a circle centred at (x, y)."""
    at = f'cx="{x:g}" cy="{y:g}" r="{radius:g}"'
    return f'<circle {at} fill="{fill}" stroke="{edge}" stroke-width="1.6"/>'


def crowd(groups: Sequence[tuple[str, int, int]], *, title: str) -> Sheet:
    """Return a drawing with a `title`: people in `groups` (caption, number, number filled)."""
    # The first group has five people per row; all groups have the same number of rows.
    step, top, left, shapes = 30, 66, 30, []
    rows = math.ceil(groups[0][1] / 5)
    below = top + step * rows + 14
    for (caption, people, filled), colour in zip(groups, (_BLUE, _ORANGE, _GREEN), strict=False):
        wide = math.ceil(people / rows)
        for i in range(people):
            x, y = left + step * (i // rows), top + step * (i % rows)
            fill = colour if i < filled else "white"
            shapes.append(circle(x, y, 5.5, edge=colour, fill=fill))
            body = f"M{x - 8},{y + 17} a8,10 0 0 1 16,0 z"
            shapes.append(f'<path d="{body}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>')
        shapes.append(lettering(left - 10, below, caption, colour=colour, anchor="start"))
        left += step * wide + 40
    return Sheet(max(left - 20, 640), below + 34, title, shapes)


def flow(
    columns: Sequence[Sequence[str]],
    arrows: Sequence[tuple[str, str]],
    *,
    title: str,
    strong: Collection[str] = (),
) -> Sheet:
    """Draw boxes in columns from left to right, with arrows between them.

    Parameters
    ----------
    columns : Sequence of Sequence of str, texts of the boxes in each column, with line breaks
    arrows : Sequence of tuple of str, texts of the boxes where an arrow begins and ends
    title : str, title
    strong : Collection of str, texts of boxes in blue, as are the arrows between them
    """
    tall = max(text.count("\n") for column in columns for text in column)
    gap, most = 52 + 19 * tall, max(map(len, columns))
    width, height = 760, gap * most
    pitch = width / len(columns)
    places, shapes = {}, []
    for i, column in enumerate(columns):
        wide = 22 + 8.2 * max(len(line) for text in column for line in text.split("\n"))
        for j, text in enumerate(column):
            at = pitch * (i + 0.5), 44 + height * (j + 0.5) / len(column)
            places[text] = (*at, wide)
    for start, end in arrows:
        (x0, y0, w0), (x1, y1, w1) = places[start], places[end]
        both = start in strong and end in strong
        colour, thick = (_BLUE, 2.8) if both else (GREY, 1.6)
        ends = (x0 + w0 / 2, y0), (x1 - w1 / 2 - 2, y1)
        shapes.append(arrow(*ends, colour=colour, width=thick))
    for text, (x, y, wide) in places.items():
        lines = text.count("\n") + 1
        edge, fill = (_BLUE, transparent(_BLUE, 0.12)) if text in strong else (GREY, "white")
        shapes.append(rectangle(x, y, wide, 16 + 19 * lines, edge=edge, fill=fill))
        shapes.append(lettering(x, y + 5 - 9.4 * (lines - 1), text))
    return Sheet(width, height + 60, title, shapes)


def images(pictures: Mapping[str, NDArray], *, title: str) -> Sheet:
    """Return a drawing with a `title`: grey 8 x 8 `pictures` (1 is black), captions below them."""
    shapes = []
    for rank, (caption, image) in enumerate(pictures.items()):
        shapes += pixels(image, 8 + 114 * rank, 46, 12)
        shapes.append(lettering(56 + 114 * rank, 162, caption, size=13))
    return Sheet(114 * len(pictures), 190, title, shapes)


def pixels(image: NDArray, left: float, top: float, step: int) -> list[str]:
    """Draw an image as squares of `step` pixels, from white (0) to black (1), with a frame."""
    shapes = []
    for i, row in enumerate(np.asarray(image)):
        for j, grey in enumerate(np.rint(255 * (1 - np.clip(row, 0, 1))).astype(int)):
            place = f'x="{left + step * j}" y="{top + step * i}"'
            at = f'{place} width="{step + 0.5}" height="{step + 0.5}"'
            shapes.append(f'<rect {at} fill="rgb({grey},{grey},{grey})"/>')
    side = step * len(image)
    frame = rectangle(left + side / 2, top + side / 2, side, side, edge=GREY, fill="none")
    return [*shapes, frame]
