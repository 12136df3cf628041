"""Predictions, exercises and self-tests as interactive fields of a lesson's page.

The scripts in `ASSETS` reply to an answer as `Exercise.verdict` does. Without JavaScript the page
shows the questions, and a click opens the value that was to be guessed.
"""

import base64
import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dplearn.teaching.classroom import in_page
from dplearn.teaching.classroom.checks import Exercise, SelfTest, exercises
from dplearn.teaching.classroom.display import PLOTLY
from dplearn.teaching.classroom.html import code_of, from_cell, from_output
from dplearn.teaching.classroom.sources import Lesson, exercise_key

ASSETS = ("exercises.css", "kernel.js", "exercises.js")  # files of a page with answer fields

_NO_GUESS = re.compile(r"^(.+): no guess yet\.", re.MULTILINE)
_ON_PAPER = "<p>Note your answer on paper: the fields of this page need scripts.</p>"
_IN_JUPYTER = (
    "<p>This exercise asks for code, which this page does not run. Open the lesson in a checkout of"
    " dplearn with <code>jupyter lab lessons/{name}.ipynb</code>, write the function and run its"
    " cell: it is tried on cases that the notebook does not show.</p>"
)
# Patterns of instructions for Jupyter in a lesson's text, and their replacements on the site.
_OF_JUPYTER = {
    r"(In a new session, .*? Then replace|Replace) `None` by your number, .*? run the cell\.": (
        "Write your number in the field. It may be arithmetic, such as `3*2.5/10`."
    ),
    r"(Choose an answer to each question), write .*? says why\.": (
        r"\1. Each of your answers then says why it is right or not."
    ),
    r"(Put|Write) your guess in place of .*? the cell\.": "Write your guess in the field.",
    r"(Replace `\.\.\.`(?:[^.]|\.(?! ))*?), and run the cell": r"\1, and press Check",
    r" In Jupyter the mouse[^.]*\.": "",
}
_NO_FILE, _OURS = "ours, as no my_dp.py lies beside this notebook.", "ours; in Jupyter yours."


def body(lesson: Lesson, cells: Sequence[Any], *, python: bool = False) -> str:
    """Return a built lesson as HTML with answer fields; `python` adds fields for Python code."""
    replaced = fields(lesson, cells, python=python)
    for cell in cells:
        if cell.cell_type == "markdown":
            for result, instead in _OF_JUPYTER.items():
                cell.source = re.sub(result, instead, cell.source)
        for output in cell.get("outputs", ()):
            if "text" in output:
                output["text"] = output["text"].replace(_NO_FILE, _OURS)
    return "".join(replaced.get(cell.id) or from_cell(cell) for cell in cells)


