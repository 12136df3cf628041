"""The yardstick's pages: results of other accountants, what was found, and printed tables."""

import csv
import html
import itertools
import json
import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

from dplearn.classroom.html import from_markdown
from dplearn.site.html import Page

_RULE = (
    "Read a run that the table does not hold at the next smaller σ, the next larger T and the next "
    "larger q, and take a sheet of a smaller δ if yours is not there: what you read is an upper "
    "bound. For with more noise, fewer steps or a smaller rate an attacker sees what could be made "
    "of the other run's outputs by adding noise, dropping some, or replacing some by fresh ones, "
    "and ε(δ) never rises with δ. No line may be drawn between two entries: nothing proves that "
    "ε lies below it. Numbers are proved upper ends, rounded up; — is above 50 or unproved."
)
_STYLE = (
    "<style>@page{size:A4 landscape}.sheet{break-after:page}.sheet table{font-size:.85em}"
    ".sheet td,.sheet th{text-align:right;white-space:nowrap}</style>"
)


def pages(root: Path) -> Iterator[Page]:
    """Pages made from the folder `conformance` of a checkout; none where there is none."""
    folder, table = root / "conformance", root / "data" / "epsilon_golden.json"
    if not (folder.is_dir() and table.is_file()):
        return
    findings = sorted((folder / "findings").glob("*.md"))
    links = "".join(f"\n- [{_title(path)}]({path.stem}.html)" for path in findings)
    cases = json.loads(table.read_text(encoding="utf-8"))["cases"]
    parts = [(folder / "README.md").read_text(encoding="utf-8"), "[Printed tables](tables.html)"]
    parts += ["## What was found" + links, "## What was printed" + _printed(folder, cases)]
    parts += [(folder / "results.md").read_text(encoding="utf-8")]
    yield Page("yardstick/index.html", "The yardstick", from_markdown("\n\n".join(parts)))
    for path in findings:
        body = from_markdown(path.read_text(encoding="utf-8"))
        yield Page(f"yardstick/{path.stem}.html", _title(path), body)
    yield Page("yardstick/tables.html", "Tables of ε", _STYLE + "".join(_sheets(cases)))


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _printed(folder: Path, cases: list[dict[str, Any]]) -> str:
    """A list of figures that calculators and papers print, each with what is proved."""
    places = ("family", "sigma", "q", "T", "delta")
    ends = {tuple(str(case.get(p)) for p in places): case for case in cases}
    with (folder / "calculators.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row, ends[tuple(row[p] for p in places)]) for row in csv.DictReader(file)]
    return "".join(
        f"\n- {row['source']}: {row['printed']}; proved: {case['lower']} to {case['upper']}"
        for row, case in rows
    )


def _sheets(cases: list[dict[str, Any]]) -> Iterator[str]:
    """A section for each rate and delta: sigma across, T down; upper ends, rounded up."""
    yield f"<h1>Tables of ε</h1><p>{_RULE}</p>"
    places = ("q", "delta", "T", "sigma")
    every = {tuple(case.get(p) for p in places): case["upper"] for case in cases}
    about = (case for case in cases if case["why"].startswith("sheet"))
    grid = [tuple(case[place] for place in places) for case in about]
    for (q, delta), _ in itertools.groupby(grid, lambda place: place[:2]):
        steps = sorted({place[2] for place in grid})
        sigmas = sorted({place[3] for place in grid}, key=float)
        head = "".join(f"<th>σ {sigma}</th>" for sigma in sigmas)
        rows = "".join(
            f"<tr><th>{count:,}</th>"
            + "".join(
                f"<td>{rounded_up(every.get((q, delta, count, s), 'inf'))}</td>" for s in sigmas
            )
            + "</tr>"
            for count in steps
        )
        title = html.escape(f"Poisson-sampled Gaussian, q = {float(q):g}, δ = {float(delta):g}")
        yield f'<section class="sheet"><h2 id="q{q}-{delta}">{title}</h2>'
        yield f"<table><tr><th>T</th>{head}</tr>{rows}</table></section>"


def rounded_up(text: str) -> str:
    """Four digits of a decimal number, never less than it is.

    Examples
    --------
    >>> rounded_up("0.123401"), rounded_up("12.3"), rounded_up("inf")
    ('0.1235', '12.3', '—')
    """
    value = Decimal(text)
    if math.isinf(value):
        return "—"
    digits = Decimal(1).scaleb(value.adjusted() - 3)
    return f"{value.quantize(digits, ROUND_CEILING).normalize():f}"
