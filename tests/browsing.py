"""Fixtures that open the explorer in Chromium and fail on console errors.

Tests wait for conditions, never for a fixed time; `patience` limits each wait.
"""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import chromium
from cases import ROOT, clean_environment

# Limits of a wait in milliseconds: on an idle machine, and on any machine.
WAIT, LONGEST = 25_000, 600_000
# Entries of the formula book whose pages have, together, all kinds of pictures.
ENTRIES = ("G-A4", "G-B4", "G-C1", "G-E1", "G-L1", "G-M3")
SCREEN = {"width": 1440, "height": 900}
# Marks of Chromium tests of a server's pages, and of files; one worker runs all of a group.
DRIVEN = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]
DRAWN = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("drawn")]
_PLOTS = "[...document.querySelectorAll('.js-plotly-plot')]"
_STILL = f"""() => {{
  const script = document.querySelector('[data-test-script-state]');
  const now = JSON.stringify({_PLOTS}.map(plot => plot.getBoundingClientRect()));
  const still = now === window.placesBefore && script?.dataset.testScriptState === 'notRunning';
  window.placesBefore = now;
  return still;
}}"""


def patience() -> float:
    """Return the limit of a wait in milliseconds, multiplied by the load per core.

    A page needs at most a few CPU seconds. So a broken wait ends within a minute on an idle
    machine, and a correct wait succeeds even at load 20.
    """
    return min(LONGEST, WAIT * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Start the explorer's server from this checkout."""
    with served() as url:
        yield url


@contextmanager
def served(
    python: str | Path = sys.executable,
    *more: str,
    command: tuple[str, ...] = ("-m", "dplearn", "app"),
    folder: Path = ROOT,
    **environment: str,
) -> Iterator[str]:
    """Start an explorer on a free port, and yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true"]
    with subprocess.Popen(
        [python, *command, *more, *options],
        cwd=folder,
        env=clean_environment(DPLEARN_NICE="0", **environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            answers(f"{url}/_stcore/health", server)
            yield url
        finally:
            server.terminate()


def answers(url: str, server: subprocess.Popen) -> None:
    """Wait until a starting server answers at an address."""
    began = time.monotonic()
    while time.monotonic() < began + patience() / 1000:
        assert server.poll() is None, "the server stopped while starting"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not answer within {patience() / 1000:g} seconds")


# The shared Chromium of this process, and its exit stack.
_OPEN, _CLOSING = list[Any](), ExitStack()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Share one Chromium among all test files that need one."""
    if not _OPEN:
        # Imported here, because most tests do not need playwright.
        from playwright.sync_api import sync_playwright

        driver = _CLOSING.enter_context(sync_playwright())
        options = {"args": ["--no-sandbox", "--disable-gpu"], "timeout": patience()}
        running = driver.chromium.launch(executable_path=chromium.path(), **options)
        running.on("context", lambda context: context.set_default_timeout(patience()))
        _CLOSING.callback(running.close)
        _OPEN.append(running)
    yield _OPEN[0]
    for context in _OPEN[0].contexts:
        context.close()


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup() -> None:
    """Update the timeouts of `expect` and of open pages before each test."""
    if _OPEN:
        from playwright.sync_api import expect

        expect.set_options(timeout=patience())
        for context in _OPEN[0].contexts:
            context.set_default_timeout(patience())


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close Chromium before a test without it, because playwright runs an event loop."""
    if nextitem is None or not nextitem.get_closest_marker("browser"):
        _OPEN.clear()
        _CLOSING.close()


@pytest.fixture
def page(browser, address) -> Iterator[Any]:
    """Open a page for one test."""
    with page_at(browser, address) as opened:
        yield opened


@contextmanager
def page_at(browser: Any, address: str) -> Iterator[Any]:
    """Open a page; fail on console errors and on requests to other servers."""
    context = browser.new_context(viewport=SCREEN)
    opened = context.new_page()
    complaints: list[str] = []
    # Streamlit first looks for its server below each page's path; these requests fail.
    vain = re.compile(r"/\w+/_stcore/(health|host-config)$")
    wrong = lambda m: m.type == "error" and not vain.search(m.location["url"])
    opened.on("console", lambda m: complaints.append(m.text) if wrong(m) else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    own = (address, address.replace("http", "ws", 1), "data:", "blob:")
    opened.on("request", lambda r: None if r.url.startswith(own) else complaints.append(r.url))
    yield opened
    context.close()
    assert not complaints, complaints


# HTML file of a browser-drawn page: style sheets, scripts, and the line that mounts it.
_FILE = """<!doctype html><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style>
<body style="margin: 0; color-scheme: light dark"><div id="here"></div>
<script>{scripts}</script><script>const here = document.getElementById("here"); {mount}</script>"""
# Number of elements with an invalid number in their text or attributes.
BROKEN = r"""[...document.querySelectorAll('.dp *')].filter(node =>
  [...node.attributes].some(a => /NaN|undefined|Infinity/.test(a.value))
  || !node.children.length && /NaN|undefined|null/.test(node.textContent)).length"""
_BOXES = """parts => [...document.querySelectorAll(parts)].filter(part => part.checkVisibility())
  .map(part => part.getBoundingClientRect()).map(({left, right}) => [left, right])"""
# Whether the picture has been redrawn at the width of its container.
_SIZED = """width => innerWidth === width && !page.queued && Math.abs(
  document.querySelector('.dp-svg').getAttribute('width') -
  document.querySelector('.dp-plot').clientWidth) < 1"""
_MOVED = """async hash => {
  // The page may have changed before its address did.
  if (location.hash.slice(1) === hash) {
    dispatchEvent(new PopStateEvent("popstate"));
    dispatchEvent(new HashChangeEvent("hashchange"));
    return;
  }
  // hashchange is the later of the two events, so all listeners have run.
  const heard = new Promise(done => addEventListener("hashchange", done, {once: true}));
  location.hash = hash;
  await heard;
}"""


def written(folder: Path, html: str) -> Path:
    """Write a page as index.html into a folder."""
    (folder / "index.html").write_text(html, encoding="utf-8")
    return folder / "index.html"


def as_file(folder: Path, style: str, scripts: str, mount: str) -> Path:
    """Write a browser-drawn page as index.html into a folder."""
    return written(folder, _FILE.format(style=style, scripts=scripts, mount=mount))


@contextmanager
def visits(browser: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that opens an address in a new context; fail on console errors."""
    contexts, complaints = [], []

    def visit(url: str, ready: str, screen: Any = SCREEN, route: Any = None, **options: Any) -> Any:
        context = browser.new_context(viewport=screen, reduced_motion="reduce", **options)
        contexts.append(context)
        view = context.new_page()
        view.on("pageerror", lambda error: complaints.append(str(error)))
        view.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        if route:
            route(view)
        view.goto(url)
        view.wait_for_selector(ready)
        return view

    yield visit
    for context in contexts:
        context.close()
    assert not complaints, complaints


def moved_to(page: Any, **address: Any) -> None:
    """Set the hash of a browser-drawn page, and wait until the page is drawn."""
    page.evaluate(_MOVED, urlencode(address))
    page.wait_for_function("!page.queued")


def dragged(page: Any, place: Any, by: tuple[float, float], *, at=(0.5, 0.5), held=False) -> None:
    """Drag a locator or selector by some pixels; with `held`, keep the button down."""
    part = page.locator(place) if isinstance(place, str) else place
    for _ in range(100):
        before = part.bounding_box()
        page.evaluate("new Promise(requestAnimationFrame)")
        if (box := part.bounding_box()) == before:  # it has stopped moving
            break
    x, y = box["x"] + box["width"] * at[0], box["y"] + box["height"] * at[1]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by[0], y + by[1], steps=6)
    if not held:
        page.mouse.up()


def boxes_on_screens(view: Any, parts: str) -> Iterator[list[Any]]:
    """Yield the boxes of a page's parts for each screen and language; check their width."""
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        view.set_viewport_size({"width": width, "height": height})
        for language in ("zh", "en"):
            view.locator("[data-do=language]").click()
            view.wait_for_selector(f".dp[lang={language}][data-drawn='1']")
            view.wait_for_function(_SIZED, arg=width)
            # Read all boxes in one call, because each drawing replaces the elements.
            boxes = view.evaluate(_BOXES, parts)
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            assert all(left >= -1 and right <= width + 1 for left, right in boxes), boxes
            yield boxes


def settled(page: Any) -> None:
    """Wait until scripts and charts are idle."""
    page.wait_for_function(_STILL, polling=200)
