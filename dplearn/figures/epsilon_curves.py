"""Epsilon against the number of steps, one curve per accountant."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from dplearn.figures.kit import certificate, text
from dplearn.figures.kit.axes import Axis, Canvas
from dplearn.figures.kit.certificate import is_certified
from dplearn.figures.kit.labels import beside, ink_under, spread
from dplearn.figures.kit.marks import gaps, markers, stroke, upright
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import CLEAR, INK, RED, style_of, transparent
from dplearn.ground.guarantee import Guarantee

# Curves that end further than this above the tightest bound leave the picture: what is worth
# comparing would be squeezed into one line otherwise.
_ABOVE = 50.0
_BELOW = 300.0


Curves = Mapping[str, Sequence[Guarantee]]
_MARGIN, _HEIGHT = (66, 190, 74, 52), 480
_GAP = 22.0
_PLACE = {"x": 1, "xref": "paper", "xanchor": "left"}


@dataclass(frozen=True)
class Published:
    """A figure printed somewhere, drawn as a point with a label beside it."""

    steps: int
    epsilon: float  # as printed, in nats
    label: str = ""
    note: str = ""  # source and result of a check, on hover


class End(NamedTuple):
    """The end of an accountant's curve: its height, words beside it and perhaps a smaller note."""

    name: str
    value: float
    words: str
    note: str = ""


def epsilon_curves(
    curves: Curves,
    steps: Sequence[int],
    *,
    published: Sequence[Published] = (),
    here: int | None = None,
    reference: str | None = None,
    finding: str = "",
    subtitle: str = "",
) -> go.Figure:
    """Curves of epsilon over the number of steps; draws results and computes none.

    The curves are an accountant's guarantees, entry i at the increasing ``steps[i]``: bounds
    become solid lines, anything else is dashed, an infinite epsilon leaves a gap. The `reference`,
    one of the curves, lies in a band between its two ends where it is proved from both sides,
    never thinner than a soft line, and a note says how sharp it is.

    At `here`, one of the steps, stands a vertical line, and its values are the ones written
    beside the curves; by default the last step's, without a line. The finding is the title, by
    default how many bounds and approximations there are; the subtitle tells the run, so that a
    saved picture speaks for itself.

    The traces are the band of the reference if there is one, one per accountant in the order of
    `curves`, then two of points: at `here`, and published. Their number does not depend on the
    values. A ValueError says that what is given does not fit together.

    Examples
    --------
    >>> from dplearn.ground.guarantee import Guarantee
    >>> line = [Guarantee(epsilon=e, delta=1e-5, kind="upper", method="rdp",
    ...                   adjacency="add_remove") for e in (0.5, 1.0)]
    >>> figure = epsilon_curves({"rdp": line}, [10, 100], here=10)
    >>> len(figure.data), figure.layout.title.text
    (3, '<b>Same run, same δ: one bound on ε</b>')
    """
    steps = [int(t) for t in steps]
    _check(curves, steps, here, reference)
    canvas = _canvas_of(steps, _epsilon_axis(curves, [p.epsilon for p in published]))
    index = len(steps) - 1 if here is None else steps.index(here)
    traces = [_band(reference, curves[reference], steps)] if reference else []
    traces += [_line(name, curve, steps) for name, curve in curves.items()]
    traces.append(_dots({n: c[index].epsilon for n, c in curves.items()}, here))
    traces.append(_published(published))
    below = {reference: _sharpness(curves[reference], steps, canvas)} if reference else {}
    names = _column("ε", steps[index], _ends(curves, index, below), canvas)
    notes = _notes(curves, steps, canvas, published, here)
    bounds = sum(all(g.is_bound for g in c) for c in curves.values())
    others = len(curves) - bounds
    tail = f" and {text.counted(others, 'approximation')}" if others else ""
    title = finding or f"Same run, same δ: {text.counted(bounds, 'bound')} on ε{tail}"
    more = {"shapes": [upright(here)], "annotations": [*names, *notes], "margin": _MARGIN}
    return one_panel(traces, canvas.x, canvas.y, title, subtitle, size=19, height=_HEIGHT, **more)


def _check(curves: Curves, steps: Sequence[int], here: int | None, reference: str | None) -> None:
    for name, curve in curves.items():
        if len(curve) != len(steps):
            raise ValueError(f"Expected {len(steps)} values for {name}, got {len(curve)}.")
    if not steps:
        raise ValueError("Expected at least one number of steps, got none.")
    if here is not None and here not in steps:
        raise ValueError(f"Expected here among steps, got here={here!r}.")
    if reference is not None and reference not in curves:
        raise ValueError(f"Expected reference among the curves, got reference={reference!r}.")


def _epsilon_axis(curves: Curves, inside: Sequence[float]) -> Axis:
    """An axis with the tightest bound, every value `inside`, and what is near."""
    ends = [c[-1].epsilon for c in curves.values() if 0 < c[-1].epsilon < math.inf]
    bounds = [c[-1].epsilon for c in curves.values() if c[-1].is_bound and c[-1].epsilon > 0]
    tightest = min([e for e in bounds if e < math.inf] or ends or [1.0])
    inside = [e for e in inside if 0 < e < math.inf]
    upper = max([min(max(ends, default=tightest), _ABOVE * tightest), *inside])
    lowest = min((g.epsilon for c in curves.values() for g in c if g.epsilon > 0), default=tightest)
    lower = min([max(lowest, tightest / _BELOW), *inside])
    dashed = not all(g.is_bound for c in curves.values() for g in c)
    return Axis(
        title="ε (nats), upper bound" + (" unless dashed" if dashed else ""),
        lower=min(lower, upper / 2) * 0.85,
        upper=upper * 1.25,
        log=True,
    )


