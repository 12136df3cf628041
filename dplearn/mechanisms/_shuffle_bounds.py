r"""Upper bounds for one epoch of shuffled batches that omits at least one record.

**Setting.** An order of all n records is drawn uniformly; step t releases the noisy sum of the
clipped gradients of batch t, a fixed set of positions. Let :math:`N_c` be the law
:math:`N(c/\sigma, 1)`, :math:`\alpha = e^\varepsilon`, and P and Q the epoch with the record and
with its gradients zeroed out.

**Theorem.** If at least one position b belongs to no batch, and no batch
has more than n/B records, then for gradients that depend on all earlier releases

.. math:: \delta_{P,Q}(\varepsilon) \le \tfrac1B E(D_1 + \dots + D_B)_+,

with independent D of the distribution with the stop-loss transform :math:`\pi(k) = E(D - k)_+`:

.. math:: \pi(k) = \int (N_1 - \alpha N_0 - kN_{-1})_+ \ (k \ge 0), \qquad
          \int ((1 - k)N_1 - \alpha N_0)_+ \ (k < 0);

for :math:`\delta_{Q,P}` with :math:`\int (N_0 - (\alpha + k)N_1)_+` and
:math:`\int (N_0 - kN_{-1} - \alpha N_1)_+`, and for a replaced record with
:math:`\int (N_2 - (\alpha + k)N_0)_+` and :math:`\int ((1 - k)N_2 - \alpha N_0)_+`.

*Proof.* Draw an initial order with the record at b. Exchanging it with the record at a uniform
position s gives a uniform order. Give the attacker the initial order, and for each batch one
uniform position that the record takes if it enters the batch: this only helps the attacker.
Only the record's batch T is then unknown. If T = t, step t has the mean :math:`c_t + x_t` (or
:math:`c_t`) instead of :math:`c_t + v_t`, where v is the gradient of the displaced record;
all other steps have the distribution R of the initial order. So at the output of step t, with
:math:`D_t = [N(c_t + x_t) - \alpha N(c_t)] / N(c_t + v_t)`,

.. math:: \frac{P - \alpha Q}R = \sum_t a_tD_t + a_0(1 - \alpha),

where a_t is the share of batch t and a_0 that of the records left out. Given the past, D_t has
mean 1 - alpha and a transform of at most pi: for the integrals with two different points because a
mixture is no further away than its points; in the others move v to -x and both to length 1, which
never lowers the integral (differentiate; on the border of the set integrated over the
gradient of its logarithm points along x - lv, or lv - x, with 0 < l < 1). Replacing :math:`D_B,
D_{B-1}, \dots` by independent ones one after the other raises :math:`E(\cdot)_+`, and so does
spreading a_0 over further D; the shares, none above 1/B, are majorised by B times 1/B. ∎

**Rounding.** D is discretised to a lattice by the chords of pi, with masses rounded up, which only
raises the mean of a positive part. Values beyond the lattice add at most their mean. The
distribution of the sum is computed by FFT as in `dplearn.engine.lattice`, with the rounding error
of every cell added; a Chernoff bound covers sums beyond its range, which may count twice.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dplearn.core.logspace import log
from dplearn.engine.lattice.laws import chords
from dplearn.engine.lattice.sum import Law, Window, of_scale, power
from dplearn.engine.profile import Profile
from dplearn.mechanisms.gaussian import gaussian_log_delta

_TERM = 2.0**-42  # bound on the relative error of a normal tail probability
_FLOOR = 1e-20  # below this delta only the Gaussian bound is used
_MOST_NODES = 200
# Number of lattice cells for D > 0; above `_MANY` batches it doubles.
_CELLS, _MANY = 2**12, 10**4
# Intended decrease of log delta from one epsilon to the next: constant, and increase per epsilon.
_DECREASE, _DECREASE_PER_NODE = 0.15, 0.008
_TILTS = np.geomspace(0.05, 100.0, 24)  # candidate exponential tilts * half-width of the lattice

# Function from k >= 0 to E(D - k)_+ or E(-k - D)_+, and to a bound on the rounding error.
_Transform = Callable[[NDArray], tuple[NDArray, NDArray]]
_Transforms = tuple[_Transform, _Transform]
_Curve = tuple[NDArray, NDArray]  # epsilons >= 0 and their deltas


@lru_cache(32)
def shuffled_profile(sigma: float, batches: int, *, replaced: bool) -> Profile:
    """Return an upper bound on the privacy profile of every shuffled epoch that omits a record."""
    shift, ways = (2 / sigma, ["replace"]) if replaced else (1 / sigma, ["remove", "add"])
    curves = [_curve(_Epoch(sigma, batches, way), shift) for way in ways]
    (ahead, over), (back, under) = _joined(curves[0], curves[-1])
    nodes = np.concatenate([-back[:0:-1], ahead])
    masses, infinity = chords(nodes, np.append(under[:0:-1] * np.exp(-back[:0:-1]), over))
    log_p = log(np.append(masses, [infinity, 0.0]))
    log_q = np.concatenate([log_p[:-2] - nodes, [-np.inf], log(under[-1:])])
    dots = Profile.from_atoms(log_p, log_q)

    def least(curve: Callable[[NDArray], NDArray], epsilon: NDArray) -> NDArray:
        return np.minimum(curve(epsilon), gaussian_log_delta(epsilon, shift))

    sides = (partial(least, curve) for curve in (dots.log_delta_of, dots.reverse().log_delta_of))
    return Profile(*sides, kinks=dots.kinks)


def _curve(epoch: "_Epoch", shift: float) -> _Curve:
    def bound(epsilon: float) -> float:
        gaussian = math.exp(float(gaussian_log_delta(epsilon, shift)))
        return min(epoch.delta(epsilon), gaussian)

    points = [(0.0, bound(0.0))]
    step = 0.2 * points[0][1]
    while (last := points[-1])[1] > _FLOOR and len(points) < _MOST_NODES:
        epsilon = last[0] + step
        points.append((epsilon, min(bound(epsilon), last[1])))
        fall = math.log(last[1]) - math.log(points[-1][1] + 1e-300)
        pace = (_DECREASE + _DECREASE_PER_NODE * len(points)) / max(fall, 1e-9)
        step *= min(max(pace, 0.3), 2.0)
    epsilon, delta = np.array(points).T
    return epsilon, delta


def _joined(first: _Curve, second: _Curve) -> tuple[_Curve, _Curve]:
    """Return both directions' convex hulls, with a common delta(0), convex across epsilon = 0."""
    at_zero = min(first[1][0], second[1][0])
    while True:
        ahead, back = (_hull(e, np.append(at_zero, y[1:])) for e, y in (first, second))
        right, left = math.expm1(ahead[0][1]), -math.expm1(-back[0][1])
        before = left + back[1][1] * (1 - left)
        line = (left * ahead[1][1] + right * before) / (left + right)
        if at_zero <= line:
            return ahead, back
        at_zero = line


