"""A notebook as a page: its text, its folded code, and its pictures, alive."""

import html
from typing import Any

from dplearn.classroom.display import PLOTLY
from dplearn.classroom.sources import Lesson
from dplearn.site.html import Page, chart, from_markdown


def page(lesson: Lesson) -> Page:
    """The page of a lesson, from its built notebook."""
    import nbformat

    cells = nbformat.read(lesson.notebook, as_version=4).cells
    title = cells[0].source.partition("\n")[0].lstrip("# ")
    body = "".join(map(_cell, cells))
    return Page(f"lessons/{lesson.name}.html", title, body)


def _cell(cell: Any) -> str:
    if cell.cell_type == "markdown":
        return from_markdown(cell.source)
    code = _highlighted(cell.source)
    if cell.metadata.get("jupyter", {}).get("source_hidden"):
        code = f"<details><summary>Code of this picture</summary>{code}</details>"
    return code + "".join(map(_output, cell.outputs))


def _highlighted(source: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    return highlight(source, PythonLexer(), HtmlFormatter(cssclass="code"))


def _output(output: Any) -> str:
    """One output in the best form that it has."""
    if output.output_type == "stream":
        return f'<pre class="output">{html.escape(output.text)}</pre>\n'
    data = output.get("data", {})
    words = data.get("text/plain", "")
    if PLOTLY in data:
        return chart(data[PLOTLY], words)
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return f'<div class="output">{data[kind]}</div>\n'
    if "text/markdown" in data:
        return f'<div class="output">{from_markdown(data["text/markdown"])}</div>\n'
    if "text/latex" in data:
        return f'<div class="output">{html.escape(data["text/latex"])}</div>\n'
    return f'<pre class="output">{html.escape(words)}</pre>\n'
