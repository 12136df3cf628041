"""Scripts of the browser-drawn pages, and Streamlit components that load them."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from streamlit.components import v2

from dplearn.teaching import browser

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