def _hull(epsilon: NDArray, y: NDArray) -> _Curve:
    """Return the points on the lower convex hull of delta as a function of exp(epsilon)."""
    x = np.exp(epsilon)
    hull: list[int] = []
    for k in range(x.size):
        while len(hull) > 1:
            i, j = hull[-2:]
            if (y[j] - y[i]) * (x[k] - x[j]) < (y[k] - y[j]) * (x[j] - x[i]):
                break
            hull.pop()
        hull.append(k)
    return epsilon[hull], y[hull]


class _Epoch:
    """Upper bounds on delta at increasing epsilons, for a removed, added or replaced record."""

    def __init__(self, sigma: float, batches: int, way: str) -> None:
        self.shift, self.batches, self.way = 1 / sigma, batches, way
        self.reach: float | None = None  # half-width of the best lattice at the previous epsilon
        self.half = _CELLS * (1 if batches <= _MANY else 2)

    def delta(self, epsilon: float) -> float:
        """Return the upper bound on delta at `epsilon` >= 0 by the theorem of this module."""
        e, count = math.exp(epsilon), self.batches
        law = _transforms(e, self.shift, self.way)
        if self.reach is not None:
            tries = self.reach * np.array([0.6, 1.0, 1.6])
        else:
            k, (over, under) = np.geomspace(1e-9, 1e9, 120), law
            square = 2 * np.trapezoid(k * (over(k)[0] + under(k)[0]), np.log(k))
            tries = (10 * math.sqrt(count * square) + 1.25 * count * (e - 1)) / 4.0 ** np.arange(11)
        value, self.reach = min((_positive_part(count, law, k, self.half), k) for k in tries)
        return value / count


