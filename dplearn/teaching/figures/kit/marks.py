"""Figure marks: lines, columns, bands and named points; one-panel figures."""

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

# Dashes, so that colour is not the only sign of a wrong curve.
_DASHES = {"wrong": "dash", "quiet": "dot"}
_SAMPLES = {"solid": "━━", "dash": "━ ━", "dot": "┅┅", "area": "■"}
_SIZE = 15  # of names, in pixels
# Numbers, or numbers and gaps.
Values = ArrayLike | Sequence[float | None]
# Margins of a page's figure; the last tick's words need half of their width at the right.
_SMALL = (66, 26, 78, 46)
TEMPLATE = PAGE.to_plotly_json()


@dataclass(frozen=True, kw_only=True)
class Part(ABC):
    """Part of a picture: places x and heights, of shape (n,), and a name."""

    x: ArrayLike
    label: str
    # Or "wrong", "safe", "guess", "other", "second", "third", "quiet", or an accountant's name.
    role: str = "exact"
    label_at: float = 0.5  # how far along the part the name stands, in [0, 1]
    side: str = "top right"  # of its point, in Plotly's words

    @property
    def heights(self) -> tuple[Values, ...]:
        """All heights, by default `y`; the name stands at their mean."""
        return (self.y,)  # type: ignore[attr-defined]

    @abstractmethod
    def traces(self) -> list[dict[str, Any]]:
        """Return the Plotly traces without the name."""

    @property
    def colour(self) -> str:
        """Colour of the part and of its name."""
        return colour_of(self.role)

    @property
    def key(self) -> tuple[str, str, str]:
        """Sample, colour and name for the legend."""
        return _SAMPLES["area"], self.colour, self.label

    def name(self) -> list[dict[str, Any]]:
        """Return the name as a trace of one point, which frames can move; none without a label."""
        if not self.label:
            return []
        x, y = np.asarray(self.x, dtype=float), np.mean(np.asarray(self.heights, dtype=float), 0)
        i = round(self.label_at * (x.size - 1))
        at = {"x": [float(x[i])], "y": [float(y[i])], "cliponaxis": False, "hoverinfo": "skip"}
        return [{**at, **_words(self.label, self.side, self.colour), "mode": "text"}]


@dataclass(frozen=True, kw_only=True)
class Curve(Part):
    """A curve with its name written beside one of its points."""

    y: Values
    label_at: float = 1.0
    side: str = "middle right"
    dash: str | None = None  # by default that of its role
    width: float | None = None  # by default wider if it is solid
    corners: bool = False  # whether points are marked

    @property
    def key(self) -> tuple[str, str, str]:
        return _SAMPLES[self._dash], self.colour, self.label

    @property
    def _dash(self) -> str:
        return self.dash or _DASHES.get(self.role, "solid")

    def traces(self) -> list[dict[str, Any]]:
        line = stroke(self.colour, self._dash) | {"simplify": False}
        curve = {"name": self.label, "x": self.x, "y": self.y, "mode": "lines", "line": line}
        if self.width:
            line["width"] = self.width
        if self.corners:
            curve |= {"mode": "lines+markers", "marker": {"size": 6}}
        return [curve]


@dataclass(frozen=True, kw_only=True)
class Bars(Part):
    """Columns side by side, as a histogram; the name stands at one of them."""

    y: Values
    width: float | None = None  # without one the columns touch

    def traces(self) -> list[dict[str, Any]]:
        x = np.asarray(self.x, dtype=float)
        width = self.width or (float(np.min(np.diff(x))) if x.size > 1 else 1.0)
        line = {"color": self.colour, "width": 0}
        at = {"name": self.label, "x": self.x, "y": self.y, "width": width}
        return [
            {"type": "bar", **at, "marker": {"color": transparent(self.colour, 0.45), "line": line}}
        ]


@dataclass(frozen=True, kw_only=True)
class Band(Part):
    """A shaded region between two curves, with its name in the middle of one of its columns."""

    lower: ArrayLike
    upper: ArrayLike
    role: str = "quiet"  # "wrong" where a claim is false
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
class Dot:
    """A point with its name."""

    x: float
    y: float | None
    label: str
    role: str = "exact"
    side: str = "top right"

    def traces(self) -> list[dict[str, Any]]:
        """Draw the point and its name."""
        words = _words(self.label, self.side, colour_of(self.role)) | {"mode": "markers+text"}
        look = {"symbol": "diamond", "size": 12, "colour": colour_of(self.role)}
        return [markers([self.x], [self.y], self.label, **look) | words]


