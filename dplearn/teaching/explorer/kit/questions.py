"""Expensive library calls, each computed once for all sessions, in worker processes.

Only the session that makes a call waits. This module caches the latest results, because any
browser can clear Streamlit's caches.
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

# Maximum numbers of cached results and of unfinished calls.
_CACHED, _OPEN = 512, 16
# Half of the cores compute; the other half is left to the server of the pages.
_WORKERS = max(1, (os.cpu_count() or 1) // 2)

_answers: dict[bytes, Future] = {}
_lock = threading.Lock()
# Use threads until a server starts, so that tests and scripts start no processes.
_executor: Executor = ThreadPoolExecutor(_WORKERS)


class Refused(ValueError):
    """Error that states why the server does not compute a result now."""


def start_processes() -> None:
    """Start worker processes of low priority, which compute all further calls by `ask`."""
    global _executor
    # Spawn, because this process has threads. A spawned process runs `__main__` again, which
    # is the page that Streamlit runs; therefore start all now, with an empty `__main__`.
    _executor = ProcessPoolExecutor(_WORKERS, get_context("spawn"), _settle)
    page, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        for _ in range(_WORKERS):
            _executor.submit(os.getpid)
    finally:
        sys.modules["__main__"] = page


def _settle() -> None:
    """Lower the priority of a worker process, and end it when the server ends."""
    # Tests set DPLEARN_NICE=0: on a busy machine, low priority makes workers 10 times slower.
    os.nice(int(os.environ.get("DPLEARN_NICE", "10")))
    server: Any = parent_process()
    threading.Thread(target=lambda: (server.join(), os._exit(1)), daemon=True).start()


def ask(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return the result of a call, cached or computed; raise `Refused` if too many calls wait."""
    key = dumps((function, arguments, keywords))
    with _lock:
        answer = _answers.pop(key, None)
        # Repeat a call that failed, except with ValueError, which would only be raised again.
        failed = answer and answer.done() and not isinstance(answer.exception(), ValueError | None)
        if not answer or failed:
            waiting = sum(not other.done() for other in _answers.values())
            if waiting >= _OPEN:
                raise Refused(f"{waiting} questions are being computed; ask again in a minute.")
            try:
                answer = _executor.submit(function, *arguments, **keywords)
            except BrokenProcessPool:  # a worker process was killed
                start_processes()
                answer = _executor.submit(function, *arguments, **keywords)
        _answers[key] = answer
        if len(_answers) > _CACHED:
            _answers.pop(next(iter(_answers)))
    try:
        return answer.result()
    except BrokenProcessPool:
        raise Refused("The computation was ended from outside; ask again.") from None
