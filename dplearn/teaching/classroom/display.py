"""Show a figure as one output that every reader can use: live chart, still image, words."""

import base64
import hashlib
import html
import io
import json
import math
import os
import shutil
import sys
from typing import Any

import numpy as np

from dplearn.teaching.classroom.sources import lessons_folder

PLOTLY = "application/vnd.plotly.v1+json"
NUMBERS = "text/vnd.dplearn.numbers"  # no reader shows it; tests compare it
# A line chart shrinks several times at no visible loss; squares of many shades need more colours.
_COLOURS, _SHADES = 64, 256


def show(figure: Any, alt: str) -> None:
    """Publish `figure` with `alt`, the sentence that says what it shows.

    The figure is Plotly's, a `Drawing`, the name of an SVG file below ``lessons/sources``, or a
    page as HTML, of which a built lesson has the picture ``page.png`` of its folder.

    Jupyter gets one output with three faces: the live chart or the drawing, a picture (only while
    lessons are built) and the words. The words carry the key numbers, so whoever cannot
    see the chart misses nothing: an `alt` without a number is a ValueError. The tests compare them
    and the chart's `numbers` with every new run. Outside Jupyter the words are printed.
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
    if isinstance(figure, (Sheet, str)):
        file = lessons_folder() / "sources" / str(figure)
        svg = figure.svg() if isinstance(figure, Sheet) else file.read_text(encoding="utf-8")
        data = base64.b64encode(svg.encode()).decode()
        # A picture with its words is what JupyterLab keeps even where it trusts nothing.
        drawn = f'<img alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'
        display({"text/html": drawn, "text/plain": alt}, raw=True)
        return
    chart = json.loads(figure.to_json()) | {"config": {"displayModeBar": False}}
    bundle = {PLOTLY: chart, "text/plain": alt, NUMBERS: numbers(chart)}
    picture = png(figure, digest(chart)) if os.environ.get("DPLEARN_PNG") == "1" else None
    metadata = {}
    if picture is not None:
        bundle["image/png"] = base64.b64encode(picture).decode()
        size = {"width": figure.layout.width, "height": figure.layout.height}
        metadata["image/png"] = {"alt": alt} | {k: v for k, v in size.items() if v}
    display(bundle, raw=True, metadata=metadata)


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


def digest(chart: dict[str, Any]) -> str:
    """Return what a PNG holds of the chart that it was drawn from."""
    return hashlib.sha256(json.dumps(chart, sort_keys=True).encode()).hexdigest()[:16]


def png(figure: Any, origin: str) -> bytes | None:
    """Return the figure as a small PNG that holds its `origin`, None where no browser draws it."""
    browser = os.environ.get("BROWSER_PATH") or shutil.which("chromium")
    if not browser or not os.path.exists(browser):
        return None
    try:
        import kaleido
        from PIL import Image, PngImagePlugin
    except ImportError:
        return None
    os.environ["BROWSER_PATH"] = browser
    # One browser for the whole lesson, and no script fetched from elsewhere.
    page = kaleido.PageGenerator(mathjax=False)
    kaleido.start_sync_server(page_generator=page, silence_warnings=True)
    # JupyterLab shows the picture at its own size until the mouse wakes the live chart: both must
    # have the same size, or wide pictures are cut.
    raw = kaleido.calc_fig_sync(figure.to_dict(), opts={"format": "png", "scale": 1})
    small = io.BytesIO()
    picture = Image.open(io.BytesIO(raw)).convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    opaque = Image.alpha_composite(white, picture).convert("RGB")
    # Maximum coverage keeps the few pixels of a small red label red.
    colours = _SHADES if any(t.type == "heatmap" for t in figure.data) else _COLOURS
    few = opaque.quantize(colours, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    held = PngImagePlugin.PngInfo()
    held.add_text("drawn from", origin)
    few.save(small, "PNG", optimize=True, pnginfo=held)
    return small.getvalue()
