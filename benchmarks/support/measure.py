"""Time, memory and a time limit: one thread, one measurement at a moment."""

import math
import multiprocessing
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

Ask = Callable[[Any], float]


@dataclass
class Outcome:
    """What a time-boxed run got done.

    `seconds` is the time of the last value; `megabytes` the peak over the start, nan if the
    process did not live to tell; `errors` counts by name what was raised instead of a value.
    """

    values: list[float] = field(default_factory=list)
    seconds: float = math.nan
    megabytes: float = math.nan
    errors: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in self.errors.items())


def boxed(prepare: Callable[[], Ask], inputs: Sequence[Any], *, limit: float) -> Outcome:
    """Ask for one value after the other in a forked process, until the limit has passed.

    The process stops after the value that passes the limit; one that takes more than twice
    the limit is killed. Nothing of its memory stays behind.
    """
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(theirs, prepare, inputs, limit))
    child.start()
    theirs.close()
    result, deadline = Outcome(), time.perf_counter() + 2 * limit
    while True:
        if not mine.poll(max(deadline - time.perf_counter(), 0)):
            child.kill()
            result.errors["stopped"] = 1
            result.seconds = 2 * limit
            break
        try:
            message = mine.recv()
        except EOFError:
            result.errors["killed"] = 1
            break
        if isinstance(message, float):
            result.megabytes = message
            break
        value, result.seconds, error = message
        if error:
            result.errors[error] = result.errors.get(error, 0) + 1
        result.values.append(value)
    child.join()
    return result


def _answer(
    pipe: Connection, prepare: Callable[[], Ask], inputs: Sequence[Any], limit: float
) -> None:
    """Send (value, seconds so far, error) per input, then the peak, from the forked side."""
    most = int(0.75 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    idle, start = _reset_peak(), time.perf_counter()
    ask: Ask | None = None
    for x in inputs:
        value, error = math.nan, ""
        try:
            ask = ask or prepare()
            value = float(ask(x))
        except Exception as problem:  # a peer that raises is a result, not an accident
            error = type(problem).__name__
        pipe.send((value, time.perf_counter() - start, error))
        if time.perf_counter() - start > limit or ask is None:
            break
    pipe.send(_peak() - idle)


def fresh_peak(function: Callable[..., Any], *arguments: Any) -> float:
    """Megabytes that `function` needs at its peak, over a fresh process that has imported it."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_weigh, args=(theirs, function, arguments))
    child.start()
    value = mine.recv()
    child.join()
    return value


def _weigh(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    idle = _reset_peak()
    function(*arguments)
    pipe.send(_peak() - idle)


def _reset_peak() -> float:
    """Linux: forget the peak so far; returns what is resident now, in megabytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return math.nan
    return _peak()


def _peak() -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return math.nan
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def seconds(run: Callable[[], Any]) -> float:
    """Wall time of one run that finds every cache of the package empty."""
    forget()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def median_seconds(run: Callable[[], Any], repeats: int) -> float:
    return statistics.median(seconds(run) for _ in range(repeats))


def forget() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("dplearn"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def machine() -> str:
    """Name the day, the processor and the versions that matter."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(x.split(": ")[1] for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor()
    names = ["numpy", "scipy", "dp-accounting", "prv-accountant", "opacus", "torch"]
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    day = time.strftime("%Y-%m-%d")
    return f"{day}, {model}, one thread; Python {platform.python_version()}, {versions}."


def version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