def _transforms(e: float, shift: float, way: str) -> _Transforms:
    """Return stop-loss transforms of the theorem's D for a removed, added or replaced record."""
    if way == "replace":
        shift *= 2

    def over(k: NDArray) -> tuple[NDArray, NDArray]:
        return _excess(1, e, k, shift) if way == "remove" else _excess(1, e + k, 0 * k, shift)

    def under(k: NDArray) -> tuple[NDArray, NDArray]:
        return _excess(e, 1, k, shift) if way == "add" else _excess(e, 1 + k, 0 * k, shift)

    return over, under


def _excess(a: float, b: float | NDArray, c: NDArray, shift: float) -> tuple[NDArray, NDArray]:
    """Return the integral of (a N_1 - b N_0 - c N_{-1})_+ and a bound on its rounding error."""
    # The integrand is positive where w^2 - 2 half w > c / a with w = exp(shift x), so for x > y.
    half = 0.5 * b * math.exp(0.5 * shift * shift) / a
    y = np.log(half + np.sqrt(half * half + c / a)) / shift
    gain, loss = a * ndtr(shift - y), b * ndtr(-y) + c * ndtr(-shift - y)
    return np.maximum(gain - loss, 0.0), _TERM * (gain + loss)


def _positive_part(count: int, law: _Transforms, reach: float, half: int) -> float:
    """Return an upper bound on E(D_1 + ... + D_count)_+, with D on a lattice in [-reach, reach]."""
    step, cells, top = reach / half, 4 * half, 2 * reach
    nodes = step * np.arange(-half, half + 1)
    masses, beyond = _masses(law, nodes[half:])
    tilts = _TILTS / reach
    # Every tilt gives a valid bound, so choose one by a coarse distribution of merged nodes.
    first = np.arange(0, nodes.size, max(half // 256, 1))
    few = np.add.reduceat(masses, first)
    exponent = np.outer(tilts, np.add.reduceat(masses * nodes, first) / np.maximum(few, 1e-300))
    largest = exponent.max(axis=1)
    log_m = count * (np.log(np.exp(exponent - largest[:, None]) @ few) + largest)
    tilt = tilts[np.argmin(log_m - 2 * np.log(tilts))]
    right = tilts[[np.argmin(np.where(tilts * top >= 1, log_m - tilts * top, np.inf))]]
    one = Law(Window(tilt, step, cells, np.empty(0), right), -half, nodes, masses)
    law_of_sum, noise = power([(float(count), one)], cells)
    sums, log_scale = step * np.arange(1, cells // 2), count * one.log_m
    # If right * top >= 1, E[S 1(S >= top)] <= top exp(-right top) E exp(right S) for the sum S.
    log_far = float(np.min(count * one.log_right - right * top))
    if max(log_scale, log_far) > 600:
        return math.inf
    weight = sums * np.exp(log_scale - tilt * sums)
    near = float(weight @ (np.maximum(law_of_sum[1 : cells // 2], 0.0) + noise))
    rounding = of_scale(count, log_scale, tilt * top)
    return (near + top * math.exp(log_far)) * (1 + rounding) + count * beyond


def _masses(law: _Transforms, k: NDArray) -> tuple[NDArray, float]:
    """Return masses at -k and k that dominate D in convex order, and E(D - k)_+ at the last k."""
    over, under = law
    sides = []
    for integral in (under, over):
        value, error = integral(k)
        slope = np.append(np.diff(value) / k[1], 0.0)
        doubt = np.append((error[1:] + error[:-1]) / k[1], 0.0)
        sides.append((slope, doubt))
    (down, less), (up, more) = sides
    masses = [np.diff(s) + d[1:] + d[:-1] for s, d in sides]
    at_zero = 1 + up[0] + down[0] + more[0] + less[0]
    rest = float(value[-1] + error[-1])
    return np.maximum(np.concatenate([masses[0][::-1], [at_zero], masses[1]]), 0.0), rest
