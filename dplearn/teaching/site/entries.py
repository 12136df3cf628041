"""Pages of the formula book: one per formula, a table of contents and published numbers."""

import html
import json
from collections.abc import Sequence
from functools import partial

from dplearn.datasets import deployments
from dplearn.teaching.book import Refutation, book, refute
from dplearn.teaching.book.kit.entry import Formula
from dplearn.teaching.book.pictures import View, cloud, curve, example_code, refuted
from dplearn.teaching.book.published import check_figure, published
from dplearn.teaching.book.run_all import refutation
from dplearn.teaching.book.sentences import VERDICTS, Wording, group_name, label
from dplearn.teaching.classroom.html import chart, from_markdown
from dplearn.teaching.figures.formula import formula_cloud, formula_curve
from dplearn.teaching.site.html import Page

_words = Wording()
_POINTS = 17  # points per curve; the explorer draws twice as many


def page(id: str, taught: str = "") -> Page:
    """Return the page of a formula: statement, source, lessons, picture and wrong variants."""
    entry = book[id]
    parts = [
        f"<h1>{id} · {html.escape(entry.title)}</h1>",
        _statement(entry.statement),
        from_markdown(f"{_words.kind_of(entry)} {_words.hypothesis(entry)}\n\n{entry.reference}"),
        f'<p class="taught">Taught in {taught}.</p>' if taught else "",
        _picture(entry, "none"),
        f'<pre class="code">{html.escape(example_code(entry))}</pre>',
    ]
    if entry.misprints:
        parts.append("<h2>Wrong variants in circulation</h2>")
    for misprint in entry.misprints:
        result = refuted(id, misprint.name, _short_search)
        words = [misprint.note, _words.danger(result)]
        if result.counterexample:
            words.append(_words.case(entry.claimed(misprint).kind, result.counterexample))
        if misprint.met:
            words.append(f"Met in {misprint.met}.")
        parts += [
            f'<section id="{misprint.name}"><h3>{misprint.name.replace("-", " ")}</h3>',
            _statement(entry.statement_of(misprint)),
            from_markdown("\n\n".join(words)),
            _picture(entry, misprint.name),
            "</section>",
        ]
    return Page(f"book/{id}.html", f"{id} {entry.title}", "\n".join(parts))


def _short_search(id: str, misprint: str) -> Refutation:
    """Search a quarter of the points for a counterexample, then all points if none is found.

    If some errors overstate privacy, only such an error ends the short search: a variant is called
    safe only after the full search of `dplearn verify`.
    """
    wrong = book[id].misprint(misprint)
    claim = book[id].claimed(wrong)
    short = refute(book[id], wrong, points=-(-claim.points // 4))
    refuting = short.unsafe if claim.unsafe else short.counterexample
    return short if refuting else refutation(id, misprint)


def _statement(latex: str) -> str:
    return f'<div class="statement">$${html.escape(latex)}$$</div>'


def _picture(entry: Formula, misprint: str) -> str:
    """Return a chart of formula and true value along the first parameter, or at all points."""
    place = View(entry.id, misprint)
    name = next(iter(place.axes), "")
    picture = curve(place, name, most=_POINTS) if name else cloud(place, _words)
    finding = _words.headline(place, picture.points)
    draw = partial(formula_curve, x=label(name)) if name else formula_cloud
    figure = json.loads(str(draw(picture.drawn, finding=finding).to_json()))
    return chart(figure, f"Value and truth of {place.claim.id}. {finding}.")


def contents() -> Page:
    """Return the page with the book's table of contents, grouped by topic."""
    parts = ["<h1>Formula book</h1>"]
    for group in dict.fromkeys(entry.group for entry in book.values()):
        parts.append(f"<h2>{group_name(group)}</h2><ul>")
        for id, entry in book.items():
            if entry.group == group:
                wrong = len(entry.misprints)
                count = f" <small>{wrong} wrong variants</small>" if wrong else ""
                link = f'<a href="{id}.html">{id} {html.escape(entry.title)}</a>'
                parts.append(f"<li>{link}{count}</li>")
        parts.append("</ul>")
    return Page("book/index.html", "Formula book", "\n".join(parts))


def published_figures() -> Page:
    """Return the page that compares published numbers with our values and lists deployments."""
    head = ("source", "what", "printed", "here", "verdict")
    rows = []
    for id, row in published().items():
        figure = check_figure(id)
        value = "" if figure.status == "not computed" else f"{figure.value:.6g}"
        verdict = f"{VERDICTS[figure.verdict]}. {figure.why}"
        rows.append((figure.source, label(row["quantity"]), figure.printed, value, verdict))
    names = ("organisation", "what", "model", "unit", "period", "epsilon", "delta", "unsaid")
    value_of = lambda use, name: "unsaid" if getattr(use, name) is None else getattr(use, name)
    uses = [[*(value_of(use, name) for name in names), use.source] for use in deployments()]
    text = "<p>Compare two rows only where model, unit and period agree and delta is alike.</p>"
    body = f"<h1>Published figures</h1>{_table(head, rows)}<h2>Public uses</h2>{text}"
    body += _table((*names, "source"), uses)
    return Page("book/published.html", "Published figures", body)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    row = lambda cells, tag: "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells)
    lines = [row(head, "th"), *(row(cells, "td") for cells in rows)]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="wide"><table class="figures">{body}</table></div>'
