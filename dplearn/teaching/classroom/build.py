"""Execute a lesson in a real kernel and store its notebook, or nothing at all."""

import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

from dplearn.core.files import write_whole
from dplearn.teaching.classroom.sources import Edition, Lesson, LessonError, exercise_key, read

CELL_TIMEOUT = 600  # seconds by the clock, on a busy machine; no cell needs a tenth of it


def build(lesson: Lesson, *, edition: Edition = "student", folder: Path | None = None) -> Path:
    """Execute a lesson, store its notebook in `folder` or beside the others, and return its path.

    LessonError is raised, and the old notebook stays, if a cell fails or writes to standard error,
    if the lesson's check rejects its own solution, or if the instructor's edition would replace
    the students'.
    """
    target = (folder or lesson.notebook.parent) / lesson.notebook.name
    if edition == "instructor" and target.resolve() == lesson.notebook.resolve():
        raise LessonError(f"Expected a folder other than the students', got {target.parent}.")
    notebook = read(lesson, edition)
    answered = notebook if edition == "instructor" else read(lesson, "instructor")
    solved = {key: cell for cell in answered.cells if (key := exercise_key(cell))}
    stored = notebook.cells
    if edition == "student":
        # A solution runs after its exercise, which then runs again, so that later cells see the
        # names of an unsolved exercise. All three cells share an id.
        notebook.cells = []
        for cell in stored:
            notebook.cells.append(cell)
            if key := exercise_key(cell):
                solved[key].id = cell.id
                notebook.cells += [solved[key], deepcopy(cell)]
    try:
        # With pictures, and without the saved solutions of the author.
        environment = {**os.environ, "DPLEARN_PNG": "1", "DPLEARN_MINE": ""}
        kernel_client(notebook, lesson).execute(env=environment)
    except CellExecutionError as error:
        raise _failure(lesson, notebook, f"{error.ename}: {error.evalue}") from None
    except (CellControlSignal, DeadKernelError, TimeoutError) as error:
        raise _failure(lesson, notebook, str(error)) from None
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise _failure(lesson, notebook, f"stderr: {output.text}", cell)
    for key, cell in solved.items():
        printed = "".join(output.get("text", "") for output in cell.outputs)
        if f"{key} right" not in printed:
            problem = f"Expected exercises.py to call this solution right, got {printed.strip()!r}."
            raise _failure(lesson, notebook, problem, cell)
    notebook.cells = stored
    # Drop values that vary between runs, and number code cells 1..n.
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
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


def kernel_client(notebook: Any, lesson: Lesson, **options: Any) -> Any:
    """Return a client that runs `notebook` in a kernel of its own, in the folder of `lesson`."""
    return NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        # The prints of a cell are one output, also on a busy machine.
        coalesce_streams=True,
        # Without warnings about the connection to the kernel.
        extra_arguments=["--IPKernelApp.log_level=40"],
        resources={"metadata": {"path": str(lesson.notebook.parent)}},
        **options,
    )


def _failure(lesson: Lesson, notebook: Any, problem: str, cell: Any = None) -> LessonError:
    """Return an error that names `cell`, by default the code cell started last."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    cell = cell or ([cell for cell in code if cell.execution_count] or code[:1])[-1]
    source = "\n".join(f"    {line}" for line in cell.source.splitlines())
    number = [*dict.fromkeys(each.id for each in notebook.cells)].index(cell.id) + 1
    return LessonError(f"lesson {lesson.name}, cell {number}:\n{source}\n{problem}")
