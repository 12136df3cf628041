"""How many times more epsilon each accountant asks for than what is certified."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dplearn.figures import text
from dplearn.figures._band import stretches
from dplearn.figures._column import End, column, header
from dplearn.figures._frame import MARGIN, Frame, ink_under, sides
from dplearn.figures._layout import axis, look, title, vertical, x_axis
from dplearn.figures._notes import along, fits
from dplearn.figures.certificate import is_certified
from dplearn.figures.excess import finding, ratio, shortfalls, times
from dplearn.figures.theme import GREY, INK, PUBLISHED, dash_of, stroke, style_of, transparent
from dplearn.ground.guarantee import Guarantee

Curves = Mapping[str, Sequence[Guarantee]]
Ratios = Mapping[str, Sequence[float | None]]
HEIGHT = 310
# What lies further above leaves the frame; the last few percent would not be seen otherwise.
_ABOVE, _BELOW = 10.0, 0.05
# In the order of importance: a tick is drawn where the ones before it leave room.
_TICKS = (1, 2, 10, 0.5, 5, 0.1, 1.5, 1.2, 1.1, 3, 0.2, 0.8, 0.9, 20, 50, 100, 1000)
_TICK_GAP = 17.0
_BELOW_ONE = "claims more privacy than there is"


def looseness(
    curves: Curves,
    reference: Sequence[Guarantee],
    steps: Sequence[int],
    *,
    here: int | None = None,
    claims: Collection[str] = (),
    log_x: bool = True,
    ink: str = INK["light"],
) -> go.Figure:
    """Each accountant's epsilon divided by the reference; draws results and computes none.

    Parameters
    ----------
    curves : mapping of str to sequence of Guarantee
        Accountant's name to its guarantees, entry i at ``steps[i]``.
    reference : sequence of Guarantee
        What they are compared with: its lower end, so that no ratio flatters. Where it has
        none, its upper end: then the ratios are "at least".
    steps : sequence of int
        Numbers of steps, increasing, shape (n,).
    here : int, optional
        One of `steps`: marked by a vertical line and read in the title. Default: the last.
    claims : collection of str
        Those of `curves` that are said of the run and do not hold for it: drawn dotted.
    log_x : bool
        Logarithmic T; the ratio always is.
    ink : str
        Colour of words and numbers; the background is transparent.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace per accountant in the order of `curves`, then the points at `here`. Below 1,
        where the reference is certified, the ground is shaded: who is there claims more
        privacy than there is.

    Raises
    ------
    ValueError
        If `reference` and `steps` differ in length.

    Examples
    --------
    >>> from dplearn.ground.guarantee import Guarantee
    >>> ends = {"delta": 1e-5, "adjacency": "add_remove"}
    >>> exact = [Guarantee(epsilon=1.0, kind="exact", method="pld", **ends)]
    >>> rdp = [Guarantee(epsilon=1.094, kind="upper", method="rdp", **ends)]
    >>> looseness({"rdp": rdp}, exact, [100]).layout.title.text
    '<b>At T = 100 RDP asks for 9.4 % more ε than needed</b>'
    """
    if len(reference) != len(steps):
        raise ValueError(f"Expected {len(steps)} values of reference, got {len(reference)}.")
    index = len(steps) - 1 if here is None else list(steps).index(here)
    ratios = {name: list(map(ratio, curve, reference)) for name, curve in curves.items()}
    dashes = {n: "dot" if n in claims else dash_of(curve) for n, curve in curves.items()}
    view = _frame(ratios, steps, log_x)
    return go.Figure(
        {
            "data": [
                *(_line(n, dashes[n], ratios[n], steps) for n in curves),
                _points_here(ratios, steps, index, here is not None),
            ],
            "layout": {
                **look(view, ink, HEIGHT),
                "title": title(*_said(curves, reference, steps, index)) | {"font": {"size": 17}},
                "xaxis": x_axis(view),
                "yaxis": _y_axis(view),
                "shapes": [vertical(here), _one(), *_grounds(reference, steps, view)],
                "annotations": [
                    header("times", steps[index]),
                    *column(_ends(curves, ratios, reference, index), view),
                    _ground_name(curves, reference, ratios, steps, view, here, index, ink),
                ],
            },
        }
    )


def _frame(ratios: Ratios, steps: Sequence[int], log_x: bool) -> Frame:
    known = [r for values in ratios.values() for r in values if r is not None] or [1.0]
    # Who is nearest must be in the picture, however far that is.
    nearest = min((max(v) for v in map(_known, ratios.values()) if v), default=1.0)
    left, right = sides(steps, log_x)
    upper = min(max(max(known), 1.7), max(_ABOVE, nearest))
    return Frame(
        log_x=log_x,
        log_y=True,
        left=left,
        right=right,
        lower=max(min(min(known), 0.78), _BELOW) * 0.88,
        upper=upper * 1.12,
        height=float(HEIGHT - MARGIN["t"] - MARGIN["b"]),
    )


def _known(values: Sequence[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def _said(
    curves: Curves, reference: Sequence[Guarantee], steps: Sequence[int], index: int
) -> tuple[str, str]:
    """The statement, and what is divided by what."""
    now = {name: curve[index] for name, curve in curves.items()}
    by = style_of(reference[index].method).label
    end = "certified lower end" if is_certified(reference[index]) else "upper end"
    subtitle = f"How loose is each accountant? Its ε divided by the {end} of {by}"
    return finding(now, reference[index], steps[index]), subtitle


def _y_axis(view: Frame) -> dict[str, Any]:
    ticks: list[float] = []
    for tick in _TICKS:
        room = all(abs(view.pixel(tick) - view.pixel(t)) >= _TICK_GAP for t in ticks)
        if view.lower <= tick <= view.upper and room:
            ticks.append(tick)
    shown = {"tickvals": sorted(ticks), "ticktext": [f"{t:g} ×" for t in sorted(ticks)]}
    return {**axis("ε / certified ε", True, view.y_range), **shown}


def _line(
    name: str, dash: str, ratios: Sequence[float | None], steps: Sequence[int]
) -> dict[str, Any]:
    style = style_of(name)
    return {
        "type": "scatter",
        "name": style.label,
        "uid": name,
        "x": list(steps),
        "y": ratios,
        "mode": "lines+markers",
        "line": stroke(style.colour, dash),
        "marker": {"symbol": style.symbol, "size": 8, "maxdisplayed": 7},
        "connectgaps": False,
        "hovertemplate": f"<b>{style.label}</b><br>T = %{{x:,}}<br>%{{y:.4~g}} ×<extra></extra>",
    }


def _points_here(ratios: Ratios, steps: Sequence[int], index: int, shown: bool) -> dict[str, Any]:
    names = list(ratios) if shown else []
    line = {"width": 1.5, "color": "white"}
    return {
        "type": "scatter",
        "name": "here",
        "uid": "here",
        "mode": "markers",
        "cliponaxis": False,
        "x": [steps[index]] * len(names),
        "y": [ratios[name][index] for name in names],
        "marker": {"size": 10, "color": [style_of(n).colour for n in names], "line": line},
        "hoverinfo": "skip",
    }


def _one() -> dict[str, Any]:
    """The line of those who ask for exactly what is needed."""
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": 1, "y1": 1}
    return {"type": "line", **ends, "line": {"color": GREY, "width": 1.6}, "layer": "below"}


def _grounds(
    reference: Sequence[Guarantee], steps: Sequence[int], view: Frame
) -> list[dict[str, Any]]:
    """Below 1, wherever the reference is certified."""
    look = {"line": {"width": 0}, "fillcolor": transparent(PUBLISHED, 0.13), "layer": "below"}
    spans = [(run[0][0], run[-1][0]) for run in stretches(reference, steps)]
    return [
        {"type": "rect", "x0": x0, "x1": x1, "y0": view.lower, "y1": 1, **look} for x0, x1 in spans
    ]


def _ends(curves: Curves, ratios: Ratios, reference: Sequence[Guarantee], index: int) -> list[End]:
    sure = is_certified(reference[index])
    ends = []
    for name, curve in curves.items():
        last = next((r for r in reversed(ratios[name]) if r is not None), 1.0)
        gone = curve[-1].epsilon == math.inf
        words = f"<b>{times(ratios[name][index], sure)}</b> {style_of(name).label}"
        ends.append(End(name, math.inf if gone else last, words))
    return ends


def _ground_name(
    curves: Curves,
    reference: Sequence[Guarantee],
    ratios: Ratios,
    steps: Sequence[int],
    view: Frame,
    here: int | None,
    index: int,
    ink: str,
) -> dict[str, Any]:
    """What it means to be below 1, and who is there at the chosen number of steps."""
    missing = shortfalls({n: c[index] for n, c in curves.items()}, reference[index])
    who = ", ".join(
        f"{style_of(n).label} by {text.plain(100 * m, 2)} %" for n, m in missing.items()
    )
    lines = [[view.lower if r is None else r for r in values] for values in ratios.values()]
    depth, covered = view.pixel(1.0), ink_under(lines, steps, view, here)
    # The widest ground, and the longest words that it holds.
    grounds = [
        (view.x_pixel(run[0][0]), view.x_pixel(run[-1][0])) for run in stretches(reference, steps)
    ]
    ground = max(grounds, key=lambda ends: ends[1] - ends[0], default=(0.0, 0.0))
    fitting = [w for w in (f"{_BELOW_ONE}: {who}" if who else "", _BELOW_ONE) if fits(w, ground)]
    sides_ = (-depth / 2, -depth / 4, 12 - depth)
    name = along(next(filter(None, fitting), ""), 1.0, view, covered, sides=sides_, between=ground)
    return {**name, "font": {"color": ink, "size": 13}}
