"""From the readable source of a lesson to the cells of its notebook.

A source is Python in jupytext's percent format. Two things are added here, so that they are
said once: links to the explorer are written ``explorer:?mechanism=gaussian&delta=1e-5`` and get
their address, and each cell's id is a digest of its text, so that a rebuilt notebook differs
only where the lesson does.

One source gives two editions. Cells tagged ``instructor`` are teaching notes: students do not
get them. The instructor's edition has them, opens what is folded, and answers the exercises.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal

# Where the explorer listens when it is started as the README says.
EXPLORER = "http://localhost:8501/"

FOLDER = Path(__file__).resolve().parents[2] / "lessons"

Edition = Literal["student", "instructor"]

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class LessonError(Exception):
    """A lesson that cannot be found or built; the message says which and why."""


def sources(folder: Path = FOLDER) -> dict[str, Path]:
    """Number -> source file of every lesson, in order."""
    found = sorted((folder / "src").glob("[0-9][0-9]_*.py"))
    return {path.name[:2]: path for path in found}


def notebook_path(source: Path) -> Path:
    """Where the notebook built from `source` lies."""
    return source.parent.parent / f"{source.stem}.ipynb"


def read(source: Path, edition: Edition = "student") -> Any:
    """The notebook of a source, without outputs.

    Returns
    -------
    nbformat.NotebookNode
        With deterministic cell ids and nothing in its metadata but the kernel's name.
    """
    import jupytext

    notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    notebook.cells = _answered(notebook.cells) if edition == "instructor" else _bare(notebook.cells)
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        cell.source = with_explorer(cell.source) if cell.cell_type == "markdown" else cell.source
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
        seen[digest] += 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        cell.metadata = {k: v for k, v in cell.metadata.items() if k == "tags"}
    notebook.metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def is_note(cell: Any) -> bool:
    """Whether a cell is for the teacher only."""
    return "instructor" in cell.metadata.get("tags", ())


def _bare(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if not is_note(cell)]


def _answered(cells: list[Any]) -> list[Any]:
    """All cells; each exercise holds the code of its solution, and nothing is folded."""
    for cell, after in itertools.pairwise(cells):
        exercise = re.search(r'^check\("([\d.]+)", answer\)', cell.source, re.MULTILINE)
        if cell.cell_type == "code" and exercise:
            cell.source = solution(after.source, exercise[1])
    for cell in cells:
        cell.source = cell.source.replace("<details>", "<details open>")
    return cells


def solution(markdown: str, key: str) -> str:
    """The code of the folded solution of exercise `key`.

    Raises
    ------
    LessonError
        If `markdown` is not that solution.
    """
    head = f"<details><summary>Solution of {key}</summary>"
    code = re.search(r"```python\n(.*?)\n```.*</details>\s*$", markdown, re.DOTALL)
    if not markdown.startswith(head) or code is None:
        raise LessonError(f"Expected the solution of {key} after it, got {markdown[:60]!r}.")
    return code[1]


def with_explorer(text: str) -> str:
    """`text` with every ``](explorer:...)`` link pointing to the explorer.

    Examples
    --------
    >>> with_explorer("[open](explorer:?delta=1e-5)")
    '[open](http://localhost:8501/?delta=1e-5)'
    """
    return re.sub(r"\]\(explorer:", f"]({EXPLORER}", text)


def is_stale(source: Path) -> str:
    """Why the notebook no longer matches its source, or an empty string."""
    import nbformat

    target = notebook_path(source)
    if not target.exists():
        return "it was never built"
    built, fresh = nbformat.read(target, as_version=4).cells, read(source).cells
    if len(built) != len(fresh):
        return f"it has {len(built)} cells, the source has {len(fresh)}"
    for number, (old, new) in enumerate(zip(built, fresh, strict=True), start=1):
        if (old.cell_type, old.source, old.id) != (new.cell_type, new.source, new.id):
            return f"cell {number} differs: {new.source.splitlines()[0][:60]!r}"
    return ""
