"""Decks in a real browser: charts and formulas are there, nothing is fetched."""

import pytest
from nbformat.v4 import new_code_cell, new_output

from dplearn.__main__ import main
from dplearn.classroom import sources
from dplearn.classroom.html import from_cell

LESSON = sources.lessons()["03"]
COUNT = "name => document.querySelectorAll(name).length"
# To the slide of the chart with this number.
TURN = """number => {
  const chart = document.querySelectorAll(".chart")[number];
  const { h, v } = Reveal.getIndices(chart.closest("section"));
  Reveal.slide(h, v);
}"""


def open_offline(browser, path):
    """A page of `path` that knows what it asked for and what went wrong."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
    page.on("request", lambda r: page.problems.append(r.url) if r.url.startswith("http") else None)
    page.goto(path.resolve().as_uri())
    page.wait_for_selector(".katex")
    return page


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_a_deck_is_for_the_class_and_needs_no_network(browser, tmp_path):
    assert main(["lessons", "build", LESSON.number, "--slides", str(tmp_path)]) == 0
    page = open_offline(browser, tmp_path / f"{LESSON.name}.html")
    assert 15 < page.evaluate("Reveal.getTotalSlides()") < 60
    assert page.evaluate(COUNT, ".katex") > 50 and page.evaluate(COUNT, ".katex-error") == 0
    charts = page.locator(".chart")
    for i in range(charts.count()):
        page.evaluate(TURN, i)
        charts.nth(i).locator(".gtitle").first.wait_for()
        assert charts.nth(i).bounding_box()["width"] > 500
    assert charts.count() >= 5
    for evening in ("Solution of", "Ask yourself", "figure = leak("):
        assert evening not in page.content(), evening
    assert not page.problems


@pytest.mark.parametrize(
    "kind, content, expected",
    [
        (
            "error",
            {"traceback": ["\x1b[31mNameError\x1b[39m", "<b>"]},
            "NameError\n&lt;b&gt;</pre>",
        ),
        ("stream", {"name": "stderr", "text": "<x>"}, '<pre class="output">&lt;x&gt;'),
        ("display_data", {"data": {"image/png": "AA==\n", "text/plain": '"1"'}}, '64,AA==" alt='),
        ("display_data", {"data": {"text/latex": "$x_1<y$"}}, "$x_1&lt;y$"),
    ],
)
def test_whatever_a_cell_left_is_on_a_page(kind, content, expected):
    cell = new_code_cell("1 < 2", outputs=[new_output(kind, **content)])
    assert expected in from_cell(cell) and "\x1b" not in from_cell(cell)
