"""Root searches return points at which the function was evaluated and is <= 0."""

import math

import numpy as np
import pytest

from cases import each
from dplearn.core.solve import crossing, decreasing_root, first_true, maximise

SWITCH = np.array([1e-30, 0.3, 1.0, 77.7, 1e8])


class Recorder:
    """Function that records its arguments."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, x):
        self.calls.append(np.array(x))
        return self.function(x)


SHAPES = {
    "smooth": lambda x: np.log(SWITCH / np.maximum(x, 1e-60)),
    "kinked": lambda x: np.where(x < SWITCH, 1e-6, SWITCH - x),
    "step": lambda x: np.where(x < SWITCH, 1.0, -1.0),
    "falls to -inf": lambda x: np.where(x < SWITCH, SWITCH - x, -np.inf),
}


@each("value", SHAPES.values())
def test_function_is_evaluated_and_at_most_0_at_the_returned_root(value):
    watched, bisected, far = (
        Recorder(value),
        Recorder(lambda x: value(x) <= 0),
        np.full(SWITCH.shape, 1e9),
    )
    root = decreasing_root(watched, lower=0.0, upper=far, rtol=1e-12)
    switch = first_true(bisected, lower=0.0, upper=far)
    for place, calls in ((root, watched.calls), (switch, bisected.calls[1:])):
        assert np.all(value(place) <= 0) and np.all(np.any(np.array(calls) == place, axis=0))
        np.testing.assert_allclose(place, SWITCH, rtol=2e-12)
    # Bisection needs log2(1e9 / 1e-42) = 170 halvings for the smallest root, plus one extra
    # step and the two ends.
    assert len(watched.calls) <= 173


def test_root_of_a_smooth_function_needs_few_evaluations():
    assert first_true(lambda x: x >= 1.0, lower=3.0, upper=9.0) == 3.0
    assert decreasing_root(lambda x: 1.0 - x, lower=3.0, upper=9.0) == 3.0
    # A shape similar to log delta.
    watched = Recorder(lambda x: 10 - x - x * x / 2)
    root = decreasing_root(watched, lower=np.array(0.0), upper=np.array(20.0))
    assert root == pytest.approx(math.sqrt(21) - 1, rel=2e-12)
    # Bisection needs 43 evaluations.
    assert len(watched.calls) <= 16


ROOT = 1.7
CROSSED = {
    "straight": lambda x: 3 * (ROOT - x),
    "bent": lambda x: math.exp(-x) - math.exp(-ROOT),
    "step": lambda x: 1.0 if x < ROOT else -1.0,
    "kinked": lambda x: 1e-6 if x < ROOT else ROOT - x,
    "infinite at first": lambda x: math.inf if x < 1 else 1 / x - 1 / ROOT,
    "-inf beyond the root": lambda x: ROOT - x if x < ROOT else -math.inf,
    "flat far out": lambda x: min(ROOT - x, 0.5),
    "flat at the root": lambda x: (ROOT - x) ** 9,
    "steep on one side": lambda x: 25.0 if x < ROOT else 1e-9 * (ROOT - x),
}


@each("guess", [-20.0, 0.0, 1.6999, 1.7001, 30.0])
@each("value", CROSSED.values())
def test_root_search_returns_evaluated_points_on_both_sides_of_the_root(value, guess):
    watched = Recorder(value)
    solution = crossing(watched, guess=guess, lower=-25.0, upper=25.0, tolerance=1e-6)
    assert value(solution.x) <= 0 < value(solution.below)
    assert solution.below < ROOT <= solution.x <= solution.below + 1e-6
    assert solution.below <= solution.root <= solution.x
    assert {solution.x, solution.below} <= {float(x) for x in watched.calls}
    assert len(watched.calls) == len({float(x) for x in watched.calls})
    # Bisection of [-25, 25] needs 26 evaluations; steps outward need some more.
    assert len(watched.calls) <= 3 * 26 + 9


def test_root_search_is_fast_on_smooth_functions_and_stays_in_the_range():
    places = {"guess": 1.0, "lower": 0.0, "upper": 5.0, "tolerance": 1e-6}
    for name, most in (("straight", 6), ("bent", 9)):
        watched, again = Recorder(CROSSED[name]), Recorder(CROSSED[name])
        solution = crossing(watched, **places | {"guess": 0.0, "lower": -25.0, "upper": 25.0})
        crossing(again, slope=solution.slope, **places | {"guess": ROOT + 1e-3})
        assert len(watched.calls) <= most and len(again.calls) <= 4, name
    assert crossing(lambda x: -1.0 - x, **places).x == 0.0
    never = crossing(lambda x: 9.0 - x, **places)
    assert (never.x, never.below) == (math.inf, 5.0)


def test_root_search_on_a_grid_evaluates_only_grid_points():
    def whole(x, a, b):
        first, last = np.clip([np.floor(a) + 1, np.ceil(b) - 1], -50, 50)
        return float(np.clip(np.floor(x), first, last)) if first <= last else b

    for root in (-50.0, -3.5, 0.0, 17.2, 49.0):
        watched = Recorder(lambda x, root=root: math.expm1(0.1 * (root - x)))
        solution = crossing(watched, guess=0.3, lower=-50.0, upper=50.0, tolerance=0.0, snap=whole)
        assert solution.x == math.ceil(root)
        assert all(x == round(float(x)) for x in watched.calls)


def test_each_element_of_an_array_is_maximised_separately():
    tops = np.array([-3.0, 0.0, 4.9])
    place = maximise(lambda x: -((x - tops) ** 2), lower=-5.0, upper=5.0, shape=tops.shape)
    # In double precision a quadratic is flat within the square root of an ulp.
    np.testing.assert_allclose(place, tops, atol=1e-7)
    # The function may be constant right of the maximum, as trade-off curves are.
    edge = maximise(lambda x: np.minimum(x, 1.0), lower=-5.0, upper=5.0, shape=())
    assert 1.0 <= edge <= 5.0
