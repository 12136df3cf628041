"""Training processes: a few at a time for the whole server, and each is somebody's.

A run belongs to the page that shows it and looks after it twice a second. Torch is loaded in
the process of `dplearn.app.worker`, never here; it ends by itself when the page does not
look any more or the server dies. `DPLEARN_TRAINING_RUNS` in the environment says how many may
run at once; the default is half of the processors.
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
from functools import cache
from typing import IO, Any, Literal

import streamlit as st

from dplearn.app import ONE_THREAD
from dplearn.app.kit.questions import PLACES
from dplearn.app.pages.train.plan import Training

SECONDS = 120
MEMORY = 4e9
# A run that is not looked at for so many seconds gives up its place. Browsers let a page that is
# hidden look once a minute.
PATIENCE = 90.0
# Events that one look takes in: the picture grows also where training takes a second.
_AT_ONCE = 5
# Runs that a page can come back to.
_KEPT = 50
# Runs of a session that are drawn behind the last one.
_EARLIER = 3
_WORKER = (sys.executable, "-m", "dplearn.app.worker")

Phase = Literal["waiting", "running", "done", "stopped", "failed"]


class Run:
    """One training, from the queue to its last event.

    `events` are what the worker told, a few more at each look; `problem` says why it failed,
    `before` counts the runs that must end before this one starts, and `name` stands in the
    address of its page, which so finds it after a reload.
    """

    def __init__(self, training: Training) -> None:
        self.training = training
        self.name = secrets.token_urlsafe(9)
        self.events: list[dict[str, Any]] = []
        self._told: deque[dict[str, Any]] = deque()
        self.phase: Phase = "waiting"
        self.problem, self.before = "", 0
        self._seen = time.monotonic()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._read = 0
        self._open = ExitStack()

    @property
    def live(self) -> bool:
        """Whether there is more to come."""
        return self.phase in ("waiting", "running")

    @property
    def progress(self) -> list[dict[str, Any]]:
        """The events that a picture is made of."""
        return [event for event in self.events if event["event"] == "progress"]

    @property
    def held(self) -> bool:
        """Whether it has a place, or still wants one."""
        if self._process is None:
            return self.phase == "waiting" and time.monotonic() - self._seen < PATIENCE
        return self._process.poll() is None

    def start(self) -> None:
        """Start the process and hand it the job."""
        limits = {"--seconds": SECONDS, "--memory": MEMORY, "--silence": PATIENCE}
        self._output = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._errors = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [*_WORKER, *(str(part) for pair in limits.items() for part in pair)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._errors,
                env={**os.environ, **ONE_THREAD},
            )
        except OSError as error:
            self._end("failed", f"No process for training could be started: {error}.")
            return
        self._open.enter_context(self._process)
        self.phase = "running"
        self._say(json.dumps(self.training.job).encode() + b"\n")

    def look(self) -> None:
        """Take in what the worker told, and tell it that somebody is there."""
        self._seen = time.monotonic()
        if self.phase != "running" or self._process is None:
            return
        status = self._process.poll()  # asked first: all it told is there to be read
        self._take()
        self._show(_AT_ONCE)
        if status is not None and self.live and not self._told:
            # The last line on standard error of a process that ended without a word.
            written = os.pread(self._errors.fileno(), 1 << 20, 0) if self._errors else b""
            lines = written.decode(errors="replace").strip().splitlines()
            ended = f"The training process ended with status {status}."
            if status == -signal.SIGKILL:
                ended = "The training process was killed, perhaps for want of memory."
            self._end("failed", lines[-1] if lines else ended)
        self._say(b"\n")

    def stop(self) -> None:
        """End it at once; what was told stays."""
        if self._process is not None and self.live:
            self._process.kill()
            self._process.wait()
            self._take()
            self._show(len(self._told))
        if self.live:
            self._end("stopped")

    def _end(self, phase: Phase, problem: str = "") -> None:
        """Nothing more is wanted of the process."""
        self.phase, self.problem = phase, problem
        if self._process is not None:
            self._process.kill()
        self._open.close()

    def _say(self, line: bytes) -> None:
        if self.phase == "running" and self._process is not None and self._process.stdin:
            with suppress(OSError):  # it has gone, which the next look finds out
                self._process.stdin.write(line)

    def _take(self) -> None:
        """New whole lines; `pread`, because the worker writes where this file stands."""
        new = os.pread(self._output.fileno(), 1 << 20, self._read) if self._output else b""
        lines, newline, _ = new.rpartition(b"\n")
        self._read += len(lines) + len(newline)
        self._told.extend(map(json.loads, lines.splitlines()))

    def _show(self, most: int) -> None:
        """Take in some of what was told."""
        for _ in range(min(most, len(self._told))):
            event = self._told.popleft()
            self.events.append(event)
            if event["event"] == "done":
                self._end("done")
            elif event["event"] == "error":
                self._end("failed", event["message"])


class Pool:
    """All runs of the server, in the order in which they came."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._runs: list[Run] = []
        self.named: dict[str, Run] = {}
        self._lock = threading.Lock()

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
            if not run.before:
                run.start()


@cache  # one of Streamlit's any browser may clear, and begin again with an empty pool
def pool() -> Pool:
    """The one pool of this server."""
    return Pool(int(os.environ.get("DPLEARN_TRAINING_RUNS", PLACES)))


def current(name: str = "") -> Run | None:
    """This session's run, or the one of this name, after a look."""
    run = st.session_state.get("training_run") or pool().named.get(name)
    if run is not None:
        pool().look(run)
    return run


def earlier() -> list[Run]:
    """This session's last runs but one."""
    return st.session_state.get("training_earlier", [])


def begin(training: Training) -> None:
    """Make a run this session's; one that still goes on is ended, and some are remembered."""
    if (old := st.session_state.get("training_run")) is not None:
        old.stop()
        st.session_state["training_earlier"] = [*earlier(), old][-_EARLIER:]
    st.session_state["training_run"] = Run(training)
