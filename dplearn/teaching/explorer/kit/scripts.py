"""The browser's pages as scripts, which a browser fetches once, and components made of them."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components import v2

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import language

# What pages are called in their scripts, and the modules that they begin with.
PAGES = {
    "epsilonPage": "page/page",
    "mechanismsPage": "mechanisms/mechanisms",
    "minute": "scenes/scenes",
    "attackPage": "attack_page/attack_page",
    "sentence": "page/sentence",
}
_KIT = Path(__file__).parent


@lru_cache(maxsize=len(PAGES))
def script(page: str) -> tuple[str, str]:
    """Return name and text of a module with the engine and a page; the name depends on the text."""
    own = browser.source(page, PAGES[page])
    text = f"{browser.source()}{own}export {{ dplearn, dplearnModule, {page} }};\n"
    return f"dplearn-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js", text


def component(page: str, css: str) -> Callable[..., Any]:
    """Return a component that mounts a page, with its style sheet."""
    mount = (_KIT / "mount.js").read_text(encoding="utf-8")
    mount = mount.replace("FILE", script(page)[0]).replace("PAGE", page)
    return v2.component(f"dplearn_{page}", html="", css=css, js=mount, isolate_styles=False)


def tools(link: str, copied: str) -> None:
    """Draw the buttons of the menu: the other language, and a copy of the address."""
    (other,) = language.LANGUAGES.keys() - {language.spoken()}
    chosen = lambda: language.choose(st.session_state["tools"].language)
    data = {"code": other, "name": language.LANGUAGES[other], "link": link, "copied": copied}
    _tools(key="tools", data=[data], on_language_change=chosen)


_BUTTONS = '<button data-do="language"></button> <button data-do="link"></button>'
_TOOLS = (_KIT / "tools.js").read_text(encoding="utf-8")
_tools = v2.component("dplearn_tools", html=_BUTTONS, js=_TOOLS, isolate_styles=False)
