"""Monotone inversion, rounded to the safe side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ITERATIONS = 200


def first_true(
    holds: Callable[[NDArray], NDArray],
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    rtol: float = 1e-12,
) -> NDArray:
    """Points just above the place where `holds` turns from False to True, elementwise.

    `holds` is monotone in each element and true at `upper`. The value returned
    is one at which `holds` was seen to be true (so the caller's claim is never
    the untested side), within `rtol` relative or 1e-300 absolute of the switch.

    Parameters
    ----------
    holds : callable
        Takes an array shaped like `upper`, returns booleans of the same shape.
    lower, upper : array_like
        Bracket; where `holds(lower)` is true already, `lower` is returned.
    rtol : float
        Relative width at which bisection stops.
    """
    hi = np.array(upper, dtype=float)
    lo = np.broadcast_to(np.asarray(lower, dtype=float), hi.shape).copy()
    already = holds(lo)
    hi = np.where(already, lo, hi)
    for _ in range(_ITERATIONS):
        if np.all(hi - lo <= rtol * np.abs(hi) + 1e-300):
            break
        middle = 0.5 * (lo + hi)
        good = holds(middle)
        hi, lo = np.where(good, middle, hi), np.where(good, lo, middle)
    return hi


def decreasing_root(
    value: Callable[[NDArray], NDArray], *, lower: ArrayLike, upper: ArrayLike, rtol: float = 1e-12
) -> NDArray:
    """Points at which a decreasing `value` was seen to be <= 0, just right of its root.

    Interpolate, truncate, project (Oliveira & Takahashi 2020): never more evaluations than
    bisection and about ten where `value` is smooth. Elementwise; -inf is a valid value.

    Parameters
    ----------
    value : callable
        Takes and returns arrays of one shape; <= 0 at `upper`.
    lower, upper : array_like
        Bracket; where ``value(lower) <= 0`` already, `lower` is returned.
    rtol : float
        Relative width at which the search stops.
    """
    b = np.array(upper, dtype=float)
    a = np.broadcast_to(np.asarray(lower, dtype=float), b.shape).copy()
    fa, fb = value(a), value(b)
    b = np.where(fa <= 0, a, b)
    width = np.max(b - a, initial=0.0)
    for trial in range(_ITERATIONS):
        tolerance = rtol * np.abs(b) + 1e-300
        open_ = b - a > tolerance
        if not np.any(open_):
            break
        middle, half = 0.5 * (a + b), 0.5 * (b - a)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            falsi = (b * fa - a * fb) / (fa - fb)
        falsi = np.where(np.isfinite(falsi), falsi, middle)
        towards = np.sign(middle - falsi)
        nudge = np.maximum(0.2 * half * half / np.maximum(np.abs(b), 1e-300), 0.25 * tolerance)
        inner = np.where(nudge <= np.abs(middle - falsi), falsi + towards * nudge, middle)
        # After one spare step the bracket is never wider than bisection would have left it.
        room = np.maximum(width * 0.5**trial - half, 0.0)
        x = np.where(np.abs(inner - middle) <= room, inner, middle - towards * room)
        x = np.where(open_, np.clip(x, a, b), b)
        fx = value(x)
        good = fx <= 0
        b, fb = np.where(good, x, b), np.where(good, fx, fb)
        a, fa = np.where(good, a, x), np.where(good, fa, fx)
    return b


def expand_until(holds: Callable[[float], bool], *, start: float, factor: float = 2.0) -> float:
    """Smallest start * factor^k, k = 0, 1, ..., at which `holds`; inf if none below 1e300."""
    x = start
    while not holds(x):
        x *= factor
        if not 1e-300 < x < 1e300:
            return float("inf")
    return x


def maximise(
    value: Callable[[NDArray], NDArray],
    *,
    lower: float,
    upper: float,
    shape: tuple[int, ...],
) -> NDArray:
    """Where unimodal `value` is largest on [lower, upper], elementwise, by golden section."""
    lo, hi = np.full(shape, lower), np.full(shape, upper)
    golden = 0.5 * (np.sqrt(5.0) - 1)
    for _ in range(90):
        left, right = hi - golden * (hi - lo), lo + golden * (hi - lo)
        go_left = value(left) >= value(right)
        hi, lo = np.where(go_left, right, hi), np.where(go_left, lo, left)
    return 0.5 * (lo + hi)
