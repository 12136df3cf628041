"""A convex curve held between two polygons, and how closely."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.curves import curves, panels
from dplearn.figures.kit.marks import Band, Line, Part


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
    at, upper, lower = corners
    # Names stand where a convex falling curve leaves room, counted in corners from the right.
    left: list[Part] = [Band(x=at, lower=lower, upper=upper, label="")]
    for height, name, role, (i, side) in (
        (upper, names[0], "rdp", (3, "top right")),
        (lower, names[2], "other", (1, "bottom left")),
    ):
        place = {"label_at": 1 - i / (np.size(height) - 1), "side": side}
        left.append(Line(x=at, y=height, label=name, role=role, width=1.6, corners=True, **place))
    left.append(Line(x=x, y=curve, label=names[1], label_at=0.05))
    right = [Line(x=x, y=np.zeros(np.size(x)), label="", role="quiet")]
    for rank, (mesh, pair) in enumerate(gaps.items()):
        for gap, role in zip(pair, ("rdp", "other"), strict=True):
            right.append(Line(x=x, y=gap, label=mesh, role=role, width=max(2.6 - rank, 1)))
    span = (0.0, float(np.max(x)))
    return panels(
        curves(left, title="", x=axes[0], y=axes[1], x_range=span),
        curves(right, title="", x=axes[0], y=axes[2], x_range=span),
        title=title,
    )
