"""Copies of the lessons for a class: nothing answered, nothing shown."""

import re
from pathlib import Path

from dplearn.classroom.build import write_notebook
from dplearn.classroom.sources import Lesson, read

_SOLUTION = re.compile(r"\s*<details><summary>Solution of .*?</details>", re.DOTALL)
_WHY = re.compile(r"<details><summary>([a-e]\. .*?)</summary>.*?</details>", re.DOTALL)


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
