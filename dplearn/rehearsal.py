"""How well a run would do at each epsilon, tried on records that nobody has to protect."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dplearn.calibrate import smallest_noise_multiplier
from dplearn.ground import validate
from dplearn.run import DPSGD, natural_adjacency


class Rehearsal(NamedTuple):
    """What was reached with the noise that an epsilon demands; on other records it may differ."""

    epsilon: float
    plan: DPSGD  # with that noise
    scores: tuple[float, ...]  # of the repeats

    @property
    def mean(self) -> float:
        """Mean score."""
        return math.fsum(self.scores) / len(self.scores)


def rehearse(
    score: Callable[[DPSGD, int], float],
    plan: DPSGD,
    *,
    epsilons: Sequence[float],
    delta: float,
    repeats: int = 3,
) -> tuple[Rehearsal, ...]:
    """Utility at each epsilon before anything is spent, an estimate for records like those used.

    ``score(plan, seed)`` does the run on *public or made-up* records and returns how good it is,
    for seeds 0, 1, ...; on private ones each call costs epsilon, and the choice among them more:
    see `Tuned`. The plan's noise is replaced by the least that is proved enough; an epsilon of
    ``math.inf`` is a run without noise.

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
    ((mechanism, steps),) = replace(plan, noise_multiplier=1.0).composed.parts()
    adjacency = natural_adjacency(plan.sampling)

    def least(epsilon: float) -> float:
        asked = {"epsilon": epsilon, "delta": delta, "steps": steps}
        return smallest_noise_multiplier(mechanism, **asked, adjacency=adjacency).value

    trials = [replace(plan, noise_multiplier=least(e) if e < math.inf else 0.0) for e in epsilons]
    return tuple(
        Rehearsal(epsilon, trial, tuple(float(score(trial, seed)) for seed in range(repeats)))
        for epsilon, trial in zip(epsilons, trials, strict=True)
    )
