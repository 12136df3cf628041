"""The browser's pages as one script, which a browser fetches once, and components made of it."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

from streamlit.components import v2

from dplearn import browser

# What pages are called in the script, and the modules that they begin with.
PAGES = {"epsilonPage": "page/page"}


@cache
def script() -> tuple[str, str]:
    """Name and text of a module with the engine and all pages; another text has another name."""
    pages = "".join(browser.source(name, entry) for name, entry in PAGES.items())
    exported = ", ".join(("dplearn", "dplearnModule", *PAGES))
    text = f"{browser.source()}{pages}export {{ {exported} }};\n"
    return f"dplearn-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js", text


# The page is mounted once; later calls bring what the server has to say.
_MOUNT = """
const address = new URL("%(file)s", window.__streamlit?.BACKEND_BASE_URL ?? document.baseURI);
const mounted = new WeakMap();
export default function ({ data: [data], parentElement, setTriggerValue }) {
  const state = mounted.get(parentElement) ?? { latest: data, tell: setTriggerValue };
  Object.assign(state, { latest: data, tell: setTriggerValue });
  if (mounted.has(parentElement)) return void state.page?.update(data);
  mounted.set(parentElement, state);
  const root = document.createElement("div");
  parentElement.append(root);
  import(address).then((all) => {
    if (state.ended) return;
    const { language, kinds, fixed } = state.latest;
    ({ page: state.page } = all.%(page)s.mount(root, {
      engine: all.dplearn, source: String(all.dplearnModule), language, kinds, ...fixed,
      send: (question) => state.tell("asked", question),
      onLanguage: (code) => state.tell("language", code),
    }));
    state.page.update(state.latest);
  });
  return () => {
    state.ended = true;
    mounted.delete(parentElement);
    state.page?.end();
    root.remove();
  };
}
"""


def component(name: str, page: str) -> Callable[..., Any]:
    """A component that mounts a page of the script."""
    mount = _MOUNT % {"file": script()[0], "page": page}
    return v2.component(
        f"dplearn_{name}", html="", css=browser.style(), js=mount, isolate_styles=False
    )
