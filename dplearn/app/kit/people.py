"""People beside an epsilon: whom an attacker would accuse of being in the data, as dots."""

import math
from urllib.parse import quote

import streamlit as st

from dplearn.app.kit.language import translated
from dplearn.ground import validate
from dplearn.ground.guarantee import round_up

# Colours of found members, of accused others and of all the rest, as in ``browser/page/page.css``.
_LIGHT, _DARK = ("#c21d3a", "#5b5d69", "#e2e4ea"), ("#ff6b81", "#9a9ca8", "#2e3340")
_DIAMETER = 7.4
_ATTACKER = "An attacker who may accuse {alarms}\u00a0% of the others "
_FINDS = "finds **at most {share}\u00a0%** of the members. Guessing finds {alarms}\u00a0%."
_OPEN = "may find any share of the members: no bound is proved here."
_RIGHT = (
    "Were half of all people members, an accusation would be right in at most {right}\u00a0% of "
    "cases, not 50\u00a0%."
)
_NOTHING = "An accusation says next to nothing."
# Below these odds, that of guessing being 1, an accusation is as good as a guess.
_EVEN = 1.05


def people(share: float | None, false_alarms: float = 0.01) -> None:
    """Drawing of 100 members and 100 others, those accused in colour, and what it means in words.

    Part of a person is part of a dot's area; shares are rounded up.

    Parameters
    ----------
    share : float or None
        True positive rate of the attacker, in [0, 1]: the upper end of what is proved, as from
        `PLD.true_positive_rate`. None where nothing is proved; "?" stands for it then.
    false_alarms : float
        False positive rate of the attacker, in (0, 1].

    Raises
    ------
    ValueError
        If one of them is no such rate.
    """
    validate.rate(false_alarms=false_alarms)
    validate.between(0, 1, share=share or 0)
    red, grey, rest = _DARK if st.context.theme.type == "dark" else _LIGHT
    shown, alarms = "?" if share is None else _percent(share), _percent(false_alarms)
    titles = translated("100 members"), translated("100 others")
    verbs = translated("found"), translated("accused")
    groups = zip(
        titles, verbs, (share or 0, false_alarms), (shown, alarms), (red, grey), strict=True
    )
    st.html(
        '<div class="people">'
        + "".join(
            f"<figure>{title}<img alt='' src='{_dots(part, colour, rest)}'>"
            f"<figcaption><b style='color: {colour}'>{number}</b> {verb}</figcaption></figure>"
            for title, verb, part, number, colour in groups
        )
        + "</div>"
    )
    told = translated(_ATTACKER, alarms=alarms)
    told += translated(_OPEN if share is None else _FINDS, share=shown, alarms=alarms)
    if share is not None:
        odds = share / false_alarms
        right = _percent(odds / (1 + odds))
        told += " " + translated(_RIGHT if odds >= _EVEN else _NOTHING, right=right)
    st.markdown(told)


def _percent(share: float) -> str:
    """Per cent, rounded up, and not to all people before the sixth digit where some are missing."""
    return round_up(100 * share, 6 if 0.998 < share < 1 else 3)


def _dots(share: float, colour: str, rest: str) -> str:
    """Address of a picture of 100 dots, so many of them in colour.

    Streamlit keeps pictures but no drawings in a page: this one travels in its address.
    """
    whole = math.floor(100 * share)
    # Lines of length 0 with round ends are dots.
    drawn = [(range(100), rest, 1.0), (range(whole), colour, 1.0)]
    drawn += (
        [(range(whole, whole + 1), colour, math.sqrt(100 * share - whole))] if whole < 100 else []
    )
    paths = "".join(
        f'<path stroke="{paint}" stroke-width="{_DIAMETER * size:.3f}" d="'
        + "".join(f"M{i % 10 * 10 + 5} {i // 10 * 10 + 5}h0" for i in places)
        + '"/>'
        for places, paint, size in drawn
    )
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" stroke-linecap="round">'
    return "data:image/svg+xml," + quote(f"{head}{paths}</svg>", safe=" =:/")
