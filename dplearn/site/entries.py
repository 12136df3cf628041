"""The formula book as pages: one for each entry, a table of contents, the published figures."""

import html
import json
import math
from collections.abc import Sequence

from dplearn.app.kit.look import VERDICTS
from dplearn.app.pages.formula_book import fields, points, words
from dplearn.app.pages.formula_book.points import Place, start
from dplearn.book import Formula, book
from dplearn.book.everything import refutation
from dplearn.book.published import check_figure, published
from dplearn.classroom.html import chart, from_markdown
from dplearn.datasets import deployments
from dplearn.site.html import Page


def page(id: str) -> Page:
    """The page of an entry: statement, hypothesis, source, picture, and its wrong variants."""
    entry = book[id]
    parameters = entry.printed[0].parameters if entry.printed else start(id, "none")
    code = html.escape(words.as_python(entry, parameters))
    parts = [
        f"<h1>{id} · {html.escape(entry.title)}</h1>",
        _statement(entry.statement),
        from_markdown(f"{words.kind_of(entry)} {words.hypothesis(entry)}\n\n{entry.reference}"),
        _picture(entry, "none"),
        f'<pre class="code">{code}</pre>',
    ]
    if entry.misprints:
        parts.append("<h2>Wrong variants in circulation</h2>")
    for misprint in entry.misprints:
        result = refutation(id, misprint.name)
        said = [misprint.note, words.danger(result)]
        if result.counterexample:
            said.append(words.case(entry.claimed(misprint).kind, result.counterexample))
        if misprint.met:
            said.append(f"Met in {misprint.met}.")
        parts += [
            f'<section id="{misprint.name}"><h3>{misprint.name.replace("-", " ")}</h3>',
            _statement(entry.statement_of(misprint)),
            from_markdown("\n\n".join(said)),
            _picture(entry, misprint.name),
            "</section>",
        ]
    return Page(f"book/{id}.html", f"{id} {entry.title}", "\n".join(parts))


def _statement(latex: str) -> str:
    return f'<div class="statement">$${html.escape(latex)}$$</div>'


def _picture(entry: Formula, misprint: str) -> str:
    """Value against truth along the first parameter that has an axis, or at all points."""
    place = Place(entry.id, misprint, 0, ())
    name = fields.along(entry.id, misprint).default
    figure, headline, _ = points.figure_of(place, name, seconds=math.inf)
    return chart(
        json.loads(str(figure.to_json())), f"Value and truth of {place.claim.id}. {headline}."
    )


def contents() -> Page:
    """All entries, group by group."""
    parts, titles = ["<h1>Formula book</h1>"], fields.groups(next(iter(book))).options
    for group in dict.fromkeys(entry.group for entry in book.values()):
        parts.append(f"<h2>{titles[group]}</h2><ul>")
        for id, entry in book.items():
            if entry.group == group:
                wrong = len(entry.misprints)
                count = f" <small>{wrong} wrong variants</small>" if wrong else ""
                link = f'<a href="{id}.html">{id} {html.escape(entry.title)}</a>'
                parts.append(f"<li>{link}{count}</li>")
        parts.append("</ul>")
    return Page("book/index.html", "Formula book", "\n".join(parts))


def published_figures() -> Page:
    """Printed figures, what comes out here, and what to think of it."""
    head = ("source", "what", "printed", "here", "verdict")
    rows = []
    for id, row in published().items():
        figure = check_figure(id)
        value = "" if figure.status == "not computed" else f"{figure.value:.6g}"
        what = words.label(row["quantity"])
        verdict = f"{VERDICTS[figure.verdict]}. {figure.why}"
        rows.append((figure.source, what, figure.printed, value, verdict))
    names = ("organisation", "what", "model", "unit", "period", "epsilon", "delta", "unsaid")
    told_of = lambda use, name: "unsaid" if getattr(use, name) is None else getattr(use, name)
    uses = [[*(told_of(use, name) for name in names), use.source] for use in deployments()]
    told = "<p>Compare two rows only where model, unit and period agree and delta is alike.</p>"
    body = f"<h1>Published figures</h1>{_table(head, rows)}<h2>Public uses</h2>{told}"
    body += _table((*names, "source"), uses)
    return Page("book/published.html", "Published figures", body)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    row = lambda cells, tag: "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells)
    lines = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return (
        f'<div class="wide"><table class="figures"><tr>{row(head, "th")}</tr>{lines}</table></div>'
    )
