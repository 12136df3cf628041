"""Output of `dplearn proofread`: lines that editors parse, or JSON."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dplearn.core.display import print_json
from dplearn.teaching.claims.judging import Finding, proofread
from dplearn.teaching.claims.pages import KINDS, MOST, Place, places_in

# Severities of verdicts; others are for information.
_SEVERITY = {"refuted": "error", "depends": "warning", "conditional": "warning", "open": "warning"}


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `dplearn proofread`."""
    command.set_defaults(run=_run)
    command.add_argument("files", nargs="+", metavar="FILE", help=f"{', '.join(KINDS)}, or - (md)")
    command.add_argument("--all", action="store_true", help="show what is not read as well")
    command.add_argument("--strict", action="store_true", help="status 4 for an unstated condition")


def status_of(verdicts: Sequence[str], *, strict: bool = False) -> int:
    """Return the exit status: 1 refuted, 3 depends or open, 4 conditional if strict, else 0."""
    if "refuted" in verdicts:
        return 1
    if {"depends", "open"} & {*verdicts}:
        return 3
    return 4 if strict and "conditional" in verdicts else 0


def line_of(name: str, place: Place, finding: Finding) -> str:
    """Return one line, as in ``a.md:3:5: error: refuted: ε' = qε: false for ... [G-E1/linear]``."""
    where = f"{name}:cell {place.cell}" if place.cell else name
    severity = _SEVERITY.get(finding.verdict, "info")
    id = finding.entry + (f"/{finding.misprint}" if finding.misprint else "")
    mark = f" [{id}]" if id else ""
    formula = " ".join(place.formula.split())
    said = f"{finding.verdict}: {formula}: {finding.reason}"
    return f"{where}:{place.line}:{place.column}: {severity}: {said}{mark}"


def _run(options: argparse.Namespace) -> int:
    """Judge the claims of the files, print them, and return the exit status."""
    found: list[tuple[str, Place]] = []
    for name in options.files:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            content = file.read(MOST + 1)
        found += [(name, place) for place in places_in(content, "-.md" if name == "-" else name)]
    rows: list[tuple[str, Place, Finding]] = []
    for name, place in found:
        finding = proofread(place.formula, words=place.words)
        rows.append((name, place, finding))
        shown = options.all or finding.verdict != "not read"
        if shown and not options.json:
            print(line_of(name, place, finding), flush=True)
    counts = Counter(finding.verdict for *_, finding in rows)
    if options.json:
        print_json([{"file": n, **p._asdict(), **f.to_dict()} for n, p, f in rows])
    else:
        silent = 0 if options.all else counts.pop("not read", 0)
        parts = [f"{count} {verdict}" for verdict, count in counts.most_common()]
        parts += [f"{silent} not read (--all shows them)"] if silent else []
        print(f"{len(rows)} formulas make a claim{': ' * bool(rows)}{', '.join(parts)}.")
    return status_of([f.verdict for *_, f in rows], strict=options.strict)
