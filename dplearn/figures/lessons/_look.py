"""Axes, ticks and type of the lessons' figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dplearn.figures.theme import FONT

WIDTH, HEIGHT = 760, 430
_GRID = "#E6E8EC"


def axis(
    values: Any, logarithmic: bool = False, span: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Look and range of an axis that holds `values`."""
    settings: dict[str, Any] = {"type": "log" if logarithmic else "linear"}
    settings |= {"gridcolor": _GRID, "zerolinecolor": _GRID, "ticks": "", "title_standoff": 12}
    if logarithmic:
        flat = np.concatenate([np.ravel(v) for v in values]) if isinstance(values, list) else values
        settings |= _log_ticks(*(span or (float(np.min(flat)), float(np.max(flat)))))
    if span is not None:
        ends = np.log10(span) if logarithmic else np.asarray(span, dtype=float)
        settings["range"] = [float(end) for end in ends]
    return settings


def _log_ticks(lower: float, upper: float) -> dict[str, Any]:
    """1, 2, 5 times the powers of ten, only the powers when there are many, or only some."""
    low, high = int(np.floor(np.log10(lower))), int(np.ceil(np.log10(upper)))
    marks = (1, 2, 5) if high - low <= 3 else (1,)
    apart = 1 + (high - low) // 10
    ticks = [(m, k) for k in range(low, high + 1, apart) for m in marks]
    plain = low >= -3 and high <= 4
    texts = [f"{m * 10.0**k:g}" if plain else _power(m, k) for m, k in ticks]
    return {"tickvals": [m * 10.0**k for m, k in ticks], "ticktext": texts}


def _power(factor: int, exponent: int) -> str:
    power = f"10<sup>{exponent}</sup>"
    return power if factor == 1 else f"{factor} · {power}"


def dressed(figure: go.Figure, title: str, *, height: int = HEIGHT, right: int = 130) -> go.Figure:
    """The lessons' look: white, large type, no legend, room for names on the right."""
    figure.update_layout(
        # An empty template: Plotly's own would be repeated in every stored figure.
        template=go.layout.Template(),
        paper_bgcolor="white",
        plot_bgcolor="white",
        title={"text": title, "x": 0.02, "font": {"size": 19}},
        font={"family": FONT, "size": 14},
        showlegend=False,
        barmode="overlay",
        width=WIDTH,
        height=height,
        margin={"l": 75, "r": right, "t": 60, "b": 60},
    )
    return figure
