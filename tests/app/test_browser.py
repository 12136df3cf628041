"""A real browser: the page loads, a slider moves the curve and the address, nothing leaks out."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import chromium
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).parents[2]
ARTEFACTS = ROOT / "artefacts"
SECONDS = 60_000  # Playwright counts in milliseconds.

_CURVE = """(name) => {
  const plot = document.querySelector('.st-key-picture .js-plotly-plot');
  const trace = plot && plot.data && plot.data.find(t => t.name === name);
  return trace ? JSON.stringify(Array.from(trace.y)) : null;
}"""


# The title of the second picture; for a moment there is none while Plotly writes a new one.
_FOUND = "document.querySelector('.st-key-picture_looseness .gtitle')?.textContent"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A running server on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield _ready(f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.wait(timeout=30)


def _ready(url: str, server: subprocess.Popen) -> str:
    for _ in range(300):
        assert server.poll() is None, "the server stopped while starting"
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                return url
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not answer within 30 seconds")


@pytest.fixture(scope="module")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=chromium.path(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.fixture
def page(browser, address) -> Iterator:
    """A fresh page that must end without console errors and without requests elsewhere."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(SECONDS)
    complaints: list[str] = []
    opened.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.extend(_elsewhere(request.url, address)))
    yield opened
    context.close()
    assert not complaints


def _elsewhere(url: str, address: str) -> list[str]:
    here = (address, address.replace("http", "ws", 1), "data:", "blob:")
    return [] if url.startswith(here) else [f"request to {url}"]


def curve(page, name: str = "PLD") -> list[float]:
    found = page.wait_for_function(_CURVE, arg=name).json_value()
    return json.loads(found)


def curve_other_than(page, old: list[float], name: str = "PLD") -> list[float]:
    page.wait_for_function(
        f"([name, old]) => {{ const now = ({_CURVE})(name); return now && now !== old; }}",
        arg=[name, json.dumps(old, separators=(",", ":"))],
    )
    return curve(page, name)


def test_the_page_loads_and_a_screenshot_is_kept(page, address):
    page.goto(address)
    values = curve(page)
    assert len(values) > 40 and values == sorted(values)
    page.get_by_text("the tightest bound here is").wait_for()
    ARTEFACTS.mkdir(exist_ok=True)
    page.wait_for_timeout(500)
    page.screenshot(path=ARTEFACTS / "explorer.png")
    box = page.locator(".st-key-picture .js-plotly-plot").bounding_box()
    assert box["y"] + box["height"] <= 900, "the first screen shows the whole picture"
    title = page.locator(".st-key-picture_looseness .gtitle").bounding_box()
    assert title["y"] + title["height"] <= 900, "and what the second one found"


def test_a_slider_moved_by_keyboard_moves_the_curve_and_the_address(page, address):
    page.goto(address)
    before = curve(page)
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    assert slider.get_attribute("aria-valuetext") == "4"
    slider.focus()
    page.keyboard.press("ArrowRight")
    after = curve_other_than(page, before)
    assert after[-1] < before[-1]
    page.wait_for_url("**noise_multiplier=4.5")
    box = page.get_by_role("textbox", name="Noise multiplier σ")
    assert box.input_value() == "4.5"

    fresh = page.context.new_page()
    fresh.goto(page.url)
    assert curve(fresh) == after
    assert fresh.get_by_role("slider", name="Noise multiplier σ").get_attribute(
        "aria-valuetext"
    ) == ("4.5")

    page.go_back()
    assert curve_other_than(page, after) == before


def test_the_curve_follows_a_slider_that_is_still_held(page, address):
    page.goto(address)
    before = curve(page)
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    box = slider.bounding_box()
    x, y = box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=5)
    held = curve_other_than(page, before)
    assert "noise_multiplier" not in page.url
    page.mouse.move(x + 60, y, steps=5)
    assert curve_other_than(page, held)[-1] < held[-1]
    page.mouse.up()
    page.wait_for_url("**noise_multiplier=*")


def test_a_number_typed_moves_the_slider_and_rubbish_is_named(page, address):
    page.goto(address)
    before = curve(page)
    box = page.get_by_role("textbox", name="Noise multiplier σ")
    box.fill("1.1")
    box.press("Enter")
    assert curve_other_than(page, before)[-1] > before[-1]
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    page.wait_for_function(
        "e => e.getAttribute('aria-valuetext') === '1.1'", arg=slider.element_handle()
    )
    box.fill("four")
    box.press("Enter")
    page.get_by_text("Expected noise_multiplier to be a number").wait_for()
    assert page.url.endswith("noise_multiplier=1.1")


