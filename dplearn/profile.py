r"""The privacy profile: everything an ordered pair of neighbouring outputs can leak.

For a pair :math:`(P, Q)` with privacy loss :math:`L = \ln dP/dQ`,

.. math:: \delta(\varepsilon) = E_P[(1 - e^{\varepsilon - L})_+]
          = P(L > \varepsilon) - e^{\varepsilon} Q(L > \varepsilon).

Two conventions make the floating-point arithmetic honest.

* The primitive is log delta, not delta: a profile is meaningful far below 1e-308.
* A profile holds *two* functions of epsilon >= 0, that of (P, Q) and that of
  (Q, P). They determine each other through :math:`\delta_{P,Q}(-\varepsilon) =
  1 - e^{-\varepsilon} + e^{-\varepsilon}\delta_{Q,P}(\varepsilon)`, but only in this direction
  is the sum free of cancellation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn._logspace import log1mexp, log_add, log_expm1
from dplearn._solve import decreasing_root, first_true, maximise

LogDelta = Callable[[NDArray], NDArray]

# Beyond this epsilon a profile that is still positive counts as infinite loss.
_FAR = 1e9


@dataclass(frozen=True, eq=False)
class Profile:
    r"""Privacy profile of an ordered pair of distributions.

    Parameters
    ----------
    log_delta_of : callable
        Maps an array of epsilon >= 0 to log delta of (P, Q), same shape.
    log_delta_reverse_of : callable, optional
        The same for (Q, P). Default: the pair is symmetric.
    kinks : array_like
        Every epsilon > 0 at which one of the two functions is not smooth, shape (n_kinks,).
        Quadrature splits there.

    Examples
    --------
    >>> from dplearn.mechanisms import Gaussian
    >>> (profile,) = Gaussian(noise_multiplier=1.0).profiles()
    >>> round(float(profile.delta(1.0)), 7)
    0.1269367
    """

    log_delta_of: LogDelta
    log_delta_reverse_of: LogDelta | None = None
    kinks: ArrayLike = ()

    @property
    def _backward(self) -> LogDelta:
        return self.log_delta_reverse_of or self.log_delta_of

    @classmethod
    def from_atoms(cls, log_p: ArrayLike, log_q: ArrayLike) -> Profile:
        """Profile of two finite distributions given by log masses, shape (n,) each."""
        log_p, log_q = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
        both = np.isfinite(log_p) & np.isfinite(log_q)
        kinks = np.unique(np.abs(log_p[both] - log_q[both]))
        return cls(_atoms(log_p, log_q), _atoms(log_q, log_p), kinks[kinks > 0])

    def log_delta(self, epsilon: ArrayLike) -> NDArray:
        """log delta at every real epsilon (negative ones included), elementwise."""
        epsilon = np.asarray(epsilon, dtype=float)
        size = np.abs(epsilon)
        forward = self.log_delta_of(size)
        if np.all(epsilon >= 0):
            return forward
        backward = log_add(log1mexp(-size), self._backward(size) - size)
        return np.where(epsilon >= 0, forward, backward)

    def delta(self, epsilon: ArrayLike) -> NDArray:
        """delta at every real epsilon, elementwise; exact up to rounding."""
        return np.exp(self.log_delta(epsilon))

    def epsilon(self, delta: ArrayLike) -> NDArray:
        """Smallest epsilon >= 0 with delta(epsilon) <= delta, elementwise; inf where none is.

        Rounded up: the profile at the value returned was evaluated and found small enough.
        """
        with np.errstate(divide="ignore"):
            target = np.log(np.asarray(delta, dtype=float))
        # A slack of 4 ulp keeps an exact plateau (randomized response) from being missed.
        limit = target * (1 - 1e-15)

        def excess(x: NDArray) -> NDArray:
            value = self.log_delta_of(x)
            with np.errstate(invalid="ignore"):
                return np.where(np.isneginf(value), -np.inf, value - limit)

        upper = np.ones_like(target)
        while np.any(far := (excess(upper) > 0) & (upper <= _FAR)):
            upper = np.where(far, 4 * upper, upper)
        hopeless = upper > _FAR
        upper = np.where(hopeless, 0.0, upper)
        found = decreasing_root(excess, lower=np.zeros_like(upper), upper=upper)
        return np.where(hopeless, np.inf, found)

    def reverse(self) -> Profile:
        """Profile of (Q, P)."""
        return Profile(self._backward, self.log_delta_of, self.kinks)

    def mix_first(self, weight: float) -> Profile:
        r"""Profile of :math:`((1-w)Q + wP,\ Q)`: Poisson sampling, a record removed.

        References
        ----------
        Balle, Barthe & Gaboardi (2018), Theorem 8; an equality for the pair.
        """
        if weight == 1.0:
            return self
        log_w, log_rest = np.log(weight), np.log1p(-weight)

        def forward(epsilon: NDArray) -> NDArray:
            # The base is asked at eps' = log(1 + (e^eps - 1) / w).
            return log_w + self.log_delta_of(log_add(0.0, log_expm1(epsilon) - log_w))

        def backward(epsilon: NDArray) -> NDArray:
            # Q - e^eps((1-w)Q + wP) = s (Q - e^{eps'} P), s = 1 - e^eps (1-w), e^eps' = e^eps w/s.
            log_s = log1mexp(np.minimum(epsilon + log_rest, 0.0))
            alive = np.isfinite(log_s)
            shifted = np.where(alive, epsilon + log_w - np.where(alive, log_s, 0.0), 0.0)
            return np.where(alive, log_s + self._backward(np.maximum(shifted, 0.0)), -np.inf)

        old = np.asarray(self.kinks, dtype=float)
        # Where the base is asked at an old kink, and where the reverse reaches 0.
        ahead = log_add(log_rest, log_w + old)
        behind = old - log_add(log_w, log_rest + old)
        return Profile(forward, backward, np.concatenate([ahead, behind, [-log_rest]]))

    def mix_second(self, weight: float) -> Profile:
        """Profile of (P, (1-w)P + wQ): Poisson sampling, a record added."""
        return self.reverse().mix_first(weight).reverse()

    def renyi(self, orders: ArrayLike) -> NDArray:
        r"""Rényi divergences :math:`D_\alpha(P\Vert Q)`, by quadrature of the profile.

        Parameters
        ----------
        orders : array_like
            Orders in [0, inf], any shape; 0, 1 and inf are limits.

        Returns
        -------
        ndarray
            Divergences in nats, shape of `orders`; inf where they diverge.

        Raises
        ------
        ArithmeticError
            If the quadrature does not reach its tolerance.

        References
        ----------
        Sason & Verdú (2016), f-divergences as integrals of the hockey-stick divergence.
        """
        orders = np.asarray(orders, dtype=float)
        if not np.all(orders >= 0):
            raise ValueError(f"Expected orders in [0, inf], got {orders[~(orders >= 0)][0]!r}.")
        values = np.empty(orders.shape)
        values[orders == 0.0] = -log1mexp(self._backward(np.array(_FAR)))
        values[orders == np.inf] = self._largest_loss()
        inner = (orders > 0) & (orders < np.inf)
        values[inner] = self._renyi(orders[inner])
        return values

    def _renyi(self, orders: NDArray) -> NDArray:
        # E_Q[(P/Q)^a] = 1 + a(a-1) I,  I = int e^{(a-1)e} delta(e) + e^{-ae} delta'(e) de.
        log_integral = _log_integrals(self, orders)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_x = log_integral + np.log(orders) + np.log(np.abs(orders - 1))
            above = log_add(0.0, log_x) / (orders - 1)
            below = log1mexp(np.minimum(log_x, 0.0)) / (orders - 1)
        return np.select(
            [orders == 1, orders > 1],
            [np.exp(np.where(orders == 1, log_integral, 0.0)), above],
            below,
        )

    def _largest_loss(self) -> float:
        def beyond(x: NDArray) -> NDArray:
            return np.isneginf(self.log_delta_of(x)) | (x > _FAR)

        largest = float(first_true(beyond, lower=0.0, upper=2 * _FAR))
        return largest if largest <= _FAR else np.inf

    def tradeoff(self, false_positive_rate: ArrayLike) -> NDArray:
        r"""Smallest false negative rate of any test of Q against P, elementwise.

        The value is :math:`\sup_\varepsilon 1 - \delta(\varepsilon) - e^\varepsilon a` over
        real epsilon, found by a search; a search that stops early errs towards a
        stronger attacker.

        References
        ----------
        Dong, Roth & Su (2022), Proposition 2.12.
        """
        rate = np.asarray(false_positive_rate, dtype=float)

        def miss(epsilon: NDArray) -> NDArray:
            # For epsilon < 0 both terms carry the factor e^epsilon: 1 - delta = e^eps (1 - delta').
            size = np.abs(epsilon)
            ahead = 1 - np.exp(self.log_delta_of(size)) - rate * np.exp(size)
            behind = np.exp(-size) * (1 - np.exp(self._backward(size)) - rate)
            return np.where(epsilon >= 0, ahead, behind)

        # The value is concave in e^epsilon, hence unimodal in epsilon.
        best = maximise(miss, lower=-700.0, upper=700.0, shape=rate.shape)
        return np.clip(miss(best), 0.0, 1.0)


def _atoms(log_p: NDArray, log_q: NDArray) -> LogDelta:
    """log delta of (p, q) as a sum of positive terms only.

    Between two losses delta is linear in e^eps, so with k the first atom above eps
    delta = p(q = 0) + A_k + (e^{L_k} - e^eps) Q_k,  A_k = sum_{j >= k} q_j (e^{L_j} - e^{L_k}).
    """
    alive = (log_p > -np.inf) & (log_q > -np.inf)
    singular = log_p[(log_p > -np.inf) & ~alive]
    log_singular = np.logaddexp.reduce(singular) if singular.size else -np.inf
    losses = (log_p - np.where(alive, log_q, 0.0))[alive]
    order = np.argsort(losses)
    losses, masses = losses[order], log_q[alive][order]
    # tail[k] = log Q(L >= L_k);  above[k] = log A_k; both padded with -inf at the end.
    tail = np.append(np.logaddexp.accumulate(masses[::-1])[::-1], -np.inf)
    steps = tail[1:-1] + losses[:-1] + log_expm1(np.diff(losses))
    above = np.append(np.logaddexp.accumulate(steps[::-1])[::-1], [-np.inf, -np.inf])
    padded = np.append(losses, np.inf)

    def log_delta(epsilon: NDArray) -> NDArray:
        k = np.searchsorted(losses, epsilon, side="right")
        reach = np.where(k < losses.size, padded[k] - epsilon, 0.0)
        finite = log_add(above[k], tail[k] + epsilon + log_expm1(reach))
        return log_add(log_singular, finite)

    return log_delta


# Gauss-Kronrod nodes on [-1, 1], 7 and 15 points (Piessens et al. 1983).
_NODES = np.array(
    [0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
     0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
     0.586087235467691130294144838285523, 0.405845151377397166906606412076961,
     0.207784955007898467600689403773245, 0.0]
)  # fmt: skip
_K15 = np.array(
    [0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
     0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
     0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
     0.204432940075298892414161999234649, 0.209482141084727828012999174891714]
)  # fmt: skip
_G7 = np.array(
    [0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780,
     0.0, 0.381830050505118944950369775488975, 0.0, 0.417959183673469387755102040816327]
)  # fmt: skip
_X = np.concatenate([-_NODES, _NODES[-2::-1]])
_WK, _WG = (np.concatenate([w, w[-2::-1]]) for w in (_K15, _G7))

_MOST_PANELS = 20_000
_EDGES = np.concatenate([[0.0], np.geomspace(1e-12, _FAR, 211)])


def _log_integrals(
    pair: Profile, orders: NDArray, *, rtol: float = 1e-10, rounds: int = 80
) -> NDArray:
    """log of int_0^inf e^{(a-1)x} delta(x) + e^{-ax} delta'(x) dx per order a; inf if divergent.

    Adaptive Gauss-Kronrod on panels shared by all orders: a panel is halved while any
    order still sees an error there. Shapes: (order, panel, node).
    """
    forward, backward = pair.log_delta_of, pair._backward
    result = np.full(orders.shape, np.inf)
    # delta(inf) > 0 means infinite loss with positive probability: every order >= 1 diverges.
    at_far, beyond = forward(np.array([_FAR, 2 * _FAR]))
    finite = (orders < 1) | np.isneginf(beyond) | (beyond < at_far)
    a = orders[finite, None, None]
    if not a.size:
        return result
    edges = np.unique(np.concatenate([_EDGES, np.asarray(pair.kinks, dtype=float)]))
    lower, upper = edges[:-1], edges[1:]
    total = np.full(a.size, -np.inf)
    for _ in range(rounds):
        half = 0.5 * (upper - lower)
        x = 0.5 * (upper + lower)[:, None] + half[:, None] * _X
        f, b = forward(x) + np.log(half)[:, None], backward(x) + np.log(half)[:, None]
        log_y = log_add((a - 1) * x + f, b - a * x)
        top = np.maximum(np.max(log_y, axis=(1, 2)), total)
        top = np.where(np.isfinite(top), top, 0.0)
        y = np.exp(log_y - top[:, None, None])
        fine, coarse = y @ _WK, y @ _WG
        scale = np.exp(total - top) + np.sum(fine, axis=1)
        # A log of size |top| carries rounding of that size: ask for relative accuracy in the log.
        allowed = rtol * np.maximum(1.0, np.abs(top)) * scale / max(lower.size, 64)
        bad = np.any(np.abs(fine - coarse) > allowed[:, None], axis=0)
        with np.errstate(divide="ignore"):
            total = np.log(np.exp(total - top) + np.sum(fine[:, ~bad], axis=1)) + top
        if not np.any(bad):
            # A heavy tail: the integrand is still of the integral's size at the far end.
            far = (orders[finite] - 1) * _FAR + at_far
            result[finite] = np.where(far > total - 45, np.inf, total)
            return result
        middle = 0.5 * (lower + upper)[bad]
        lower = np.concatenate([lower[bad], middle])
        upper = np.concatenate([middle, upper[bad]])
        if lower.size > _MOST_PANELS:
            break
    raise ArithmeticError(
        f"The Rényi integral did not converge to {rtol:.0e}: {lower.size} panels are left near "
        f"epsilon = {lower[0]:g}."
    )
