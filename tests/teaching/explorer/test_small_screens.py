"""Layout on small screens, and accessibility by axe-core, in Chromium."""

import re

import pytest

from browsing import DRIVEN, settled
from dplearn.teaching.explorer.kit import navigation
from dplearn.teaching.site import from_npm

pytestmark = [*DRIVEN, pytest.mark.thorough]
_CUT = """[...document.querySelectorAll(
  '.katex-display, .st-key-picture_box p, .legendtext, .annotation-text')].filter(part => {
  const frame = part.closest('.main-svg');
  const cut = frame
    ? part.getBoundingClientRect().right > frame.getBoundingClientRect().right + 1
    : part.scrollWidth > part.clientWidth;
  return cut && part.checkVisibility({opacityProperty: true});
}).map(part => part.textContent)"""


@pytest.mark.parametrize(("width", "name"), [(1024, "formula_book"), (390, "check_a_claim")])
def test_nothing_is_cut_on_small_screens(browser, address, width, name):
    small = browser.new_page(viewport={"width": width, "height": 768}, reduced_motion="reduce")
    small.goto(f"{address}/{name}")
    small.locator(".main-svg").first.wait_for()
    settled(small, f"{name}_{width}")
    assert small.evaluate(_CUT) == []
    # Rotated tick labels would overlap the axis title.
    ticks = small.locator(".xtick text").evaluate_all("all => all.map(e => e.outerHTML)")
    assert not [tick for tick in ticks if re.search(r"rotate\((?!0)", tick)]
    small.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory) -> str:
    """Return the script of axe-core, which finds accessibility violations."""
    folder = tmp_path_factory.mktemp("axe")
    return (from_npm("axe-core@4.10.3", folder) / "axe.min.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [navigation.path_of(page) for page in navigation.modules()])
def test_pages_have_no_accessibility_violations(browser, address, axe, name, scheme):
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")

    page.goto(f"{address}/{name}")
    page.locator(".dp, .dm[data-drawn], .js-plotly-plot").first.wait_for()
    settled(page)
    page.evaluate(axe)
    wrong = page.evaluate("axe.run().then(found => found.violations)")
    assert not [(w["id"], w["nodes"][0]["html"]) for w in wrong]
    page.close()
