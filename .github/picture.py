"""Make the moving picture of the README: a hand pulls the curve of epsilon against T.

``PYTHONPATH=.:tests python .github/picture.py`` writes an animated PNG below 1 MB over the old one.
"""

import io
import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

import chromium
from browsing import as_file
from cases import ROOT
from dplearn.teaching import browser
from dplearn.teaching.explorer.kit.accountants import accountants, style_sheet

FILE = ROOT / "lessons" / "explorer.png"
SCREEN = {"width": 1200, "height": 652}
FRAMES, MILLISECONDS, PAUSE = 26, 90, 1200
MOUNT = "const { page } = epsilonPage.mount(here, { engine: dplearn, accountants: %s });"
STYLE = "[data-do=language] { display: none; } .dp :focus-visible { outline: none; }"
# A hand, as points around its fingertip.
HAND = [(0, 0), (0, 21), (5, 16), (9, 25), (13, 23), (9, 14), (16, 14)]


def frames(view) -> list[Image.Image]:
    """Return pictures of one pull down, up and back to the start."""
    box = view.locator(".dp-grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.mouse.move(x, y)
    view.mouse.down()
    pictures = []
    for k in range(FRAMES):
        way = math.sin(2 * math.pi * k / FRAMES)
        to = y - (90 if way > 0 else 25) * way
        view.mouse.move(x, to)
        view.wait_for_function("!page.queued && !page.drag.pending")
        view.wait_for_function("!document.querySelector('.dp-stale')")
        picture = Image.open(io.BytesIO(view.screenshot())).convert("RGB")
        hand = [(x + a, to + b) for a, b in HAND]
        ImageDraw.Draw(picture).polygon(hand, fill="black", outline="white")
        pictures.append(picture)
    view.mouse.up()
    return pictures


def main() -> None:
    """Open the page as a file, pull its curve, and save what was seen."""
    scripts = browser.source() + browser.source("epsilonPage", "page/page")
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        known = json.dumps(accountants())
        page = as_file(Path(folder), style_sheet("page/page"), scripts, MOUNT % known)
        running = driver.chromium.launch(executable_path=chromium.path(), args=["--no-sandbox"])
        view = running.new_page(viewport=SCREEN, reduced_motion="reduce")
        view.goto(page.as_uri())
        view.add_style_tag(content=STYLE)
        view.wait_for_function("page.true_positive_rate && page.lasting")
        pictures = frames(view)
        running.close()
    palette = pictures[0].quantize(128)
    few = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    durations = [PAUSE, *[MILLISECONDS] * (len(few) - 1)]
    few[0].save(
        FILE, save_all=True, append_images=few[1:], duration=durations, loop=0, optimize=True
    )
    print(f"wrote {FILE}: {FILE.stat().st_size:,} bytes, {len(few)} frames")


if __name__ == "__main__":
    main()
