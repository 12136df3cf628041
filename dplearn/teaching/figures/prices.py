"""Figures of the audit page: scores of canaries, and epsilon proved by guesses."""

from collections.abc import Iterable, Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.teaching.figures.kit.axes import Axis
from dplearn.teaching.figures.kit.marks import Bars, Curve, Dot, legend, one_panel, upright


def histogram(
    groups: Mapping[str, ArrayLike],
    edges: ArrayLike,
    *,
    roles: tuple[str, ...],
    axes: tuple[str, str],
    finding: str,
    limits: Iterable[tuple[str, float]],
) -> go.Figure:
    """Draw overlapping columns: numbers of each group between evenly spaced edges; named limits.

    A group in the role "quiet" is hatched. At the right there is room for the name of a limit.

    Examples
    --------
    >>> groups = {"in": [9, 10, 10], "out": [4]}
    >>> look = {"roles": ("exact", "quiet"), "axes": ("score", "number"), "limits": [("T", 5)]}
    >>> figure = histogram(groups, [0, 5, 10], **look, finding="Far apart")
    >>> [bars.y.tolist() for bars in figure.data]
    [[0, 3], [1, 0]]
    """
    edges = np.asarray(edges, dtype=float)
    counted = [np.histogram(np.asarray(group, dtype=float), edges)[0] for group in groups.values()]
    middle = 0.5 * (edges[1:] + edges[:-1])
    bars = [
        Bars(x=middle, y=y, label=name, role=role, hatched=role == "quiet", opacity=0.5, edge=1)
        for name, y, role in zip(groups, counted, roles, strict=True)
    ]
    end = float(1.2 * edges[-1] - 0.2 * edges[0])
    x = Axis(title=axes[0], lower=float(edges[0]), upper=end)
    y = Axis(title=axes[1], lower=0.0, upper=1.15 * max(1.0, float(np.max(counted))))
    lines = [upright(place, name, on=x) for name, place in limits]
    return one_panel(bars, x, y, finding, legend(*bars), barmode="overlay", shapes=lines)


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
