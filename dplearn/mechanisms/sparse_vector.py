"""Which counts exceed a threshold: the sparse vector, through the interval of its losses."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp
from dplearn.mechanisms._base import Mechanism


@dataclass(frozen=True)
class SparseVector(Mechanism):
    r"""Which of many counts exceed a threshold, in order, until `positives` of them did.

    Parameters
    ----------
    threshold_scale : float
        Scale :math:`b_1` > 0 of the Laplace noise on the threshold, which is drawn once, in
        contributions of one record.
    query_scale : float
        Scale :math:`b_2` > 0 of the Laplace noise on every answer, in contributions of one record.
    positives : int
        Number c >= 1 of answers above the threshold after which it ends.

    Notes
    -----
    A record that joins lowers no count. With it a "no" is the rarer and each "yes" at most
    :math:`e^{1/b_2}` times as frequent: the loss is at most :math:`c/b_2`. Raising the threshold
    by 1 makes no "no" rarer, so that in the other direction it is at most :math:`1/b_1 + c/b_2`.
    Where a record is replaced answers move both ways, and both are :math:`1/b_1 + 2c/b_2`, as for
    any answers of sensitivity 1. The profile is that of two atoms at the ends of the interval, the
    worst of all losses in it: an upper bound, far below that of pure DP when many are composed.

    References
    ----------
    Dwork & Roth (2014), Theorem 3.23; Lyu, Su & Li (2017), Theorem 5.

    Examples
    --------
    >>> remove, add = SparseVector(threshold_scale=2.0, query_scale=2.0).profiles()
    >>> round(float(remove.delta(0.0)), 6), float(add.delta(1.0))
    (0.320157, 0.0)
    """

    threshold_scale: float
    query_scale: float
    positives: int = 1

    name: ClassVar[str] = "sparse_vector"
    conditions: ClassVar[tuple[str, ...]] = (
        "a record that joins lowers no answer, and raises each by one contribution at most",
        "only yes or no is told, and nothing of the threshold's noise",
    )
    attained: ClassVar[bool] = False
    no_outputs: ClassVar[str] = "the worst answers are others at every ε"

    def __post_init__(self) -> None:
        validate.scale(threshold_scale=self.threshold_scale)
        validate.scale(query_scale=self.query_scale)
        validate.integer(minimum=1, positives=self.positives)

    def _largest(self, adjacency: Adjacency) -> tuple[float, float]:
        """Largest loss with the record, and without it."""
        noes, yeses = 1 / self.threshold_scale, self.positives / self.query_scale
        if adjacency == "replace_one":
            return noes + 2 * yeses, noes + 2 * yeses
        return yeses, noes + yeses

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        most, least = self._largest(adjacency)
        up, down, span = log1mexp(np.array([-least, -most, -most - least]))
        # Masses with losses `most` and `-least`, of sum 1 under both laws.
        log_p = np.array([up - span, down - span - least])
        log_q = np.array([up - span - most, down - span])
        remove = Profile.from_atoms(log_p, log_q)
        return (remove,) if most == least else (remove, Profile.from_atoms(log_q, log_p))

    def _zcdp(self, adjacency: Adjacency) -> float:
        """rho = s^2 / 8 for losses in an interval of length s (Cesar & Rogers 2021)."""
        return sum(self._largest(adjacency)) ** 2 / 8

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(2.0, 2.0), cls(20.0, 100.0, positives=5), cls(0.5, 4.0))

    def release(self, value: ArrayLike, *, sensitivity: float, rng: np.random.Generator) -> NDArray:
        """1 for yes, 0 for no, -1 after the end, of answers less the threshold, shape (n,)."""
        validate.positive(sensitivity=sensitivity)
        answers = np.asarray(value, dtype=float) / sensitivity
        threshold = rng.laplace(scale=self.threshold_scale)
        yes = answers + rng.laplace(scale=self.query_scale, size=answers.shape) > threshold
        return np.where(np.cumsum(yes) - yes < self.positives, yes.astype(int), -1)
