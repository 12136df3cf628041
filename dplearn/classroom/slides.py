"""Decks for the projector and pages to hand in, which need no network."""

import re
import shutil
from itertools import takewhile
from pathlib import Path
from typing import Any

from dplearn.classroom.copies import without_answers
from dplearn.classroom.html import DECK, NEEDED, asset, from_cell, in_one_file, linked
from dplearn.classroom.sources import Lesson

_REVEAL = ("dist/reveal.css", *NEEDED, "deck.css", "reveal.js", "deck.js")


def write_slides(lesson: Lesson, folder: Path) -> Path:
    """Write the deck of a built lesson, as far as it is for the class; sliders move in it."""
    import nbformat

    shutil.copytree(DECK, folder / "deck", dirs_exist_ok=True)
    (folder / "deck" / "plotly.min.js").write_text(asset("plotly.min.js"), encoding="utf-8")
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    body = f'<div class="reveal"><div class="slides">{_slides(cells)}</div></div>'
    target = folder / f"{lesson.name}.html"
    target.write_text(linked(lesson.name, body, _REVEAL, root="deck/"), encoding="utf-8")
    return target


def write_page(path: Path) -> Path:
    """Write a notebook, a student's own run too, as one HTML file beside it with live charts."""
    import nbformat

    body = "".join(map(from_cell, nbformat.read(path, as_version=4).cells))
    target = path.with_suffix(".html")
    target.write_text(in_one_file(path.stem, body), encoding="utf-8")
    return target


def _slides(cells: list[Any]) -> str:
    """The cells until the evening begins: a slide for each text, a row of them for each heading."""
    rows: list[list[str]] = []
    for cell in takewhile(lambda cell: not re.match(r"## \d+ At home", cell.source), cells):
        if cell.cell_type == "markdown":
            cell.source = without_answers(cell.source)
            if "## " in cell.source or not rows:
                rows.append([])
            rows[-1].append("")
        rows[-1][-1] += from_cell(cell, code=False)
    nested = ("".join(f"<section>{slide}</section>" for slide in row) for row in rows)
    return "\n".join(f"<section>{row}</section>" for row in nested)
