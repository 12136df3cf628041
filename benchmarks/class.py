"""How long a class waits for its pictures: readers in a real Chromium, who all move sliders.

    .venv/bin/python benchmarks/class.py [--readers 1 10 30] [--seconds 30]
        [--page "" mechanisms] [--static FOLDER] [--write [FILE]]

A reader is a page of Chromium, 1440 by 900. It presses an arrow key on the noise multiplier every
0.5 to 2 s. A move is done when the picture shows it: from the time of the key to the frame after
the first change of the picture. After the last move all readers press *Prove* at once, where there
is such a button, and wait until the library's answer is to be seen. Server, readers and their
rendering share the machine: with more readers than its cores can draw for, a picture waits for
other readers' pictures, as it never would in a class of laptops. So there is the processor time
too, of the server and of the browser, per move, a quiet confirmation included; it depends least on
what else runs here. `--static` measures a site that `dplearn site FOLDER` made, behind
`python -m http.server`.
"""

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from playwright.async_api import Browser, async_playwright
from support.measure import machine
from support.tables import table

RESULTS = Path(__file__).parent / "results" / "class.md"
PORT = 8599
HANDLE = "b[data-drag=sigma], b[data-drag=noise_multiplier], .st-key-slider_noise_multiplier input"
PICTURE, PROVE, PROVED = ".dp-plot, .stMain .js-plotly-plot", ".dp-prove", ".st-key-details"
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-background-timer-throttling")
# Milliseconds from the key to the frame after the first change of a picture.
_ARM = """picture => {
  const pressed = new Promise(resolve =>
    addEventListener('keydown', event => resolve(event.timeStamp), { capture: true, once: true }));
  const changed = new Promise(resolve => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      requestAnimationFrame(resolve);
    });
    watch.observe(picture, { subtree: true, childList: true, attributes: true });
  });
  window.moved = Promise.all([pressed, changed]).then(([start]) => new Promise(resolve =>
    requestAnimationFrame(() => resolve(performance.now() - start))));
}"""


@dataclass
class Class:
    """What the readers of one class met, in milliseconds."""

    moves: list[float] = field(default_factory=list)
    proofs: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def read(
    met: Class, browser: Browser, url: str, opened: asyncio.Barrier, seconds: float
) -> None:
    """One reader: open the page, move until the end, ask for a proof."""
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(300_000)
    page.on("pageerror", lambda error: met.errors.append(str(error)))
    await page.goto(url)
    handle, picture = page.locator(HANDLE).first, page.locator(PICTURE).first
    await picture.wait_for()
    await handle.focus()
    await opened.wait()
    loop = asyncio.get_running_loop()
    end, key = loop.time() + seconds, random.choice(("ArrowLeft", "ArrowRight"))
    while loop.time() < end:
        await asyncio.sleep(random.uniform(0.5, 2))
        await picture.evaluate(_ARM)
        await handle.press(key)
        met.moves.append(await page.evaluate("window.moved"))
        key = random.choice((key, "ArrowLeft", "ArrowRight"))
    await opened.wait()
    if await page.locator(PROVE).count():
        start = loop.time()
        await page.locator(PROVE).click()
        await page.locator(PROVED).first.wait_for()
        met.proofs.append(1e3 * (loop.time() - start))
    await page.close()


def wait_for(address: str) -> None:
    """Wait until a server answers, half an hour at most."""
    end = time.monotonic() + 1800
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise TimeoutError(f"Expected {address} to answer within half an hour.")


@contextmanager
def served(folder: Path | None) -> Iterator[psutil.Process]:
    """An explorer at PORT, or a folder of files."""
    app = ["dplearn", "app", "--server.headless", "true", "--server.port", str(PORT)]
    files = ["http.server", str(PORT), "--bind", "127.0.0.1", "--directory", str(folder)]
    command = [sys.executable, "-m", *(files if folder else app)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as server:
        try:
            wait_for(f"http://127.0.0.1:{PORT}/")
            yield psutil.Process(server.pid)
        finally:
            server.terminate()


def used(*processes: psutil.Process) -> float:
    """Processor time in seconds of processes and all below them."""
    family = {p for process in processes for p in (process, *process.children(recursive=True))}
    times = [process.cpu_times() for process in family]
    return sum(time.user + time.system for time in times)


async def class_of(readers: int, path: str, seconds: float, server: psutil.Process) -> list[object]:
    """All readers at once: a row of the table."""
    met, opened = Class(), asyncio.Barrier(readers + 1)
    async with async_playwright() as driver:
        chromium = os.environ.get("DPLEARN_CHROMIUM") or shutil.which("chromium")
        browser = await driver.chromium.launch(executable_path=chromium, args=CHROMIUM)
        own = [p for p in psutil.Process().children(recursive=True) if p.pid != server.pid]
        url = f"http://127.0.0.1:{PORT}/{path}"
        running = [read(met, browser, url, opened, seconds) for _ in range(readers)]
        group = asyncio.gather(*running)
        await opened.wait()
        began = used(server), used(*own)
        await opened.wait()
        spent = [
            after - before for after, before in zip((used(server), used(*own)), began, strict=True)
        ]
        await group
        await browser.close()
    p50, p99 = np.percentile(met.moves, [50, 99])
    costs = [f"{1e3 * s / len(met.moves):.1f} ms" for s in spent]
    proof = f"{np.percentile(met.proofs, 99):.0f} ms" if met.proofs else "–"
    return [
        readers,
        len(met.moves),
        f"{p50:.0f} ms",
        f"{p99:.0f} ms",
        proof,
        *costs,
        len(met.errors),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", nargs="+", type=int, default=[1, 10, 30])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--page", nargs="+", help="default: all that there are")
    parser.add_argument("--static", type=Path, help="folder that `dplearn site` made")
    parser.add_argument("--write", nargs="?", const=RESULTS, type=Path)
    options = parser.parse_args()
    head = ("page", "readers", "moves", "picture, p50", "p99", "proof, p99")
    head += ("server, a move", "browser, a move", "errors")
    rows = []
    with served(options.static) as server:
        pages = ["explorer.html"] if options.static else ["", "mechanisms"]
        for page in options.page or pages:
            for readers in options.readers:
                row = asyncio.run(class_of(readers, page, options.seconds, server))
                rows.append([page or "ε against T", *row])
                print(*rows[-1], sep=" | ", flush=True)
    where = "Files behind `python -m http.server`" if options.static else "One server"
    text = f"## {where}, {options.seconds:g} s a row\n\n{machine()}\n\n{table(head, rows)}\n"
    if options.write:
        with options.write.open("a") as file:
            file.write(f"{text}\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
