"""What lessons draw: every point, line, column and region that was given, and only that."""

import numpy as np

from dplearn.figures import Band, Bars, Line, Mark, curves, hugging, number_line, panels, slider


def test_number_line_draws_every_point():
    figure = number_line({"truth": 2.0, "your guess": 4.0, "recipe": 3.0}, title="noise")
    drawn = {trace.text[0].split("<br>")[0]: trace.x[0] for trace in figure.data}
    assert drawn == {"truth": 2.0, "your guess": 4.0, "recipe": 3.0}


def test_slider_keeps_only_what_changes():
    x = np.arange(3.0)
    figures = {
        str(k): curves([Line(x=x, y=k * x, label="line")], title=f"T {k}", x="x", y="y")
        for k in (1, 2)
    }
    shown = slider(figures, name="k")
    assert shown.layout.title.text == "T 1" and shown.frames[1].layout.title.text == "T 2"
    changed = shown.frames[1].data[0]
    assert changed.x is None and list(changed.y) == [0, 2, 4]


def test_polygons_are_shaded_between_and_named():
    x, corners = np.linspace(0, 2, 9), np.arange(5) / 2
    gaps = {"wide": (x, -x), "narrow": (x / 4, -x / 4)}
    heights = (2 - corners, 1 - corners)
    figure = hugging(x=x, curve=1.5 - x, corners=(corners, *heights), gaps=gaps, title="t")
    (i,) = (i for i, trace in enumerate(figure.data) if trace.fill == "tonexty")
    assert list(figure.data[i].y) == list(heights[0])
    assert list(figure.data[i - 1].y) == list(heights[1])
    names = [trace.text[0].strip() for trace in figure.data if trace.mode == "text"]
    assert names == ["chords", "moved cells", "truth", "wide", "wide", "narrow", "narrow"]


def test_columns_and_regions_are_what_was_given():
    x = np.arange(4.0)
    columns = Bars(x=x, y=[1, 2, 3, 2], label="draws")
    region = Band(x=x, lower=x, upper=x + 2, label="allowed")
    figure = curves([columns, region], title="t", x="x", y="y")
    drawn, name, floor, ceiling, word = figure.data
    assert list(drawn.y) == [1, 2, 3, 2] and drawn.width == 1
    assert list(floor.y) == list(x) and list(ceiling.y) == list(x + 2)
    assert ceiling.fill == "tonexty" and word.y[0] == 3
    assert [trace.text[0].strip() for trace in (name, word)] == ["draws", "allowed"]


def test_panels_keep_their_axes():
    x = np.arange(1.0, 4)
    left = curves(
        [Line(x=x, y=x, label="")], title="one", x="a", y="b", zone=(1, 2, "no"), x_range=(0, 4)
    )
    right = curves([Line(x=x, y=10**x, label="")], title="two", x="c", y="d", log_y=True)
    figure = panels(left, right, title="both")
    assert figure.layout.title.text == "both"
    assert [note.text for note in figure.layout.annotations] == ["one", "two"]
    axes = [figure.layout[name] for name in ("xaxis", "yaxis", "xaxis2", "yaxis2")]
    assert [axis.title.text for axis in axes] == ["a", "b", "c", "d"]
    assert [axis.type for axis in axes] == ["linear", "linear", "linear", "log"]
    assert list(figure.layout.xaxis.range) == [0, 4] and figure.layout.xaxis2.range is None
    assert [trace.xaxis for trace in figure.data] == ["x", "x", "x2"]
    (zone,) = figure.layout.shapes
    assert (zone.yref, zone.y0, zone.y1) == ("y", 1, 2)


def test_points_alone_are_a_picture_too():
    marks = [Mark(x=1, y=2, label=""), Mark(x=3, y=5, label="far")]
    figure = curves([], marks=marks, title="t", x="x", y="y")
    assert [(trace.x[0], trace.y[0]) for trace in figure.data] == [(1, 2), (3, 5)]
