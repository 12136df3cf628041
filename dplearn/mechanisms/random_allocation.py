r"""One epoch of DP-SGD in which every record joins one batch, drawn independently.

**The worst pair.** Fix the batches of all other records; this choice does not depend on the record
and only mixes pairs with equal weights. Given the outputs so far, step t then shifts its noise
by a vector of norm :math:`c_t\le 1` if the record is in batch t, and by nothing else. Turn that
vector into the first axis, and from w ~ N(e_T, sigma^2 I) or w ~ N(0, sigma^2 I) build
:math:`c_tw_t + \sqrt{1-c_t^2}\,\sigma\xi_t` with fresh normal :math:`\xi_t`: this makes the
output, adaptive steps included, without knowing T. So the epoch is post-processing of

.. math:: P = \frac1B\sum_t N(e_t, \sigma^2 I), \qquad Q = N(0, \sigma^2 I),

and is that pair if the other records contribute nothing.

**Its likelihood ratio** is the mean of B independent lognormal variables
:math:`Y = e^{x/\sigma - 1/2\sigma^2}`, x normal, under Q. Both profiles are expectations of convex
functions of that mean: of the two discretisations of `dplearn.mechanisms._epochs` the larger one
dominates the pair, and the pair dominates the smaller one. All terms are positive, so tails keep
their relative accuracy, and rounding is negligible: discretisation raises epsilon by some tenths
of a percent.

**Rényi divergences.** With :math:`w = e^{1/\sigma^2} - 1` the moment :math:`E(Y-1)^k` is
:math:`G_k = \sum w^{\text{edges}}` over the graphs on k points that leave none alone (expand
:math:`E\prod_{i\le k} (Y_i - 1)` with :math:`E\prod_{i\in S} Y_i = (1+w)^{|S|(|S|-1)/2}`). Hence at
whole orders, without a negative term,

.. math:: e^{(\alpha-1)D_\alpha(P\Vert Q)} = 1 + \sum_{k=2}^\alpha \binom\alpha k
          \frac{k!}{B^k}\,[z^k]\Big(\sum_j \frac{G_j z^j}{j!}\Big)^B,

and since :math:`(\alpha-1)D_\alpha` is convex in alpha, the chord between two whole orders lies
above the curve.

**The chord is above the divergence of (Q, P), too**: with f the mean of all Y and
:math:`e^{v'} = 1 + w/B`, the line :math:`\alpha v'/2` is between (this proof is the library's own).
Batches drawn for the points of a graph agree along its edges with a chance of
:math:`B^{-\text{edges}}` or more, so :math:`E[f^k] \ge (1+w/B)^{k(k-1)/2}`, whose logarithm is
convex in k. With :math:`n = \alpha - 1`, :math:`v = 1/\sigma^2` and :math:`A_v(s) = E e^{-sY}`,
:math:`e^{nD_\alpha(Q\Vert P)} = E[f^{-n}] = \int s^{n-1}A_v(s/B)^B\,ds/\Gamma(n)`, and with
:math:`A_{v'}(s)` for the power it is :math:`e^{n\alpha v'/2}`. That is larger: let B
grow from 1 through real numbers at fixed w/B. Then :math:`B\,dv/dB = (q-1)/q`, :math:`q = e^v`, and
:math:`dA_v/dv = s^2E[Y^2e^{-sY}]/2`, as Y is a martingale in v. So :math:`-B\ln A_v(s/B)`
grows if, with :math:`\ell = -\ln A_v` and s for s/B,

.. math:: \ell - s\ell' - \tfrac{q-1}{2q}\,s^2\,E[Y^2e^{-sY}]/A_v \ge 0.

At s = 0 this is 0. Its derivative in s, times :math:`4qA_v^2/s`, is

.. math:: E\,e^{-sS}\big[(q+1)D^2 - (q-1)S^2 + (q-1)sSD^2\big], \quad S = Y_1 + Y_2,\ D = Y_1 - Y_2.

Write :math:`S = 2g\cosh h, D = 2g\sinh h`: h is N(0, v/2), independent of g. The last term by parts
in h makes the bracket :math:`4g^2T` with :math:`T = \sinh 2h\,(q\tanh h - (q-1)h/v)`, of mean 0. As
tanh is concave T is positive for small :math:`|h|`, then negative, where :math:`e^{-sS}` is less. ∎
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dplearn.core.guarantee import Adjacency
from dplearn.core.logspace import log, log_comb, log_expm1, log_sum
from dplearn.engine.profile import Profile
from dplearn.mechanisms._epochs import POINTS, Epoch, Masses, cell_masses, repeated, sum_of
from dplearn.mechanisms.gaussian import Gaussian, gaussian_log_delta

_LARGEST_ORDER = 256  # largest order with an exact moment; higher orders use the Gaussian bound
_REACH = 15.0  # half-width of the grid of log Y, in standard deviations
_LARGEST_SHIFT = 20.0  # with a larger shift the cells' masses underflow


@dataclass(frozen=True)
class RandomAllocation(Epoch):
    """One epoch of noisy steps, with every record in one step, drawn uniformly and independently.

    Also called balls-and-bins sampling (Chua et al. 2025; Feldman & Shenfeld 2025, Privacy
    amplification by random allocation). Batch sizes vary, so the noisy sum is divided by a public
    number. ``profiles`` lies above the exact pair and ``witnesses`` below it; for noise multipliers
    below 1/6 ``profiles`` is that of the Gaussian.

    Parameters
    ----------
    base : Gaussian. The noise of one step.
    batches : int. Steps per epoch, >= 1.
    """

    name = "random_allocation"
    fields_of_examples = ((Gaussian(1.0), 100),)
    conditions = ("each epoch every record is put into one batch, drawn uniformly and on its own",)
    adjacencies = ("add_remove", "zero_out")
    refusal = ("random allocation", "the theorem is for 'add_remove' and 'zero_out'")

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        # One batch amplifies nothing; with little noise, discretisation loses what sampling gains.
        if self.batches == 1 or self.base.shift() > 6.0:
            return self.base.profiles(adjacency)
        above = _pair(self.base.noise_multiplier, self.batches, above=True)
        return (above, above.reverse())

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """Return lower bounds on the profiles for remove and add: of a pair with merged outputs."""
        if self.batches == 1:
            return self.base.profiles(adjacency)
        if self.base.shift() > _LARGEST_SHIFT:
            return ()
        below = _pair(self.base.noise_multiplier, self.batches, above=False)
        return (below, below.reverse())

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Return exact values at whole orders <= 256, chords between them, or values of `base`."""
        values = self.base.rdp(orders, adjacency=adjacency)
        if self.batches == 1 or self.base.noise_multiplier == 0:
            return values
        sigma, summed = self.base.noise_multiplier, orders <= _LARGEST_ORDER
        whole = np.logaddexp(0.0, _log_excess(sigma, self.batches))
        moments = np.interp(orders[summed], np.arange(1.0, _LARGEST_ORDER + 1), whole)
        values[summed] = np.minimum(values[summed], moments / (orders[summed] - 1))
        return values


