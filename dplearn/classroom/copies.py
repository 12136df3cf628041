"""Copies of the lessons for a class: without answers, or as assignments of nbgrader."""

import re
from pathlib import Path
from typing import Any

from dplearn.classroom.build import write_notebook
from dplearn.classroom.checks import exercises
from dplearn.classroom.grading import possible_points
from dplearn.classroom.sources import Lesson, answered, exercise_key, read

_SOLUTION = re.compile(r"\s*<details><summary>Solution of .*?</details>", re.DOTALL)
_WHY = re.compile(r"<details><summary>([a-e]\. .*?)</summary>.*?</details>", re.DOTALL)
_CHECK = re.compile(r'^check\("([\w.]+)", (\w+)\)$', re.MULTILINE)

_CONFIGURATION = """\
c = get_config()
c.CourseDirectory.course_id = "dplearn"
c.ExecutePreprocessor.timeout = 300
c.ClearSolutions.code_stub = {"python": "...  # your code"}
"""
_MARKED = """\
# The last line is the number of points.
from dplearn.classroom.grading import points
### BEGIN HIDDEN TESTS
points("{key}", {name})
### END HIDDEN TESTS"""


def write_cleared(lesson: Lesson, folder: Path) -> Path:
    """Write a copy without outputs, solutions and explanations of the self-test."""
    notebook = read(lesson)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = without_answers(cell.source)
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    return write_notebook(notebook, folder / lesson.notebook.name)


def without_answers(markdown: str) -> str:
    """A text of a lesson without solutions, and with the choices of its questions alone."""
    return _WHY.sub(r"* \1", _SOLUTION.sub("", markdown))


def write_nbgrader(lesson: Lesson, course: Path) -> Path:
    """Write the instructor's version of an assignment that nbgrader releases and marks."""
    configuration = course / "nbgrader_config.py"
    if not configuration.exists():
        course.mkdir(parents=True, exist_ok=True)
        configuration.write_text(_CONFIGURATION, encoding="utf-8")
    notebook, cells = read(lesson), []
    after = [*notebook.cells[1:], None]
    for cell, following in zip(notebook.cells, after, strict=True):
        key = exercise_key(cell)
        if cell.cell_type == "markdown":
            cell.source = without_answers(cell.source)
        cells += _assigned(cell, lesson, answered(cell, following, lesson)) if key else [cell]
    notebook.cells = [cell for cell in cells if cell.source.strip()]
    return write_notebook(notebook, course / "source" / lesson.name / lesson.notebook.name)


def _assigned(cell: Any, lesson: Lesson, answer: str) -> list[Any]:
    """The student's cell with the solution marked, and the cell that counts its points."""
    from nbformat.v4 import new_code_cell

    (call,) = _CHECK.finditer(answer)
    key, name = call.groups()
    lines = answer[: call.start()].rstrip().splitlines()
    # A function keeps its first line, and the marks are indented as its body is.
    at = next((i for i, line in enumerate(lines, start=1) if line.startswith(f"def {name}(")), 0)
    indent = "    " * bool(at)
    body = [f"{indent}### BEGIN SOLUTION", *lines[at:], f"{indent}### END SOLUTION"]
    head = lines[:at] or [f"{name} = None"]
    cell.source = "\n".join([*head, *body, "", "", call[0]])
    label, possible = key.replace(".", "-"), possible_points(exercises(lesson)[key])
    cell.metadata["nbgrader"] = _metadata(f"answer-{label}", solution=True)
    marked = new_code_cell(_MARKED.format(key=key, name=name), id=f"points-{label}")
    flags = {"grade": True, "locked": True, "points": possible}
    marked.metadata["nbgrader"] = _metadata(f"points-{label}", **flags)
    return [cell, marked]


def _metadata(grade_id: str, **flags: bool | int) -> dict[str, Any]:
    none = {"grade": False, "solution": False, "locked": False, "task": False}
    return {**none, **flags, "grade_id": grade_id, "schema_version": 3}
