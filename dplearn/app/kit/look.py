"""How every page looks: room on the first screen, charts."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import streamlit as st

from dplearn.app.kit import language
from dplearn.app.kit.fields import Words
from dplearn.figures.kit.panel import Unchecked, on_page

_say = Words("shared")
# Streamlit writes white on the light blue of a dark page, and code too faint on either.
_DARK = "button[kind=primary] { color: black; } .stCode .token { filter: brightness(1.3); }"
_LIGHT = ".stCode .token { filter: brightness(0.65); }"


def style_page(page: str) -> None:
    """Room for the picture on the first screen; and the `style.css` beside this file of a page."""
    sheets = [Path(__file__).with_name("look.css"), *Path(page).parent.glob("style.css")]
    rules = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    dark = st.context.theme.type == "dark"
    st.html(f"<style>{rules}{_DARK if dark else _LIGHT}</style>")


def draw_figure(figure: Any, key: str, alt: str) -> None:
    """A figure and its words for those who do not see it."""
    if language.spoken() != "en":
        figure = Unchecked(language.redrawn(figure.parts))
    figure = on_page(figure, dark=st.context.theme.type == "dark")
    st.plotly_chart(figure, theme=None, key=key, config={"displayModeBar": False}, alt=alt)


def pair() -> Any:
    """Two places for pictures side by side, also on a projector."""
    return st.container(key="both").columns(2, gap="small")


def lower_pair() -> Any:
    """Two places below the pictures: for people, and for what is to be known of them."""
    return st.container(key="below").columns([3, 2], gap="medium")


def assumptions(clauses: Iterable[str], first: str = "") -> None:
    """What must be true, after a first sentence, folded up; nothing where nothing is assumed."""
    if told := true_if(clauses):
        st.expander(_say("assumptions")).caption(f"{first} {told}")


def true_if(clauses: Iterable[str]) -> str:
    """What must be true, each clause once; "" where nothing is assumed."""
    told = "; ".join(map(language.retold, dict.fromkeys(clauses)))
    return _say("true_if", assumptions=told) if told else ""
