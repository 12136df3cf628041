"""Runs of any training function for an audit: random canaries and their scores."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.audit.bounds import Assumption, LowerBound, from_scores, one_run
from dplearn.core import validate
from dplearn.core.guarantee import Adjacency

# train(included, seed) returns scores; `included` holds a flag per canary.
Train = Callable[[NDArray[np.bool_], int], ArrayLike]


@dataclass(frozen=True, eq=False)
class Observations:
    """Scores of the canaries of all runs, and whether each canary was included.

    Parameters
    ----------
    included : array of bool, shape (runs, canaries)
    scores : array of float, the same shape

    Examples
    --------
    >>> def train(included, seed):  # noise of deviation 1/4 per canary
    ...     return included + 0.25 * np.random.default_rng(seed).normal(size=included.size)
    >>> print(observe(train, canaries=2000).bound(delta=1e-5))
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
        """Return a lower bound on epsilon, by `from_scores` for one canary per run, else `one_run`.

        Fix canaries, runs and `guesses` (which select `one_run`) beforehand: adding runs until the
        bound is positive voids the confidence. Parameters are those of `one_run`.
        """
        judge = partial(one_run, self.included, self.scores, guesses=guesses)
        if self.included.shape[1] == 1 and guesses is None:
            judge = partial(from_scores, self.scores[self.included], self.scores[~self.included])
        return judge(delta=delta, confidence=confidence, adjacency=adjacency, assume=assume)


def observe(train: Train, *, canaries: int, runs: int = 1, seed: int = 0) -> Observations:
    """Return flags and scores of canaries in `runs` independent calls of `train(included, seed)`.

    Parameters
    ----------
    train : callable from flags of the included canaries, shape (canaries,), each True with
        probability 1/2, and a seed to one score per canary, higher if it seems included; it must
        use the flags only to choose the data
    canaries : int >= 1
    runs : int >= 1
    seed : int >= 0, determines all draws; each call gets another seed, by which it may store its
        result

    Raises
    ------
    ValueError unless the scores of a call are one finite number per canary
    """
    validate.integer(minimum=1, canaries=canaries, runs=runs)
    validate.integer(minimum=0, seed=seed)
    rows: list[tuple[NDArray, NDArray]] = []
    for rng in (np.random.default_rng([seed, number]) for number in range(runs)):
        included = rng.random(canaries) < 0.5
        scores = np.asarray(train(included.copy(), int(rng.integers(2**31))), dtype=float)
        if scores.shape != included.shape or not np.all(np.isfinite(scores)):
            raise ValueError(
                f"Expected {canaries} finite scores, one per canary, got shape {scores.shape} "
                f"and {np.sum(~np.isfinite(scores))} that are not finite."
            )
        rows.append((included, scores))
    return Observations(*map(np.array, zip(*rows, strict=True)))
