"""The area by which one law rises above another: what delta is."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from dplearn.figures.curves import curves, panels
from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Band, Bars, Line, Mark, keys
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import INK

# What is lower than this, relative to the top, is out of view; so many bars are enough.
_SMALL, _MOST = 1e-3, 600


def leaking_area(
    *,
    x: ArrayLike,
    p: ArrayLike,
    q: ArrayLike,
    scaled_q: ArrayLike,
    whole: bool,
    finding: str,
    names: tuple[str, str] = ("P", "Q"),
    axis: str = "released number",
    ink: str = INK["light"],
) -> go.Figure:
    """Two laws at places in ascending order, with what P has above e^epsilon Q shaded.

    If `whole` they are probabilities of the places, drawn as bars, else densities.

    Examples
    --------
    >>> coin = {"x": [0, 1], "p": [0.7, 0.3], "q": [0.3, 0.7], "scaled_q": [0.6, 1.4]}
    >>> figure = leaking_area(**coin, whole=True, finding="A coin")
    >>> [round(float(y), 2) for y in figure.data[1].y]
    [0.1, 0.0]
    """
    x, p, q, scaled_q = (np.asarray(a, dtype=float) for a in (x, p, q, scaled_q))
    top = 1.12 * max(np.max(p), np.max(q))
    high = np.flatnonzero(np.maximum(p, q) > _SMALL * top)
    pad = 0.5 if whole else 0.0
    across = Axis(title=axis, lower=float(x[high[0]]) - pad, upper=float(x[high[-1]]) + pad)
    up = Axis(title="probability" if whole else "density", lower=0.0, upper=float(top))
    if whole:
        few = slice(high[0], high[-1] + 1, 1 + (high[-1] - high[0]) // _MOST)
        x, p, q, scaled_q = (a[few] for a in (x, p, q, scaled_q))
    # What is far above the picture would only slow it down.
    scaled_q = np.minimum(scaled_q, 3 * top)
    covered = np.minimum(p, scaled_q)
    if whole:
        law, area = _bars(x, covered, p - covered, names[0])
        # Corners of staircases that are level over each bar.
        half = 0.5 * (x[1] - x[0])
        at = np.column_stack([x - half, x + half]).ravel()
        second, scaled = np.repeat(q, 2), np.repeat(scaled_q, 2)
    else:
        law, at, second, scaled = Line(x=x, y=p, label=names[0]), x, q, scaled_q
        area = Band(x=x, lower=covered, upper=p, label="δ", role="wrong", opacity=0.45)
    others = [
        Line(x=at, y=second, label=names[1], role="other", dash="dot"),
        Line(x=at, y=scaled, label="e<sup>ε</sup>·Q", role="quiet", dash="dash"),
    ]
    shown = [law, area, *others] if whole else [area, law, *others]
    legend = keys(law, *others, area)
    return one_panel(shown, across, up, finding, legend, ink=ink, height=330, barmode="stack")


def _bars(x: NDArray, covered: NDArray, above: NDArray, name: str) -> tuple[Bars, Bars]:
    """Bars of height P in two parts: up to the scaled Q, and above it."""
    width, edge = 0.75 * (x[1] - x[0]), 1.4 if x.size < 60 else 0
    law = Bars(x=x, y=covered, label=name, width=width, opacity=0.35, edge=edge)
    return law, Bars(x=x, y=above, label="δ", role="wrong", width=width)


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
    names, axes : tuple of str
        Of p and the scaled q; of the left x axis, the right x axis and the right y axis.
    log_y : bool
        Of the right panel.
    target : float, optional
        A height to reach, drawn as a dotted line on the right.
    """
    x, p, scaled_q = (np.asarray(a, dtype=float) for a in (x, p, scaled_q))
    # p is named on its right flank, where it is the upper of the two; q at its top.
    flank = float(np.flatnonzero(p > 0.3 * np.max(p))[-1]) / (p.size - 1)
    top = float(np.argmax(scaled_q)) / (scaled_q.size - 1)
    area = Band(x=x, lower=np.minimum(p, scaled_q), upper=p, label="", role="wrong", opacity=0.3)
    law = Line(x=x, y=p, label=names[0], label_at=flank, side="top right")
    other = Line(x=x, y=scaled_q, label=names[1], role="quiet", label_at=top, side="top center")
    left = curves([area, law, other], title="", x=axes[0], y="density")
    lines = [Line(x=curve[0], y=curve[1], label="")]
    if target is not None:
        flat = np.full(np.size(curve[0]), target)
        lines.append(Line(x=curve[0], y=flat, label="", role="quiet"))
    mark = Mark(x=here[0], y=here[1], label=f"{here[1]:.3g}")
    right = curves(lines, title="", x=axes[1], y=axes[2], marks=[mark], log_y=log_y)
    return panels(left, right, title=title)
