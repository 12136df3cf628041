"""Tools to choose epsilon: nine guarantees of one run, and scores of runs on public records."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dplearn.calibrate import smallest_noise_multiplier
from dplearn.core import validate
from dplearn.core.guarantee import Guarantee
from dplearn.federated import user_level
from dplearn.run import DPSGD
from dplearn.tuning import Tuned


def readings(plan: DPSGD, *, delta: float, records: int, of_one: int) -> dict[str, Guarantee]:
    """Return nine guarantees of one DP-SGD run, keyed by what each assumes.

    Parameters
    ----------
    plan : DPSGD with Poisson sampling
    delta : float in (0, 1), of all guarantees except the first and the third
    records : int >= 2, number of training records, which is public
    of_one : int >= 1, number of records of one person in the last guarantee

    Returns
    -------
    dict of str to Guarantee, brackets or upper bounds, each with its own delta and adjacency

    Raises
    ------
    ValueError for a plan without Poisson sampling

    Examples
    --------
    >>> plan = DPSGD(noise_multiplier=4.0, sample_rate=512 / 1438, steps=80)
    >>> result = readings(plan, delta=1e-4, records=1438, of_one=110)
    >>> [float(f"{stated.epsilon:.3g}") for stated in result.values()]
    [2.56, 3.03, 3.97, 3.36, 5.7, 6.62, 7.91, 10.2, 4390.0]
    """
    validate.instance(DPSGD, plan=plan)
    if plan.sampling != "poisson":
        raise ValueError(f"Expected sampling='poisson' in the plan, got {plan.sampling!r}.")
    validate.integer(minimum=2, records=records)
    fixed = replace(plan, sampling="without_replacement")
    everybody = replace(plan, sampling="none", sample_rate=1.0)
    return {
        f"one victim expected: δ = 1/{records}": plan.guarantee(delta=1 / records),
        f"as planned: δ = {delta:g}": plan.guarantee(delta=delta),
        "cautious: δ = 1e-06": plan.guarantee(delta=1e-6),
        "by Rényi DP, as most tools print it": plan.guarantee("rdp", delta=delta),
        "best of about 10 settings": Tuned(plan, tries=10).guarantee(delta=delta),
        "batches were only shuffled": replace(plan, sampling="shuffled").guarantee(delta=delta),
        "batches of fixed size, a record replaced": fixed.guarantee(delta=delta),
        "the attacker knows the lots": everybody.guarantee(delta=delta),
        f"a person with {of_one} records": user_level(plan, records=of_one, delta=delta),
    }


class Rehearsal(NamedTuple):
    """Scores of training runs whose noise is calibrated to one epsilon.

    Parameters
    ----------
    epsilon : float > 0
    plan : DPSGD with the smallest noise that is proved to give `epsilon`
    scores : tuple of float, one per seed
    """

    epsilon: float
    plan: DPSGD
    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return math.fsum(self.scores) / len(self.scores)


def rehearse(
    score: Callable[[DPSGD, int], float],
    plan: DPSGD,
    *,
    epsilons: Sequence[float],
    delta: float,
    repeats: int = 3,
) -> tuple[Rehearsal, ...]:
    """Return scores of runs on public records, with noise calibrated to each epsilon.

    They estimate the utility of similar private records before any budget is spent. On private
    records each call of `score` would spend epsilon, and so would choosing the best: see `Tuned`.

    Parameters
    ----------
    score : callable; ``score(plan, seed)`` trains on *public or synthetic* records, returns a float
    plan : DPSGD, whose noise is replaced by the smallest that is proved sufficient
    epsilons : sequence of float > 0; ``math.inf`` is a run without noise
    delta : float in (0, 1)
    repeats : int >= 1, number of seeds 0, 1, ... per epsilon

    Returns
    -------
    Tuple of Rehearsal, one per epsilon

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

    def least_noise(epsilon: float) -> float:
        if epsilon == math.inf:
            return 0.0
        return smallest_noise_multiplier(plan, epsilon=epsilon, delta=delta).value

    candidates = [replace(plan, noise_multiplier=least_noise(epsilon)) for epsilon in epsilons]
    rehearsed = []
    for epsilon, candidate in zip(epsilons, candidates, strict=True):
        scores = tuple(float(score(candidate, seed)) for seed in range(repeats))
        rehearsed.append(Rehearsal(epsilon, candidate, scores))
    return tuple(rehearsed)
