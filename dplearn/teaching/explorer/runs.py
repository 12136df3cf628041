"""Training processes: a few at a time for the whole server, and each is somebody's.

A run belongs to the page that shows it and looks after it twice a second. Torch is loaded in
the process of `teaching.explorer.worker`, never here; it ends by itself when the page does not
look any more or the server dies. One worker is always prepared, from the first look at the page
on: PyTorch takes seconds to load. A browser has one run at a time, which all its pages show: who
reloads or comes back never waits behind a run of their own. `DPLEARN_TRAINING_RUNS` in the
environment says how many may run at once; the default is half of the processors.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import cache
from typing import Any, Literal

import streamlit as st

from dplearn.teaching.explorer import ONE_THREAD
from dplearn.teaching.explorer.job import PATIENCE, Job
from dplearn.teaching.explorer.kit.fields import Words
from dplearn.teaching.explorer.kit.questions import PLACES

_say = Words("train")
# Events that one look takes in: the picture grows also where training takes a second.
_AT_ONCE = 5
# Runs that a page can come back to.
_KEPT = 50
# Runs of a session that are drawn behind the last one.
_EARLIER = 3
_WORKER = (sys.executable, "-m", "dplearn.teaching.explorer.worker")

Phase = Literal["waiting", "running", "done", "stopped", "failed"]


class Worker:
    """A process that waits for its job, or trains."""

    def __init__(self) -> None:
        self._read = 0
        with ExitStack() as stack:
            self._output, self._errors = (
                stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)
            )
            self.process = subprocess.Popen(
                _WORKER,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._errors,
                env={**os.environ, **ONE_THREAD},
            )
            stack.enter_context(self.process)
            self._open = stack.pop_all()

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def say(self, line: bytes) -> None:
        """Send a line, to nobody if the process has gone, which the next look finds out."""
        with suppress(OSError):
            self.process.stdin.write(line)  # type: ignore[union-attr]

    def told(self) -> list[dict[str, Any]]:
        """Events of new whole lines; `pread`, because the worker writes where this file stands."""
        new = os.pread(self._output.fileno(), 1 << 20, self._read)
        lines, newline, _ = new.rpartition(b"\n")
        self._read += len(lines) + len(newline)
        return [json.loads(line) for line in lines.splitlines()]

    def last_words(self) -> str:
        """The last line on standard error of a process that ended without a word, or its status."""
        written = os.pread(self._errors.fileno(), 1 << 20, 0).decode(errors="replace")
        if lines := written.strip().splitlines():
            return lines[-1]
        if self.process.returncode == -signal.SIGKILL:
            return _say.said("killed")
        return _say.said("ended", status=self.process.returncode)

    def close(self) -> None:
        """End the process, and forget what it told."""
        self.process.kill()
        self._open.close()


class Run:
    """One training, from the queue to its last event.

    `events` are what the worker told, a few more at each look; `problem` says why it failed,
    `before` counts the runs that must end before this one starts, `name` stands in the address of
    its page, which so finds it after a reload, and `reader` names the browser, "" if unknown.
    """

    def __init__(self, job: Job, reader: str = "") -> None:
        self.job, self.reader = job, reader
        self.name = secrets.token_urlsafe(9)
        self.events: list[dict[str, Any]] = []
        self._told: deque[dict[str, Any]] = deque()
        self.phase: Phase = "waiting"
        self.problem, self.before = "", 0
        self._seen = time.monotonic()
        self.worker: Worker | None = None
        self._lock = threading.RLock()  # several pages of a browser may look at once

    @property
    def live(self) -> bool:
        """Whether there is more to come."""
        return self.phase in ("waiting", "running")

    @property
    def progress(self) -> list[dict[str, Any]]:
        """The events that a picture is made of."""
        return [event for event in self.events if event["event"] == "progress"]

    @property
    def done(self) -> int:
        """Number of steps that the picture shows."""
        return self.progress[-1]["step"] if self.progress else 0

    @property
    def held(self) -> bool:
        """Whether it has a place, or still wants one."""
        if self.worker is None:
            return self.phase == "waiting" and time.monotonic() - self._seen < PATIENCE
        return self.worker.lives

    def start(self, worker: Worker) -> None:
        """Hand a worker the job."""
        self.worker, self.phase = worker, "running"
        worker.say(json.dumps(asdict(self.job)).encode() + b"\n")

    def look(self) -> None:
        """Take in what the worker told, and tell it that somebody is there."""
        self._seen = time.monotonic()
        with self._lock:
            if (worker := self.worker) is None:
                return
            gone = not worker.lives  # asked first: all it told is there to be read
            self._told.extend(worker.told())
            self._show(_AT_ONCE)
            if gone and self.live and not self._told:
                self.end("failed", worker.last_words())
            if self.live:
                worker.say(b"\n")

    def stop(self) -> None:
        """End it at once; what was told stays."""
        with self._lock:
            if self.worker is not None:
                self.worker.process.kill()
                self.worker.process.wait()
                self._told.extend(self.worker.told())
                self._show(len(self._told))
            if self.live:
                self.end("stopped")

    def end(self, phase: Phase, problem: str = "") -> None:
        """Say how it ended; nothing more is wanted of the process."""
        self.phase, self.problem = phase, problem
        if self.worker is not None:
            self.worker.close()
            self.worker = None

    def _show(self, most: int) -> None:
        for _ in range(min(most, len(self._told))):
            event = self._told.popleft()
            self.events.append(event)
            if event["event"] == "done":
                self.end("done")
            elif event["event"] == "error":
                self.end("failed", event["message"])


class Pool:
    """All runs of the server, in the order in which they came."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._runs: list[Run] = []
        self.named: dict[str, Run] = {}
        self._prepared: Worker | None = None
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Have a worker that waits for the next job, PyTorch loaded."""
        with self._lock, suppress(OSError):  # a run that finds none will say why
            self._prepared = self._ready() or Worker()

    def of(self, reader: str) -> Run | None:
        """The run of this browser that goes on."""
        return next((r for r in self._runs if r.live and r.reader == reader != ""), None)

    def look(self, run: Run) -> None:
        """Look after a run, and start it when its turn has come."""
        run.look()
        with self._lock:
            self._runs = [r for r in self._runs if r.held]
            if run.phase != "waiting":
                return
            if run not in self._runs:
                self._runs.append(run)
                self.named = dict([*self.named.items(), (run.name, run)][-_KEPT:])
            run.before = max(self._runs.index(run) - self.places + 1, 0)
            if run.before:
                return
            try:
                run.start(self._ready() or Worker())
            except OSError as error:
                run.end("failed", _say.said("not_started", why=error))

    def _ready(self) -> Worker | None:
        """The worker that is prepared, if it still lives."""
        worker, self._prepared = self._prepared, None
        if worker is not None and not worker.lives:
            worker.close()
            return None
        return worker


@cache  # one of Streamlit's any browser may clear, and begin again with an empty pool
def pool() -> Pool:
    """The one pool of this server."""
    return Pool(int(os.environ.get("DPLEARN_TRAINING_RUNS", PLACES)))


def reader() -> str:
    """The name that this browser has as long as it is open; "" where nobody gave it one."""
    return dict(st.context.cookies).get("dplearn_reader", "")


def run_in_view(name: str = "") -> Run | None:
    """This session's run, the one of this name or the one of this browser, after a look."""
    run = st.session_state.get("training_run") or pool().named.get(name) or pool().of(reader())
    if run is not None:
        pool().look(run)
    return run


def earlier() -> list[Run]:
    """This session's last runs but one."""
    return st.session_state.get("training_earlier", [])


def begin(job: Job) -> None:
    """Make a run this session's; others of this browser are ended, and some are remembered."""
    if (ghost := pool().of(reader())) is not None:
        ghost.stop()
    if (old := st.session_state.get("training_run")) is not None:
        old.stop()
        st.session_state["training_earlier"] = [*earlier(), old][-_EARLIER:]
    st.session_state["training_run"] = Run(job, reader())
