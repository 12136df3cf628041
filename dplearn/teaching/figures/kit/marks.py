"""Curves, columns, bands and named points, and figures with one panel."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.teaching.figures.kit.axes import Axis
from dplearn.teaching.figures.kit.template import PAGE, colour_of, transparent

# Dashes of curves with these roles, for readers who do not see the colours.
_DASHES = {"wrong": "dash", "quiet": "dot"}
_SAMPLES = {"solid": "━━", "dash": "━ ━", "dot": "┅┅"}
# Numbers along a curve; None is a gap.
Values = ArrayLike | Sequence[float | None]
# Margins of a figure in the explorer; the label of the last tick extends to the right.
_SMALL = {"l": 66, "r": 26, "t": 78, "b": 46}


@dataclass(frozen=True, kw_only=True)
class Part(ABC):
    """Curve, columns, region or point in a figure, with a name.

    Parameters
    ----------
    x : array_like, positions on the horizontal axis, shape (n,)
    label : str, name beside one of the points; empty for none
    role : str, "exact", "wrong", "safe", "guess", "other", "second", "third", "quiet" or the name
        of an accountant, which sets the colour
    label_at : float, position of the name along the part, in [0, 1]
    side : str, position of the name relative to its point, such as "top right"
    """

    x: ArrayLike
    label: str
    role: str = "exact"
    label_at: float = 0.5
    side: str = "top right"

    @property
    def heights(self) -> tuple[Values, ...]:
        """Heights of the part's curves, by default of one curve; the name is at their mean."""
        return (self.y,)  # type: ignore[attr-defined]

    @abstractmethod
    def traces(self) -> list[dict[str, Any]]:
        """Return the Plotly traces of the part; only the trace of a point shows the label."""

    @property
    def colour(self) -> str:
        """Colour of the part and of its name."""
        return colour_of(self.role)

    def name(self) -> list[dict[str, Any]]:
        """Return the label as a trace of one point, which a slider can move; [] without a label."""
        if not self.label:
            return []
        x, y = np.asarray(self.x, dtype=float), np.mean(np.asarray(self.heights, dtype=float), 0)
        i = round(self.label_at * (x.size - 1))
        at = {"x": [float(x[i])], "y": [float(y[i])], "cliponaxis": False, "hoverinfo": "skip"}
        return [at | self.words | {"mode": "text"}]

    @property
    def words(self) -> dict[str, Any]:
        """Plotly's fields for a trace that shows the label as text."""
        left = "\N{EN SPACE}" if self.side.endswith("right") else ""  # space between point and text
        right = "\N{EN SPACE}" if self.side.endswith("left") else ""
        font = {"color": self.colour, "size": 15}
        return {"text": [left + self.label + right], "textposition": self.side, "textfont": font}


