r"""One epoch of DP-SGD on fixed batches of a shuffled dataset.

**From above.** Fix the order. Then the record sits in one batch; the steps before it do not see
it, the steps after it are post-processing of noisy updates, so the epoch is one Gaussian
release of the record. A shuffled epoch is a mixture of fixed orders with the same weights on
both sides, and the hockey-stick divergence is jointly convex: the mixture leaks no more than
one Gaussian release. Nothing better is known that holds for every noise.

**From below.** In units of the clipping norm let every other record contribute -1 to every
gradient, and the record in question +1, or 0 once it is zeroed out. A batch of m records then
sums to -m, except the record's own, which is 2 or 1 above that. Up to the public -m the epoch
releases

.. math:: P = \frac1B\sum_t N(2e_t, \sigma^2 I), \qquad Q = \frac1B\sum_t N(e_t, \sigma^2 I).

If instead the record is replaced by one that contributes -1, Q is N(0, sigma^2 I). The largest
coordinate is post-processing of that release. In units of sigma, with shifts a < b under Q and P,

.. math:: P(\max \le x) = \Phi(x - b)\,\Phi(x)^{B-1}, \qquad
          Q(\max \le x) = \Phi(x - a)\,\Phi(x)^{B-1}.

**Its profile.** With :math:`r = (B-1)\varphi(x)/\Phi(x)`, the Mills ratio M and the loss
:math:`\ell = (b-a)x - (b^2-a^2)/2` of the coordinate alone, the loss of the largest one is

.. math:: \ln R(x) = \ell - g, \qquad
          g = \ln\frac{1 + rM(a-x)}{1 + rM(b-x)} \in [0, \ln B].

It grows with x. Write u = x - c and m = M(-u); with the shift c the density is
:math:`\Phi(x)^{B-1}\varphi(u)(1 + rm)`, and the numerator of the mixed derivative of its
logarithm in c and x is :math:`1 + r^2\frac{B}{B-1}(1+um) + rm + rc(1+um)`, positive for
:math:`c \ge 0`. So the best test is a threshold x, the root of :math:`\ln R = \pm\varepsilon`.
There, with :math:`A = \Phi(x)^{B-1}` and :math:`\delta_G` the Gaussian profile of shift b - a,

.. math:: \delta_{P,Q} = A\,[\delta_G(\varepsilon + g) + e^\varepsilon(e^g - 1)\Phi(a-x)]
          - (e^\varepsilon - 1)(1 - A), \qquad
          \delta_{Q,P} = \frac{A\,\delta_G(\varepsilon - g)}{1 + rM(b-x)}.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr

from dplearn.engine.profile import Profile
from dplearn.ground.guarantee import Adjacency
from dplearn.ground.logspace import log1mexp, log_add, log_expm1, log_sub
from dplearn.ground.work import spend
from dplearn.mechanisms._wrapped import Epoch
from dplearn.mechanisms.gaussian import Gaussian

_HALF_LOG_HALF_PI = 0.5 * math.log(0.5 * math.pi)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class Shuffled(Epoch):
    """One epoch of noisy steps on the batches of a random permutation.

    Parameters
    ----------
    base : Gaussian
        The noise of one step.
    batches : int
        Steps per epoch, >= 1; every record takes part in exactly one of them.

    Notes
    -----
    ``profiles`` is the upper bound: the Gaussian profile of `base`, whatever `batches`; it
    also holds for a loader that drops some records or makes unequal batches. ``witnesses`` is a
    real pair (see the module) and needs equal batches that use every record. Under
    ``add_remove`` nothing is claimed: the record that leaves moves the border of every batch
    behind it.

    References
    ----------
    Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang (2024), How private are DP-SGD
    implementations?

    Examples
    --------
    >>> epoch = Shuffled(Gaussian(noise_multiplier=0.5), batches=10_000)
    >>> (upper,), (lower, _) = epoch.profiles("zero_out"), epoch.witnesses("zero_out")
    >>> round(float(lower.epsilon(1e-6)), 4), round(float(upper.epsilon(1e-6)), 4)
    (10.9948, 10.9972)
    """

    name: ClassVar[str] = "shuffled"
    conditions: ClassVar[tuple[str, ...]] = (
        "a fresh random permutation each epoch, cut into batches of equal size",
        "one permutation is one epoch: every record is used once in it",
    )
    adjacencies: ClassVar[tuple[Adjacency, ...]] = ("replace_one", "zero_out")
    refusal: ClassVar[tuple[str, str]] = (
        "shuffled batches",
        "a record that leaves moves the border of every batch behind it, "
        "use 'zero_out' or 'replace_one'",
    )

    def _profiles(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        return self.base.profiles(adjacency)

    def _witnesses(self, adjacency: Adjacency) -> tuple[Profile, ...]:
        """The largest coordinate of the pair in the module's text, in both directions."""
        sigma = self.base.noise_multiplier
        if self.batches == 1 or sigma == 0:
            return self.base.profiles(adjacency)
        second = 0.0 if adjacency == "replace_one" else 1.0
        remove = _Largest(self.batches, second / sigma, 2.0 / sigma).profile()
        return (remove, remove.reverse())

    def _rdp(self, orders: NDArray, adjacency: Adjacency) -> NDArray:
        """Divergences of the dominating Gaussian."""
        return self.base.rdp(orders, adjacency=adjacency)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(Gaussian(1.0), 100), cls(Gaussian(4.0), 10))