def _hover(guarantee: Guarantee) -> str:
    order = guarantee.details.get("order")
    won = f"<br>order α = {order:g}" if order is not None else ""
    if guarantee.kind == "bracket":
        sharp = certificate.precision(certificate.width(guarantee))
        return f"{certificate.both_ends(guarantee)}<br>proved from both sides, {sharp}{won}"
    kind = "an approximation, not a bound" if guarantee.kind == "approximate" else guarantee.kind
    return f"ε {text.relation(guarantee)} {text.bare(guarantee, 4)} ({kind}){won}"


def _band(name: str, curve: Sequence[Guarantee], steps: Sequence[int]) -> dict[str, Any]:
    """A filled line around each stretch proved from both sides, wide enough to be seen."""
    corners: list[tuple[int | None, float | None]] = []
    for stretch in _stretches(curve, steps):
        upper = [(t, g.epsilon) for t, g in stretch]
        lower = [(t, certificate.floor(g)) for t, g in stretch]
        corners += [*upper, *reversed(lower), (None, None)]
    x, y = [t for t, _ in corners], [e for _, e in corners]
    colour = transparent(style_of(name).colour, 0.22)
    outlined = {"mode": "lines", "line": {"color": colour, "width": 9}, "hoverinfo": "skip"}
    filled = {"fill": "toself", "fillcolor": colour}
    return {"name": "certified", "x": x, "y": y, **outlined, **filled}


def _published(published: Sequence[Published]) -> dict[str, Any]:
    x, y = [p.steps for p in published], [p.epsilon for p in published]
    look = {"symbol": "circle-open", "size": 17, "colour": RED, "edge": (2.5,)}
    look["customdata"] = [p.note for p in published]
    hover = "published: ε = %{y}<br>T = %{x:,}<br>%{customdata}<extra></extra>"
    return markers(x, y, "published", **look, hovertemplate=hover)


def _ends(curves: Curves, index: int, below: Mapping[str, str]) -> list[End]:
    """Name and value beside the end of each curve."""
    ends = []
    for name, curve in curves.items():
        words = f"<b>{text.epsilon(curve[index])}</b> {style_of(name).label}"
        note = below.get(name, "" if curve[index].is_bound else "no bound")
        ends.append(End(name, curve[-1].epsilon, words, note))
    return ends


def _sharpness(curve: Sequence[Guarantee], steps: Sequence[int], canvas: Canvas) -> str:
    """What the reference is, over the part of it that is in view."""
    shown = [(g, t) for g, t in zip(curve, steps, strict=True) if canvas.y.lower <= g.epsilon]
    return certificate.of_curve([g for g, _ in shown], [t for _, t in shown])


def _notes(
    curves: Curves,
    steps: Sequence[int],
    canvas: Canvas,
    published: Sequence[Published],
    here: int | None,
) -> list[dict[str, Any]]:
    """One annotation per labelled published figure, out of the way."""
    lines = [[g.epsilon for g in curve] for curve in curves.values()]
    ink, notes = ink_under(lines, steps, canvas, here), []
    for point in published:
        if point.label and canvas.y.lower <= point.epsilon <= canvas.y.upper:
            note, box = beside(point.label, point.steps, point.epsilon, canvas, ink)
            ink = np.concatenate([ink, box.outline()])
            notes.append({"name": "published", **note})
    return notes


def _canvas_of(steps: Sequence[int], y: Axis) -> Canvas:
    """Axes of T and y; one number of steps gets room on both sides."""
    left, right = float(max(min(steps), 1)), float(max(max(steps), 1))
    if left == right:
        left, right = left / 2, right * 2
    x = Axis(title="T, number of steps", log=True, lower=left, upper=right, named_end=True)
    return Canvas(x, y, float(_HEIGHT - _MARGIN[2] - _MARGIN[3]))


def dash_of(guarantees: Sequence[Guarantee]) -> str:
    """Solid for bounds, dashed for anything that bounds nothing from above."""
    return "solid" if all(g.is_bound for g in guarantees) else "dash"


def _line(name: str, curve: Sequence[Guarantee], steps: Sequence[int]) -> dict[str, Any]:
    """The curve of an accountant, in its colour and with its marker."""
    style = style_of(name)
    look = {"line": stroke(style.colour, dash_of(curve)), "connectgaps": False}
    look["marker"] = {"symbol": style.symbol, "size": 8, "maxdisplayed": 7}
    words = f"<b>{style.label}</b><br>T = %{{x:,}}<br>%{{text}}<extra></extra>"
    at = {"name": style.label, "uid": name, "x": list(steps), "y": gaps([g.epsilon for g in curve])}
    told = {"hovertemplate": words, "text": [_hover(g) for g in curve]}
    return {**at, "mode": "lines+markers", **look, **told}


def _dots(values: Mapping[str, float | None], at: int | None) -> dict[str, Any]:
    """A dot on every curve at the chosen number of steps; none at None."""
    names = [] if at is None else list(values)
    look = {"symbol": "circle", "size": 10, "edge": (1.5, "white"), "hoverinfo": "skip"}
    look["colour"] = [style_of(name).colour for name in names]
    heights = gaps([values[name] for name in names])
    return markers([at] * len(names), heights, "here", **look)


def _stretches(
    curve: Sequence[Guarantee], steps: Sequence[int]
) -> list[list[tuple[int, Guarantee]]]:
    """The runs of neighbouring numbers of steps at which epsilon is proved from both sides."""
    pairs = zip(steps, curve, strict=True)
    return [list(run) for sure, run in groupby(pairs, key=lambda p: is_certified(p[1])) if sure]


def _column(quantity: str, steps: int, ends: Sequence[End], canvas: Canvas) -> list[dict[str, Any]]:
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
