"""Monotone inversion, rounded to the safe side."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ITERATIONS = 200
# From x and the ends a < b of what is left to a point that can be asked; an end: nothing is left.
Snap = Callable[[float, float, float], float]


def first_true(
    holds: Callable[[NDArray], NDArray], *, lower: ArrayLike, upper: ArrayLike, rtol: float = 1e-12
) -> NDArray:
    """Points just above where `holds` turns from False to True, elementwise.

    `holds` takes and returns arrays shaped like `upper`, is monotone in each element and true
    at `upper`. The value returned is one at which `holds` was seen to be true, within `rtol`
    relative or 1e-300 absolute of the switch; where `holds(lower)` is true already, it is `lower`.
    """
    # Of two values alone the interpolation is the middle: that is bisection.
    step = lambda x: np.where(holds(x), -1.0, 1.0)
    return decreasing_root(step, lower=lower, upper=upper, rtol=rtol)


def decreasing_root(
    value: Callable[[NDArray], NDArray], *, lower: ArrayLike, upper: ArrayLike, rtol: float = 1e-12
) -> NDArray:
    """Points at which a decreasing `value` was seen to be <= 0, just right of its root.

    Interpolate, truncate, project (Oliveira & Takahashi 2020): never more evaluations than
    bisection and about ten where `value` is smooth. Elementwise; -inf is a valid value, the value
    is <= 0 at `upper`, and where it is so at `lower` already, `lower` is returned.
    """
    b = np.array(upper, dtype=float)
    a = np.broadcast_to(np.asarray(lower, dtype=float), b.shape).copy()
    fa, fb = value(a), value(b)
    b = np.where(fa <= 0, a, b)
    width = np.max(b - a, initial=0.0)
    for candidate in range(_ITERATIONS):
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
        room = np.maximum(width * 0.5**candidate - half, 0.0)
        x = np.where(np.abs(inner - middle) <= room, inner, middle - towards * room)
        x = np.where(open_, np.clip(x, a, b), b)
        fx = value(x)
        good = fx <= 0
        b, fb = np.where(good, x, b), np.where(good, fx, fb)
        a, fa = np.where(good, a, x), np.where(good, fa, fx)
    return b


@dataclass(frozen=True)
class Crossing:
    """Place where a decreasing value was seen to be <= 0, and what is known nearby."""

    x: float  # the smallest point seen to be good; inf if there is none
    below: float  # the largest point seen to be bad; -inf if there is none
    root: float  # a guess between the two, good or not
    slope: float  # of the value at the guess, or nan


def crossing(
    value: Callable[[float], float],
    *,
    guess: float,
    lower: float,
    upper: float,
    tolerance: float | Callable[[float], float],
    slope: float = math.nan,
    snap: Snap = lambda x, a, b: x,
) -> Crossing:
    """Smallest x in [lower, upper] at which a decreasing, nearly straight `value` is <= 0.

    For costly values without a bracket: inverse interpolation through three points, each new
    one a little beyond the root, so that good and bad close in from both sides. About seven
    evaluations where `value` is smooth, three times those of bisection where it jumps. A value may
    be infinite. The search begins at `guess`, with the value's `slope` near it if that is known,
    and stops when good and bad are `tolerance` apart, which may depend on the point asked last;
    `snap` serves where only some can be asked.
    """
    points: list[tuple[float, float]] = []
    a, b, stride, misses = -math.inf, math.inf, 0.5, 0
    x = snap(min(max(guess, lower), upper), a, b)
    while True:
        f, width = value(x), b - a
        points.append((x, f))
        a, b = (a, x) if f <= 0 else (x, b)
        root, error, slope = _predict(points, slope)
        close = tolerance(x) if callable(tolerance) else tolerance
        if b - a <= close or a == upper or b == lower:
            break
        misses = misses + 1 if b - a > 0.5 * width else 0
        if math.isinf(b - a):
            # On to the other side, in strides that double.
            step = abs(root - x) + max(0.4 * close, 2 * error)
            step = step if step < stride and len(points) < 20 else stride
            x, stride = x + step if f > 0 else x - step, 2 * stride
        elif misses > 1 or not a < root < b:
            x, misses = 0.5 * (a + b), 0
        else:
            # A point past the root as seen from the nearer end, at least what closes the bracket.
            middle, nudge = 0.5 * (a + b), max(0.4 * close, 2 * error)
            if root - a < b - root:
                x = min(max(root + nudge, a + 0.99 * close), middle)
            else:
                x = max(min(root - nudge, b - 0.99 * close), middle)
        x = snap(min(max(x, lower), upper), a, b)
        if x in (a, b):
            break
    # Where no root was predicted one of the ends is finite.
    inside = a < root < b
    return Crossing(b, a, root if inside else b if b < math.inf else a, slope)


def _predict(points: list[tuple[float, float]], slope: float) -> tuple[float, float, float]:
    """Root, its likely error, and slope by inverse interpolation; nan where nothing is known."""
    near = sorted((p for p in points if abs(p[1]) < 30), key=lambda p: abs(p[1]))[:3]
    if not near:
        return math.nan, math.nan, slope
    (x0, f0), (x1, f1), (x2, f2) = (*near, *[(math.nan, math.nan)] * 2)[:3]
    slope = slope if math.isnan(x1) else (f1 - f0) / (x1 - x0)
    if not slope < 0:
        return math.nan, math.nan, math.nan
    root = x0 - f0 / slope
    if math.isnan(x2) or f2 in (f0, f1):
        return root, 0.01 * abs(root - x0), slope
    # Newton's divided differences of x as a function of the value.
    bend = ((x2 - x1) / (f2 - f1) - 1 / slope) / (f2 - f0)
    bent = root + bend * f0 * f1
    return bent, abs(bent - root) * min(1.0, abs(f0 / f2) + 0.02), slope


def maximise(
    value: Callable[[NDArray], NDArray], *, lower: float, upper: float, shape: tuple[int, ...]
) -> NDArray:
    """Place of the maximum of a unimodal `value` on [lower, upper], elementwise."""
    lo, hi = np.full(shape, lower), np.full(shape, upper)
    golden = 0.5 * (np.sqrt(5.0) - 1)
    left, right = hi - golden * (hi - lo), lo + golden * (hi - lo)
    at_left, at_right = value(left), value(right)
    for _ in range(80):
        go_left = at_left >= at_right
        lo, hi = np.where(go_left, lo, left), np.where(go_left, right, hi)
        # One of the two points stays: that is what the ratio is golden for.
        new = np.where(go_left, hi - golden * (hi - lo), lo + golden * (hi - lo))
        at_new = value(new)
        left, right = np.where(go_left, new, right), np.where(go_left, left, new)
        at_left, at_right = np.where(go_left, at_new, at_right), np.where(go_left, at_left, at_new)
    return 0.5 * (lo + hi)
