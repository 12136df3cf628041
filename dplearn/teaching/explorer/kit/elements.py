"""Figures, and Streamlit components that load the scripts of pages drawn by JavaScript."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components import v2

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.figures.kit.template import darkened

# For each page: the variable that its script defines, and its JavaScript module.
PAGES = {
    "epsilonPage": "page/page",
    "mechanismsPage": "mechanisms/mechanisms",
    "minute": "scenes/scenes",
    "attackPage": "attack_page/attack_page",
    "sentence": "page/sentence",
}


@lru_cache(maxsize=len(PAGES))
def script(page: str) -> tuple[str, str]:
    """Return the file name (with a hash) and the text of a page's script and its engine."""
    own = browser.source(page, PAGES[page])
    text = f"{browser.source()}{own}export {{ dplearn, dplearnModule, {page} }};\n"
    return f"dplearn-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js", text


def component(page: str, css: str) -> Callable[..., Any]:
    """Return a Streamlit component that runs a page's script, with the style sheet `css`."""
    mount = Path(__file__).with_name("mount.js").read_text(encoding="utf-8")
    mount = mount.replace("FILE", script(page)[0]).replace("PAGE", page)
    return v2.component(f"dplearn_{page}", html="", css=css, js=mount, isolate_styles=False)


def draw_figure(figure: Any, key: str, alt: str) -> None:
    """Draw a Plotly figure with the alternative text `alt` and, above it, its title in HTML.

    Plotly would cut off the title on a phone.
    """
    parts = figure.to_dict()
    if language.current() != "en":
        parts = language.translated_figure(parts)
    if st.context.theme.type == "dark":
        parts = darkened(parts)
    layout = parts["layout"]
    title = layout.pop("title")
    st.html(f"<p>{title['text']}<br><small>{title.get('subtitle', {}).get('text', '')}</small></p>")
    # The title is in HTML: remove up to 56 pixels of the figure's top margin, but keep 12.
    room = min(layout["margin"]["t"] - 12, 56)
    layout["height"] -= room
    layout["margin"]["t"] -= room
    shown = {"displayModeBar": False}
    st.plotly_chart(parts, theme=None, key=key, config=shown, alt=alt)
