r"""A noisy sum over a random subset, between two given data sets: what these data leak.

Each of n records contributes -1 or 1, in contribution norms, and m of them are drawn. One record
turns from -1 to 1; of the n - 1 others `alike` contribute 1. The number of ones among the others
that are drawn is hypergeometric: S where the record stays out, U with m - 1 draws where it is in.
With q = m/n, noise of half the multiplier (a one moves the sum by 2), and laws of counts below,

.. math:: P = (1-q)S + q(U+1), \qquad Q = (1-q)S + qU, \qquad\text{both plus Gaussian noise.}

The weights of P over those of Q grow with the count, and so does the loss L with the output x. So
one threshold attains delta, and with :math:`\bar F` for masses beyond it

.. math:: \delta(\varepsilon) = q\,\big(\bar F_{U+1} - \bar F_U\big)(x)
          - (e^\varepsilon-1)\,\bar F_Q(x), \qquad L(x) = \varepsilon,

whose first difference is a sum of positive terms. There the excess of P over
:math:`e^\varepsilon Q` vanishes, a sum over counts that changes its sign once: the loss of a count
itself grows. The log of what is above 0 over what is below has a slope of at least
:math:`1/\sigma^2`, so every trial bounds the threshold x on both sides; and as delta is stationary
there, an x that is off by :math:`\Delta` costs it :math:`\Delta^2`. The counts at x have the mean
at which a count's own loss would be :math:`\varepsilon`, if m are drawn from n + 1 records, the one
in question both ways; none far from it matters. Turned round, every contribution changes its
sign: the other order is this one with n - 1 - `alike`.
"""

import dataclasses
import math
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dplearn.core import validate
from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import log1mexp, log_expm1, log_sub, log_sum
from dplearn.core.work import spend
from dplearn.engine.profile import Profile
from dplearn.mechanisms._base import Mechanism, Outputs

# Counts from which on an integral is long at orders above _ORDER, and at all; a log delta without
# digits.
_RIPPLES, _MOST_COUNTS, _ORDER, _DEEP = 200, 2000, 10**4, -1e6
# Epsilons that share their counts, mean counts too; trials for a threshold, about five needed.
_BLOCK, _APART, _MOST_TRIALS = 128, 200, 100


@dataclass(frozen=True)
class SubsetSum(Mechanism):
    """Noisy sum over a random subset of records, each -1 or 1; neighbours differ in one sign.

    It holds exactly the two cases of Wang, Balle & Kasiviswanathan (2019), Section 5. A point by
    "pld" may take three seconds of the processor where thousands are drawn under much noise.

    Parameters
    ----------
    noise_multiplier : float
        Noise / size of a contribution, > 0; contributions of 1/2 and noise 5 make 10.
    records : int
        Size of the data set, >= 1.
    batch : int
        How many records are drawn, without replacement.
    alike : int
        How many of the others contribute what the record turns to: 0 is the bad case, half of
        them the good one.

    Examples
    --------
    >>> bad, good = SubsetSum(1.0, 1000, 10), SubsetSum(1.0, 1000, 10, alike=500)
    >>> [f"{m.rdp([16], adjacency='replace_one')[0]:.3g}" for m in (bad, good)]
    ['27.1', '0.000293']
    """

    noise_multiplier: float
    records: int
    batch: int
    alike: int = 0

    name = "subset_sum"
    fields_of_examples = ((2.0, 40, 4), (2.0, 40, 4, 20), (1.0, 1000, 10, 5))
    conditions = (
        "contributions are fixed beforehand, each -1 or 1 norms",
        "a fresh subset of fixed size each step",
    )
    adjacencies = ("replace_one",)
    refusal = ("a sum over a subset", "one record is turned round")
    rdp_at_once = True

    def __post_init__(self) -> None:
        validate.scale(noise_multiplier=self.noise_multiplier)
        validate.integer(minimum=1, records=self.records)
        validate.integer(minimum=1, maximum=self.records, batch=self.batch)
        validate.integer(minimum=0, maximum=self.records - 1, alike=self.alike)

    @property
    def only_for(self) -> str:
        return "these two data sets"

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        ahead, behind = _Pair(self), _Pair(self._turned())
        ends = [pair.largest for pair in (ahead, behind) if math.isfinite(pair.largest)]
        tails = ahead.log_tail, behind.log_tail
        forward = Profile(ahead.log_delta, behind.log_delta, ends, *tails)
        return (forward, forward.reverse())

    def _turned(self) -> Self:
        return dataclasses.replace(self, alike=self.records - 1 - self.alike)

    def _outputs(self, adjacency: Adjacency) -> tuple[Outputs, ...]:
        pair = _Pair(self)
        lower, upper = pair.count[0] - 9 * pair.sigma, pair.count[-1] + 9 * pair.sigma
        p, q = (partial(pair.log_density, law) for law in (1, 0))
        # Little noise has a peak at every count.
        peaks = tuple(pair.count) if pair.sigma < 1 and pair.count.size < 100 else ()
        forward = Outputs(
            p, q, lower, upper, peaks, label="number of ones in the subset, plus noise"
        )
        return (forward, forward.reverse())

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray | None:
        """Return the profile's integral, or where it is long what noise and counts prove."""
        pairs = _Pair(self), _Pair(self._turned())
        counts, low = max(pair.count.size for pair in pairs), orders <= _ORDER
        if counts < _RIPPLES:
            return None
        values = np.minimum(2 * orders / self.noise_multiplier**2, max(p.largest for p in pairs))
        if counts < _MOST_COUNTS and np.any(low):
            # Higher orders would follow the loss's ripple at each of many counts.
            sides = self._profiles(adjacency)
            values[low] = np.max([side.renyi(orders[low]) for side in sides], axis=0)
        return values


