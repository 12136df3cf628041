"""Axes, title, lines and direct labels of the epsilon-against-steps figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dplearn.guarantee import Guarantee
from dplearn.plotting import text
from dplearn.plotting._frame import HEIGHT, MARGIN, Frame, plot_height
from dplearn.plotting._labels import spread
from dplearn.plotting._notes import Published, notes
from dplearn.plotting.theme import FONT, GREY, style_of

Curves = Mapping[str, Sequence[Guarantee]]
_LABEL_GAP = 22.0
_GRID = "rgba(128,133,144,0.22)"


def layout(
    curves: Curves,
    steps: Sequence[int],
    view: Frame,
    *,
    published: Sequence[Published],
    here: int | None,
    budget: float | None,
    subtitle: str,
    ink: str,
) -> dict[str, Any]:
    """Everything but the traces."""
    index = len(steps) - 1 if here is None else steps.index(here)
    return {
        "title": _title(curves, subtitle),
        "xaxis": _x_axis(view),
        "yaxis": _y_axis(curves, view),
        "shapes": [_vertical(here), _horizontal(budget)],
        "annotations": [
            _header(steps[index]),
            *_end_labels(curves, view, index),
            *notes(curves, steps, view, published=published, here=here, budget=budget),
        ],
        "height": HEIGHT,
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


def _title(curves: Curves, subtitle: str) -> dict[str, Any]:
    bounds = sum(all(g.is_bound for g in c) for c in curves.values())
    others = len(curves) - bounds
    tail = f" and {text.counted(others, 'approximation')}" if others else ""
    return {
        "text": f"<b>Same run, same δ: {text.counted(bounds, 'bound')} on ε{tail}</b>",
        "subtitle": {"text": subtitle, "font": {"size": 13, "color": GREY}},
        "font": {"size": 19},
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 14},
    }


def _axis(title: str, log: bool, span: list[float]) -> dict[str, Any]:
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


def _x_axis(view: Frame) -> dict[str, Any]:
    axis = _axis("T, number of steps", view.log_x, view.x_range)
    ticks = _decades(view.left, view.right)
    if not view.log_x or len(ticks) < 2:
        return {**axis, "tickformat": ",.6~g"}
    if view.right > 2 * ticks[-1]:
        ticks = [*ticks, view.right]
    return {**axis, "tickvals": ticks, "ticktext": [text.whole(t) for t in ticks]}


def _y_axis(curves: Curves, view: Frame) -> dict[str, Any]:
    dashed = not all(g.is_bound for c in curves.values() for g in c)
    note = ", upper bound unless dashed" if dashed else ", upper bound"
    axis = _axis(f"ε (nats){note}", view.log_y, view.y_range)
    ticks = _decades(view.lower, view.upper)
    if not view.log_y or len(ticks) < 2:
        return {**axis, "tickformat": ",.6~g"}
    return {**axis, "tickvals": ticks, "ticktext": [f"{t:g}" for t in ticks]}


def _decades(lower: float, upper: float) -> list[float]:
    """1, 2, 5 times the powers of ten in a range; only the powers when there are many."""
    powers = range(math.floor(math.log10(max(lower, 1e-12))), math.ceil(math.log10(upper)) + 1)
    marks = (1,) if len(powers) > 4 else (1, 2, 5)
    return [t for p in powers for m in marks if lower <= (t := m * 10.0**p) <= upper]


def _vertical(here: int | None) -> dict[str, Any]:
    x = here if here is not None else 1
    line = {"color": GREY, "width": 1.6, "dash": "dot"}
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line, "layer": "below", "visible": here is not None}


def _horizontal(budget: float | None) -> dict[str, Any]:
    y = budget if budget is not None else 1
    line = {"color": GREY, "width": 1.6, "dash": "dashdot"}
    ends = {"y0": y, "y1": y, "x0": 0, "x1": 1, "xref": "paper"}
    return {"type": "line", **ends, "line": line, "layer": "below", "visible": budget is not None}


def _header(shown_at: int) -> dict[str, Any]:
    return {
        "text": f"ε at T = {text.whole(shown_at)}",
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": 16,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": 4,
        "showarrow": False,
        "font": {"size": 13, "color": GREY},
    }


def _end_labels(curves: Curves, view: Frame, index: int) -> list[dict[str, Any]]:
    """Name and value beside the end of each curve, with a leader where it had to move."""
    names = sorted(curves, key=lambda name: curves[name][-1].epsilon)
    pixels = [view.pixel(curves[name][-1].epsilon) for name in names]
    placed = spread(pixels, gap=_LABEL_GAP, lower=4.0, upper=plot_height() - 8.0)
    labels = {
        name: _end_label(name, curves[name], index, view, at, to)
        for name, at, to in zip(names, pixels, placed, strict=True)
    }
    return [labels[name] for name in curves]


def _end_label(
    name: str, curve: Sequence[Guarantee], index: int, view: Frame, at: float, to: float
) -> dict[str, Any]:
    style, shown = style_of(name), curve[index]
    low, high = view.y_range
    # A curve that left through the top has no end to lead to: an arrow says where it went.
    left = curve[-1].epsilon > view.upper
    glyph = f'<span style="color:{style.colour}">{"↑ " if left else ""}{style.glyph}</span>'
    note = "" if shown.is_bound else " (no bound)"
    return {
        "text": f"{glyph} <b>{text.epsilon(shown)}</b> {style.label}{note}",
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "ax": 14,
        "y": low + (high - low) * at / plot_height(),
        "yref": "y",
        "yanchor": "middle",
        "ay": at - to,
        "showarrow": True,
        "arrowhead": 0,
        "arrowcolor": "rgba(0,0,0,0)" if left else style.colour,
        "arrowwidth": 1.4,
        "align": "left",
        "font": {"size": 14},
    }
