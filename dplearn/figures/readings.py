"""Several epsilons of one run, each on a line of its own below what it assumes."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dplearn.figures.curves import BARE, axis, lesson
from dplearn.figures.kit import text
from dplearn.figures.kit.template import GREY, colour_of
from dplearn.ground.guarantee import Guarantee


def ladder(told: Mapping[str, Guarantee], *, title: str) -> go.Figure:
    """Epsilons on one logarithmic axis, from top to bottom; a bar is what is not decided.

    Examples
    --------
    >>> one = Guarantee(epsilon=2.0, delta=1e-5, kind="exact", method="pld",
    ...                 adjacency="add_remove")
    >>> ladder({"as planned": one}, title="One run").data[-1].x[0]
    2.0
    """
    upper = np.array([g.epsilon for g in told.values()])
    lower = np.array([g.lower if g.kind == "bracket" else g.epsilon for g in told.values()])
    rows, ends = -np.arange(len(told), dtype=float), (lower.min() / 3, 5 * upper.max())
    shared = {"hoverinfo": "skip", "showlegend": False, "textposition": "middle right"}
    # A hair inside: a name on the end of the axis would be left out.
    names = {"x": [1.01 * ends[0]] * len(told), "y": rows + 0.32, "text": list(told)}
    names |= {"mode": "text", "textfont": {"color": GREY, "size": 14}}
    values = [f" {text.epsilon(g, 4)}" for g in told.values()]
    points = {"x": upper.tolist(), "y": rows, "text": values, "mode": "markers+text"}
    points["marker"] = {"size": 10, "color": colour_of("exact")}
    bar = {"symmetric": False, "array": 0 * upper, "arrayminus": upper - lower}
    points["error_x"] = bar | {"thickness": 5, "width": 0, "color": colour_of("exact")}
    bare = BARE | {"zeroline": False, "range": [0.4 - len(told), 0.8]}
    x, height = axis("ε", [lower, upper], True, ends), 120 + 46 * len(told)
    return lesson([names | shared, points | shared], title, height=height, xaxis=x, yaxis=bare)
