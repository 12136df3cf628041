"""Marks for a student's notebook: it runs in a real kernel, and our checks judge its answers.

Stored outputs, and names such as `check` that the notebook defines, are ignored: the checks are
loaded afresh from this package after the last cell. They share a process with the notebook, which
could deceive them; these are marks for homework, not an examination.
"""

import ast
import itertools
import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dplearn.teaching.classroom.build import CELL_TIMEOUT, kernel_client
from dplearn.teaching.classroom.checks import exercises
from dplearn.teaching.classroom.sources import Lesson, LessonError, lessons

# Stores an answer in the kernel until all cells have run.
_KEEP = "__import__('sys').__dict__.setdefault('_dplearn_answers', {{}})[{key!r}] = {answer}"
# Number and words of a lesson's title, in its notebook and in its source.
_TITLE = re.compile(r"^# (?:# )?(\d\d) (.+)", re.MULTILINE)
_JUDGE = """
import sys
for name in [name for name in sys.modules if name.startswith("dplearn.teaching.classroom")]:
    del sys.modules[name]
from dplearn.teaching.classroom.grading import score_rows
print({nonce!r} + score_rows({number!r}, sys.__dict__.pop("_dplearn_answers", {{}})))
"""


@dataclass(frozen=True)
class Score:
    """Points of one exercise."""

    key: str
    points: int
    possible: int
    words: str  # the verdict, on one line


def grade(path: Path, *, folder: Path | None = None) -> list[Score]:
    """Return marks of the student's notebook `path`, one for each exercise of its lesson, in order.

    The exercises are those of the lessons in `folder` (default: around the working directory).
    """
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    # The notebook's title or its first check names the lesson.
    text = "\n".join(cell.source for cell in notebook.cells)
    title = _TITLE.search(text)
    number = title or re.search(r'check\("(\d+)\.', text)
    every = lessons(folder)
    for each in every.values():
        now = _TITLE.search(each.source.read_text(encoding="utf-8"))
        if title and now and title[2].startswith(now[2]) and title[1] != now[1]:
            raise LessonError(
                f"Expected lesson {now[1]}, {now[2]}, got its old number {title[1]} in {path};"
                " copy the answers into the notebook of today."
            )
    lesson = every.get(number[1].zfill(2)) if number else None
    if lesson is None or not exercises(lesson):
        raise LessonError(f"Expected the notebook of a lesson with exercises, got {path}.")
    marks = {mark.key: mark for mark in _run(notebook, lesson)}
    return [
        marks.get(
            key,
            Score(key, 0, len(getattr(each, "choices", "1")), f"{key} is not asked by any cell"),
        )
        for key, each in _graded(lesson).items()
    ]


def _graded(lesson: Lesson) -> dict[str, Any]:
    """Return the exercises of a lesson that count: all but its warm-up and its vote."""
    return {k: v for k, v in exercises(lesson).items() if not k.endswith((".warmup", ".vote"))}


def _run(notebook: Any, lesson: Lesson) -> list[Score]:
    """Run all cells, store each answer, and judge the answers in the same kernel."""
    from nbclient.exceptions import DeadKernelError
    from nbformat.v4 import new_code_cell

    nonce, number = secrets.token_hex(), 0
    judge = new_code_cell(_JUDGE.format(nonce=nonce, number=lesson.number))
    keep = lambda key, answer: new_code_cell(_KEEP.format(key=key, answer=answer))
    remaining = ((cell, *(keep(*call) for call in _asked(cell))) for cell in notebook.cells)
    notebook.cells = [*itertools.chain(*remaining), judge]
    # The judging cell needs no limit: each verdict has its own.
    limit = lambda cell: None if cell is judge else CELL_TIMEOUT
    for _ in notebook.cells:  # each death of the kernel empties the cell that caused it
        client = kernel_client(
            notebook, lesson, allow_errors=True, interrupt_on_timeout=True, timeout_func=limit
        )
        try:
            with client.setup_kernel(env={**os.environ, "DPLEARN_MINE": ""}):
                for number, cell in enumerate(notebook.cells):
                    client.execute_cell(cell, number, store_history=False)
            break
        except DeadKernelError:
            notebook.cells[number].source = ""
    text = "".join(output.get("text", "") for output in judge.outputs)
    _, _, result = text.partition(nonce)
    return [Score(*row) for row in json.loads(result or "[]")]


def _asked(cell: Any) -> list[tuple[str, str]]:
    """Return key and answer, as code, of every call of `check` in a code cell."""
    if cell.cell_type != "code" or not cell.source.strip():
        return []
    try:
        nodes = list(ast.walk(ast.parse(cell.source)))
    except SyntaxError:  # a magic, or a slip; the cell has failed
        return []
    calls = [node for node in nodes if isinstance(node, ast.Call) and len(node.args) == 2]
    return [
        (call.args[0].value, ast.unparse(call.args[1]))
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "check"
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    ]


def score_rows(number: str, answers: dict[str, Any]) -> str:
    """Return JSON rows of marks of `answers`, by exercise key, to lesson `number`."""
    every = _graded(lessons()[number])
    rows = []
    for key, answer in answers.items():
        if key in every:
            verdict, possible = every[key].verdict(answer), len(getattr(every[key], "choices", "1"))
            earned = verdict.points or possible * (verdict.outcome == "right")
            rows.append([key, earned, possible, verdict.text().split("\n")[0]])
    return json.dumps(rows)
