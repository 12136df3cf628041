"""Any training function under audit: which canaries are in, runs that resume, and their scores."""

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

# train(included, seed): which canaries are in, shape (canaries,), and a seed for all else.
Train = Callable[[NDArray[np.bool_], int], Any]


@dataclass(frozen=True, eq=False)
class Observations:
    """Canaries of all runs, which were in and their scores, each of shape (runs, canaries).

    Examples
    --------
    >>> def train(included, seed):  # each canary with a quarter of the noise that is claimed
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
        """Bound that they prove: of two worlds for one canary a run, else of `one_run` on all.

        Canaries, runs and guesses are fixed beforehand: who adds runs until something shows has no
        confidence left. Arguments are those of `one_run`.
        """
        judge = partial(one_run, self.included, self.scores, guesses=guesses)
        if self.included.shape[1] == 1 and guesses is None:
            judge = partial(from_scores, self.scores[self.included], self.scores[~self.included])
        return judge(delta=delta, confidence=confidence, adjacency=adjacency, assume=assume)


class _Run(NamedTuple):
    """One of so many runs; a file of another audit has none of this name."""

    number: int
    runs: int
    canaries: int
    seed: int

    @property
    def drawn(self) -> tuple[NDArray[np.bool_], int]:
        """Draw by fair coins which canaries are in, and the seed of all else."""
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
    """Observations of `runs` calls of `train(included, seed)`, `canaries` in by fair coins.

    `train` returns one score per canary, higher where it rather was in, or anything of which
    `score(result)` makes them. It must use the bits of `included` for nothing but the data. All
    follows from `seed`. `path` gets a line after each run, where a killed audit goes on. The
    executor and `progress` are as in `dplearn.sweeps.sweep`; without one the runs are done here,
    one by one.
    ValueError is raised where scores are not one finite number per canary.
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
