"""Figures and drawings of lessons show exactly the given data."""

import itertools
import math
from xml.etree import ElementTree

import numpy as np
import plotly.graph_objects as go
import pytest

from dplearn.accountants import ACCOUNTANTS
from dplearn.teaching import figures
from dplearn.teaching.classroom.sources import lessons_folder
from dplearn.teaching.figures import Curve, Dot, crowd, curves, flow, images
from dplearn.teaching.figures.kit.axes import Axis, log_steps, log_ticks, spread, tick_words
from dplearn.teaching.figures.kit.marks import legend, one_panel
from dplearn.teaching.figures.kit.template import style_of

RANGES = [(1, 2.5), (0.3, 40), (0.05, 50), (1e-4, 1), (1e-12, 0.5), (1, 1e7), (1e-300, 1e300)]


def test_figures_of_explorer_and_lessons_have_equal_fonts_and_axes():
    line, axis = Curve(x=[1, 2], y=[1, 2], label=""), Axis(lower=1.0, upper=2.0)
    lesson, page = curves([line], title="t", x="x", y="y"), one_panel([line], axis, axis, "t", "")
    assert lesson.data[0].x.dtype == lesson.data[0].y.dtype == np.float32, (
        "half the size of the notebook"
    )
    one, other = (figure.layout.template.layout for figure in (page, lesson))
    assert one.font == other.font
    for name in ("gridcolor", "linecolor", "ticks", "exponentformat", "zeroline"):
        assert one.xaxis[name] == other.xaxis[name] == one.yaxis[name] is not None, name


def test_every_accountant_has_its_own_colour_and_marker():
    styles = [style_of(name) for name in ACCOUNTANTS]
    assert len({s.colour for s in styles}) == len({s.symbol for s in styles}) == len(styles)
    assert style_of("brand_new") == style_of("brand_new"), "a new name has a fixed colour"


def test_log_steps_are_few_increasing_and_end_at_the_largest():
    for largest in (1, 2, 9, 10, 60, 875, 40_000, 10**7):
        steps = log_steps(largest)
        assert steps[0] == 1 and steps[-1] == largest and len(steps) <= 75, largest
        assert steps == sorted(set(steps)) and all(isinstance(t, int) for t in steps), largest
        assert all(b <= 1.6 * a for a, b in itertools.pairwise(steps[1:])), largest


def test_log_ticks_are_few_round_values_and_positions_on_an_axis_lie_in_0_1():
    for lower, upper in RANGES:
        ticks = log_ticks(lower, upper)
        assert ticks and lower <= ticks[0] and ticks[-1] <= upper, (lower, upper)
        assert len(ticks) <= 11 and ticks == sorted(set(ticks)), (lower, upper, ticks)
        assert all(f"{t:e}"[0] in "125" for t in ticks), (lower, upper, ticks)
        assert len(set(tick_words(ticks))) == len(ticks), (lower, upper)
    for log, middle in ((True, 0.5), (False, 1 / 11)):
        axis = Axis(lower=0.1, upper=10.0, log=log)
        shares = [axis.share(value) for value in (-1.0, 0.1, 1.0, 10.0, math.inf)]
        assert shares == [0, 0, pytest.approx(middle), 1, 1], log


def test_spread_positions_keep_order_and_distance():
    for wishes in ([], [5.0], [5.0, 5.0, 5.0], [90.0, 1.0, 89.0, 2.0, 3.0]):
        placed = spread(wishes, gap=10.0, lower=0.0, upper=100.0)
        order = np.argsort(wishes, kind="stable")
        assert np.all(np.diff(np.array(placed)[order]) >= 10.0 - 1e-9), wishes
        assert all(0.0 <= p <= 100.0 for p in placed), wishes
    narrow = spread([1.0] * 5, gap=10.0, lower=0.0, upper=20.0)
    assert narrow == pytest.approx([0, 5, 10, 15, 20]), "the gap shrinks"


def test_legend_names_have_the_colour_and_dash_of_their_line():
    solid, dashed = Curve(x=[0], y=[0], label="a"), Curve(x=[0], y=[0], label="b", role="wrong")
    words = legend(solid.key, dashed.key)
    assert words.index("━━ a") < words.index("━ ━ b")
    for line in (solid, dashed):
        assert f"color:{line.traces()[0]['line']['color']}" in words


def test_number_lines_and_named_points_have_the_given_values():
    figure = figures.number_line({"truth": 2.0, "your guess": 4.0, "recipe": 3.0}, title="noise")
    drawn = {trace.text[0].split("<br>")[0]: trace.x[0] for trace in figure.data}
    assert drawn == {"truth": 2.0, "your guess": 4.0, "recipe": 3.0}
    marks = [Dot(x=1, y=2, label=""), Dot(x=3, y=5, label="far")]
    figure = curves([], marks=marks, title="t", x="x", y="y")
    assert [(trace.x[0], trace.y[0]) for trace in figure.data] == [(1, 2), (3, 5)]


