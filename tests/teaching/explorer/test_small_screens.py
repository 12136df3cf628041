"""A real browser on small screens and with axe-core: nothing is cut, and nobody is kept out."""

import re

import pytest

from browsing import DRIVEN, settled
from dplearn.teaching.explorer.kit import navigation
from dplearn.teaching.site import from_npm

pytestmark = [*DRIVEN, pytest.mark.thorough]
_CUT = """[...document.querySelectorAll(
  '.katex-display, .gtitle, .gtitle-subtitle, .annotation-text')].filter(part => {
  const frame = part.closest('.main-svg');
  const cut = frame
    ? part.getBoundingClientRect().right > frame.getBoundingClientRect().right + 1
    : part.scrollWidth > part.clientWidth;
  return cut && part.checkVisibility({opacityProperty: true});
}).map(part => part.textContent)"""
# Words and what is below them, in the colours that reach the eye.
_COLOURS = """part => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const style = getComputedStyle(part), ink = numbers(style.color);
  let under = part;
  while (numbers(getComputedStyle(under).backgroundColor)[3] === 0) under = under.parentElement;
  const ground = numbers(getComputedStyle(under).backgroundColor);
  const mixed = ground.map((x, i) => Math.round(x + style.opacity * (ink[i] - x)));
  return [mixed, ground].map(String);
}"""
_BUTTON = "button[kind=primary]"
_SMALL = (
    (1024, "formula_book", "dark", _BUTTON),
    (390, "check_a_claim", "light", ".stMain p"),
)


@pytest.mark.parametrize(("width", "name", "scheme", "part"), _SMALL)
def test_nothing_is_cut_on_small_screens_and_words_and_buttons_can_be_read(
    browser, address, width, name, scheme, part
):
    small = browser.new_page(
        viewport={"width": width, "height": 768}, color_scheme=scheme, reduced_motion="reduce"
    )
    small.goto(f"{address}/{name}")
    words = small.locator(part).first
    words.wait_for()
    settled(small, f"{name.partition('?')[0]}_{width}")
    colours = words.evaluate(_COLOURS)
    assert contrast(*colours) > 4.5, colours
    small.locator(".main-svg").first.wait_for()
    assert small.evaluate(_CUT) == []
    # A word of an axis that stands askew runs into the axis' name.
    ticks = small.locator(".xtick text").evaluate_all("all => all.map(e => e.outerHTML)")
    assert not [tick for tick in ticks if re.search(r"rotate\((?!0)", tick)]
    small.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory) -> str:
    """The script that looks for what keeps people out."""
    folder = tmp_path_factory.mktemp("axe")
    return (from_npm("axe-core@4.10.3", folder) / "axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [navigation.path_of(page) for page in navigation.modules()])
def test_nothing_keeps_people_out(browser, address, axe, name, scheme):
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")

    page.goto(f"{address}/{name}")
    page.locator(".dp, .dm[data-drawn], .js-plotly-plot").first.wait_for()
    settled(page)
    page.evaluate(axe)
    wrong = page.evaluate("axe.run().then(found => found.violations)")
    # Streamlit's own box for files has a name, and a role that has none.
    told = [
        (w["id"], w["nodes"][0]["html"]) for w in wrong if w["id"] != "presentation-role-conflict"
    ]
    assert not told
    page.close()


def contrast(*colours: str) -> float:
    """How much lighter one colour is than the other, as WCAG 2 counts it."""
    parts = ([int(x) / 255 for x in re.findall(r"\d+", colour)[:3]] for colour in colours)
    linear = (
        [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in p] for p in parts
    )
    dark, light = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in linear)
    return (light + 0.05) / (dark + 0.05)
