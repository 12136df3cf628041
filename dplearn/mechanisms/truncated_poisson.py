r"""Poisson lots of bounded size: what is beyond the largest is left out by chance.

**Theorem.** Let n be the size of the larger of two neighbours, of which every record but one is
the same; let each record be drawn with chance q, and keep a uniform subset of L where more are
drawn. Tell the attacker which other records were drawn: that can only help, and it tells nothing
of the record, whose own coin is tossed apart. Say they are k.

* If k < L nothing is cut, whether the record is drawn or not: the step is one Poisson step.
* If k >= L, a set of L others, uniform, is summed up without the record. With it, which has the
  chance :math:`\kappa = qL/(k+1)`, the sum has the record in the place of one of them. The laws are
  :math:`(1-\kappa)A+\kappa B` and either A (the record is not there) or
  :math:`(1-\kappa)A+\kappa B_0` (its place stays and contributes nothing). From A, B is at most two
  norms away, :math:`B_0` at most one, and B is at most one from :math:`B_0`. By advanced joint
  convexity (Balle, Barthe & Gaboardi 2018, Theorem 2) the profile is, in both directions, at most
  that of a subset of fixed size drawn at the rate :math:`\kappa \le q`, under ``replace_one``.

So a step leaks at most :math:`(1-t)\,\delta_{\text{Poisson}}(\varepsilon) +
t\,\delta_{\text{fixed}}(\varepsilon)` with :math:`t = P(\mathrm{Bin}(n-1, q) \ge L)`: the profile
of one pair of laws, whatever was released before, so that it composes. If all others contribute
nothing, it leaks as much as a Poisson step at the rate at which the record is kept, which is
:math:`q(1-t)` or more.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from dplearn.engine.profile import Profile
from dplearn.ground import validate
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp, log_add
from dplearn.mechanisms._base import Wrapped
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.sampled import PoissonSubsampled, WithoutReplacement

# Up to so many records the binomial tail is known to this relative error; it is rounded up by it.
_MOST_RECORDS, _TAIL_ERROR = 10**8, 1e-6


@dataclass(frozen=True)
class TruncatedPoisson(Wrapped):
    """A Gaussian on a Poisson sample, of which at most `largest` records are kept, by chance.

    Lots of one shape are what compiled code and accelerators want (Chua, Ghazi, Kamath, Kumar,
    Manurangsi, Sinha & Zhang 2024, Scalable DP-SGD, pay for it in delta; here the lots that were
    cut have a profile of their own). ``profiles`` is an upper bound, and ``witnesses`` the leak where
    other records contribute nothing; they are as near as the largest lot is rare.

    Parameters
    ----------
    base : Gaussian
        The noise of one step.
    sample_rate : float
        Chance of each record to be drawn, in (0, 1].
    dataset_size : int
        Public number of records of the larger neighbour, from 1 to 10^8.
    largest : int
        Records that a lot has at most, >= 1.

    Examples
    --------
    >>> step = TruncatedPoisson(Gaussian(1.0), 0.01, dataset_size=10_000, largest=160)
    >>> print(step.guarantee(delta=1e-5, steps=1000))
    1.827 <= epsilon <= 1.829 at delta = 1.0e-05, add_remove, by pld
    """

    base: Gaussian
    sample_rate: float
    dataset_size: int
    largest: int

    name = "truncated_poisson"
    fields_of_examples = ((Gaussian(1.0), 0.01, 10_000, 140), (Gaussian(2.0), 0.5, 3, 1))
    conditions = ("Poisson sampling, fresh each step, of which a uniform subset is kept",)
    adjacencies = ("add_remove", "zero_out")
    refusal = ("Poisson sampling that is cut", "the theorem is for 'add_remove' and 'zero_out'")
    no_outputs = "lots that were cut and lots that were not are told apart"

    def __post_init__(self) -> None:
        validate.instance(Gaussian, base=self.base)
        validate.rate(sample_rate=self.sample_rate)
        validate.integer(minimum=1, maximum=_MOST_RECORDS, dataset_size=self.dataset_size)
        validate.integer(minimum=1, largest=self.largest)

    @property
    def attained(self) -> bool:
        return self.largest >= self.dataset_size

    @property
    def log_cut(self) -> float:
        """log of the chance that others fill the lot, rounded up."""
        tail = binom.logsf(self.largest - 1, self.dataset_size - 1, self.sample_rate)
        return min(float(tail) + _TAIL_ERROR, 0.0)

    def dominating(self, adjacency: Adjacency) -> Gaussian:
        """Half the noise: a record may take the place of another."""
        return self.base if self.attained else Gaussian(self.base.noise_multiplier / 2)

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        poisson = PoissonSubsampled(self.base, self.sample_rate).profiles(adjacency)
        if self.attained:
            return poisson
        (fixed,) = WithoutReplacement(self.base, self.sample_rate).profiles("replace_one")
        return tuple(_either(profile, fixed, self.log_cut) for profile in poisson)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """The others contribute nothing: a Poisson step, at no less than the rate of lots uncut."""
        uncut = float(np.exp(log1mexp(self.log_cut)))
        step = PoissonSubsampled(self.base, self.sample_rate * uncut) if uncut else None
        return step.witnesses(adjacency) if step else ()


def _either(first: Profile, second: Profile, log_weight: float) -> Profile:
    """Profile of the first pair or, with this weight, the second; which it is, is told."""
    log_rest = log1mexp(log_weight)

    def either(one, two):  # type: ignore[no-untyped-def]
        return lambda epsilon: log_add(log_rest + one(epsilon), log_weight + two(epsilon))

    parts = (first, second), (first.reverse(), second.reverse())
    forward, backward = (either(*(p.log_delta_of for p in pair)) for pair in parts)
    return Profile(forward, backward, np.append(first.kinks, second.kinks))
