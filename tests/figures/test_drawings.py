"""Drawings are SVG that stays on its sheet and says what it shows."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from cases import each
from dplearn.figures import (
    Drawing,
    ball_and_cube,
    batch_schemes,
    clipped_arrows,
    crowd,
    flow,
    images,
    moved_mass,
    right_angle,
    verdicts,
    whispers,
)

SVG = "{http://www.w3.org/2000/svg}"
BOXES = [["a < b & c"], ["one\ntwo", "three"]]
DRAWINGS = {
    "crowd": crowd([("25 yes", 25, 19), ("75 no", 75, 19)], title="100"),
    "flow": flow(BOXES, [("a < b & c", "three")], title="x", strong={"three"}),
    "ball": ball_and_cube(title="C"),
    "batches": batch_schemes({"fixed": (np.eye(5, dtype=bool), "one in each", "once")}, title="5"),
    "whispers": whispers([1.0, -2.0, 0.5], title="3"),
    "cells": moved_mass([("up", 1.0, "above"), ("half", 0.5, "")], title="2"),
    "arrows": clipped_arrows(np.eye(8), [9.0, 4.0, 0.1], max_grad_norm=0.5, title="C"),
    "images": images({"one": np.eye(8), "two\nlines": 2 * np.eye(8)}, title="2"),
    "angle": right_angle((3.0, 4.0), title="C"),
    "verdicts": verdicts(title="3"),
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_says_what_it_shows_and_stays_on_its_sheet(drawing: Drawing):
    alt = 'Half of 38 "yes" & <more>.'
    root = ElementTree.fromstring(drawing.svg(alt))
    assert root.get("role") == "img" and root.get("aria-label") == alt
    assert root.findtext(f"{SVG}desc") == alt and root.findtext(f"{SVG}title") == drawing.title
    (read_aloud,) = re.findall(r'<img alt="([^"]+)"', drawing.html(alt))
    assert read_aloud == "Half of 38 &quot;yes&quot; &amp; &lt;more&gt;."
    ends = {"x": "width", "y": "height", "cx": "width", "cy": "height"}
    ends |= {"x1": "width", "x2": "width", "y1": "height", "y2": "height"}
    for shape in root.iter():
        for key, end in ends.items():
            if value := shape.get(key):
                assert 0 <= float(value) <= getattr(drawing, end), (shape.tag, key, value)


@each("group", [("yes", 25, 19), ("no", 75, 0)])
def test_a_crowd_has_as_many_people_as_it_says(group):
    svg = ElementTree.fromstring(crowd([group], title="n").svg("1"))
    heads = [head.get("fill") for head in svg.iter(f"{SVG}circle")]
    assert len(heads) == group[1] and len(heads) - heads.count("white") == group[2]


def test_boxes_that_an_arrow_joins_are_the_strong_ones():
    svg = ElementTree.fromstring(
        flow([["a"], ["b", "c"]], [("a", "b"), ("a", "c")], title="t", strong="ab").svg("1")
    )
    widths = [float(line.get("stroke-width", "nan")) for line in svg.iter(f"{SVG}line")]
    assert widths == [2.8, 1.6]


def arrows_of(drawing):
    """Starts and ends of the lines of a drawing, with their colours."""
    for line in ElementTree.fromstring(drawing.svg("1")).iter(f"{SVG}line"):
        x0, y0, x1, y1 = (float(line.get(key, "nan")) for key in ("x1", "y1", "x2", "y2"))
        yield (x0, y0), (x1, y1), line.get("stroke")


def test_dots_are_filled_where_a_record_is_in_a_batch():
    svg = ElementTree.fromstring(DRAWINGS["batches"].svg("1"))
    dots = [dot.get("fill") != "white" for dot in svg.iter(f"{SVG}circle")]
    assert np.array_equal(np.reshape(dots, (5, 5)), np.eye(5))


def test_no_clipped_arrow_leaves_the_ball_and_all_keep_their_direction():
    svg = ElementTree.fromstring(DRAWINGS["arrows"].svg("1"))
    radius = float(next(svg.iter(f"{SVG}circle")).get("r", "nan"))
    lengths = [
        round(math.dist(start, end) / radius, 2) for start, end, _ in arrows_of(DRAWINGS["arrows"])
    ]
    assert lengths[1] == lengths[3] == 1 and lengths[4] == 0.2 and min(lengths[0], lengths[2]) > 2
    (start, far, _), (_, near, _), *_ = arrows_of(DRAWINGS["arrows"])
    bend = (far[0] - start[0]) * (near[1] - start[1]) - (far[1] - start[1]) * (near[0] - start[0])
    assert abs(bend) < 1


def test_the_diagonal_ends_on_the_circle():
    *_, (start, end, _) = arrows_of(DRAWINGS["angle"])
    assert math.dist(start, end) == pytest.approx(190, rel=1e-3)
    assert (end[0] - start[0]) / (start[1] - end[1]) == pytest.approx(3 / 4, rel=1e-3)


def test_whispers_end_where_their_sum_is_and_the_worst_far_beyond():
    worst, real = (list(arrows_of(DRAWINGS["whispers"]))[i : i + 3] for i in (0, 3))
    unit = worst[0][1][0] - worst[0][0][0]
    assert worst[-1][1][0] - worst[0][0][0] == pytest.approx(3 * unit, rel=1e-3)
    assert real[-1][1][0] - real[0][0][0] == pytest.approx(-0.5 * unit, rel=1e-3)
