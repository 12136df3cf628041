"""Where a claimed formula holds, over two of its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from dplearn.claims import PARAMETERS, STATUS, Slice, Verdict
from dplearn.figures.theme import FONT, GREY, INK

HEIGHT = 460
SYMBOLS = {
    "epsilon": "ε", "delta": "δ", "sigma": "σ", "alpha": "α", "epsilon_0": "ε₀", "q": "q", "T": "T",
}  # fmt: skip
# Light, dark and between, so that they stay apart in grey and for the colour-blind; in STATUS's
# order. What is violated also carries crosses, what is open dots.
_FILL = ("#A9D0F0", "#C8442C", "#B9BCC4", "#E4E5E8")
_MARK = {1: ("x-thin", "#FFFFFF"), 2: ("circle", "#5C606B"), 3: ("line-ew", "#5C606B")}
_WORDS = ("holds", "violated", "undecided", "claim has no value")
# Marks per axis: enough to see a hatch, few enough to see the colour.
_MARKS = 16


def claim_map(verdict: Verdict, *, ink: str = INK["light"]) -> go.Figure:
    """The map of a verdict; draws it and computes nothing.

    Parameters
    ----------
    verdict : Verdict
    ink : str
        Colour of words and numbers; the background is transparent.

    Returns
    -------
    plotly.graph_objects.Figure
        One colour and one mark per status, and a star at the counterexample.

    Examples
    --------
    >>> from dplearn.claims import check
    >>> found = check("q*epsilon", quantity="amplified_epsilon", of="pure_dp")
    >>> claim_map(found).layout.title.text
    '<b>Violated at 98 % of the points of this map</b>'
    """
    found = verdict.map
    seen = sorted({s for row in found.status for s in row})
    traces = [_cells(found, verdict), *(_marks(found, s) for s in seen if s in _MARK)]
    traces += [_key(s) for s in seen]
    if verdict.simplest:
        traces.append(_star(verdict))
    return go.Figure({"data": traces, "layout": _layout(verdict, ink)})


def finding(found: Slice) -> str:
    """What the map shows, in one line."""
    cells = [s for row in found.status for s in row]
    bad, good = cells.count(1), cells.count(0)
    if not bad and not good:
        return "Nothing could be decided on this map"
    if not bad:
        return "Holds at every decided point of this map"
    if not good:
        return "Violated at every decided point of this map"
    return f"Violated at {_percent(bad / (bad + good))} of the points of this map"


def _percent(share: float) -> str:
    """Never 0 or 100 where it is neither."""
    return f"{min(max(100 * share, 1), 99):.0f} %"


def _cells(found: Slice, verdict: Verdict) -> dict[str, Any]:
    x_name, y_name = (SYMBOLS[n] for n in found.axes)
    words = [
        [
            f"{x_name} = {x:.4g}, {y_name} = {y:.4g}<br><b>{_WORDS[s]}</b>{_times(r)}"
            for x, s, r in zip(found.x, row, ratios, strict=True)
        ]
        for y, row, ratios in zip(found.y, found.status, found.ratio, strict=True)
    ]
    steps = [(i / len(_FILL), (i + 1) / len(_FILL), c) for i, c in enumerate(_FILL)]
    return {
        "type": "heatmap",
        "name": verdict.quantity,
        "x": _edges(found.x),
        "y": _edges(found.y),
        "z": found.status,
        "zmin": -0.5,
        "zmax": len(_FILL) - 0.5,
        "colorscale": [[share, c] for low, high, c in steps for share in (low, high)],
        "showscale": False,
        "text": words,
        "hovertemplate": "%{text}<extra></extra>",
    }


def _times(ratio: float) -> str:
    return f"<br>claim / truth {ratio:.3g}" if math.isfinite(ratio) else ""


def _edges(values: Sequence[float]) -> list[float]:
    """Borders of the cells around the values, in powers of ten."""
    logs = [math.log10(v) for v in values]
    if len(logs) == 1:
        return [logs[0] - 0.1, logs[0] + 0.1]
    middle = [0.5 * (a + b) for a, b in pairwise(logs)]
    return [2 * logs[0] - middle[0], *middle, 2 * logs[-1] - middle[-1]]


def _marks(found: Slice, status: int) -> dict[str, Any]:
    """A hatch over the cells of one status."""
    across, down = (max(1, math.ceil(len(v) / _MARKS)) for v in (found.x, found.y))
    at = [
        (math.log10(x), math.log10(y))
        for j, y in enumerate(found.y)
        for i, x in enumerate(found.x)
        if found.status[j][i] == status and i % across == across // 2 and j % down == down // 2
    ]
    symbol, colour = _MARK[status]
    return {
        "type": "scatter",
        "name": f"{STATUS[status]} marks",
        "mode": "markers",
        "x": [x for x, _ in at],
        "y": [y for _, y in at],
        "marker": _mark(symbol, colour, 7 if status == 1 else 4),
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _mark(symbol: str, colour: str, size: float) -> dict[str, Any]:
    return {
        "symbol": symbol,
        "size": size,
        "color": colour,
        "line": {"color": colour, "width": 1.6},
    }


def _key(status: int) -> dict[str, Any]:
    """An entry of the legend."""
    border = {"color": GREY, "width": 1}
    return {
        "type": "scatter",
        "name": _WORDS[status] + (" ×" if status == 1 else ""),
        "mode": "markers",
        "x": [None],
        "y": [None],
        "marker": {"symbol": "square", "size": 14, "color": _FILL[status], "line": border},
    }


def _star(verdict: Verdict) -> dict[str, Any]:
    at = verdict.simplest.parameters if verdict.simplest else {}
    x, y = (at[n] for n in verdict.map.axes)
    said = verdict.simplest
    return {
        "type": "scatter",
        "name": "simplest counterexample",
        "mode": "markers",
        "cliponaxis": False,
        "x": [math.log10(x)],
        "y": [math.log10(y)],
        "marker": {
            "symbol": "star",
            "size": 19,
            "color": "#FFD23F",
            "line": {"color": "#262B36", "width": 1.6},
        },
        "hovertemplate": f"<b>counterexample</b><br>{said}<extra></extra>",
    }


def _layout(verdict: Verdict, ink: str) -> dict[str, Any]:
    found = verdict.map
    held = ", ".join(f"{SYMBOLS[n]} = {v:.6g}" for n, v in found.fixed.items())
    subtitle = f"Each cell compares claim and truth at {held}" if held else "Claim against truth"
    return {
        "height": HEIGHT,
        "margin": {"l": 78, "r": 20, "t": 106, "b": 62},
        "font": {"family": FONT, "size": 14, "color": ink},
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"font": {"family": FONT, "size": 14}, "align": "left"},
        "dragmode": False,
        "title": {
            "text": f"<b>{finding(found)}</b>",
            "subtitle": {"text": subtitle, "font": {"size": 13, "color": GREY}},
            "font": {"size": 18},
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 14},
        },
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"},
        "xaxis": _axis(found.axes[0], found.x),
        "yaxis": _axis(found.axes[1], found.y),
    }


def _axis(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Powers of ten as numbers; where there are few, 2 and 5 times them as well."""
    edges = _edges(values)
    powers = range(math.floor(edges[0]), math.ceil(edges[-1]) + 1)
    marks = (1, 2, 5) if len(powers) <= 4 else (1,)
    step = 1 + len(powers) // 9
    ticks = [m * 10.0**p for p in powers if p % step == 0 for m in marks]
    ticks = [t for t in ticks if edges[0] <= math.log10(t) <= edges[-1]] or [values[0]]
    return {
        "title": {"text": f"{SYMBOLS[name]}, {PARAMETERS[name].meaning}", "font": {"size": 15}},
        "range": [edges[0], edges[-1]],
        "tickvals": [math.log10(t) for t in ticks],
        "ticktext": [f"{t:g}".replace("e-0", "e-").replace("e+0", "e") for t in ticks],
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": GREY,
        "ticks": "outside",
        "tickcolor": GREY,
    }
