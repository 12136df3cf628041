"""The table of all lessons in lessons/README.md, read from their first cells."""

import re
from pathlib import Path

from dplearn.classroom.sources import Lesson, LessonError, lessons, read

START, END = "<!-- written by `dplearn lessons build` -->", "<!-- end of the map -->"
_HEAD = "| | lesson | time | its question |\n|---|---|---|---|\n"


def is_map_stale(folder: Path) -> bool:
    """Whether the table in `folder` differs from what the lessons say."""
    readme = folder / "README.md"
    return readme.exists() and readme.read_text(encoding="utf-8") != _with_map(folder)


def write_map(folder: Path) -> None:
    """Write the table into the README of `folder`, if there is one."""
    readme = folder / "README.md"
    if readme.exists():
        readme.write_text(_with_map(folder), encoding="utf-8")


def _with_map(folder: Path) -> str:
    text = (folder / "README.md").read_text(encoding="utf-8")
    if not (table := re.search(f"{START}.*{END}", text, re.DOTALL)):
        raise LessonError(f"Expected {START} and {END} in {folder / 'README.md'}.")
    rows = "".join(map(_row, lessons(folder).values()))
    return text.replace(table[0], f"{START}\n\n{_HEAD}{rows}\n{END}")


def _row(lesson: Lesson) -> str:
    """Row of one lesson: number, title, time and question."""
    first = read(lesson).cells[0].source
    parts = [r"^# \d\d (.+)$", r"\*\*Time\*\* ([^;.]+? in class|[^;.]+)", r"^\*(?!\*)(.+)\*$"]
    matches = [re.search(part, first, re.MULTILINE) for part in parts]
    title, time, question = (match[1] if match else "?" for match in matches)
    return f"| {lesson.number} | [{title}]({lesson.notebook.name}) | {time} | {question} |\n"
