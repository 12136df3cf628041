"""What a figure is drawn with: lines, columns, bands and marks, each with its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dplearn.figures.kit.template import GREY, colour_of, transparent

# Colour never stands alone: what must not be trusted is dashed.
_DASHES = {"wrong": "dash", "quiet": "dot"}
_SAMPLES = {"solid": "━━", "dash": "╍╍", "dot": "┅┅", "area": "■", "star": "★", "circle-open": "○"}
_NAME_SIZE = 15  # in pixels
# Two values of a trace, whatever its coordinates are; the name stands in a box of its own.
_HOVER = "%{x:.4~g}, %{y:.4~g}<extra>"


class Element(Protocol):
    """A part of a figure: where it lies, and the traces that draw it."""

    label: str

    @property
    def x(self) -> Any: ...
    @property
    def colour(self) -> str: ...
    @property
    def sample(self) -> str: ...
    @property
    def heights(self) -> tuple[ArrayLike, ...]: ...
    def traces(self) -> list[dict[str, Any]]: ...


@dataclass(frozen=True, kw_only=True)
class _Named:
    """What lines, columns and bands share.

    Parameters
    ----------
    x : array_like
        Shape (n,).
    label : str
    role : str
        "exact", "wrong", "safe", "guess", "other", "quiet", or an accountant's name.
    label_at : float
        How far along the part its name stands, in [0, 1].
    side : str
        Where the name stands relative to its point, in Plotly's words.
    """

    x: ArrayLike
    label: str
    role: str = "exact"
    label_at: float = 0.5
    side: str = "top right"

    @property
    def colour(self) -> str:
        """Of the part and of its name."""
        return colour_of(self.role)

    @property
    def sample(self) -> str:
        """What stands before its name in a list of names."""
        return _SAMPLES["area"]

    def name(self) -> list[dict[str, Any]]:
        """The name as a trace of one point, so that frames can move it; none without a label."""
        if not self.label:
            return []
        x, y = np.asarray(self.x, dtype=float), np.mean(np.asarray(self.heights, dtype=float), 0)
        i = round(self.label_at * (x.size - 1))
        words = _words(self.label, self.side, self.colour)
        at = {"x": [float(x[i])], "y": [float(y[i])]}
        return [{**at, **words, "mode": "text", "cliponaxis": False, "hoverinfo": "skip"}]

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        """All heights, for the axis; the name stands at their middle."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Line(_Named):
    """A curve with its name written beside one of its points.

    Parameters
    ----------
    y : array_like
        Shape (n,).
    dash : str, optional
        Default: as the role has it.
    width : float, optional
        Default: strong where it is solid.
    corners : bool
        Its points are seen.
    """

    y: ArrayLike
    label_at: float = 1.0
    side: str = "middle right"
    dash: str | None = None
    width: float | None = None
    corners: bool = False

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        return (self.y,)

    @property
    def sample(self) -> str:
        """A short piece of the line."""
        return _SAMPLES[self._dash]

    @property
    def _dash(self) -> str:
        return self.dash or _DASHES.get(self.role, "solid")

    def traces(self) -> list[dict[str, Any]]:
        """The curve."""
        line = stroke(self.colour, self._dash) | {"simplify": False}
        curve = {
            "type": "scatter",
            "name": self.label,
            "x": self.x,
            "y": self.y,
            "mode": "lines+markers" if self.corners else "lines",
            "line": line | ({"width": self.width} if self.width else {}),
            "hovertemplate": f"{_HOVER}{self.label}</extra>",
        }
        return [curve | ({"marker": {"size": 6}} if self.corners else {})]


@dataclass(frozen=True, kw_only=True)
class Bars(_Named):
    """Columns side by side, as a histogram; the name stands at one of them.

    Parameters
    ----------
    y : array_like
        Heights, shape (n,).
    width : float, optional
        Of a column; by default the columns touch.
    opacity : float
    edge : float
        Width of the columns' outlines.
    hatched : bool
    """

    y: ArrayLike
    width: float | None = None
    opacity: float = 0.45
    edge: float = 0
    hatched: bool = False

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        return (self.y,)

    def traces(self) -> list[dict[str, Any]]:
        """The columns."""
        x = np.asarray(self.x, dtype=float)
        fill = transparent(self.colour, self.opacity)
        paint = {"color": fill, "line": {"color": self.colour, "width": self.edge}}
        if self.hatched:
            paint["pattern"] = {"shape": "/", "size": 5, "fgcolor": self.colour, "bgcolor": fill}
        columns = {
            "type": "bar",
            "name": self.label,
            "x": self.x,
            "y": self.y,
            "width": self.width or (float(np.min(np.diff(x))) if x.size > 1 else 1.0),
            "marker": paint,
            "hovertemplate": f"{_HOVER}{self.label}</extra>",
        }
        return [columns]


