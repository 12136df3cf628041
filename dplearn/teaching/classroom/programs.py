"""Exercises that ask for a function and compare its results with right and wrong results.

A student's function runs in a thread, which can be abandoned if it does not end.
"""

import contextlib
import ctypes
import dis
import io
import math
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import signature
from types import CodeType
from typing import Any

from dplearn.teaching.classroom import _numbers
from dplearn.teaching.classroom._numbers import as_floats, shape_of, unpacked, written_value
from dplearn.teaching.classroom.checks import Mistake, Reply

_PATIENCE = 10  # limit on elapsed time, as a multiple of the limit on processor time


class Complaint(Exception):
    """Failure of a student's function; two failures of the same `kind` count as equal."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __repr__(self) -> str:  # `in_page.rebuilt` evaluates this text
        return f"Complaint({str(self)!r}, {self.kind!r})"


class Busy(TimeoutError):
    """Error of a task that exceeds its elapsed time: the machine is busy, or the task waits."""


class Stop(BaseException):
    """Exception that ends a slow thread; `except Exception` does not catch it."""


def is_blank(function: Callable) -> bool:
    """Return whether a function's body is empty."""
    code = getattr(function, "__code__", None)
    empty = {"LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"}  # bytecode of an empty body
    return code is not None and all(
        each.opname == "RESUME" or (each.opname in empty and each.argval is None)
        for each in dis.get_instructions(code)
    )


def has_gap(code: CodeType | None) -> bool:
    """Return whether code, or a function inside it, contains `...` (a gap to fill, or an index)."""
    inside = code.co_consts if code else ()
    return any(each is ... or (isinstance(each, CodeType) and has_gap(each)) for each in inside)


def guarded(function: Callable) -> Callable:
    """Wrap a function: pass copies of arguments; raise Complaint if it fails or changes one."""

    def call(*arguments: Any) -> Any:
        copies = [a if (data := _frozen(a)) is None else pickle.loads(data) for a in arguments]
        before = [_frozen(each) for each in copies]
        try:
            result = function(*copies)
        except Stop:
            raise
        except BaseException as error:  # the function may call exit()
            problem = f"it raises {type(error).__name__}: {error}".rstrip(": .")
            raise Complaint(f"{problem}.", type(error).__name__) from None
        for number, (old, each) in enumerate(zip(before, copies, strict=True), start=1):
            if old != _frozen(each):
                problem = f"it changes its argument number {number}; work on a copy of it."
                raise Complaint(problem, "changes")
        return result

    return call


def _frozen(value: Any) -> bytes | None:
    """Return an array or a collection as bytes, to notice changes, or None for other values."""
    data = isinstance(value, (list, tuple, dict, set)) or hasattr(value, "dtype")
    return pickle.dumps(value) if data else None


