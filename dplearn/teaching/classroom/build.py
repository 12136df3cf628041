"""Build a lesson: execute its source in a kernel and store its notebook if nothing fails."""

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

from dplearn.core.files import write_whole
from dplearn.teaching.classroom.sources import Edition, Lesson, LessonError, exercise_key, read


def build(lesson: Lesson, *, edition: Edition = "student", folder: Path | None = None) -> Path:
    """Execute a lesson, store its notebook in `folder` (default: ``lessons``), and return its path.

    LessonError is raised, and the old notebook stays, if a cell fails or writes to standard error,
    or if the instructor's edition would overwrite the students' or has a wrong solution.
    """
    target = (folder or lesson.notebook.parent) / lesson.notebook.name
    if edition == "instructor" and target.resolve() == lesson.notebook.resolve():
        raise LessonError(f"Expected a folder other than the students', got {target.parent}.")
    notebook = read(lesson, edition)
    _execute(notebook, lesson)
    for cell in notebook.cells if edition == "instructor" else ():
        printed = "".join(output.get("text", "") for output in cell.get("outputs", ()))
        if (key := exercise_key(cell)) and f"{key} right" not in printed:
            problem = f"Expected exercises.py to call this solution right, got {printed.strip()!r}."
            raise _failure(lesson, notebook, problem, cell)
    # Drop metadata that varies between runs, and number the code cells from 1.
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    for count, cell in enumerate(code, start=1):
        cell.execution_count = count
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            output.pop("transient", None)
            if output.output_type == "execute_result":
                output.execution_count = count
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, (nbformat.writes(notebook) + "\n").encode())
    target.chmod(0o644)  # readable by all users
    return target


def _execute(notebook: Any, lesson: Lesson) -> None:
    """Run all cells in the lessons' folder; raise LessonError on an error or any stderr output."""
    client = NotebookClient(
        notebook,
        timeout=600,  # seconds; ten times more than any cell needs on an idle machine
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # otherwise Jupyter may split prints into several outputs
        extra_arguments=["--IPKernelApp.log_level=40"],  # suppress warnings about the connection
        resources={"metadata": {"path": str(lesson.notebook.parent)}},
    )
    try:
        # Draw PNGs of figures, and ignore the author's own my_dp.py.
        client.execute(env={**os.environ, "DPLEARN_PNG": "1", "DPLEARN_MINE": ""})
    except CellExecutionError as error:
        raise _failure(lesson, notebook, f"{error.ename}: {error.evalue}") from None
    except (CellControlSignal, DeadKernelError, TimeoutError) as error:
        raise _failure(lesson, notebook, str(error)) from None
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise _failure(lesson, notebook, f"stderr: {output.text}", cell)


def _failure(lesson: Lesson, notebook: Any, problem: str, cell: Any = None) -> LessonError:
    """Return an error that quotes a cell, by default the last code cell that started."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    cell = cell or ([cell for cell in code if cell.execution_count] or code[:1])[-1]
    source = "\n".join(f"    {line}" for line in cell.source.splitlines())
    number = [each.id for each in notebook.cells].index(cell.id) + 1
    return LessonError(f"lesson {lesson.name}, cell {number}:\n{source}\n{problem}")
