"""Call a student's function: whatever it does, the kernel lives and one sentence says what it was.

A thread can be left behind where it will not end; a signal in the main thread could not.
"""

import contextlib
import ctypes
import dis
import io
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable
from types import CodeType
from typing import Any

# What a function consists of whose body is `...`.
_NOTHING = {"LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"}
_PATIENCE = 10  # times as long as a task may use the processor


class Complaint(Exception):
    """A function that gave no result; the message says why, `kind` what to compare it by."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __repr__(self) -> str:
        return f"Complaint({str(self)!r}, {self.kind!r})"


class Busy(TimeoutError):
    """A task that got too little of the processor: a busy machine, or one that waits."""


class Stop(BaseException):
    """Ends a thread that takes too long; `except Exception` does not catch it."""


def is_blank(function: Callable) -> bool:
    """Return whether the body of `function` is empty."""
    code = getattr(function, "__code__", None)
    return code is not None and all(
        each.opname == "RESUME" or (each.opname in _NOTHING and each.argval is None)
        for each in dis.get_instructions(code)
    )


def has_gap(code: CodeType | None) -> bool:
    """Return whether code, or a function inside it, has a `...`: a gap or, rarely, an index."""
    inside = code.co_consts if code else ()
    return any(each is ... or (isinstance(each, CodeType) and has_gap(each)) for each in inside)


def guarded(function: Callable) -> Callable:
    """Return `function` on copies of data; it raises a Complaint if it fails or changes them."""

    def call(*arguments: Any) -> Any:
        copies = [pickle.loads(pickle.dumps(a)) if _is_data(a) else a for a in arguments]
        before = [_frozen(each) for each in copies]
        try:
            result = function(*copies)
        except Stop:
            raise
        except BaseException as error:  # exit() among them
            problem = f"it raises {type(error).__name__}: {error}".rstrip(": .")
            raise Complaint(f"{problem}.", type(error).__name__) from None
        for number, (old, each) in enumerate(zip(before, copies, strict=True), start=1):
            if old != _frozen(each):
                problem = f"it changes its argument number {number}; work on a copy of it."
                raise Complaint(problem, "changes")
        return result

    return call


def _is_data(value: Any) -> bool:
    """Whether use must leave `value` as it is: a random generator changes, an array does not."""
    return isinstance(value, (list, tuple, dict, set)) or hasattr(value, "dtype")


def _frozen(value: Any) -> bytes | None:
    return pickle.dumps(value) if _is_data(value) else None


def limited(task: Callable[[], Any], *, seconds: float) -> Any:
    """Return what `task` returns, its prints and warnings kept back.

    Raise TimeoutError after so many seconds of the processor, and Busy after ten times as long on
    a machine that gives it fewer.
    """
    results: list[Any] = []
    clocks: list[Callable[[], float]] = []

    def work() -> None:
        if hasattr(time, "pthread_getcpuclockid"):
            own = time.pthread_getcpuclockid(threading.get_ident())
            clocks.append(lambda: time.clock_gettime(own))
        else:  # macOS and Windows have no clock of one thread
            began = time.process_time()
            clocks.append(lambda: time.process_time() - began)
        with contextlib.suppress(Stop):
            results.append(task())

    thread = threading.Thread(target=work, daemon=True)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if sys.platform == "emscripten":  # a page has no threads, and ends its worker instead
            return task()
        thread.start()
        taken, end = 0.0, time.monotonic() + _PATIENCE * seconds
        while thread.is_alive() and taken < seconds and time.monotonic() < end:
            thread.join(0.02)
            with contextlib.suppress(IndexError, OSError):  # it has not begun, or has just ended
                taken = clocks[0]()
        # For a second: a bare `except` catches most of what is raised in a thread.
        for _ in range(100):
            if not thread.is_alive() or thread.ident is None:
                break
            identity = ctypes.c_ulong(thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(Stop))
            thread.join(0.01)
    if not results:
        raise TimeoutError if taken >= seconds else Busy
    return results[0]
