"""Figures of the lessons: curves, a number line, the leaking area, hugging polygons, a slider.

Each function draws arrays that were computed elsewhere. The title is the statement, curves
carry their names, and a slider needs no kernel: its frames are in the figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from dplearn.plotting.theme import FONT, GREY, PUBLISHED, style_of

# What a colour says in a lesson; any other role is the name of an accountant.
_COLOURS = {
    "exact": style_of("pld").colour,
    "wrong": PUBLISHED,
    "guess": style_of("gdp").colour,
    "other": style_of("zcdp").colour,
    "quiet": GREY,
}
# Colour never stands alone: what must not be trusted is dashed.
_DASHES = {"wrong": "dash", "quiet": "dot"}
_SHADE, _ZONE = "rgba(214, 40, 57, 0.30)", "rgba(214, 40, 57, 0.10)"
_BAND, _GRID = "rgba(128, 133, 144, 0.22)", "#E6E8EC"
_WIDTH, _HEIGHT = 760, 430


@dataclass(frozen=True, kw_only=True)
class Line:
    """A curve with its name written beside one of its points.

    Parameters
    ----------
    x, y : array_like
        Shape (n,).
    label : str
    role : str
        "exact", "wrong", "guess", "other", "quiet", or an accountant's name.
    label_at : float
        How far along the curve the name stands, in [0, 1].
    side : str
        Where the name stands relative to its point, in Plotly's words.
    """

    x: ArrayLike
    y: ArrayLike
    label: str
    role: str = "exact"
    label_at: float = 1.0
    side: str = "middle right"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with its name, and an interval around it when it is an estimate."""

    x: float
    y: float
    label: str
    role: str = "exact"
    side: str = "top right"
    lower: float | None = None
    upper: float | None = None


def curves(
    lines: Sequence[Line],
    *,
    title: str,
    x: str,
    y: str,
    marks: Sequence[Mark] = (),
    zone: tuple[float, float, str] | None = None,
    log_x: bool = False,
    log_y: bool = False,
    y_range: tuple[float, float] | None = None,
) -> go.Figure:
    """Curves and points on one pair of axes, named `x` and `y`.

    Parameters
    ----------
    lines : sequence of Line
    title : str
        What the figure states.
    x, y : str
        Symbol, meaning and unit of the axes.
    marks : sequence of Mark
    zone : tuple of float, float and str, optional
        Heights between which a claim is false, and what to write there.
    log_x, log_y : bool
    y_range : tuple of float, optional
        In data units.
    """
    figure = go.Figure([trace for line in lines for trace in _line(line)])
    figure.add_traces([_mark(mark) for mark in marks])
    if zone is not None:
        figure.add_hrect(zone[0], zone[1], fillcolor=_ZONE, line_width=0, layer="below")
        figure.add_scatter(**_zone_name(*zone, lines[0]))
    figure.update_xaxes(title_text=x, **_axis([line.x for line in lines], log_x))
    figure.update_yaxes(title_text=y, **_axis([line.y for line in lines], log_y, y_range))
    return _dressed(figure, title)


def number_line(points: Mapping[str, float], *, title: str) -> go.Figure:
    """Positive numbers on one logarithmic line, each with its name; "your guess" stands out."""
    roles = {"truth": "exact", "your guess": "guess"}
    figure = go.Figure()
    ranked = sorted(points.items(), key=lambda item: item[1])
    for rank, (label, value) in enumerate(ranked):
        side = "bottom center" if rank % 2 else "top center"
        text = f"{label}<br>{value:.4g}"
        role = roles.get(label, "other")
        figure.add_trace(_mark(Mark(x=value, y=0, label=text, role=role, side=side)))
    axis = _axis(list(points.values()), True, (ranked[0][1] / 3, ranked[-1][1] * 3))
    figure.update_xaxes(**axis | {"showgrid": False, "ticks": "outside", "tickcolor": GREY})
    figure.update_yaxes(showticklabels=False, showgrid=False, zerolinecolor=GREY, range=[-1, 1])
    return _dressed(figure, title, height=230)