def fields(lesson: Lesson, cells: Sequence[Any], *, python: bool = False) -> dict[str, str]:
    """Return the HTML of answer fields by cell id: for questions and for values to be guessed."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    lines = {name: line for cell in code for name, line in _number_lines(cell).items()}
    elsewhere = {name for cell in code for name in _NO_GUESS.findall(_printed(cell))} - set(lines)
    every, replaced = exercises(lesson), {}
    for cell in code:
        answered = [*_number_lines(cell), *(n for n in elsewhere if f'("{n}"' in cell.source)]
        if names := _NO_GUESS.findall(_printed(cell)):
            asks = [{"kind": "prediction", "item": n, **lines.get(n, {})} for n in names]
            replaced[cell.id] = "".join(_field(lesson, ask) for ask in asks)
        elif (exercise := every.get(exercise_key(cell))) is not None:
            replaced[cell.id] = _exercise(lesson, cell, exercise, python)
        elif answered:
            replaced[cell.id] = _sealed(cell, answered)
    return replaced


def _printed(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def _number_lines(cell: Any) -> dict[str, dict[str, Any]]:
    """Return the title and values of number lines drawn by `reveal`, keyed by guessed quantity."""
    lines = {}
    for output in cell.outputs:
        data = output.get("data", {})
        name, _, values = data.get("text/plain", "").partition(": ")
        if PLOTLY in data and re.match("truth |proved at ", values):
            marks, layout = data[PLOTLY]["data"], data[PLOTLY]["layout"]
            points = [[mark["text"][0].partition("<br>")[0], mark["x"][0]] for mark in marks]
            lines[name] = {"stated": layout["title"]["text"], "points": points}
    return lines


def _field(lesson: Lesson, ask: dict[str, Any], instead: str = _ON_PAPER) -> str:
    """Return the HTML of a field: data for its script, and text that is shown without scripts."""
    data = html.escape(json.dumps({"lesson": lesson.number, **ask}, ensure_ascii=False))
    return f'<div class="ask" data-ask="{data}">{instead}</div>\n'


def _exercise(lesson: Lesson, cell: Any, exercise: Any, python: bool) -> str:
    if isinstance(exercise, Exercise):
        return _field(lesson, as_data(exercise))
    if isinstance(exercise, SelfTest):
        ask = {"kind": "selftest", "item": exercise.key, "choices": exercise.choices}
        return _field(lesson, ask, "<p>Each choice opens with a click and says why.</p>")
    instead = _IN_JUPYTER.format(name=lesson.name)
    code = code_of(cell)
    if python and (described := in_page.described(exercise)):
        asks = {"kind": "program", "item": exercise.key, "program": described}
        written, _, name = cell.source.partition(f'\n\n\ncheck("{exercise.key}", ')
        asks |= {"name": name.rstrip(")\n"), "code": re.sub(r"\n{3,}", "\n\n", written)}
        files = [file for file in (lesson.source, lesson.figures) if file.exists()]
        asks["draws"] = any(f'yours("{exercise.key}"' in file.read_text("utf-8") for file in files)
        return _field(lesson, asks, f"{code}{instead}")
    return f'{code}<div class="ask">{instead}</div>\n'


def as_data(exercise: Exercise) -> dict[str, Any]:
    """Return an exercise as data for JSON; each answer is a pair (number, relative tolerance)."""

    def number(value: float) -> list[Any]:
        result = value if math.isfinite(value) else "Infinity"  # JSON has no infinity
        return [result, 0.0 if isinstance(value, int) else exercise.rtol]

    return {
        "kind": "exercise",
        "item": exercise.key,
        "right": number(exercise.right),
        "praise": exercise.praise,
        "mistakes": [[*number(each.value), each.hints] for each in exercise.mistakes],
        "hints": exercise.hints,
    }


def python_script(pyodide: Path) -> str:
    """Return a script that stores the files of Pyodide and our modules for `kernel.js`."""
    named = {"core": "pyodide.mjs", "loader": "pyodide.asm.mjs", "lock": "pyodide-lock.json"}
    binary = ("pyodide.asm.wasm", "python_stdlib.zip")
    result: dict[str, Any] = {key: (pyodide / n).read_text("utf-8") for key, n in named.items()}
    result["lock"] = json.loads(result["lock"]) | {"packages": {}}
    result["files"] = {n: base64.b64encode((pyodide / n).read_bytes()).decode() for n in binary}
    here, there = Path(__file__).parent, "/room/dplearn/teaching/classroom"
    modules = {f"{there}/{n}.py": (here / f"{n}.py").read_text("utf-8") for n in in_page.MODULES}
    result["modules"] = modules
    return f"var pythonFiles = {json.dumps(result)};\n"


def _sealed(cell: Any, names: Sequence[str]) -> str:
    """Return a cell's HTML, with outputs hidden until a click or guesses of all `names`."""
    shown = ""
    for output in cell.outputs:
        words = output.get("data", {}).get("text/plain", "")
        name = words.partition(": ")[0]
        if PLOTLY in output.get("data", {}) and name in names:
            shown += f'<div data-line="{html.escape(name)}">{html.escape(words)}</div>\n'
        else:
            shown += from_output(output)
    data = html.escape(json.dumps(names, ensure_ascii=False))
    return (
        f'{code_of(cell)}<details class="sealed" data-names="{data}">'
        f"<summary>Guess first, or show me</summary>{shown}</details>\n"
    )
