"""Lower confidence bounds on epsilon from observations."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.accountants.pld import PLD
from dplearn.audit import theorems
from dplearn.core import validate
from dplearn.core.guarantee import ADJACENCIES, Adjacency, Guarantee, read_back, round_down
from dplearn.mechanisms import Gaussian
from dplearn.mechanisms.sampling_scheme import default_adjacency
from dplearn.run import DPSGD

# Assumption about the program: none, or a Gaussian trade-off curve.
Assumption = Literal["any", "gaussian"]
# Noise multipliers that `two_worlds` tries, divided by that of the plan, in descending order.
_NOISES = tuple(math.exp(0.02 * k) for k in range(100, -76, -1))


@dataclass(frozen=True)
class LowerBound:
    """Lower bound on a program's epsilon, proved by its outputs; 0 does not prove privacy.

    Parameters
    ----------
    epsilon : float >= 0: a program of this epsilon or less is unlikely to give the outputs
    delta : float in [0, 1]
    method : "one_run", "two_worlds", or "plan_curve" (from `two_worlds`)
    confidence : float in (0, 1), of one test, planned before the runs
    adjacency : "add_remove", "replace_one" or "zero_out"
    assume : "any" program, or a "gaussian" trade-off curve

    Examples
    --------
    >>> print(LowerBound(epsilon=2.1, delta=1e-5, confidence=0.999, method="one_run"))
    epsilon > 2.1 at delta = 1.0e-05, add_remove, by one_run (99.9 % confidence)
    """

    epsilon: float
    delta: float
    method: str
    confidence: float = 0.999
    adjacency: Adjacency = "add_remove"
    assume: Assumption = "any"

    def __post_init__(self) -> None:
        validate.between(0, 1, delta=self.delta)
        validate.probability(confidence=self.confidence)
        validate.one_of(ADJACENCIES, adjacency=self.adjacency)
        validate.one_of(get_args(Assumption), assume=self.assume)

    def contradicts(self, guarantee: Guarantee) -> bool:
        """Return whether the bound refutes a guarantee, at the bound's confidence.

        ValueError is raised if the two cannot be compared: the guarantee is not an upper bound, or
        has another adjacency or a larger delta. A bound that assumes a Gaussian may refute a true
        guarantee with another trade-off curve, such as that of Poisson sampling.
        """
        smaller = guarantee.delta <= self.delta * (1 + 1e-12)
        if not (guarantee.is_bound and smaller and guarantee.adjacency == self.adjacency):
            raise ValueError(
                f"Expected a bound from above at delta <= {self.delta:g} under {self.adjacency}, "
                f"got guarantee={str(guarantee)!r}."
            )
        return self.epsilon > 0 and guarantee.epsilon <= self.epsilon

    def __str__(self) -> str:
        proved = f"epsilon > {round_down(self.epsilon)}" if self.epsilon else "nothing is proved"
        at = f"delta = {read_back(self.delta)}, {self.adjacency}, by {self.method}"
        premise = ", if its noise is Gaussian" if self.assume == "gaussian" else ""
        premise += ", of a run with other noise" if self.method == "plan_curve" else ""
        return f"{proved} at {at} ({round_down(100 * self.confidence, 6)} % confidence{premise})"


def from_counts(
    *,
    true_positives: int,
    positives: int,
    false_positives: int,
    negatives: int,
    delta: float,
    confidence: float = 0.999,
    adjacency: Adjacency = "add_remove",
    assume: Assumption = "any",
) -> LowerBound:
    """Return a lower bound on epsilon from counts of runs with a canary and runs without it.

    Runs are independent. Each error rate has a Clopper-Pearson limit, which it exceeds with
    probability (1 - confidence) / 2 at most. Other parameters are fields of `LowerBound`.

    Parameters
    ----------
    true_positives : int in [0, positives], runs where the attacker guessed "present" rightly, by a
        rule chosen on other runs, as `from_scores` does
    positives : int >= 1
    false_positives : int in [0, negatives]
    negatives : int >= 1

    Raises
    ------
    ValueError if a number is out of range

    Examples
    --------
    >>> counts = {"true_positives": 480, "positives": 500, "false_positives": 5, "negatives": 500}
    >>> print(from_counts(**counts, delta=1e-5))
    epsilon > 3.289 at delta = 1.0e-05, add_remove, by two_worlds (99.9 % confidence)
    """
    validate.integer(minimum=1, positives=positives, negatives=negatives)
    validate.integer(minimum=0, maximum=positives, true_positives=true_positives)
    validate.integer(minimum=0, maximum=negatives, false_positives=false_positives)
    bound = LowerBound(0.0, delta, "two_worlds", confidence, adjacency, assume)
    return _of(bound, _strength(bound, true_positives, positives, false_positives, negatives))


def error_limits(
    true_positives: int, positives: int, false_positives: int, negatives: int, *, confidence: float
) -> tuple[float, float]:
    """Return upper confidence limits of the false positive and the false negative rate."""
    limit = partial(theorems.clopper_pearson_upper, confidence=confidence)
    missed = limit(errors=positives - true_positives, trials=positives)
    return limit(errors=false_positives, trials=negatives), missed


def _strength(bound: LowerBound, *counts: int) -> float:
    """Return a lower bound on epsilon, or on a Gaussian's mu, from counts as in `error_limits`."""
    fpr, fnr = error_limits(*counts, confidence=bound.confidence)
    if bound.assume == "any":
        return theorems.audit_epsilon(
            false_positive_rate=fpr, false_negative_rate=fnr, delta=bound.delta
        )
    return max(0.0, theorems.audit_mu(false_positive_rate=fpr, false_negative_rate=fnr))


