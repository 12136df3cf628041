"""The browser's pages as scripts, which a browser fetches once, and components made of them."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from streamlit.components import v2

from dplearn import browser

# What pages are called in their scripts, and the modules that they begin with.
PAGES = {
    "epsilonPage": "page/page",
    "mechanismsPage": "mechanisms/mechanisms",
    "minute": "scenes/scenes",
}


@lru_cache(maxsize=len(PAGES))
def script(page: str) -> tuple[str, str]:
    """Name and text of a module with the engine and a page; another text has another name."""
    own = browser.source(page, PAGES[page])
    text = f"{browser.source()}{own}export {{ dplearn, dplearnModule, {page} }};\n"
    return f"dplearn-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js", text


# The page is mounted once; later calls bring what the server has to say.
_MOUNT = """
const address = new URL("%(file)s", window.__streamlit?.BACKEND_BASE_URL ?? document.baseURI);
const mounted = new WeakMap();
export default function ({ data: [data], parentElement, setTriggerValue }) {
  const state = mounted.get(parentElement) ?? {};
  Object.assign(state, { data, tell: setTriggerValue });
  if (mounted.has(parentElement)) return void state.page?.update?.(data);
  mounted.set(parentElement, state);
  const root = document.createElement("div");
  parentElement.append(root);
  import(address).then((all) => {
    if (state.ended) return;
    state.page = all.%(page)s.mount(root, {
      engine: all.dplearn, source: String(all.dplearnModule), ...state.data,
      send: (question) => state.tell("asked", question),
      onLanguage: (code) => state.tell("language", code),
    });
    state.page.update?.(state.data);
  });
  return () => {
    state.ended = true;
    mounted.delete(parentElement);
    state.page?.destroy();
    root.remove();
  };
}
"""


def component(page: str, css: str) -> Callable[..., Any]:
    """A component that mounts a page, with its style sheet."""
    mount = _MOUNT % {"file": script(page)[0], "page": page}
    return v2.component(f"dplearn_{page}", html="", css=css, js=mount, isolate_styles=False)
