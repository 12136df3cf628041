"""Saved solutions: functions of ``my_dp.py`` that later lessons use if they are right."""

from types import SimpleNamespace

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from dplearn.teaching.classroom import check, checks, mine
from dplearn.teaching.classroom.checks import Reply, exercise_of
from dplearn.teaching.classroom.sources import LessonError

RIGHT = """\
import math


def delta_of(p, q, epsilon):
    over = lambda p, q: sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q))
    return max(over(p, q), over(q, p))
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DPLEARN_MINE", raising=False)
    return tmp_path / "my_dp.py"


def test_only_right_functions_get_the_advice_to_save_them(library, capsys):
    for answer in (exercise_of("2.4").right, lambda p, q, epsilon: 1.0):
        check("2.4", answer)
    check("2.2", exercise_of("2.2").right)
    right, advice, *others = capsys.readouterr().out.splitlines()
    assert right.startswith("2.4 right") and "copy it, with its imports, into my_dp.py" in advice
    assert others and "my_dp.py" not in "".join(others) and not library.exists()


ORIGINS = {
    "absent": (None, "ours, as no my_dp.py lies beside this notebook."),
    "other": ("x = 1", "ours, as my_dp.py has none; exercise 2.4 asks for one."),
    "broken": ("def (", "ours, as my_dp.py stops with SyntaxError: "),
    "raises": ("1 / 0", "ours, as my_dp.py stops with ZeroDivisionError: division by zero."),
    "leaves": ("exit()", "ours, as my_dp.py stops with SystemExit"),
    "wrong": ("delta_of = max", "ours, as the one in my_dp.py is not right in exercise 2.4."),
    "number": ("delta_of = 3", "ours, as the one in my_dp.py is not right in exercise 2.4."),
    "right": (RIGHT, "yours, from my_dp.py."),
}


@pytest.mark.parametrize("text, words", ORIGINS.values(), ids=ORIGINS)
def test_origin_of_a_loaded_function_is_printed(text, words, library, capsys):
    if text is not None:
        library.write_text(text)
    function = mine("delta_of")
    assert capsys.readouterr().out.startswith(f"delta_of: {words}")
    assert function([1.0], [0.5], 0.0) == 0.5
    assert (function is exercise_of("2.4").right) == words.startswith("ours")


def test_function_not_judged_on_a_busy_machine_is_not_called_wrong(library):
    library.write_text("delta_of = max")
    busy = SimpleNamespace(key="2.4", verdict=lambda function: Reply("not judged", "", ("",)))
    message = "ours, as the one in my_dp.py is not judged in exercise 2.4."
    assert checks._load("delta_of", busy) == (None, message)


def test_loading_a_function_that_no_exercise_asks_for_is_refused(library):
    for name in ("gamma_of", "answer", ""):
        with pytest.raises(LessonError, match=rf"an exercise asks for, got {name}\."):
            mine(name)


def test_build_of_a_lesson_ignores_functions_saved_by_a_student(library, capsys, monkeypatch):
    library.write_text(RIGHT)
    monkeypatch.setenv("DPLEARN_MINE", "")
    mine("delta_of")
    assert "ours, as no my_dp.py" in capsys.readouterr().out


@pytest.mark.slow
def test_notebook_uses_the_function_saved_by_a_student(library):
    library.write_text(RIGHT)
    cell = "from dplearn.teaching.classroom import check, mine\ncheck('2.4', mine('delta_of'))"
    notebook = new_notebook(cells=[new_code_cell(cell)])
    NotebookClient(notebook, kernel_name="python3").execute(cwd=str(library.parent))
    result = notebook.cells[0].outputs[0].text
    assert result.startswith("delta_of: yours, from my_dp.py.\n2.4 right")
