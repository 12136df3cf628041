"""Guarded calls of a student's function; every failure becomes a one-sentence message.

The function runs in a thread, which can be abandoned if it does not end.
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

# Bytecode instructions of an empty body.
_NOTHING = {"LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"}
_PATIENCE = 10  # limit on elapsed time, as a multiple of the limit on processor time


class Complaint(Exception):
    """Failure of a student's function; two failures of the same `kind` count as equal."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __repr__(self) -> str:
        return f"Complaint({str(self)!r}, {self.kind!r})"


class Busy(TimeoutError):
    """Error for too little processor time: the machine is busy, or the task waits."""


class Stop(BaseException):
    """Exception that ends a slow thread; `except Exception` does not catch it."""


def is_blank(function: Callable) -> bool:
    """Return whether a function's body is empty."""
    code = getattr(function, "__code__", None)
    return code is not None and all(
        each.opname == "RESUME" or (each.opname in _NOTHING and each.argval is None)
        for each in dis.get_instructions(code)
    )


def has_gap(code: CodeType | None) -> bool:
    """Return whether code, or a function inside it, contains `...` (a gap to fill, or an index)."""
    inside = code.co_consts if code else ()
    return any(each is ... or (isinstance(each, CodeType) and has_gap(each)) for each in inside)


def guarded(function: Callable) -> Callable:
    """Return a wrapper that passes copies of arguments; failures and changes raise Complaint."""

    def call(*arguments: Any) -> Any:
        copies = [pickle.loads(pickle.dumps(a)) if _is_data(a) else a for a in arguments]
        before = [_frozen(each) for each in copies]
        try:
            result = function(*copies)
        except Stop:
            raise
        except BaseException as error:  # also exit()
            problem = f"it raises {type(error).__name__}: {error}".rstrip(": .")
            raise Complaint(f"{problem}.", type(error).__name__) from None
        for number, (old, each) in enumerate(zip(before, copies, strict=True), start=1):
            if old != _frozen(each):
                problem = f"it changes its argument number {number}; work on a copy of it."
                raise Complaint(problem, "changes")
        return result

    return call


def _is_data(value: Any) -> bool:
    """Return whether a value is an array or a collection, which a function must not change."""
    return isinstance(value, (list, tuple, dict, set)) or hasattr(value, "dtype")


def _frozen(value: Any) -> bytes | None:
    return pickle.dumps(value) if _is_data(value) else None


def limited(task: Callable[[], Any], *, seconds: float) -> Any:
    """Return the result of a task; suppress its prints and warnings.

    Raise TimeoutError after `seconds` of processor time, or Busy after ten times as many seconds of
    elapsed time.
    """
    results: list[Any] = []
    clocks: list[Callable[[], float]] = []

    def work() -> None:
        if hasattr(time, "pthread_getcpuclockid"):
            own = time.pthread_getcpuclockid(threading.get_ident())
            clocks.append(lambda: time.clock_gettime(own))
        else:  # macOS and Windows have no clock per thread
            began = time.process_time()
            clocks.append(lambda: time.process_time() - began)
        with contextlib.suppress(Stop):
            results.append(task())

    thread = threading.Thread(target=work, daemon=True)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if sys.platform == "emscripten":  # Pyodide has no threads; the page stops the worker
            return task()
        thread.start()
        taken, end = 0.0, time.monotonic() + _PATIENCE * seconds
        while thread.is_alive() and taken < seconds and time.monotonic() < end:
            thread.join(0.02)
            # The thread has no clock before its start and after its end.
            with contextlib.suppress(IndexError, OSError):
                taken = clocks[0]()
        # Raise Stop repeatedly for a second, because a bare `except` in the thread catches it.
        for _ in range(100):
            if not thread.is_alive() or thread.ident is None:
                break
            identity = ctypes.c_ulong(thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(Stop))
            thread.join(0.01)
    if not results:
        raise TimeoutError if taken >= seconds else Busy
    return results[0]
