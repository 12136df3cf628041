"""A student walks through one lesson: from files, without a network, in two browsers, twice."""

import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dplearn.teaching import site
from firefox import Firefox

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]

# Pixels of a page beside the screen.
BESIDE = """const page = document.documentElement;
return page.scrollWidth - page.clientWidth;"""


class Chromium:
    """Chromium by Playwright, with the same words."""

    def __init__(self, browser, width: int) -> None:
        size = {"width": width, "height": 844}
        self.page = browser.new_context(viewport=size, offline=True).new_page()
        self.open, self.click = self.page.goto, self.page.click

    def run(self, script):
        return self.page.evaluate(f"() => {{ {script} }}")

    def type(self, selector, text):
        self.page.fill(selector, text)
        self.page.press(selector, "Enter")

    def close(self):
        self.page.context.close()


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as executor:
        patch.setattr(site, "book", ())
        site.write_site(folder, executor, tell=lambda line: None)
    return folder


@pytest.fixture
def walk(request, tmp_path):
    name, width = request.param
    if name == "Firefox" and not shutil.which("firefox-esr"):
        pytest.skip("No firefox-esr is here.")
    one = Firefox(tmp_path, width) if name == "Firefox" else None
    one = one or Chromium(request.getfixturevalue("browser"), width)
    yield one, width
    one.close()


@pytest.mark.parametrize(
    "walk",
    [
        pytest.param(one, id=f"{one[0]}-{one[1]}", marks=pytest.mark.thorough if rank else ())
        for rank, one in enumerate(itertools.product(("Chromium", "Firefox"), (1280, 390)))
    ],
    indirect=True,
)
def test_a_student_predicts_sees_errs_knows_and_finds_it_on_the_map(walk, out):
    view, width = walk
    text = lambda selector: view.run(f"return document.querySelector(`{selector}`).innerText")
    asking = lambda item: f"""[data-ask*='"item": "{item}"']"""
    view.open((out / "lessons" / "index.html").as_uri())
    assert view.run("return innerWidth") == width and view.run(BESIDE) == 0
    assert text(".begin").startswith("Start here: ")
    view.click(".begin a")
    assert "it is 27" not in text("main")
    predicted, exercise, test = map(asking, ("pupils alone", "1.1", "1.test"))
    view.type(f"{predicted} input", "5")
    assert "it is 27; your guess was 5.4 times too small." in text(f"{predicted} .reply")
    assert text(".sealed[open]").count("27") and text(f"{predicted} .number-line .guess")
    for answer, words in (
        ("1.4", "1.1 not yet, 1.4: "),
        ("1.40", "1.1 not yet, 1.4: "),
        ("6070 %", "instead of per cent"),
        ("60.7", "1.1 right, 60.7: "),
    ):
        view.type(f"{exercise} input", answer)
        assert words in text(f"{exercise} .reply"), answer
    for number, letter in enumerate("bcabc"):
        view.click(f'input[name="1.test-{number}"][value={letter}]')
    view.click(f"{test} button")
    assert text(f"{test} .reply").startswith("1.test right, 5 of 5")
    assert text(".contents p") == "3 of 9 answered" or width < 1200
    assert view.run(BESIDE) == 0
    # A second visit, and what somebody has spoilt by hand.
    view.open(view.run("return location.href"))
    assert text(f"{exercise} .reply") == "Done on an earlier visit."
    view.run("document.cookie = 'dplearn-02=%; path=/'; localStorage.setItem('dplearn-02', '%')")
    view.open((out / "lessons" / "index.html").as_uri())
    assert text("td.done") == "3 of 9" and "Go on with " in text(".begin")
    assert text(".kept + p").startswith("What this browser has kept of lesson 02 cannot be read")
