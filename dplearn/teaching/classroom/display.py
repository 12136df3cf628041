"""Show a figure as one output that every reader can use: live chart, still image, words."""

import base64
import hashlib
import html
import io
import json
import math
import os
import re
import shutil
import sys
from functools import cache
from typing import Any

import numpy as np

from dplearn.teaching.classroom.sources import LessonError, lessons, lessons_folder

PLOTLY = "application/vnd.plotly.v1+json"
SVG = "text/vnd.dplearn.svg"  # a drawing as the site shows it; notebooks show its picture
NUMBERS = "text/vnd.dplearn.numbers"  # no reader shows it; tests compare it
# A line chart shrinks several times at no visible loss; squares of many shades need more colours.
_COLOURS, _SHADES = 64, 256


def show(figure: Any, alt: str) -> None:
    """Publish `figure` with `alt`, the sentence that says what it shows.

    The figure is Plotly's, a `Drawing`, the name of an SVG file below ``lessons/sources``, or a
    page as HTML, of which a built lesson has the picture ``page.png`` of its folder.

    Jupyter gets one output with three faces: the live chart or the drawing, a picture and the
    words. The picture is drawn while lessons are built; a student's run takes it from the lessons'
    notebooks, if the figure still has the same numbers. The words carry the key numbers, so whoever
    cannot see the chart misses nothing: an `alt` without a number is a ValueError. The tests
    compare them, the drawing and the chart's `numbers` with every new run. Outside Jupyter the
    words are printed.
    """
    if not any(character.isdigit() for character in alt):
        raise ValueError(f"Expected alt to state the key numbers, got alt={alt!r}.")
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        print(alt)
        return
    from IPython.display import display

    from dplearn.teaching.figures.drawings import Sheet

    if isinstance(figure, str) and figure.startswith("<!doctype html>"):
        look = 'style="width: 100%; height: 900px; border: 0"'
        drawn = (
            f'<iframe title="{html.escape(alt)}" {look} srcdoc="{html.escape(figure)}"></iframe>'
        )
        if os.environ.get("DPLEARN_PNG") == "1":
            (still,) = lessons_folder().glob("sources/*/page.png")
            data = base64.b64encode(still.read_bytes()).decode()
            drawn = (
                f'<img class="page" alt="{html.escape(alt)}" src="data:image/png;base64,{data}">'
            )
        display({"text/html": drawn, "text/plain": alt}, raw=True)
        return
    bundle, metadata = {"text/plain": alt}, {}
    if isinstance(figure, (Sheet, str)):
        file = lessons_folder() / "sources" / str(figure)
        svg = figure.svg() if isinstance(figure, Sheet) else file.read_text(encoding="utf-8")
        bundle[SVG] = shows = svg
        chart, origin = _as_chart(svg), digest([svg, alt])
    else:
        drawn = json.loads(figure.to_json()) | {"config": {"displayModeBar": False}}
        bundle |= {PLOTLY: drawn, NUMBERS: (shows := numbers(drawn))}
        chart, origin = figure.to_dict(), digest(drawn)
    building = os.environ.get("DPLEARN_PNG") == "1"
    if picture := png(chart, origin) if building else _stored().get(shows):
        bundle["image/png"] = picture
        size = {k: chart["layout"].get(k) for k in ("width", "height")}
        metadata["image/png"] = {"alt": alt} | {k: v for k, v in size.items() if v}
    elif SVG in bundle:
        bundle["text/html"] = image(bundle[SVG], alt)
    display(bundle, raw=True, metadata=metadata)


