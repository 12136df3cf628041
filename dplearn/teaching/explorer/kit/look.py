"""How every page looks: room on the first screen, charts, people beside an epsilon."""

import math
from pathlib import Path
from typing import Any
from urllib.parse import quote

import streamlit as st

from dplearn.core import validate
from dplearn.core.guarantee import round_up
from dplearn.teaching.explorer import pages
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.figures.kit.marks import Unchecked
from dplearn.teaching.figures.kit.template import darkened

_say = Words("shared")
# Streamlit writes white on the light blue of a dark page, and code too faint on either.
_DARK = "button[kind=primary] { color: black; } .stCode .token { filter: brightness(1.3); }"
_LIGHT = ".stCode .token { filter: brightness(0.65); }"
# Colours of found members, of accused others and of all the rest, as in ``browser/page/page.css``.
_ON_LIGHT, _ON_DARK = ("#c21d3a", "#5b5d69", "#e2e4ea"), ("#ff6b81", "#9a9ca8", "#2e3340")
_DIAMETER = 7.4
# Share of the others that the attacker may accuse.
_FALSE_ALARMS = 0.01
# Below these odds, that of guessing being 1, an accusation is as good as a guess.
_EVEN = 1.05


def style_page(page: str) -> None:
    """Room for the picture on the first screen, and the style sheet that has a page's name."""
    sheets = Path(__file__).with_name("look.css"), *Path(pages.__path__[0]).glob(f"{page}.css")
    rules = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    st.html(f"<style>{rules}{_DARK if _is_dark() else _LIGHT}</style>")


def _is_dark() -> bool:
    return st.context.theme.type == "dark"


def draw_figure(figure: Any, key: str, alt: str) -> None:
    """A figure and its words for those who do not see it."""
    parts = figure.to_dict()
    if language.spoken() != "en":
        parts = language.redrawn(parts)
    if _is_dark():
        parts = darkened(parts)
    st.plotly_chart(
        Unchecked(parts), theme=None, key=key, config={"displayModeBar": False}, alt=alt
    )


def people(share: float) -> None:
    """Drawing of 100 members and 100 others, those accused in colour, and what it means in words.

    `share` is the true positive rate of the attacker, the upper end of what is proved, as from
    `PLD.true_positive_rate`. Part of a person is part of a dot's area; shares are rounded up.
    """
    validate.between(0, 1, share=share)
    red, grey, rest = _ON_DARK if _is_dark() else _ON_LIGHT
    alarms, found, odds = _percent(_FALSE_ALARMS), _percent(share), share / _FALSE_ALARMS
    told = _say("people.finds", alarms=alarms, share=found) + " "
    right = _percent(odds / (1 + odds))
    told += _say("people.right" if odds >= _EVEN else "people.nothing", right=right)
    members = _say("people.members"), share, found, _say("people.found"), red
    others = _say("people.others"), _FALSE_ALARMS, alarms, _say("people.accused"), grey
    drawn = "".join(
        f"<figure>{title}<img alt='' src='{_dots(part, colour, rest)}'>"
        f"<figcaption><b style='color: {colour}'>{number}</b> {verb}</figcaption></figure>"
        for title, part, number, verb, colour in (members, others)
    )
    st.html(f'<div class="people">{drawn}<p>{told}</p></div>')


def _percent(share: float) -> str:
    """Per cent, rounded up, and not to all people before the sixth digit where some are missing."""
    return round_up(100 * share, 6 if 0.998 < share < 1 else 3)


def _dots(share: float, colour: str, rest: str) -> str:
    """Address of a picture of 100 dots, so many of them in colour.

    Streamlit keeps pictures but no drawings in a page: this one travels in its address.
    """
    whole = math.floor(100 * share)
    part = [(colour, math.sqrt(100 * share - whole), range(whole, whole + 1))]
    drawn = [(rest, 1.0, range(100)), (colour, 1.0, range(whole)), *(part if whole < 100 else [])]
    # Lines of length 0 with round ends are dots.
    paths = "".join(
        f'<path stroke="{paint}" stroke-width="{_DIAMETER * size:.3f}" d="'
        + "".join(f"M{i % 10 * 10 + 5} {i // 10 * 10 + 5}h0" for i in places)
        + '"/>'
        for paint, size, places in drawn
    )
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" stroke-linecap="round">'
    return "data:image/svg+xml," + quote(f"{head}{paths}</svg>", safe=" =:/")
