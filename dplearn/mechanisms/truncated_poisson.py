r"""Poisson batches of bounded size: a larger batch is cut to a random subset.

**Theorem** (Ganesh 2025, arXiv:2508.15089, here with another proof). Let n be the size of the
larger of two neighbours that differ in one record; draw each record with probability q,
and keep a uniform subset of L if more are drawn. Tell the attacker whether L of the others were
drawn. This can only help the attacker, and is independent of whether the record is drawn.

* If fewer were drawn, nothing is cut: the step is one Poisson step.
* If L or more were drawn, the kept subset is uniform: without the record, the sum has L of the
  others (law A); with it, which has a probability :math:`\kappa`, L - 1 of them and the record,
  which replaces another one and so moves the sum by two norms (law B). The laws are
  :math:`(1-\kappa)A+\kappa B` and A: a Poisson step of rate :math:`\kappa` with half the noise.

So a step leaks at most :math:`(1-t)\,\delta_{\text{Poisson}}(\varepsilon) +
t\,\delta_{\text{cut}}(\varepsilon)` with :math:`t = P(\mathrm{Bin}(n-1, q) \ge L)` and
:math:`t\kappa = P(\mathrm{Bin}(n, q) > L)\,L/n`: the profile of one pair of laws, independent of
earlier releases, so that it composes. If all others contribute nothing, it leaks as much as a
Poisson step at the rate :math:`q(1-t)+t\kappa` at which the record is kept.

For a replaced record n is the size of both neighbours. If L or more of the others were
drawn, the sum has L - 1 of them and the old or new record with the same probability
:math:`\kappa`, and law A otherwise: a step of `WithoutReplacement` at the rate :math:`\kappa`.
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

# Maximum number of records, and the relative error of the binomial tail up to it.
_MOST_RECORDS, TAIL_ERROR = 10**8, 1e-6
_LEAST = 1e-290  # smaller probabilities are rounded up to it


@dataclass(frozen=True)
class TruncatedPoisson(Wrapped):
    """A Gaussian on a Poisson sample, cut to a uniform subset of bounded size.

    ``profiles`` are upper bounds, and ``witnesses`` the profiles if other records contribute
    nothing; they are close if batches are rarely cut.

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
        """Return t = P(others fill the batch), and P(that, and the record is kept)."""
        size, most = self.dataset_size + (adjacency == "add_remove"), self.max_batch_size
        if most >= size:
            return 0.0, 0.0
        # P(Bin(n, q) >= k) is an incomplete beta function.
        filled, remaining = betainc([most, most + 1], size - most, self.sample_rate)
        return float(filled), float(remaining) * most / size

    def dominating(self, adjacency: Adjacency) -> Gaussian:
        """Return a Gaussian, with half the noise if a removed record may be replaced by another."""
        moved = self.attained or adjacency == "replace_one"
        return self.base if moved else Gaussian(self.base.noise_multiplier / 2)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        poisson = PoissonSubsampled(self.base, self.sample_rate).profiles(adjacency)
        if self.attained:
            return poisson
        filled, remaining = self._cut(adjacency)
        # If others fill the batch, the record is kept with probability at most sample_rate.
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
        """Return the pair in which all other records contribute nothing."""
        filled, remaining = self._cut(adjacency)
        uncut = max(1 - filled * (1 + TAIL_ERROR), 0.0)
        rate = self.sample_rate * uncut + remaining * (1 - TAIL_ERROR)
        return PoissonSubsampled(self.base, rate).witnesses(adjacency) if rate > 0 else ()


def _either(first: Profile, second: Profile, weight: float) -> Profile:
    """Return an upper bound on the mixture of two pairs whose component the attacker knows."""
    log_weight = math.log(weight) + TAIL_ERROR
    log_rest = math.log1p(-weight * (1 - TAIL_ERROR))

    def either(one: Curve, two: Curve) -> Curve:
        total = lambda epsilon: np.logaddexp(log_rest + one(epsilon), log_weight + two(epsilon))
        return lambda epsilon: np.minimum(total(epsilon), 0.0)

    parts = (first, second), (first.reverse(), second.reverse())
    forward, backward = (either(one.log_delta_of, two.log_delta_of) for one, two in parts)
    return Profile(forward, backward, np.append(first.kinks, second.kinks))
