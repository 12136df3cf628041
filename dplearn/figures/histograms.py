"""How often a number occurs, in groups of columns: votes for a favourite, scores of canaries."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Bars, keys, upright
from dplearn.figures.kit.panel import one_panel


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
    """How many numbers of each group lie between evenly spaced edges, with named limits.

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
    return one_panel(bars, x, y, finding, keys(*bars), barmode=mode, shapes=lines)
