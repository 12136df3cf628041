"""The kit: one template for pages and lessons, axes that can be read, names as they are drawn."""

import itertools
import math

import numpy as np
import pytest
from guarantees import curve

from dplearn.accountants import accountants
from dplearn.figures import Line, curves, log_steps, profile_curve, text
from dplearn.figures.kit.axes import Axis, log_ticks, tick_words
from dplearn.figures.kit.labels import Box, clearest, spread
from dplearn.figures.kit.marks import keys
from dplearn.figures.kit.template import style_of

RANGES = [(1, 2.5), (0.3, 40), (0.05, 50), (1e-4, 1), (1e-12, 0.5), (1, 1e7), (1e-300, 1e300)]


def test_pages_and_lessons_share_the_look_of_their_axes():
    lesson = curves([Line(x=[1, 2], y=[1, 2], label="")], title="t", x="x", y="y")
    page = profile_curve(epsilons=[0, 1], deltas=[0.4, 0.1], here=(0, 0.4), finding="t")
    one, other = (figure.layout.template.layout for figure in (page, lesson))
    assert one.font == other.font
    for name in ("gridcolor", "linecolor", "ticks", "exponentformat", "zeroline"):
        assert one.xaxis[name] == other.xaxis[name] == one.yaxis[name] is not None, name


def test_every_accountant_has_its_own_colour_and_marker():
    styles = [style_of(name) for name in accountants]
    assert len({s.colour for s in styles}) == len({s.symbol for s in styles}) == len(styles)
    assert style_of("brand_new") == style_of("brand_new"), "a newcomer keeps its colour"


def test_bounds_are_rounded_up_and_approximations_to_the_nearest():
    bound, guess = curve("a", [0.94681])[0], curve("a", [0.94681], kind="approximate")[0]
    assert text.epsilon(bound) == "0.947" and text.epsilon(curve("a", [0.9461])[0]) == "0.947"
    assert text.epsilon(guess).endswith("0.947") and text.epsilon(guess).startswith("≈")
    assert text.bare(curve("a", [0.9461], kind="approximate")[0]) == "0.946"


def test_log_steps_are_few_increasing_and_end_where_they_should():
    for largest in (1, 2, 9, 10, 60, 875, 40_000, 10**7):
        steps = log_steps(largest)
        assert steps[0] == 1 and steps[-1] == largest and len(steps) <= 75, largest
        assert steps == sorted(set(steps)) and all(isinstance(t, int) for t in steps), largest
        assert all(b <= 1.6 * a for a, b in itertools.pairwise(steps[1:])), largest


def test_ticks_are_round_inside_and_few():
    for lower, upper in RANGES:
        ticks = log_ticks(lower, upper)
        assert ticks and lower <= ticks[0] and ticks[-1] <= upper, (lower, upper)
        assert len(ticks) <= 11 and ticks == sorted(set(ticks)), (lower, upper, ticks)
        assert all(f"{t:e}"[0] in "125" for t in ticks), (lower, upper, ticks)
        assert len(set(tick_words(ticks))) == len(ticks), (lower, upper)


def test_a_share_grows_from_0_to_1_and_stays_there():
    for log, middle in ((True, 0.5), (False, 1 / 11)):
        axis = Axis(lower=0.1, upper=10.0, log=log)
        shares = [axis.share(value) for value in (-1.0, 0.1, 1.0, 10.0, math.inf)]
        assert shares == [0, 0, pytest.approx(middle), 1, 1], log


def test_spread_keeps_the_order_and_the_distance():
    for wishes in ([], [5.0], [5.0, 5.0, 5.0], [90.0, 1.0, 89.0, 2.0, 3.0]):
        placed = spread(wishes, gap=10.0, lower=0.0, upper=100.0)
        order = np.argsort(wishes, kind="stable")
        assert np.all(np.diff(np.array(placed)[order]) >= 10.0 - 1e-9), wishes
        assert all(0.0 <= p <= 100.0 for p in placed), wishes
    narrow = spread([1.0] * 5, gap=10.0, lower=0.0, upper=20.0)
    assert narrow == pytest.approx([0, 5, 10, 15, 20]), "the gap shrinks"


def test_clearest_avoids_ink_and_edges():
    boxes = [Box(5, 5, 4, 4), Box(1, 5, 4, 4), Box(15, 5, 4, 4)]
    assert clearest(boxes, np.array([[5.0, 5.0]]), width=20, height=10) == 2


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
