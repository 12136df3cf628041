"""Curves on one pair of axes, two such pairs side by side, and numbers on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dplearn.figures.lessons._elements import Element, Mark
from dplearn.figures.lessons._look import axis, dressed
from dplearn.figures.theme import GREY, PUBLISHED

_ZONE = "rgba(214, 40, 57, 0.10)"


def curves(
    lines: Sequence[Element],
    *,
    title: str,
    x: str,
    y: str,
    marks: Sequence[Mark] = (),
    zone: tuple[float, float, str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> go.Figure:
    """Curves, columns, regions and points on one pair of axes, named `x` and `y`.

    Parameters
    ----------
    lines : sequence of Line, Bars and Band
        Drawn in this order.
    title : str
        What the figure states.
    x, y : str
        Symbol, meaning and unit of the axes.
    marks : sequence of Mark
    zone : tuple of float, float and str, optional
        Heights between which a claim is false, and what to write there.
    log_x, log_y : bool
    x_range, y_range : tuple of float, optional
        In data units.
    """
    figure = go.Figure([trace for line in lines for trace in line.traces()])
    figure.add_traces([trace for mark in marks for trace in mark.traces()])
    if zone is not None:
        figure.add_hrect(zone[0], zone[1], fillcolor=_ZONE, line_width=0, layer="below")
        figure.add_scatter(**_zone_name(*zone, lines[0]))
    figure.update_xaxes(title_text=x, **axis([line.x for line in lines], log_x, x_range))
    figure.update_yaxes(
        title_text=y, **axis([y for line in lines for y in line.heights], log_y, y_range)
    )
    return dressed(figure, title)


def panels(left: go.Figure, right: go.Figure, *, title: str) -> go.Figure:
    """Two figures of `curves` side by side under one statement; their titles become headings.

    Parameters
    ----------
    left, right : Figure
    title : str
        What the two state together. A heading does not change when a slider moves.
    """
    figure = make_subplots(cols=2, horizontal_spacing=0.16)
    for column, part in enumerate((left, right), start=1):
        number = "" if column == 1 else "2"
        for trace in part.data:
            figure.add_trace(trace, row=1, col=column)
        for name in ("xaxis", "yaxis"):
            settings = part.layout[name].to_plotly_json()
            figure.layout[name + number].update({**settings, "anchor": f"{_OTHER[name]}{number}"})
        for shape in part.layout.shapes:
            figure.add_shape(shape, xref=f"x{number} domain", yref=f"y{number}")
        figure.add_annotation(**_heading(part.layout.title.text or "", number))
    return dressed(figure, title, right=90).update_layout(margin_t=86)


_OTHER = {"xaxis": "y", "yaxis": "x"}


def _heading(text: str, number: str) -> dict[str, Any]:
    """Above one of two panels, at its left edge."""
    place = {"x": 0, "y": 1, "xref": f"x{number} domain", "yref": f"y{number} domain"}
    anchor = {"xanchor": "left", "yanchor": "bottom", "yshift": 8, "showarrow": False}
    return {**place, **anchor, "text": text, "font": {"size": 15, "color": GREY}}


def number_line(points: Mapping[str, float], *, title: str) -> go.Figure:
    """Positive numbers on one logarithmic line, each with its name; "your guess" stands out."""
    roles = {"truth": "exact", "your guess": "guess"}
    figure = go.Figure()
    ranked = sorted(points.items(), key=lambda item: item[1])
    for rank, (label, value) in enumerate(ranked):
        side = "bottom center" if rank % 2 else "top center"
        text = f"{label}<br>{value:.4g}"
        role = roles.get(label, "other")
        figure.add_traces(Mark(x=value, y=0, label=text, role=role, side=side).traces())
    ends = ranked[0][1] / 3, ranked[-1][1] * 3
    line = axis(list(points.values()), True, ends)
    figure.update_xaxes(**line | {"showgrid": False, "ticks": "outside", "tickcolor": GREY})
    figure.update_yaxes(showticklabels=False, showgrid=False, zerolinecolor=GREY, range=[-1, 1])
    return dressed(figure, title, height=230)


def _zone_name(lower: float, upper: float, name: str, line: Element) -> dict[str, Any]:
    """The zone's name, in the zone, where the first curve begins."""
    font = {"color": PUBLISHED, "size": 15}
    where = {"x": [np.min(line.x)], "y": [(lower + upper) / 2], "textposition": "middle right"}
    return {**where, "text": [name], "mode": "text", "textfont": font, "hoverinfo": "skip"}
