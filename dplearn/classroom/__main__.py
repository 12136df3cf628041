"""Build lessons: ``python -m dplearn.classroom build [NN ...] [--check | --instructor FOLDER]``."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from dplearn.classroom.sources import FOLDER, LessonError, is_stale, sources


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when all is well, 1 when a lesson failed or is stale, 2 for bad usage."""
    parser = argparse.ArgumentParser(prog="python -m dplearn.classroom", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="execute sources and store their notebooks")
    build.add_argument("numbers", nargs="*", metavar="NN", help="lessons; default: all of them")
    what = build.add_mutually_exclusive_group()
    what.add_argument(
        "--check", action="store_true", help="only say which are stale; exit 1 if any"
    )
    what.add_argument(
        "--instructor",
        type=Path,
        metavar="FOLDER",
        help="write the edition with teaching notes and solutions there instead",
    )
    build.add_argument("--folder", type=Path, default=FOLDER, help="where src/ lies")
    options = parser.parse_args(arguments)
    known = sources(options.folder)
    wanted = [number.zfill(2) for number in options.numbers] or list(known)
    for number in wanted:
        if number not in known:
            parser.error(f"Expected one of {', '.join(known)}, got lesson {number}.")
    chosen = [known[number] for number in wanted]
    try:
        return _check(chosen) if options.check else _build(chosen, options.instructor)
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1


def _check(chosen: list[Path]) -> int:
    stale = {source: reason for source in chosen if (reason := is_stale(source))}
    for source, reason in stale.items():
        print(f"stale  {source.stem}: {reason}")
    if not stale:
        print(f"{len(chosen)} up to date")
    return 1 if stale else 0


def _build(chosen: list[Path], instructor: Path | None) -> int:
    from dplearn.classroom.build import build

    for source in chosen:
        start = time.monotonic()
        edition = "instructor" if instructor else "student"
        target = build(source, edition=edition, folder=instructor)
        print(f"built  {target.name}  {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
