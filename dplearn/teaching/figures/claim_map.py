"""Map over two variables of a claimed formula that shows where the formula holds.

It compares claim and true value on a grid, as the check of a formula does at other points.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dplearn.teaching.book.kit.domains import Linear, Log, Whole
from dplearn.teaching.book.kit.terms import LENGTHS
from dplearn.teaching.claims.judging import judged
from dplearn.teaching.claims.matching import Match
from dplearn.teaching.claims.reading import Note
from dplearn.teaching.claims.table import sign_of
from dplearn.teaching.figures.kit.axes import Axis, log_ticks, tick_words
from dplearn.teaching.figures.kit.marks import markers, one_panel
from dplearn.teaching.figures.kit.template import GREY, INK, STAR

STATUS = ("holds", "violated", "undecided", "claim has no value")
# Colours and marks in the order of STATUS; colours differ in brightness, for grey prints.
_FILL = ("#A9D0F0", "#C8442C", "#B9BCC4", "#E4E5E8")
_HATCH = {1: ("x-thin", "#FFFFFF", 7), 2: ("circle", GREY, 4), 3: ("line-ew", GREY, 4)}
# Maximum numbers of grid values and marks per axis; more marks would hide the colours.
_CELLS, _MARKS = 33, 16


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Ratio of claimed to true value over two variables; `ratio[j, i]` is at (x[i], y[j])."""

    axes: tuple[str, str]
    x: NDArray
    y: NDArray
    fixed: Mapping[str, float]
    ratio: NDArray  # nan if unknown
    status: NDArray  # index into `STATUS`
    setting: str
    chinese: str
    simplest: Mapping[str, float] | None  # simplest counterexample to the claim


def map_of(formula: str, *, words: str = "") -> Slice | None:
    """Return the map of a formula; None if it cannot be checked or has fewer than two variables.

    Examples
    --------
    >>> drawn = map_of("σ = √(2 ln(1.25/δ))/ε", words="Gaussian noise")
    >>> drawn.axes, drawn.simplest["ε"]
    (('δ', 'ε'), 10.0)
    """
    finding, matches = judged(formula, words=words)
    if finding.verdict == "not read" or matches[0].claim.second_is_formula:
        return None
    match = matches[0]
    columns = {sign_of(name): column for name, column in match.letters.items()}
    if len(columns) < 2 or match.table.lists:
        return None
    first, second, *_ = columns
    shown = first, second
    point = {n: float(x[match.example or 0, 0]) for n, x in match.table.columns.items()}
    x, y = (_values(match, columns[name], point) for name in shown)
    grid = {name: np.full((len(x) * len(y), 1), value) for name, value in point.items()}
    grid[columns[shown[0]]] = np.tile(x, len(y))[:, None]
    grid[columns[shown[1]]] = np.repeat(y, len(x))[:, None]
    there, same = match.moved(grid, grid), {"rtol": 1e-6, "atol": 1e-14}
    with np.errstate(all="ignore"):
        ratio = there.claimed / there.needed
        good = there.enough if match.sign else np.isclose(there.claimed, there.needed, **same)
    bad = there.wrong if match.sign else ~good
    status = np.select([np.isnan(there.claimed), bad, good], [3, 1, 0], 2)
    at = {name: point[column] for name, column in columns.items()}
    return Slice(
        axes=shown,
        x=x,
        y=y,
        fixed={name: value for name, value in at.items() if name not in shown},
        ratio=ratio.reshape(len(y), len(x)),
        status=status.reshape(len(y), len(x)),
        setting=match.table.setting.text,
        chinese=match.table.setting.chinese,
        simplest=None if match.example is None else at,
    )


def _values(match: Match, column: str, point: Mapping[str, float]) -> NDArray:
    """Return the values of a variable on the grid, which include its value in `point`."""
    domain = match.table.domains.get(column, Log(0.3, 4.0))
    if not isinstance(domain, Linear):
        return np.array([point[column]])
    low, high = domain.low, domain.high
    if column in LENGTHS and "sensitivity" in point and "sensitivity" not in match.table.domains:
        low, high = low * point["sensitivity"], high * point["sensitivity"]
    space = np.geomspace if isinstance(domain, Log) and low > 0 else np.linspace
    values = np.append(space(low, high, _CELLS), point[column])
    values = np.unique(np.round(values) if isinstance(domain, Whole) else values)
    return values[values > 0]


