"""What a server sees of phones, and what it costs where noise stands."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from dplearn.figures.kit.axes import Axis, powers
from dplearn.figures.kit.marks import Line, keys, markers
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import CLEAR, GREY, INK, colour_of


def seen_by_a_server(pictures: Mapping[str, NDArray], *, finding: str) -> go.Figure:
    """Square images of one size side by side, each below its caption; their largest value is dark.

    Examples
    --------
    >>> figure = seen_by_a_server({"raw": np.eye(2), "masked": np.ones((2, 2))}, finding="None")
    >>> figure.data[0].z.shape
    (2, 5)
    """
    side = len(next(iter(pictures.values())))
    gap, sheets = np.full((side, 1), np.nan), []
    for image in pictures.values():
        low, high = float(image.min()), float(image.max())
        sheets += [gap, (image - low) / (high - low) if high > low else np.ones_like(image)]
    shades = {"colorscale": [[0, CLEAR], [1, INK]], "showscale": False, "hoverinfo": "skip"}
    sheet = {"type": "heatmap", "name": "", "z": np.hstack(sheets[1:]), "zmin": 0, "zmax": 1}
    place = {"y": -0.8, "showarrow": False, "yanchor": "bottom", "font": {"size": 13}}
    captions, frames = [], []
    for rank, caption in enumerate(pictures):
        left = (side + 1) * rank - 0.5
        captions.append({"text": caption, "x": left + side / 2, **place})
        ends = {"x0": left, "x1": left + side, "y0": -0.5, "y1": side - 0.5}
        frames.append({"type": "rect", **ends, "line": {"color": GREY, "width": 1}})
    bare = {"visible": False, "fixedrange": True}
    # Right below the statement where a narrow page leaves room.
    square = {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
    x = Axis(lower=-0.6, upper=len(pictures) * (side + 1) - 1.4, more=bare)
    y = Axis(lower=side - 0.4, upper=-2.6, more={**bare, **square})
    more = {"annotations": captions, "shapes": frames, "margin": (16, 16, 66, 10)}
    return one_panel([sheet | shades], x, y, finding, "", height=330, **more)


def price_of_a_place(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    roles: tuple[str, ...],
    here: tuple[float, str],
    axes: tuple[str, str],
    log: bool,
    finding: str,
) -> go.Figure:
    """A line for each way to place noise, and a mark on one of them: `here` is its x and name.

    The second line is dashed, as it may lie on the first.

    Examples
    --------
    >>> figure = price_of_a_place(
    ...     [1, 2], {"server": [3, 4], "alone": [5, 6]}, roles=("exact", "other"),
    ...     here=(2, "alone"), axes=("m", "e"), log=False, finding="x",
    ... )
    >>> float(figure.data[-1].y[0])
    6.0
    """
    x = np.asarray(x, dtype=float)
    heights = {name: np.asarray(y, dtype=float) for name, y in lines.items()}
    drawn = [
        Line(x=x, y=y, label=name, role=role, dash="dash" if rank == 1 else "solid")
        for rank, ((name, y), role) in enumerate(zip(heights.items(), roles, strict=True))
    ]
    ends = np.concatenate([y[np.isfinite(y)] for y in heights.values()])
    low, high = (0.7 * ends.min(), 1.4 * ends.max()) if log else (0.0, 1.1 * ends.max())
    parts: list = [*drawn]
    if here[1] in heights:
        at = float(np.interp(here[0], x, heights[here[1]]))
        colour = colour_of(roles[list(heights).index(here[1])])
        look = {"symbol": "diamond", "size": 12, "colour": colour}
        parts.append(markers([here[0]], [at], "", **look))
    # More words would stand askew on a phone.
    ticks = powers(x[0], x[-1]) if log else None
    across = Axis(title=axes[0], lower=float(x[0]), upper=float(x[-1]), log=log, ticks=ticks)
    up = Axis(title=axes[1], lower=float(low), upper=float(high), log=log)
    return one_panel(parts, across, up, finding, keys(*drawn), height=330)
