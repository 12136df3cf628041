"""Axes, title, lines and direct labels of the figures over T."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from dplearn.figures import certificate, text
from dplearn.figures._column import End, column, header
from dplearn.figures._frame import HEIGHT, MARGIN, Frame
from dplearn.figures._notes import Published, notes
from dplearn.figures.theme import FONT, GREY, style_of
from dplearn.ground.guarantee import Guarantee

Curves = Mapping[str, Sequence[Guarantee]]
_GRID = "rgba(128,133,144,0.22)"


def layout(
    curves: Curves,
    steps: Sequence[int],
    view: Frame,
    *,
    published: Sequence[Published],
    here: int | None,
    budget: float | None,
    reference: str | None,
    claims: Collection[str],
    finding: str,
    subtitle: str,
    ink: str,
) -> dict[str, Any]:
    """Everything but the traces."""
    index = len(steps) - 1 if here is None else steps.index(here)
    below = dict.fromkeys(claims, "does not hold here")
    if reference:
        below[reference] = _note(curves[reference], steps, view)
    return {
        **look(view, ink, HEIGHT),
        "title": title(finding or _finding(curves), subtitle),
        "xaxis": x_axis(view),
        "yaxis": _y_axis(curves, view),
        "shapes": [vertical(here), _horizontal(budget)],
        "annotations": [
            header("ε", steps[index]),
            *column(_ends(curves, index, below), view),
            *notes(curves, steps, view, published=published, here=here, budget=budget),
        ],
    }


def look(view: Frame, ink: str, height: int) -> dict[str, Any]:
    """What every figure over T shares."""
    return {
        "height": height,
        "margin": MARGIN,
        "font": {"family": FONT, "size": 14, "color": ink},
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": FONT, "size": 15}, "align": "left"},
        "separators": f".{text.NARROW_SPACE}",
        "uirevision": f"{view.log_x} {view.log_y}",
        # A finger that drags the picture scrolls the page; the buttons zoom.
        "dragmode": False,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": GREY},
    }


def _finding(curves: Curves) -> str:
    bounds = sum(all(g.is_bound for g in c) for c in curves.values())
    others = len(curves) - bounds
    tail = f" and {text.counted(others, 'approximation')}" if others else ""
    return f"Same run, same δ: {text.counted(bounds, 'bound')} on ε{tail}"


def title(finding: str, subtitle: str) -> dict[str, Any]:
    """The statement of a figure, and the run it is about."""
    return {
        "text": f"<b>{finding}</b>",
        "subtitle": {"text": subtitle, "font": {"size": 13, "color": GREY}},
        # A long statement must not run into the buttons.
        "font": {"size": 19 if len(finding) <= 60 else 17},
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 14},
    }


def axis(title: str, log: bool, span: list[float]) -> dict[str, Any]:
    """Look and range of an axis."""
    return {
        "title": {"text": title, "font": {"size": 15}},
        "type": "log" if log else "linear",
        "range": span,
        "gridcolor": _GRID,
        "linecolor": GREY,
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "tickcolor": GREY,
    }


def x_axis(view: Frame) -> dict[str, Any]:
    """The axis of T."""
    plain = axis("T, number of steps", view.log_x, view.x_range)
    ticks = _decades(view.left, view.right)
    if not view.log_x or len(ticks) < 2:
        return {**plain, "tickformat": ",.6~g"}
    if view.right > 2 * ticks[-1]:
        ticks = [*ticks, view.right]
    return {**plain, "tickvals": ticks, "ticktext": [text.whole(t) for t in ticks]}


def _y_axis(curves: Curves, view: Frame) -> dict[str, Any]:
    dashed = not all(g.is_bound for c in curves.values() for g in c)
    note = ", upper bound unless dashed" if dashed else ", upper bound"
    plain = axis(f"ε (nats){note}", view.log_y, view.y_range)
    ticks = _decades(view.lower, view.upper)
    if not view.log_y or len(ticks) < 2:
        return {**plain, "tickformat": ",.6~g"}
    return {**plain, "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks]}


def _decades(lower: float, upper: float) -> list[float]:
    """1, 2, 5 times the powers of ten in a range; only the powers when there are many."""
    powers = range(math.floor(math.log10(max(lower, 1e-12))), math.ceil(math.log10(upper)) + 1)
    marks = (1,) if len(powers) > 4 else (1, 2, 5)
    return [t for p in powers for m in marks if lower <= (t := m * 10.0**p) <= upper]


def vertical(here: int | None) -> dict[str, Any]:
    """The line at the chosen number of steps."""
    x = here if here is not None else 1
    line = {"color": GREY, "width": 1.6, "dash": "dot"}
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line, "layer": "below", "visible": here is not None}


def _horizontal(budget: float | None) -> dict[str, Any]:
    y = budget if budget is not None else 1
    line = {"color": GREY, "width": 1.6, "dash": "dashdot"}
    ends = {"y0": y, "y1": y, "x0": 0, "x1": 1, "xref": "paper"}
    return {"type": "line", **ends, "line": line, "layer": "below", "visible": budget is not None}


def _ends(curves: Curves, index: int, below: Mapping[str, str]) -> list[End]:
    """Name and value beside the end of each curve."""
    return [
        End(
            name,
            curve[-1].epsilon,
            f"<b>{text.epsilon(curve[index])}</b> {style_of(name).label}"
            + ("" if curve[index].is_bound or name in below else " (no bound)"),
            below.get(name, ""),
        )
        for name, curve in curves.items()
    ]


def _note(curve: Sequence[Guarantee], steps: Sequence[int], view: Frame) -> str:
    """What the reference is, over the part of it that is in view."""
    seen = [(g, t) for g, t in zip(curve, steps, strict=True) if view.lower <= g.epsilon]
    return certificate.of_curve([g for g, _ in seen], [t for _, t in seen])
