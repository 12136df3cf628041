"""A real browser on Audit: room is used, and nothing is cut."""

import re

import pytest

from browsing import DRIVEN, settled

pytestmark = [*DRIVEN, pytest.mark.thorough]
_BOTTOMS = """[...document.querySelectorAll('.stMain .js-plotly-plot, .stMain .people')]
  .map(part => part.getBoundingClientRect().bottom)"""
# What is to be read beside the menu, the fields and the pictures.
_WORDS = ".stMain :is(.people, [data-testid=stMarkdownContainer]:visible)"
_WIDE = "(main => [main.scrollWidth, main.clientWidth])(document.querySelector('.stMain'))"


def test_pictures_and_people_fill_the_first_screen_and_a_phone_scrolls_one_way(page, address):
    page.goto(f"{address}/audit")
    page.locator(".people").wait_for()
    settled(page, "audit_1440")
    told = page.locator(_WORDS).evaluate_all("all => all.map(part => part.innerText).join(' ')")
    words = re.findall(r"[^\W\d]+", told)
    assert 50 < len(words) < 100, f"{len(words)} words: {' '.join(words)}"
    *_, end = page.evaluate(_BOTTOMS)
    assert 650 < end <= 900
    page.set_viewport_size({"width": 1024, "height": 768})
    settled(page, "audit_1024")
    assert max(page.evaluate(_BOTTOMS)) <= 768
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page, "audit_390")
    scrolled, shown = page.evaluate(_WIDE)
    assert scrolled == shown == 390
    (line,) = page.locator(".st-key-words").all()
    assert "ε" in line.inner_text() and line.bounding_box()["y"] < 200
