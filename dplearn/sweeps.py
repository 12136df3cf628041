"""One question about many plans, on all cores or on a cluster.

Whatever is a `concurrent.futures.Executor` will do; nothing else is asked of an engine.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from dplearn.ground import validate
from dplearn.ground.files import write_whole
from dplearn.ground.progress import ProgressLine

P = TypeVar("P")
R = TypeVar("R")

# Started afresh, not forked: the caller may have threads.
_POOLS: dict[str, Callable[[int | None], Executor]] = {
    "processes": partial(ProcessPoolExecutor, mp_context=get_context("spawn")),
    "threads": ThreadPoolExecutor,
}


@contextmanager
def executor_at(where: str, *, workers: int | None = None) -> Iterator[Executor]:
    """The executor of a name: of this machine, or of the scheduler at ``"dask://HOST:PORT"``.

    `workers` (default: one for each core) is the number of ``"processes"`` or ``"threads"`` here.
    Those of a cluster have to be able to import what they are asked.
    """
    if not where.startswith("dask://"):
        validate.one_of([*_POOLS, "dask://HOST:PORT"], executor=where)
        with _POOLS[where](workers) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        advice = 'Expected Dask to be installed: pip install "dplearn-privacy[dask]".'
        raise ModuleNotFoundError(advice) from error
    with Client(where.replace("dask://", "tcp://"), set_as_default=False) as client:
        # Otherwise two equal plans would be one draw with its answer twice.
        yield client.get_executor(pure=False)


def _ask(question: Callable[[P], R], plans: Sequence[P]) -> list[R]:
    """Answers to a batch of plans; an error tells of which plan it came."""
    answers = []
    for plan in plans:
        try:
            answers.append(question(plan))
        except Exception as error:
            error.add_note(f"This came of {plan!r}.")
            raise
    return answers


def sweep(
    question: Callable[[P], R],
    plans: Sequence[P],
    *,
    executor: Executor | str = "processes",
    batch: int = 1,
    rows: str | Path | None = None,
    progress: bool = True,
) -> list[R]:
    """Answers of ``question(plan)`` for each plan, in the order of the plans.

    `executor` is any `concurrent.futures.Executor`, or a name as in `executor_at`; `question` must
    be a function that can be sent there. `batch` plans are handed over at a time: take more where
    an answer costs less than some 20 ms. The first error ends the sweep, with a note on the plan it
    came of. Answers are appended to the file `rows` as they arrive, a line each, and not asked for
    again if they are there: plans are told apart by their repr, and answers have to be numbers,
    text, lists or dicts.

    Examples
    --------
    >>> from functools import partial
    >>> from dplearn import DPSGD
    >>> plans = [DPSGD(noise_multiplier=z, sample_rate=0.01, steps=1000) for z in (1.0, 2.0)]
    >>> question = partial(DPSGD.guarantee, delta=1e-5)
    >>> for guarantee in sweep(question, plans, executor="threads", progress=False):
    ...     print(guarantee)
    1.828 <= epsilon <= 1.829 at delta = 1.0e-05, add_remove, by pld
    0.622 <= epsilon <= 0.6221 at delta = 1.0e-05, add_remove, by pld
    """
    validate.integer(minimum=1, batch=batch)
    # An address in memory would differ the next time.
    names = [re.sub(r" at 0x\w+", "", f"{question!r} of {plan!r}") for plan in plans]
    answers: dict[int, Any] = {}
    line = ProgressLine(progress)
    with ExitStack() as stack:
        if isinstance(executor, str):
            executor = stack.enter_context(executor_at(executor))
        add = stack.enter_context(_table(rows, names, answers))
        missing, futures = [place for place in range(len(plans)) if place not in answers], {}
        for first in range(0, len(missing), batch):
            places = missing[first : first + batch]
            future = executor.submit(_ask, question, [plans[place] for place in places])
            futures[future] = places
            stack.callback(future.cancel)
        for future in as_completed(futures):
            for place, answer in zip(futures[future], future.result(), strict=True):
                add(place, answer)
            done = len(answers)
            line.show(lambda done=done: f"{done}/{len(plans)} answers", last=done == len(plans))
    return [answers[place] for place in range(len(plans))]


@contextmanager
def _table(
    path: str | Path | None, names: list[str], answers: dict[int, Any]
) -> Iterator[Callable[[int, Any], None]]:
    """Fills in the answers that a file holds; what adds another, to both."""
    if path is None:
        yield answers.__setitem__
        return
    path = Path(path)
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    if lines and not lines[-1].endswith("\n"):  # cut by what ended the last sweep
        write_whole(path, "".join(lines[:-1]).encode())
        del lines[-1]
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    for name, answer in map(json.loads, lines):
        if places.get(name):
            answers[places[name].pop(0)] = answer
    with path.open("a") as file:

        def add(place: int, answer: Any) -> None:
            try:
                text = json.dumps([names[place], answer])
            except TypeError as error:
                expected = "numbers, text, lists and dicts where rows is given"
                raise TypeError(f"Expected answers of {expected}, got {answer!r}.") from error
            file.write(text + "\n")
            file.flush()
            answers[place] = json.loads(text)[1]  # what the next sweep will read

        yield add
