"""Drawings of the lessons that are no charts: people, boxes with arrows, vectors in ball and cube.

Each is SVG without a script. It is shown as a picture with its words as alternative text, which
JupyterLab keeps even where it trusts nothing, and which a screen reader speaks.
"""

import base64
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from dplearn.figures.kit.template import GREY, INK, colour_of, transparent

_SIZE = 15
_BLUE, _GREEN, _ORANGE = (colour_of(role) for role in ("exact", "second", "third"))
_TIP = "M0,0 L12,5 L0,10 z"  # of an arrow


@dataclass(frozen=True)
class Drawing:
    """Shapes on a white sheet, in pixels from its upper left corner, below a title."""

    width: float
    height: float
    title: str
    shapes: Sequence[str]

    def svg(self, alt: str) -> str:
        """The sheet as an SVG image that names and describes itself."""
        tip = '<marker id="tip" markerUnits="userSpaceOnUse" orient="auto" refX="11" refY="5" '
        tip += 'markerWidth="12" markerHeight="10"'
        tip += f'><path d="{_TIP}" fill="context-stroke"/></marker>'
        size = f'width="{self.width:g}" height="{self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(alt)}" {size}'
            f' viewBox="0 0 {self.width:g} {self.height:g}" font-family="sans-serif">'
            f"<title>{escape(self.title)}</title><desc>{escape(alt)}</desc><defs>{tip}</defs>"
            f'<rect {size} fill="white"/>{words(16, 26, self.title, size=17, anchor="start")}'
            f"{''.join(self.shapes)}</svg>"
        )

    def html(self, alt: str) -> str:
        """The same as a picture that carries its file inside and says `alt`."""
        data = base64.b64encode(self.svg(alt).encode()).decode()
        return (
            f'<img alt="{escape(alt)}" width="{self.width:g}" '
            f'src="data:image/svg+xml;base64,{data}">'
        )


def words(
    x: float, y: float, text: str, *, size: int = _SIZE, colour: str = INK, anchor: str = "middle"
) -> str:
    """`text` whose first base line is at a point; a line break begins a new line."""
    look = f'font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    lines = "".join(
        f'<tspan x="{x:g}" y="{y + 1.25 * size * i:g}">{escape(line)}</tspan>'
        for i, line in enumerate(text.split("\n"))
    )
    return f"<text {look}>{lines}</text>"


def arrow(
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    colour: str = INK,
    width: float = 1.6,
    dash: str = "",
) -> str:
    """A straight arrow; with a dash such as "5 4" a broken line without a tip."""
    way = 'x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}"'.format(*start, *end)
    tip = f'stroke-dasharray="{dash}"' if dash else 'marker-end="url(#tip)"'
    return f'<line {way} stroke="{colour}" stroke-width="{width:g}" {tip}/>'


def box(x: float, y: float, width: float, height: float, *, edge: str, fill: str = "white") -> str:
    """A rectangle with round corners around a centre."""
    at = f'x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {at} rx="6" fill="{fill}" stroke="{edge}" stroke-width="1.6"/>'


def circle(x: float, y: float, radius: float, *, edge: str, fill: str = "none") -> str:
    """A circle around a centre."""
    at = f'cx="{x:g}" cy="{y:g}" r="{radius:g}"'
    return f'<circle {at} fill="{fill}" stroke="{edge}" stroke-width="1.6"/>'


def crowd(groups: Sequence[tuple[str, int, int]], *, title: str, columns: int = 5) -> Drawing:
    """Little people in groups: a caption, how many people, and how many of them are filled.

    Each group has rows of `columns`, but groups stand beside each other with equal numbers of rows.
    """
    step, top, left, shapes = 30, 66, 30, []
    rows = math.ceil(groups[0][1] / columns)
    for (caption, people, filled), colour in zip(groups, (_BLUE, _ORANGE, _GREEN), strict=False):
        wide = math.ceil(people / rows)
        for i in range(people):
            x, y = left + step * (i // rows), top + step * (i % rows)
            fill = colour if i < filled else "white"
            shapes.append(circle(x, y, 5.5, edge=colour, fill=fill))
            body = f"M{x - 8},{y + 17} a8,10 0 0 1 16,0 z"
            shapes.append(f'<path d="{body}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>')
        below = top + step * rows + 14
        shapes.append(words(left - 10, below, caption, colour=colour, anchor="start"))
        left += step * wide + 40
    return Drawing(max(left - 20, 640), below + 34, title, shapes)


def flow(
    columns: Sequence[Sequence[str]],
    arrows: Sequence[tuple[str, str]],
    *,
    title: str,
    strong: Collection[str] = (),
    width: float = 760,
) -> Drawing:
    """Boxes in columns from left to right, and arrows from box to box; some boxes are strong.

    A box is named by its text, and a line break begins a new line in it.
    """
    tall = max(text.count("\n") for column in columns for text in column)
    gap, most = 52 + 19 * tall, max(map(len, columns))
    height, pitch = gap * most, width / len(columns)
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
        shapes.append(box(x, y, wide, 16 + 19 * lines, edge=edge, fill=fill))
        shapes.append(words(x, y + 5 - 9.4 * (lines - 1), text))
    return Drawing(width, height + 60, title, shapes)


def ball_and_cube(*, title: str) -> Drawing:
    """The vectors of two people: one in the ball of radius C, one in the corner of its cube."""
    x, y, r = 140, 165, 100
    corner, inside = (x + r, y - r), (x + r * math.cos(0.35), y + r * math.sin(0.35))
    shapes = [
        box(x, y, 2 * r, 2 * r, edge=_ORANGE, fill=transparent(_ORANGE, 0.08)),
        circle(x, y, r, edge=_BLUE, fill=transparent(_BLUE, 0.12)),
        arrow((x, y), (x + r, y), colour=GREY, dash="5 4"),
        arrow((x + r, y), corner, colour=GREY, dash="5 4"),
        arrow((x, y), inside, colour=_BLUE, width=2.8),
        arrow((x, y), corner, colour=_ORANGE, width=2.8),
        words(x - 46, y + 64, "ball", colour=_BLUE),
        words(x - 76, y - 80, "cube", colour=_ORANGE),
    ]
    notes = (
        (_BLUE, "Ben: clipped to length C.\nℓ2 length C, in the ball."),
        (_ORANGE, "Anna: each coordinate clipped to C.\nℓ2 length C√2; C√d in d dimensions."),
        (GREY, "Her way along the axes, dashed,\nis her ℓ1 length 2C; C·d in d dimensions."),
    )
    for i, (colour, text) in enumerate(notes):
        shapes.append(words(280, 84 + 74 * i, text, colour=colour, anchor="start"))
    return Drawing(640, 285, title, shapes)