def _of(bound: LowerBound, strength: float) -> LowerBound:
    """Return `bound` with epsilon from `strength`, which is epsilon itself or a Gaussian's mu."""
    if bound.assume == "gaussian":
        validate.probability(delta=bound.delta)
        gaussian = Gaussian(1 / max(strength, 1e-9))
        strength = PLD().epsilon(gaussian, delta=bound.delta).lower if strength > 1e-9 else 0.0
    return replace(bound, epsilon=strength)


def two_worlds(
    looks: Sequence[tuple[int, int, int, int]],
    *,
    plan: DPSGD,
    delta: float,
    planned: int,
    confidence: float = 0.95,
) -> LowerBound:
    """Return a lower bound on epsilon from counts at planned times, by the plan's trade-off curve.

    The program is assumed to be the plan with an unknown noise multiplier. The bound is the
    epsilon of the smallest multiplier tried whose trade-off curve some counts refute;
    `PLD.true_positive_rate` bounds true positive rates from above. Refuting the plan's own
    multiplier assumes only that the counts of a correct program are binomial.

    Parameters
    ----------
    looks : list of (true_positives, positives, false_positives, negatives), cumulative at each time
    plan : DPSGD that the program claims to follow
    delta : float in (0, 1), of the bound
    planned : int >= len(looks), number of tests, fixed before the first run; each has an
        equal part of 1 - confidence
    confidence : float in (0, 1), over all tests together

    Returns
    -------
    LowerBound, under the adjacency of `plan`. It contradicts a correct program with probability at
        most 1 - confidence, whichever test is the last.

    Raises
    ------
    ValueError if there are more tests than planned

    Examples
    --------
    >>> plan = DPSGD(noise_multiplier=1.43, sample_rate=0.1, steps=60)
    >>> two_worlds([(78, 100, 5, 100)], plan=plan, delta=1e-5, planned=17).epsilon > 10
    True
    """
    validate.integer(minimum=max(1, len(looks)), planned=planned)
    bound = LowerBound(0.0, delta, "plan_curve", confidence, default_adjacency(plan.sampling))
    limits = [error_limits(*look, confidence=1 - (1 - confidence) / planned) for look in looks]

    def noisy(rank: int) -> DPSGD:
        return replace(plan, noise_multiplier=plan.noise_multiplier * _NOISES[rank])

    def allowed(rank: int) -> bool:
        find = partial(PLD().true_positive_rate, noisy(rank).composed, adjacency=bound.adjacency)
        pairs = [pair for pair in limits if 0 < pair[0] < 1]
        return all(1 - fnr <= find(false_positive_rate=fpr)[1] for fpr, fnr in pairs)

    first = bisect_left(range(len(_NOISES)), True, key=allowed)
    return replace(bound, epsilon=noisy(first - 1).guarantee(delta=delta).lower if first else 0.0)


