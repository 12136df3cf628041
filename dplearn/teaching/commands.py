"""Commands of `dplearn` that belong to teaching."""

import argparse
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from dplearn.core.display import print_json
from dplearn.teaching.book.kit.verdicts import SEARCHES
from dplearn.teaching.book.run_all import as_row, as_text, check_all
from dplearn.teaching.claims import pages, proofread
from dplearn.teaching.classroom.commands import add_commands as add_lesson_commands


def add_commands(commands: argparse._SubParsersAction) -> None:
    """Add verify, claim, proofread, app, site and lessons to the subparsers of `dplearn`."""
    book = commands.add_parser("verify", help="prove formulas right and misprints wrong")
    book.set_defaults(run=_verify)
    book.add_argument("ids", nargs="*", metavar="ID", help="such as G-A4; default: the whole book")
    book.add_argument("--thorough", action="store_true", help="search three times as often")
    claim = commands.add_parser("claim", help="is a formula that you type true, and where?")
    claim.set_defaults(run=_claim)
    claim.add_argument("expression", metavar="EXPRESSION")
    claim.add_argument("--words", default="", metavar="TEXT", help="the sentence around it")
    claim.add_argument("--strict", action="store_true", help="status 4 for an unstated condition")
    page = commands.add_parser("proofread", help="judge the formulas of a page, each with its line")
    pages.add_options(page)
    for command in (book, claim, page):
        command.add_argument("--json", action="store_true", help="print one list of objects")
    # With the prefix +, argparse reads no options; they are passed on to Streamlit.
    app = commands.add_parser("app", help="open the explorer", prefix_chars="+", add_help=False)
    explorer = "dplearn.teaching.explorer"
    app.set_defaults(run=lambda options: import_module(explorer).serve(options.options))
    app.add_argument("options", nargs="*")
    site = commands.add_parser("site", help="write the site: lessons, formulas, ε against T")
    site.set_defaults(run=_site)
    site.add_argument("out", type=Path, metavar="OUT", help="a folder, which is made")
    add_lesson_commands(commands.add_parser("lessons", help="build the lessons' notebooks"))


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
