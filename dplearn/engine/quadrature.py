"""Adaptive Gauss-Kronrod quadrature of a privacy profile on [0, inf), for many orders at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core.logspace import log1mexp, log_expm1
from dplearn.core.work import spend

# Beyond this epsilon a profile that is still positive counts as infinite loss.
FAR = 1e9

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
_X, _WK = np.concatenate([-_NODES, _NODES[-2::-1]]), np.concatenate([_K15, _K15[-2::-1]])
# Every other node is one of the seven.
_WG = np.insert(np.polynomial.legendre.leggauss(7)[1], range(8), 0.0)

# A function of epsilon >= 0 that returns logarithms, same shape.
Curve = Callable[[NDArray], NDArray]

_RTOL, _ROUNDS = 1e-10, 80
_MOST_PANELS, _MOST_KINKS = 20_000, 2000
_EDGES = np.concatenate([[0.0], np.geomspace(1e-12, FAR, 211)])


def log_renyi_integrals(
    forward: Curve, backward: Curve, orders: NDArray, kinks: ArrayLike
) -> NDArray:
    """log of int_0^inf e^{(a-1)x} delta(x) + e^{-ax} delta'(x) dx per order a; inf if divergent.

    `forward` is log delta and `backward` log delta' of the reverse pair, smooth between `kinks`.
    Adaptive Gauss-Kronrod on panels shared by all orders: a panel is halved while any
    order still sees an error there. Shapes: (order, panel, node). Where there are very many kinks
    the value is an upper bound, from chords between some of them.
    """
    kinks = np.unique(np.asarray(kinks, dtype=float))
    if kinks.size > _MOST_KINKS:
        kinks = kinks[np.linspace(0, kinks.size - 1, _MOST_KINKS).astype(int)]
        forward, backward = _chords(forward, kinks), _chords(backward, kinks)
    result = np.full(orders.shape, np.inf)
    # delta(inf) > 0 means infinite loss with positive probability: every order >= 1 diverges.
    at_far, beyond = forward(np.array([FAR, 2 * FAR]))
    finite = (orders < 1) | np.isneginf(beyond) | (beyond < at_far)
    if np.any(finite):
        edges = np.unique(np.concatenate([_EDGES, kinks]))
        total = _refined(forward, backward, orders[finite, None, None], edges)
        # A heavy tail: the integrand is still of the integral's size at the far end.
        far = (orders[finite] - 1) * FAR + at_far
        result[finite] = np.where(far > total - 45, np.inf, total)
    return result


def _refined(forward: Curve, backward: Curve, a: NDArray, edges: NDArray) -> NDArray:
    """log of the integral per order, from panels halved until no order sees an error in any."""
    lower, upper = edges[:-1], edges[1:]
    total = np.full(a.size, -np.inf)
    for _ in range(_ROUNDS):
        half = 0.5 * (upper - lower)
        x = 0.5 * (upper + lower)[:, None] + half[:, None] * _X
        spend(10 * a.size * x.size)
        # The integrand times half a panel's width, shape (order, panel, node).
        f, b = forward(x) + np.log(half)[:, None], backward(x) + np.log(half)[:, None]
        log_y = np.logaddexp((a - 1) * x + f, b - a * x)
        top = np.maximum(np.max(log_y, axis=(1, 2)), total)
        top = np.where(np.isfinite(top), top, 0.0)
        y = np.exp(log_y - top[:, None, None])
        fine, coarse = y @ _WK, y @ _WG
        scale = np.exp(total - top) + np.sum(fine, axis=1)
        # A log of size |top| carries rounding of that size: ask for relative accuracy in the log.
        allowed = _RTOL * np.maximum(1.0, np.abs(top)) * scale / max(lower.size, 64)
        bad = np.any(np.abs(fine - coarse) > allowed[:, None], axis=0)
        with np.errstate(divide="ignore"):
            total = np.log(np.exp(total - top) + np.sum(fine[:, ~bad], axis=1)) + top
        if not np.any(bad):
            return total
        middle = 0.5 * (lower + upper)[bad]
        lower = np.concatenate([lower[bad], middle])
        upper = np.concatenate([middle, upper[bad]])
        if lower.size > _MOST_PANELS:
            break
    raise ArithmeticError(
        f"The Rényi integral did not converge to {_RTOL:.0e}: {lower.size} panels are left near "
        f"epsilon = {lower[0]:g}."
    )


def _chords(log_delta: Curve, nodes: NDArray) -> Curve:
    """A curve that is linear in e^epsilon between the nodes: above log delta, which is convex."""
    values = log_delta(nodes)

    def above(x: NDArray) -> NDArray:
        i = np.clip(np.searchsorted(nodes, x) - 1, 0, nodes.size - 2)
        inside = np.clip(x, nodes[i], nodes[i + 1])
        right = log_expm1(inside - nodes[i]) - log_expm1(nodes[i + 1] - nodes[i])
        chord = np.logaddexp(values[i] + log1mexp(right), values[i + 1] + right)
        return np.where(x == inside, chord, log_delta(x))

    return above
