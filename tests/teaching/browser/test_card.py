"""The minute's last scene: a card, and the address on it."""

from io import BytesIO

import numpy as np
import pytest
from minute import GUESS, minutes, scene
from PIL import Image
from playwright.sync_api import expect

from browsing import DRAWN

pytestmark = DRAWN


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """Opens the minute; it must not complain."""
    with minutes(browser, tmp_path_factory.mktemp("minute")) as opened:
        yield opened


def test_the_card_is_the_same_as_picture_as_file_and_from_its_address(opened):
    view = opened(guess=GUESS, scene=5, at="http://room.test/site/index.html", fresh=True)
    words = "I guessed ε = 1.6.", "My guess is 1.7 times too large.", "Proved after", "0.947"
    with view.expect_download() as svg:
        view.locator("[data-do=svg]").click()
    text = svg.value.path().read_text()
    plain = text.replace("\u00a0", " ")
    assert all(part in plain for part in words) and "dm-line" not in text
    with view.expect_download() as png:
        view.locator("[data-do=png]").click()
    saved = Image.open(png.value.path()).convert("L")
    assert saved.size == (1080, 1080)
    image = view.locator(".dm-card").screenshot()
    drawn = Image.open(BytesIO(image)).convert("L").resize((1080, 1080))
    assert np.mean(np.abs(np.asarray(saved, float) - np.asarray(drawn, float))) < 12
    before = view.locator(".dm-card").text_content()
    view.reload()
    expect(view.locator(".dm-card")).to_have_text(before)
    # Whoever is sent it guesses first, then sees both.
    link = view.evaluate("shown.link()")
    assert link == f"http://room.test/site/#sent={GUESS}"
    view.goto("about:blank")
    view.goto(link)
    expect(view.locator(".dm")).to_have_attribute("data-scene", "1")
    expect(view.locator(".dm-guess, .dm-sent")).to_have_count(0)
    scene(view, 2)
    expect(view.locator(".dm-value.dm-sent")).to_have_text("1.6")


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("", ""),
        ("http://localhost:8501/one_minute", ""),
        ("http://127.0.0.1:8501/m", ""),
        ("http://teacher.local:8501/m", "http://teacher.local:8501/m"),
        ("http://room.test/site/index.html", "http://room.test/site/"),
    ],
    ids=["file", "local", "number", "named", "static"],
)
def test_the_card_names_an_address_that_others_can_open_or_none(opened, at, place):
    view = opened(at=at, scene=5)
    assert view.evaluate("shown.link()") == place
    expect(view.locator("[data-do=copy]")).to_be_visible(visible=place != "")
    expect(view.locator(".dm-say")).to_contain_text(
        "Its link asks" if place else "Only this machine"
    )
    card = view.locator(".dm-card").text_content()
    assert ("Your turn" in card) == (place != "") and (place or "dplearn") in card
