"""Figures behind one slider, in a single figure that needs no kernel."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go


def slider(figures: Mapping[str, go.Figure], *, name: str, start: int = 0) -> go.Figure:
    """One figure whose slider steps through `figures`, by their labels; works without a kernel.

    All have the same traces and axes. The slider changes what has the `name`, from `start` on.
    """
    labels = list(figures)
    shown: Any = go.Figure(figures[labels[start]])
    shown.frames = [_frame(label, figure, shown) for label, figure in figures.items()]
    frame = {"frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    now = {"mode": "immediate", **frame}
    steps = [
        {"label": label.replace("-", "−"), "method": "animate", "args": [[label], now]}
        for label in labels
    ]
    current = {"prefix": f"{name} = ", "font": {"size": 16}}
    bar = {"active": start, "steps": steps, "currentvalue": current, "pad": {"t": 60}, "len": 1.0}
    shown.update_layout(sliders=[bar], height=shown.layout.height + 110, margin_b=110)
    return shown


def _frame(label: str, figure: Any, shown: Any) -> go.Frame:
    """Only what differs from the figure shown first."""
    data = []
    for trace, first in zip(figure.data, shown.data, strict=True):
        new = {key: trace[key] for key in ("x", "y") if not np.array_equal(trace[key], first[key])}
        # Without its type a frame would turn columns into a line.
        words = {"text": trace.text} if trace.text != first.text else {}
        data.append({"type": trace.type} | new | words)
    return go.Frame(name=label, data=data, layout={"title": {"text": figure.layout.title.text}})
