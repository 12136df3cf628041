"""Any training function under audit: which canaries are in, runs that resume, and their scores."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.audit.bounds import Assumption, LowerBound, from_scores, one_run
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency

# train(included, seed): which canaries are in, shape (canaries,), and a seed for all else.
Train = Callable[[NDArray[np.bool_], int], Any]
# Seconds between two pictures of the progress line.
_PAUSE = 0.2


@dataclass(frozen=True, eq=False)
class Observations:
    """Canaries of all runs, each array of shape (runs, canaries)."""

    included: NDArray[np.bool_]
    scores: NDArray[np.float64]

    def bound(self, **target: Any) -> LowerBound:
        """What they prove: two worlds for one canary a run, else `one_run` on all of them."""
        if self.included.shape[1] > 1 or "guesses" in target:
            return one_run(self.included, self.scores, **target)
        return from_scores(self.scores[self.included], self.scores[~self.included], **target)


def observe(
    train: Train,
    *,
    canaries: int,
    runs: int = 1,
    seed: int = 0,
    score: Callable[[Any], ArrayLike] | None = None,
    path: str | Path | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> Observations:
    """Run `train(included, seed)` so often; each canary is in a run with probability 1/2.

    It returns one score per canary, higher where it rather was in, or anything of which
    `score(result)` makes them. The audit's level rests on the bits of `included` alone: `train`
    must use them for nothing but the data. All follows from `seed`.

    `path` has one line per run, on the disk before the next: what was killed goes on there. The
    executor, of any kind, gets one task per run; without one they run here, one by one.

    ValueError is raised for a file of another audit, and for scores that are not one finite number
    per canary.
    """
    validate.integer(minimum=1, canaries=canaries, runs=runs)
    validate.integer(minimum=0, seed=seed)
    plans = [_planned(seed, run, canaries) for run in range(runs)]
    with _rows(path, {"canaries": canaries, "runs": runs, "seed": seed}) as (scores, keep):
        todo = [run for run in range(runs) if run not in scores]
        began, due = time.monotonic(), 0.0
        for run, values in _results(train, score, plans, todo, executor):
            keep(run, scores.setdefault(run, _checked(values, run, canaries)))
            if progress and (len(scores) == runs or time.monotonic() >= due):
                due = time.monotonic() + _PAUSE
                pace = (time.monotonic() - began) / (len(scores) - runs + len(todo))
                _show(len(scores), runs, pace * (runs - len(scores)))
    return Observations(
        np.array([included for included, _ in plans]), np.array([scores[r] for r in range(runs)])
    )


def audit(
    train: Train,
    *,
    canaries: int,
    delta: float,
    confidence: float = 0.999,
    adjacency: Adjacency = "add_remove",
    assume: Assumption = "any",
    guesses: tuple[int, int] | None = None,
    **options: Any,
) -> LowerBound:
    """What the outputs of `train` prove about its epsilon: `observe`, then one look.

    How many canaries, runs and guesses there are is fixed beforehand: who adds runs until
    something shows has no confidence left. Options are those of `observe`.

    Examples
    --------
    >>> def train(included, seed):  # each canary with a quarter of the noise that is claimed
    ...     return included + 0.25 * np.random.default_rng(seed).normal(size=included.size)
    >>> print(audit(train, canaries=2000, delta=1e-5, progress=False))
    these outputs are impossible, at 99.9 %, for a program with epsilon <= 3.66 \
at delta = 1.0e-05, add_remove, by one_run
    """
    target = {"delta": delta, "confidence": confidence, "adjacency": adjacency, "assume": assume}
    fixed = {} if guesses is None else {"guesses": guesses}
    return observe(train, canaries=canaries, **options).bound(**target, **fixed)


def _planned(seed: int, run: int, canaries: int) -> tuple[NDArray[np.bool_], int]:
    """Which canaries are in a run, and the seed of all else."""
    rng = np.random.default_rng([seed, run])
    return rng.random(canaries) < 0.5, int(rng.integers(2**31))


def _scores(train: Train, score: Callable | None, included: NDArray, seed: int) -> list[float]:
    """One run, wherever it is done."""
    result = train(included.copy(), seed)
    return np.asarray(result if score is None else score(result), dtype=float).tolist()


def _results(train: Train, score, plans, todo, executor: Executor | None) -> Iterator[tuple]:
    """Number and scores of each run, as they are done; nothing goes on after an error."""
    if executor is None:
        yield from ((run, _scores(train, score, *plans[run])) for run in todo)
        return
    tasks = {executor.submit(_scores, train, score, *plans[run]): run for run in todo}
    try:
        for task in as_completed(tasks):
            yield tasks[task], task.result()
    finally:
        for task in tasks:
            task.cancel()


def _checked(values: Any, run: int, canaries: int) -> list[float]:
    array = np.asarray(values, dtype=float)
    if array.shape != (canaries,) or not np.all(np.isfinite(array)):
        raise ValueError(
            f"Expected {canaries} finite scores, one per canary, got shape {array.shape} and "
            f"{np.sum(~np.isfinite(array))} not finite in run {run}."
        )
    return values


@contextmanager
def _rows(path: str | Path | None, about: dict[str, int]) -> Iterator[tuple[dict, Callable]]:
    """Scores by run that the file has, and what adds a run to it, safe from kill -9."""
    if path is None:
        yield {}, lambda run, scores: None
        return
    path = Path(path)
    content = path.read_bytes() if path.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]  # a line that was cut short is done again
    head, *rows = [json.loads(line) for line in whole.splitlines()] or [None]
    if head not in (None, about):
        raise ValueError(f"Expected path of an audit with {about}, got {head} in {path}.")
    with path.open("r+b" if content else "wb") as file:
        file.seek(len(whole))
        file.truncate()

        def write(row: dict) -> None:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

        if head is None:
            write(about)
        yield (
            {row["run"]: row["scores"] for row in rows},
            lambda run, scores: write({"run": run, "scores": scores}),
        )


def _show(done: int, runs: int, seconds: float) -> None:
    """Overwrite the line of progress; it ends with the last run."""
    text = f"run {done}/{runs}" + (f"  {seconds:.0f} s to go" if done < runs else "")
    print("\r" + text.ljust(40), end="\n" if done == runs else "", file=sys.stderr, flush=True)
