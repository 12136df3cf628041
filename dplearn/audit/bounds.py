"""What observations prove about epsilon: from below, at a confidence, and never from above."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from dplearn.accountants.pld import PLD
from dplearn.audit import theorems
from dplearn.ground import validate
from dplearn.ground.guarantee import ADJACENCIES, Adjacency, Guarantee, round_down
from dplearn.mechanisms import Gaussian

# What is presumed of the program: nothing, or a trade-off curve no worse than some Gaussian's.
Assumption = Literal["any", "gaussian"]
_PROGRAMS = {"any": "a program", "gaussian": "a Gaussian mechanism"}
# Thresholds that are tried where one is chosen.
_THRESHOLDS = 50


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """What outputs prove; that nothing was caught never says that a program is private.

    Examples
    --------
    >>> print(LowerBound(epsilon=2.1, delta=1e-5, confidence=0.999, method="one_run"))
    these outputs are impossible, at 99.9 %, for a program with epsilon <= 2.1 \
at delta = 1.0e-05, add_remove, by one_run
    """

    epsilon: float  # no program of this epsilon or less is likely to have had the outputs
    delta: float
    method: str  # one_run or two_worlds
    confidence: float = 0.999  # of one look, planned before the runs
    adjacency: Adjacency = "add_remove"
    assume: Assumption = "any"

    def __post_init__(self) -> None:
        validate.between(0, 1, delta=self.delta)
        validate.probability(confidence=self.confidence)
        validate.one_of(ADJACENCIES, adjacency=self.adjacency)
        validate.one_of(get_args(Assumption), assume=self.assume)

    def contradicts(self, guarantee: Guarantee) -> bool:
        """Whether the outputs are impossible, at the confidence, where the guarantee is true.

        ValueError is raised where the two cannot be compared: the guarantee is no upper bound, or
        is about other neighbours or a larger delta. What is presumed stands: a bound that assumes a
        Gaussian accuses wrongly where a true guarantee is of another curve, such as Poisson lots.
        """
        smaller = guarantee.delta <= self.delta * (1 + 1e-12)
        if not (guarantee.is_bound and smaller and guarantee.adjacency == self.adjacency):
            raise ValueError(
                f"Expected a bound from above at delta <= {self.delta:g} under {self.adjacency}, "
                f"got guarantee={str(guarantee)!r}."
            )
        return self.epsilon > 0 and guarantee.epsilon <= self.epsilon

    def __str__(self) -> str:
        at = f"at {round_down(100 * self.confidence, 6)} %"
        tail = f"delta = {float(round_down(self.delta, 2)):.1e}, {self.adjacency}, by {self.method}"
        program = _PROGRAMS[self.assume]
        if self.epsilon == 0:
            return f"these outputs are possible, {at}, for {program} with any epsilon at {tail}"
        epsilon = f"epsilon <= {round_down(self.epsilon)}"
        return f"these outputs are impossible, {at}, for {program} with {epsilon} at {tail}"


def from_counts(
    *, true_positives: int, positives: int, false_positives: int, negatives: int, **look: Any
) -> LowerBound:
    """Bound from `positives` runs with a canary and `negatives` without, all independent.

    The attacker said "present" in so many of either, by a rule that came from other runs than
    those counted: `from_scores` sees to it. Both error rates have a Clopper-Pearson limit, each
    exceeded with probability (1 - confidence) / 2 at most. `look` is what `LowerBound` has:
    delta, confidence (default 0.999), adjacency ("add_remove") and assume ("any").

    Examples
    --------
    >>> counts = {"true_positives": 480, "positives": 500, "false_positives": 5, "negatives": 500}
    >>> print(from_counts(**counts, delta=1e-5))
    these outputs are impossible, at 99.9 %, for a program with epsilon <= 3.289 \
