"""Decks to project: a picture, a sentence, a formula or eight lines on a slide; prose as notes."""

import html
import re
import shutil
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from dplearn.teaching.classroom.html import (
    DECK,
    NEEDED,
    from_cell,
    from_markdown,
    from_output,
    linked,
)
from dplearn.teaching.classroom.sources import Lesson, built_cells
from dplearn.teaching.figures.live import library

_FILES = ("dist/reveal.css", *NEEDED, "deck.css", "reveal.js", "deck.js")
_CODE, _LINES = 8, 12  # lines of code, and of code with what it prints
_LIST = 600  # characters; of the points of a longer list the first words are shown
_FOLDED = re.compile(r"\s*<details>.*?</details>", re.DOTALL)  # solutions and reasons
_SAID = re.compile(
    r"^\$\$.*?\$\$"  # a formula
    r"|^>[^\n]*(?:\n>[^\n]*)*"  # a theorem
    r"|^\*(?!\*)[^\n]*\*$"  # the question of a lesson
    r"|^[*-] \*\*.*?(?=\n\n|\Z)"  # what to guess
    r"|^\*\*★.*?(?=\n\n|\Z)",  # an exercise
    re.MULTILINE | re.DOTALL,
)


def write_slides(lesson: Lesson, folder: Path) -> Path:
    """Write the deck of a built lesson, as far as it is for the class; its pictures move."""
    shutil.copytree(DECK, folder / "deck", dirs_exist_ok=True)
    (folder / "deck" / "plotly.min.js").write_text(library(), encoding="utf-8")
    for_class = takewhile(
        lambda cell: not re.match(r"## \d+ At home", cell.source), built_cells(lesson)
    )
    rows: list[list[str]] = []  # one for each heading of the second rank
    for head, slide in _slides(for_class):
        if head or not rows:
            rows.append([])
        rows[-1].append(f"<section>{slide}</section>")
    slides = "\n".join(f"<section>{''.join(row)}</section>" for row in rows)
    body = f'<div class="reveal"><div class="slides">{slides}</div></div>'
    target = folder / f"{lesson.name}.html"
    target.write_text(linked(lesson.name, body, _FILES, root="deck/"), encoding="utf-8")
    return target


def _slides(cells: Iterable[Any]) -> Iterator[tuple[bool, str]]:
    """Slides with the prose before them as notes, and whether a slide begins a part."""
    where, notes = "", ""
    for cell in cells:
        if cell.cell_type == "markdown":
            text = _FOLDED.sub("", cell.source).strip()
            notes += from_markdown(text)
            begins = text.startswith(("# ", "## "))
            if begins:
                where = text.partition("\n")[0].lstrip("# ")
            shown = list(map(from_markdown, _words(text)))
        else:
            begins, shown = False, _pictures_or_code(cell)
            notes += "" if shown else from_cell(cell)
        for k, one in enumerate(shown):
            label = "" if begins and not k else f'<p class="where">{html.escape(where)}</p>'
            aside = "" if k else f'<aside class="notes">{notes}</aside>'
            yield begins and not k, f"{label}{one}{aside}"
            notes = ""


def _words(text: str) -> list[str]:
    """What a class reads: a heading with its first sentence; a formula, a theorem, questions."""
    head = re.match(r"#+ .*", text)
    rest = text[head.end() :].strip() if head else text
    said = _SAID.search(rest)
    told = said[0] if said else ""
    if told.startswith(("* ", "- ")) and len(told) > _LIST:
        told = "\n".join(re.findall(r"^[*-] \*\*.*?\*\*", told, re.MULTILINE))
    if not head:
        return [told] if told else []
    first = re.match(r"(?:\*\*.*?\*\*)?.*?[.?!][*\"]*(?=\s|$)", rest, re.DOTALL)
    if first and not (said and said.start() < first.end()):
        return [f"{head[0]}\n\n{first[0]}", *[told] * bool(told)]
    return [f"{head[0]}\n\n{told}"]


def _pictures_or_code(cell: Any) -> list[str]:
    """The pictures of a cell, else its code with what it prints; only that of long code."""
    drawn = [output for output in cell.outputs if {*output.get("data", ())} - {"text/plain"}]
    if drawn:
        return list(map(from_output, drawn))
    printed = "".join(output.get("text", "") for output in cell.outputs)
    code, lines = (len([*filter(None, t.splitlines())]) for t in (cell.source, printed))
    if not 0 < lines <= _LINES or re.search(r"not answered yet|no guess yet", printed):
        return []
    shown = code <= _CODE and code + lines <= _LINES
    return [from_cell(cell) if shown else "".join(map(from_output, cell.outputs))]
