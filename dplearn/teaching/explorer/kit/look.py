"""Function that draws the figures of pages."""

from typing import Any

import streamlit as st

from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.template import darkened


def draw_figure(figure: Any, key: str, alt: str) -> None:
    """Draw a figure below its title in HTML, with an alternative text.

    Plotly would cut the title off on a phone.
    """
    parts = figure.to_dict()
    if language.current() != "en":
        parts = language.translated_figure(parts)
    if st.context.theme.type == "dark":
        parts = darkened(parts)
    layout = parts["layout"]
    title = layout.pop("title")
    st.html(f"<p>{title['text']}<br><small>{title.get('subtitle', {}).get('text', '')}</small></p>")
    # Cut off at most 56 pixels of the top margin, and keep at least 12.
    room = min(layout["margin"]["t"] - 12, 56)
    layout["height"] -= room
    layout["margin"]["t"] -= room
    shown = {"displayModeBar": False}
    st.plotly_chart(parts, theme=None, key=key, config=shown, alt=alt)
