"""Figures in notebooks: each is an output with a live chart or drawing, a picture and text."""

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

from dplearn.teaching.classroom.sources import lessons, lessons_folder

PLOTLY = "application/vnd.plotly.v1+json"
SVG = "text/vnd.dplearn.svg"  # MIME type of drawings; the site shows them, notebooks PNGs
NUMBERS = "text/vnd.dplearn.numbers"  # MIME type of a chart's numbers, which identify its PNG


def show(figure: Any, alt: str) -> None:
    """Display a figure as one output: a live chart or drawing, a picture and a text.

    Pictures are drawn when lessons are built; a student's run takes them from the lessons'
    notebooks if the figure has the same numbers. Outside Jupyter only `alt` is printed.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure, Sheet or str: a chart, a drawing, the name of an SVG file
        below ``lessons/sources``, or an HTML page, shown as ``page.png`` of its folder when built
    alt : str, sentence that states the figure's key numbers, for readers who cannot see it

    Raises
    ------
    ValueError if `alt` has no digit
    """
    if not any(character.isdigit() for character in alt):
        raise ValueError(f"Expected alt to state the key numbers, got alt={alt!r}.")
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        print(alt)
        return
    from IPython.display import display

    from dplearn.teaching.figures.drawings import Sheet

    building = os.environ.get("DPLEARN_PNG") == "1"
    if isinstance(figure, str) and figure.startswith("<!doctype html>"):
        display({"text/html": _page(figure, alt, building), "text/plain": alt}, raw=True)
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
    if picture := png(chart, origin) if building else _stored().get(shows):
        bundle["image/png"] = picture
        size = {k: chart["layout"].get(k) for k in ("width", "height")}
        metadata["image/png"] = {"alt": alt} | {k: v for k, v in size.items() if v}
    elif SVG in bundle:
        bundle["text/html"] = image(bundle[SVG], alt)
    display(bundle, raw=True, metadata=metadata)


def _page(page: str, alt: str, building: bool) -> str:
    """Return an HTML page in a frame or, while a lesson is built, its picture ``page.png``."""
    alt = html.escape(alt)
    if not building:
        look = 'style="width: 100%; height: 900px; border: 0"'
        return f'<iframe title="{alt}" {look} srcdoc="{html.escape(page)}"></iframe>'
    (still,) = lessons_folder().glob("sources/*/page.png")
    data = base64.b64encode(still.read_bytes()).decode()
    return f'<img class="page" alt="{alt}" src="data:image/png;base64,{data}">'


def image(svg: str, alt: str) -> str:
    """Return a drawing as an HTML image, which JupyterLab shows even in untrusted notebooks."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def _as_chart(svg: str) -> dict[str, Any]:
    """Return a chart that contains only the drawing, so that Plotly can make a PNG of it."""
    width, height = map(float, re.findall(r'(?:width|height)="([\d.]+)"', svg)[:2])
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": 1, "sizex": 1, "sizey": 1}
    drawn = {"source": re.findall('"(data:.*)"', image(svg, ""))[0], "sizing": "stretch", **place}
    bare = {"margin": dict.fromkeys("lrtb", 0), "xaxis": {"visible": False}}
    layout = {"width": width, "height": height, "images": [drawn], **bare, "yaxis": bare["xaxis"]}
    return {"data": [], "layout": layout}


@cache
def _stored() -> dict[str, str]:
    """Return the PNGs in the lessons' notebooks, keyed by the figure's numbers or SVG."""
    try:
        notebooks = [one.notebook for one in lessons().values() if one.notebook.exists()]
        cells = [c for n in notebooks for c in json.loads(n.read_text(encoding="utf-8"))["cells"]]
    except (OSError, ValueError, KeyError):  # no lessons, or a half-written notebook
        return {}
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    shown = ("".join(data.get(NUMBERS) or data.get(SVG, "")) for data in outputs)
    pictures = ("".join(data.get("image/png", "")) for data in outputs)
    return dict(zip(shown, pictures, strict=True))


def numbers(chart: dict[str, Any]) -> str:
    """Return the titles of a chart, and the length and five values of each trace, as text."""
    rows = []
    for drawn in (chart, *chart.get("frames", ())):
        rows.append(drawn.get("layout", {}).get("title", {}).get("text", ""))
        for trace in drawn.get("data", ()):
            keys = [key for key in ("x", "y", "z", "text") if key in trace]
            rows.append("; ".join(f"{key} {_five(trace[key])}" for key in keys))
    return "\n".join(filter(None, rows))


def _five(values: Any) -> str:
    """Return as text the length of a list, and five values at evenly spaced indices."""
    if isinstance(values, dict):  # Plotly encodes arrays in base64
        values = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    every = np.ravel(np.array(values, dtype=object))
    sizes = [abs(each) for each in every if isinstance(each, (int, float)) and math.isfinite(each)]
    # Write rounding errors around 0 as 0, because they differ between machines.
    least = 1e-12 * max(sizes, default=0)
    places = np.unique(np.linspace(0, every.size - 1, 5).round().astype(int))[: every.size]
    near = lambda each: f"{0.0 if abs(each) <= least else each:.4g}"
    result = (near(v) if isinstance(v, (int, float)) else str(v) for v in every[places])
    return f"{every.size}: {', '.join(result)}"


def digest(drawn: Any) -> str:
    """Return a hash of a chart, or of a drawing and its alternative text, to store in a PNG."""
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:16]


def png(chart: dict[str, Any], origin: str) -> str:
    """Return a chart as a base64 PNG with `origin` in its metadata; "" without a browser."""
    browser = os.environ.get("BROWSER_PATH") or shutil.which("chromium")
    if not browser or not os.path.exists(browser):
        return ""
    try:
        import kaleido
        from PIL import Image, PngImagePlugin
    except ImportError:
        return ""
    os.environ["BROWSER_PATH"] = browser
    # Kaleido draws all figures of a lesson in one browser, which does not download MathJax.
    page = kaleido.PageGenerator(mathjax=False)
    kaleido.start_sync_server(page_generator=page, silence_warnings=True)
    # JupyterLab shows the picture until the mouse moves over it, then the live chart. Both have
    # the same size, because JupyterLab would cut a wider picture.
    scale = 1 if chart["data"] else 2
    raw = kaleido.calc_fig_sync(chart, opts={"format": "png", "scale": scale})
    small = io.BytesIO()
    picture = Image.open(io.BytesIO(raw)).convert("RGBA")
    opaque = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    # Few colours keep the PNGs of line charts small, but drawings and heatmaps need more.
    # MAXCOVERAGE keeps the colours of small labels.
    shaded = not chart["data"] or any(t["type"] == "heatmap" for t in chart["data"])
    colours = 256 if shaded else 64
    few = opaque.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    info = PngImagePlugin.PngInfo()
    info.add_text("drawn from", origin)
    few.save(small, "PNG", optimize=True, pnginfo=info)
    return base64.b64encode(small.getvalue()).decode()
