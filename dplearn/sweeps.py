"""Evaluation of a function for many plans, on all cores or by any Executor."""

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dplearn.core.files import write_whole
from dplearn.core.progress import ProgressLine


def sweep(
    question: Callable[[Any], Any],
    plans: Sequence[Any],
    *,
    executor: Executor | None = None,
    batch: int = 1,
    rows: str | Path | None = None,
    progress: bool = True,
) -> list[Any]:
    """Return the results of ``question(plan)``, in the order of the plans.

    `executor` is any `concurrent.futures.Executor`; by default processes on all cores.
    `question` must be picklable for processes. Processes get `batch` plans at a
    time: use more if a result takes less than 20 ms. The first error ends the sweep, with
    a note naming its batch. The file `rows` gets a JSON line for each result, in order; results in
    the file are reused, for plans with equal position and repr. `progress` shows a line.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from dplearn import DPSGD
    >>> plans = [DPSGD(noise_multiplier=z, sample_rate=0.01, steps=1000) for z in (1.0, 2.0)]
    >>> question, threads = lambda plan: plan.guarantee(delta=1e-5), ThreadPoolExecutor(2)
    >>> for guarantee in sweep(question, plans, executor=threads, progress=False):
    ...     print(guarantee)
    1.828 <= epsilon <= 1.829 at delta = 1.0e-05, add_remove, by pld
    0.622 <= epsilon <= 0.6221 at delta = 1.0e-05, add_remove, by pld
    """
    # Remove addresses in memory, which differ in every process.
    names = [f"{n}: {question!r} of {plan!r}" for n, plan in enumerate(plans)]
    names = [re.sub(r" at 0x\w+", "", name) for name in names]
    path, line = None if rows is None else Path(rows), ProgressLine(progress)
    lines = path.read_text().splitlines(keepends=True) if path and path.exists() else []
    if path and lines and not lines[-1].endswith("\n"):  # incomplete line of an interrupted sweep
        write_whole(path, "".join(lines[:-1]).encode())
    known = dict(json.loads(text) for text in lines if text.endswith("\n"))
    missing = [place for place, name in enumerate(names) if name not in known]
    with ExitStack() as stack:
        if executor is None:  # spawn, not fork: the caller may have threads
            executor = stack.enter_context(ProcessPoolExecutor(mp_context=get_context("spawn")))
        answers = executor.map(question, [plans[place] for place in missing], chunksize=batch)
        file = stack.enter_context(path.open("a")) if path else None
        for done, place in enumerate(missing, len(plans) - len(missing) + 1):
            try:
                known[names[place]] = next(answers)
            except Exception as error:
                error.add_note(f"This came of the batch that begins with {plans[place]!r}.")
                raise
            if file:
                text = json.dumps([names[place], known[names[place]]])
                known |= [json.loads(text)]  # the same value as read from the file
                print(text, file=file, flush=True)
            line.show(lambda done=done: f"{done}/{len(plans)} answers", last=done == len(plans))
    return [known[name] for name in names]
