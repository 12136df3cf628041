"""Arithmetic on logarithms that avoids overflow and cancellation."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln


def log(x: ArrayLike) -> NDArray:
    """Return log x for x >= 0, without a warning at 0, where it is -inf."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def log1mexp(x: ArrayLike) -> NDArray:
    """Return log(1 - e^x) for x <= 0, accurate near 0 and for very negative x (Maechler 2012)."""
    x = np.minimum(np.asarray(x, dtype=float), 0.0)
    with np.errstate(divide="ignore"):
        return np.where(x > -0.693, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_expm1(x: ArrayLike) -> NDArray:
    """Return log(e^x - 1) for x >= 0; -inf at 0."""
    x = np.maximum(np.asarray(x, dtype=float), 0.0)
    return x + log1mexp(-x)


def exp_rest(x: ArrayLike) -> NDArray:
    """Return e^x - 1 - x >= 0, from a power series for |x| <= 0.01 to avoid cancellation."""
    x = np.asarray(x, dtype=float)
    near = np.clip(x, -0.01, 0.01)
    series = 1 + near / 3 * (1 + near / 4 * (1 + near / 5 * (1 + near / 6)))
    return np.where(near == x, 0.5 * near * near * series, np.expm1(x) - x)


def log_sum(logs: NDArray) -> NDArray:
    """Return log of the sum of e^logs along the last axis, faster than `np.logaddexp.reduce`."""
    top = np.maximum(np.max(logs, axis=-1), -1e300)
    return log(np.sum(np.exp(logs - top[..., None]), axis=-1)) + top


def log_chords(x: NDArray, *, nodes: NDArray, values: NDArray) -> NDArray:
    """Interpolate e^values at `nodes` linearly in e^x, constant outside; return the logarithm."""
    i, inside = np.searchsorted(nodes[1:-1], x), np.clip(x, nodes[0], nodes[-1])
    right = log_expm1(inside - nodes[i]) - log_expm1(nodes[i + 1] - nodes[i])
    return np.logaddexp(values[i] + log1mexp(right), values[i + 1] + right)


def log_sub(a: ArrayLike, b: ArrayLike) -> NDArray:
    """Return log(e^a - e^b) for a >= b; -inf where rounding makes b > a."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isneginf(b), -np.inf, b - a)
    return a + log1mexp(gap)


def log_comb(n: ArrayLike, k: ArrayLike) -> NDArray:
    """Return log |C(n, k)| of the binomial coefficient, for real n and whole k."""
    n, k = np.asarray(n, dtype=float), np.asarray(k, dtype=float)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def log_bernoulli(order: NDArray, x: NDArray, log_f: NDArray) -> NDArray:
    """Return log((1+x)^a - 1 - a x), given log_f = log(1+x); row i has a = order[i]."""
    power, more = order * log_f, order - 1
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # Use (1+x)((1+x)^{a-1} - 1) - (a-1)x: both terms are small near order 1.
        plain = np.log(np.exp(log_f) * np.expm1(np.minimum(more * log_f, 600.0)) - more * x)
        # If (1+x)^a is huge, subtract a (1+x) instead of 1 + a x; if x is tiny, use a power series.
        huge = power + np.log1p(-order * np.exp(-(order - 1) * log_f))
        series = 1 + x * (order - 2) / 3 * (1 + x * (order - 3) / 4 * (1 + x * (order - 4) / 5))
        near = np.log(0.5 * order * (order - 1) * x * x * series)
        tiny = np.abs(x) * (1 + order) < 3e-3
    return np.where(tiny, near, np.where(power > 600, huge, plain))