def test_data_and_picture_can_be_taken_along(page, address, tmp_path):
    page.goto(address)
    curve(page)
    with page.expect_download() as data:
        page.get_by_role("button", name="Data as CSV").click()
    data.value.save_as(tmp_path / "epsilon.csv")
    assert (tmp_path / "epsilon.csv").read_text().startswith("method,steps,lower,epsilon")
    with page.expect_download() as picture:
        page.locator(".st-key-picture .modebar-btn[data-title*='lot']").first.click()
    assert picture.value.suggested_filename == "epsilon_vs_steps.svg"
    picture.value.save_as(tmp_path / "picture.svg")
    assert "bounds on ε" in (tmp_path / "picture.svg").read_text()


def looseness(page) -> dict:
    """Title and RDP's curve of the second picture, once it is there."""
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .gtitle').length >= 2")
    return page.evaluate(
        """() => {
          const plot = document.querySelector('.st-key-picture_looseness .js-plotly-plot');
          const rdp = plot.data.find(t => t.name === 'RDP');
          return {title: plot.querySelector('.gtitle').textContent, y: Array.from(rdp.y),
                  left: plot.querySelector('.nsewdrag').getBoundingClientRect().left};
        }"""
    )


def test_the_second_picture_is_there_and_follows_a_slider(page, address):
    page.goto(address)
    before = looseness(page)
    assert "RDP asks for 9.4 % more ε than needed" in before["title"]
    first = page.locator(".st-key-picture .nsewdrag").first.bounding_box()
    assert abs(first["x"] - before["left"]) < 1, "the same T lies below the same T"
    slider = page.get_by_role("slider", name="Noise multiplier σ")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        f"old => {{ const now = {_FOUND}; return now && now !== old; }}",
        arg=before["title"],
    )
    assert looseness(page)["y"] != before["y"]
    page.get_by_role("slider", name="You are here: T").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => ({_FOUND} ?? '').startsWith('At T = 8')")


def test_the_pictures_stay_where_they_are_while_a_slider_moves(page, address):
    page.goto(address)
    looseness(page)
    plots = page.locator(".js-plotly-plot")
    places = [plots.nth(i).bounding_box() for i in range(2)]
    before = curve(page)
    page.get_by_role("slider", name="Failure probability δ").focus()
    page.keyboard.press("Home")
    curve_other_than(page, before)
    page.wait_for_timeout(300)
    assert [plots.nth(i).bounding_box() for i in range(2)] == places


def test_the_gap_of_shuffling_shows(page, address):
    page.goto(address)
    before = curve(page)
    page.get_by_role("combobox", name="Run").click()
    page.get_by_text("Chua et al. 2024, shuffled batches").click()
    curve_other_than(page, before)
    page.wait_for_function(
        "() => document.querySelector('.st-key-picture .gtitle')?.textContent"
        " === 'A Poisson accountant would claim 1.95; shuffling leaks at least 10.99'"
    )
    claim, proved = curve(page, "Poisson claim"), curve(page)
    assert all(said < true for said, true in zip(claim, proved, strict=True))
    page.wait_for_function(f"() => ({_FOUND} ?? '').endsWith('Poisson claim hides 82 %')")
    page.wait_for_url("**sampling=shuffled**")
    page.wait_for_timeout(500)
    page.screenshot(path=ARTEFACTS / "shuffled.png")


# The one of two frames that is to be seen.
_RUN = """[...document.querySelectorAll('.st-key-picture .js-plotly-plot:has(.gtitle)')]
  .find(plot => plot.checkVisibility({visibilityProperty: true}))"""
_TITLE = f"({_RUN}?.querySelector('.gtitle')?.textContent ?? '')"


def test_a_run_is_trained_and_another_is_stopped(page, address):
    page.goto(address)
    curve(page)
    page.get_by_role("link", name="Train").click()
    train = page.get_by_role("button", name="Train", exact=True)
    train.click()
    page.wait_for_function(f"() => {_TITLE}.endsWith('without privacy')")
    train.wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate(f"{_RUN}.data[0].y.at(-1)") > 90
    page.screenshot(path=ARTEFACTS / "train.png")
    box = page.evaluate(f"{_RUN}.getBoundingClientRect().toJSON()")
    assert box["bottom"] <= 900 and box["width"] > 900, "the first screen shows the whole picture"
    train.click()
    page.get_by_role("button", name="Stop").click()
    page.wait_for_function(f"() => {_TITLE}.startsWith('Stopped')")
    train.wait_for()