def leak(
    *,
    x: ArrayLike,
    p: ArrayLike,
    scaled_q: ArrayLike,
    curve: tuple[ArrayLike, ArrayLike],
    here: tuple[float, float],
    title: str,
    names: tuple[str, str] = ("p", "e · q"),
    axes: tuple[str, str, str] = ("published number", "ε (nats)", "δ"),
    log_y: bool = False,
    target: float | None = None,
) -> go.Figure:
    """Left: what density p rises above e^epsilon q, shaded. Right: a curve, and where we are on it.

    Parameters
    ----------
    x, p, scaled_q : array_like
        Outputs, p there, and e^epsilon q there, shape (n,).
    curve : tuple of array_like
        Abscissae and heights on the right.
    here : tuple of float
        The point on that curve.
    title : str
    names : tuple of str
        Of p and of the scaled q.
    axes : tuple of str
        Names of the left x axis, the right x axis and the right y axis.
    log_y : bool
        Of the right panel.
    target : float, optional
        A height to reach, drawn as a dotted line on the right.
    """
    figure = make_subplots(cols=2, horizontal_spacing=0.17, column_widths=[0.55, 0.45])
    point = _mark(Mark(x=here[0], y=here[1], label=f"{here[1]:.3g}"))
    right = [*_line(Line(x=curve[0], y=curve[1], label="")), point]
    if target is not None:
        level = np.full(np.size(curve[0]), target)
        right += _line(Line(x=curve[0], y=level, label="", role="quiet"))
    for column, traces in enumerate((_excess(x, p, scaled_q, names), right), start=1):
        figure.add_traces(traces, rows=[1] * len(traces), cols=[column] * len(traces))
    figure.update_xaxes(title_text=axes[0], **_axis(x), col=1)
    figure.update_yaxes(title_text="density", **_axis(p), col=1)
    figure.update_xaxes(title_text=axes[1], **_axis(curve[0]), col=2)
    figure.update_yaxes(title_text=axes[2], **_axis(curve[1], log_y), col=2)
    return _dressed(figure, title, right=50)


def slider(figures: Mapping[str, go.Figure], *, name: str, start: int = 0) -> go.Figure:
    """One figure whose slider steps through `figures`; works without a kernel.

    Parameters
    ----------
    figures : mapping of str to Figure
        Slider label to what is shown there; the same traces and axes in each.
    name : str
        What the slider changes.
    start : int
        Index of the figure shown first.
    """
    labels = list(figures)
    shown: Any = go.Figure(figures[labels[start]])
    shown.frames = [_frame(label, figure, shown) for label, figure in figures.items()]
    now = {
        "mode": "immediate",
        "frame": {"duration": 0, "redraw": True},
        "transition": {"duration": 0},
    }
    steps = [{"label": label, "method": "animate", "args": [[label], now]} for label in labels]
    current = {"prefix": f"{name} = ", "font": {"size": 16}}
    bar = {"active": start, "steps": steps, "currentvalue": current, "pad": {"t": 60}, "len": 1.0}
    shown.update_layout(sliders=[bar], height=shown.layout.height + 110, margin_b=110)
    return shown


def _frame(label: str, figure: Any, shown: Any) -> go.Frame:
    """Only what differs from the figure shown first."""
    data = []
    for trace, first in zip(figure.data, shown.data, strict=True):
        new = {key: trace[key] for key in ("x", "y") if not np.array_equal(trace[key], first[key])}
        data.append(new | ({"text": trace.text} if trace.text != first.text else {}))
    return go.Frame(name=label, data=data, layout={"title": {"text": figure.layout.title.text}})