def limited(task: Callable[[], Any], *, seconds: float) -> Any:
    """Run a task with time limits, and return its result; suppress its prints and warnings.

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
        if sys.platform == "emscripten":  # Pyodide has no threads; the page ends a slow worker
            return task()
        thread.start()
        taken, end = 0.0, time.monotonic() + _PATIENCE * seconds
        while thread.is_alive() and taken < seconds and time.monotonic() < end:
            thread.join(0.02)
            # The thread has no clock before its start and after its end.
            with contextlib.suppress(IndexError, OSError):
                taken = clocks[0]()
        # Raise Stop repeatedly for a second, because a bare `except` in the thread may catch it.
        identity, stop = ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stop)
        for _ in range(100):
            if thread.is_alive():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, stop)
                thread.join(0.01)
    if not results:
        raise TimeoutError if taken >= seconds else Busy
    return results[0]


def returned(function: Callable, *case: Any) -> Any:
    """Return the result of a function for the arguments of a case."""
    return function(*case)


def settled(value: float, truth: float, error: float) -> float:
    """Return `truth` if `value` is within five standard errors of it, otherwise `value`.

    So all right functions get equal results, in whatever order they draw random numbers. A right
    function is rejected with probability below 1e-6.

    Parameters
    ----------
    value, truth : float, statistic of random draws and its expectation, any numbers
    error : float > 0, standard error of the statistic

    Returns
    -------
    float, `truth` or `value`
    """
    return truth if abs(value - truth) <= 5 * error else value


@dataclass(frozen=True, kw_only=True)
class Program:
    """Question whose answer is a function.

    Its results are compared with the results of `right`. If they equal those of a common mistake in
    every case, the mistake's hints are given. The first wrong case is shown.

    Parameters
    ----------
    key, praise : str, as in `Exercise`
    right : Callable, right function
    cases : tuple of tuple, arguments of each case, the simplest first; notebooks do not show them
    mistakes : tuple of Mistake, common wrong functions, each different from the others in some case
    hints : tuple of str, hints of increasing detail for all other wrong functions
    measure : Callable, ``measure(function, *case)`` is compared: by default the result. It draws
        random numbers from a seed, and may return several values by name in a dict.
    rtol, rtol_mistakes : float > 0, relative tolerances for right results and for mistakes
    seconds : float, limit of processor time for all cases together, > 0

    Examples
    --------
    >>> floor = Mistake(lambda x: x // 2, ("What is half of 5?", "Divide with /, not with //."))
    >>> half = Program(key="0.2", right=lambda x: x / 2, cases=((4,), (5,)), praise="Indeed.",
    ...                mistakes=(floor,), hints=("Divide by 2.",))
    >>> print(half.verdict(lambda number: number // 2).text())
    0.2 not yet: What is half of 5?
      case      x = 5
      expected  2.5
      got       2
    """

    key: str
    right: Callable
    cases: tuple[tuple, ...]
    praise: str
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    measure: Callable = returned
    rtol: float = 1e-6
    rtol_mistakes: float = 1e-6
    seconds: float = 5.0

    def verdict(self, answer: Any) -> Reply:
        """Return the reply to `answer`, which may have any type."""
        if answer is None or is_blank(answer):
            todo = "write the body of the function and run the cell again."
            return Reply("open", f"{self.key} not answered yet", (todo,))
        if not callable(answer):
            problem = "pass the function itself, its name without brackets."
            return Reply("unreadable", f"{self.key} not readable", (problem,))
        results: list[Any] = []

        def judge() -> None:
            for number in range(len(self.cases)):
                results.append(self._measured(answer, number))

        try:
            limited(judge, seconds=self.seconds)
        except Busy:
            why = "this computer is too busy, or your function waits; run the cell again."
            return Reply("not judged", f"{self.key} not judged", (why,))
        except TimeoutError:
            slow = f"it takes more than {self.seconds:g} seconds; look for a loop without an end."
            results = [*results, Complaint(slow, "TimeoutError")]  # copy, as the thread may append
        wrong = [i for i, got in enumerate(results) if not _same(got, self.expected[i], self.rtol)]
        if not wrong:
            head = f"{self.key} right in {len(results)} of {len(results)} cases"
            return Reply("right", head, (self.praise,))
        # Look for `...` in wrong functions only: a right one may contain an index, as x[..., 0].
        if has_gap(getattr(answer, "__code__", None)):
            todo = "put your own code in place of `...` and run the cell again."
            return Reply("open", f"{self.key} not answered yet", (todo,))
        return self._mistake(results, wrong[0])

    def _mistake(self, results: list[Any], first: int) -> Reply:
        head = f"{self.key} not yet"
        got, expected = results[first], self.expected[first]
        if isinstance(got, dict) and all(isinstance(key, str) for key in expected):
            keys = [key for key in expected if not _same(got[key], expected[key], self.rtol)]
            got, expected = ({key: values[key] for key in keys} for values in (got, expected))
        case = ", ".join(
            f"{n} = {written_value(v)}" for n, v in zip(self.names, self.cases[first], strict=True)
        )
        digits = 6 if written_value(got) != written_value(expected) else 15
        right, given = (written_value(each, digits) for each in (expected, got))
        shown = (f"case      {case}", f"expected  {right}", f"got       {given}")
        seconds, rtol = self.seconds * (1 + len(self.mistakes)), max(self.rtol, self.rtol_mistakes)
        with contextlib.suppress(TimeoutError):
            made = (
                mistake
                for rank, mistake in enumerate(self.mistakes)
                if all(_same(self.of_mistake(rank, i), r, rtol) for i, r in enumerate(results))
            )
            if mistake := limited(lambda: next(made, None), seconds=seconds):
                return Reply("mistake", head, mistake.hints, shown)
        if isinstance(got, Complaint):
            return Reply("mistake", head, (str(got),), shown[:2])
        return Reply("wrong", head, self.hints, shown)

    @cached_property
    def names(self) -> list[str]:
        """Names of the values in each case, which are arguments of a function."""
        called = self.right if self.measure is returned else self.measure
        parameters = signature(called).parameters.values()
        names = [each.name for each in parameters if each.default is each.empty]
        return names[called is self.measure :]

    @cached_property
    def expected(self) -> list[Any]:
        """Expected results: the measure of the right function in each case."""
        return [self.measure(self.right, *case) for case in self.cases]

    @cached_property
    def of_mistake(self) -> Callable[[int, int], Any]:
        """Cached function of two indices: of a known wrong answer, and of the case it is run on."""
        return cache(lambda rank, number: self._measured(self.mistakes[rank].value, number))

    def _measured(self, function: Callable, number: int) -> Any:
        """Return the measure of a function in case `number`, or the Complaint that it raises."""
        try:
            got = self.measure(guarded(function), *self.cases[number])
            return _read(got, self.expected[number])
        except Complaint as complaint:
            return complaint
        except Stop:
            raise
        except BaseException as error:  # `measure` cannot use the result
            problem = f"its result cannot be used, {type(error).__name__}: {error}"
            return Complaint(problem, type(error).__name__)


def _read(got: Any, expected: Any) -> Any:
    """Convert `got` to the type of `expected`; raise Complaint if its type or shape differs."""
    if got is None and expected is not None:
        raise Complaint("it returns None; does it end with `return`?", "type")
    if isinstance(expected, dict) and isinstance(got, dict):
        return {k: _read(v, expected[k]) if k in expected else v for k, v in got.items()}
    if isinstance(expected, (bool, str, dict, set, type(None))):
        if isinstance(got := unpacked(got), type(expected)):
            return got
        kind = "None" if expected is None else f"a {type(expected).__name__}"
        raise Complaint(f"it returns {written_value(got)}; {kind} is expected.", "type")
    if (shape := shape_of(as_floats(expected))) == ():
        number, problem = _numbers.read_number(got)
        if number is None:
            raise Complaint(f"its result: {problem}", "type")
        return number
    try:
        numbers = as_floats(got)
    except (TypeError, ValueError, RuntimeError):
        raise Complaint(f"it returns {written_value(got)}; numbers are expected.", "type") from None
    if shape_of(numbers) != shape:
        shapes = f"shape {shape_of(numbers)}; {shape} is expected."
        raise Complaint(f"it returns numbers of {shapes}", "type")
    return numbers


def _same(got: Any, expected: Any, rtol: float) -> bool:
    if isinstance(got, Complaint) or isinstance(expected, Complaint):
        return getattr(got, "kind", 0) == getattr(expected, "kind", 1)
    if isinstance(expected, dict):
        alike = (_same(got[key], expected[key], rtol) for key in expected)
        return got.keys() == expected.keys() and all(alike)
    if isinstance(expected, (bool, str, set, type(None))):
        return got == expected
    return _near(as_floats(got), as_floats(expected), rtol)


def _near(got: Any, expected: Any, rtol: float) -> bool:
    if isinstance(expected, list):
        return all(_near(x, y, rtol) for x, y in zip(got, expected, strict=True))
    nan = math.isnan(got) and math.isnan(expected)
    return nan or got == expected or abs(got - expected) <= 1e-12 + rtol * abs(expected) < math.inf
