"""The column of names and values beside the ends of the curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dplearn.figures import text
from dplearn.figures._frame import Frame
from dplearn.figures._labels import spread
from dplearn.figures.theme import GREY, style_of

_GAP = 22.0
_PLACE = {"x": 1, "xref": "paper", "xanchor": "left"}


@dataclass(frozen=True)
class End:
    """The end of one curve.

    Parameters
    ----------
    name : str
        The accountant, for colour and marker.
    value : float
        Where the curve ends, in units of the y axis.
    words : str
        Beside the marker.
    note : str
        A second, smaller line; may be empty.
    """

    name: str
    value: float
    words: str
    note: str = ""


def column(ends: Sequence[End], view: Frame) -> list[dict[str, Any]]:
    """Words beside each end in the order given, with a leader where they had to move; then notes.

    A note keeps the place below its words: with the same wish it comes just before them.
    """
    rows = [(end, is_note) for end in sorted(ends, key=lambda e: e.value) for is_note in (1, 0)]
    rows = [(end, is_note) for end, is_note in rows if end.note or not is_note]
    wanted = [view.pixel(end.value) for end, _ in rows]
    placed = spread(wanted, gap=_GAP, lower=4.0, upper=view.height - 8.0)
    words = {
        end.name: _words(end, view, to)
        for (end, is_note), to in zip(rows, placed, strict=True)
        if not is_note
    }
    notes = [_note(e, view, to) for (e, is_note), to in zip(rows, placed, strict=True) if is_note]
    return [*(words[end.name] for end in ends), *notes]


def header(name: str, shown_at: int) -> dict[str, Any]:
    """What the values of the column are."""
    return {
        "text": f"{name} at T = {text.whole(shown_at)}",
        **_PLACE,
        "xshift": 16,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "yshift": 4,
        "showarrow": False,
        "font": {"size": 13, "color": GREY},
    }


def _height(view: Frame, pixel: float) -> float:
    """A pixel above the x axis as the y axis wants it."""
    low, high = view.y_range
    return low + (high - low) * pixel / view.height


def _words(end: End, view: Frame, to: float) -> dict[str, Any]:
    style, at = style_of(end.name), view.pixel(end.value)
    # A curve that left the frame has no end to lead to: an arrow says where it went.
    left = "↑ " if end.value > view.upper else "↓ " if end.value < view.lower else ""
    glyph = f'<span style="color:{style.colour}">{left}{style.glyph}</span>'
    return {
        "text": f"{glyph} {end.words}",
        **_PLACE,
        "ax": 14,
        "y": _height(view, at),
        "yref": "y",
        "yanchor": "middle",
        "ay": at - to,
        "showarrow": True,
        "arrowhead": 0,
        "arrowcolor": "rgba(0,0,0,0)" if left else style.colour,
        "arrowwidth": 1.4,
        "align": "left",
        "font": {"size": 14},
    }


def _note(end: End, view: Frame, to: float) -> dict[str, Any]:
    return {
        "text": end.note,
        **_PLACE,
        "xshift": 16 + 14,
        "y": _height(view, to + 4),
        "yref": "y",
        "yanchor": "middle",
        "showarrow": False,
        "font": {"size": 12.5, "color": GREY},
    }
