"""Notebooks as HTML with folded code and live charts; each page loads the files `NEEDED`."""

import html
import json
import re
from collections.abc import Sequence
from typing import Any

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from dplearn.teaching.classroom.display import PLOTLY, SVG, image
from dplearn.teaching.classroom.sources import FOLDED

_KATEX = ("katex/katex.min.css", "katex/katex.min.js", "katex/contrib/auto-render.min.js")
NEEDED = (*_KATEX, "page.css", "page.js")

_FILE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
{styles}
<body>
{body}
{scripts}
</body>
</html>
"""


def linked(title: str, body: str, names: Sequence[str], *, root: str) -> str:
    """Return the text of an HTML file that loads the styles and scripts `names` from `root`."""
    style, script = f'<link rel="stylesheet" href="{root}%s">', f'<script src="{root}%s"></script>'
    styles = "\n".join(style % name for name in names if name.endswith("css"))
    scripts = "\n".join(script % name for name in names if name.endswith("js"))
    return _FILE.format(title=html.escape(title), body=body, styles=styles, scripts=scripts)


def from_cell(cell: Any) -> str:
    """Return the HTML of a cell with its outputs."""
    if cell.cell_type == "markdown":
        return from_markdown(cell.source)
    return code_of(cell) + "".join(map(from_output, cell.outputs))


def code_of(cell: Any) -> str:
    """Return the HTML of a cell's code, folded if the cell only draws."""
    shown = _coloured(cell.source)
    if FOLDED not in cell.metadata.get("tags", ()):
        return shown
    drawn = any({PLOTLY, SVG} & set(output.get("data", ())) for output in cell.outputs)
    what = "picture" if drawn else "cell"
    return f'<details class="fold"><summary>Code of this {what}</summary>{shown}</details>'


def from_output(output: Any) -> str:
    """Return the HTML of an output: its chart, drawing, HTML or text."""
    data = output.get("data", {})
    words = data.get("text/plain") or output.get("text") or "\n".join(output.get("traceback", ()))
    if PLOTLY in data:
        return chart(data[PLOTLY], words, still=data.get("image/png", ""))
    if SVG in data:
        return f'<div class="output">{image(data[SVG], words)}</div>\n'
    if "text/html" in data:
        return f'<div class="output">{data["text/html"]}</div>\n'
    plain = re.sub(r"\x1b\[[\d;]*m", "", words)  # without terminal colour codes
    return f'<pre class="output">{html.escape(plain)}</pre>\n'


def from_markdown(text: str) -> str:
    """Return Markdown as HTML, leaving formulas between dollar signs for KaTeX."""
    plugins = ("table", "strikethrough", "url", "math")
    return str(mistune.create_markdown(renderer=_Renderer(escape=False), plugins=plugins)(text))


class _Renderer(mistune.HTMLRenderer):
    """HTML renderer with the same heading anchors as GitHub and Jupyter."""

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        plain = html.unescape(re.sub(r"<[^>]+>", "", text)).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        return f'<h{level} id="{anchor}">{text}</h{level}>\n'

    def block_code(self, code: str, info: str | None = None) -> str:
        return _coloured(code) if info == "python" else super().block_code(code, info)

    def table(self, text: str) -> str:
        return f'<div class="wide"><table>\n{text}</table></div>\n'

    def inline_math(self, text: str) -> str:
        return f"${html.escape(text)}$"

    def block_math(self, text: str) -> str:
        return f"$${html.escape(text)}$$\n"


def _coloured(code: str) -> str:
    return highlight(code, PythonLexer(), HtmlFormatter(cssclass="code"))


def chart(figure: dict[str, Any], alt: str, *, still: str = "") -> str:
    """Return the HTML of a chart with an alternative text; a script draws it when it is in view.

    `still`, a base64 PNG, is shown until the reader scrolls, points or types.
    """
    data = json.dumps(figure, separators=(",", ":")).replace("</", "<\\/")
    height = figure["layout"].get("height", 450)  # reserved before the chart is drawn
    height -= 55 if "sliders" in figure["layout"] else 0  # our slider is less tall than Plotly's
    kind = "chart panels" if "xaxis2" in figure["layout"] else "chart"
    image = f'<img src="data:image/png;base64,{still.strip()}" alt="">' if still else ""
    return (
        f'<figure class="{kind}" style="--height: {height}px">'
        f'<div role="img" aria-label="{html.escape(alt, quote=True)}">{image}</div>'
        f'<script type="application/json">{data}</script></figure>\n'
    )
