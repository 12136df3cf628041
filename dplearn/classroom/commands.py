"""``dplearn lessons``: build notebooks from their sources."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from dplearn.classroom.sources import Lesson, LessonError, is_stale, lessons


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Give `parser` the commands for those who write lessons."""
    commands = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
    build = commands.add_parser("build", help="execute sources and store their notebooks")
    build.add_argument("numbers", nargs="*", metavar="NN", help="lessons; default: all of them")
    edition = build.add_mutually_exclusive_group()
    edition.add_argument(
        "--check", action="store_true", help="only say which are stale; exit status 1 if any is"
    )
    edition.add_argument(
        "--instructor",
        type=Path,
        metavar="FOLDER",
        help="write the edition with teaching notes and solutions there instead",
    )
    build.add_argument("--folder", type=Path, help="the folder lessons, if it is not around here")
    build.set_defaults(run=_build)


def _build(options: argparse.Namespace) -> int:
    """Exit status 0 when all is well, 1 when a lesson failed or is stale."""
    try:
        every = lessons(options.folder)
        chosen = [_lesson(number.zfill(2), every) for number in options.numbers or every]
        if options.check:
            return _report_stale(chosen)
        for lesson in chosen:
            _build_one(lesson, options.instructor)
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _lesson(number: str, every: dict[str, Lesson]) -> Lesson:
    if number not in every:
        raise ValueError(f"Expected one of {', '.join(every)}, got lesson {number}.")
    return every[number]


def _report_stale(chosen: list[Lesson]) -> int:
    reasons = {lesson.name: reason for lesson in chosen if (reason := is_stale(lesson))}
    for name, reason in reasons.items():
        print(f"stale  {name}: {reason}")
    if not reasons:
        print(f"{len(chosen)} up to date")
    return 1 if reasons else 0


def _build_one(lesson: Lesson, instructor: Path | None) -> None:
    # Jupyter is needed only here.
    from dplearn.classroom.build import build

    start = time.monotonic()
    edition = "instructor" if instructor else "student"
    target = build(lesson, edition=edition, folder=instructor)
    print(f"built  {target.name}  {time.monotonic() - start:.1f} s")