def test_slider_frames_have_only_changed_values():
    x = np.arange(3.0)
    choices = {
        str(k): curves([Curve(x=x, y=k * x, label="line")], title=f"T {k}", x="x", y="y")
        for k in (1, 2)
    }
    shown = figures.slider(choices, name="k")
    assert shown.layout.title.text == "T 1" and shown.frames[1].layout.title.text == "T 2"
    changed = shown.frames[1].data[0]
    assert changed.x is None and list(changed.y) == [0, 2, 4]
    maps = {str(k): go.Figure(go.Heatmap(z=[[k]])).update_layout(height=20) for k in (1, 2)}
    assert figures.slider(maps, name="k").frames[1].data[0].z == ([2],)


def test_columns_and_regions_have_the_given_values_and_names():
    x = np.arange(4.0)
    columns = figures.Bars(x=x, y=[1, 2, 3, 2], label="draws")
    region = figures.Band(x=x, lower=x, upper=x + 2, label="allowed")
    figure = curves([columns, region], title="t", x="x", y="y")
    drawn, name, floor, ceiling, word = figure.data
    assert list(drawn.y) == [1, 2, 3, 2] and drawn.width == 1
    assert list(floor.y) == list(x) and list(ceiling.y) == list(x + 2)
    assert ceiling.fill == "tonexty" and word.y[0] == 3
    assert [trace.text[0].strip() for trace in (name, word)] == ["draws", "allowed"]


def test_panels_have_the_axes_of_their_figures():
    x = np.arange(1.0, 4)
    about = {"title": "one", "zone": (1, 2, "no"), "x_range": (0, 4)}
    left = curves([Curve(x=x, y=x, label="")], x="a", y="b", **about)
    right = curves([Curve(x=x, y=10**x, label="")], title="two", x="c", y="d", log_y=True)
    figure = figures.panels(left, right, title="both")
    assert figure.layout.title.text == "both"
    assert [note.text for note in figure.layout.annotations] == ["one", "two"]
    axes = [figure.layout[name] for name in ("xaxis", "yaxis", "xaxis2", "yaxis2")]
    assert [axis.title.text for axis in axes] == ["a", "b", "c", "d"]
    assert [axis.type for axis in axes] == ["linear", "linear", "linear", "log"]
    assert list(figure.layout.xaxis.range) == [0, 4] and figure.layout.xaxis2.range is None
    assert [trace.xaxis for trace in figure.data] == ["x", "x", "x2"]
    (zone,) = figure.layout.shapes
    assert (zone.yref, zone.y0, zone.y1) == ("y", 1, 2)


SVG = "{http://www.w3.org/2000/svg}"
BOXES = [["a < b & c"], ["one\ntwo", "three"]]
PEOPLE = [("25 yes", 25, 19), ("75 no", 75, 0)]
DRAWINGS = {
    "crowd": crowd(PEOPLE, title="100"),
    "flow": flow(BOXES, [("a < b & c", "three")], title="x", strong={"three"}),
    "images": images({"one": np.eye(8), "two\nlines": 2 * np.eye(8)}, title="2"),
}
SHEETS = {name: drawing.svg() for name, drawing in DRAWINGS.items()}
SHEETS |= {path.stem: path.read_text() for path in lessons_folder().glob("sources/*/*.svg")}


def read(name: str) -> ElementTree.Element:
    return ElementTree.fromstring(SHEETS[name])


@pytest.mark.parametrize("name", SHEETS)
def test_a_drawing_stays_on_its_sheet_and_has_a_title(name):
    root = read(name)
    assert root.get("role") == "img" and root.findtext(f"{SVG}title")
    ends = {"x": "width", "y": "height", "cx": "width", "cy": "height"}
    ends |= {"x1": "width", "x2": "width", "y1": "height", "y2": "height"}
    for shape in root.iter():
        for key, end in ends.items():
            if value := shape.get(key):
                assert 0 <= float(value) <= float(root.get(end, 0)), (shape.tag, key, value)


def test_a_crowd_has_the_given_number_of_people():
    heads = [head.get("fill") for head in read("crowd").iter(f"{SVG}circle")]
    assert len(heads) == 100 and len(heads) - heads.count("white") == 19


def test_arrows_between_strong_boxes_are_thick():
    svg = flow([["a"], ["b", "c"]], [("a", "b"), ("a", "c")], title="t", strong="ab").svg()
    lines = ElementTree.fromstring(svg).iter(f"{SVG}line")
    assert [float(line.get("stroke-width", "nan")) for line in lines] == [2.8, 1.6]
