"""The area by which one density rises above another: what delta is."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from dplearn.figures.lessons._elements import Line, Mark
from dplearn.figures.lessons._look import axis, dressed

_SHADE = "rgba(214, 40, 57, 0.30)"


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
    point = Mark(x=here[0], y=here[1], label=f"{here[1]:.3g}").traces()
    right = [*Line(x=curve[0], y=curve[1], label="").traces(), *point]
    if target is not None:
        level = np.full(np.size(curve[0]), target)
        right += Line(x=curve[0], y=level, label="", role="quiet").traces()
    for column, traces in enumerate((_excess(x, p, scaled_q, names), right), start=1):
        figure.add_traces(traces, rows=[1] * len(traces), cols=[column] * len(traces))
    figure.update_xaxes(title_text=axes[0], **axis(x), col=1)
    figure.update_yaxes(title_text="density", **axis(p), col=1)
    figure.update_xaxes(title_text=axes[1], **axis(curve[0]), col=2)
    figure.update_yaxes(title_text=axes[2], **axis(curve[1], log_y), col=2)
    return dressed(figure, title, right=50)


def _excess(x: Any, p: Any, scaled_q: Any, names: tuple[str, str]) -> list[Any]:
    """Invisible lower edge, p filled down to it, and the other density."""
    (edge,) = Line(x=x, y=np.minimum(p, scaled_q), label="").traces()
    edge.update(line_width=0, hoverinfo="skip", hovertemplate=None)
    # p is named on its right flank, where it is the upper of the two; q at its top.
    flank = float(np.flatnonzero(p > 0.3 * np.max(p))[-1]) / (np.size(p) - 1)
    top = float(np.argmax(scaled_q)) / (np.size(scaled_q) - 1)
    upper, name = Line(x=x, y=p, label=names[0], label_at=flank, side="top right").traces()
    upper.update(fill="tonexty", fillcolor=_SHADE)
    other = Line(x=x, y=scaled_q, label=names[1], role="quiet", label_at=top, side="top center")
    return [edge, upper, name, *other.traces()]
