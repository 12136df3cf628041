"""What the two figures over the number of steps share: axis, lines, dots, column of names."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import plotly.graph_objects as go

from dplearn.figures.kit import text
from dplearn.figures.kit.axes import Axis, Canvas
from dplearn.figures.kit.certificate import is_certified
from dplearn.figures.kit.labels import spread
from dplearn.figures.kit.marks import gaps, markers, stroke
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import CLEAR, INK, style_of
from dplearn.ground.guarantee import Guarantee

Curves = Mapping[str, Sequence[Guarantee]]
_MARGIN = (66, 190, 74, 52)
_GAP = 22.0
_PLACE = {"x": 1, "xref": "paper", "xanchor": "left"}


def canvas_of(steps: Sequence[int], log: bool, y: Axis, height: int) -> Canvas:
    """Axes of T and y in a figure that is so high; one number of steps gets room on both sides."""
    left, right = float(max(min(steps), 1)), float(max(max(steps), 1))
    if left == right:
        left, right = left / 2, right * 2
    ends = {"lower": left if log else 0.0, "upper": right, "named_end": True}
    x = Axis(title="T, number of steps", log=log, **ends)
    return Canvas(x, y, float(height - _MARGIN[2] - _MARGIN[3]))


def figure(
    canvas: Canvas, traces: Sequence[Any], finding: str, subtitle: str, **more: Any
) -> go.Figure:
    """A figure with room for the column of names; a zoom lasts until an axis changes its kind."""
    height = int(canvas.height) + _MARGIN[2] + _MARGIN[3]
    more |= {"margin": _MARGIN, "uirevision": f"{canvas.x.log} {canvas.y.log}"}
    return one_panel(traces, canvas.x, canvas.y, finding, subtitle, height=height, **more)


def dash_of(guarantees: Sequence[Guarantee]) -> str:
    """Solid for bounds, dashed for anything that bounds nothing from above."""
    return "solid" if all(g.is_bound for g in guarantees) else "dash"


def line_of(
    name: str, steps: Sequence[int], values: Sequence[float | None], dash: str, hover: str
) -> dict[str, Any]:
    """The curve of an accountant, in its colour and with its marker."""
    style = style_of(name)
    look = {"mode": "lines+markers", "line": stroke(style.colour, dash), "connectgaps": False}
    look["marker"] = {"symbol": style.symbol, "size": 8, "maxdisplayed": 7}
    words = f"<b>{style.label}</b><br>T = %{{x:,}}<br>{hover}<extra></extra>"
    at = {"name": style.label, "uid": name, "x": list(steps), "y": values}
    return {**at, **look, "hovertemplate": words}


def dots(values: Mapping[str, float | None], at: int | None) -> dict[str, Any]:
    """A dot on every curve at the chosen number of steps; none at None."""
    names = [] if at is None else list(values)
    look = {"symbol": "circle", "size": 10, "edge": (1.5, "white"), "hoverinfo": "skip"}
    look["colour"] = [style_of(name).colour for name in names]
    heights = gaps([values[name] for name in names])
    return markers([at] * len(names), heights, "here", **look)


def stretches(
    curve: Sequence[Guarantee], steps: Sequence[int]
) -> list[list[tuple[int, Guarantee]]]:
    """The runs of neighbouring numbers of steps at which epsilon is proved from both sides."""
    pairs = zip(steps, curve, strict=True)
    return [list(run) for sure, run in groupby(pairs, key=lambda p: is_certified(p[1])) if sure]


class End(NamedTuple):
    """The end of an accountant's curve: its height, words beside it and perhaps a smaller note."""

    name: str
    value: float
    words: str
    note: str = ""


def column(quantity: str, steps: int, ends: Sequence[End], canvas: Canvas) -> list[dict[str, Any]]:
    """What the values are, words beside each end, with a leader where they moved; then notes.

    A note keeps the place below its words: with the same wish it comes just before them.
    """
    rows = [(end, is_note) for end in sorted(ends, key=lambda e: e.value) for is_note in (1, 0)]
    rows = [(end, is_note) for end, is_note in rows if end.note or not is_note]
    wishes = [canvas.pixel(end.value) for end, _ in rows]
    placed = spread(wishes, gap=_GAP, lower=4.0, upper=canvas.height - 8.0)
    pixels = dict(zip(((end.name, is_note) for end, is_note in rows), placed, strict=True))
    words = [_words(end, canvas, pixels[end.name, 0]) for end in ends]
    small = {"xshift": 16 + 14, "font": {"size": 12.5}}
    at = lambda end: _height(canvas, pixels[end.name, 1] + 4)
    noted = [end for end, is_note in rows if is_note]
    notes = [{"name": f"{e.name} note", "text": e.note, **at(e), **small} for e in noted]
    top = {"y": 1, "yref": "paper", "yanchor": "bottom", "xshift": 16, "yshift": 4}
    return [{"text": f"{quantity} at T = {text.whole(steps)}", **_PLACE, **top}, *words, *notes]


def _height(canvas: Canvas, pixel: float) -> dict[str, Any]:
    """Where a text of the column lies: so many pixels above the x axis."""
    low, high = canvas.y.span
    y = low + (high - low) * pixel / canvas.height
    return {**_PLACE, "y": y, "yref": "y", "yanchor": "middle"}


def _words(end: End, canvas: Canvas, to: float) -> dict[str, Any]:
    style, at = style_of(end.name), canvas.pixel(end.value)
    # A curve that left the picture has no end to lead to: an arrow says where it went.
    gone = "↑ " if end.value > canvas.y.upper else "↓ " if end.value < canvas.y.lower else ""
    glyph = f'<span style="color:{style.colour}">{gone}{style.glyph}</span>'
    leader = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1.4, "ax": 14, "ay": at - to}
    leader["arrowcolor"] = CLEAR if gone else style.colour
    look = {"align": "left", "font": {"size": 14, "color": INK}}
    words = {"name": end.name, "text": f"{glyph} {end.words}"}
    return {**words, **_height(canvas, at), **leader, **look}
