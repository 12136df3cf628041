"""The winner of a vote after Gaussian noise on every count: what PATE's teachers release."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._base import Mechanism, contribution_norm
from dplearn.mechanisms.gaussian import Gaussian


@dataclass(frozen=True)
class NoisyMax(Mechanism):
    """Class with the largest noisy count, where one record can move one vote (GNMax).

    Parameters
    ----------
    noise_std : float
        Standard deviation of the noise on every count, > 0, in votes.

    Notes
    -----
    A moved vote changes two counts, a distance of the root of 2, so the profile is that of noisy
    counts. Of the winner alone it is the worst over all votes: at every epsilon two classes with a
    gap of their own attain it (their winner is the best test between the counts), no votes attain
    all of it, and of a composition it is a bound. The witness is a gap of one vote.

    References
    ----------
    Papernot et al. (2018), Proposition 8.

    Examples
    --------
    >>> round(float(NoisyMax(noise_std=40.0).rdp([10.0])[0]), 5)
    0.00625
    """

    noise_std: float

    name: ClassVar[str] = "noisy_max"
    conditions: ClassVar[tuple[str, ...]] = ("each record moves at most one vote",)
    attained: ClassVar[bool] = False
    no_outputs: ClassVar[str] = "the worst votes are others at every ε"

    def __post_init__(self) -> None:
        validate.scale(noise_std=self.noise_std)

    @property
    def counts(self) -> Gaussian:
        """The release of all noisy counts, which leaks no less."""
        return Gaussian(self.noise_std / math.sqrt(2))

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self.counts.profiles(adjacency)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        # Ahead by one vote, or behind by one; two moved votes move the gap by four.
        place = contribution_norm(adjacency) / (self.noise_std * math.sqrt(2))
        ahead = log_ndtr([place, -place])
        return (Profile.from_atoms(ahead, ahead[::-1]),)

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        return self.counts.rdp(orders, adjacency=adjacency)

    def _zcdp(self, adjacency: Adjacency) -> float | None:
        return self.counts.zcdp(adjacency)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(40.0), cls(1.0), cls(300.0))

    def release(
        self, value: ArrayLike, *, sensitivity: float = 1.0, rng: np.random.Generator
    ) -> NDArray:
        """Index of the winner, given the counts of all classes, shape (classes,).

        `sensitivity` is the number of votes that one record can move; the profile is that of 1.
        """
        validate.positive(sensitivity=sensitivity)
        counts = np.asarray(value, dtype=float)
        return np.asarray(
            np.argmax(counts + rng.normal(0, self.noise_std * sensitivity, counts.shape))
        )
