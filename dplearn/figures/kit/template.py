"""One look for every figure: its Plotly template, and a colour and a marker per accountant.

The colours keep at least 11 CIELAB units between any two under normal, protan and deutan
vision, and a contrast of 2.7 or more on white and on the dark page. They carry no meaning
alone: each curve also has its own marker and its name at its end.
"""

import zlib
from typing import Any, NamedTuple

import plotly.graph_objects as go
import plotly.io as pio

from dplearn.figures.kit.text import NARROW_SPACE


class Style(NamedTuple):
    """How an accountant is drawn, everywhere; the glyph is its Plotly symbol as a character."""

    label: str
    colour: str
    symbol: str
    glyph: str


_STYLES = {
    "basic": Style("Basic", "#5C606B", "circle", "●"),
    "advanced": Style("Advanced", "#C79500", "triangle-up", "▲"),
    "optimal": Style("Optimal", "#E67FB4", "triangle-down", "▼"),
    "moments": Style("Moments", "#CC4400", "square", "■"),
    "rdp": Style("RDP", "#00996B", "diamond", "◆"),
    "zcdp": Style("zCDP", "#7A5230", "cross", "✚"),
    "gdp": Style("GDP", "#C070E0", "x", "✕"),
    "pld": Style("PLD", "#0067C8", "star", "★"),
    # What is said of a run and does not hold for it.
    "poisson_claim": Style("Poisson claim", "#D62839", "circle-open", "○"),
}
# For accountants that arrive later: chosen by name, so that they too keep their colour.
_SPARE = ("#8C6BB1", "#3F8F9F", "#A0522D", "#6B8E23", "#B0306A")

GREY, RED, STAR = "#808590", "#D62839", "#FFD23F"
CLEAR = "rgba(0,0,0,0)"
# Words, on a light and on a dark page.
INK = {"light": "#262B36", "dark": "#E8EAEE"}
# What a colour says beside the names of accountants.
_ROLES = {
    "exact": _STYLES["pld"].colour,
    "wrong": RED,
    "safe": _STYLES["advanced"].colour,
    "guess": _STYLES["gdp"].colour,
    "other": _STYLES["zcdp"].colour,
    "second": _STYLES["rdp"].colour,
    "third": _STYLES["moments"].colour,
    "quiet": GREY,
}


def style_of(name: str) -> Style:
    """The fixed style of an accountant.

    Examples
    --------
    >>> style_of("pld").label, style_of("pld").colour
    ('PLD', '#0067C8')
    """
    spare = _SPARE[zlib.crc32(name.encode()) % len(_SPARE)]
    return _STYLES.get(name) or Style(name, spare, "hexagon", "⬢")


def colour_of(role: str) -> str:
    """The colour of a role, or of an accountant."""
    return _ROLES.get(role) or style_of(role).colour


def transparent(colour: str, share: float) -> str:
    """A hexadecimal colour that lets what is below shine through.

    Examples
    --------
    >>> transparent("#0067C8", 0.2)
    'rgba(0,103,200,0.2)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


_FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", "Helvetica Neue", Arial, sans-serif'
_GRID = {"showgrid": True, "gridcolor": transparent(GREY, 0.22)}
_LINE = {"linecolor": GREY, "showline": True, "zeroline": False}
_TICKS = {"ticks": "outside", "tickcolor": GREY, "exponentformat": "power"}


def _template(
    ground: str, title: dict[str, Any], axis_title: int, **more: Any
) -> go.layout.Template:
    axis = {**_GRID, **_LINE, **_TICKS, "title": {"standoff": 8, "font": {"size": axis_title}}}
    layout = {
        "font": {"family": _FONT, "size": 14},
        "paper_bgcolor": ground,
        "plot_bgcolor": ground,
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": _FONT, "size": 15}, "align": "left"},
        "separators": f".{NARROW_SPACE}",
        # A finger that drags the picture scrolls the page; the buttons zoom.
        "dragmode": False,
        "modebar": {"bgcolor": CLEAR, "color": GREY, "activecolor": GREY},
        "title": title,
        "xaxis": axis,
        "yaxis": axis,
        "annotationdefaults": {"showarrow": False, "font": {"size": 13, "color": GREY}},
        "shapedefaults": {"layer": "below", "line": {"color": GREY, "width": 1.6}},
    }
    hover = {"hovertemplate": "%{x:.4~g}, %{y:.4~g}<extra>%{fullData.name}</extra>"}
    return go.layout.Template(layout=layout | more, data={"scatter": [hover], "bar": [hover]})


_TOP_LEFT = {"x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "container"}
_SUBTITLE = {"subtitle": {"font": {"size": 13, "color": GREY}}}
# On a page the ground is the page's; a notebook keeps its pictures, and their ground is white.
pio.templates["dplearn"] = _template(
    CLEAR, {**_TOP_LEFT, "yanchor": "top", "pad": {"t": 14}, **_SUBTITLE}, 15
)
_ROOM = {"margin": {"l": 75, "r": 130, "t": 60, "b": 60}}
pio.templates["dplearn_lesson"] = _template(
    "white", {"x": 0.02, "font": {"size": 19}}, 16, barmode="overlay", dragmode="zoom", **_ROOM
)
