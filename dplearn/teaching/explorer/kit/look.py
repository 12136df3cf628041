"""Style sheets and figures of every page."""

from pathlib import Path
from typing import Any

import streamlit as st

from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.marks import Unchecked
from dplearn.teaching.figures.kit.template import darkened


def draw_figure(figure: Any, key: str, alt: str) -> None:
    """Draw a figure, with an alternative text."""
    parts = figure.to_dict()
    if language.spoken() != "en":
        parts = language.redrawn(parts)
    if st.context.theme.type == "dark":
        parts = darkened(parts)
    shown = {"displayModeBar": False}
    st.plotly_chart(Unchecked(parts), theme=None, key=key, config=shown, alt=alt)


def style_page() -> None:
    """Draw the style sheet of all pages."""
    rules = Path(__file__).with_name("look.css").read_text(encoding="utf-8")
    st.html(f"<style>{rules}</style>")
