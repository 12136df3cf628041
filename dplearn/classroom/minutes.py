"""How long a lesson takes in class: read at a calm pace, with one exercise done on the spot.

Headings ``## N Title`` number the parts. From a part whose title begins with ``At home`` on,
nothing counts, and folded answers never do. A cell with the tag `FOLDED` only draws: its lines are
not read, its picture is looked at. Beside an exercise for the class stands
``In class, 5 minutes``.
"""

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

# What a class follows in a minute: words in a second language, lines of code that are explained.
WORDS, LINES = 130, 12
FOLDED = "hide-input"

_EXERCISE = re.compile(r"In class, (\d+) minutes")


@dataclass(frozen=True)
class Load:
    """What one part, or a whole lesson, asks of a class."""

    words: int = 0
    lines: int = 0
    pictures: int = 0
    exercise: int = 0  # minutes

    def __add__(self, other: "Load") -> "Load":
        return Load(*(sum(pair) for pair in zip(astuple(self), astuple(other), strict=True)))

    @property
    def minutes(self) -> float:
        """Time in class: a picture takes one of them."""
        return self.words / WORDS + self.lines / LINES + self.pictures + self.exercise

    def __str__(self) -> str:
        read = f"{self.words:,} words, {self.lines} lines, {self.pictures} pictures"
        return f"{self.minutes:.0f} minutes in class: {read}, {self.exercise} for an exercise"


def load(cells: list[Any]) -> Load:
    """What the students' `cells` ask of a class altogether."""
    return sum(parts(cells).values(), Load())


def parts(cells: list[Any]) -> dict[str, Load]:
    """Number of each part before "At home" -> what it asks; the head counts with part 1."""
    loads: dict[str, Load] = {}
    part = "1"
    for cell in cells:
        for number, title, text in _pieces(cell):
            if title.startswith("At home"):
                return loads
            part = number or part
            loads[part] = loads.get(part, Load()) + _load(cell, f"{title} {text}")
    return loads


def _pieces(cell: Any) -> Iterator[tuple[str, str, str]]:
    """Number and title of the part that begins, if one does, and the text up to the next."""
    if cell.cell_type != "markdown":
        yield "", "", cell.source
        return
    before, *others = re.split(r"^## (\d+) (.*)", cell.source, flags=re.MULTILINE)
    yield "", "", before
    yield from zip(others[::3], others[1::3], others[2::3], strict=True)


def _load(cell: Any, text: str) -> Load:
    if cell.cell_type == "code":
        if FOLDED in cell.metadata.get("tags", ()):
            return Load(pictures=1)
        return Load(lines=len(re.findall(r"^.*\S", text, re.MULTILINE)))
    # An address is not read aloud, and a folded answer is opened at home.
    text = re.sub(r"<details>.*?</details>|\]\([^)\s]*\)", " ", text, flags=re.DOTALL)
    exercise = sum(map(int, _EXERCISE.findall(text)))
    return Load(words=len(re.findall(r"\S*\w\S*", text)), exercise=exercise)


def filled(source: str, cells: list[Any]) -> str:
    """`source` with the minutes of the lesson, and of each part, in place of ``{minutes}``.

    Minutes of parts are rounded so that they add up to those of the lesson.
    """
    whole, ends, until = load(cells), {}, 0.0
    for number, part in parts(cells).items():
        before, until = until, until + part.minutes
        ends[number] = round(until) - round(before)
    rows = r"\| \{minutes\} \| (\d+) "
    source = re.sub(rows, lambda row: f"| {ends.get(row[1], 0)} | {row[1]} ", source)
    return source.replace("{minutes}", f"{whole.minutes:.0f}")