@lru_cache(32)
def _pair(sigma: float, batches: int, *, above: bool) -> Profile:
    """Return the profile of a discretised pair: an upper bound if `above`, else a lower bound."""
    mu, t = 1 / sigma, np.linspace(-1.0, 1.0, POINTS)
    z = 0.5 * mu + (_REACH + 0.5 * mu) * np.sinh(2.5 * t) / np.sinh(2.5)
    q, p = cell_masses(z), cell_masses(z - mu)
    law, infinity = Masses(p / q, q), -np.inf
    if above:
        y = np.exp(mu * z - 0.5 * mu * mu)
        # Move the mass of each cell, (y_j, y_{j+1}] or [0, y_0], to its ends, with the same mean.
        # The mean of (Y - y_n)_+ bounds the tail's part of the profile: treat it as infinite loss.
        ends, inner_q, inner_p = np.append(0.0, y), q[:-1], p[:-1]
        right = np.clip((inner_p - ends[:-1] * inner_q) / np.diff(ends), 0.0, inner_q)
        law = Masses(ends, np.append(inner_q - right, q[-1]) + np.append(0.0, right))
        infinity = float(gaussian_log_delta(mu * z[-1] - 0.5 * mu * mu, mu))
    total = repeated(law, batches, partial(sum_of, above=above))
    # Scale the likelihood ratio to mean 1, so that P has mass 1.
    value = total.value / (total.mass @ total.value)
    log_q, log_p = log(total.mass), log(value) + log(total.mass)
    return Profile.from_atoms(np.append(log_p, infinity), np.append(log_q, -np.inf))


@lru_cache(32)
def _log_excess(sigma: float, batches: int) -> NDArray:
    """Return log(E[f^a] - 1) for a = 1, 2, ..., where f is the mean of `batches` ratios Y."""
    # log G_n, n = 0, 1, ...: remove point n from a graph; then j points have no edge. Each of
    # them had an edge to n, each of the other m = n - 1 - j may have had an edge to n, and n
    # had at least one edge: G_n = sum_j C(n-1, j) w^j G_m ((1+w)^m - [j = 0]).
    k = np.arange(_LARGEST_ORDER + 1)
    log_w, log_g = float(log_expm1(sigma**-2)), np.where(k == 0, 0.0, -np.inf)
    for n in range(2, _LARGEST_ORDER + 1):
        j = np.arange(n, dtype=float)
        choice = (n - 1 - j) * sigma**-2
        choice[0] = log_expm1(choice[0])
        terms = log_comb(n - 1, j) + j * log_w + log_g[n - 1 :: -1][:n] + choice
        log_g[n] = np.logaddexp.reduce(terms)
    lag = k[:, None] - k
    # Log coefficients of the truncated product of two power series.
    product = lambda one, two: log_sum(np.where(lag >= 0, one[np.maximum(lag, 0)] + two, -np.inf))
    moments = repeated(log_g - gammaln(k + 1), batches, product)
    terms = (moments + gammaln(k + 1) - k * math.log(batches))[2:]
    # In row a the binomial coefficients C(a, k) with k > a are 0.
    return np.logaddexp.reduce(log_comb(k[1:, None], k[2:]) + terms, axis=1)
