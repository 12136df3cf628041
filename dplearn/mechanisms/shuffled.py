r"""One epoch of DP-SGD on fixed batches of a shuffled dataset.

**Upper bound.** For a fixed order the record is in one batch; earlier steps do not use
it, later steps are post-processing of noisy updates, so the epoch is one Gaussian
release of the record. A shuffled epoch is a mixture of fixed orders with the same weights for
both neighbours, and the hockey-stick divergence is jointly convex: the mixture leaks no more than
one Gaussian release. If every record is used, that is the bound of this module; if one is
left out, the far smaller bound of `_shuffle_bounds` (this proof is the library's own).

An added or removed record moves the border of every later batch, and no bound is given,
unless a record is left out: then insert the new record at a uniform position, and move the record
there to the last position, in no batch. Both orders are uniform, and one batch is shifted by
:math:`x - v`, of norm 2 at most: post-processing of random allocation with half the noise.

**Lower bound.** In units of the clipping norm let every other record contribute -1 to every
gradient, and the differing record +1, or 0 if zeroed out. A batch of m records then sums
to -m, except the record's batch, 2 or 1 above that. Up to the public -m the epoch releases

.. math:: P = \frac1B\sum_t N(2e_t, \sigma^2 I), \qquad Q = \frac1B\sum_t N(e_t, \sigma^2 I),

both mixed with :math:`R = N(0, \sigma^2 I)` by the share of records left out. If instead the record
is replaced by one that contributes -1, or removed and one is left out, Q is R. Every function of
that release gives a valid lower bound. Two statistics are discretised: the largest coordinate,
which is best for little noise, and the sum of :math:`dN(2e_t)/dR - dN(e_t)/dR`, the slope of
:math:`\ln dP/dQ`, in blocks of 1, 2, 4, ... steps whose sums are merged into few cells.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.engine.profile import Profile
from dplearn.mechanisms._epochs import Epoch, Masses, cell_masses, repeated, sum_of
from dplearn.mechanisms._shuffle_bounds import shuffled_profile
from dplearn.mechanisms.gaussian import Gaussian
from dplearn.mechanisms.random_allocation import RandomAllocation

# Cells for the largest coordinate, cells for one step, and largest shift with amplification.
_CELLS, _FEWER, _LARGEST_SHIFT = 8000, 512, 6.0


@dataclass(frozen=True)
class Shuffled(Epoch):
    """One epoch of noisy steps on the batches of a randomly permuted dataset.

    ``profiles`` are upper bounds, for batches of public sizes, none larger than 1 / `batches` of
    the records: one Gaussian release per epoch if every record is used, and far less, proved in
    this library, if one is left out. ``witnesses`` are real pairs, for equal batches (Chua et al.
    2024, How private are DP-SGD implementations?). ``add_remove`` needs a record left out.

    Parameters
    ----------
    base : Gaussian. The noise of one step.
    batches : int. Steps per epoch, >= 1; every record takes part in at most one of them.
    left_out : float. Share of the records, drawn by the permutation, that no batch of an epoch
        uses, in [0, 1]. Any positive share has the same upper bound.
    """

    left_out: float = 0.0

    name = "shuffled"
    fields_of_examples = ((Gaussian(1.0), 100, 0.01), (Gaussian(4.0), 10))
    refusal = (
        "shuffled batches that use every record",
        "a record that leaves moves the border of every batch behind it, "
        "use 'zero_out' or 'replace_one', or leave a record out: drop_last",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.between(0.0, 1.0, left_out=self.left_out)

    @property
    def assumptions(self) -> tuple[str, ...]:
        used = (
            "every record is used once, and leaving one out, drop_last, "
            "would cost little and save much"
        )
        if self.left_out:
            used = "at least one record, drawn at random, is left out of it"
        return (
            "a fresh random permutation each epoch, cut into batches of equal size",
            f"one permutation is one epoch: {used}",
            *self.base.assumptions,
        )

    @property
    def attained(self) -> bool:
        return super().attained and not self.left_out

    def require_theorem(self, adjacency: Adjacency) -> None:
        super().require_theorem(adjacency)
        if adjacency == "add_remove" and not self.left_out:
            what, why = self.refusal
            raise validate.unsupported(f"adjacency={adjacency!r} for {what}", why)

    @property
    def _halved(self) -> RandomAllocation:
        """Random allocation with half the noise; it dominates this mechanism under add_remove."""
        return RandomAllocation(Gaussian(self.base.noise_multiplier / 2), self.batches)

    def dominating(self, adjacency: Adjacency) -> Gaussian:
        """Return the dominating Gaussian, which has half the noise under add_remove."""
        return self._halved.base if adjacency == "add_remove" else self.base

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        if adjacency == "add_remove":
            return self._halved.profiles()
        if not self.left_out or self.batches == 1 or self.base.shift() > _LARGEST_SHIFT:
            return self.base.profiles(adjacency)
        replaced = adjacency == "replace_one"
        above = shuffled_profile(self.base.noise_multiplier, self.batches, replaced=replaced)
        return (above,) if replaced else (above, above.reverse())

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        sigma = self.base.noise_multiplier
        if self.attained or sigma == 0:
            return self.base.profiles(adjacency)
        position = 1 / sigma if adjacency == "zero_out" else 0.0
        shown = [_largest(2 / sigma, position, self.batches, self.left_out)]
        if position and self.base.shift() <= _LARGEST_SHIFT:
            shown.append(_summed(sigma, self.batches, self.left_out))
        elif not position:
            shown += [p.mix_first(1 - self.left_out) for p in self._halved.witnesses()[:1]]
        larger = _larger(shown)
        return (larger, larger.reverse())

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        if adjacency == "add_remove":
            return self._halved.rdp(orders)
        return self.base.rdp(orders, adjacency=adjacency)


def _largest(record: float, other: float, batches: int, left_out: float) -> Profile:
    """Return the profile of the largest coordinate: P shifts one by `record`, Q one by `other`."""
    # The largest coordinate is below `first` with probability at most exp(-690).
    first = float(ndtri(math.exp(-690.0 / batches)))
    x = np.linspace(first - 38.0 / batches, record + 38.0, _CELLS)
    others = (batches - 1) * log_ndtr(x)

    def masses(shift: float) -> NDArray:
        below = np.exp(log_ndtr(x - shift) + others)
        above = ndtr(shift - x) - ndtr(x - shift) * np.expm1(others)
        # Take differences of the smaller tail, because they are more accurate.
        return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))

    return _pair(masses(0.0), masses(record), masses(other), left_out)


@lru_cache(32)
def _summed(sigma: float, batches: int, left_out: float) -> Profile:
    """Return the profile of the sum of density ratios (p - q) / r over all steps, in few cells."""
    mu, t = 1 / sigma, np.linspace(-1.0, 1.0, _FEWER)
    z = mu + (15.0 + mu) * np.sinh(2.5 * t) / np.sinh(2.5)
    r, p, q = (cell_masses(z - shift) for shift in (0.0, 2 * mu, mu))
    r, p, q = (x[r > 0] for x in (r, p, q))
    # Shift (p - q) / r >= -exp(mu^2) / 4 so that all summands are positive.
    value = (p - q) / r - np.min((p - q) / r) + 1
    order = np.argsort(value)
    one = Masses(value[order], r[order], ((p / r)[order], (q / r)[order]))
    total = repeated(one, batches, partial(sum_of, above=False))
    p, q = (total.mass * x / batches for x in total.along)
    return _pair(total.mass, p, q, left_out)


def _pair(r: NDArray, p: NDArray, q: NDArray, left_out: float) -> Profile:
    """Return the profile of masses (1-w)p + wr against (1-w)q + wr, with w = `left_out`."""
    p, q = ((1 - left_out) * x + left_out * r for x in (p, q))
    # Drop inaccurate, nearly underflowed masses: hiding outputs only lowers the profile.
    known = np.minimum(p, q) > 1e-290
    return Profile.from_atoms(np.log(p[known]), np.log(q[known]))


def _larger(pairs: list[Profile]) -> Profile:
    """Return the pointwise maximum of several lower bounds on the profile of one pair."""

    def log_delta(sides: list[Profile], epsilon: NDArray) -> NDArray:
        return np.max([p.log_delta_of(epsilon) for p in sides], axis=0)

    def log_tail(sides: list[Profile], epsilon: NDArray) -> NDArray:
        best = np.argmax([p.log_delta_of(epsilon) for p in sides], axis=0)
        return np.choose(best, [p.log_tails(epsilon)[1] for p in sides])

    back = [p.reverse() for p in pairs]
    delta, reverse = partial(log_delta, pairs), partial(log_delta, back)
    return Profile(delta, reverse, (), partial(log_tail, pairs), partial(log_tail, back))
