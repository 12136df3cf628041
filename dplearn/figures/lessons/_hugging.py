"""A convex curve held between two polygons, and how closely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from dplearn.figures.lessons._elements import Line, colour_of
from dplearn.figures.lessons._look import axis, dressed

_BAND = "rgba(128, 133, 144, 0.22)"


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
    left += Line(x=x, y=curve, label=names[1], label_at=0.05).traces()
    right = Line(x=x, y=np.zeros(np.size(x)), label="", role="quiet").traces()
    for rank, (mesh, pair) in enumerate(gaps.items()):
        for gap, role in zip(pair, ("rdp", "other"), strict=True):
            trace, name = Line(x=x, y=gap, label=mesh, role=role).traces()
            right += [trace.update(line_width=max(2.6 - rank, 1)), name]
    for column, traces in enumerate((left, right), start=1):
        figure.add_traces(traces, rows=[1] * len(traces), cols=[column] * len(traces))
    figure.update_xaxes(title_text=axes[0], **axis(x, span=(0, float(np.max(x)))))
    figure.update_yaxes(title_text=axes[1], **axis(curve), col=1)
    figure.update_yaxes(title_text=axes[2], **axis(curve), col=2)
    return dressed(figure, title, right=80)


def _corners(line: Line, fill: bool) -> list[Any]:
    """A polygon with its corners and its name; `fill` shades up to what was drawn before."""
    polygon, name = line.traces()
    colour = colour_of(line.role)
    polygon.update(mode="lines+markers", line_width=1.6, marker={"color": colour, "size": 7})
    if fill:
        polygon.update(fill="tonexty", fillcolor=_BAND)
    # "To next y" means the trace before: the name must not come between two polygons.
    return [polygon, name] if fill else [name, polygon]
