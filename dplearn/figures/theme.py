"""One look for every figure: a colour and a marker per accountant, a dash for what is no bound.

The colours keep at least 11 CIELAB units between any two under normal, protan and deutan
vision, and a contrast of 2.7 or more on white and on the dark page. They carry no meaning
alone: each curve also has its own marker and its name at its end.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from dplearn.ground.guarantee import Guarantee


@dataclass(frozen=True)
class Style:
    """How one accountant is drawn, everywhere.

    Parameters
    ----------
    label : str
        Short name, for the end of a curve.
    colour : str
        Hexadecimal.
    symbol : str
        Plotly marker.
    glyph : str
        The same marker as a character, for text.
    """

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

GREY = "#808590"
# Words, on a light and on a dark page.
INK = {"light": "#262B36", "dark": "#E8EAEE"}
PUBLISHED = "#D62839"
FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", "Helvetica Neue", Arial, sans-serif'


def style_of(name: str) -> Style:
    """The fixed style of an accountant.

    Examples
    --------
    >>> style_of("pld").label, style_of("pld").colour
    ('PLD', '#0067C8')
    """
    spare = _SPARE[zlib.crc32(name.encode()) % len(_SPARE)]
    return _STYLES.get(name) or Style(name, spare, "hexagon", "⬢")


def transparent(colour: str, share: float) -> str:
    """A hexadecimal colour that lets what is below shine through.

    Examples
    --------
    >>> transparent("#0067C8", 0.2)
    'rgba(0,103,200,0.2)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def dash_of(guarantees: Sequence[Guarantee]) -> str:
    """Solid for bounds, dashed for anything that bounds nothing from above."""
    return "solid" if all(g.is_bound for g in guarantees) else "dash"


def stroke(colour: str, dash: str) -> dict[str, str | float]:
    """The line of a curve: what bounds is drawn stronger."""
    return {"color": colour, "width": 2.6 if dash == "solid" else 2.0, "dash": dash}
