"""Notebooks as HTML without Jupyter: text, folded code, live pictures; and decks to project.

What a file needs, KaTeX and `page.js`, lies in the folder ``deck``; Plotly comes from its package.
"""

import html
import json
import re
import shutil
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from dplearn.classroom.display import PLOTLY
from dplearn.classroom.sources import FOLDED, Lesson
from dplearn.figures.live import library

DECK = Path(__file__).parent / "deck"  # with reveal.js and KaTeX as their packages hold them
NEEDED = (
    "katex.min.css",
    "page.css",
    "katex.min.js",
    "auto-render.min.js",
    "page.js",
)

_FILE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{styles}
<body>
{body}
{scripts}
</body>
</html>
"""


def linked(title: str, body: str, names: Sequence[str], *, root: str) -> str:
    """A whole file, whose styles and scripts lie in the folder `root`."""
    style, script = f'<link rel="stylesheet" href="{root}%s">', f'<script src="{root}%s"></script>'
    styles = "\n".join(style % name for name in names if name.endswith("css"))
    scripts = "\n".join(script % name for name in names if name.endswith("js"))
    return _FILE.format(title=html.escape(title), body=body, styles=styles, scripts=scripts)


def asset(name: str) -> str:
    """The text of a style or script that files need."""
    return library() if name == "plotly.min.js" else (DECK / name).read_text(encoding="utf-8")


def from_cell(cell: Any, *, code: bool = True) -> str:
    """A cell with its outputs; the code of a picture is folded, or left out unless `code`."""
    if cell.cell_type == "markdown":
        return from_markdown(cell.source)
    if cell.cell_type != "code":
        return ""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    shown = highlight(cell.source, PythonLexer(), HtmlFormatter(cssclass="code"))
    if FOLDED in cell.metadata.get("tags", ()):
        shown = f"<details><summary>Code of this picture</summary>{shown}</details>" * code
    return shown + "".join(map(_output, cell.outputs))


def _output(output: Any) -> str:
    """One output in the best form that it has."""
    data = output.get("data", {})
    words = data.get("text/plain") or output.get("text") or "\n".join(output.get("traceback", ()))
    if PLOTLY in data:
        return chart(data[PLOTLY], words)
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return f'<div class="output">{data[kind]}</div>\n'
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            source = f"data:{kind};base64,{data[kind].strip()}"
            return f'<div class="output"><img src="{source}" alt="{html.escape(words)}"></div>\n'
    for kind in ("text/markdown", "text/latex"):
        if kind in data:
            return f'<div class="output">{from_markdown(data[kind])}</div>\n'
    plain = re.sub(r"\x1b\[[\d;]*m", "", words)  # colours of a terminal
    return f'<pre class="output">{html.escape(plain)}</pre>\n'


def from_markdown(text: str) -> str:
    """Markdown with formulas between dollars as HTML; the browser sets the formulas."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    def anchored(heading: re.Match) -> str:
        # The anchor that GitHub and Jupyter give a heading.
        plain = html.unescape(re.sub(r"<[^>]+>", "", heading[2])).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        return f'<h{heading[1]} id="{anchor}">{heading[2]}</h{heading[1]}>'

    converted = markdown2html_mistune(text)
    converted = re.sub(r'<a class="anchor-link".*?</a>', "", converted)
    converted = re.sub(r"<h(\d)[^>]*>(.*?)</h\1>", anchored, converted, flags=re.S)
    return converted.replace("<table", '<div class="wide"><table').replace(
        "</table>", "</table></div>"
    )


def chart(figure: dict[str, Any], alt: str) -> str:
    """A live chart, drawn when it comes into sight, with words for those who do not see it."""
    data = json.dumps(figure, separators=(",", ":")).replace("</", "<\\/")
    height = figure["layout"].get("height", 450)  # kept free, so that nothing moves later
    kind = "chart panels" if "xaxis2" in figure["layout"] else "chart"
    return (
        f'<figure class="{kind}" style="--height: {height}px">'
        f'<div role="img" aria-label="{html.escape(alt, quote=True)}"></div>'
        f'<script type="application/json">{data}</script></figure>\n'
    )


_REVEAL = ("dist/reveal.css", *NEEDED, "deck.css", "reveal.js", "deck.js")


# Solutions, and the choices of a question with and without the reasons.
_SOLUTION = re.compile(r"\s*<details><summary>Solution of .*?</details>", re.DOTALL)
_WHY = re.compile(r"<details><summary>([a-e]\. .*?)</summary>.*?</details>", re.DOTALL)


def write_slides(lesson: Lesson, folder: Path) -> Path:
    """Write the deck of a built lesson, as far as it is for the class; sliders move in it."""
    import nbformat

    shutil.copytree(DECK, folder / "deck", dirs_exist_ok=True)
    (folder / "deck" / "plotly.min.js").write_text(asset("plotly.min.js"), encoding="utf-8")
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    # Until the evening begins: a slide for each text, a row of them for each heading.
    rows: list[list[str]] = []
    for cell in takewhile(lambda cell: not re.match(r"## \d+ At home", cell.source), cells):
        if cell.cell_type == "markdown":
            cell.source = _WHY.sub(r"* \1", _SOLUTION.sub("", cell.source))
            if "## " in cell.source or not rows:
                rows.append([])
            rows[-1].append("")
        rows[-1][-1] += from_cell(cell, code=False)
    nested = ("".join(f"<section>{slide}</section>" for slide in row) for row in rows)
    slides = "\n".join(f"<section>{row}</section>" for row in nested)
    body = f'<div class="reveal"><div class="slides">{slides}</div></div>'
    target = folder / f"{lesson.name}.html"
    target.write_text(linked(lesson.name, body, _REVEAL, root="deck/"), encoding="utf-8")
    return target
