"""Sampling a fixed number of records without replacement."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import Adjacency
from dplearn.mechanisms._outputs import Outputs
from dplearn.mechanisms._wrapped import Sampled
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.laplace import Laplace


@dataclass(frozen=True)
class WithoutReplacement(Sampled):
    r"""A mechanism run on a uniformly drawn subset of fixed size.

    Parameters
    ----------
    base : Mechanism
        What is run on the subset.
    sample_rate : float
        Subset size / dataset size, in (0, 1].

    Notes
    -----
    The theorem is for ``replace_one``: the subset's neighbour differs in one *replaced*
    record, so the base pair (P, Q) is the replace-one pair (for the Gaussian N(2), N(0) in
    contribution norms). What is proved: the profile is at most that of ((1-q)Q + qP, Q)
    where e^eps >= 1 and that of (P, (1-q)P + qQ) where e^eps < 1; the two halves together
    are the profile of one pair, which therefore also dominates every adaptive composition.

    No two datasets attain both halves, so that pair is not a witness. These are: let all
    other records equal the record that is replaced. Without the new record every subset is
    the same and the output has law Q; with it the law is (1-q)Q + qP. The pair of these two
    laws and its reverse are real, and each attains one half. The base is one answer about
    the whole subset; where its members answer one by one, the others hide the new record.

    References
    ----------
    Balle, Barthe & Gaboardi (2018), Theorem 9; Zhu, Dong & Wang (2022), Theorem 11.

    Examples
    --------
    >>> import math
    >>> step = WithoutReplacement(Gaussian(noise_multiplier=1.0), sample_rate=0.1)
    >>> (profile,) = step.profiles("replace_one")
    >>> round(float(profile.delta(math.log1p(0.1 * math.expm1(1.0)))), 7)
    0.0509862
    """

    name: ClassVar[str] = "without_replacement"
    conditions: ClassVar[tuple[str, ...]] = ("a fresh subset of fixed size each step",)
    adjacencies: ClassVar[tuple[Adjacency, ...]] = ("replace_one",)
    refusal: ClassVar[tuple[str, str]] = (
        "sampling without replacement",
        "a subset of fixed size has a theorem under 'replace_one' only",
    )

    @property
    def attained(self) -> bool:
        # The two halves of the profile belong to different pairs.
        return self.sample_rate == 1.0 and self.base.attained

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return tuple(self._sampled(p) for p in self.base.profiles("replace_one"))

    def _sampled(self, pair: Profile) -> Profile:
        above, below = (p.mix_first(self.sample_rate) for p in (pair, pair.reverse()))
        kinks = np.append(above.kinks, below.kinks)
        tails = (above.log_tail_of, below.log_tail_of)
        return Profile(above.log_delta_of, below.log_delta_of, kinks, *tails)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        pairs = self.base.witnesses("replace_one")
        if self.sample_rate == 1.0 or not pairs:
            return pairs
        pair = pairs[0].mix_first(self.sample_rate)
        return (pair, pair.reverse())

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        """The real pair that attains the half of the profile where e^eps >= 1."""
        pairs = self.base.outputs("replace_one")
        if self.sample_rate == 1.0:
            return pairs
        return tuple(pair.mix_first(self.sample_rate) for pair in pairs)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(Gaussian(2.0), 0.1), cls(Gaussian(1.0), 1.0), cls(Laplace(2.0), 0.01))
