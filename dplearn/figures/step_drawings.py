"""Drawings of the lessons about training: who is in a batch, what is cut, what is seen."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dplearn.figures.drawings import Drawing, arrow, box, circle, words
from dplearn.figures.kit.template import GREY, colour_of, transparent

_BLUE, _RED, _BROWN = (colour_of(role) for role in ("exact", "wrong", "other"))
_PALE = transparent(GREY, 0.35)
# Of arrows, so that none crosses the words around them.
_ANGLES = (-0.3, 2.9, 0.75, 4.2, 1.9, 3.6, 5.1, 2.4)


def batch_schemes(
    schemes: Mapping[str, tuple[NDArray, str, str]], *, title: str, wide: int = 190
) -> Drawing:
    """Batches as rows of dots, a column per record; the last record is red.

    Each scheme has a table batches x records of whether a record is in a batch, a remark on the
    batches and one on the last record.
    """
    shapes, below = [], 0
    for panel, (name, (drawn, batches, hers)) in enumerate(schemes.items()):
        left = 24 + wide * panel
        below = 84 + 20 * len(drawn)
        middle = left + 7 * (drawn.shape[1] - 1)
        for i, row in enumerate(drawn):
            for j, inside in enumerate(row):
                colour = _RED if j == len(row) - 1 else _BLUE
                fill = colour if inside else "white"
                edge = colour if inside or colour == _RED else _PALE
                shapes.append(circle(left + 14 * j, 76 + 20 * i, 5, edge=edge, fill=fill))
        shapes.append(words(middle, 56, name))
        shapes.append(words(middle, below + 8, batches, size=13, colour=GREY))
        shapes.append(words(middle, below + 26, hers, size=13, colour=_RED))
    return Drawing(wide * len(schemes), below + 40, title, shapes)


def whispers(losses: Sequence[float], *, title: str, width: float = 700) -> Drawing:
    """Losses of some steps head to tail: above as if each were the largest, below as they are."""
    unit = (width - 60) / (max(losses) * len(losses))
    shapes, steps = [], ([max(losses)] * len(losses), losses)
    for row, (several, colour) in enumerate(zip(steps, (_RED, _BLUE), strict=True)):
        at = 30.0 if row == 0 else 30.0 - unit * min(0.0, *_sums(losses))
        for i, loss in enumerate(several):
            y = 66 if row == 0 else 116 + 12 * i
            shapes.append(arrow((at, y), (at + unit * loss, y), colour=colour, width=2.4))
            at += unit * loss
    shapes.append(words(30, 92, "every step at its worst", size=13, colour=_RED, anchor="start"))
    beside = "the same steps as they were: gains and losses cancel"
    shapes.append(words(width / 2, 130, beside, size=13, colour=_BLUE, anchor="start"))
    return Drawing(width, 150 + 12 * len(losses), title, shapes)


def _sums(losses: Sequence[float]) -> list[float]:
    """The sum of the first, of the first two, and so on."""
    return [sum(losses[: i + 1]) for i in range(len(losses))]


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
