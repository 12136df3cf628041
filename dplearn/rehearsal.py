"""How well a run would do at each epsilon, tried on records that nobody has to protect."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dplearn.accountants import accountant_of
from dplearn.calibrate import smallest_noise_multiplier
from dplearn.ground import validate
from dplearn.run import DPSGD, natural_adjacency


@dataclass(frozen=True)
class Rehearsal:
    """What was reached with the noise that an epsilon demands; on other records it may differ."""

    epsilon: float
    plan: DPSGD  # with that noise
    scores: tuple[float, ...]  # of the repeats

    @property
    def mean(self) -> float:
        """Mean score."""
        return statistics.fmean(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else math.nan


def rehearse(
    score: Callable[[DPSGD, int], float],
    plan: DPSGD,
    *,
    epsilons: Sequence[float],
    delta: float,
    repeats: int = 3,
) -> tuple[Rehearsal, ...]:
    """Utility at each epsilon before anything is spent, an estimate for records like those used.

    Parameters
    ----------
    score : callable
        ``score(plan, seed)`` does the run on *public or made-up* records and returns how good it
        is. On private ones each call costs epsilon, and the choice among them more: see `Tuned`.
    plan : DPSGD
        The run; its noise multiplier is replaced by the least that is proved enough.
    epsilons : sequence of float
        Wanted guarantees, > 0; ``math.inf`` is a run without noise.
    delta : float
        In (0, 1).
    repeats : int
        Runs per epsilon, with seeds 0, 1, ...

    Examples
    --------
    The error of a noisy sum needs no records at all:

    >>> plan = DPSGD(noise_multiplier=1.0, sample_rate=1.0, steps=1, sampling="none")
    >>> curve = rehearse(lambda p, seed: p.noise_multiplier, plan, epsilons=(1, 2), delta=1e-5)
    >>> [round(point.mean, 3) for point in curve]
    [3.731, 1.994]
    """
    validate.instance(DPSGD, plan=plan)
    validate.integer(minimum=1, repeats=repeats)
    drawing, curve = plan.drawing, []
    for epsilon in epsilons:
        noise = 0.0
        if epsilon < math.inf:
            noise = smallest_noise_multiplier(
                accountant_of("pld"),
                mechanism=replace(plan, noise_multiplier=1.0).mechanism,
                epsilon=epsilon,
                delta=delta,
                steps=-(-plan.steps // drawing.batches),
                adjacency=natural_adjacency(plan.sampling),
            ).value
        trial = replace(plan, noise_multiplier=noise)
        scores = tuple(float(score(trial, seed)) for seed in range(repeats))
        curve.append(Rehearsal(epsilon, trial, scores))
    return tuple(curve)
