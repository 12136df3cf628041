"""Figures that compare a formula with the true value along a parameter, or at all points."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from dplearn.teaching.book.pictures import Cloud, Stretch, Sweep
from dplearn.teaching.figures.kit.axes import Axis
from dplearn.teaching.figures.kit.marks import Curve, gaps, legend, markers, one_panel
from dplearn.teaching.figures.kit.template import GREY, INK, STAR, colour_of, transparent

# Colour name, hatch, marker, legend sample and legend text of each kind of region or point.
# The hatches distinguish regions in prints without colours.
_KINDS = {
    "right": ("exact", "", "circle-open", "○", "right"),
    "outside": ("quiet", "\\", "", "", "hypothesis fails"),
    "unsafe": ("wrong", "/", "x-thin", "✕", "too much privacy"),
    "safe": ("safe", ".", "diamond-open", "◇", "wrong, safe side"),
    "wrong": ("safe", "x", "diamond-open", "◇", "wrong"),
}
_WIDE = 30.0  # an axis is logarithmic if largest / smallest value is above this


def formula_curve(curve: Sweep, *, finding: str = "", x: str = "x") -> go.Figure:
    """Draw a formula as a line, true values as points; shade where the formula is invalid."""
    star = curve.star or ()
    heights = [_finite(v) for v in (curve.value, curve.low, curve.high, curve.own, star[1:])]
    ends, ticks = (*curve.ends, *star[:1]), dict(enumerate(curve.ticks)) or None
    across = Axis(title=x, lower=min(ends), upper=max(ends), log=curve.log_x, ticks=ticks)
    up = _wide_axis(np.concatenate(heights), star[1:])
    name, role = ("claim", "wrong") if curve.claimed else ("formula", "exact")
    at, value = list(curve.x), gaps(curve.value)
    for k in range(len(at) - 1, 0, -1):
        low, high = sorted(curve.value[k - 1 : k + 1])
        if low < up.lower and up.upper < high:
            # Leave a gap where the curve jumps across the whole picture.
            at.insert(k, curve.x[k])
            value.insert(k, None)
    line = Curve(x=at, y=value, label=name, role=role, corners=bool(curve.ticks))
    entry = Curve(x=curve.x, y=gaps(curve.own), label="formula", width=1.6)
    own = [entry] if len(curve.own) else []
    # True values, with error bars where only an interval around the true value is known.
    least, most = (np.asarray(v, dtype=float) for v in (curve.low, curve.high))
    with np.errstate(invalid="ignore"):
        middle, half = np.where(least < most, 0.5 * (least + most), least), 0.5 * (most - least)
    bars = {"type": "data", "array": np.nan_to_num(half), "thickness": 1, "width": 3}
    errors = bars if np.any(half > 0) else None
    look = {"symbol": "circle-open", "size": 8, "colour": INK, "edge": (1.4,)}
    exact = markers(curve.x, gaps(middle), "truth", error_y=errors, **look)
    shades = [_shade(region, across, up) for region in curve.regions]
    traces: list[Any] = [*shades, exact, *own, line]
    names = [line.key, ("○", INK, "truth"), *(curve.key for curve in own)]
    if curve.star is not None:
        look = {"symbol": "star", "size": 17, "colour": STAR, "edge": (0, INK)}
        traces.append(markers([curve.star[0]], gaps([curve.star[1]]), "counterexample", **look))
        names.append(("★", INK, "counterexample"))
    kinds = [_KINDS[kind] for kind in dict.fromkeys(region.kind for region in curve.regions)]
    names += [("■", colour_of(role), words) for role, *_, words in kinds]
    return one_panel(traces, across, up, finding, legend(*names))


def formula_cloud(cloud: Cloud, *, finding: str = "") -> go.Figure:
    """Draw points (true value, value of the formula), and the line where both are equal.

    Examples
    --------
    >>> drawn = Cloud(truth=[1, 2], value=[1, 3], verdict=["right", "safe"])
    >>> [trace.name for trace in formula_cloud(drawn).data]
    ['value = truth', 'right', 'wrong, safe side']
    """
    up = _wide_axis(np.concatenate([_finite(cloud.truth), _finite(cloud.value)]))
    ends = [up.lower, up.upper]
    diagonal = Curve(x=ends, y=ends, label="value = truth", role="quiet")
    names, traces = [diagonal.key], list[Any]([diagonal])
    for kind, (role, _, symbol, glyph, name) in _KINDS.items():
        if not (at := [k for k, verdict in enumerate(cloud.verdict) if verdict == kind]):
            continue
        x, y = (gaps([values[k] for k in at]) for values in (cloud.truth, cloud.value))
        colour = colour_of(role)
        names.append((glyph, colour, name))
        points = markers(x, y, name, symbol=symbol, size=8, colour=colour, edge=(1.8, colour))
        hover = "truth %{x:.4~g}, value %{y:.4~g}<br>%{text}<extra></extra>"
        text = [cloud.words[k] for k in at] if cloud.words else None
        traces.append(points | {"text": text, "hovertemplate": hover})
    if cloud.kind in ("upper", "lower"):
        side = "above" if cloud.kind == "upper" else "below"
        names.append(("", GREY, f"a bound may lie {side}"))
    across = replace(up, title="truth, by another way")
    return one_panel(traces, across, up, finding, legend(*names))


def _finite(values: ArrayLike) -> NDArray:
    every = np.asarray(values, dtype=float).ravel()
    return every[np.isfinite(every)]


def _wide_axis(values: NDArray, inside: Sequence[float] = ()) -> Axis:
    """Return an axis that covers the values, except a few outliers, and the values `inside`."""
    if not values.size:
        return Axis(title="value", lower=0.0, upper=1.0)
    low, high = float(np.min(values)), float(np.max(values))
    if low > 0 and high > _WIDE * low:
        low = max(low, 1e-15 * high)
        return Axis(title="value", lower=low / 1.5, upper=1.5 * high, log=True)
    above = values[values > 0]
    if low >= 0 and above.size > 0.8 * values.size and high > 1e3 * float(np.median(values)):
        low = max(float(np.min(above)), 1e-9 * high)
        return Axis(title="value", lower=low / 1.5, upper=1.5 * high, log=True)
    inner, outer = np.quantile(values, [0.1, 0.85] if values.size > 20 else [0.0, 1.0])
    room = max(outer - inner, 1e-3 * abs(outer), 1e-12)
    inside = _finite(inside).tolist()
    low = min([max(low, inner - room), *inside])
    high = max([min(high, outer + room), *inside])
    pad = 0.08 * max(high - low, room)
    lower = 0.0 if 0 <= low < 0.3 * high else low - pad
    return Axis(title="value", lower=lower, upper=high + pad)


def _shade(region: Stretch, across: Axis, up: Axis) -> dict[str, Any]:
    role, shape, *_, words = _KINDS[region.kind]
    left, right = max(region.left, across.lower), min(region.right, across.upper)
    x = [left, right, right, left, left]
    y = [up.lower, up.lower, up.upper, up.upper, up.lower]
    ink, ground = (transparent(colour_of(role), share) for share in (0.75, 0.13))
    solidity = 0.05 if shape == "." else 0.15
    hatch = dict(shape=shape, size=9, fgcolor=ink, bgcolor=ground, solidity=solidity)
    fill = {"fill": "toself", "fillpattern": hatch, "hoveron": "fills", "hoverinfo": "skip"}
    return {"mode": "lines", "line": {"width": 0}, "name": words, "x": x, "y": y, **fill}
