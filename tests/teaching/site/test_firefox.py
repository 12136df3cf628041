"""A lesson and the page of proof and attack in Firefox, from files and without a network."""

import shutil
import time

import pytest

from browsing import BROKEN, patience
from firefox import Firefox

pytestmark = [
    *(pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough, pytest.mark.xdist_group("site")),
    pytest.mark.skipif(not shutil.which("firefox-esr"), reason="No firefox-esr is here."),
]
# Pixels by which a page is wider than the screen.
BESIDE = "const page = document.documentElement; return page.scrollWidth - page.clientWidth;"


@pytest.fixture(params=[1280, 390])
def view(request, tmp_path):
    one = Firefox(tmp_path, request.param)
    yield one
    one.close()


def shows(view, selector, words):
    """Wait until a part of the page has these words."""
    text = lambda: view.run(f"return document.querySelector(`{selector}`)?.innerText ?? ''")
    end = time.monotonic() + patience() / 1000
    while words not in (shown := text()):
        assert time.monotonic() < end, f"{selector} says {shown!r}, not {words!r}"
        time.sleep(0.05)


def test_a_student_answers_and_sees_progress_in_the_table_of_lessons(view, out):
    view.open((out / "lessons" / "index.html").as_uri())
    shows(view, ".begin", "Start here: ")
    assert view.run(BESIDE) == 0
    view.click(".begin a")
    exercise = """[data-ask*='"item": "1.2"']"""
    for answer, words in (("1.4", "1.2 not yet, 1.4: "), ("60.7", "1.2 right, 60.7: ")):
        view.type(f"{exercise} input", answer)
        shows(view, f"{exercise} .reply", words)
    assert view.run(BESIDE) == 0
    # A second visit, and a corrupt cookie and storage.
    view.open(view.run("return location.href"))
    shows(view, f"{exercise} .reply", "Done on an earlier visit.")
    view.run("document.cookie = 'dplearn2-02=%; path=/'; localStorage.setItem('dplearn2-02', '%')")
    view.open((out / "lessons" / "index.html").as_uri())
    shows(view, "td.done", "1 of 10")


def test_attack_refutes_the_epsilon_of_faulty_training(view, out):
    view.open(f"{(out / 'attack.html').as_uri()}#program=bare")
    shows(view, ".dp-through .dp-verdict", "is false")
    assert view.run(f"return {BROKEN}") == 0 and view.run(BESIDE) == 0