def _excess(x: Any, p: Any, scaled_q: Any, names: tuple[str, str]) -> list[go.Scatter]:
    """Invisible lower edge, p filled down to it, and the other density."""
    (edge,) = _line(Line(x=x, y=np.minimum(p, scaled_q), label=""))
    edge.update(line_width=0, hoverinfo="skip", hovertemplate=None)
    # p is named on its right flank, where it is the upper of the two; q at its top.
    flank = float(np.flatnonzero(p > 0.3 * np.max(p))[-1]) / (np.size(p) - 1)
    top = float(np.argmax(scaled_q)) / (np.size(scaled_q) - 1)
    upper, name = _line(Line(x=x, y=p, label=names[0], label_at=flank, side="top right"))
    upper.update(fill="tonexty", fillcolor=_SHADE)
    other = Line(x=x, y=scaled_q, label=names[1], role="quiet", label_at=top, side="top center")
    return [edge, upper, name, *_line(other)]


def _zone_name(lower: float, upper: float, name: str, line: Line) -> dict[str, Any]:
    """The zone's name, in the zone, where the first curve begins."""
    font = {"color": PUBLISHED, "size": 15}
    where = {"x": [np.min(line.x)], "y": [(lower + upper) / 2], "textposition": "middle right"}
    return {**where, "text": [name], "mode": "text", "textfont": font, "hoverinfo": "skip"}


def _colour(role: str) -> str:
    return _COLOURS.get(role) or style_of(role).colour


def _line(line: Line) -> list[go.Scatter]:
    """The curve, and its name as a trace of one point, so that frames can move it."""
    # Single precision is finer than any screen and halves the notebook.
    x, y = (np.asarray(values, dtype=np.float32) for values in (line.x, line.y))
    stroke = {
        "simplify": False,
        "color": _colour(line.role),
        "dash": _DASHES.get(line.role, "solid"),
        "width": 2.6,
    }
    hover = "%{x:.4g}, %{y:.4g}<extra>" + line.label + "</extra>"
    curve = go.Scatter(x=x, y=y, mode="lines", line=stroke, hovertemplate=hover)
    if not line.label:
        return [curve]
    i = round(line.label_at * (x.size - 1))
    name = go.Scatter(
        x=[float(x[i])],
        y=[float(y[i])],
        text=[_spaced(line.label, line.side)],
        mode="text",
        textposition=line.side,
        textfont={"color": _colour(line.role), "size": 15},
        cliponaxis=False,
        hoverinfo="skip",
    )
    return [curve, name]


def _spaced(text: str, side: str) -> str:
    """`text` with air between it and its point."""
    air = "\N{EN SPACE}"
    return air + text if side.endswith("right") else text + air if side.endswith("left") else text


def _mark(mark: Mark) -> go.Scatter:
    error = None
    if mark.lower is not None and mark.upper is not None:
        error = {"array": [mark.upper - mark.y], "arrayminus": [mark.y - mark.lower]}
    return go.Scatter(
        x=[mark.x],
        y=[mark.y],
        text=[_spaced(mark.label, mark.side)],
        mode="markers+text",
        textposition=mark.side,
        textfont={"color": _colour(mark.role), "size": 15},
        marker={"color": _colour(mark.role), "size": 12, "symbol": "diamond"},
        error_y=error,
        cliponaxis=False,
        hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
    )


