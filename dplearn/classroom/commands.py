"""``dplearn lessons``: begin a lesson, build notebooks from their sources, and mark them."""

import argparse
import re
import sys
import time
from pathlib import Path

from dplearn.classroom.sources import Lesson, LessonError, is_stale, lessons, lessons_folder, read

# The map of all lessons in lessons/README.md: marks around it, where a lesson says title, time and
# question, and the head of the table.
START, END = "<!-- written by `dplearn lessons build` -->", "<!-- end of the map -->"
_COLUMNS = (r"^# \d\d (.+)$", r"\*\*Time\*\* ([^;.]+? in class|[^;.]+)", r"^\*(?!\*)(.+)\*$")
_HEAD = "| | lesson | time | its question |\n|---|---|---|---|\n"


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Give `parser` the commands for those who write lessons."""
    commands = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
    build = commands.add_parser("build", help="execute sources and store their notebooks")
    build.add_argument("numbers", nargs="*", metavar="NN", help="lessons; default: all of them")
    edition = build.add_mutually_exclusive_group()
    about = "only say which are stale; exit status 1 if any is"
    edition.add_argument("--check", action="store_true", help=about)
    about = "write the edition with teaching notes and solutions there instead"
    edition.add_argument("--instructor", type=Path, metavar="FOLDER", help=about)
    about = "write decks for the projector there, which need no network"
    edition.add_argument("--slides", type=Path, metavar="FOLDER", help=about)
    build.set_defaults(run=_build)
    new = commands.add_parser("new", help="write the skeleton of a lesson, text and exercises")
    new.add_argument("number", metavar="NN")
    new.add_argument("title", metavar="TITLE")
    new.set_defaults(run=_new)
    marks = commands.add_parser("grade", help="run students' notebooks and print their marks")
    marks.add_argument("files", nargs="+", type=Path, metavar="FILE.ipynb")
    marks.set_defaults(run=_grade)
    for command in (build, new, marks):
        command.add_argument("--folder", type=Path, help="the folder lessons; default: around here")


def _grade(options: argparse.Namespace) -> int:
    """Print a line for each exercise of each notebook, and the sum; the exit status is 0."""
    from dplearn.classroom.grading import grade

    for path in options.files:
        marks = grade(path, folder=options.folder)
        print(path.name, *(f"  {m.points}/{m.possible}  {m.words}" for m in marks), sep="\n")
        print(f"  {sum(m.points for m in marks)}/{sum(m.possible for m in marks)}  total")
    return 0


def _new(options: argparse.Namespace) -> int:
    """Write the skeleton of a lesson, never over an existing one; the exit status is 0."""
    folder = options.folder or lessons_folder()
    number, every = options.number.zfill(2), lessons(folder)
    if not (folder / "sources" / "template").is_dir():
        raise LessonError(f"Expected the folder of lessons, with sources/template, got {folder}.")
    if not re.fullmatch(r"[0-8]\d", number):
        raise ValueError(f"Expected a number NN below 90, got {number}; 90 shows an appendix.")
    if number in every:
        raise ValueError(f"Expected a number that is free, got {number}: {every[number].folder}.")
    words = re.findall(r"[a-z0-9]+", options.title.lower())
    if not words:
        raise ValueError(f"Expected a title with words, got {options.title!r}.")
    lesson = Lesson(folder / "sources" / "_".join([number, *words]))
    values = {"NUMBER": lesson.number, "TITLE": options.title, "KEY": f"{int(lesson.number)}"}
    lesson.folder.mkdir()
    for path in (lesson.source, lesson.exercises):
        text = (folder / "sources" / "template" / path.name).read_text(encoding="utf-8")
        text = re.sub("|".join(values), lambda word: values[word[0]], text)
        path.write_text(text, encoding="utf-8")
        print(f"wrote  {path}")
    print(f"Replace every TODO, then: dplearn lessons build {lesson.number}")
    return 0


def _build(options: argparse.Namespace) -> int:
    """Build or check lessons; the exit status is 1 when one fails or is stale."""
    try:
        folder = options.folder or lessons_folder()
        every, readme = lessons(folder), folder / "README.md"
        numbers = [number.zfill(2) for number in options.numbers or every]
        if absent := [number for number in numbers if number not in every]:
            raise ValueError(f"Expected one of {', '.join(every)}, got lesson {absent[0]}.")
        chosen = [every[number] for number in numbers]
        if options.check:
            return _report_stale(chosen, readme)
        for lesson in chosen:
            if options.slides:
                from dplearn.classroom.slides import write_slides

                print(f"wrote  {write_slides(lesson, options.slides)}")
                continue
            from dplearn.classroom.build import build  # Jupyter is needed only here.

            start, edition = time.monotonic(), "instructor" if options.instructor else "student"
            target = build(lesson, edition=edition, folder=options.instructor)
            print(f"built  {target.name}  {time.monotonic() - start:.1f} s")
        if readme.exists() and not (options.instructor or options.slides):
            readme.write_text(_with_map(readme), encoding="utf-8")
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _report_stale(chosen: list[Lesson], readme: Path) -> int:
    reasons = {lesson.name: reason for lesson in chosen if (reason := is_stale(lesson))}
    if readme.exists() and readme.read_text(encoding="utf-8") != _with_map(readme):
        reasons["README.md"] = "its map differs from the lessons"
    for name, reason in reasons.items():
        print(f"stale  {name}: {reason}")
    if not reasons:
        print(f"{len(chosen)} up to date")
    return 1 if reasons else 0


def _with_map(readme: Path) -> str:
    """The text of `readme` with a row for each lesson beside it, as the lessons are now."""
    text = readme.read_text(encoding="utf-8")
    if not (table := re.search(f"{START}.*{END}", text, re.DOTALL)):
        raise LessonError(f"Expected {START} and {END} in {readme}.")
    rows = ""
    for lesson in lessons(readme.parent).values():
        first = read(lesson).cells[0].source
        matches = [re.search(part, first, re.MULTILINE) for part in _COLUMNS]
        title, time, question = (match[1] if match else "?" for match in matches)
        link = f"[{title}]({lesson.notebook.name})"
        rows += f"| {lesson.number} | {link} | {time} | {question} |\n"
    return text.replace(table[0], f"{START}\n\n{_HEAD}{rows}\n{END}")
