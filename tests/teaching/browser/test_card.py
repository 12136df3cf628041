"""The minute's last scene: a card, the code on it, and where it leads others."""

import re
from io import BytesIO

import numpy as np
import pytest
import segno
from minute import GUESS, minutes, scene
from PIL import Image

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
    assert view.locator(".dm-card").text_content() == before
    # Whoever is sent it guesses first, then sees both.
    link = view.evaluate("shown.link()")
    assert link == f"http://room.test/site/#sent={GUESS}"
    view.goto("about:blank")
    view.goto(link)
    assert view.locator(".dm").get_attribute("data-scene") == "1"
    assert view.locator(".dm-guess, .dm-sent").count() == 0
    scene(view, 2)
    assert view.locator(".dm-value.dm-sent").text_content() == "1.6"


def test_the_code_is_that_of_another_library(opened):
    view = opened(guess=GUESS, scene=5, at="http://room.test/")
    link = view.evaluate("shown.link()")
    path = view.locator(".dm-code path").get_attribute("d")
    cells = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", path)}
    size = round(1 + max(max(cell) for cell in cells))
    ours = np.zeros((size, size), int)
    for x, y in cells:
        ours[y, x] = 1
    made = (
        segno.make(link, encoding="utf-8", eci=True, error=error, mask=mask, boost_error=False)
        for error in "MQH"
        for mask in range(8)
    )
    assert any(np.array_equal(ours, np.array([list(row) for row in code.matrix])) for code in made)


@pytest.mark.parametrize(
    ("at", "options", "base"),
    [
        ("", {}, None),
        ("http://localhost:8501/one_minute", {}, None),
        ("http://localhost:8501/one_minute", {"start": "dplearn app --x"}, None),
        (
            "http://127.0.0.1:8501/m",
            {"lan": "http://192.168.1.7:8501"},
            "http://192.168.1.7:8501/m",
        ),
        ("http://teacher.local:8501/m", {"lan": "http://1.2.3.4:5"}, "http://teacher.local:8501/m"),
    ],
    ids=["file", "static", "local", "lan", "named"],
)
def test_the_code_leads_others_somewhere_or_is_not_there(opened, at, options, base):
    view = opened(at=at, options=options, scene=5)
    assert view.evaluate("shown.link()") == base
    assert view.locator(".dm-code").count() == (base is not None)
    assert view.locator("[data-do=copy]").is_visible() == (base is not None)
    words = view.locator(".dm-say").inner_text()
    expected = "Its code asks" if base else "a file on this machine" if not at else "Only this"
    assert expected in words and options.get("start", "") in words
    assert view.locator(".dm-card").is_visible()
