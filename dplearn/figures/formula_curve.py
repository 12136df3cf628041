"""A formula against its oracle: along one parameter, or as a cloud of all points checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from dplearn.figures._frame import Frame
from dplearn.figures.pair_look import P_COLOUR, dressed, key, keys, line
from dplearn.figures.theme import GREY, INK, PUBLISHED, transparent

_HEIGHT = 370
_AMBER = "#C79500"
# Colour, hatch and words of a region; hatches run in different directions, for grey paper.
_REGIONS = {
    "outside": (GREY, "\\", "hypothesis fails"),
    "unsafe": (PUBLISHED, "/", "too much privacy"),
    "safe": (_AMBER, ".", "wrong, safe side"),
    "wrong": (_AMBER, "x", "wrong"),
}
_MARKERS = {"right": (P_COLOUR, "circle-open", "right")} | {
    kind: (colour, "x-thin" if kind == "unsafe" else "diamond-open", words)
    for kind, (colour, _, words) in _REGIONS.items()
}
# A ratio of largest and smallest value from which an axis is logarithmic.
_WIDE = 30.0


class Band(NamedTuple):
    """An interval of the x axis; kind is outside, unsafe, safe or wrong."""

    left: float
    right: float
    kind: str


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A formula along one parameter.

    Parameters
    ----------
    x, value, low, high : sequence of float
        The parameter, the formula or the claim, and the ends of the truth; nan leaves a gap.
    own : sequence of float
        Beside a claim the formula that it is a variant of; may be empty.
    claimed : bool
        Whether `value` is that of a wrong variant.
    bands : sequence of Band
    ends : tuple of float
    log_x : bool
    ticks : sequence of str
        Words for 0, 1, and so on, where x counts steps towards a limit.
    star : tuple of float, optional
        The counterexample.
    """

    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    own: Sequence[float] = ()
    claimed: bool = False
    bands: Sequence[Band] = ()
    ends: tuple[float, float]
    log_x: bool = False
    ticks: Sequence[str] = ()
    star: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Value and truth at many points.

    Parameters
    ----------
    truth, value : sequence of float
    verdict : sequence of str
        right, unsafe, safe or wrong.
    words : sequence of str
        What to say of each point.
    kind : str
        How the two should be related: identity, upper, lower or asymptotic.
    """

    truth: Sequence[float]
    value: Sequence[float]
    verdict: Sequence[str]
    words: Sequence[str] = ()
    kind: str = "identity"


def formula_curve(
    curve: Curve, *, finding: str = "", x: str = "x", ink: str = INK["light"]
) -> go.Figure:
    """A formula as a line, the truth as points; where it must not be used is shaded.

    Parameters
    ----------
    curve : Curve
    finding : str
        Title.
    x : str
        Name of the parameter.
    ink : str
        Colour of words; the background is transparent.

    Examples
    --------
    >>> drawn = Curve(x=[1, 2], value=[3, 4], low=[3, 5], high=[3, 5], ends=(1, 2),
    ...               bands=[Band(1.5, 2, "unsafe")])
    >>> [trace.name for trace in formula_curve(drawn).data]
    ['too much privacy', 'truth', 'formula']
    """
    view = _frame(curve)
    strong, name = (PUBLISHED, "claim") if curve.claimed else (P_COLOUR, "formula")
    stroke = "dash" if curve.claimed else "solid"
    traces = [_region(band, view) for band in curve.bands]
    traces.append(_truth(curve, ink))
    names = [key(name, strong, stroke), _dot("truth", ink)]
    if len(curve.own):
        traces.append(line(curve.x, _drawn(curve.own), "formula", P_COLOUR, line_width=1.6))
        names.append(key("formula", P_COLOUR))
    value = line(*_broken(curve.x, curve.value, view), name, strong, dash=stroke)
    traces.append(
        value | {"mode": "lines+markers", "marker": {"size": 4}} if curve.ticks else value
    )
    if curve.star is not None:
        traces.append(_counterexample(curve.star, ink))
        names.append(f'<span style="color:{ink}">★ counterexample</span>')
    kinds = dict.fromkeys(band.kind for band in curve.bands)
    names += [key(_REGIONS[k][2], _REGIONS[k][0], "area") for k in kinds]
    layout = dressed(view, finding, keys(*names), x=x, y="value", ink=ink)
    figure = go.Figure(traces, layout)
    if curve.ticks:
        figure.update_xaxes(tickvals=list(range(len(curve.ticks))), ticktext=list(curve.ticks))
    return _powers(figure, view)


def formula_cloud(cloud: Cloud, *, finding: str = "", ink: str = INK["light"]) -> go.Figure:
    """Every point of a verification: the value above the truth, and the line where they agree.

    Examples
    --------
    >>> drawn = Cloud(truth=[1, 2], value=[1, 3], verdict=["right", "safe"])
    >>> [trace.name for trace in formula_cloud(drawn).data]
    ['value = truth', 'right', 'wrong, safe side']
    """
    both = np.concatenate([_plain(cloud.truth), _plain(cloud.value)])
    low, high, log = _span(both)
    view = Frame(log, log, low, high, low, high, _HEIGHT)
    kinds = [kind for kind in _MARKERS if kind in cloud.verdict]
    diagonal = line([low, high], [low, high], "value = truth", GREY, dash="dot")
    names = [key("value = truth", GREY, "dot")]
    names += [_dot(_MARKERS[k][2], _MARKERS[k][0], "✕" if k == "unsafe" else "○") for k in kinds]
    if cloud.kind in ("upper", "lower"):
        names.append("a bound may lie " + ("above" if cloud.kind == "upper" else "below"))
    traces = [diagonal, *(_markers(cloud, kind) for kind in kinds)]
    layout = dressed(view, finding, keys(*names), x="truth, by another way", y="value", ink=ink)
    return _powers(go.Figure(traces, layout), view)


def _frame(curve: Curve) -> Frame:
    star = [curve.star[1]] if curve.star else []
    seen = [_plain(v) for v in (curve.value, curve.low, curve.high, curve.own, star)]
    low, high, log = _span(np.concatenate(seen), star)
    left, right = curve.ends
    if curve.star:
        left, right = min(left, curve.star[0]), max(right, curve.star[0])
    return Frame(curve.log_x, log, left, right, low, high, _HEIGHT)


def _plain(values: ArrayLike) -> NDArray:
    """The finite ones."""
    found = np.asarray(values, dtype=float).ravel()
    return found[np.isfinite(found)]


def _span(values: NDArray, wanted: Sequence[float] = ()) -> tuple[float, float, bool]:
    """Ends of an axis and whether it is logarithmic; a few far values do not squeeze the rest."""
    if not values.size:
        return 0.0, 1.0, False
    low, high = float(np.min(values)), float(np.max(values))
    if low > 0 and high > _WIDE * low:
        return max(low, 1e-15 * high) / 1.5, 1.5 * high, True
    above = values[values > 0]
    if low >= 0 and above.size > 0.8 * values.size and high > 1e3 * float(np.median(values)):
        return max(float(np.min(above)), 1e-9 * high) / 1.5, 1.5 * high, True
    inner, outer = np.quantile(values, [0.1, 0.85] if values.size > 20 else [0.0, 1.0])
    room = max(outer - inner, 1e-3 * abs(outer), 1e-12)
    inside = _plain(wanted)
    low = min([max(low, inner - room), *inside])
    high = max([min(high, outer + room), *inside])
    pad = 0.08 * max(high - low, room)
    return (0.0 if 0 <= low < 0.3 * high else low - pad), high + pad, False


def _drawn(values: Sequence[float]) -> list[float | None]:
    return [float(v) if math.isfinite(v) else None for v in values]


def _broken(
    x: Sequence[float], y: Sequence[float], view: Frame
) -> tuple[list[float], list[float | None]]:
    """A curve with a gap where it leaves the frame on one side and comes back on the other."""
    at, found = list(x), _drawn(y)
    for k in range(len(y) - 1, 0, -1):
        low, high = sorted((y[k - 1], y[k]))
        if low < view.lower and view.upper < high:
            at.insert(k, x[k])
            found.insert(k, None)
    return at, found


def _region(band: Band, view: Frame) -> dict[str, Any]:
    """A hatched strip over the whole height."""
    colour, shape, words = _REGIONS[band.kind]
    left, right = max(band.left, view.left), min(band.right, view.right)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": words,
        "x": [left, right, right, left, left],
        "y": [view.lower, view.lower, view.upper, view.upper, view.lower],
        "fill": "toself",
        "fillpattern": {
            "shape": shape,
            "size": 9,
            "solidity": 0.05 if shape == "." else 0.15,
            "fgcolor": transparent(colour, 0.75),
            "bgcolor": transparent(colour, 0.13),
        },
        "line": {"width": 0},
        "hoveron": "fills",
        "hoverinfo": "skip",
    }


def _truth(curve: Curve, ink: str) -> dict[str, Any]:
    """The oracle: open circles, with bars where it is known between two ends only."""
    low, high = (np.asarray(v, dtype=float) for v in (curve.low, curve.high))
    with np.errstate(invalid="ignore"):
        middle, half = np.where(low < high, 0.5 * (low + high), low), 0.5 * (high - low)
    bars = {"type": "data", "array": np.nan_to_num(half), "thickness": 1, "width": 3}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "truth",
        "uid": "truth",
        "x": curve.x,
        "y": _drawn(middle.tolist()),
        "error_y": bars if np.any(half > 0) else None,
        "marker": {"symbol": "circle-open", "size": 8, "color": ink, "line": {"width": 1.4}},
        "hovertemplate": "truth<br>%{x:.4~g}, %{y:.4~g}<extra></extra>",
    }


def _counterexample(star: tuple[float, float], ink: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "counterexample",
        "x": [star[0]],
        "y": [star[1]] if math.isfinite(star[1]) else [None],
        "marker": {"symbol": "star", "size": 17, "color": "#FFD23F", "line": {"color": ink}},
        "cliponaxis": False,
        "hovertemplate": "counterexample<br>%{x:.4~g}, %{y:.4~g}<extra></extra>",
    }


def _markers(cloud: Cloud, kind: str) -> dict[str, Any]:
    """The points of one verdict."""
    at = [k for k, verdict in enumerate(cloud.verdict) if verdict == kind]
    colour, symbol, words = _MARKERS[kind]
    stroke = {"color": colour, "width": 1.8}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": words,
        "x": _drawn([cloud.truth[k] for k in at]),
        "y": _drawn([cloud.value[k] for k in at]),
        "text": [cloud.words[k] for k in at] if cloud.words else None,
        "marker": {"symbol": symbol, "size": 8, "color": colour, "line": stroke},
        "hovertemplate": "truth %{x:.4~g}, value %{y:.4~g}<br>%{text}<extra></extra>",
    }


def _dot(name: str, colour: str, sign: str = "○") -> str:
    return f'<span style="color:{colour}">{sign} {name}</span>'


def _powers(figure: go.Figure, view: Frame) -> go.Figure:
    """Powers of ten on logarithmic axes, so many that they can be read."""
    for log, low, high, update in (
        (view.log_x, view.left, view.right, figure.update_xaxes),
        (view.log_y, view.lower, view.upper, figure.update_yaxes),
    ):
        size = max(abs(low), abs(high))
        plain = (low if log else size) >= 1e-3 and size < 1e6
        update(exponentformat="power", tickformat=".4~r" if plain else "")
        decades = math.log10(high / low) if log else 0.0
        if decades > 4:
            update(tickformat="", dtick=max(math.ceil(decades / 7), 1))
        elif decades > 0.5:
            update(dtick="D2")
    return figure