@dataclass(frozen=True, kw_only=True)
class Curve(Part):
    """Curve with its name beside one of its points. Other parameters are fields of `Part`.

    Parameters
    ----------
    y : array_like, heights, shape (n,); None leaves a gap
    dash : str or None, "solid", "dash" or "dot"; by default that of the role
    width : float or None, width in pixels, > 0; by default larger for a solid curve
    corners : bool, whether the points are marked
    """

    y: Values
    label_at: float = 1.0
    side: str = "middle right"
    dash: str | None = None
    width: float | None = None
    corners: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Entry of the legend: characters that look like the curve, colour and name."""
        return _SAMPLES[self._dash], self.colour, self.label

    @property
    def _dash(self) -> str:
        return self.dash or _DASHES.get(self.role, "solid")

    def traces(self) -> list[dict[str, Any]]:
        width = self.width or (2.6 if self._dash == "solid" else 2.0)
        line = {"color": self.colour, "width": width, "dash": self._dash, "simplify": False}
        curve = {"name": self.label, "x": self.x, "y": self.y, "mode": "lines", "line": line}
        if self.corners:
            curve |= {"mode": "lines+markers", "marker": {"size": 6}}
        return [curve]


@dataclass(frozen=True, kw_only=True)
class Bars(Part):
    """Columns of a histogram, with a name at one column. Other parameters are fields of `Part`.

    Parameters
    ----------
    y : array_like, heights, shape (n,)
    width : float or None, width of a column in units of x, > 0; by default the columns touch
    """

    y: Values
    width: float | None = None

    def traces(self) -> list[dict[str, Any]]:
        x = np.asarray(self.x, dtype=float)
        width = self.width or (float(np.min(np.diff(x))) if x.size > 1 else 1.0)
        line = {"color": self.colour, "width": 0}
        marker = {"color": transparent(self.colour, 0.45), "line": line}
        at = {"name": self.label, "x": self.x, "y": self.y, "width": width}
        return [{"type": "bar", **at, "marker": marker}]


@dataclass(frozen=True, kw_only=True)
class Band(Part):
    """Shaded region between two curves, with its name. Other parameters are fields of `Part`.

    Parameters
    ----------
    lower, upper : array_like, heights of the curves, shape (n,)
    opacity : float, opacity of the region, in [0, 1]
    """

    lower: ArrayLike
    upper: ArrayLike
    role: str = "quiet"
    side: str = "middle center"
    opacity: float = 0.18

    @property
    def heights(self) -> tuple[Values, ...]:
        return (self.lower, self.upper)

    def traces(self) -> list[dict[str, Any]]:
        thin = {"width": 0, "simplify": False}
        edge = dict(name=self.label, x=self.x, mode="lines", hoverinfo="skip", line=thin)
        fill = {"fill": "tonexty", "fillcolor": transparent(self.colour, self.opacity)}
        return [{**edge, "y": self.lower}, {**edge, "y": self.upper, **fill}]


@dataclass(frozen=True, kw_only=True)
class Dot(Part):
    """Point with its name. Other parameters are fields of `Part`.

    Parameters
    ----------
    x : float, position on the horizontal axis, any number
    y : float or None, height, any number; None hides the point
    """

    x: float
    y: float | None

    def traces(self) -> list[dict[str, Any]]:
        look = {"symbol": "diamond", "size": 12, "colour": self.colour}
        point = markers([self.x], [self.y], self.label, **look)
        return [point | self.words | {"mode": "markers+text"}]


def markers(
    x: Any, y: Any, name: str, *, symbol: str, size: int, colour: Any, edge: Any = (0,), **more: Any
) -> dict[str, Any]:
    """Return a trace of markers; `edge` has the width of outlines and, optionally, a colour."""
    line = dict(zip(("width", "color"), edge, strict=False))
    marker = {"symbol": symbol, "size": size, "color": colour, "line": line}
    at = {"name": name, "x": x, "y": y, "mode": "markers", "cliponaxis": False}
    return {**at, "marker": marker, **more}


def gaps(values: Values) -> list[float | None]:
    """Replace values that are not finite by None."""
    return [float(v) if math.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def legend(*entries: tuple[str, str, str]) -> str:
    """Return a legend as a line of HTML; each entry is (sample, colour, name)."""
    spans = (f'<span style="color:{c}">{glyph} {name}</span>' for glyph, c, name in entries)
    return "   ".join(spans)


def one_panel(
    parts: Sequence[Any],
    x: Axis,
    y: Axis,
    finding: str,
    subtitle: str,
    **more: Any,
) -> go.Figure:
    """Draw parts or traces on one pair of axes below a title; `more` goes to Plotly's layout."""
    traces = [t for part in parts for t in ([part] if isinstance(part, dict) else part.traces())]
    title = {"text": f"<b>{finding}</b>", "subtitle": {"text": subtitle}}
    layout = {"template": PAGE, "height": 370, "margin": _SMALL, "title": title}
    layout |= {"xaxis": x.layout(), "yaxis": y.layout()}
    return go.Figure({"data": traces, "layout": layout | more})
