"""People beside an epsilon: whom an attacker would accuse of being in the data, as dots."""

import math
from urllib.parse import quote

import streamlit as st

from dplearn.app.kit.fields import Words
from dplearn.ground import validate
from dplearn.ground.guarantee import round_up

# Colours of found members, of accused others and of all the rest, as in ``browser/page/page.css``.
_LIGHT, _DARK = ("#c21d3a", "#5b5d69", "#e2e4ea"), ("#ff6b81", "#9a9ca8", "#2e3340")
_DIAMETER = 7.4
_say = Words("shared")
# Share of the others that the attacker may accuse.
_FALSE_ALARMS = 0.01
# Below these odds, that of guessing being 1, an accusation is as good as a guess.
_EVEN = 1.05


def people(share: float | None) -> None:
    """Drawing of 100 members and 100 others, those accused in colour, and what it means in words.

    `share` is the true positive rate of the attacker, the upper end of what is proved, as from
    `PLD.true_positive_rate`; None, drawn as "?", where nothing is. Part of a person is part of a
    dot's area; shares are rounded up.
    """
    validate.between(0, 1, share=share or 0)
    red, grey, rest = _DARK if st.context.theme.type == "dark" else _LIGHT
    alarms = _percent(_FALSE_ALARMS)
    if share is None:
        found, told = "?", _say("people.open", alarms=alarms)
    else:
        odds, found = share / _FALSE_ALARMS, _percent(share)
        told = _say("people.finds", alarms=alarms, share=found) + " "
        right = _percent(odds / (1 + odds))
        told += _say("people.right" if odds >= _EVEN else "people.nothing", right=right)
    members = _say("people.members"), share or 0.0, found, _say("people.found"), red
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