def _words(text: str, side: str, colour: str) -> dict[str, Any]:
    air = "\N{EN SPACE}"
    shown = air + text if side.endswith("right") else text + air if side.endswith("left") else text
    return {"text": [shown], "textposition": side, "textfont": {"color": colour, "size": _SIZE}}


def markers(
    x: Any,
    y: Any,
    name: str,
    *,
    symbol: str,
    size: float,
    colour: Any,
    edge: Any = (0,),
    **more: Any,
) -> dict[str, Any]:
    """Return a trace of markers; `edge` is the width, or width and colour, of their outlines."""
    line = dict(zip(("width", "color"), edge, strict=False))
    marker = {"symbol": symbol, "size": size, "color": colour, "line": line}
    at = {"name": name, "x": x, "y": y, "mode": "markers", "cliponaxis": False}
    return {**at, "marker": marker, **more}


def stroke(colour: str, dash: str) -> dict[str, Any]:
    """Return the line style of a curve; a solid one is wider."""
    return {"color": colour, "width": 2.6 if dash == "solid" else 2.0, "dash": dash}


def gaps(values: Values) -> list[float | None]:
    """Return values with None where they are not finite.

    Examples
    --------
    >>> gaps([2, np.inf, np.nan])
    [2.0, None, None]
    """
    return [float(v) if math.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def legend(*entries: Part | tuple[str, str, str]) -> str:
    """Return a legend line of parts, or of (sample, colour, name) of traces.

    Examples
    --------
    >>> legend(("○", "#256ED1", "truth"))
    '<span style="color:#256ED1">○ truth</span>'
    """
    named = [entry.key if isinstance(entry, Part) else entry for entry in entries]
    return "   ".join(
        f'<span style="color:{c}">{sample} {name}</span>' for sample, c, name in named
    )


def upright(x: float | None, name: str = "", *, on: Axis | None = None) -> dict[str, Any]:
    """Draw a vertical dotted line at `x`, with its name beside its top; invisible at None.

    The name stands at its right, or at its left near the right end of the axis `on`.
    """
    side = "right" if on and x is not None and on.share(x) > 0.9 else "left"
    place = {"textposition": "end", "xanchor": side, "yanchor": "top"}
    label = {"text": name, "font": {"size": 15}, "padding": 5, "textangle": 0, **place}
    at = 1 if x is None else x
    line = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper"}
    return {**line, "line": {"dash": "dot"}, "label": label, "visible": x is not None}


class Unchecked(go.Figure):
    """Figure that Plotly validates when its parts are read, not when it is only shown.

    Validating the parts takes five times as long as making them.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self._unchecked = parts

    def __getattr__(self, name: str) -> Any:
        # A figure's own attributes are missing until the first of them is read.
        if "_unchecked" not in self.__dict__:
            raise AttributeError(name)
        super().__init__(self.__dict__.pop("_unchecked"))
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """Return data and layout as they are drawn, including the template."""
        return self.__dict__.get("_unchecked") or super().to_dict()


def one_panel(
    parts: Sequence[Any],
    x: Axis,
    y: Axis,
    finding: str,
    subtitle: str,
    *,
    height: int = 330,
    margin: Sequence[int] = _SMALL,
    size: float = 15.5,
    **more: Any,
) -> Unchecked:
    """Draw parts, or traces, in this order on one pair of axes, below a statement.

    A long statement is smaller than `size`, to keep clear of the buttons; the margin is left,
    right, top and bottom; `more` is passed to Plotly's layout.
    """
    traces = [t for part in parts for t in ([part] if isinstance(part, dict) else part.traces())]
    font = {"size": size if len(finding) <= 60 else min(size, 17)}
    title = {"text": f"<b>{finding}</b>", "subtitle": {"text": subtitle}, "font": font}
    sides = dict(zip("lrtb", margin, strict=True))
    layout = {"template": TEMPLATE, "height": height, "margin": sides, "title": title}
    axes = {"xaxis": x.layout(), "yaxis": y.layout()}
    return Unchecked({"data": traces, "layout": {**layout, **axes, **more}})
