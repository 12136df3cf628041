"""A page's figure: the statement on top, below it what it is about or what is drawn."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dplearn.figures.kit.axes import Axis

_SMALL = (66, 16, 78, 46)


def page(
    finding: str, subtitle: str, *, height: int, margin: Sequence[int], size: float = 19
) -> dict[str, Any]:
    """Layout without axes; the margin is left, right, top and bottom.

    A long statement is smaller than `size`, to keep clear of the buttons.
    """
    size = size if len(finding) <= 60 else min(size, 17)
    title = {"text": f"<b>{finding}</b>", "subtitle": {"text": subtitle}, "font": {"size": size}}
    sides = dict(zip("lrtb", margin, strict=True))
    look = {"template": "dplearn", "height": height, "margin": sides}
    return {**look, "title": title}


def one_panel(
    parts: Sequence[Any],
    x: Axis,
    y: Axis,
    finding: str,
    subtitle: str,
    *,
    height: int,
    margin: Sequence[int] = _SMALL,
    size: float = 15.5,
    **more: Any,
) -> go.Figure:
    """Parts, or traces, in this order on one pair of axes; the rest as of `page` and Plotly."""
    traces = [t for part in parts for t in ([part] if isinstance(part, dict) else part.traces())]
    layout = page(finding, subtitle, height=height, margin=margin, size=size)
    axes = {"xaxis": x.layout(), "yaxis": y.layout()}
    return go.Figure({"data": traces, "layout": {**layout, **axes, **more}})
