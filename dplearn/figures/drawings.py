"""Drawings of the lessons that are no charts: people, boxes with arrows, vectors in ball and cube.

Each is SVG without a script. It is shown as a picture with its words as alternative text, which
JupyterLab keeps even where it trusts nothing, and which a screen reader speaks.
"""

import base64
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dplearn.figures.kit.template import GREY, INK, colour_of, transparent

_SIZE = 15
_BLUE, _GREEN, _ORANGE, _RED, _BROWN = (
    colour_of(role) for role in ("exact", "second", "third", "wrong", "other")
)
_TIP = "M0,0 L12,5 L0,10 z"  # of an arrow
# Of arrows, so that none crosses the words around them.
_ANGLES = (-0.3, 2.9, 0.75, 4.2, 1.9, 3.6, 5.1, 2.4)


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


def crowd(groups: Sequence[tuple[str, int, int]], *, title: str) -> Drawing:
    """Little people in groups: a caption, how many people, and how many of them are filled.

    The first group has rows of five, and the others as many rows.
    """
    step, top, left, shapes = 30, 66, 30, []
    rows = math.ceil(groups[0][1] / 5)
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
) -> Drawing:
    """Boxes in columns from left to right, and arrows from box to box; some boxes are strong.

    A box is named by its text, and a line break begins a new line in it.
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


def batch_schemes(schemes: Mapping[str, tuple[NDArray, str, str]], *, title: str) -> Drawing:
    """Batches as rows of dots, a column per record; the last record is red.

    Each scheme has a table batches x records of whether a record is in a batch, a remark on the
    batches and one on the last record.
    """
    shapes, wide, below = [], 190, 0
    for panel, (name, (drawn, batches, hers)) in enumerate(schemes.items()):
        left = 24 + wide * panel
        below = 84 + 20 * len(drawn)
        middle = left + 7 * (drawn.shape[1] - 1)
        for i, row in enumerate(drawn):
            for j, inside in enumerate(row):
                colour = _RED if j == len(row) - 1 else _BLUE
                fill = colour if inside else "white"
                edge = colour if inside or colour == _RED else transparent(GREY, 0.35)
                shapes.append(circle(left + 14 * j, 76 + 20 * i, 5, edge=edge, fill=fill))
        shapes.append(words(middle, 56, name))
        shapes.append(words(middle, below + 8, batches, size=13, colour=GREY))
        shapes.append(words(middle, below + 26, hers, size=13, colour=_RED))
    return Drawing(wide * len(schemes), below + 40, title, shapes)


def whispers(losses: Sequence[float], *, title: str) -> Drawing:
    """Losses of some steps head to tail: above as if each were the largest, below as they are."""
    width = 700
    unit = (width - 60) / (max(losses) * len(losses))
    shapes, steps = [], ([max(losses)] * len(losses), losses)
    for row, (several, colour) in enumerate(zip(steps, (_RED, _BLUE), strict=True)):
        at = 30.0 if row == 0 else 30.0 - unit * min(0.0, *accumulate(losses))
        for i, loss in enumerate(several):
            y = 66 if row == 0 else 116 + 12 * i
            shapes.append(arrow((at, y), (at + unit * loss, y), colour=colour, width=2.4))
            at += unit * loss
    shapes.append(words(30, 92, "every step at its worst", size=13, colour=_RED, anchor="start"))
    beside = "the same steps as they were: gains and losses cancel"
    shapes.append(words(width / 2, 130, beside, size=13, colour=_BLUE, anchor="start"))
    return Drawing(width, 150 + 12 * len(losses), title, shapes)


def moved_mass(rules: Sequence[tuple[str, float, str]], *, title: str) -> Drawing:
    """One cell of a grid of losses for each rule: how much of its mass goes to the right end."""
    shapes = []
    for i, (name, share, remark) in enumerate(rules):
        y = 92 + 66 * i
        shapes.append(words(24, y + 5, name, anchor="start"))
        shapes.append(words(430, y + 5, remark, size=13, anchor="start"))
        shapes.append(arrow((110, y), (400, y), colour=GREY, dash="1 0"))
        shapes += [arrow((at, y - 7), (at, y + 7), dash="1 0") for at in (150, 360)]
        shapes.append(box(255, y - 12, 100, 22, edge=_BLUE, fill=transparent(_BLUE, 0.15)))
        if share < 1:
            look = {"colour": _BROWN, "width": 1 + 3 * (1 - share)}
            shapes.append(arrow((200, y - 18), (152, y - 18), **look))
        if share > 0:
            look = {"colour": _RED, "width": 1 + 3 * share}
            shapes.append(arrow((310, y - 18), (358, y - 18), **look))
    return Drawing(700, 70 + 66 * len(rules), title, shapes)


def clipped_arrows(
    image: NDArray, lengths: Sequence[float], *, max_grad_norm: float, title: str
) -> Drawing:
    """A grey image of one record, and arrows before and after clipping; the first is hers."""
    shapes, x, y, unit = _image(image, 24, 62, 23), 400.0, 155.0, 62 / max_grad_norm
    shapes.append(circle(x, y, 62, edge=GREY, fill=transparent(_BLUE, 0.12)))
    for i, length in enumerate(lengths):
        colour, angle = _BLUE if i else _RED, _ANGLES[i % len(_ANGLES)]
        way = unit * math.cos(angle), unit * math.sin(angle)
        whole, cut = min(length, (140 if i else 290) / unit), min(length, max_grad_norm)
        if length > max_grad_norm:
            far = (x + whole * way[0], y + whole * way[1])
            shapes.append(arrow((x, y), far, colour=transparent(colour, 0.35), width=2))
        near = (x + cut * way[0], y + cut * way[1])
        shapes.append(arrow((x, y), near, colour=colour, width=2.6 if i else 3.4))
    shapes.append(words(676, 50, f"{lengths[0]:.3g} long", colour=_RED, anchor="end"))
    shapes.append(words(x, 270, f"the ball of radius C = {max_grad_norm:g}"))
    shapes.append(words(116, 270, "her digit"))
    return Drawing(700, 285, title, shapes)


def images(pictures: Mapping[str, NDArray], *, title: str) -> Drawing:
    """Grey images of 8 x 8 pixels side by side, 1 is black, above captions of two lines at most."""
    shapes = []
    for rank, (caption, image) in enumerate(pictures.items()):
        shapes += _image(image, 8 + 114 * rank, 46, 12)
        shapes.append(words(56 + 114 * rank, 162, caption, size=13))
    return Drawing(114 * len(pictures), 190, title, shapes)


def _image(image: NDArray, left: float, top: float, step: int) -> list[str]:
    """Pixels between white (0) and black (1), `step` wide, and their frame."""
    shapes = []
    for i, row in enumerate(np.asarray(image)):
        for j, grey in enumerate(np.rint(255 * (1 - np.clip(row, 0, 1))).astype(int)):
            place = f'x="{left + step * j}" y="{top + step * i}"'
            at = f'{place} width="{step + 0.5}" height="{step + 0.5}"'
            shapes.append(f'<rect {at} fill="rgb({grey},{grey},{grey})"/>')
    side = step * len(image)
    frame = box(left + side / 2, top + side / 2, side, side, edge=GREY, fill="none")
    return [*shapes, frame]


def right_angle(sides: tuple[float, float], *, title: str) -> Drawing:
    """Two parts of a row clipped apart, the box of their arrows, and the circle of one C."""
    x, y, r = 60, 255, 190
    a, b = (r * side / math.hypot(*sides) for side in sides)
    quarter = f"M{x + r},{y} A{r},{r} 0 0 0 {x},{y - r}"
    shapes = [
        f'<path d="{quarter}" fill="none" stroke="{GREY}" stroke-width="1.6"/>',
        box(x + a / 2, y - b / 2, a, b, edge=_BLUE, fill=transparent(_BLUE, 0.12)),
        arrow((x, y), (x + a, y), colour=_BLUE, width=3.4),
        arrow((x + a, y), (x + a, y - b), colour=_BLUE, width=3.4),
        arrow((x, y), (x + a, y - b), colour=_RED, width=3),
        words(x + a / 2, y + 22, "hidden layer: C₁"),
    ]
    notes = (
        (_BLUE, "Each layer clipped on its own:\nthe row ends in the box."),
        (_RED, "Its longest row is the diagonal,\nC² = C₁² + C₂²."),
        (GREY, "One C for the whole row:\nthe quarter circle. Same noise."),
    )
    shapes.append(words(x + a - 8, y - 26, "output\nlayer: C₂", size=13, anchor="end"))
    for i, (colour, text) in enumerate(notes):
        shapes.append(words(360, 90 + 62 * i, text, colour=colour, anchor="start"))
    return Drawing(640, 295, title, shapes)


def verdicts(*, title: str) -> Drawing:
    """A claimed bound below, between and above the two proved ends of the truth."""
    shapes, cases = [], (("refuted", 130, _RED), ("undecided", 250, _BROWN))
    for i, (verdict, at, colour) in enumerate((*cases, ("not refuted, here", 380, _BLUE))):
        y = 106 + 58 * i
        shapes.append(arrow((40, y), (470, y), colour=GREY))
        shapes.append(box(250, y, 100, 20, edge=_BLUE, fill=transparent(_BLUE, 0.15)))
        shapes.append(arrow((at, y - 28), (at, y - 11), colour=colour, width=3))
        shapes.append(words(at, y - 32, "claim", size=13, colour=colour))
        shapes.append(words(490, y + 5, verdict, colour=colour, anchor="start"))
    shapes.append(words(250, 252, "the truth lies in the box", size=13, colour=_BLUE))
    return Drawing(640, 266, title, shapes)
