"""One pair of axes on a page, with the statement above and the names of what is drawn below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.template import page

_MARGIN = (66, 16, 78, 46)


def picture(
    parts: Sequence[Any],
    x: Axis,
    y: Axis,
    finding: str,
    names: str,
    *,
    ink: str,
    height: int,
    **more: Any,
) -> go.Figure:
    """Parts, or traces, on a small pair of axes.

    Parameters
    ----------
    parts : sequence
        Lines, columns, bands, marks or traces, drawn in this order.
    x, y : Axis
    finding : str
        The statement.
    names : str
        Of what is drawn, from `keys`.
    ink : str
        Colour of words and numbers.
    height : int
    """
    traces = [t for p in parts for t in ([p] if isinstance(p, dict) else p.traces())]
    layout = {"xaxis": x.layout(), "yaxis": y.layout(), **more}
    layout = page(finding, names, ink=ink, height=height, margin=_MARGIN, size=15.5, **layout)
    return go.Figure({"data": traces, "layout": layout})
