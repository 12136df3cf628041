"""Copies for a class: nothing is answered, and nbgrader's marks are where it looks for them."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from dplearn.__main__ import main
from dplearn.classroom import sources
from dplearn.classroom.checks import exercises
from dplearn.classroom.grading import points

LESSON = sources.lessons()["03"]
# Beside this Python first: nbgrader starts a second program by its bare name.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
NBGRADER = os.environ.get("DPLEARN_NBGRADER") or shutil.which("nbgrader", path=PATH)


def built(copy, folder):
    assert main(["lessons", "build", LESSON.number, f"--{copy}", str(folder)]) == 0
    (path,) = folder.rglob("*.ipynb")
    return nbformat.read(path, as_version=4)


def test_a_cleared_copy_holds_no_answer(tmp_path, capsys):
    notebook = built("cleared", tmp_path)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    text = "\n".join(cell.source for cell in notebook.cells)
    for answer in ("Solution of", "<details>", "Right. ", "For the teacher"):
        assert answer not in text, answer
    # Questions and exercises stay.
    assert text.count("\n* a. ") == text.count("\n* c. ") == 5
    for key in exercises(LESSON):
        assert f'check("{key}", ' in text
    full = sources.read(LESSON).cells
    assert len(full) - len(notebook.cells) == len(exercises(LESSON)) - 1
    assert [c.source for c in full if c.cell_type == "code"] == [c.source for c in code]


def released(cell):
    """What nbgrader leaves of a cell when it releases an assignment."""
    text = re.sub(
        r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", cell.source, flags=re.DOTALL
    )
    return re.sub(r"### BEGIN SOLUTION.*?### END SOLUTION", "...", text, flags=re.DOTALL)


def test_an_assignment_answers_itself_and_releases_nothing(tmp_path):
    notebook = built("nbgrader", tmp_path)
    nbformat.validate(notebook)
    config = (tmp_path / "nbgrader_config.py").read_text()
    assert "..." in config and compile(config, "nbgrader_config.py", "exec")
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    labels = [cell.metadata.nbgrader.grade_id for cell in cells]
    assert len(labels) == len(set(labels)) == 2 * len(exercises(LESSON))
    for answer, marked in zip(cells[::2], cells[1::2], strict=True):
        assert answer.metadata.nbgrader.solution and not answer.metadata.nbgrader.grade
        assert marked.metadata.nbgrader.grade and marked.metadata.nbgrader.locked
        key = answer.metadata.nbgrader.grade_id.removeprefix("answer-").replace("-", ".")
        assert f'points("{key}", ' in marked.source and "points(" not in released(marked)
        names = {"check": lambda *arguments: None}
        exec(released(answer), names)  # what a student gets runs, and earns nothing
        (name,) = re.findall(r"^check\(.*, (\w+)\)", answer.source, re.MULTILINE)
        assert points(key, names[name]) == 0
    possible = sum(cell.metadata.nbgrader.get("points", 0) for cell in cells)
    assert possible == len(exercises(LESSON)) - 1 + 5


def handed_in(course, student, answer):
    """Hand in what nbgrader released, each cell of an answer written anew by `answer`."""
    notebook = nbformat.read(course / "release" / LESSON.name / LESSON.notebook.name, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answer(cell)
    target = course / "submitted" / student / LESSON.name / LESSON.notebook.name
    target.parent.mkdir(parents=True)
    nbformat.write(notebook, target)


@pytest.mark.slow
@pytest.mark.skipif(NBGRADER is None, reason="no nbgrader in this environment")
def test_the_real_nbgrader_marks_what_students_hand_in(tmp_path):
    ours = [cell for cell in built("nbgrader", tmp_path).cells if "nbgrader" in cell.metadata]
    right = {cell.metadata.nbgrader.grade_id: cell.source for cell in ours}
    environment = os.environ | {"PATH": f"{Path(NBGRADER).parent}{os.pathsep}{PATH}"}
    environment["PYTHONPATH"] = str(sources.lessons_folder().parent)

    def nbgrader(*command):
        run = subprocess.run(
            [NBGRADER, *command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr[-2000:]

    nbgrader("generate_assignment", LESSON.name, "--create")
    handed_in(tmp_path, "right", lambda cell: right[cell.metadata.nbgrader.grade_id])
    # The function alone is right, and one of five choices.
    half = {"answer-3-4": right["answer-3-4"], "answer-3-test": 'answers = "b----"'}
    handed_in(
        tmp_path, "half", lambda cell: half.get(cell.metadata.nbgrader.grade_id, "answer = 9")
    )
    handed_in(tmp_path, "broken", lambda cell: "answer = 1 / 0")
    nbgrader("autograde", LESSON.name, "--create")
    nbgrader("export")
    with (tmp_path / "grades.csv").open() as table:
        marks = {
            row["student_id"]: (row["score"], row["max_score"]) for row in csv.DictReader(table)
        }
    earned = {"right": "9.0", "half": "2.0", "broken": "0.0"}
    assert marks == {student: (points, "9.0") for student, points in earned.items()}


@pytest.mark.parametrize("key, answer, earned", [("3.1", 1, 0), ("3.test", "bcacb", 5)])
def test_points_are_those_of_the_verdict(key, answer, earned):
    assert points(key, answer) == earned
    assert points("3.1", exercises(LESSON)["3.1"].right) == 1
    assert points("3.test", "b----") == 1


def test_an_appendix_is_no_assignment(tmp_path):
    assert main(["lessons", "build", "90", "--nbgrader", str(tmp_path)]) == 0
    assert not list(tmp_path.iterdir())