@dataclass(frozen=True, kw_only=True)
class Band(_Named):
    """A shaded region between two curves, with its name in the middle of one of its columns.

    Parameters
    ----------
    lower, upper : array_like
        Shape (n,); the role "wrong" is where a claim is false.
    opacity : float
    """

    lower: ArrayLike
    upper: ArrayLike
    role: str = "quiet"
    side: str = "middle center"
    opacity: float = 0.18

    @property
    def heights(self) -> tuple[ArrayLike, ...]:
        return (self.lower, self.upper)

    def traces(self) -> list[dict[str, Any]]:
        """Its lower edge and, filled down to it, its upper one."""
        edge = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
        edge |= {"name": self.label, "x": self.x, "line": {"width": 0, "simplify": False}}
        fill = {"fill": "tonexty", "fillcolor": transparent(self.colour, self.opacity)}
        return [{**edge, "y": self.lower}, {**edge, "y": self.upper, **fill}]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point with its name, and an interval around it when it is an estimate."""

    x: float
    y: float | None
    label: str
    role: str = "exact"
    side: str = "top right"
    lower: float | None = None
    upper: float | None = None

    def traces(self) -> list[dict[str, Any]]:
        """The point and its name."""
        colour = colour_of(self.role)
        words = _words(self.label, self.side, colour) | {"name": self.label, "mode": "markers+text"}
        words["hovertemplate"] = f"{_HOVER}</extra>"
        if self.y is not None and self.lower is not None and self.upper is not None:
            words["error_y"] = {"array": [self.upper - self.y], "arrayminus": [self.y - self.lower]}
        return [points([self.x], [self.y], symbol="diamond", size=12, colour=colour) | words]


def _words(text: str, side: str, colour: str) -> dict[str, Any]:
    """`text` beside its point, with air between them."""
    air = "\N{EN SPACE}"
    right, left = side.endswith("right"), side.endswith("left")
    return {
        "type": "scatter",
        "text": [air + text if right else text + air if left else text],
        "textposition": side,
        "textfont": {"color": colour, "size": _NAME_SIZE},
    }


def points(
    x: Any, y: Any, *, symbol: str, size: float, colour: Any, edge: Any = None, **more: Any
) -> dict[str, Any]:
    """Markers; `edge` is the width and perhaps the colour of their outlines."""
    width, *rest = edge if isinstance(edge, tuple) else (edge or 0,)
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": x,
        "y": y,
        "marker": {
            "symbol": symbol,
            "size": size,
            "color": colour,
            "line": {"width": width} | ({"color": rest[0]} if rest else {}),
        },
        **more,
    }


def stroke(colour: str, dash: str) -> dict[str, Any]:
    """The line of a curve: what is solid is drawn stronger."""
    return {"color": colour, "width": 2.6 if dash == "solid" else 2.0, "dash": dash}


def keys(*named: Element | tuple[str, str, str]) -> str:
    """Names of what is drawn, each with a sample, for below the title.

    Parameters
    ----------
    named : Element or tuple of str
        A part of the figure; or a sample's kind, colour and name.

    Examples
    --------
    >>> keys(("area", "#0067C8", "δ"))
    '<span style="color:#0067C8">■ δ</span>'
    """
    entries = [
        (_SAMPLES.get(n[0], n[0]), *n[1:])
        if isinstance(n, tuple)
        else (n.sample, n.colour, n.label)
        for n in named
    ]
    return "   ".join(
        f'<span style="color:{c}">{sample} {name}</span>' for sample, c, name in entries
    )


def upright(x: float | None, name: str = "", *, end: str = "top") -> dict[str, Any]:
    """A dotted line at a value of the x axis, with its name beside one end; unseen at None."""
    place = {"textposition": "end" if end == "top" else "start", "xanchor": "left", "yanchor": end}
    label = {"text": name, "font": {"size": 15}, "padding": 5, "textangle": 0, **place}
    return {
        "type": "line",
        "x0": 1 if x is None else x,
        "x1": 1 if x is None else x,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": GREY, "width": 1.6, "dash": "dot"},
        "layer": "below",
        "visible": x is not None,
        **({"label": label} if name else {}),
    }


def level(y: float | None, dash: str = "solid") -> dict[str, Any]:
    """A grey line at a value of the y axis, across the whole figure; unseen at None."""
    return {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": "paper",
        "y0": 1 if y is None else y,
        "y1": 1 if y is None else y,
        "line": {"color": GREY, "width": 1.6, "dash": dash},
        "layer": "below",
        "visible": y is not None,
    }