def claim_map(area: Slice, about: str = "", finding: str = "") -> go.Figure:
    """Draw a map: status by colour and mark, and the simplest counterexample as a star."""
    traces, present = [_cells(area)], [int(status) for status in np.unique(area.status)]
    across, down = (max(1, math.ceil(len(v) / _MARKS)) for v in (area.x, area.y))
    for status in [s for s in present if s in _HATCH]:
        j, i = np.nonzero(area.status == status)
        marked = (i % across == across // 2) & (j % down == down // 2)
        x, y = np.log10(area.x[i[marked]]).tolist(), np.log10(area.y[j[marked]]).tolist()
        symbol, colour, size = _HATCH[status]
        look = {"symbol": symbol, "size": size, "colour": colour, "edge": (1.6, colour)}
        hidden = {"hoverinfo": "skip", "showlegend": False}
        traces.append(markers(x, y, f"{STATUS[status]} marks", **look, **hidden))
    look = {"symbol": "square", "size": 14, "edge": (1, GREY)}
    for status in present:  # legend entries
        words = STATUS[status] + (" ×" if status == 1 else "")
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
    room = {"height": 460, "margin": {"l": 78, "r": 20, "t": 106, "b": 62}}
    room |= {"showlegend": True, "legend": place}
    x, y = _axis(area.axes[0], area.x), _axis(area.axes[1], area.y)
    return one_panel(traces, x, y, finding or map_finding(area), about, **room)


def map_finding(area: Slice) -> str:
    """Return a map's title: at how many per cent of the decided points the claim is violated."""
    bad, good = np.sum(area.status == 1), np.sum(area.status == 0)
    if not bad and not good:
        return "Nothing could be decided on this map"
    if not bad or not good:
        words = "Violated" if bad else "Holds"
        return Note("{outcome} at every decided point of this map", outcome=words)
    # Show 1 % to 99 %, because the claim neither holds nor fails at all points.
    percent = min(max(100 * bad / (bad + good), 1), 99)
    return Note("Violated at {percent} % of the points of this map", percent=f"{percent:.0f}")


def _cells(area: Slice) -> dict[str, Any]:
    x_name, y_name = area.axes
    words = [
        [
            f"{x_name} = {x:.4g}, {y_name} = {y:.4g}<br><b>{STATUS[s]}</b>"
            + (f"<br>claim / truth {r:.3g}" if math.isfinite(r) else "")
            for x, s, r in zip(area.x, row, ratios, strict=True)
        ]
        for y, row, ratios in zip(area.y, area.status, area.ratio, strict=True)
    ]
    shares = [((i + step) / len(_FILL), c) for i, c in enumerate(_FILL) for step in (0, 1)]
    scale = {"zmin": -0.5, "zmax": len(_FILL) - 0.5, "colorscale": shares, "showscale": False}
    cells = {"x": _edges(area.x), "y": _edges(area.y), "z": area.status.tolist()}
    hover = {"text": words, "hovertemplate": "%{text}<extra></extra>"}
    return {"type": "heatmap", "name": "claim / truth", **cells, **scale, **hover}


def _edges(values: NDArray) -> list[float]:
    """Return the borders, as log10, of the heatmap's cells around the values."""
    logs = np.log10(values)
    if len(logs) == 1:
        return [logs[0] - 0.1, logs[0] + 0.1]
    middle = (logs[1:] + logs[:-1]) / 2
    return [2 * logs[0] - middle[0], *middle, 2 * logs[-1] - middle[-1]]


def _axis(name: str, values: NDArray) -> Axis:
    """Return an axis in log10 units; values on a geometric grid give cells of equal width."""
    edges = _edges(values)
    places = log_ticks(10 ** edges[0], 10 ** edges[-1]) or [values[0]]
    ticks = dict(zip(map(math.log10, places), tick_words(places), strict=True))
    return Axis(title=name, lower=edges[0], upper=edges[-1], ticks=ticks)
