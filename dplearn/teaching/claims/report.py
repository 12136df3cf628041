"""Output of `dplearn proofread`: lines that editors parse, JSON or SARIF."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dplearn.core.display import print_json
from dplearn.teaching.claims.judging import Finding, proofread
from dplearn.teaching.claims.pages import KINDS, Place, places, places_in

# Severities of verdicts; others are for information.
_SEVERITY = {"refuted": "error", "depends": "warning", "conditional": "warning", "open": "warning"}


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `dplearn proofread`."""
    command.set_defaults(run=_run)
    command.add_argument("files", nargs="+", metavar="FILE", help=f"{', '.join(KINDS)}, or - (md)")
    command.add_argument("--all", action="store_true", help="show what is not read as well")
    command.add_argument("--strict", action="store_true", help="status 4 for an unstated condition")
    command.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")


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
    read = lambda name: (
        places_in(sys.stdin.buffer.read(), "-.md") if name == "-" else places(Path(name))
    )
    rows: list[tuple[str, Place, Finding]] = []
    found = [(name, place) for name in options.files for place in read(name)]
    for name, place in found:
        finding = proofread(place.formula, words=place.words)
        rows.append((name, place, finding))
        shown = options.all or finding.verdict != "not read"
        if shown and not (options.json or options.sarif):
            print(line_of(name, place, finding), flush=True)
    counts = Counter(finding.verdict for *_, finding in rows)
    if options.sarif:
        print(json.dumps(_sarif(rows), indent=2, ensure_ascii=False))
    elif options.json:
        print_json([{"file": n, **p._asdict(), **f.to_dict()} for n, p, f in rows])
    else:
        silent = 0 if options.all else counts.pop("not read", 0)
        parts = [f"{count} {verdict}" for verdict, count in counts.most_common()]
        parts += [f"{silent} not read (--all shows them)"] if silent else []
        print(f"{len(rows)} formulas make a claim{': ' * bool(rows)}{', '.join(parts)}.")
    return status_of([f.verdict for *_, f in rows], strict=options.strict)


def _sarif(rows: Sequence[tuple[str, Place, Finding]]) -> dict:
    """Return the verdicts as a run of SARIF 2.1.0, as code scanners read it."""
    results = [
        {
            "ruleId": finding.entry or finding.verdict,
            "level": _SEVERITY.get(finding.verdict, "note"),
            "message": {"text": f"{place.formula}: {finding.verdict}. {finding.reason}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": Path(name).as_posix()},
                        "region": {"startLine": place.line, "startColumn": place.column},
                    }
                }
            ],
        }
        for name, place, finding in rows
        if finding.verdict != "not read"
    ]
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    runs = [{"tool": {"driver": {"name": "dplearn proofread", "rules": []}}, "results": results}]
    return {"$schema": schema, "version": "2.1.0", "runs": runs}
