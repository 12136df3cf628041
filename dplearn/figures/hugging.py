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
    """
    at, upper, lower = corners
    # Names stand where a convex falling curve leaves room, counted in corners from the right.
    left: list[Part] = [Band(x=at, lower=lower, upper=upper, label="")]
    for height, label, role, i, side in (
        (upper, "chords", "rdp", 3, "top right"),
        (lower, "moved cells", "other", 1, "bottom left"),
    ):
        look = {"role": role, "width": 1.6, "corners": True, "side": side}
        where = 1 - i / (np.size(height) - 1)
        left.append(Line(x=at, y=height, label=label, label_at=where, **look))
    left.append(Line(x=x, y=curve, label="truth", label_at=0.05))
    right = [Line(x=x, y=np.zeros(np.size(x)), label="", role="quiet")]
    for rank, (mesh, pair) in enumerate(gaps.items()):
        for gap, role in zip(pair, ("rdp", "other"), strict=True):
            right.append(Line(x=x, y=gap, label=mesh, role=role, width=max(2.6 - rank, 1)))
    common = {"title": "", "x": "e<sup>ε</sup>", "x_range": (0.0, float(np.max(x)))}
    away = curves(right, y="distance from the truth", **common)
    return panels(curves(left, y="δ", **common), away, title=title)
