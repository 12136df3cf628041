"""Decks for the projector and pages to hand in, by nbconvert, that need no network."""

import base64
import re
import shutil
from pathlib import Path
from typing import Any

from dplearn.classroom.copies import without_answers
from dplearn.classroom.display import PLOTLY
from dplearn.classroom.minutes import FOLDED
from dplearn.classroom.sources import Lesson

DECK = Path(__file__).parent / "deck"  # reveal.js and KaTeX as their packages hold them


def write_slides(lesson: Lesson, folder: Path) -> Path:
    """Write the deck of a built lesson, as far as it is for the class; sliders move in it."""
    import nbformat
    from nbconvert import SlidesExporter
    from traitlets.config import Config

    from dplearn.figures.live import library

    notebook = nbformat.read(lesson.notebook, as_version=4)
    notebook.cells = _for_class(notebook.cells)
    folded = {"enabled": True, "remove_input_tags": {FOLDED}}
    exporter = SlidesExporter(
        config=Config({"TagRemovePreprocessor": folded}),
        raw_template=(DECK / "template.html.j2").read_text(encoding="utf-8"),
        reveal_url_prefix="deck",
        reveal_theme="plain",
    )
    shutil.copytree(DECK, folder / "deck", dirs_exist_ok=True)
    (folder / "deck" / "plotly.min.js").write_text(library(), encoding="utf-8")
    return _export(exporter, notebook, folder / f"{lesson.name}.html", {})


def write_page(path: Path) -> Path:
    """Write a notebook, a student's own run too, as one HTML file beside it with live charts."""
    import nbformat
    from nbconvert import HTMLExporter

    from dplearn.figures.live import library

    template = (DECK / "page.html.j2").read_text(encoding="utf-8")
    deck = {each.name: each.read_text(encoding="utf-8") for each in DECK.glob("*.*s")}
    # The fonts of formulas go into the one file as well; others than woff2 are for old browsers.
    style = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", deck["katex.min.css"])
    deck["katex.min.css"] = re.sub(r"url\((fonts/[^)]+)\)", _inlined, style)
    deck["plotly.min.js"] = library()
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            _make_live(output)
    exporter = HTMLExporter(raw_template=template)
    return _export(exporter, notebook, path.with_suffix(".html"), {"deck": deck})


def _inlined(url: re.Match) -> str:
    data = base64.b64encode((DECK / url[1]).read_bytes()).decode()
    return f"url(data:font/woff2;base64,{data})"


def _export(exporter: Any, notebook: Any, target: Path, resources: dict[str, Any]) -> Path:
    named = {"metadata": {"name": target.stem}, **resources}
    html, _ = exporter.from_notebook_node(notebook, named)
    target.write_text(html, encoding="utf-8")
    return target


def _for_class(cells: list[Any]) -> list[Any]:
    """The cells until the evening begins: a slide for each text, what follows it beneath."""
    slides = []
    for cell in cells:
        if cell.cell_type == "markdown":
            if re.match(r"## \d+ At home", cell.source):
                break
            cell.source = without_answers(cell.source)
            head = "## " in cell.source
            cell.metadata["slideshow"] = {"slide_type": "slide" if head else "subslide"}
        for output in cell.get("outputs", ()):
            _make_live(output)
        slides.append(cell)
    return slides


def _make_live(output: Any) -> None:
    """Put the chart of an output in place of its picture."""
    from dplearn.figures.live import live

    if chart := output.get("data", {}).get(PLOTLY):
        output["data"] = {"text/html": live(chart)}