def image(svg: str, alt: str) -> str:
    """Return a drawing with its words as HTML, which JupyterLab keeps where it trusts nothing."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def _as_chart(svg: str) -> dict[str, Any]:
    """Return a drawing as a chart of nothing else, of which Plotly makes a picture."""
    width, height = map(float, re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": 1, "sizex": 1, "sizey": 1}
    drawn = {"source": re.findall('"(data:.*)"', image(svg, ""))[0], "sizing": "stretch", **place}
    bare = {"margin": dict.fromkeys("lrtb", 0), "xaxis": {"visible": False}}
    layout = {"width": width, "height": height, "images": [drawn], **bare, "yaxis": bare["xaxis"]}
    return {"data": [], "layout": layout}


@cache
def _stored() -> dict[str, str]:
    """Return the pictures in the lessons' notebooks, by the numbers or the drawing they show."""
    try:
        notebooks = [lesson.notebook for lesson in lessons().values() if lesson.notebook.exists()]
    except LessonError:  # the notebook lies elsewhere
        return {}
    cells = (c for n in notebooks for c in json.loads(n.read_text(encoding="utf-8"))["cells"])
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    shown = ("".join(data.get(NUMBERS) or data.get(SVG, "")) for data in outputs)
    pictures = ("".join(data.get("image/png", "")) for data in outputs)
    return dict(zip(shown, pictures, strict=True))


def numbers(chart: dict[str, Any]) -> str:
    """Return a chart's titles and, for each trace, its lengths and five values, in four digits."""
    rows = []
    for drawn in (chart, *chart.get("frames", ())):
        rows.append(drawn.get("layout", {}).get("title", {}).get("text", ""))
        for trace in drawn.get("data", ()):
            told = [f"{key} {_five(trace[key])}" for key in ("x", "y", "z", "text") if key in trace]
            rows.append("; ".join(told))
    return "\n".join(filter(None, rows))


def _five(values: Any) -> str:
    """Return the length of a list, and values at equal distances from its first to its last."""
    if isinstance(values, dict):  # packed by Plotly
        values = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    every = np.ravel(np.array(values, dtype=object))
    sizes = [abs(each) for each in every if isinstance(each, (int, float)) and math.isfinite(each)]
    # What should be 0 is another 1e-17 on another machine.
    least = 1e-12 * max(sizes, default=0)
    places = np.unique(np.linspace(0, every.size - 1, 5).round().astype(int))[: every.size]
    near = lambda each: f"{0.0 if abs(each) <= least else each:.4g}"
    told = (near(v) if isinstance(v, (int, float)) else str(v) for v in every[places])
    return f"{every.size}: {', '.join(told)}"


def digest(drawn: Any) -> str:
    """Return what a PNG holds of the chart, or of the drawing and its words, that it shows."""
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:16]


def png(chart: dict[str, Any], origin: str) -> str:
    """Return a chart as a small PNG in base64 that holds its `origin`; "" without a browser."""
    browser = os.environ.get("BROWSER_PATH") or shutil.which("chromium")
    if not browser or not os.path.exists(browser):
        return ""
    try:
        import kaleido
        from PIL import Image, PngImagePlugin
    except ImportError:
        return ""
    os.environ["BROWSER_PATH"] = browser
    # One browser for the whole lesson, and no script fetched from elsewhere.
    page = kaleido.PageGenerator(mathjax=False)
    kaleido.start_sync_server(page_generator=page, silence_warnings=True)
    # JupyterLab shows the picture at its own size until the mouse wakes the live chart: both must
    # have the same size, or wide pictures are cut.
    scale = 1 if chart["data"] else 2
    raw = kaleido.calc_fig_sync(chart, opts={"format": "png", "scale": scale})
    small = io.BytesIO()
    picture = Image.open(io.BytesIO(raw)).convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    opaque = Image.alpha_composite(white, picture).convert("RGB")
    # Maximum coverage keeps the few pixels of a small red label red.
    shaded = not chart["data"] or any(t["type"] == "heatmap" for t in chart["data"])
    colours = _SHADES if shaded else _COLOURS
    few = opaque.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    held = PngImagePlugin.PngInfo()
    held.add_text("drawn from", origin)
    few.save(small, "PNG", optimize=True, pnginfo=held)
    return base64.b64encode(small.getvalue()).decode()
