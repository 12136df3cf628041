"""A real browser on PATE, Federated, Audit: room is used, nothing is cut, a file is stopped."""

import io
import re

import numpy as np
import pytest

from browsing import DRIVEN, settled

pytestmark = DRIVEN
_BOTTOMS = """[...document.querySelectorAll('.stMain .js-plotly-plot, .stMain .people')]
  .map(part => part.getBoundingClientRect().bottom)"""
# What is to be read beside the menu, the fields and the pictures.
_WORDS = ".stMain :is(.people, [data-testid=stMarkdownContainer]:visible)"
_WIDE = "(main => [main.scrollWidth, main.clientWidth])(document.querySelector('.stMain'))"


@pytest.mark.parametrize("name", ["pate", "federated", "audit"])
def test_pictures_and_people_fill_the_first_screen_and_a_phone_scrolls_one_way(page, address, name):
    page.goto(f"{address}/{name}")
    page.locator(".people").wait_for()
    settled(page, f"{name}_1440")
    told = page.locator(_WORDS).evaluate_all("all => all.map(part => part.innerText).join(' ')")
    words = re.findall(r"[^\W\d]+", told)
    assert 50 < len(words) < 100, f"{len(words)} words: {' '.join(words)}"
    *_, end = page.evaluate(_BOTTOMS)
    assert 650 < end <= 900
    page.set_viewport_size({"width": 1024, "height": 768})
    settled(page, f"{name}_1024")
    assert max(page.evaluate(_BOTTOMS)) <= 768
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page, f"{name}_390")
    scrolled, shown = page.evaluate(_WIDE)
    assert scrolled == shown == 390
    (line,) = page.locator(".st-key-words").all()
    assert "ε" in line.inner_text() and line.bounding_box()["y"] < 200


def test_a_long_file_of_votes_shows_how_far_it_is_and_can_be_stopped(page, address):
    rows = np.random.default_rng(0).multinomial(250, [0.1] * 10, 100_000)
    file = io.BytesIO()
    np.save(file, rows)
    page.goto(f"{address}/pate")
    page.locator(".people").wait_for()
    settled(page)
    data = {"name": "votes.npy", "mimeType": "", "buffer": file.getvalue()}
    page.locator("input[type=file]").set_input_files(data)
    page.get_by_text("200 answers. ").wait_for()
    settled(page)
    for field in ("queries", "answers"):
        box = page.locator(f".st-key-box_{field} input").first
        # What is typed while Streamlit still draws can be lost: the address tells.
        for _ in range(100):
            if f"{field}=100000" in page.url:
                break
            box.fill("100000")
            box.press("Enter")
            page.wait_for_timeout(500)
    page.get_by_text(re.compile("[1-9][0-9]* of [0-9]{5} different rows")).wait_for()
    page.get_by_role("button", name="Stop, and let the file go").click()
    page.get_by_text("of them right").wait_for()
    assert not page.locator(".stProgress").count() and not page.get_by_text("votes.npy").count()
