r"""One epoch of DP-SGD in which every record goes to one batch drawn for it alone.

**The pair.** Fix the batches of all other records; their choice does not depend on the record,
so it only mixes pairs with equal weights. Given the outputs so far, step t then shifts its noise
by a vector of norm :math:`c_t\le 1` if the record is in batch t, and by nothing else. Turn that
vector into the first axis, and from w ~ N(e_T, sigma^2 I) or w ~ N(0, sigma^2 I) build
:math:`c_tw_t + \sqrt{1-c_t^2}\,\sigma\xi_t` with fresh normal :math:`\xi_t`: this makes the
output, adaptive steps included, without knowing T. So the epoch is post-processing of

.. math:: P = \frac1B\sum_t N(e_t, \sigma^2 I), \qquad Q = N(0, \sigma^2 I),

and is that pair if the other records contribute nothing.

**Its likelihood ratio** is the mean of B independent lognormal variables
:math:`Y = e^{x/\sigma - 1/2\sigma^2}`, x normal, under Q. Both profiles are expectations of
convex functions of that mean: Y is put on a few hundred points, sums are formed on few points
(`dplearn.mechanisms._epochs`), and

* splitting every value between its two neighbouring points gives a law that dominates the pair,
* merging the values of a cell gives a law that the pair dominates.

All terms are positive, so the tails keep their relative accuracy and rounding is negligible
beside the splitting, which costs some tenths of a percent of epsilon.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from dplearn.core.guarantee import Adjacency
from dplearn.engine.profile import Profile
from dplearn.mechanisms._epochs import POINTS, Epoch, Masses, cell_masses, repeated, sum_of
from dplearn.mechanisms.gaussian import Gaussian, gaussian_log_delta

_REACH = 15.0  # of the law of Y, in standard deviations of either side
_LARGEST_SHIFT = 20.0  # from here on the masses of the cells underflow


@dataclass(frozen=True)
class RandomAllocation(Epoch):
    """One epoch of noisy steps; every record is in one of them, drawn uniformly and on its own.

    Also called balls-and-bins sampling (Chua et al. 2025; Feldman & Shenfeld 2025, Privacy
    amplification by random allocation). Batch sizes vary, so the noisy sum is divided by a public
    number. ``profiles`` lies above the exact pair and ``witnesses`` below it, some tenths of a
    percent apart in epsilon; below a noise multiplier of 1/6 ``profiles`` is the Gaussian one.

    Parameters
    ----------
    base : Gaussian
        The noise of one step.
    batches : int
        Steps per epoch, >= 1.

    Examples
    --------
    >>> epoch = RandomAllocation(Gaussian(noise_multiplier=1.0), batches=1000)
    >>> upper, lower = epoch.profiles()[0], epoch.witnesses()[0]
    >>> round(float(lower.epsilon(1e-5)), 4), round(float(upper.epsilon(1e-5)), 4)
    (0.1387, 0.1392)
    """

    name = "random_allocation"
    fields_of_examples = ((Gaussian(1.0), 100),)
    conditions = ("each epoch every record is put into one batch, drawn uniformly and on its own",)
    adjacencies = ("add_remove", "zero_out")
    refusal = ("random allocation", "the theorem is for 'add_remove' and 'zero_out'")

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        # Nothing is gained, or with little noise hardly more than the splitting costs.
        if self.batches == 1 or self.base.shift() > 6.0:
            return self.base.profiles(adjacency)
        above = _pair(self.base.noise_multiplier, self.batches, above=True)
        return (above, above.reverse())

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """Return the pair itself with its outputs merged, in both directions."""
        if self.batches == 1:
            return self.base.profiles(adjacency)
        if self.base.shift() > _LARGEST_SHIFT:
            return ()
        below = _pair(self.base.noise_multiplier, self.batches, above=False)
        return (below, below.reverse())

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return those of one Gaussian; only profiles show what the allocation hides."""
        return self.base.rdp(orders, adjacency=adjacency)


@lru_cache(32)
def _pair(sigma: float, batches: int, *, above: bool) -> Profile:
    """Profile of a finite pair just above, or just below, the exact one."""
    mu, t = 1 / sigma, np.linspace(-1.0, 1.0, POINTS)
    z = 0.5 * mu + (_REACH + 0.5 * mu) * np.sinh(2.5 * t) / np.sinh(2.5)
    q, p = cell_masses(z), cell_masses(z - mu)
    law, infinity = Masses(p / q, q), -np.inf
    if above:
        y = np.exp(mu * z - 0.5 * mu * mu)
        # Cell (y_j, y_{j+1}] with mass q and mean p/q is split between its ends, [0, y_0] likewise;
        # of (Y - y_n)_+ only the mean is kept: it can raise the profile by that much and no more.
        ends, inner_q, inner_p = np.append(0.0, y), q[:-1], p[:-1]
        right = np.clip((inner_p - ends[:-1] * inner_q) / np.diff(ends), 0.0, inner_q)
        law = Masses(ends, np.append(inner_q - right, q[-1]) + np.append(0.0, right))
        infinity = float(gaussian_log_delta(mu * z[-1] - 0.5 * mu * mu, mu))
    total = repeated(law, batches, partial(sum_of, above=above))
    # The mean is 1 up to rounding; what is left of P is the infinite loss.
    value = total.value / (total.mass @ total.value)
    with np.errstate(divide="ignore"):
        log_q, log_p = np.log(total.mass), np.log(value) + np.log(total.mass)
    return Profile.from_atoms(np.append(log_p, infinity), np.append(log_q, -np.inf))
