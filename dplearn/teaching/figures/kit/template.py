"""Plotly templates of all figures, and a colour and a marker for each accountant.

Each colour has a counterpart for dark pages. The contrast with the page is at least 4.5, enough
for text. Any two colours are at least 9 CIELAB units apart under normal, protan and deutan vision;
each curve also has its own marker and its name at its end.
"""

import re
import zlib
from typing import Any, NamedTuple

import plotly.graph_objects as go
import plotly.io as pio

from dplearn.teaching.figures.kit.text import NARROW_SPACE


class Style(NamedTuple):
    """Style of an accountant in all figures; `glyph` is the character that looks like `symbol`."""

    label: str
    colour: str
    symbol: str
    glyph: str
    on_dark: str  # colour on a dark page


GREY, RED, STAR = "#6C717C", "#CE1246", "#FFD23F"
CLEAR = "rgba(0,0,0,0)"
INK = "#262B36"
STYLES = {
    "basic": Style("Basic", "#5B5D69", "circle", "●", "#868894"),
    "advanced": Style("Advanced", "#8D6D15", "triangle-up", "▲", "#CE9A0A"),
    "optimal": Style("Optimal", "#B85187", "triangle-down", "▼", "#E980B5"),
    "moments": Style("Moments", "#D03A00", "square", "■", "#DE5519"),
    "rdp": Style("RDP", "#008655", "diamond", "◆", "#30AE82"),
    "zcdp": Style("zCDP", "#79512D", "cross", "✚", "#AD815A"),
    "pld": Style("PLD", "#256ED1", "star", "★", "#3D8AF5"),
    "gdp": Style("GDP", "#8A3DAB", "x", "✕", "#B564CF"),
    # Not an accountant: epsilon for Poisson sampling, wrongly claimed for other batches.
    "poisson_claim": Style("Poisson claim", RED, "circle-open", "○", "#ED3D48"),
}
# Colours for accountants that are not in `STYLES`; a hash of the name chooses one.
_SPARE = ("#8C6BB1", "#3F8F9F", "#A0522D", "#6B8E23", "#B0306A")
# Colours on a dark page, keyed by colours on a light page; the last three fill areas.
_ON_DARK = {style.colour: style.on_dark for style in STYLES.values()}
_ON_DARK |= {INK: "#E8EAEE", GREY: "#989DA8"}
_ON_DARK |= {"#A9D0F0": "#274C6B", "#B9BCC4": "#565A64", "#E4E5E8": "#2E3138"}
# For each role of a curve, the accountant that has the same colour.
_ROLES = {"exact": "pld", "safe": "advanced", "guess": "gdp", "other": "zcdp", "second": "rdp"}
_ROLES |= {"third": "moments", "wrong": "poisson_claim"}


def style_of(name: str) -> Style:
    """Return the style of an accountant, by name."""
    spare = _SPARE[zlib.crc32(name.encode()) % len(_SPARE)]
    return STYLES.get(name) or Style(name, spare, "hexagon", "⬢", spare)


def colour_of(role: str) -> str:
    """Return the colour of a curve's role, such as "exact", or of an accountant."""
    return GREY if role == "quiet" else style_of(_ROLES.get(role, role)).colour


def transparent(colour: str, share: float) -> str:
    """Convert a hexadecimal colour to rgba with opacity `share`."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def darkened(figure: Any) -> Any:
    """Replace the colours of a light page, in the JSON of a figure, by those of a dark page.

    Examples
    --------
    >>> darkened({"line": {"color": "#256ED1"}, "fill": "rgba(37,110,209,0.2)", "x": [1, 2]})
    {'line': {'color': '#3D8AF5'}, 'fill': 'rgba(61,138,245,0.2)', 'x': [1, 2]}
    """
    if isinstance(figure, dict):
        return {name: darkened(part) for name, part in figure.items()}
    if isinstance(figure, list | tuple):
        return type(figure)(map(darkened, figure))
    return _COLOURS.sub(lambda m: _TWINS[m[0]], figure) if isinstance(figure, str) else figure


# Dark colour for each light colour, in hexadecimal and as rgba up to the opacity.
_TWINS = _ON_DARK | {
    transparent(light, 1)[:-2]: transparent(dark, 1)[:-2] for light, dark in _ON_DARK.items()
}
_COLOURS = re.compile("|".join(map(re.escape, _TWINS)))

_FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", "Helvetica Neue", Arial, sans-serif'


def _template(ground: str, axis_title: int, **more: Any) -> go.layout.Template:
    axis = {"showgrid": True, "gridcolor": transparent(GREY, 0.22), "zeroline": False}
    axis |= {"showline": True, "linecolor": GREY, "ticks": "outside", "tickcolor": GREY}
    axis |= {"exponentformat": "power", "title": {"standoff": 8, "font": {"size": axis_title}}}
    layout: dict[str, Any] = {"xaxis": axis, "yaxis": axis, "showlegend": False}
    layout |= {"font": {"family": _FONT, "size": 14, "color": INK}, "hovermode": "closest"}
    layout |= {"paper_bgcolor": ground, "plot_bgcolor": ground, "separators": f".{NARROW_SPACE}"}
    layout["hoverlabel"] = {"font": {"family": _FONT, "size": 15}, "align": "left"}
    # Dragging does not zoom, because it scrolls the page; buttons zoom.
    layout["dragmode"] = False
    layout["modebar"] = {"bgcolor": CLEAR, "color": GREY, "activecolor": GREY}
    layout["annotationdefaults"] = {"showarrow": False, "font": {"size": 13, "color": GREY}}
    layout["shapedefaults"] = {"layer": "below", "line": {"color": GREY, "width": 1.6}}
    hover = {"hovertemplate": "%{x:.4~g}, %{y:.4~g}<extra>%{fullData.name}</extra>"}
    return go.layout.Template(layout=layout | more, data={"scatter": [hover], "bar": [hover]})


# Figures on pages have a transparent background, and their title in HTML above them.
PAGE = _template(CLEAR, 15)
# Tick labels are not tilted, because they would overlap the axis title on a small screen.
PAGE.layout.xaxis.tickangle = 0
# Figures in notebooks have a white background.
_ROOM = {
    "title": {"x": 0.02, "font": {"size": 19}},
    "margin": {"l": 75, "r": 130, "t": 60, "b": 60},
}
pio.templates["dplearn_lesson"] = _template(
    "white", 16, barmode="overlay", dragmode="zoom", **_ROOM
)
