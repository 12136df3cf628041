"""Pictures of pages with few numbers: columns, lines along one number, what a server sees."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from dplearn.teaching.figures.kit.axes import Axis, powers
from dplearn.teaching.figures.kit.marks import Bars, Curve, Dot, legend, markers, one_panel, upright
from dplearn.teaching.figures.kit.template import CLEAR, GREY, INK


def histogram(
    groups: Mapping[str, ArrayLike],
    edges: ArrayLike,
    *,
    roles: tuple[str, ...],
    axes: tuple[str, str],
    finding: str,
    limits: Iterable[tuple[str, float | None]],
    stacked: bool = True,
) -> go.Figure:
    """Columns of the numbers of each group between evenly spaced edges, with named limits.

    The columns of a group are `stacked` on those before it, or overlap them and leave room at the
    right for a limit's name; a group in the role "quiet" is hatched. A limit at None is not shown.

    Examples
    --------
    >>> groups = {"right": [9, 10, 10], "none": [4]}
    >>> look = {"roles": ("exact", "quiet"), "axes": ("votes", "queries"), "limits": [("T", 5)]}
    >>> figure = histogram(groups, [0, 5, 10], **look, finding="Most agree")
    >>> [bars.y.tolist() for bars in figure.data]
    [[0, 3], [1, 0]]
    """
    edges = np.asarray(edges, dtype=float)
    counted = [np.histogram(np.asarray(group, dtype=float), edges)[0] for group in groups.values()]
    paint: dict[str, Any] = {"x": 0.5 * (edges[1:] + edges[:-1])}
    paint |= {"opacity": 0.75} if stacked else {"opacity": 0.5, "edge": 1}
    bars = [
        Bars(y=y, label=name, role=role, hatched=role == "quiet", **paint)
        for name, y, role in zip(groups, counted, roles, strict=True)
    ]
    most, end = np.sum(counted, axis=0) if stacked else counted, float(edges[-1])
    end = end if stacked else float(1.2 * end - 0.2 * edges[0])
    x = Axis(title=axes[0], lower=float(edges[0]), upper=end)
    y = Axis(title=axes[1], lower=0.0, upper=1.15 * max(1.0, float(np.max(most))))
    lines = [upright(place, name, on=x) for name, place in limits]
    mode = "stack" if stacked else "overlay"
    return one_panel(bars, x, y, finding, legend(*bars), barmode=mode, shapes=lines)


def price_lines(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    roles: tuple[str, ...],
    dashed: tuple[str, ...],
    axes: tuple[str, str],
    finding: str,
    here: tuple[float, str] = (0, ""),
    log: bool = False,
) -> go.Figure:
    """Named lines, those of some roles dashed, and a mark on one of them: `here` is its x and name.

    Examples
    --------
    >>> look = {"roles": ("exact", "other"), "dashed": ("other",), "axes": ("m", "e")}
    >>> lines = {"server": [3, 4], "alone": [5, 6]}
    >>> figure = price_lines([1, 2], lines, here=(2, "alone"), finding="x", **look)
    >>> float(figure.data[-1].y[0])
    6.0
    """
    x, parts, marks = np.asarray(x, dtype=float), [], []
    for (name, heights), role in zip(lines.items(), roles, strict=True):
        y, dash = np.asarray(heights, dtype=float), "dash" if role in dashed else "solid"
        parts.append(line := Curve(x=x, y=y, label=name, role=role, dash=dash))
        if name == here[1]:
            look = {"symbol": "diamond", "size": 12, "colour": line.colour}
            marks.append(markers([here[0]], [np.interp(here[0], x, y)], "", **look))
    ends = np.concatenate([line.y[np.isfinite(line.y)] for line in parts])
    low, high = (0.7 * ends.min(), 1.4 * ends.max()) if log else (0.0, 1.1 * ends.max())
    # More words would stand askew on a phone.
    ticks = powers(x[0], x[-1]) if log else None
    first, last = float(x[0]) if log else 0.0, float(x[-1])
    across = Axis(title=axes[0], lower=first, upper=last, log=log, ticks=ticks)
    up = Axis(title=axes[1], lower=float(low), upper=float(high), log=log)
    return one_panel([*parts, *marks], across, up, finding, legend(*parts))


def proved_by_guesses(
    sizes: ArrayLike,
    proved: ArrayLike,
    ceiling: ArrayLike,
    *,
    here: tuple[float, float],
    claim: float,
    finding: str,
) -> go.Figure:
    """Epsilon proved by each number of guesses, the most it could prove, the claim as a line.

    `here` is the number that was fixed beforehand, and what it proved.

    Examples
    --------
    >>> figure = proved_by_guesses([10, 90], [0, 1], [0, 2], here=(90, 1), claim=3, finding="One")
    >>> [trace.name for trace in figure.data]
    ['ε proved', 'if all were right', 'this audit']
    """
    x = np.asarray(sizes, dtype=float)
    lines = [
        Curve(x=x, y=np.asarray(proved, dtype=float), label="ε proved"),
        Curve(x=x, y=np.asarray(ceiling, dtype=float), label="if all were right", role="quiet"),
    ]
    # Above a rising curve, where the claim's line does not strike it, if there is room at the left.
    late = np.log(here[0] / x[0]) > 0.3 * np.log(x[-1] / x[0])
    side = "top left" if late else "bottom right"
    mark = Dot(x=here[0], y=here[1], label="this audit", role="wrong", side=side)
    top = 1.15 * max(claim, float(np.max(ceiling)), here[1])
    named = {"x": 0, "xref": "paper", "y": claim, "text": "ε claimed", "showarrow": False}
    named |= {"xanchor": "left", "yanchor": "bottom", "font": {"size": 15}}
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": claim, "y1": claim}
    return one_panel(
        [*lines, mark],
        Axis(title="number of guesses", lower=float(x[0]), upper=float(x[-1]) * 1.05, log=True),
        Axis(title="ε", lower=0.0, upper=top),
        finding,
        legend(*lines),
        shapes=[{"type": "line", **ends, "line": {"dash": "dot"}}],
        annotations=[named],
    )


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
    return one_panel([sheet | shades], x, y, finding, "", height=270, **more)
