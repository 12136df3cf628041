"""What a figure of a lesson is made of, and how each part is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.theme import GREY, PUBLISHED, style_of, transparent

# What a colour says in a lesson; any other role is the name of an accountant.
_COLOURS = {
    "exact": style_of("pld").colour,
    "wrong": PUBLISHED,
    "guess": style_of("gdp").colour,
    "other": style_of("zcdp").colour,
    "quiet": GREY,
}
# Colour never stands alone: what must not be trusted is dashed.
_DASHES = {"wrong": "dash", "quiet": "dot"}
_SIZE = 15  # of names, in pixels


class Element(Protocol):
    """A part of a figure: where it lies, and the traces that draw it."""

    @property
    def x(self) -> ArrayLike: ...
    @property
    def heights(self) -> tuple[ArrayLike, ...]: ...
    def traces(self) -> list[Any]: ...


@dataclass(frozen=True, kw_only=True)
class Line:
    """A curve with its name written beside one of its points.

    Parameters
    ----------
    x, y : array_like
        Shape (n,).
    label : str
    role : str
        "exact", "wrong", "guess", "other", "quiet", or an accountant's name.
    label_at : float
        How far along the curve the name stands, in [0, 1].
    side : str
        Where the name stands relative to its point, in Plotly's words.
    """

    x: ArrayLike
    y: ArrayLike
    label: str
    role: str = "exact"
    label_at: float = 1.0
    side: str = "middle right"

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        return (self.y,)

    def traces(self) -> list[Any]:
        """The curve, and its name as a trace of one point, so that frames can move it."""
        # Single precision is finer than any screen and halves the notebook.
        x, y = (np.asarray(values, dtype=np.float32) for values in (self.x, self.y))
        stroke = {
            "simplify": False,
            "color": colour_of(self.role),
            "dash": _DASHES.get(self.role, "solid"),
            "width": 2.6,
        }
        hover = "%{x:.4g}, %{y:.4g}<extra>" + self.label + "</extra>"
        curve = go.Scatter(x=x, y=y, mode="lines", line=stroke, hovertemplate=hover)
        return _with_name([curve], x, y, self)


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Columns that others shine through, such as a histogram; the name stands at one of them.

    Parameters
    ----------
    x, y : array_like
        Centres and heights, shape (n,).
    label, role, label_at, side
        As of `Line`.
    width : float, optional
        Of a column; by default the columns touch.
    """

    x: ArrayLike
    y: ArrayLike
    label: str
    role: str = "exact"
    label_at: float = 0.5
    side: str = "top right"
    width: float | None = None

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        return (self.y,)

    def traces(self) -> list[Any]:
        x, y = (np.asarray(values, dtype=np.float32) for values in (self.x, self.y))
        width = self.width or (float(np.min(np.diff(x))) if x.size > 1 else 1.0)
        paint = {"color": colour_of(self.role), "opacity": 0.45, "line": {"width": 0}}
        hover = "%{x:.4g}, %{y:.4g}<extra>" + self.label + "</extra>"
        columns = go.Bar(x=x, y=y, width=width, marker=paint, hovertemplate=hover)
        return _with_name([columns], x, y, self)


@dataclass(frozen=True, kw_only=True)
class Band:
    """A shaded region between two curves, with its name in the middle of one of its columns.

    Parameters
    ----------
    x, lower, upper : array_like
        Shape (n,).
    label, role, label_at
        As of `Line`; the role "wrong" is where a claim is false.
    """

    x: ArrayLike
    lower: ArrayLike
    upper: ArrayLike
    label: str
    role: str = "quiet"
    label_at: float = 0.5
    side: str = "middle center"

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        return (self.lower, self.upper)

    def traces(self) -> list[Any]:
        x, low, high = (
            np.asarray(values, dtype=np.float32) for values in (self.x, self.lower, self.upper)
        )
        edge = {"width": 0, "simplify": False}
        floor = go.Scatter(x=x, y=low, mode="lines", line=edge, hoverinfo="skip")
        fill = {"fill": "tonexty", "fillcolor": transparent(colour_of(self.role), 0.18)}
        region = go.Scatter(x=x, y=high, mode="lines", line=edge, hoverinfo="skip", **fill)
        return _with_name([floor, region], x, (low + high) / 2, self)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with its name, and an interval around it when it is an estimate."""

    x: float
    y: float
    label: str
    role: str = "exact"
    side: str = "top right"
    lower: float | None = None
    upper: float | None = None

    def traces(self) -> list[Any]:
        error = None
        if self.lower is not None and self.upper is not None:
            error = {"array": [self.upper - self.y], "arrayminus": [self.y - self.lower]}
        mark = go.Scatter(
            x=[self.x],
            y=[self.y],
            text=[_spaced(self.label, self.side)],
            mode="markers+text",
            textposition=self.side,
            textfont={"color": colour_of(self.role), "size": _SIZE},
            marker={"color": colour_of(self.role), "size": 12, "symbol": "diamond"},
            error_y=error,
            cliponaxis=False,
            hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
        )
        return [mark]


def colour_of(role: str) -> str:
    """The colour of a role, or of an accountant."""
    return _COLOURS.get(role) or style_of(role).colour


def _with_name(traces: list[Any], x: Any, y: Any, part: Line | Bars | Band) -> list[Any]:
    """`traces`, and the part's name, if it has one, so far along x and y as it says."""
    if not part.label:
        return traces
    i = round(part.label_at * (x.size - 1))
    name = go.Scatter(
        x=[float(x[i])],
        y=[float(y[i])],
        text=[_spaced(part.label, part.side)],
        mode="text",
        textposition=part.side,
        textfont={"color": colour_of(part.role), "size": _SIZE},
        cliponaxis=False,
        hoverinfo="skip",
    )
    return [*traces, name]


def _spaced(text: str, side: str) -> str:
    """`text` with air between it and its point."""
    air = "\N{EN SPACE}"
    return air + text if side.endswith("right") else text + air if side.endswith("left") else text
