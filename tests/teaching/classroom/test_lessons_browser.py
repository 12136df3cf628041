"""A real browser and no kernel: the slider of every lesson moves its figure."""

import json
import re

import pytest
from playwright.sync_api import Page
from plotly.offline import get_plotlyjs

from browsing import one_in_four
from dplearn.teaching.classroom.display import PLOTLY

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]

_TITLE = "document.querySelector('.gtitle')?.textContent"
_DATA = "document.getElementById('here')._fullData"
_DRAW = "figure => { Plotly.purge('here'); return Plotly.newPlot('here', figure); }"
_KINDS = f"{_DATA}.map(trace => trace.type)"


@pytest.fixture(scope="module")
def page(browser) -> Page:
    """A page that knows Plotly and nothing else; it may load nothing."""
    page = browser.new_page()
    page.route("**/*", lambda route: route.abort())
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(error))
    page.set_content(f"<script>{get_plotlyjs()}</script><div id='here'></div>")
    return page


def sliders(lesson) -> list[dict]:
    """The stored figures of a lesson that have frames."""
    cells = json.loads(lesson.notebook.read_text())["cells"]
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    return [data[PLOTLY] for data in outputs if "frames" in data.get(PLOTLY, ())]


def move(page: Page, share: float, title: str) -> None:
    """Click on the rail, so far along it, and wait for a title as a browser shows it."""
    rail = page.locator(".slider-rail-touch-rect").bounding_box()
    page.mouse.click(rail["x"] + 1 + share * (rail["width"] - 2), rail["y"] + 5)
    shown = re.sub(r"<[^>]+>", "", title).replace("&amp;", "&")
    page.wait_for_function(f"{_TITLE} === {json.dumps(shown)}", timeout=20_000)


@pytest.mark.parametrize("lesson", one_in_four())
def test_a_slider_moves_without_a_kernel(page, lesson):
    for figure in sliders(lesson):
        page.evaluate(_DRAW, figure)
        kinds = page.evaluate(_KINDS)
        last = len(figure["frames"]) - 1
        for i in (0, last // 2, last):
            frame = figure["frames"][i]
            move(page, i / last, frame["layout"]["title"]["text"])
            assert page.evaluate(_KINDS) == kinds
            for k, changed in enumerate(frame["data"]):
                if "text" in changed:
                    assert page.evaluate(f"{_DATA}[{k}].text") == changed["text"]
    assert not page.problems