class _Pair:
    """P and Q in this order, as mixtures of Gaussians at the counts."""

    def __init__(self, m: SubsetSum) -> None:
        self.sigma, rate = 0.5 * m.noise_multiplier, m.batch / m.records
        count = np.arange(min(m.batch, m.alike) + 2.0)
        law = partial(_hypergeometric, count.size, m.records - 1, m.alike)
        log_u = math.log(rate) + law(m.batch - 1)
        stays = math.log1p(-rate) + law(m.batch) if m.batch < m.records else -np.inf
        raised = np.append(-np.inf, log_u[:-1])
        laws = np.stack([np.logaddexp(stays, log_u), np.logaddexp(stays, raised), log_u, raised])
        used = np.any(np.isfinite(laws), axis=0)
        self.count, self.laws = count[used], laws[:, used]
        self._size, self._ones, self._drawn = m.records + 1, m.alike + 1, m.batch
        # The loss of each count itself, without noise: nothing cancels.
        more = self.count * self._size - self._drawn * self._ones
        with np.errstate(divide="ignore"):
            left = (self._ones - self.count) * (self._size - self._ones)
            self._steps = np.log1p(more / left)
        self.largest = float(self._steps[-1])
        self._past = np.append(np.logaddexp.accumulate(self.laws[0, ::-1])[::-1], -np.inf)
        # The log of the chance of a count at an output is curved by that of the draw and of noise.
        self._reach = 3 + 14 / math.sqrt(4 / (m.batch + 1) + 1 / self.sigma**2)

    def log_density(self, law: int, x: NDArray) -> NDArray:
        """log of the density of Q (law 0) or P (law 1) at x."""
        noise = -0.5 * ((np.asarray(x)[..., None] - self.count) / self.sigma) ** 2
        return log_sum(self.laws[law] + noise) - math.log(self.sigma * math.sqrt(2 * math.pi))

    def _near(self, least: float, most: float) -> slice:
        """Return the counts in reach: the chances of others sum to less than e^-45 of theirs."""
        ends = least - self._reach, most + self._reach
        return slice(*map(int, np.searchsorted(self.count, ends)))

    def log_delta(self, epsilon: NDArray) -> NDArray:
        ahead, behind = self._beyond(epsilon)
        deltas = log_sub(ahead, log_expm1(epsilon) + behind)
        # Far out rounding is larger than the difference, and its first part a bound from above.
        return np.where(ahead < _DEEP, ahead, deltas)

    def log_tail(self, epsilon: NDArray) -> NDArray:
        return self._beyond(epsilon)[1]

    def _beyond(self, epsilon: NDArray) -> NDArray:
        """log of q (F_{U+1} - F_U) and of F_Q past the threshold; -inf where no loss is larger."""
        logs = np.full((2, *epsilon.shape), -np.inf)
        inside = epsilon < self.largest
        chosen = epsilon[inside]
        # Epsilons whose mean counts are far apart share few counts.
        cuts = 1 + np.flatnonzero(np.diff(np.floor(self._mean(chosen) / _APART)))
        near = [np.array_split(part, part.size // _BLOCK + 1) for part in np.split(chosen, cuts)]
        logs[:, inside] = np.concatenate([self._tails(x) for part in near for x in part], axis=1)
        return logs

    def _mean(self, epsilon: NDArray) -> NDArray:
        """Return the mean count at the threshold, of m draws from all n + 1 records."""
        ones, rest = math.log(self._ones), math.log(self._size - self._ones)
        weight = np.logaddexp(math.log(self._size), log_expm1(epsilon) + rest)
        return self._ones - np.exp(ones + math.log(self._size - self._drawn) - weight)

    def _tails(self, epsilon: NDArray) -> NDArray:
        """Return the same of some epsilons, from the counts in reach of their thresholds."""
        if not epsilon.size:
            return np.empty((2, 0))
        mean = self._mean(epsilon)
        near = self._near(np.min(mean), np.max(mean))
        place = self._threshold(epsilon, mean, near)
        # Counts far above all thresholds are past them, whatever the noise.
        last = int(np.searchsorted(self.count, np.max(place) + 9.5 * self.sigma))
        near = slice(near.start, max(near.stop, last))
        count = np.append(self.count[near], self.count[near.stop - 1] + 1)
        spend(30 * place.size * count.size)
        tail = log_ndtr((count - place[:, None]) / self.sigma)
        rise = log_sub(tail[:, 1:], tail[:, :-1])
        past = np.append(self.laws[0, near], self._past[near.stop])
        return np.array([log_sum(self.laws[2, near] + rise), log_sum(past + tail)])

    def _threshold(self, epsilon: NDArray, mean: NDArray, near: slice) -> NDArray:
        """Solve loss = epsilon by Newton's method, between ends that are proved."""
        count, variance = self.count[near], self.sigma**2
        gap = epsilon[:, None] - self._steps[near]
        above = gap < 0
        law = np.where(above, self.laws[1, near], epsilon[:, None] + self.laws[0, near])
        fixed = law + log1mexp(-np.abs(gap))
        # Where the mean is the likeliest, by the slope there of the log of the law of counts.
        ones, drawn = self._ones - mean + 0.5, self._drawn - mean + 0.5
        rest = self._size - self._ones - self._drawn + mean + 0.5
        x = mean - variance * np.log(ones * drawn / ((mean + 0.5) * rest))
        centre = np.floor(mean)[:, None]
        middle, turn = 0.5 * (count + centre), (count - centre) / variance
        enough = 1e-7 * min(self.sigma, math.sqrt(self.sigma))
        lower, upper = np.full(x.shape, -np.inf), np.full(x.shape, np.inf)
        for _ in range(_MOST_TRIALS):
            spend(10 * fixed.size)
            # The noise's log density less that of the count below the mean.
            terms = fixed + (x[:, None] - middle) * turn
            log_high, mean_high = _moments(np.where(above, terms, -np.inf), count)
            log_low, mean_low = _moments(np.where(above, -np.inf, terms), count)
            # The slope is the difference of the means, at least 1.
            excess = variance * (log_high - log_low)
            lower = np.maximum(lower, np.where(excess > 0, x - excess, x))
            upper = np.minimum(upper, np.where(excess > 0, x, x - excess))
            new = x - excess / np.maximum(mean_high - mean_low, 1.0)
            # The next step would be about the square of this.
            close = np.abs(new - x) <= enough + 4e-15 * np.abs(x)
            x = np.where((new >= lower) & (new <= upper), new, 0.5 * (lower + upper))
            if np.all(close):
                break
        return x


def _hypergeometric(size: int, others: int, alike: int, drawn: int) -> NDArray:
    """Log chances of the counts 0, 1, ..., by their ratios: exact up to the rounding of these."""
    first, last = max(0, drawn - others + alike), min(drawn, alike)
    k = np.arange(first, last, dtype=float)
    more = np.log((alike - k) / (k + 1) * ((drawn - k) / (others - alike - drawn + k + 1)))
    law = np.full(size, -np.inf)
    law[first : last + 1] = np.append(0.0, np.cumsum(more))
    return law - np.logaddexp.reduce(law)


def _moments(logs: NDArray, count: NDArray) -> tuple[NDArray, NDArray]:
    top = np.max(logs, axis=-1)
    weights = np.exp(logs - top[:, None])
    total = np.sum(weights, axis=-1)
    return np.log(total) + top, weights @ count / total