class _Largest:
    """The largest of B normal numbers; one has mean b under P and a under Q, 0 <= a < b."""

    def __init__(self, batches: int, a: float, b: float) -> None:
        self.others, self.a, self.b, self.gap = batches - 1.0, a, b, b - a
        self.log_others, self.log_batches = math.log(batches - 1), math.log(batches)
        (self.gaussian,) = Gaussian(1 / self.gap).profiles()
        self._latest: tuple[NDArray, NDArray, NDArray] | None = None

    def profile(self) -> Profile:
        tails = self.log_tail, self.log_tail_reverse
        return Profile(self.log_delta, self.log_delta_reverse, (), *tails)

    def log_delta(self, epsilon: NDArray) -> NDArray:
        x, g = self._threshold(epsilon)
        single = self.gaussian.log_delta(epsilon + g)
        more = epsilon + log_expm1(g) + log_ndtr(self.a - x)
        gain = self.others * log_ndtr(x) + log_add(single, more)
        return log_sub(gain, log_expm1(epsilon) + self._log_others_above(x))

    def log_tail(self, epsilon: NDArray) -> NDArray:
        x, _ = self._threshold(epsilon)
        # Q(max > x): the special one is above, or it is not and another one is.
        others = log_ndtr(x - self.a) + self._log_others_above(x)
        return log_add(log_ndtr(self.a - x), others)

    def log_delta_reverse(self, epsilon: NDArray) -> NDArray:
        x, g = self._threshold(-epsilon)
        below = self.others * log_ndtr(x) + self.gaussian.log_delta(epsilon - g)
        # log of r M(b - x), at most B - 1; r = (B-1) / M(-x).
        log_weight = self.log_others + _log_mills(self.b - x) - _log_mills(-x)
        return below - log_add(0.0, log_weight)

    def log_tail_reverse(self, epsilon: NDArray) -> NDArray:
        x, _ = self._threshold(-epsilon)
        return log_ndtr(x - self.b) + self.others * log_ndtr(x)

    def _threshold(self, loss: NDArray) -> tuple[NDArray, NDArray]:
        """x and g with ln R(x) = loss; asked for the same losses twice it answers at once."""
        if self._latest is None or not np.array_equal(self._latest[0], loss):
            self._latest = (np.array(loss), *self._solve(loss))
        return self._latest[1:]

    def _solve(self, loss: NDArray) -> tuple[NDArray, NDArray]:
        """Newton's iteration for g, kept between points of opposite sign; x follows from g."""
        low, high = np.zeros(loss.shape), np.full(loss.shape, self.log_batches)
        g, middle = low, 0.5 * (self.a + self.b)
        for _ in range(40):
            spend(100 * loss.size)
            deficit, slope = self._deficit((loss + g) / self.gap + middle, loss + g)
            above = deficit > g
            low, high = np.where(above, g, low), np.where(above, high, g)
            step = g + (deficit - g) / (1 - slope / self.gap)
            inside = (step >= low) & (step <= high)
            # Convergence is quadratic: the step taken after this test leaves rounding only.
            rough = np.abs(deficit - g) > 1e-11 * deficit
            g = np.where(inside, step, np.where(rough, 0.5 * (low + high), g))
            if not np.any(rough):
                break
        return (loss + g) / self.gap + middle, g

    def _deficit(self, x: NDArray, loss: NDArray) -> tuple[NDArray, NDArray]:
        """g at x, as ln(1 + r (M(a-x) - M(b-x)) / (1 + r M(b-x))), and its slope."""
        log_r = self.log_others - _log_mills(-x)
        log_a, log_b = log_r + _log_mills(self.a - x), log_r + _log_mills(self.b - x)
        # phi(x-a) (M(a-x) - M(b-x)) is the Gaussian profile at -l: nothing cancels.
        log_phi = -0.5 * np.square(x - self.a) - _HALF_LOG_2PI
        log_gain = log_r + self.gaussian.log_delta(-loss) - log_phi
        g = log_add(0.0, log_gain - log_add(0.0, log_b))
        # (r M(c-x))' = r - r M(c-x) (c + 1 / M(-x)).
        hazard = np.exp(-_log_mills(-x))
        at_a, at_b = (
            (np.exp(log_r) - np.exp(log_c) * (c + hazard)) / (1 + np.exp(log_c))
            for log_c, c in ((log_a, self.a), (log_b, self.b))
        )
        return np.minimum(g, self.log_batches), at_a - at_b

    def _log_others_above(self, x: NDArray) -> NDArray:
        """log of 1 - A, A = Phi(x)^(B-1)."""
        # -log Phi = q + q^2/2 + ..., q = Phi(-x), where log Phi itself underflows.
        far = log_ndtr(-x) + 0.5 * np.exp(log_ndtr(-np.maximum(x, 5.0)))
        near = np.log(-log_ndtr(np.minimum(x, 5.0)))
        y = self.log_others + np.where(x > 5.0, far, near)
        return np.where(y < -40.0, y, log1mexp(-np.exp(np.clip(y, -40.0, 700.0))))


def _log_mills(x: NDArray) -> NDArray:
    """log M(x), M(x) = Phi(-x) / phi(x)."""
    right = np.log(erfcx(np.maximum(x, -5.0) / math.sqrt(2))) + _HALF_LOG_HALF_PI
    left = np.minimum(x, -5.0)
    return np.where(x > -5.0, right, log_ndtr(-left) + 0.5 * left * left + _HALF_LOG_2PI)
