r"""Poisson lots of bounded size: a larger lot is cut to a random subset.

**Theorem** (Ganesh 2025, arXiv:2508.15089, proved here anew). Let n be the size of the larger of
two neighbours, of which every record but one is the same; let each record be drawn with chance q,
and keep a uniform subset of L where more are drawn. Tell the attacker whether L of the others were
drawn. That can only help, and it tells nothing of the record, whose own coin is tossed apart.

* If fewer were, nothing is cut, whether the record is drawn or not: the step is one Poisson step.
* If L or more were, all is uniform: without the record, L of the others are summed up (call this
  law A); with it, which has a chance :math:`\kappa`, L - 1 of them and the record, which takes the
  place of another and so moves the sum by two norms (B). The laws are
  :math:`(1-\kappa)A+\kappa B` and A: a Poisson step of rate :math:`\kappa` with half the noise.

So a step leaks at most :math:`(1-t)\,\delta_{\text{Poisson}}(\varepsilon) +
t\,\delta_{\text{cut}}(\varepsilon)` with :math:`t = P(\mathrm{Bin}(n-1, q) \ge L)` and
:math:`t\kappa = P(\mathrm{Bin}(n, q) > L)\,L/n`: the profile of one pair of laws, whatever was
released before, so that it composes. If all others contribute nothing, it leaks as much as a
Poisson step at the rate :math:`q(1-t)+t\kappa` at which the record is kept.

Where the record is replaced n is the size of both neighbours. If L or more of the others were
drawn, L - 1 of them and the record, the old or the new one, are summed up with the same chance
:math:`\kappa`, and else law A: a step of `WithoutReplacement` at the rate :math:`\kappa`.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.engine.profile import Curve, Profile
from dplearn.mechanisms._base import Wrapped
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.sampled import PoissonSubsampled, WithoutReplacement

# Up to so many records the binomial tail is known to this relative error, and rounded by it.
_MOST_RECORDS, TAIL_ERROR = 10**8, 1e-6
_LEAST = 1e-290  # a chance of less is taken for so much


@dataclass(frozen=True)
class TruncatedPoisson(Wrapped):
    """A Gaussian on a Poisson sample, of which a uniform subset of bounded size is kept.

    ``profiles`` is an upper bound, and ``witnesses`` the leak where other records contribute
    nothing: as near to each other as the largest lot is rare.

    Parameters
    ----------
    base : Gaussian
        The noise of one step.
    sample_rate : float
        Chance of each record to be drawn, in (0, 1].
    dataset_size : int
        Public number of records, from 1 to 10^8; a neighbour may have one more.
    max_batch_size : int
        Records that a lot has at most, >= 1.

    Examples
    --------
    >>> step = TruncatedPoisson(Gaussian(1.0), 0.01, dataset_size=10_000, max_batch_size=160)
    >>> print(step.guarantee(delta=1e-5, steps=1000))
    1.827 <= epsilon <= 1.829 at delta = 1.0e-05, add_remove, by pld
    """

    base: Gaussian
    sample_rate: float
    dataset_size: int
    max_batch_size: int

    name = "truncated_poisson"
    fields_of_examples = ((Gaussian(1.0), 0.5, 100, 70), (Gaussian(8.0), 0.5, 3, 1))
    conditions = (
        *PoissonSubsampled.conditions,
        "of a lot that is too large a uniform subset is kept",
    )
    adjacencies = ("add_remove", "replace_one")
    refusal = ("Poisson sampling that is cut", "use 'add_remove' or 'replace_one'")
    no_outputs = "lots that were cut and lots that were not are told apart"

    def __post_init__(self) -> None:
        validate.instance(Gaussian, base=self.base)
        validate.rate(sample_rate=self.sample_rate)
        validate.integer(minimum=1, maximum=_MOST_RECORDS, dataset_size=self.dataset_size)
        validate.integer(minimum=1, max_batch_size=self.max_batch_size)

    @property
    def attained(self) -> bool:
        return self.max_batch_size > self.dataset_size

    def _cut(self, adjacency: Adjacency = "add_remove") -> tuple[float, float]:
        """t, the chance that others fill the lot, and the chance of that and the record kept."""
        size, most = self.dataset_size + (adjacency == "add_remove"), self.max_batch_size
        if most >= size:
            return 0.0, 0.0
        # P(Bin(n, q) >= k) is an incomplete beta function.
        filled, remaining = betainc([most, most + 1], size - most, self.sample_rate)
        return float(filled), float(remaining) * most / size

    def dominating(self, adjacency: Adjacency) -> Gaussian:
        """Half the noise where a record that leaves may give its place to another."""
        moved = self.attained or adjacency == "replace_one"
        return self.base if moved else Gaussian(self.base.noise_multiplier / 2)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        poisson = PoissonSubsampled(self.base, self.sample_rate).profiles(adjacency)
        if self.attained:
            return poisson
        filled, remaining = self._cut(adjacency)
        # Where others fill the lot the record is kept at a rate of at most that of its coin.
        rate = self.sample_rate
        if filled > _LEAST:
            rate = min(rate, remaining / filled * (1 + 2 * TAIL_ERROR))
        weight = max(filled, _LEAST)
        if adjacency == "replace_one":
            (cut,) = WithoutReplacement(self.base, rate).profiles(adjacency)
            return (_either(poisson[0], cut, weight),)
        replaced = PoissonSubsampled(self.dominating(adjacency), rate).profiles(adjacency)
        remove, add = poisson[0], (poisson[1:] or [poisson[0].reverse()])[0]
        return _either(remove, replaced[0], weight), _either(add, replaced[-1], weight)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """Return the pair of a record among others that contribute nothing."""
        filled, remaining = self._cut(adjacency)
        uncut = max(1 - filled * (1 + TAIL_ERROR), 0.0)
        rate = self.sample_rate * uncut + remaining * (1 - TAIL_ERROR)
        return PoissonSubsampled(self.base, rate).witnesses(adjacency) if rate > 0 else ()


def _either(first: Profile, second: Profile, weight: float) -> Profile:
    """Profile of the first pair or, with this weight, the second, known which; rounded up."""
    log_weight = math.log(weight) + TAIL_ERROR
    log_rest = math.log1p(-weight * (1 - TAIL_ERROR))

    def either(one: Curve, two: Curve) -> Curve:
        total = lambda epsilon: np.logaddexp(log_rest + one(epsilon), log_weight + two(epsilon))
        return lambda epsilon: np.minimum(total(epsilon), 0.0)

    parts = (first, second), (first.reverse(), second.reverse())
    forward, backward = (either(one.log_delta_of, two.log_delta_of) for one, two in parts)
    return Profile(forward, backward, np.append(first.kinks, second.kinks))
