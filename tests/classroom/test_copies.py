"""Copies for a class: nothing is answered."""

import nbformat

from dplearn.__main__ import main
from dplearn.classroom import sources
from dplearn.classroom.checks import exercises

LESSON = sources.lessons()["03"]


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
