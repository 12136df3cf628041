"""Root searches for monotone functions, and maxima of unimodal functions."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


def first_true(
    holds: Callable[[NDArray], NDArray], *, lower: ArrayLike, upper: ArrayLike, rtol: float = 1e-12
) -> NDArray:
    """Return points at, or just above, the change of `holds` from False to True, elementwise.

    `holds` takes and returns arrays shaped like `upper`, is monotone in each element and true
    at `upper`. A point is within `rtol` relative or 1e-300 absolute of the switch; it is `lower`
    where `holds(lower)` is true.
    """
    # With the values 1 (False) and -1 (True), interpolation becomes bisection.
    step = lambda x: np.where(holds(x), -1.0, 1.0)
    return decreasing_root(step, lower=lower, upper=upper, rtol=rtol)


def decreasing_root(
    value: Callable[[NDArray], NDArray], *, lower: ArrayLike, upper: ArrayLike, rtol: float = 1e-12
) -> NDArray:
    """Return points where a decreasing `value` is <= 0, just right of its root, elementwise.

    The method ITP (interpolate, truncate, project; Oliveira & Takahashi 2020) takes at most one
    evaluation more than bisection, about ten if `value` is smooth. The value is <= 0 at `upper`
    and may be -inf; where it is <= 0 at `lower`, the result is `lower`.
    """
    b = np.array(upper, dtype=float)
    a = np.broadcast_to(np.asarray(lower, dtype=float), b.shape).copy()
    fa, fb = value(a), value(b)
    b = np.where(fa <= 0, a, b)
    width = np.max(b - a, initial=0.0)
    for candidate in range(200):
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
        # Limit the step: the bracket stays at most twice as wide as bisection would leave it.
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
    """Bracket of a decreasing function's root, with estimates of root and slope."""

    x: float  # the smallest evaluated point with a value <= 0, or inf
    below: float  # the largest evaluated point with a value > 0, or -inf
    root: float  # estimate of the root between `below` and `x`
    slope: float  # slope of the function at `root`, or nan


def crossing(
    value: Callable[[float], float],
    *,
    guess: float,
    lower: float,
    upper: float,
    tolerance: float | Callable[[float], float],
    slope: float = math.nan,
    snap: Callable[[float, float, float], float] = lambda x, a, b: x,
) -> Crossing:
    """Return a bracket of the root of a decreasing, nearly linear `value` in [lower, upper].

    For functions that are costly to evaluate: inverse interpolation through three points, each new
    point a little beyond the root, so that the bracket shrinks from both sides. It takes about
    seven evaluations if `value` is smooth, and about three times as many as bisection if it jumps;
    a value may be infinite. The search begins at `guess`, with the `slope` of `value` there if
    given, and stops when the bracket is `tolerance` wide, which may depend on the last point.
    `snap` maps x and the ends a < b of a bracket to a point between them where `value` is defined,
    or to an end if none is.
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
            # Double the stride until the root is bracketed.
            step = abs(root - x) + max(0.4 * close, 2 * error)
            step = step if step < stride and len(points) < 20 else stride
            x, stride = x + step if f > 0 else x - step, 2 * stride
        elif misses > 1 or not a < root < b:
            x, misses = 0.5 * (a + b), 0
        else:
            # Step from the nearer end to just past the root, and by about the tolerance at least.
            middle, nudge = 0.5 * (a + b), max(0.4 * close, 2 * error)
            if root - a < b - root:
                x = min(max(root + nudge, a + 0.99 * close), middle)
            else:
                x = max(min(root - nudge, b - 0.99 * close), middle)
        x = snap(min(max(x, lower), upper), a, b)
        if x in (a, b):
            break
    # If the predicted root is outside the bracket, use an end; at least one end is finite.
    inside = a < root < b
    return Crossing(b, a, root if inside else b if b < math.inf else a, slope)


def _predict(points: list[tuple[float, float]], slope: float) -> tuple[float, float, float]:
    """Estimate the root, its error and the slope by inverse interpolation; nan if impossible."""
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
    """Return the argmax of a unimodal `value` on [lower, upper], elementwise."""
    lo, hi = np.full(shape, lower), np.full(shape, upper)
    golden = 0.5 * (np.sqrt(5.0) - 1)
    left, right = hi - golden * (hi - lo), lo + golden * (hi - lo)
    at_left, at_right = value(left), value(right)
    for _ in range(80):
        go_left = at_left >= at_right
        lo, hi = np.where(go_left, lo, left), np.where(go_left, right, hi)
        # The golden ratio lets each step reuse one of the two inner points.
        new = np.where(go_left, hi - golden * (hi - lo), lo + golden * (hi - lo))
        at_new = value(new)
        left, right = np.where(go_left, new, right), np.where(go_left, left, new)
        at_left, at_right = np.where(go_left, at_new, at_right), np.where(go_left, at_left, at_new)
    return 0.5 * (lo + hi)
