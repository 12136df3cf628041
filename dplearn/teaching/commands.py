"""Commands of `dplearn` for formulas, claims, the explorer, the site and the lessons."""

import argparse
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from dplearn.core.display import print_json
from dplearn.teaching.book import book
from dplearn.teaching.book.kit.verdicts import SEARCHES
from dplearn.teaching.book.run_all import as_row, as_text, check_all
from dplearn.teaching.book.sentences import Wording, group_name
from dplearn.teaching.claims import pages, proofread
from dplearn.teaching.classroom import sources
from dplearn.teaching.classroom.sources import LessonError

# Marks before and after the table of lessons in lessons/README.md.
START, END = "<!-- written by `dplearn lessons build` -->", "<!-- end of the map -->"
# Patterns of a lesson's title, time and question, the columns of the table of lessons.
_COLUMNS = (r"^# \d\d (.+)$", r"\*\*Time\*\* ([^;.]+? in class|[^;.]+)", r"^\*(?!\*)(.+)\*$")
_MAP = "| | lesson | time | its question |\n|---|---|---|---|\n"
_ENTRY = re.compile(r"\]\(formulas\.md#([\w-]+)")


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Add the subcommands verify, claim, proofread, app, site and lessons to `dplearn`."""
    verify = commands.add_parser("verify", help="prove formulas right and misprints wrong")
    verify.set_defaults(run=_verify)
    verify.add_argument("ids", nargs="*", metavar="ID", help="such as G-A4; default: all")
    verify.add_argument("--thorough", action="store_true", help="search three times as often")
    claim = commands.add_parser("claim", help="is a formula that you type true, and where?")
    claim.set_defaults(run=_claim)
    claim.add_argument("expression", metavar="EXPRESSION")
    claim.add_argument("--words", default="", metavar="TEXT", help="the sentence around it")
    claim.add_argument("--strict", action="store_true", help="status 4 for an unstated condition")
    page = commands.add_parser("proofread", help="judge the formulas of a page, each with its line")
    pages.add_options(page)
    for command in (verify, claim, page):
        command.add_argument("--json", action="store_true", help="print one list of objects")
    # The prefix + lets argparse pass options such as --server.port on to Streamlit.
    app = commands.add_parser("app", help="open the explorer", prefix_chars="+", add_help=False)
    explorer = "dplearn.teaching.explorer"
    app.set_defaults(run=lambda options: import_module(explorer).serve(options.options))
    app.add_argument("options", nargs="*")
    site = commands.add_parser("site", help="write the site: lessons, formulas, ε against T")
    site.set_defaults(run=_site)
    site.add_argument("out", type=Path, metavar="OUT", help="a folder, which is made")
    lessons = commands.add_parser("lessons", help="build the lessons' notebooks")
    actions = lessons.add_subparsers(dest="action", required=True, parser_class=type(lessons))
    build = actions.add_parser("build", help="execute sources and store their notebooks")
    build.set_defaults(run=_build)
    build.add_argument("numbers", nargs="*", metavar="NN", help="lessons; default: all of them")
    edition = build.add_mutually_exclusive_group()
    edition.add_argument("--check", action="store_true", help="only print which are stale")
    about = "write the edition with teaching notes and solutions there instead"
    edition.add_argument("--instructor", type=Path, metavar="FOLDER", help=about)
    build.add_argument("--folder", type=Path, help="the folder lessons; default: around here")


def _verify(options: argparse.Namespace) -> int:
    results = []
    for result in check_all(options.ids, searches=SEARCHES * (3 if options.thorough else 1)):
        results.append(result)
        if not options.json:
            print(as_text(result), flush=True)
    if options.json:
        print_json([as_row(result) for result in results])
    return 0 if all(result.good for result in results) else 1


def _claim(options: argparse.Namespace) -> int:
    finding = proofread(options.expression.strip(), words=options.words)
    if finding.verdict == "not read":
        raise ValueError(finding.reason)
    if options.json:
        print_json([finding.to_dict()])
    else:
        print(f"{finding.verdict.capitalize()}: {finding.reason}")
        print(*(f"  {line}" for line in finding.lines), sep="\n")
    return pages.status_of([finding.verdict], strict=options.strict)


def _site(options: argparse.Namespace) -> None:
    from dplearn.teaching.site import write_site

    with ProcessPoolExecutor() as executor:
        write_site(options.out, executor)


def _build(options: argparse.Namespace) -> int:
    """Build notebooks, or check that they are up to date; return 1 on failure, otherwise 0."""
    folder = options.folder or sources.lessons_folder()
    every, readme = sources.lessons(folder), folder / "README.md"
    numbers = [number.zfill(2) for number in options.numbers or every]
    if absent := [number for number in numbers if number not in every]:
        raise ValueError(f"Expected one of {', '.join(every)}, got lesson {absent[0]}.")
    chosen = [every[number] for number in numbers]
    if options.check:
        faults = [f"stale  {one.name}: {why}" for one in chosen if (why := sources.is_stale(one))]
        for path, text in _written(readme).items() if readme.exists() else ():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                faults.append(f"stale  {path.name}: it differs from the lessons")
        print("".join(map(sources.outdated, chosen)), end="")
        print(*faults or [f"{len(chosen)} up to date"], sep="\n")
        return 1 if faults else 0
    from dplearn.teaching.classroom.build import build  # imported late, as it loads Jupyter

    for lesson in chosen:
        start, edition = time.monotonic(), "instructor" if options.instructor else "student"
        try:
            target = build(lesson, edition=edition, folder=options.instructor)
        except LessonError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"built  {target.name}  {time.monotonic() - start:.1f} s")
    if not options.instructor:
        print("".join(map(sources.outdated, chosen)), end="")
        for path, text in _written(readme).items() if readme.exists() else ():
            path.write_text(text, encoding="utf-8")
    return 0


def _written(readme: Path) -> dict[Path, str]:
    """Return new texts, by path, of formulas.md and of README.md with the table of lessons."""
    text, rows = readme.read_text(encoding="utf-8"), _MAP
    naming: dict[str, list[str]] = {}
    for lesson in sources.lessons(readme.parent).values():
        cells = sources.read(lesson).cells
        matches = [re.search(part, cells[0].source, re.MULTILINE) for part in _COLUMNS]
        title, time, question = (match[1] if match else "?" for match in matches)
        rows += f"| {lesson.number} | [{title}]({lesson.notebook.name}) | {time} | {question} |\n"
        for id in {id for cell in cells for id in _ENTRY.findall(cell.source)}:
            naming.setdefault(id, []).append(f"[{lesson.number}]({lesson.notebook.name})")
    # Find the table and the marks around it, from the last START before END.
    if not (old := re.search(f"{START}(?:(?!{START}).)*{END}", text, re.DOTALL)):
        raise LessonError(f"Expected {START} and {END} in {readme}.")
    parts, words = [f"# Formulas of the book\n\n{START}\n"], Wording()
    for group in dict.fromkeys(entry.group for entry in book.values()):
        parts.append(f"## {group_name(group)}\n")
        for entry in (each for each in book.values() if each.group == group):
            statement = " ".join(entry.statement.split())
            lines = [f"{words.kind_of(entry)} {words.hypothesis(entry)} {entry.reference}."]
            if entry.id in naming:
                lines.append(f"Lessons: {', '.join(naming[entry.id])}.")
            lines += [f"Wrong in print, *{each.name}*: {each.note}" for each in entry.misprints]
            head = f'<a name="{entry.id}"></a>\n\n### {entry.id} {entry.title}\n\n$${statement}$$\n'
            parts += [head, *(f"{line}\n" for line in lines)]
    formulas = readme.with_name("formulas.md")
    return {readme: text.replace(old[0], f"{START}\n\n{rows}\n{END}"), formulas: "\n".join(parts)}
