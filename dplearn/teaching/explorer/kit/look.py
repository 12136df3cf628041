"""Function that draws the figures of pages."""

from typing import Any

import streamlit as st

from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.template import darkened

# Top margin of a figure in pixels: the maximum to cut off, and the minimum to keep.
_TITLE, _ABOVE = 56, 12


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
    room = min(layout["margin"]["t"] - _ABOVE, _TITLE)
    layout["height"] -= room
    layout["margin"]["t"] -= room
    shown = {"displayModeBar": False}
    st.plotly_chart(parts, theme=None, key=key, config=shown, alt=alt)
