"""Figures of the lessons: curves, two such figures side by side, and numbers on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Mark, Part
from dplearn.figures.kit.template import GREY, RED, transparent

# Where two panels lie, in shares of the drawing area.
_PANELS = ((0.0, 0.42), (0.58, 1.0))
_HEADING = {"xanchor": "left", "yanchor": "bottom", "yshift": 8, "font": {"size": 15}}


def lesson(
    traces: Sequence[dict[str, Any]], title: str, *, height: int = 430, **more: Any
) -> go.Figure:
    """A figure in the look of the lessons: white, large type, room for names on the right."""
    size = {"width": 760, "height": height}
    layout = {"template": "dplearn_lesson", "title": {"text": title}, **size, **more}
    return go.Figure({"data": [_single(trace) for trace in traces], "layout": layout})


def _single(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace in single precision: finer than any screen, and half the notebook."""
    whole = {k: trace[k] for k in ("x", "y") if np.size(trace[k]) > 1}
    return trace | {key: np.asarray(values, dtype=np.float32) for key, values in whole.items()}


def axis(
    title: str, values: Any, log: bool = False, span: tuple[float, float] | None = None
) -> dict[str, Any]:
    """An axis around values; Plotly finds its ends, with room for names, unless they are given."""
    every = np.concatenate([np.ravel(np.asarray(v, dtype=float)) for v in values])
    lower, upper = span or (float(np.min(every)), float(np.max(every)))
    return Axis(title=title, lower=lower, upper=upper, log=log, open=span is None).layout()


def curves(
    lines: Sequence[Part],
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
    traces = [trace for line in lines for trace in (*line.traces(), *line.name())]
    traces += [trace for mark in marks for trace in mark.traces()]
    if zone is not None:
        traces.append(_zone_name(*zone, lines[0]))
    heights = [y for line in lines for y in line.heights]
    return lesson(
        traces,
        title,
        xaxis=axis(x, [part.x for part in lines or marks], log_x, x_range),
        yaxis=axis(y, heights or [mark.y for mark in marks], log_y, y_range),
        shapes=[_zone(*zone[:2])] if zone else [],
    )


def _zone(lower: float, upper: float) -> dict[str, Any]:
    """Where a claim is false."""
    ends = {"x0": 0, "x1": 1, "xref": "x domain", "y0": lower, "y1": upper, "yref": "y"}
    fill = {"fillcolor": transparent(RED, 0.1), "line": {"width": 0}}
    return {"type": "rect", **ends, **fill}


def _zone_name(lower: float, upper: float, name: str, line: Part) -> dict[str, Any]:
    """The zone's name, in the zone, where the first curve begins."""
    font = {"color": RED, "size": 15}
    where = {"x": [np.min(line.x)], "y": [(lower + upper) / 2], "textposition": "middle right"}
    words = {"text": [name], "mode": "text", "textfont": font, "hoverinfo": "skip"}
    return {**where, **words}


def panels(left: go.Figure, right: go.Figure, *, title: str) -> go.Figure:
    """Two figures of `curves` side by side under one statement, `title`.

    Their own titles become headings, which do not change when a slider moves.
    """
    traces, axes, shapes, headings = [], {}, [], []
    for n, part, share in zip(("", "2"), (left, right), _PANELS, strict=True):
        layout, where = part.layout.to_plotly_json(), {"xaxis": f"x{n}", "yaxis": f"y{n}"}
        traces += [trace.to_plotly_json() | where for trace in part.select_traces()]
        axes[f"xaxis{n}"] = layout["xaxis"] | {"anchor": f"y{n}", "domain": share}
        axes[f"yaxis{n}"] = layout["yaxis"] | {"anchor": f"x{n}"}
        place = {"xref": f"x{n} domain", "yref": f"y{n}"}
        shapes += [shape | place for shape in layout.get("shapes", ())]
        if words := layout["title"]["text"]:
            top = {"x": 0, "y": 1, "xref": f"x{n} domain", "yref": f"y{n} domain"}
            headings.append({**top, **_HEADING, "text": words})
    margin = {"r": 90, "t": 86 if headings else 60}
    return lesson(traces, title, margin=margin, shapes=shapes, annotations=headings, **axes)


def number_line(numbers: Mapping[str, float], *, title: str) -> go.Figure:
    """Positive numbers on one logarithmic line, each with its name; "your guess" stands out."""
    roles = {"truth": "exact", "your guess": "guess"}
    traces, ranked = [], sorted(numbers.items(), key=lambda item: item[1])
    for rank, (label, value) in enumerate(ranked):
        side = "bottom center" if rank % 2 else "top center"
        role, words = roles.get(label, "other"), f"{label}<br>{value:.4g}"
        traces += Mark(x=value, y=0, label=words, role=role, side=side).traces()
    ends = ranked[0][1] / 3, ranked[-1][1] * 3
    bare = {"showticklabels": False, "showgrid": False, "showline": False, "ticks": ""}
    zero = {"zeroline": True, "zerolinecolor": GREY, "range": [-1, 1]}
    x = axis("", [list(numbers.values())], True, ends) | {"showgrid": False, "showline": False}
    return lesson(traces, title, height=230, xaxis=x, yaxis=bare | zero)
