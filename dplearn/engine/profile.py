r"""The privacy profile: delta as a function of epsilon for an ordered pair of distributions.

For a pair :math:`(P, Q)` with privacy loss :math:`L = \ln dP/dQ`,

.. math:: \delta(\varepsilon) = E_P[(1 - e^{\varepsilon - L})_+]
          = P(L > \varepsilon) - e^{\varepsilon} Q(L > \varepsilon).

Two conventions preserve floating-point accuracy.

* A profile stores log delta, not delta, so that values below 1e-308 are representable.
* A profile holds *two* functions of epsilon >= 0, of (P, Q) and of (Q, P). Each gives the other
  at negative epsilon, :math:`\delta_{P,Q}(-\varepsilon) = 1 - e^{-\varepsilon} +
  e^{-\varepsilon}\delta_{Q,P}(\varepsilon)`, as a sum without cancellation.

A profile may also have the tail Q(L > epsilon): the negated right derivative of delta with
respect to e^epsilon. Upper bounds on a composition need delta alone; lower bounds also need
the probability mass beyond each loss.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.core.logspace import log, log1mexp, log_chords, log_expm1
from dplearn.core.solve import decreasing_root, maximise

# Use delta at this epsilon as the probability of infinite losses.
FAR = 1e9

# Nodes >= 0 of Gauss-Kronrod quadrature on [-1, 1], 7 and 15 points (Piessens et al. 1983).
_NODES = np.array(
    [0.9914553711208126, 0.9491079123427585, 0.8648644233597691, 0.7415311855993945,
     0.5860872354676911, 0.4058451513773972, 0.20778495500789848, 0.0]
)  # fmt: skip
_K15 = np.array(
    [0.022935322010529224, 0.06309209262997856, 0.10479001032225019, 0.14065325971552592,
     0.1690047266392679, 0.19035057806478542, 0.20443294007529889, 0.20948214108472782]
)  # fmt: skip
_X, _WK = np.concatenate([-_NODES, _NODES[-2::-1]]), np.concatenate([_K15, _K15[-2::-1]])
# The 7 Gauss nodes are every second of the 15 nodes; the others get weight 0.
_WG = np.insert(np.polynomial.legendre.leggauss(7)[1], range(8), 0.0)

# A function from an array of epsilons >= 0 to log delta, an array of the same shape.
Curve = Callable[[NDArray], NDArray]

_RTOL, _ROUNDS = 1e-10, 80
_MOST_PANELS, _MOST_KINKS = 20_000, 2000
_EDGES = np.concatenate([[0.0], np.geomspace(1e-12, FAR, 211)])
# Grid of epsilons on which `Profile.epsilon` brackets its result.
_GRID = np.append(0.0, np.geomspace(1e-6, FAR, 128))


@dataclass(frozen=True, eq=False)
class Profile:
    r"""Privacy profile of an ordered pair of distributions.

    Parameters
    ----------
    log_delta_of : callable from arrays of epsilon >= 0 to log delta of (P, Q), same shape
    log_delta_reverse_of : callable, the same for (Q, P); None if the pair is symmetric
    kinks : array of float > 0, shape (n,), where a curve is not smooth: ends of quadrature panels
    log_tail_of : callable, log Q(L > epsilon)
    log_tail_reverse_of : callable, log P(-L > epsilon); None if the pair is symmetric

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> (profile,) = Gaussian(noise_multiplier=1.0).profiles()
    >>> round(float(profile.delta(1.0)), 7)
    0.1269367
    """

    log_delta_of: Curve
    log_delta_reverse_of: Curve | None = None
    kinks: ArrayLike = ()
    log_tail_of: Curve | None = None
    log_tail_reverse_of: Curve | None = None

    @property
    def _backward(self) -> Curve:
        return self.log_delta_reverse_of or self.log_delta_of

    @property
    def _tail_backward(self) -> Curve | None:
        return self.log_tail_reverse_of if self.log_delta_reverse_of else self.log_tail_of

    @property
    def has_tails(self) -> bool:
        """Whether tail probabilities are known for both (P, Q) and (Q, P)."""
        return self.log_tail_of is not None and self._tail_backward is not None

    @classmethod
    def from_atoms(cls, log_p: ArrayLike, log_q: ArrayLike) -> Self:
        """Return the profile of two distributions on n points, from their log masses, shape (n,).

        Losses equal up to rounding become the largest of them, so that delta is not too small.
        """
        log_p, log_q = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
        both = np.isfinite(log_p) & np.isfinite(log_q)
        losses = log_p[both] - log_q[both]
        order = np.argsort(np.abs(losses), kind="stable")  # this sort is fast if almost sorted
        ulps = np.maximum(np.abs(log_p[both]), np.abs(log_q[both]))[order]
        sizes = np.abs(losses)[order]
        first = np.diff(sizes, prepend=-1.0) > 2.0**-50 * ulps
        last = np.append(np.flatnonzero(first)[1:] - 1, sizes.size - 1)
        merged = np.empty(sizes.size)
        merged[order] = sizes[last[np.cumsum(first) - 1]]
        losses = np.copysign(merged, losses)
        delta, tail = _atoms(losses, log_q[both], log_p[~both])
        reverse, tail_reverse = _atoms(-losses, log_p[both], log_q[~both])
        kinks = merged[order][first]
        return cls(delta, reverse, kinks[kinks > 0], tail, tail_reverse)

    def log_delta(self, epsilon: ArrayLike) -> NDArray:
        """Return log delta at every real epsilon, elementwise."""
        epsilon = np.asarray(epsilon, dtype=float)
        size = np.abs(epsilon)
        forward = self.log_delta_of(size)
        if np.all(epsilon >= 0):
            return forward
        backward = np.logaddexp(log1mexp(-size), self._backward(size) - size)
        return np.where(epsilon >= 0, forward, backward)

    def delta(self, epsilon: ArrayLike) -> NDArray:
        """Return delta at every real epsilon, elementwise; exact up to rounding."""
        return np.exp(self.log_delta(epsilon))

    def epsilon(self, delta: ArrayLike) -> NDArray:
        """Return the smallest epsilon >= 0 with delta(epsilon) <= delta, or inf, elementwise.

        The result is rounded up: the profile, evaluated there, is at most `delta`.
        """
        delta = np.asarray(delta, dtype=float)
        if not np.all((delta >= 0) & (delta <= 1)):
            raise ValueError(f"Expected delta in [0, 1], got delta={delta!r}.")
        # For delta = 0 replace log delta = -inf by a number below every finite log delta.
        target = np.maximum(log(delta), -1e300)
        holds = self.log_delta_of(_GRID) <= target[..., None]
        first = np.argmax(holds, axis=-1)
        lower, upper = _GRID[np.maximum(first - 1, 0)], _GRID[first]
        excess = lambda x: self.log_delta_of(x) - target
        epsilon = decreasing_root(excess, lower=lower, upper=upper)
        return np.where(np.any(holds, axis=-1), epsilon, np.inf)

    def log_tails(self, epsilon: ArrayLike) -> tuple[NDArray, NDArray]:
        """Return log P(L > epsilon), log Q(L > epsilon), L the loss, epsilon >= 0, elementwise.

        Raise NotImplementedError unless the profile `has_tails`.
        """
        if self.log_tail_of is None or not self.has_tails:
            raise validate.unsupported("log_tails() of a profile", "it was built from delta alone")
        epsilon = np.asarray(epsilon, dtype=float)
        if not np.all(epsilon >= 0):
            raise ValueError(f"Expected epsilon >= 0, got {epsilon[~(epsilon >= 0)][0]!r}.")
        log_q = self.log_tail_of(epsilon)
        # P(L > eps) = delta + e^eps Q(L > eps), a sum of positive terms.
        return np.logaddexp(self.log_delta_of(epsilon), epsilon + log_q), log_q

    def reverse(self) -> Self:
        """Return the profile of the swapped pair (Q, P)."""
        tails = (self._tail_backward, self.log_tail_of)
        return type(self)(self._backward, self.log_delta_of, self.kinks, *tails)

    def mix_first(self, weight: float) -> Self:
        r"""Return the profile of :math:`((1-w)Q + wP,\ Q)`: Poisson sampling, one record removed.

        It is exact (Balle, Barthe & Gaboardi 2018, Theorem 8).
        """
        if weight == 1.0:
            return self
        log_w, log_rest = float(np.log(weight)), float(np.log1p(-weight))

        def ahead(epsilon: NDArray) -> NDArray:
            # The loss of the mixture, log(1 - w + w e^L), exceeds eps where L exceeds this value.
            return np.logaddexp(0.0, log_expm1(epsilon) - log_w)

        def log_delta(epsilon: NDArray) -> NDArray:
            return log_w + self.log_delta_of(ahead(epsilon))

        def log_tail(epsilon: NDArray) -> NDArray:
            return self.log_tail_of(ahead(epsilon))  # type: ignore[misc]

        def behind(epsilon: NDArray) -> tuple[NDArray, NDArray, NDArray]:
            # Q - e^eps((1-w)Q + wP) = s (Q - e^x P), s = 1 - e^eps (1-w), x = eps - log(s/w);
            # return s > 0, log(s/w) = log(1 - (e^eps - 1)(1-w)/w) and x.
            y = np.expm1(np.minimum(epsilon, -log_rest)) * ((1 - weight) / weight)
            alive = (y < 1) & (epsilon < -log_rest)
            log_ratio = np.log1p(-np.where(alive, y, 0.0))
            return alive, log_ratio, np.where(alive, epsilon - log_ratio, 0.0)

        def log_delta_reverse(epsilon: NDArray) -> NDArray:
            alive, log_ratio, shifted = behind(epsilon)
            return np.where(alive, log_w + log_ratio + self._backward(shifted), -np.inf)

        def log_tail_reverse(epsilon: NDArray) -> NDArray:
            # (1-w) Q(-L > x) + w P(-L > x); with Q(-L > x) = delta_{Q,P}(x) + e^x P(-L > x)
            # this is (1-w) delta_{Q,P}(x) + (w/s) P(-L > x).
            alive, log_ratio, shifted = behind(epsilon)
            remaining = log_rest + self._backward(shifted)
            value = np.logaddexp(remaining, self._tail_backward(shifted) - log_ratio)  # type: ignore[misc]
            return np.where(alive, value, -np.inf)

        # Kinks of the mixture in both orders, and the epsilon from which the reverse delta is 0.
        old = np.asarray(self.kinks, dtype=float)
        after = np.logaddexp(log_rest, log_w + old)
        before = old - np.logaddexp(log_w, log_rest + old)
        tails = (log_tail, log_tail_reverse) if self.has_tails else ()
        kinks = np.concatenate([after, before, [-log_rest]])
        return type(self)(log_delta, log_delta_reverse, kinks, *tails)

    def renyi(self, orders: ArrayLike) -> NDArray:
        r"""Return Rényi divergences :math:`D_\alpha(P\Vert Q)`, by quadrature of the profile.

        They are in nats, possibly inf, and have the shape of `orders`, which lie in [0, inf]; 0, 1
        and inf are limits. Raise ArithmeticError if the quadrature does not reach its tolerance.
        See Sason & Verdú (2016), f-divergences as integrals of the hockey-stick divergence.
        """
        orders = np.asarray(orders, dtype=float)
        if not np.all(orders >= 0):
            raise ValueError(f"Expected orders in [0, inf], got {orders[~(orders >= 0)][0]!r}.")
        values = np.empty(orders.shape)
        values[orders == 0.0] = -log1mexp(self._backward(np.array(FAR)))
        # The largest loss is the smallest epsilon with delta = 0.
        values[orders == np.inf] = self.epsilon(0.0)
        inner = (orders > 0) & (orders < np.inf)
        a = orders[inner]
        # E_Q[(P/Q)^a] = 1 + a(a-1) I,  I = int e^{(a-1)x} delta(x) + e^{-ax} delta_{Q,P}(x) dx.
        log_integral = self._log_renyi_integrals(a)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_x = log_integral + np.log(a) + np.log(np.abs(a - 1))
            above = np.logaddexp(0.0, log_x) / (a - 1)
            below = log1mexp(np.minimum(log_x, 0.0)) / (a - 1)
        at_one = np.exp(np.where(a == 1, log_integral, 0.0))
        values[inner] = np.select([a == 1, a > 1], [at_one, above], below)
        return values

    def _log_renyi_integrals(self, orders: NDArray) -> NDArray:
        """Return log int_0^inf e^{(a-1)x} delta(x) + e^{-ax} delta_{Q,P}(x) dx per order a, or inf.

        Adaptive Gauss-Kronrod on panels shared by all orders: a panel is halved while the error
        of any order is too large. Shapes: (order, panel, node). With more than 2000 kinks
        the value is an upper bound, from chords between 2000 of them.
        """
        forward, backward = self.log_delta_of, self._backward
        kinks = np.unique(np.asarray(self.kinks, dtype=float))
        if kinks.size > _MOST_KINKS:
            kinks = kinks[np.linspace(0, kinks.size - 1, _MOST_KINKS).astype(int)]
            forward, backward = _chords(forward, kinks), _chords(backward, kinks)
        result = np.full(orders.shape, np.inf)
        # If delta(inf) > 0, infinite losses have positive probability: orders >= 1 give inf.
        at_far, beyond = forward(np.array([FAR, 2 * FAR]))
        finite = (orders < 1) | np.isneginf(beyond) | (beyond < at_far)
        edges = np.unique(np.concatenate([_EDGES, kinks]))
        total = _refined(forward, backward, orders[finite, None, None], edges)
        # If the integrand at FAR is not negligible, the tail is heavy and the integral diverges.
        far = (orders[finite] - 1) * FAR + at_far
        result[finite] = np.where(far > total - 45, np.inf, total)
        return result

    def tradeoff(self, false_positive_rate: ArrayLike) -> NDArray:
        r"""Return the smallest false negative rate of any test of Q against P, elementwise.

        It is :math:`\sup_\varepsilon 1 - \delta(\varepsilon) - e^\varepsilon a` over real epsilon
        (Dong, Roth & Su 2022, Proposition 2.12); errors of the maximisation only lower it.
        """
        rate = np.asarray(false_positive_rate, dtype=float)

        def miss(epsilon: NDArray) -> NDArray:
            # For eps < 0 use 1 - delta(eps) = e^eps (1 - delta_{Q,P}(-eps)).
            size = np.abs(epsilon)
            ahead = 1 - np.exp(self.log_delta_of(size)) - rate * np.exp(size)
            behind = np.exp(-size) * (1 - np.exp(self._backward(size)) - rate)
            return np.where(epsilon >= 0, ahead, behind)

        # `miss` is concave in e^epsilon, hence unimodal in epsilon.
        best = maximise(miss, lower=-700.0, upper=700.0, shape=rate.shape)
        return np.clip(miss(best), 0.0, 1.0)


def _atoms(losses: NDArray, masses: NDArray, singular: NDArray) -> tuple[Curve, Curve]:
    """Return log delta (a sum of positive terms) and log Q(loss > eps), both as functions of eps.

    `masses` are log q, `singular` is log p where q is 0. Between two losses delta is linear in
    e^eps, so with k the first atom above eps
    delta = p(q = 0) + A_k + (e^{L_k} - e^eps) Q_k,  A_k = sum_{j >= k} q_j (e^{L_j} - e^{L_k}).
    """
    singular = singular[singular > -np.inf]
    log_singular = np.logaddexp.reduce(singular) if singular.size else -np.inf
    order = np.argsort(losses, kind="stable")
    losses, masses = losses[order], masses[order]
    # tail[k] = log Q(loss >= losses[k]), above[k] = log A_k; both padded with -inf at the end.
    tail = np.append(np.logaddexp.accumulate(masses[::-1])[::-1], -np.inf)
    steps = tail[1:-1] + losses[:-1] + log_expm1(np.diff(losses))
    above = np.append(np.logaddexp.accumulate(steps[::-1])[::-1], [-np.inf, -np.inf])
    padded = np.append(losses, np.inf)

    def log_delta(epsilon: NDArray) -> NDArray:
        k = np.searchsorted(losses, epsilon, side="right")
        reach = np.where(k < losses.size, padded[k] - epsilon, 0.0)
        finite = np.logaddexp(above[k], tail[k] + epsilon + log_expm1(reach))
        return np.logaddexp(log_singular, finite)

    def log_tail(epsilon: NDArray) -> NDArray:
        return tail[np.searchsorted(losses, epsilon, side="right")]

    return log_delta, log_tail


def _refined(forward: Curve, backward: Curve, a: NDArray, edges: NDArray) -> NDArray:
    """Return log of the Rényi integral at each order a; halve panels until the errors are small."""
    lower, upper = edges[:-1], edges[1:]
    total = np.full(a.size, -np.inf)
    for _ in range(_ROUNDS):
        half = 0.5 * (upper - lower)
        x = 0.5 * (upper + lower)[:, None] + half[:, None] * _X
        # log_y: log of the integrand times half a panel's width, shape (orders, panels, nodes).
        f, b = forward(x) + np.log(half)[:, None], backward(x) + np.log(half)[:, None]
        log_y = np.logaddexp((a - 1) * x + f, b - a * x)
        top = np.maximum(np.max(log_y, axis=(1, 2)), total)
        top = np.where(np.isfinite(top), top, 0.0)
        y = np.exp(log_y - top[:, None, None])
        fine, coarse = y @ _WK, y @ _WG
        scale = np.exp(total - top) + np.sum(fine, axis=1)
        # The rounding error of a log grows with its size |top|, so scale the tolerance by |top|.
        allowed = _RTOL * np.maximum(1.0, np.abs(top)) * scale / max(lower.size, 64)
        bad = np.any(np.abs(fine - coarse) > allowed[:, None], axis=0)
        total = log(np.exp(total - top) + np.sum(fine[:, ~bad], axis=1)) + top
        if not np.any(bad):
            return total
        middle = 0.5 * (lower + upper)[bad]
        lower = np.concatenate([lower[bad], middle])
        upper = np.concatenate([middle, upper[bad]])
        if lower.size > _MOST_PANELS:
            break
    left = f"{lower.size} panels are left near epsilon = {lower[0]:g}"
    raise ArithmeticError(f"The Rényi integral did not converge to {_RTOL:.0e}: {left}.")


def _chords(log_delta: Curve, nodes: NDArray) -> Curve:
    """Return log of the chords of delta between `nodes`, above delta, which is convex in e^x."""
    values = log_delta(nodes)

    def above(x: NDArray) -> NDArray:
        outside = (x < nodes[0]) | (x > nodes[-1])
        return np.where(outside, log_delta(x), log_chords(x, nodes=nodes, values=values))

    return above
