"""One lesson from files, without a network, at two widths and on two visits."""

import time

import pytest

from browsing import patience

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]

# Pixels by which a page is wider than the screen.
BESIDE = """const page = document.documentElement;
return page.scrollWidth - page.clientWidth;"""


class Chromium:
    """Page without a network, of the width of a screen."""

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


@pytest.fixture
def walk(browser, request):
    one = Chromium(browser, request.param)
    yield one, request.param
    one.close()


def shows(view, selector, words):
    """Wait until a part of the page has these words."""
    text = lambda: view.run(f"return document.querySelector(`{selector}`)?.innerText ?? ''")
    end = time.monotonic() + patience() / 1000
    while words not in (shown := text()):
        assert time.monotonic() < end, f"{selector} says {shown!r}, not {words!r}"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "walk", [1280, pytest.param(390, marks=pytest.mark.thorough)], indirect=True
)
def test_a_student_predicts_answers_and_sees_progress_on_the_map(walk, out):
    view, width = walk
    asking = lambda item: f"""[data-ask*='"item": "{item}"']"""
    view.open((out / "lessons" / "index.html").as_uri())
    assert view.run("return innerWidth") == width and view.run(BESIDE) == 0
    shows(view, ".begin", "Start here: ")
    view.click(".begin a")
    shows(view, "main", "pupils")
    assert "it is 27" not in view.run("return document.querySelector('main').innerText")
    predicted, exercise, test = map(asking, ("pupils alone", "1.2", "1.test"))
    view.type(f"{predicted} input", "5")
    shows(view, f"{predicted} .reply", "it is 27; your guess was 5.4 times too small.")
    shows(view, ".sealed[open]", "27")
    shows(view, f"{predicted} .number-line .guess", "guess")
    for answer, words in (
        ("1.4", "1.2 not yet, 1.4: "),
        ("1.40", "1.2 not yet, 1.4: "),
        ("6070 %", "instead of per cent"),
        ("60.7", "1.2 right, 60.7: "),
    ):
        view.type(f"{exercise} input", answer)
        shows(view, f"{exercise} .reply", words)
    for number, letter in enumerate("bcabc"):
        view.click(f'input[name="1.test-{number}"][value={letter}]')
    view.click(f"{test} button")
    shows(view, f"{test} .reply", "1.test right, 5 of 5")
    if width > 1200:
        shows(view, ".contents p", "3 of 10 answered")
    assert view.run(BESIDE) == 0
    # A second visit, and a corrupt cookie and storage.
    view.open(view.run("return location.href"))
    shows(view, f"{exercise} .reply", "Done on an earlier visit.")
    view.run("document.cookie = 'dplearn2-02=%; path=/'; localStorage.setItem('dplearn2-02', '%')")
    view.open((out / "lessons" / "index.html").as_uri())
    shows(view, "td.done", "3 of 10")
    shows(view, ".begin", "Go on with ")
