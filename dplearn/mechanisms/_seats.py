r"""What one epoch of shuffled batches leaks at most: a sum of independent numbers.

**A seat.** n records sit on n seats, in an order drawn uniformly; batch t reads its seats at step
t and releases the sum of their clipped gradients with noise. Let :math:`N_c` be the law
:math:`N(c/\sigma, 1)`, :math:`e = e^\varepsilon`, and P and Q the epoch with the record and with
its gradients zeroed out.

**Theorem A.** If at least one record, on a seat b that no batch reads, is left out, and no batch
has more than n/B records, then for gradients that depend on everything released before

.. math:: \delta_{P,Q}(\varepsilon) \le \tfrac1B E(D_1 + \dots + D_B)_+,

with independent D of the law that has the stop-loss transform :math:`\pi(k) = E(D - k)_+`:

.. math:: \pi(k) = \int (N_1 - eN_0 - kN_{-1})_+ \ (k \ge 0), \qquad
          \int ((1 - k)N_1 - eN_0)_+ \ (k < 0);

for :math:`\delta_{Q,P}` with :math:`\int (N_0 - (e + k)N_1)_+` and :math:`\int (N_0 - kN_{-1} -
eN_1)_+`, and for a replaced record with :math:`\int (N_2 - (e + k)N_0)_+` and :math:`\int ((1 -
k)N_2 - eN_0)_+`.

*Proof.* Seat the record on b, all others anywhere: everybody is "at home". Changing places with
whoever sits on a uniform seat s gives each order once. Show the attacker who is at home where, and
for each batch one uniform seat of it, of which the record takes the one if it comes there: that
only helps him. Now all is known but T, the batch it comes to. If T = t, step t has the mean
:math:`c_t + x_t` (or :math:`c_t`) instead of :math:`c_t + v_t`, where v is the gradient of whom it
displaces; all other steps are as at home, whose law is R. So with :math:`D_t =
[N(c_t + x_t) - eN(c_t)] / N(c_t + v_t)` at the output of step t

.. math:: \frac{P - eQ}R = \sum_t a_tD_t + a_0(1 - e),

where a_t is the share of batch t and a_0 that of the records left out. Given the past D_t has the
mean 1 - e and a transform of at most pi: for the halves with two different points because a
mixture is no further away than its points; in the others move v to -x and both to length 1, which
raises the integral all the way (differentiate; on the border of the set integrated over the
gradient of its logarithm points along x - lv, or lv - x, with 0 < l < 1). Replacing :math:`D_B,
D_{B-1}, \dots` by independent ones one after the other raises :math:`E(\cdot)_+`, and so does
spreading a_0 over further D; the shares, none above 1/B, are majorised by B times 1/B.

**Theorem B.** If every record is used, let b be in the first batch, and the record displace one of
m candidates of its batch, not said whom: in all N = m(B - 1). If m > 1, let batches be equal, of m
records or more. With :math:`\Lambda` lognormal of spread :math:`1/\sigma` and :math:`\hat\Psi` any
concave function above :math:`\Psi(n) = E(\sum_t K_tD_t)_+/m`, where :math:`K_t` of n candidates
drawn at random are in batch t,

.. math:: \delta \le \tfrac1B\Big[\delta_{\text{Gauss}}(\varepsilon) + \int_0^\infty
          \hat\Psi\big(N\,P(\Lambda > h)\big)\,dh\Big].

*Proof.* Step 1 sees whom the record displaces: given its output, the D of candidate i is weighted
by a likelihood ratio :math:`\ell_i \preceq \Lambda`. Cut the weights into layers :math:`1\{\ell_i
> h\}` of :math:`n_h` candidates: positive parts are subadditive. Batches part them at random, hence
the mean :math:`\Psi(n_h)`, of which by Jensen only the mean of :math:`n_h` counts; and a concave
distortion of tails rises in convex order. If m > 1, :math:`\Psi(j)` is bounded as below.

**Theorem D.** Let M be the mean of the candidates' laws :math:`N(u_i)` at step 1, :math:`\ell_i =
N(u_i)/M` at its output, of mean 1 whatever it is, H independent and binomial of m trials at 1/c,
and j a number of records, c > N/j = h. Then

.. math:: \delta \le \frac1{B\rho} E\Big(\frac cm \sum_{t=1}^{B-2} H_tD_t + \frac{2c}m
          H_{B-1}D_{B-1}\Big)_+ + \big(\delta_{\text{Gauss}}(\varepsilon) + e - 1\big)\,
          \alpha_h,

with :math:`\rho = P(\mathrm{Bin}(N-1, 1/c) < j)` and :math:`\alpha_h` at least the mean of
:math:`(\ell_i - h)_+`.

*Proof.* With step 1 drawn from M, :math:`B(P - eQ)/R = d + \sum_t \frac1m \sum_{i \in t}
\ell_iD_{t,i}`, where :math:`d = (N(x) - eN(0))/M` precedes D in convex order, as D_t does, being
convex in M. Given step 1, batches part the candidates at random, so by Jensen the positive part has
at most the mean :math:`f(d, \ell) = E(d + \sum_t w_tD_t)_+`, w_t the mean of :math:`\ell` in
batch t; f is convex, positively homogeneous and symmetric in :math:`\ell`. What exceeds h costs at
most :math:`(B-1)\delta_{\text{Gauss}}` times its mean. The rest, in [0, h], is majorised by j or
fewer entries h. Each that is missing costs at most h(e - 1)/m: a sum X rises with every D in it, so
that by Harris :math:`E(D; X > 0) \ge (1 - e)P(X > 0)`. For d write the sum over t of
:math:`w_td/(B-1)`. Of i entries f is at least i/j of that of j (draw i of j; Jensen):
hence j may become binomial at the price of rho, and the counts of batches independent. Last, the
mean over t of :math:`H_td` may fall to one batch whole, and two D with one weight to one D twice.

*The mean of* :math:`(\ell_i - h)_+`: with u the mean of all u_i, a its length and V = 1 - a^2, the
squares of :math:`r_i = |u_i - u| \le 1 + a` have at most the mean V, and :math:`M \ge e^{-s^2V/2}
N(u), s = 1/\sigma`, by Jensen. So it is at most the mean of :math:`\chi(r_i) = E(\Lambda_{sr_i} -
he^{-s^2V/2})_+`, hence at most :math:`\chi(r) + V\sup_{r < q \le 1 + a} \chi(q)/q^2` for any r.

**Rounding.** D is put on a lattice by the chords of pi, each mass rounded up, which only raises the
mean of a positive part. What lies beyond the lattice adds at most its mean. The sum is transformed
as in `dplearn.engine.lattice`, whose rounding is added cell by cell; what folds onto other sums
counts twice at worst, and Chernoff bounds the rest.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr, ndtri, xlog1py, xlogy

from dplearn.core.logspace import log_comb
from dplearn.core.work import counting, remembered, spend
from dplearn.engine.lattice.above import chords
from dplearn.engine.lattice.sum import Law, Window, of_scale, power
from dplearn.engine.profile import Profile
from dplearn.mechanisms.gaussian import gaussian_log_delta

# A normal tail is known so well, relative to itself.
_TERM = 2.0**-42
# Smaller deltas are left to the one Gaussian.
_FLOOR = 1e-20
_MOST_NODES = 200
# Cells right of 0 on which D is put, more for many batches; theorem B, which is loose, has fewer.
_CELLS = 2**12
# Between two nodes the profile falls by so many powers of e, and by how many more further out.
_PACE, _HASTE = 0.15, 0.008
# Sizes of sums that theorem B asks for lie apart by this factor.
_RATIO = 1.5
# Tilts that are tried, in units of 1 / reach.
_TILTS = np.geomspace(0.05, 100.0, 24)
# Values that the weight of theorem D is put on.
_WEIGHTS = 24

# At points k >= 0 an integral, and what rounding may have taken from it.
_Integral = Callable[[NDArray], tuple[NDArray, NDArray]]


class _Law(NamedTuple):
    """D by E(D - k)_+ and E(-k - D)_+ at k >= 0, and its mean."""

    over: _Integral
    under: _Integral
    mean: float


@remembered(32)
def seated(sigma: float, batches: int, *, size: int | None, replaced: bool) -> Profile:
    """Profile above that of every epoch, from the chords of theorem A, or of B and D.

    Batches have at least `size` records, of which there are no others; None if one is left out.
    """
    shift, ways = (2 / sigma, ["replace"]) if replaced else (1 / sigma, ["remove", "add"])
    with counting() as work:
        curves = [_curve(_Epoch(sigma, batches, way, size), shift) for way in ways]
    # A search may ask for a dozen before it is cut short.
    spend(work.units / 16)
    (ahead, over), (back, under) = curves[0], curves[-1]
    over[0] = min(over[0], under[0])
    nodes = np.concatenate([-back[:0:-1], ahead])
    masses, infinity = chords(nodes, np.append(under[:0:-1] * np.exp(-back[:0:-1]), over))
    with np.errstate(divide="ignore"):
        log_p = np.log(np.append(masses, [infinity, 0.0]))
        log_q = np.append(log_p[:-2] - nodes, [-np.inf, np.log(under[-1])])
    dots = Profile.from_atoms(log_p, log_q)

    def least(curve: Callable[[NDArray], NDArray], epsilon: NDArray) -> NDArray:
        return np.minimum(curve(epsilon), gaussian_log_delta(epsilon, shift))

    sides = (partial(least, curve) for curve in (dots.log_delta_of, dots.reverse().log_delta_of))
    return Profile(*sides, kinks=dots.kinks)


def _curve(epoch: "_Epoch", shift: float) -> tuple[NDArray, NDArray]:
    """Epsilons from 0 on, and bounds on delta there that are convex in e^epsilon."""

    def bound(epsilon: float) -> float:
        gaussian = math.exp(float(gaussian_log_delta(epsilon, shift)))
        return min(epoch.delta(epsilon), gaussian)

    points = [(0.0, bound(0.0))]
    step = 0.2 * points[0][1]
    while (last := points[-1])[1] > _FLOOR and len(points) < _MOST_NODES:
        epsilon = last[0] + step
        points.append((epsilon, min(bound(epsilon), last[1])))
        fall = math.log(last[1]) - math.log(points[-1][1] + 1e-300)
        pace = (epoch.pace + _HASTE * len(points)) / max(fall, 1e-9)
        step = min(step * min(max(pace, 0.3), 2.0), epoch.stride)
    epsilon, delta = np.array(points).T
    corners = _corners(np.exp(epsilon), delta)
    return epsilon[corners], delta[corners]


def _corners(x: NDArray, y: NDArray) -> list[int]:
    """Indices of the points of the lower convex hull, x increasing."""
    hull: list[int] = []
    for k in range(x.size):
        while len(hull) > 1:
            i, j = hull[-2:]
            if (y[j] - y[i]) * (x[k] - x[j]) < (y[k] - y[j]) * (x[j] - x[i]):
                break
            hull.pop()
        hull.append(k)
    return hull


class _Epoch:
    """Bounds on delta of one order of neighbours, at one epsilon after the other."""

    def __init__(self, sigma: float, batches: int, way: str, size: int | None) -> None:
        self.sigma, self.batches, self.way, self.left_out = sigma, batches, way, size is None
        # Reach of the lattice that was best for a sum of so many, at the epsilon before.
        self.reach: dict[float, float] = {}
        self.around = np.array([0.6, 1.0, 1.6] if self.left_out else [0.7, 1.4])
        self.pace, self.cells = (_PACE, _CELLS) if self.left_out else (2 * _PACE, _CELLS // 8)
        # Theorem B may take over soon where D levels out. Both may count fewer records than there
        # are, and do where binomial tails lose their digits.
        self.size = size = min(size or 1, 2**16, max(10**8 // batches, 1))
        self.stride = 0.3 / sigma if size > 1 else math.inf
        levels = 2.0 ** np.arange(1, math.log2(size * (batches - 1))) if size > 1 else ()
        self.hidings = [_hiding(1 / sigma, batches - 1, size, level) for level in levels]

    def delta(self, epsilon: float) -> float:
        law = _law(math.exp(epsilon), 1 / self.sigma, self.way)
        if self.left_out:
            return self._positive(self.batches, [(self.batches, law)]) / self.batches
        single = self._positive(1, [(1, law)])
        least = single
        for hiding in self.hidings:
            charge = (single + math.expm1(epsilon)) * hiding.spill
            if charge < least:
                one, two = (_weighted(law, n * hiding.weights, hiding.chances) for n in (1, 2))
                summed = self._positive(-hiding.level, [(self.batches - 2, one), (1, two)])
                least = min(least, charge + summed * hiding.price / self.batches)
            if charge < 0.03 * least or hiding.level >= 4 * self.size:
                break
        return min(least, self._layered(law, single)) if least > single / self.batches else least

    def _layered(self, law: _Law, single: float) -> float:
        """Theorem B."""
        most = self.size * (self.batches - 1)
        sizes, values = _majorant(self._sums(law, single), law.mean / self.size)
        *slopes, last = np.diff(values) / np.diff(sizes)
        # The integral of min(n P(Lambda > h), u) is n times the mean of the upper part u / n. The
        # last slope may be steep: it goes with the mean of the lower part, not with a difference.
        upper = most * ndtr(1 / self.sigma + ndtri(sizes[1:-1] / most))
        rest = most * ndtr(ndtri((most - sizes[-2]) / most) - 1 / self.sigma)
        layers = -np.diff([*slopes, 0.0]) @ upper + last * rest
        rounding = 2 * _TERM * (np.abs(slopes) @ upper + abs(last) * rest)
        # A hair for the other sums.
        return float(single + layers + rounding) * (1 + 1e-12) / self.batches

    def _sums(self, law: _Law, single: float) -> list[tuple[float, float]]:
        """Numbers of candidates, increasing, and bounds on the Psi of theorem B there."""
        others = self.batches - 1
        if self.size == 1:
            counts = np.geomspace(1, others, 1 + math.ceil(math.log(others) / math.log(_RATIO)))
            return [(n, self._positive(n, [(int(n), law)])) for n in np.unique(np.rint(counts))]
        most = self.size * others
        known = {1: single / self.size}
        for hiding in self.hidings:
            summed = [(others, _weighted(law, hiding.weights, hiding.chances))]
            share = hiding.price * hiding.entries / most
            known[hiding.entries] = share * self._positive(hiding.entries, summed)
        known[most] = self._positive(most, [(others, law)])
        return sorted(known.items())

    def _positive(self, name: float, parts: list[tuple[int, _Law]]) -> float:
        """Mean of the positive part of a sum of independent values, rounded up."""
        count = sum(n for n, _ in parts)
        if count == 1:
            (value,), (error,) = parts[-1][1].over(np.zeros(1))
            return float(value + error)
        if name in self.reach:
            tries = self.reach[name] * self.around
        else:
            k, law = np.geomspace(1e-9, 1e9, 120), parts[0][1]
            square = 2 * np.trapezoid(k * (law.over(k)[0] + law.under(k)[0]), np.log(k))
            widest = 10 * math.sqrt(count * square) - 1.25 * count * law.mean
            tries = widest / 4.0 ** np.arange(11)
        fine = min(0.01 * self.cells * math.sqrt(count), 2**15)
        half = 2 ** math.ceil(math.log2(max(self.cells, fine)))
        value, self.reach[name] = min((_positive_part(parts, k, half), k) for k in tries)
        return value


class _Hiding(NamedTuple):
    """What theorem D takes at one c: the weight cH/m on few values, 1/rho, and alpha."""

    level: float
    entries: int
    weights: NDArray
    chances: NDArray
    price: float
    spill: float


def _hiding(s: float, others: int, size: int, level: float) -> _Hiding:
    count = size * others / level
    entries = min(math.ceil(count + 3 * math.sqrt(count)), size * others)
    # The binomial number is split between its neighbours on a few, the last of which is m.
    mean, spread = size / level, math.sqrt(size / level)
    points = np.rint(mean + spread * np.linspace(-6, 12, _WEIGHTS))
    points = np.unique(np.append(np.clip(points, 0, size), [0, size]))
    trials = np.arange(size + 1)
    cell = np.clip(np.searchsorted(points, trials, side="right") - 1, 0, points.size - 2)
    right = (trials - points[cell]) / np.diff(points)[cell]
    weight = xlogy(trials, 1 / level) + xlog1py(size - trials, -1 / level)
    masses = np.exp(log_comb(size, trials) + weight)
    chances = np.bincount(cell, masses * (1 - right), points.size)
    chances += np.bincount(cell + 1, masses * right, points.size)
    # Row a: |u| between it and the next. chi rises: between two radii it is at most the larger one.
    length, radii = np.linspace(0.0, 1.0, 65), np.geomspace(0.2, 2.0, 128)
    variance = 1 - length[:-1, None] ** 2
    cap = math.log(size * others / entries) - 0.5 * s * s * variance
    chi = np.where(cap < 0, 1.0, np.exp(gaussian_log_delta(np.maximum(cap, 0.0), s * radii)))
    far = chi[:, 1:] / radii[:-1] ** 2 * (radii[:-1] < 1 + length[1:, None])
    spill = np.max(chi[:, 0] + variance[:, 0] * far.max(axis=1))
    # A hair for the rounding of binomial masses.
    price = (1 + 1e-9) / bdtr(entries - 1, size * others - 1, 1 / level)
    weights = points[1:] * level / size
    return _Hiding(level, entries, weights, chances[1:], price, min(float(spill), 1.0))


def _weighted(law: _Law, weights: NDArray, chances: NDArray) -> _Law:
    """D times an independent number that takes these values above 0."""

    def of(integral: _Integral) -> _Integral:
        def scaled(k: NDArray) -> tuple[NDArray, NDArray]:
            value, error = integral(k[:, None] / weights)
            return value @ (weights * chances), error @ (weights * chances)

        return scaled

    return _Law(of(law.over), of(law.under), law.mean * float(weights @ chances))


def _law(e: float, shift: float, way: str) -> _Law:
    """D of the theorem at e^epsilon, for a record that is removed, added or replaced."""
    if way == "replace":
        shift *= 2

    def over(k: NDArray) -> tuple[NDArray, NDArray]:
        return _excess(1, e, k, shift) if way == "remove" else _excess(1, e + k, 0 * k, shift)

    def under(k: NDArray) -> tuple[NDArray, NDArray]:
        return _excess(e, 1, k, shift) if way == "add" else _excess(e, 1 + k, 0 * k, shift)

    return _Law(over, under, 1 - e)


def _excess(a: float, b: float | NDArray, c: NDArray, shift: float) -> tuple[NDArray, NDArray]:
    """The integral of (a N_1 - b N_0 - c N_{-1})_+, and its rounding."""
    # With w = N_1 / N_0 up to a factor, a w^2 - b' w - c is positive right of its root.
    half = 0.5 * b * math.exp(0.5 * shift * shift) / a
    y = np.log(half + np.sqrt(half * half + c / a)) / shift
    gain, loss = a * ndtr(shift - y), b * ndtr(-y) + c * ndtr(-shift - y)
    return np.maximum(gain - loss, 0.0), _TERM * (gain + loss)


def _majorant(known: list[tuple[float, float]], mean: float) -> tuple[NDArray, NDArray]:
    """Corners of a concave function above n -> E(D_1 + ... + D_n)_+, from 0 to the largest n.

    Between two sizes it grows less than n (the mean of n is a reverse martingale), and it is at
    most its value at the larger one less the mean of those that are missing (Jensen, or Harris).
    """
    counts, values = np.array(known).T
    # By the first line a bound that failed is no larger than this.
    values = counts * np.minimum.accumulate(values / counts)
    points = [(0.0, 0.0), *zip(counts, values, strict=True)]
    for (n, value), (m, more) in pairwise(points[1:]):
        # Where both lines meet, or a hair behind, up to the larger size.
        size = min((more - m * mean) / (value / n - mean) * (1 + 2.0**-50), m)
        if n < size:
            points.append((size, size * value / n))
    size, value = np.array(sorted(points)).T
    corners = _corners(size, -value)
    return size[corners], value[corners]


def _positive_part(parts: list[tuple[int, _Law]], reach: float, half: int) -> float:
    """Mean of a sum's positive part, by lattices of D between -reach and reach, rounded up."""
    step, cells, top = reach / half, 4 * half, 2 * reach
    nodes = step * np.arange(-half, half + 1)
    pieces = [(float(n), *_masses(law, nodes[half:])) for n, law in parts if n]
    tilts = _TILTS / reach
    # Where to tilt is no matter of proof: neighbours are taken together.
    first, log_m = np.arange(0, nodes.size, max(half // 256, 1)), np.zeros(tilts.size)
    for n, masses, _ in pieces:
        few = np.add.reduceat(masses, first)
        exponent = np.outer(tilts, np.add.reduceat(masses * nodes, first) / np.maximum(few, 1e-300))
        largest = exponent.max(axis=1)
        log_m += n * (np.log(np.exp(exponent - largest[:, None]) @ few) + largest)
    tilt = tilts[np.argmin(log_m - 2 * np.log(tilts))]
    right = tilts[[np.argmin(np.where(tilts * top >= 1, log_m - tilts * top, np.inf))]]
    window = Window(tilt, step, cells, np.empty(0), right)
    laws = [(n, Law(window, -half, nodes, masses)) for n, masses, _ in pieces]
    law_of_sum, noise = power(laws, cells)
    sums = step * np.arange(1, cells // 2)
    log_scale = sum(n * law.log_m for n, law in laws)
    # E(S; S >= top) <= top e^{-mu top} E e^{mu S} for mu top >= 1.
    log_far = float(np.min(sum(n * law.log_right for n, law in laws) - right * top))
    if max(log_scale, log_far) > 600:
        return math.inf
    weight = sums * np.exp(log_scale - tilt * sums)
    near = float(weight @ (np.maximum(law_of_sum[1 : cells // 2], 0.0) + noise))
    rounding = of_scale(sum(n for n, _ in laws), log_scale, tilt * top)
    beyond = sum(n * mean for n, _, mean in pieces)
    return (near + top * math.exp(log_far)) * (1 + rounding) + beyond


def _masses(law: _Law, k: NDArray) -> tuple[NDArray, float]:
    """Masses at -k and k of a law that exceeds D in convex order, and the mean beyond the last."""
    sides = []
    for integral in (law.under, law.over):
        value, error = integral(k)
        slope = np.append(np.diff(value) / k[1], 0.0)
        doubt = np.append((error[1:] + error[:-1]) / k[1], 0.0)
        sides.append((slope, doubt))
    (down, less), (up, more) = sides
    masses = [np.diff(s) + d[1:] + d[:-1] for s, d in sides]
    at_zero = 1 + up[0] + down[0] + more[0] + less[0]
    rest = float(value[-1] + error[-1])
    return np.maximum(np.concatenate([masses[0][::-1], [at_zero], masses[1]]), 0.0), rest
