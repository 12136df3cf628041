"""Functions that students type on a lesson's page get the same replies as in a notebook."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect
from test_answering_browser import field
from tiny import written_page

from browsing import DRAWN, visits
from dplearn.teaching import site
from dplearn.teaching.classroom import Program, answering, in_page, sources
from dplearn.teaching.classroom.checks import exercises

LESSONS = {number: one for number, one in sources.lessons().items() if number < "90"}
# Exercises that draw thousands of random numbers, and have solutions without NumPy.
LONG = ("3.4", "6.1", "8.5", "10.5")
ELSEWHERE = {"17.4"}  # not judged on the page: it uses NumPy for rows of gradients
RIGHT = "def did_copy(count, pupils, pupil):\n    return count(pupils) > count(pupils - {pupil})\n"


def of_lists(function):
    """Return a function that converts lists to arrays and calls `function`."""
    return lambda *case: function(*(np.array(x) if isinstance(x, list) else x for x in case))


@pytest.mark.slow
@pytest.mark.xdist_group("exercises")
@pytest.mark.parametrize("number", LESSONS)
def test_exercise_rebuilt_in_the_browser_gives_the_same_replies(number, measured_once):
    """Compare the results of right and of wrong functions in each case, and the replies."""
    programs = [e for e in exercises(LESSONS[number]).values() if isinstance(e, Program)]
    assert programs
    for program in programs:
        assert_the_same_verdicts(program)


def assert_the_same_verdicts(program):
    description = in_page.described(program)
    if program.key in ELSEWHERE:
        assert description == ""
        return
    assert description and "array(" not in description and "float64" not in description
    again, plain = in_page.rebuilt(description), in_page._plain
    assert (again.cases, again.expected) == (plain(program.cases), plain(program.expected))
    for slip, place in itertools.product(range(len(program.mistakes)), range(len(program.cases))):
        # Complaints are compared by their text.
        assert repr(again.of_mistake(slip, place)) == repr(plain(program.of_mistake(slip, place)))
    assert [m.hints for m in again.mistakes] == [m.hints for m in program.mistakes]
    wrong = [lambda *case: 0.0, lambda *case: None, lambda *case: "x", lambda *case: 1 / 0]
    right, mistake = program.right, program.mistakes[0].value
    if program.key == "14.2":
        right, mistake = of_lists(right), of_lists(mistake)
    assert again.verdict(right).outcome == "right"
    for function in (mistake, *wrong):
        here, there = program.verdict(function), again.verdict(function)
        assert there == here and there.outcome != "right", there.text()


@pytest.mark.parametrize(
    "code, outcome, words",
    [
        (RIGHT, "right", "Two harmless counts"),
        (RIGHT.replace(">", "=="), "mistake", "did the pupil copy?"),
        ("x = 1\n" + RIGHT.replace(":", ""), "unreadable", "line 2: SyntaxError: expected ':'."),
        ("import numpy", "unreadable", "No module named 'nothing'. This page has the standard"),
        (RIGHT.replace("count(pupils)", "np.sum(1)"), "mistake", "not defined. This page has"),
        ("def f():\n    return y\n\nf()", "unreadable", "line 2: NameError: name 'y' is not"),
        ("raise SystemExit", "unreadable", "line 1: SystemExit"),
        ("print(1)\ndel did_copy", "unreadable", "line 2: NameError"),
        ("", "open", "write the body of the function"),
        ("did_copy = 1", "unreadable", "pass the function itself"),
    ],
)
def test_any_code_typed_by_a_student_gets_a_reply_of_one_line(code, outcome, words, capsys):
    code = code.replace("numpy", "nothing")
    asked = in_page.described(exercises(LESSONS["01"])["1.4"])
    reply = json.loads(in_page.replied(code, "did_copy", asked))
    assert reply["outcome"] == outcome and words in reply["messages"][0], reply
    assert "\n" not in reply["messages"][0] and capsys.readouterr().out == ""


@pytest.fixture(scope="session")
def pyodide(tmp_path_factory):
    """Return the folder of an unpacked Pyodide; it has no NumPy."""
    return site.from_npm("pyodide@314.0.7", tmp_path_factory.mktemp("pyodide"))


@pytest.fixture
def opened(browser, tmp_path):
    """Yield a function that opens lesson 01, with Python, from files and offline."""
    address = written_page(tmp_path, "01", python=True)
    with visits(browser) as visit:
        yield lambda: visit(address, "textarea", offline=True)


def checked(view, code):
    """Return the page's reply to a student's code."""
    asked = field(view, LABEL)
    asked.locator("textarea").fill(code)
    asked.locator("textarea").press("Control+Enter")
    expect(asked.get_by_role("button").first).to_be_enabled()
    return asked.get_by_role("status").inner_text()


LABEL = "Your function for 1.4, in Python with its standard library, and lists for arrays"
ENDLESS = "def did_copy(count, pupils, pupil):\n    while True:\n        pass\n"


class TestInABrowser:
    """Lesson page in Chromium, whose answer field runs Python code."""

    pytestmark = DRAWN

    @pytest.mark.thorough
    def test_pyodide_judges_code_and_can_be_stopped_and_restarted(self, opened, pyodide, tmp_path):
        (tmp_path / "python.js").write_text(answering.python_script(pyodide))
        view = opened()
        code = field(view, LABEL).locator("textarea")
        assert "write the body of did_copy" in checked(view, code.input_value())
        assert checked(view, RIGHT).startswith("1.4 right in 6 of 6 cases: ")
        wrong = RIGHT.replace(">", "==")
        first, second = checked(view, wrong), checked(view, wrong)
        assert "did the pupil copy?" in first and "you say the opposite" in second
        assert "\n  expected  True\n  got       False" in first
        assert "stops: line 1: ModuleNotFoundError" in checked(view, "import numpy as np")
        assert "ZeroDivisionError" in checked(view, RIGHT.replace("count(pupils)", "1 / 0", 1))
        stopped = checked(view, ENDLESS)
        assert "more than 10 seconds" in stopped and "begins anew with the next check" in stopped
        code.fill(ENDLESS)
        code.press("Control+Enter")
        view.get_by_role("button", name="Stop").click()
        view.get_by_text("you stopped it").wait_for()
        assert checked(view, RIGHT).startswith("1.4 right in 6 of 6 cases: ")

    @pytest.mark.thorough
    def test_solutions_with_thousands_of_draws_are_judged_in_time(self, opened, pyodide, tmp_path):
        """Check the lessons' solutions, which need only the standard library."""
        (tmp_path / "python.js").write_text(answering.python_script(pyodide))
        view = opened()
        for key in LONG:
            lesson = LESSONS[key[:-2].zfill(2)]
            program = replace(exercises(lesson)[key], mistakes=())
            cells = sources.read(lesson, edition="instructor").cells
            (cell,) = (each for each in cells if sources.exercise_key(each) == key)
            code, _, name = cell.source.partition(f'\n\n\ncheck("{key}", ')
            asked = [code, name.rstrip(")\n"), in_page.described(program), key]
            verdict = view.evaluate("asked => kernel.verdict(...asked)", asked)
            assert verdict["outcome"] == "right", verdict

    def test_reply_is_one_line_if_python_does_not_start(self, opened, tmp_path):
        (tmp_path / "python.js").write_text(
            'var pythonFiles = { core: "1 +", loader: "", files: {} };'
        )
        result = checked(opened(), RIGHT)
        assert result.startswith("1.4 stops: Python did not start (") and "in Jupyter" in result
        assert "\n" not in result
