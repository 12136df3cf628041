"""How every page looks: room on the first screen, charts, assumptions."""

from pathlib import Path
from typing import Any

import streamlit as st

from dplearn.teaching.explorer import pages
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.marks import Unchecked
from dplearn.teaching.figures.kit.template import darkened

# Streamlit writes white on the light blue of a dark page, and code too faint on either.
_DARK = "button[kind=primary] { color: black; } .stCode .token { filter: brightness(1.3); }"
_LIGHT = ".stCode .token { filter: brightness(0.65); }"


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
