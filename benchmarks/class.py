"""How long a class waits: readers who let a slider go, on one server or on several.

    .venv/bin/python benchmarks/class.py [--readers 1 10 30 60 100] [--seconds 60] [--workers 1 2]
        [--page train] [--churn] [--write [FILE]]

A reader is a client of Streamlit's own protocol on a web socket. It opens the page, then enters a
noise multiplier of its own every 0.5 to 2 s and waits until the page is whole; with `--churn` it
closes the page after ten moves and opens another. While a hand is down the first page computes in
the browser, so only what follows the release is the server's. Readers and servers share the
machine. Memory is that of the servers before the first move and after the last, all processes
together; processor time is theirs per move, openings of the page included, and depends least on
what else runs here; what a move costs the reader, who takes it from the same cores, is the last.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from support.flower import wait_for
from support.measure import machine
from support.tables import table
from websockets.asyncio.client import ClientConnection, connect

RESULTS = Path(__file__).parent / "results" / "class.md"
BOX, MOVES = "-box_noise_multiplier", 10
PORT = 8599


@dataclass
class Class:
    """What the readers of one class met."""

    waits: list[float] = field(default_factory=list)  # seconds
    opened: list[float] = field(default_factory=list)
    errors: int = 0


class Reader:
    """One page in one browser."""

    def __init__(self, socket: ClientConnection, page: str) -> None:
        self.socket, self.page = socket, page
        self.states: dict[str, WidgetState] = {}
        self.box = ""

    async def run(self) -> int:
        """Run the page as it is set; returns how many errors it showed."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.widget_states.widgets.extend(self.states.values())
        await self.socket.send(message.SerializeToString())
        errors = 0
        async for raw in self.socket:
            answer = ForwardMsg.FromString(raw)
            kind = answer.WhichOneof("type")
            element = answer.delta.new_element
            if kind == "delta" and element.text_input.id.endswith(BOX):
                self.box = element.text_input.id
            errors += kind == "delta" and element.WhichOneof("type") == "exception"
            # A move may end a run before; what it did not finish follows.
            if kind == "script_finished" and answer.script_finished == 0:
                return errors
        return errors + 1

    async def move(self) -> int:
        """Enter another noise multiplier."""
        self.states[self.box] = WidgetState(
            id=self.box, string_value=f"{random.uniform(0.6, 8):.4f}"
        )
        return await self.run()


async def read(met: Class, url: str, page: str, end: float, churn: bool) -> None:
    """One reader until the end."""
    loop = asyncio.get_running_loop()
    while loop.time() < end:
        try:
            cookie = await loop.run_in_executor(None, worker_of, url)
            headers = {"Cookie": cookie} if cookie else {}
            socket = url.replace("http", "ws") + "/_stcore/stream"
            async with connect(socket, max_size=None, additional_headers=headers) as connection:
                reader, began = Reader(connection, page), loop.time()
                met.errors += await reader.run()
                met.opened.append(loop.time() - began)
                moves = 0
                while loop.time() < end and not (churn and moves == MOVES):
                    await asyncio.sleep(random.uniform(0.5, 2))
                    began = loop.time()
                    met.errors += await reader.move()
                    met.waits.append(loop.time() - began)
                    moves += 1
        except OSError:
            met.errors += 1


def worker_of(url: str) -> str:
    """The cookie that leads back to the same server; "" where there is one server."""
    with urllib.request.urlopen(url) as answer:
        cookies = answer.headers.get_all("Set-Cookie") or []
    return next((c.partition(";")[0] for c in cookies if c.startswith("dplearn_worker")), "")


@contextmanager
def served(workers: int) -> Iterator[psutil.Process]:
    """An explorer at PORT."""
    options = ["--workers", str(workers)] if workers > 1 else []
    command = [sys.executable, "-m", "dplearn", "app", *options, "--server.port", str(PORT)]
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            wait_for(f"http://127.0.0.1:{PORT}/_stcore/health")
            yield psutil.Process(server.pid)
        finally:
            server.terminate()


def used(server: psutil.Process) -> tuple[float, float]:
    """Memory in MB and processor time in seconds of a process and its children."""
    processes = [server, *server.children(recursive=True)]
    times = [process.cpu_times() for process in processes]
    memory = sum(process.memory_info().rss for process in processes)
    return memory / 1e6, sum(time.user + time.system for time in times)


async def class_of(readers: int, page: str, seconds: float, churn: bool) -> Class:
    """All readers at once; what they met."""
    met, url = Class(), f"http://127.0.0.1:{PORT}"
    end = asyncio.get_running_loop().time() + seconds
    await asyncio.gather(*(read(met, url, page, end, churn) for _ in range(readers)))
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", nargs="+", type=int, default=[1, 10, 30, 60, 100])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--page", default="", help="such as train; default: the first")
    parser.add_argument("--churn", action="store_true")
    parser.add_argument("--write", nargs="?", const=RESULTS, type=Path)
    options = parser.parse_args()
    head = ("servers", "readers", "moves", "p50", "p95", "p99", "opened, p50", "errors")
    head += ("memory before", "after", "processor", "reader's")
    rows = []
    for workers in options.workers:
        with served(workers) as server:
            asyncio.run(class_of(1, options.page, 3, False))  # what only the first one pays
            for readers in options.readers:
                (before, began), own = used(server), time.process_time()
                met = asyncio.run(class_of(readers, options.page, options.seconds, options.churn))
                after, ended = used(server)
                ms = [f"{1e3 * x:.0f} ms" for x in np.percentile(met.waits, [50, 95, 99])]
                opened = f"{1e3 * np.median(met.opened):.0f} ms"
                counts = workers, readers, len(met.waits)
                spent = ended - began, time.process_time() - own
                costs = [f"{1e3 * seconds / len(met.waits):.1f} ms" for seconds in spent]
                memory = f"{before:.0f} MB", f"{after:.0f} MB"
                rows.append((*counts, *ms, opened, met.errors, *memory, *costs))
                print(*rows[-1], flush=True)
    page = f"page {options.page}" if options.page else "first page"
    how = ", pages opened anew after ten moves" if options.churn else ""
    text = f"## {page.capitalize()}, {options.seconds:g} s a row{how}\n\n{machine()}\n\n"
    text += table(head, rows) + "\n"
    if options.write:
        _, first, about = __doc__.partition("A reader is")
        made = f"# A class at the explorer\n\nMade by `benchmarks/class.py`. {first}{about}\n"
        with options.write.open("a") as file:
            file.write(made * (file.tell() == 0) + text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
