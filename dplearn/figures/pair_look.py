"""The look that the five pictures of one pair of outputs share."""

from __future__ import annotations

from typing import Any

from dplearn.figures._frame import Frame
from dplearn.figures._layout import axis, look, title
from dplearn.figures.theme import GREY, PUBLISHED, style_of, transparent

# What a colour says; none of them says it alone.
P_COLOUR, Q_COLOUR, RENYI = style_of("pld").colour, style_of("zcdp").colour, style_of("rdp").colour
LEAK = PUBLISHED
LEAK_AREA = transparent(LEAK, 0.45)
_MARGIN = {"l": 66, "r": 16, "t": 78, "b": 46}
_STROKES = {"solid": "━━", "dash": "╍╍", "dot": "┅┅", "area": "■"}


def dressed(
    view: Frame, finding: str, names: str, *, x: str, y: str, ink: str, **more: Any
) -> dict[str, Any]:
    """Layout with the statement on top, the names of what is drawn below it, and both axes."""
    return {
        **look(view, ink, round(view.height)),
        "margin": _MARGIN,
        "title": {**title(finding, names), "font": {"size": 15.5}},
        "xaxis": {**axis(x, view.log_x, view.x_range), "tickformat": ".4~g"},
        "yaxis": {**axis(y, view.log_y, view.y_range), "tickformat": ".3~g"},
        **more,
    }


def key(name: str, colour: str, stroke: str = "solid") -> str:
    """A name with a sample of its line, for below the title."""
    return f'<span style="color:{colour}">{_STROKES[stroke]} {name}</span>'


def keys(*entries: str) -> str:
    """Names of what is drawn, side by side."""
    return "   ".join(entries)


def line(
    x: Any, y: Any, name: str, colour: str, *, dash: str = "solid", **more: Any
) -> dict[str, Any]:
    """A curve; strong where it is solid."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "uid": name,
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 2.6 if dash == "solid" else 2.0, "dash": dash},
        "hovertemplate": f"{name}<br>%{{x:.4~g}}, %{{y:.4~g}}<extra></extra>",
        **more,
    }


def point(
    x: float, y: float, name: str, colour: str, label: str = "", side: str = "top right"
) -> dict[str, Any]:
    """The point in use."""
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": name,
        "uid": name,
        "x": [x],
        "y": [y],
        "text": [label],
        "textposition": side,
        "textfont": {"color": colour, "size": 14},
        "marker": {"symbol": "diamond", "size": 12, "color": colour},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def upright(x: float, name: str, *, end: str = "top") -> dict[str, Any]:
    """A dotted line at a value of the x axis, with its name beside one of its ends."""
    place = {"textposition": "end" if end == "top" else "start", "xanchor": "left", "yanchor": end}
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": GREY, "width": 1.6, "dash": "dot"},
        "label": {"text": name, "font": {"size": 15}, "padding": 5, "textangle": 0, **place},
    }
