"""Map of where a claimed formula holds, over two of its parameters."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from dplearn.teaching.claims import STATUS, Note, Slice
from dplearn.teaching.figures.kit.axes import Axis, log_ticks, tick_words
from dplearn.teaching.figures.kit.marks import markers, one_panel
from dplearn.teaching.figures.kit.template import GREY, INK, STAR

# In STATUS's order: light, dark and between, to be distinct in grey and for the colour-blind.
# Violated cells also have crosses, undecided ones dots.
_FILL = ("#A9D0F0", "#C8442C", "#B9BCC4", "#E4E5E8")
_HATCH = {1: ("x-thin", "#FFFFFF", 7), 2: ("circle", GREY, 4), 3: ("line-ew", GREY, 4)}
_WORDS = ("holds", "violated", "undecided", "claim has no value")
# Marks per axis: enough to see a hatch, few enough to see the colour.
_MARKS = 16


def claim_map(area: Slice, about: str = "", finding: str = "") -> go.Figure:
    """Return the map of a verdict: one colour and mark per status, a star at the counterexample.

    Examples
    --------
    >>> from dplearn.teaching.claims import map_of
    >>> area = map_of("ε' = q ε", words="sampling")
    >>> claim_map(area).layout.title.text.startswith("<b>Violated at ")
    True
    """
    present = sorted({s for row in area.status for s in row})
    traces = [_cells(area)]
    across, down = (max(1, math.ceil(len(v) / _MARKS)) for v in (area.x, area.y))
    for status in filter(_HATCH.__contains__, present):
        at = [
            (math.log10(x), math.log10(y))
            for j, y in enumerate(area.y)
            for i, x in enumerate(area.x)
            if area.status[j][i] == status and i % across == across // 2 and j % down == down // 2
        ]
        symbol, colour, size = _HATCH[status]
        look = {"symbol": symbol, "size": size, "colour": colour, "edge": (1.6, colour)}
        hidden = {"hoverinfo": "skip", "showlegend": False}
        x, y = [x for x, _ in at], [y for _, y in at]
        traces.append(markers(x, y, f"{STATUS[status]} marks", **look, **hidden))
    look = {"symbol": "square", "size": 14, "edge": (1, GREY)}
    for status in present:  # legend entries
        words = _WORDS[status] + (" ×" if status == 1 else "")
        traces.append(markers([None], [None], words, colour=_FILL[status], **look))
    if area.simplest:
        look = {"symbol": "star", "size": 19, "colour": STAR, "edge": (1.6, INK)}
        text = ", ".join(f"{name} = {value:.4g}" for name, value in area.simplest.items())
        look["hovertemplate"] = f"<b>counterexample</b><br>{text}<extra></extra>"
        x, y = ([math.log10(area.simplest[n])] for n in area.axes)
        traces.append(markers(x, y, "simplest counterexample", **look))
    fixed = ", ".join(f"{n} = {v:.6g}" for n, v in area.fixed.items())
    about = " · ".join(filter(None, [about, fixed]))
    place = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"}
    room = {"height": 460, "margin": (78, 20, 106, 62), "showlegend": True, "legend": place}
    x, y = _axis(area.axes[0], area.x), _axis(area.axes[1], area.y)
    return one_panel(traces, x, y, finding or map_finding(area), about, size=18, **room)


def map_finding(area: Slice) -> str:
    """Return one line that says what the map shows."""
    cells = [s for row in area.status for s in row]
    bad, good = cells.count(1), cells.count(0)
    if not bad and not good:
        return "Nothing could be decided on this map"
    if not bad or not good:
        words = "Violated", "Holds"
        return Note("{outcome} at every decided point of this map", outcome=words[not bad])
    # A share strictly between 0 and 1 is never shown as 0 % or 100 %.
    percent = min(max(100 * bad / (bad + good), 1), 99)
    return Note("Violated at {percent} % of the points of this map", percent=f"{percent:.0f}")


def _cells(area: Slice) -> dict[str, Any]:
    x_name, y_name = area.axes
    words = [
        [
            f"{x_name} = {x:.4g}, {y_name} = {y:.4g}<br><b>{_WORDS[s]}</b>"
            + (f"<br>claim / truth {r:.3g}" if math.isfinite(r) else "")
            for x, s, r in zip(area.x, row, ratios, strict=True)
        ]
        for y, row, ratios in zip(area.y, area.status, area.ratio, strict=True)
    ]
    shares = [((i + step) / len(_FILL), c) for i, c in enumerate(_FILL) for step in (0, 1)]
    scale = {"zmin": -0.5, "zmax": len(_FILL) - 0.5, "colorscale": shares, "showscale": False}
    cells = {"x": _edges(area.x), "y": _edges(area.y), "z": area.status, "name": "claim / truth"}
    hover = {"text": words, "hovertemplate": "%{text}<extra></extra>"}
    return {"type": "heatmap", **cells, **scale, **hover}


def _edges(values: Sequence[float]) -> list[float]:
    """Return the borders of the cells around the values, as log10."""
    logs = [math.log10(v) for v in values]
    if len(logs) == 1:
        return [logs[0] - 0.1, logs[0] + 0.1]
    middle = [0.5 * (a + b) for a, b in pairwise(logs)]
    return [2 * logs[0] - middle[0], *middle, 2 * logs[-1] - middle[-1]]


def _axis(name: str, values: Sequence[float]) -> Axis:
    """Return an axis in log10, since a heatmap needs evenly spaced cells."""
    edges = _edges(values)
    places = log_ticks(10 ** edges[0], 10 ** edges[-1]) or [values[0]]
    ticks = dict(zip(map(math.log10, places), tick_words(places), strict=True))
    bare = {"showgrid": False}
    return Axis(title=name, lower=edges[0], upper=edges[-1], ticks=ticks, more=bare)