at delta = 1.0e-05, add_remove, by two_worlds
    """
    validate.integer(minimum=1, positives=positives, negatives=negatives)
    validate.integer(minimum=0, maximum=positives, true_positives=true_positives)
    validate.integer(minimum=0, maximum=negatives, false_positives=false_positives)
    bound = LowerBound(epsilon=0.0, method="two_worlds", **look)
    errors = (false_positives, negatives), (positives - true_positives, positives)
    return _of(bound, _strength(bound, *errors))


def _strength(bound: LowerBound, *errors: tuple[int, int]) -> float:
    """Epsilon, or mu of a Gaussian, from false positives of so many trials, and negatives."""
    fpr, fnr = (
        theorems.clopper_pearson_upper(errors=k, trials=n, confidence=bound.confidence)
        if k < n
        else 1.0
        for k, n in errors
    )
    rates = {"false_positive_rate": fpr, "false_negative_rate": fnr}
    if bound.assume == "any":
        return theorems.audit_epsilon(**rates, delta=bound.delta)
    return max(0.0, theorems.audit_mu(**rates)) if max(fpr, fnr) < 1 else 0.0


def _of(bound: LowerBound, strength: float) -> LowerBound:
    """The bound with this epsilon, or that of a Gaussian of this mu, rounded down."""
    if bound.assume == "gaussian":
        validate.probability(delta=bound.delta)
        gaussian = Gaussian(1 / max(strength, 1e-9))
        strength = PLD().epsilon(gaussian, delta=bound.delta).lower if strength > 1e-9 else 0.0
    return replace(bound, epsilon=strength)


def from_scores(present: ArrayLike, absent: ArrayLike, **look: Any) -> LowerBound:
    """Bound from one score per independent run with the canary and without; high means present.

    The first half of either chooses the threshold and the second alone is judged: no run counts
    that decided what to look for. `look` is as in `from_counts`.
    """
    both = [_finite(scores) for scores in (present, absent)]
    tried, judged = zip(*(np.split(scores, [len(scores) // 2]) for scores in both), strict=True)
    if not min(map(len, tried)):
        raise ValueError("Expected two scores or more with the canary and without, got fewer.")
    bound = LowerBound(epsilon=0.0, method="two_worlds", **look)

    def errors(runs: tuple[NDArray, ...], threshold: float) -> list[tuple[int, int]]:
        wrong = runs[1] > threshold, runs[0] <= threshold
        return [(int(np.sum(one)), one.size) for one in wrong]

    def worth(threshold: float) -> tuple[float, float]:
        """What a first look proves; where that is nothing, how rarely it errs."""
        first = errors(tried, threshold)
        return _strength(bound, *first), -sum(k / n for k, n in first)

    shares = np.linspace(0, 1, _THRESHOLDS)
    thresholds = np.unique(np.quantile(np.concatenate(tried), shares, method="lower"))
    return _of(bound, _strength(bound, *errors(judged, max(thresholds.tolist(), key=worth))))


def from_guesses(*, canaries: int, guesses: int, correct: int, **look: Any) -> LowerBound:
    """Bound from guesses about canaries, each in the data with probability 1/2 on its own.

    Canaries of one run may help or hinder each other. Those of several runs count as of one. How
    many guesses there are must not depend on which of them are right: `one_run` sees to it. The
    theorem is that of Mahloujifar, Melis & Chaudhuri 2024 at the curve of (epsilon, delta), where
    delta takes less away than in that of Steinke, Nasr & Jagielski 2023, or at a Gaussian's. All
    guesses may be shown with probability canaries * delta / guesses: where that is not below
    1 - confidence, nothing is proved. `look` is as in `from_counts`.

    Examples
    --------
    >>> print(from_guesses(canaries=1000, guesses=100, correct=98, delta=1e-5))
    these outputs are impossible, at 99.9 %, for a program with epsilon <= 2.102 \
at delta = 1.0e-05, add_remove, by one_run
    """
    counts = theorems.checked(canaries=canaries, guesses=guesses, correct=correct)
    bound = LowerBound(epsilon=0.0, method="one_run", **look)
    curve = {
        "any": lambda x: theorems.least_of_dp(x, bound.delta),
        "gaussian": theorems.least_of_gaussian,
    }
    chance, least = 1 - bound.confidence, curve[bound.assume]
    return _of(
        bound,
        theorems.largest_refuted(
            lambda x: not theorems.reachable(least(x), **counts, chance=chance)
        ),
    )


def one_run(
    included: ArrayLike, scores: ArrayLike, *, guesses: tuple[int, int] | None = None, **look: Any
) -> LowerBound:
    """Bound from a score for each canary, of one run or of several; high means included.

    `guesses` are how many of the highest scores are guessed to be included, and how many of the
    lowest left out, both fixed before anybody looks. Without it the first half of the canaries
    chooses the two numbers, and the second alone is judged. `look` is as in `from_counts`.
    """
    x, bits = _finite(scores), np.asarray(included, dtype=bool).ravel()
    if x.shape != bits.shape:
        raise ValueError(f"Expected as many scores as included, got {x.size} and {bits.size}.")
    if guesses is None:
        half = len(x) // 2
        guesses = _promising(bits[:half], x[:half], look.get("confidence", 0.999))
        x, bits = x[half:], bits[half:]
    highest, lowest = guesses
    validate.integer(minimum=0, **{"guesses[0]": highest, "guesses[1]": lowest})
    ordered = bits[np.argsort(x, kind="stable")]
    correct = np.sum(ordered[len(x) - highest :]) + np.sum(~ordered[:lowest])
    return from_guesses(canaries=len(x), guesses=sum(guesses), correct=int(correct), **look)


def _promising(included: NDArray, scores: NDArray, confidence: float) -> tuple[int, int]:
    """Numbers of guesses with the largest lower limit of the share that is right."""
    ordered = included[np.argsort(scores, kind="stable")]
    # So many are in, and as many are out, but for one choice of the bits in a thousand.
    most = max(1, len(scores) / 2 - 1.5 * len(scores) ** 0.5)
    sizes = np.unique([0, *np.geomspace(1, most, 20).astype(int)])
    highest, lowest = (np.cumsum([0, *row])[sizes] for row in (ordered[::-1], ~ordered))
    correct, total = highest[:, None] + lowest, sizes[:, None] + sizes
    limit = betaincinv(np.maximum(correct, 1e-9), total - correct + 1, 1 - confidence)
    a, b = np.unravel_index(np.argmax(np.where(correct > 0, limit, 0.0)), limit.shape)
    return int(sizes[a]), int(sizes[b])


def _finite(scores: ArrayLike) -> NDArray:
    values = np.asarray(scores, dtype=float).ravel()
    if not np.all(np.isfinite(values)):
        raise ValueError("Expected scores to be finite numbers, got some that are not.")
    return values
