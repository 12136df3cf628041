"""Marks for a student's notebook by our checks, whatever else the notebook contains."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tiny import written_lesson

from dplearn.__main__ import main

LESSON = """\
# %% [markdown]
# # 12 Tiny
#
# **1** Is it?
#
# <details><summary>a. Yes.</summary>
#
# Right. It is.
#
# </details>
#
# <details><summary>b. No.</summary>
#
# No. It is.
#
# </details>

# %%
check("12.test", answer)

# %% [markdown]
# Who is right?
#
# <details><summary>a. Nobody.</summary>
#
# Right. A vote has no marks.
#
# </details>

# %%
check("12.vote", answer)
"""
EXERCISES = """
from dataclasses import replace
from dplearn.teaching.classroom import Exercise, Program

def number(i):
    return Exercise(key=f"12.{i}", right=42, praise="Indeed.", mistakes=(), hints=("6 * 7",))

double = Program(key="12.3", right=lambda x: 2 * x, cases=((1.0,), (2.0,)), praise="Indeed.",
                 mistakes=(), hints=("x + x",), seconds=0.3)
EXERCISES = (number(1), number(2), double, number(4), number(5), replace(double, key="12.6"))
"""


@pytest.fixture
def folder(tmp_path):
    return written_lesson(tmp_path, "12_tiny", LESSON, EXERCISES).notebook.parent


def written(folder, *sources):
    """Return a student's notebook with these code cells."""
    cells = [new_markdown_cell("# 12 Tiny"), *map(new_code_cell, sources)]
    path = folder / "Zoë.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


HOSTILE = [
    # Redefined checks, in the notebook and in the library, are ignored.
    """\
from dplearn.teaching.classroom import Exercise, check
from dplearn.teaching.classroom import checks, grading
grading.score_rows = lambda *arguments: '[["12.1", 1, 1, "right"], ["12.2", 1, 1, "right"]]'
Exercise.verdict = lambda self, answer: checks.Reply("right", "right", ("right",))
def check(key, answer):
    print(key, "right")
""",
    "answer = 42.0\ncheck('12.1', answer)",
    "answer = 41\ncheck('12.2', answer + 0.5)",
    "def double(x):\n    return x + x\n\ncheck('12.3', double, keep=True)",
    "check('12.4', 42 / 0)",
    "%time pass\nexit(",
    "answer = 'a'\ncheck('12.test', answer)\ncheck('12.vote', answer)",
    "raise SystemExit",
    "import os; os._exit(1)",  # the kernel dies; all other cells run again
    "def double(x):\n    while True:\n        pass\n\ncheck('12.6', double)",
]


EARNED = ["1/1  12.1 right", "0/1  12.2 not yet, 41.5: 6 * 7", "1/1  12.3 right"]
EARNED += [
    "0/1  12.4 is not",
    "0/1  12.5 is not asked by any cell",
    "0/1  12.6 not yet",
    "1/1  12.test",
]


@pytest.mark.slow
def test_answers_are_graded_by_our_own_checks(folder, capsys):
    path = written(folder, *HOSTILE)
    notebook = nbformat.read(path, as_version=4)
    # Stored outputs are ignored.
    notebook.cells[3].outputs = [new_output("stream", text="12.2 right, 42: Indeed.")]
    nbformat.write(notebook, path)
    assert main(["lessons", "grade", str(path), "--folder", str(folder)]) == 0
    file, *marks, total = capsys.readouterr().out.splitlines()
    assert (file, total) == ("Zoë.ipynb", "  3/7  total")
    assert len(marks) == 7
    for mark, words in zip(marks, EARNED, strict=True):
        assert mark.startswith(f"  {words}"), mark
    assert not (folder / "my_dp.py").exists()  # it would be the teacher's


def test_files_that_are_no_lessons_are_refused(folder, capsys):
    path = written(folder, "check('13.1', 42)")
    other = nbformat.read(path, as_version=4)
    other.cells[0].source = "# My notes"
    nbformat.write(other, path)
    other.cells[0].source = "# 12 Huge"
    nbformat.write(other, renumbered := folder / "renumbered.ipynb")
    (text := folder / "text.ipynb").write_text("no JSON")
    for file, words in (
        (path, "Expected the notebook of a lesson with exercises, got "),
        (renumbered, "the title '12 Tiny', got '12 Huge' in "),
        (folder / "absent.ipynb", "No such file"),
        (text, "Notebook does not appear to be JSON"),
    ):
        assert main(["lessons", "grade", str(file), "--folder", str(folder)]) == 2
        assert words in capsys.readouterr().err
