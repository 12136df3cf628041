"""Heavy questions: computed beside the server, once for all sessions.

The reader who asks waits, and nobody else. Answers stay with the server, the oldest forgotten
first: what Streamlit keeps in its own caches any browser can clear.
"""

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pickle import dumps
from types import ModuleType
from typing import Any

_KEPT, _OPEN = 512, 16
# Half of the processors: the other half serves pages.
PLACES = max(1, (os.cpu_count() or 1) // 2)

_answers: dict[bytes, Future] = {}
_lock = threading.Lock()
# Threads until a server starts: a test, or a script, has no processes to itself.
_executor: Executor = ThreadPoolExecutor(PLACES)


class Refused(ValueError):
    """A question that is not answered now, and why."""


def start_processes() -> None:
    """Answer in processes, of low priority, from now on."""
    global _executor
    # Started afresh, as this process has threads, and at once. A new process would otherwise run
    # the script that is `__main__` again, and Streamlit calls every page it runs by that name.
    _executor = ProcessPoolExecutor(PLACES, get_context("spawn"), _settle)
    page, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        for _ in range(PLACES):
            _executor.submit(os.getpid)
    finally:
        sys.modules["__main__"] = page


def _settle() -> None:
    """In a process that answers: give way to pages, and end with the server, however that ends."""
    # A test of a page on a busy machine would wait ten times as long for what gives way to all.
    os.nice(int(os.environ.get("DPLEARN_NICE", "10")))
    server: Any = parent_process()
    threading.Thread(target=lambda: (server.join(), os._exit(1)), daemon=True).start()


def ask(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return the answer of a library function, or raise; `Refused` where it costs too much."""
    key = dumps((function, arguments, keywords))
    with _lock:
        answer = _answers.pop(key, None)
        # Once more where there is no answer for another reason than that the question was wrong.
        if answer is None or (
            answer.done() and not isinstance(answer.exception(), ValueError | None)
        ):
            waiting = sum(not other.done() for other in _answers.values())
            if waiting >= _OPEN:
                raise Refused(f"{waiting} questions are being computed; ask again in a minute.")
            try:
                answer = _executor.submit(function, *arguments, **keywords)
            except BrokenProcessPool:  # one of the processes was killed
                start_processes()
                answer = _executor.submit(function, *arguments, **keywords)
        _answers[key] = answer
        if len(_answers) > _KEPT:
            _answers.pop(next(iter(_answers)))
    try:
        return answer.result()
    except BrokenProcessPool:
        raise Refused("The computation was ended from outside; ask again.") from None
