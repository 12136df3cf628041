"""Decks in a real browser: charts and formulas are there, nothing is fetched."""

import pytest
from nbformat.v4 import new_code_cell, new_output

from dplearn.__main__ import main
from dplearn.teaching.classroom import sources
from dplearn.teaching.classroom.html import from_cell

LESSON = sources.lessons()["03"]
COUNT = "name => document.querySelectorAll(name).length"
# To the slide of the chart with this number.
TURN = """number => {
  const chart = document.querySelectorAll(".chart")[number];
  const { h, v } = Reveal.getIndices(chart.closest("section"));
  Reveal.slide(h, v);
}"""
# The slides of which a part is beyond the edge, at any step of their pictures.
SCROLLS = """async () => {
  const scrolls = [];
  for (const slide of Reveal.getSlides()) {
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v, -1);
    do {
      await turned();
      const parts = [slide, ...slide.querySelectorAll(":scope > *, .katex-display, .wide")];
      if (parts.some(one => one.scrollHeight > one.clientHeight + 1 && one === slide
        || one.scrollWidth > one.clientWidth + 1)) scrolls.push([h, v, slide.innerText]);
    } while (slide.querySelector(".fragment:not(.visible)") && Reveal.nextFragment());
  }
  return scrolls;
}"""


def open_offline(browser, path):
    """A page of `path` that knows what it asked for and what went wrong."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
    page.on("request", lambda r: page.problems.append(r.url) if r.url.startswith("http") else None)
    page.goto(path.resolve().as_uri())
    page.wait_for_selector(".reveal.ready")
    return page


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_a_deck_is_for_the_class_and_needs_no_network(browser, tmp_path):
    assert main(["lessons", "build", LESSON.number, "--slides", str(tmp_path)]) == 0
    page = open_offline(browser, tmp_path / f"{LESSON.name}.html")
    assert 15 < page.evaluate("Reveal.getTotalSlides()") < 60
    assert page.evaluate(COUNT, ".katex") > 50 and page.evaluate(COUNT, ".katex-error") == 0
    code = page.locator(".slides .code").all_text_contents()
    assert max(len(each.split("\n")) for each in code) < 12  # eight lines, and empty ones
    charts = page.locator(".chart")
    for i in range(charts.count()):
        page.evaluate(TURN, i)
        charts.nth(i).locator(".main-svg").first.wait_for()
        assert charts.nth(i).bounding_box()["width"] > 1100
    assert charts.count() >= 5
    for evening in ("Solution of", "Ask yourself", "figure = leak("):
        assert evening not in page.content(), evening
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value.locator("main")
    notes.get_by_text("Next: ").wait_for()
    page.evaluate("Reveal.slide(1, 0)")
    shown = page.locator("section.present > section.present > p").text_content()
    assert shown.startswith("The number of pupils from each of six villages")
    assert f"{shown} How much noise" in notes.text_content()
    assert not page.problems


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize(
    "number, title",
    [
        ("02", "ε = "),  # along its slider: the area shrinks
        ("05", "Order 2 looks at losses near 1.5: D = 1"),  # along its slider: it tilts
        ("09", "One cell: half of its mass"),
    ],
)
def test_a_picture_grows_in_a_few_steps_and_shrinks_again(browser, tmp_path, number, title):
    assert main(["lessons", "build", number, "--slides", str(tmp_path)]) == 0
    page = open_offline(browser, tmp_path / f"{sources.lessons()[number].name}.html")
    number = page.evaluate(
        "t => charts.findIndex(c => JSON.parse(c.querySelector('script').textContent)"
        ".layout.title.text.startsWith(t))",
        title,
    )
    page.evaluate(TURN, number)
    look = """number => { const plot = charts[number].querySelector('.js-plotly-plot');
      return JSON.stringify(plot._fullData.map(t => [t.opacity ?? 0, t.y[30] ?? 0])) }"""
    page.wait_for_function("number => charts[number].querySelector('.js-plotly-plot')", arg=number)
    seen = [page.evaluate(look, number)]
    for key in 4 * ["ArrowRight"] + 4 * ["ArrowLeft"]:
        page.keyboard.press(key)
        page.wait_for_function(
            f"([number, old]) => ({look})(number) !== old", arg=[number, seen[-1]]
        )
        seen.append(page.evaluate(look, number))
    assert seen[:5] == seen[:3:-1] and len(set(seen)) == 5
    assert page.evaluate(SCROLLS) == [] and not page.problems


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
