"""The minute as a file, and a page that shows it, for the tests of its scenes."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from browsing import SCREEN, as_file, visits
from dplearn.teaching import browser as dplearn
from dplearn.teaching.book.published import drawn_figures

PHONE = {"width": 390, "height": 844}
WALL = {"width": 1920, "height": 1080}
ABADI = dict(noise_multiplier=4.0, sample_rate=0.01, delta=1e-5, here=10_000)
GUESS = "_".join(f"{0.1 * k:.2g}" for k in range(1, 17))
REOPENED = """hash => {
  history.replaceState(null, "", "#" + hash);
  shown.open(hash);
  shown.speakIn(new URLSearchParams(hash).get("language"));
}"""


@contextmanager
def minutes(browser: Any, folder: Path) -> Iterator[Callable[..., Any]]:
    """Opens the minute at a run, a scene, an address, mostly in a page that was used before."""
    told = json.dumps({"published": list(drawn_figures()), "shuffled": dplearn.shuffled()})
    mount = f"""const shown = minute.mount(here, {{
      engine: dplearn, explore: "explorer.html", ...{told}, ...globalThis.OPTIONS }}).page;"""
    scripts = dplearn.source() + dplearn.source("minute", "scenes/scenes")
    file, kept = as_file(folder, dplearn.style("scenes/scenes"), scripts, mount), {}
    with visits(browser) as visit:

        def opened(screen=SCREEN, at="", options=None, touch=False, fresh=False, **asked):
            def route(view) -> None:
                view.add_init_script(f"globalThis.OPTIONS = {json.dumps(options or {})}")
                view.route(re.compile("^http:"), lambda route: route.fulfill(path=file))

            kind, asked = (str(screen), at, str(options), touch), {"language": "en"} | asked
            if kind in kept and not fresh:
                kept[kind].evaluate(REOPENED, urlencode(asked))
                return kept[kind]
            url = f"{at or file.as_uri()}#{urlencode(asked)}"
            view = visit(url, ".dm", screen, route, has_touch=touch)
            return view if fresh else kept.setdefault(kind, view)

        yield opened


def scene(view, number: int) -> str:
    """Go to a scene; returns all that it says above its picture."""
    view.locator(".dm-dots button").nth(number - 1).click()
    view.wait_for_selector(f".dm[data-drawn='{number}']")
    return view.locator(".dm-say").inner_text().replace("\u202f", "").replace("\u00a0", " ")
