"""The kit: one template for pages and lessons, axes that can be read, names as they are drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dplearn.figures import Line, curves, profile_curve
from dplearn.figures.kit.axes import Axis, log_ticks, tick_words
from dplearn.figures.kit.marks import keys

RANGES = [(1, 2.5), (0.3, 40), (0.05, 50), (1e-4, 1), (1e-12, 0.5), (1, 1e7), (1e-300, 1e300)]


def test_pages_and_lessons_share_the_look_of_their_axes():
    lesson = curves([Line(x=[1, 2], y=[1, 2], label="")], title="t", x="x", y="y")
    page = profile_curve(epsilons=[0, 1], deltas=[0.4, 0.1], here=(0, 0.4), finding="t")
    one, other = (figure.layout.template.layout for figure in (page, lesson))
    assert one.font == other.font
    for name in ("gridcolor", "linecolor", "ticks", "exponentformat", "zeroline"):
        assert one.xaxis[name] == other.xaxis[name] == one.yaxis[name] is not None, name


def test_ticks_are_round_inside_and_few():
    for lower, upper in RANGES:
        ticks = log_ticks(lower, upper)
        assert ticks and lower <= ticks[0] and ticks[-1] <= upper, (lower, upper)
        assert len(ticks) <= 11 and ticks == sorted(set(ticks)), (lower, upper, ticks)
        assert all(f"{t:e}"[0] in "125" for t in ticks), (lower, upper, ticks)
        assert len(set(tick_words(ticks))) == len(ticks), (lower, upper)


@pytest.mark.parametrize("log", [True, False])
def test_a_share_grows_from_0_to_1_and_stays_there(log):
    axis = Axis(lower=0.1, upper=10.0, log=log)
    shares = [axis.share(value) for value in (-1.0, 0.1, 1.0, 10.0, math.inf)]
    assert shares[:2] == [0, 0] and shares[3:] == [1, 1]
    assert shares[2] == pytest.approx(0.5 if log else 1 / 11)


def test_a_name_below_the_title_has_the_colour_and_the_dash_of_its_line():
    solid, dashed = Line(x=[0], y=[0], label="a"), Line(x=[0], y=[0], label="b", role="wrong")
    words = keys(solid, dashed)
    assert words.index("━━ a") < words.index("╍╍ b")
    for line in (solid, dashed):
        assert f"color:{line.traces()[0]['line']['color']}" in words


def test_a_lesson_stores_single_precision():
    x = np.linspace(0, 1, 5)
    trace = curves([Line(x=x, y=x, label="")], title="t", x="x", y="y").data[0]
    assert trace.x.dtype == trace.y.dtype == np.float32
