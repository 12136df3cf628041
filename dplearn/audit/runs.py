"""Audit runs of any training function: random canaries, resumable runs, and their scores."""

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.audit.bounds import Assumption, LowerBound, from_scores, one_run
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.sweeps import sweep

# train(included, seed): flags of the included canaries, shape (canaries,), and a seed.
Train = Callable[[NDArray[np.bool_], int], Any]


@dataclass(frozen=True, eq=False)
class Observations:
    """Inclusion flags and scores of the canaries of all runs, each of shape (runs, canaries).

    Examples
    --------
    >>> def train(included, seed):  # noise of deviation 1/4 per canary
    ...     return included + 0.25 * np.random.default_rng(seed).normal(size=included.size)
    >>> print(observe(train, canaries=2000, progress=False).bound(delta=1e-5))
    epsilon > 4.411 at delta = 1.0e-05, add_remove, by one_run (99.9 % confidence)
    """

    included: NDArray[np.bool_]
    scores: NDArray[np.float64]

    def bound(
        self,
        *,
        delta: float,
        guesses: tuple[int, int] | None = None,
        confidence: float = 0.999,
        adjacency: Adjacency = "add_remove",
        assume: Assumption = "any",
    ) -> LowerBound:
        """Return the bound by `from_scores` for one canary per run, else by `one_run` on all.

        Fix canaries, runs and `guesses` (which select `one_run`) beforehand: adding runs until the
        bound is positive voids the confidence. Arguments are those of `one_run`.
        """
        judge = partial(one_run, self.included, self.scores, guesses=guesses)
        if self.included.shape[1] == 1 and guesses is None:
            judge = partial(from_scores, self.scores[self.included], self.scores[~self.included])
        return judge(delta=delta, confidence=confidence, adjacency=adjacency, assume=assume)


class _Run(NamedTuple):
    """Key of one run in the file of rows; it differs from every key of another audit."""

    number: int
    runs: int
    canaries: int
    seed: int

    @property
    def drawn(self) -> tuple[NDArray[np.bool_], int]:
        """Inclusion flags drawn by fair coins, and the seed of the training."""
        rng = np.random.default_rng([self.seed, self.number])
        return rng.random(self.canaries) < 0.5, int(rng.integers(2**31))


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
    """Return observations of `runs` independent calls of `train(included, seed)`.

    Fair coins choose the `canaries` that are included. `train` returns one score per canary, higher
    if it seems included, or a result that `score(result)` turns into scores. It must use `included`
    only to choose the data. `seed` determines all draws. Each run adds a line to the file `path`,
    from which a killed audit resumes. `executor` and `progress` are as in `dplearn.sweeps.sweep`;
    without an executor the runs are done one by one in this process.
    ValueError is raised unless the scores are one finite number per canary.
    """
    validate.integer(minimum=1, canaries=canaries, runs=runs)
    validate.integer(minimum=0, seed=seed)
    plans = [_Run(number, runs, canaries, seed) for number in range(runs)]
    question = partial(_scores, train, score)
    with ThreadPoolExecutor(1) as here:
        rows = sweep(question, plans, executor=executor or here, rows=path, progress=progress)
    return Observations(np.array([plan.drawn[0] for plan in plans]), np.array(rows))


def _scores(train: Train, score: Callable[[Any], ArrayLike] | None, run: _Run) -> list[float]:
    result = train(*run.drawn)
    array = np.asarray(result if score is None else score(result), dtype=float)
    if array.shape != (run.canaries,) or not np.all(np.isfinite(array)):
        raise ValueError(
            f"Expected {run.canaries} finite scores, one per canary, got shape {array.shape} "
            f"and {np.sum(~np.isfinite(array))} that are not finite."
        )
    return array.tolist()
