"""Figures, and Streamlit components that load the scripts of the browser-drawn pages."""

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

# Exported name and entry module of each page.
PAGES = {
    "epsilonPage": "page/page",
    "mechanismsPage": "mechanisms/mechanisms",
    "minute": "scenes/scenes",
    "attackPage": "attack_page/attack_page",
    "sentence": "page/sentence",
}


@lru_cache(maxsize=len(PAGES))
def script(page: str) -> tuple[str, str]:
    """Return the name, which contains a hash, and the text of a script of the engine and a page."""
    own = browser.source(page, PAGES[page])
    text = f"{browser.source()}{own}export {{ dplearn, dplearnModule, {page} }};\n"
    return f"dplearn-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js", text


def component(page: str, css: str) -> Callable[..., Any]:
    """Return a Streamlit component that mounts a page with its style sheet."""
    mount = Path(__file__).with_name("mount.js").read_text(encoding="utf-8")
    mount = mount.replace("FILE", script(page)[0]).replace("PAGE", page)
    return v2.component(f"dplearn_{page}", html="", css=css, js=mount, isolate_styles=False)


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
