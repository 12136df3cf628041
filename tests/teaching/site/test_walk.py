"""A first and a second visit of a lesson, as a student makes them."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.thorough)])
def test_a_student_predicts_answers_and_sees_progress_in_the_table_of_lessons(out, view, width):
    view.set_viewport_size({"width": width, "height": 844})
    beside = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    index = (out / "lessons" / "index.html").as_uri()
    view.goto(index)
    expect(view.locator(".begin")).to_contain_text("Start here: ")
    assert view.evaluate(beside) == 0
    view.locator(".begin a").click()
    expect(view.locator("main")).to_contain_text("pupils")
    assert "it is 27" not in view.locator("main").inner_text()
    asking = lambda item: view.locator(f""".ask[data-ask*='"item": "{item}"']""")
    predicted, exercise, test = map(asking, ("pupils alone", "1.2", "1.test"))
    for place, text, words in (
        (predicted, "many", "no number"),
        (predicted, "5", "it is 27; your guess was 5.4 times too small."),
        (exercise, "1.4", "1.2 not yet, 1.4: "),
        (exercise, "1.40", "1.2 not yet, 1.4: "),
        (exercise, "6070 %", "instead of per cent"),
        (exercise, "60.7", "1.2 right, 60.7: "),
    ):
        place.locator("input").fill(text)
        place.locator("input").press("Enter")
        expect(place.locator(".reply")).to_contain_text(words)
    expect(view.locator(".sealed[open]").first).to_contain_text("27")
    drawn = "your guess 5, expected 26.52, truth 27"
    expect(predicted.get_by_role("img")).to_have_attribute("aria-label", drawn)
    for number, letter in enumerate("bcabc"):
        view.locator(f'input[name="1.test-{number}"][value={letter}]').click()
    test.locator("button").click()
    expect(test.locator(".reply")).to_contain_text("1.test right, 5 of 5")
    expect(view.locator(".contents p")).to_have_text("3 of 10 answered")
    assert view.evaluate(beside) == 0
    view.reload()
    expect(exercise.locator(".reply")).to_have_text("Done on an earlier visit.")
    view.goto(index)
    expect(view.locator("td.done").first).to_have_text("3 of 10")