def _axis(
    values: Any, logarithmic: bool = False, span: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Look and range of an axis that holds `values`."""
    settings: dict[str, Any] = {"type": "log" if logarithmic else "linear"}
    settings |= {"gridcolor": _GRID, "zerolinecolor": _GRID, "ticks": "", "title_standoff": 12}
    if logarithmic:
        flat = np.concatenate([np.ravel(v) for v in values]) if isinstance(values, list) else values
        settings |= _log_ticks(*(span or (float(np.min(flat)), float(np.max(flat)))))
    if span is not None:
        ends = np.log10(span) if logarithmic else np.asarray(span, dtype=float)
        settings["range"] = [float(end) for end in ends]
    return settings


def _log_ticks(lower: float, upper: float) -> dict[str, Any]:
    """1, 2, 5 times the powers of ten, or only the powers when there are many."""
    low, high = int(np.floor(np.log10(lower))), int(np.ceil(np.log10(upper)))
    marks = (1, 2, 5) if high - low <= 3 else (1,)
    ticks = [(m, k) for k in range(low, high + 1) for m in marks]
    plain = low >= -3 and high <= 4
    texts = [f"{m * 10.0**k:g}" if plain else _power(m, k) for m, k in ticks]
    return {"tickvals": [m * 10.0**k for m, k in ticks], "ticktext": texts}


def _power(factor: int, exponent: int) -> str:
    power = f"10<sup>{exponent}</sup>"
    return power if factor == 1 else f"{factor} · {power}"


def _dressed(
    figure: go.Figure, title: str, *, height: int = _HEIGHT, right: int = 130
) -> go.Figure:
    """The lessons' look: white, large type, no legend, room for names on the right."""
    figure.update_layout(
        # An empty template: Plotly's own would be repeated in every stored figure.
        template=go.layout.Template(),
        paper_bgcolor="white",
        plot_bgcolor="white",
        title={"text": title, "x": 0.02, "font": {"size": 19}},
        font={"family": FONT, "size": 14},
        showlegend=False,
        width=_WIDTH,
        height=height,
        margin={"l": 75, "r": right, "t": 60, "b": 60},
    )
    return figure


def hugging(
    *,
    x: ArrayLike,
    curve: ArrayLike,
    corners: tuple[ArrayLike, ArrayLike, ArrayLike],
    gaps: Mapping[str, tuple[ArrayLike, ArrayLike]],
    title: str,
    names: tuple[str, str, str] = ("chords", "truth", "moved cells"),
    axes: tuple[str, str, str] = ("e<sup>ε</sup>", "δ", "distance from the truth"),
) -> go.Figure:
    """Left: a convex curve between two polygons. Right: how far each is away, mesh by mesh.

    Parameters
    ----------
    x, curve : array_like
        Shape (n,).
    corners : tuple of array_like
        Abscissae of the corners, heights of the upper and of the lower polygon there.
    gaps : mapping of str to tuple of array_like
        Name of a mesh -> upper and lower polygon minus the curve, each of shape (n,).
    title : str
    names : tuple of str
        Of the upper polygon, the curve and the lower polygon.
    axes : tuple of str
        Names of the common x axis, the left y axis and the right y axis.
    """
    figure = make_subplots(cols=2, horizontal_spacing=0.15, column_widths=[0.52, 0.48])
    # Names stand where a convex falling curve leaves room; i counts corners from the right.
    places = [(3, "top right"), (1, "bottom left")]
    left = []
    for height, name, role, (i, side) in zip(
        corners[1:], names[::2], ("rdp", "other"), places, strict=True
    ):
        at = 1 - i / (np.size(height) - 1)
        polygon = Line(x=corners[0], y=height, label=name, role=role, label_at=at, side=side)
        left += _corners(polygon, fill=bool(left))
    left += _line(Line(x=x, y=curve, label=names[1], label_at=0.05))
    right = _line(Line(x=x, y=np.zeros(np.size(x)), label="", role="quiet"))
    for rank, (mesh, pair) in enumerate(gaps.items()):
        for gap, role in zip(pair, ("rdp", "other"), strict=True):
            trace, name = _line(Line(x=x, y=gap, label=mesh, role=role))
            right += [trace.update(line_width=max(2.6 - rank, 1)), name]
    for column, traces in enumerate((left, right), start=1):
        figure.add_traces(traces, rows=[1] * len(traces), cols=[column] * len(traces))
    figure.update_xaxes(title_text=axes[0], **_axis(x, span=(0, float(np.max(x)))))
    figure.update_yaxes(title_text=axes[1], **_axis(curve), col=1)
    figure.update_yaxes(title_text=axes[2], **_axis(curve), col=2)
    return _dressed(figure, title, right=80)


def _corners(line: Line, fill: bool) -> list[go.Scatter]:
    """A polygon with its corners and its name; `fill` shades up to what was drawn before."""
    polygon, name = _line(line)
    colour = _colour(line.role)
    polygon.update(mode="lines+markers", line_width=1.6, marker={"color": colour, "size": 7})
    if fill:
        polygon.update(fill="tonexty", fillcolor=_BAND)
    # "To next y" means the trace before: the name must not come between two polygons.
    return [polygon, name] if fill else [name, polygon]
