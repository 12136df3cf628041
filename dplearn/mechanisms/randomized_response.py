"""Randomized response over k answers: the optimal local mechanism for pure DP."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import exp_rest
from dplearn.mechanisms._base import Mechanism
from dplearn.mechanisms._outputs import Outputs


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    r"""Each person reports the truth with probability p, each other answer equally often.

    Parameters
    ----------
    local_epsilon : float
        ln(p / r) > 0 where p is the chance of the true answer and r that of each other one.
    answers : int
        Number k >= 2 of possible answers; p = e^eps / (e^eps + k - 1).

    Notes
    -----
    The respondents are fixed and one of them changes the answer, so only
    ``replace_one`` has a meaning.

    References
    ----------
    Warner (1965); Kairouz, Oh & Viswanath (2016) for k answers.

    Examples
    --------
    >>> coins = RandomizedResponse.from_probability(truth=0.75)
    >>> round(coins.local_epsilon, 6)
    1.098612
    """

    local_epsilon: float
    answers: int = 2

    name: ClassVar[str] = "randomized_response"
    conditions: ClassVar[tuple[str, ...]] = ("each respondent answers once",)
    adjacencies: ClassVar[tuple[Adjacency, ...]] = ("replace_one",)
    refusal: ClassVar[tuple[str, str]] = (
        "randomized_response",
        "its respondents are fixed, use 'replace_one'",
    )

    def __post_init__(self) -> None:
        validate.scale(local_epsilon=self.local_epsilon)
        validate.integer(minimum=2, answers=self.answers)

    @classmethod
    def from_probability(cls, *, truth: float, answers: int = 2) -> Self:
        """The mechanism that tells the truth with probability `truth` in (1/answers, 1)."""
        validate.probability(truth=truth)
        validate.integer(minimum=2, answers=answers)
        if truth * answers <= 1:
            raise ValueError(f"Expected truth > 1/answers = {1 / answers:g}, got truth={truth!r}.")
        return cls(math.log(truth) - math.log1p(-truth) + math.log(answers - 1), answers)

    @property
    def _log_masses(self) -> tuple[float, float]:
        """log p, log r."""
        total = float(np.logaddexp(self.local_epsilon, math.log(self.answers - 1)))
        return self.local_epsilon - total, -total

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        log_p, log_r = self._log_masses
        # Answers true under neither neighbour have loss 0 and are lumped into one atom.
        others = [log_r + math.log(self.answers - 2)] if self.answers > 2 else []
        return (Profile.from_atoms([log_p, log_r, *others], [log_r, log_p, *others]),)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        """The true answer is 0 under P and 1 under Q."""
        log_p, log_r = self._log_masses
        return (
            Outputs(
                lambda x: np.where(x == 0, log_p, log_r),
                lambda x: np.where(x == 1, log_p, log_r),
                lower=0,
                upper=self.answers - 1,
                whole=True,
                label="reported answer",
            ),
        )

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Mironov (2017), Proposition 5, with k - 2 answers of ratio one."""
        log_p, log_r = self._log_masses
        more, loss = orders - 1, self.local_epsilon
        terms = [orders * a + (1 - orders) * b for a, b in ((log_p, log_r), (log_r, log_p))]
        if self.answers > 2:
            terms.append(np.full(orders.shape, log_r + math.log(self.answers - 2)))
        # Where their sum is near 1: what it exceeds 1 by, in positive terms.
        p, r, small = math.exp(log_p), math.exp(log_r), np.minimum(more * loss, 1.0)
        rise = small * p * -math.expm1(-loss) + p * exp_rest(small) + r * exp_rest(-small)
        return np.where(small < 1, np.log1p(rise), np.logaddexp.reduce(terms, axis=0)) / more

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = eps^2 / 2 (Bun & Steinke 2016, Proposition 1.4)."""
        return 0.5 * self.local_epsilon**2

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(1.0), cls(0.1), cls(3.0, answers=10))

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1.0, rng: np.random.Generator
    ) -> NDArray:
        """Randomised answers to the true answers 0..k-1; `sensitivity` plays no role."""
        truth = np.asarray(value)
        if truth.dtype.kind not in "iub" or np.any((truth < 0) | (truth >= self.answers)):
            raise ValueError(f"Expected value to hold answers 0..{self.answers - 1}.")
        honest = rng.random(truth.shape) < math.exp(self._log_masses[0])
        other = (truth + rng.integers(1, self.answers, truth.shape)) % self.answers
        return np.where(honest, truth, other)