def from_scores(
    present: ArrayLike,
    absent: ArrayLike,
    *,
    delta: float,
    confidence: float = 0.999,
    adjacency: Adjacency = "add_remove",
    assume: Assumption = "any",
) -> LowerBound:
    """Return a lower bound on epsilon from one score per independent run.

    The first half of the runs, in their order, chooses the threshold; only the second half is
    tested with it. Other parameters are fields of `LowerBound`.

    Parameters
    ----------
    present : array of float, scores of runs with the canary
    absent : array of float, scores of runs without it

    Raises
    ------
    ValueError for fewer than two scores
    """
    both = [_finite(scores) for scores in (present, absent)]
    tried, judged = zip(*(np.split(scores, [len(scores) // 2]) for scores in both), strict=True)
    if not min(map(len, tried)):
        raise ValueError("Expected two scores or more with the canary and without, got fewer.")
    bound = LowerBound(0.0, delta, "two_worlds", confidence, adjacency, assume)

    def counts(runs: tuple[NDArray, ...], threshold: float) -> tuple[int, int, int, int]:
        positives, alarms = (int(np.sum(scores > threshold)) for scores in runs)
        return positives, runs[0].size, alarms, runs[1].size

    def worth(threshold: float) -> tuple[float, float]:
        """Return the bound from the first halves, and minus the sum of the two error rates."""
        found, n, alarms, m = first = counts(tried, threshold)
        return _strength(bound, *first), -(alarms / m + (n - found) / n)

    shares = np.linspace(0, 1, 50)
    thresholds = np.unique(np.quantile(np.concatenate(tried), shares, method="lower"))
    return _of(bound, _strength(bound, *counts(judged, max(thresholds.tolist(), key=worth))))


def from_guesses(
    *,
    canaries: int,
    guesses: int,
    correct: int,
    delta: float,
    confidence: float = 0.999,
    adjacency: Adjacency = "add_remove",
    assume: Assumption = "any",
) -> LowerBound:
    """Return a lower bound on epsilon from guesses on canaries, each included with probability 1/2.

    Inclusions are independent. Canaries of one run may affect each other, and several runs count
    together. The number of guesses must be fixed before the outputs are seen, as by `one_run`. The
    theorem is that of Mahloujifar et al. (2024) for the trade-off curve of (epsilon, delta)-DP,
    which loses less to delta than that of Steinke et al. (2023), or for a Gaussian's. A program may
    reveal all guessed canaries with probability canaries * delta / guesses: unless that is below 1
    - confidence, the bound is 0. Other parameters are fields of `LowerBound`.

    Parameters
    ----------
    canaries : int >= 1
    guesses : int in [1, canaries]
    correct : int in [0, guesses]

    Examples
    --------
    >>> print(from_guesses(canaries=1000, guesses=100, correct=98, delta=1e-5))
    epsilon > 2.102 at delta = 1.0e-05, add_remove, by one_run (99.9 % confidence)
    """
    bound = LowerBound(0.0, delta, "one_run", confidence, adjacency, assume)
    return _proved(bound, canaries, [(1.0, guesses, correct)])


def _proved(bound: LowerBound, canaries: int, looks: list[tuple[float, int, int]]) -> LowerBound:
    """Return the best bound of the tests `looks`: (share of 1 - confidence, guesses, correct)."""
    dp = partial(theorems.least_of_dp, delta=bound.delta)
    curve = dp if bound.assume == "any" else theorems.least_of_gaussian
    proved = partial(theorems.refuted_by_guesses, curve, canaries=canaries)
    level = 1 - bound.confidence
    proofs = (proved(guesses=n, correct=k, chance=share * level) for share, n, k in looks)
    return _of(bound, max(proofs))


def one_run(
    included: ArrayLike,
    scores: ArrayLike,
    *,
    guesses: tuple[int, int] | None = None,
    delta: float,
    confidence: float = 0.999,
    adjacency: Adjacency = "add_remove",
    assume: Assumption = "any",
) -> LowerBound:
    """Return a lower bound on epsilon from one score per canary of one or more runs.

    Equal scores are ordered so that the fewest guesses are right, since the theorem is about orders
    independent of which canaries are included. Other parameters are fields of `LowerBound`.

    Parameters
    ----------
    included : array of bool
    scores : array of float of the same size; high means included
    guesses : pair of int >= 0: how many of the highest scores are guessed to be included and how
        many of the lowest left out, both fixed before the scores are seen. By default they depend
        only on the number of canaries, delta and confidence: one pair, near the best for Gaussian
        noise of an epsilon between 1 and 8, has nine tenths of the error level, and two larger
        pairs, for programs that leak more, a twentieth each

    Raises
    ------
    ValueError for sizes that differ, or scores that are not finite
    """
    x, bits = _finite(scores), np.asarray(included, dtype=bool).ravel()
    if x.shape != bits.shape:
        raise ValueError(f"Expected as many scores as included, got {x.size} and {bits.size}.")
    bound = LowerBound(0.0, delta, "one_run", confidence, adjacency, assume)
    plan = [(1.0, *guesses)] if guesses else _planned(len(x), bound.delta, 1 - bound.confidence)
    # Put included canaries first among equal scores, so that the fewest guesses are right.
    ordered = bits[np.lexsort((~bits, x))]
    looks = []
    for share, highest, lowest in plan:
        validate.integer(minimum=0, highest=highest, lowest=lowest)
        correct = int(np.sum(ordered[len(x) - highest :]) + np.sum(~ordered[:lowest]))
        looks.append((share, highest + lowest, correct))
    return _proved(bound, len(x), looks)


def _planned(canaries: int, delta: float, level: float) -> list[tuple[float, int, int]]:
    """Return default tests, each (part of `level`, guesses at highest and at lowest scores)."""
    if canaries < 2:
        raise ValueError(f"Expected 2 canaries or more, got {canaries}: one guess proves nothing.")
    # Mean number of included canaries minus 1.5 standard deviations; fewer are rarely included.
    most = max(1.0, canaries / 2 - 0.75 * canaries**0.5)
    few = 1.25 * math.sqrt(-canaries * math.log(level)) + 2.5 * canaries * delta / level
    sizes = np.unique(np.geomspace(min(max(few, 1.0), most), most, 3).astype(int)).tolist()
    shares = [1 - 0.05 * (len(sizes) - 1), 0.05, 0.05]
    return [(share, size, size) for share, size in zip(shares, sizes, strict=False)]


def _finite(scores: ArrayLike) -> NDArray:
    values = np.asarray(scores, dtype=float).ravel()
    if not np.all(np.isfinite(values)):
        raise ValueError("Expected scores to be finite numbers, got some that are not.")
    return values
