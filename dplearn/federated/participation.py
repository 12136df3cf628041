r"""A federated run whose users take part a bounded number of times, with correlated noise.

Phones come when they are charged, so that no coin hides who is in a round. What a server can see to
is that each takes part at most k times, b rounds or more apart, and that noise of one round takes
back some of an earlier one's (DP-FTRL, Kairouz et al. 2021; BandMF, Choquette-Choo et al. 2023). A
strategy C, lower triangular, says how: round t has row t of :math:`C^{-1}Z` on its sum, Z fresh and
normal. All rounds together are then a function of CX + Z, one Gaussian release of the sums X.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dplearn.accountants import Accountant, accountant_of
from dplearn.accountants._runs import as_counts
from dplearn.federated.plan import FederatedPlan, UserGuarantee
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms import Composed, CorrelatedGaussian
from dplearn.run import DPSGD, Sampling


@dataclass(frozen=True, kw_only=True)
class CorrelatedPlan(FederatedPlan):
    """Public plan of a run whose users take part `participations` times at most.

    `noise_multiplier` is that of Z, and `sample_rate` the expected share of users in a round, by
    which nothing is amplified. Neighbours differ in a user whose updates are all zero
    (``zero_out``): who takes part when does not depend on what others have.

    Examples
    --------
    Noise of each round's own, and noise that takes back half of the round before:

    >>> run = {"users": 1000, "sample_rate": 0.1, "rounds": 60, "max_update_norm": 1.0}
    >>> run |= {"participations": 3, "min_separation": 20, "noise_multiplier": 2.0}
    >>> for strategy in (np.eye(60), np.eye(60) + np.eye(60, k=-1) / 2):
    ...     plan = CorrelatedPlan(strategy=strategy, **run)
    ...     noise = np.tril(np.ones((60, 60))) @ np.linalg.inv(strategy)  # of all sums so far
    ...     print(round(2.0 * np.linalg.norm(noise[-1]), 1), plan.guarantee(delta=1e-5))
    15.5 epsilon = 3.709 at delta = 1.0e-05, zero_out, by pld, per user
    10.4 epsilon = 4.217 at delta = 1.0e-05, zero_out, by pld, per user
    """

    samplings: ClassVar[tuple[str, ...]] = ()  # type: ignore[misc]

    sampling: Sampling = field(default="none", init=False)
    strategy: ArrayLike = field(repr=False)  # C, shape (rounds, rounds); kept as a tuple of rows
    participations: int  # of one user in all rounds, at most; >= 1
    min_separation: int  # rounds from one participation to the next, at least; 1 is any

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = np.asarray(self.strategy, dtype=float)
        shape = (self.rounds, self.rounds)
        if matrix.shape != shape or np.triu(matrix, 1).any() or not np.diag(matrix).all():
            expected = f"lower triangular with no 0 on its diagonal, of shape {shape}"
            raise ValueError(f"Expected strategy to be {expected}, got shape {matrix.shape}.")
        object.__setattr__(self, "strategy", tuple(map(tuple, matrix.tolist())))
        _ = self.composed  # refuses what is wrong with the others

    def noise(self, fresh: Any, earlier: Sequence[Any]) -> Any:
        """Noise of the next round, from a fresh one and the noise of all before."""
        rows: Any = self.strategy
        *row, own = rows[len(earlier)][: len(earlier) + 1]
        return (fresh - sum(w * one for w, one in zip(row, earlier, strict=True) if w)) / own

    def _release(self, rounds: int) -> CorrelatedGaussian:
        """The first rounds as one release."""
        return CorrelatedGaussian.from_strategy(
            np.array(self.strategy)[:rounds, :rounds],
            noise_multiplier=self.noise_multiplier,
            participations=self.participations,
            separation=self.min_separation,
        )

    @property
    def composed(self) -> Composed:
        return Composed([(self._release(self.rounds), 1)])

    @property
    def phases(self) -> tuple[DPSGD, ...]:  # type: ignore[override]
        raise validate.unsupported("phases of correlated noise", "its rounds are one release")

    def guarantees(
        self,
        accountant: Accountant | str = "pld",
        *,
        delta: float,
        steps: ArrayLike,
        adjacency: Adjacency | None = None,
    ) -> tuple[UserGuarantee, ...]:
        """`guarantee` for many numbers of rounds, of shape (n,), none above the plan's."""
        law, told = accountant_of(accountant), []
        target: dict[str, Any] = {"delta": delta, "adjacency": adjacency or "zero_out"}
        for n in as_counts(steps).tolist():
            validate.integer(minimum=0, maximum=self.rounds, steps=n)
            stated = law.epsilon(self._release(max(n, 1)), steps=min(n, 1), **target)
            told.append(self._about(stated))
        return tuple(told)
