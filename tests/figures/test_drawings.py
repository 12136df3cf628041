"""Drawings are SVG that stays on its sheet and says what it shows."""

import re
from xml.etree import ElementTree

import pytest

from cases import each
from dplearn.figures import Drawing, ball_and_cube, crowd, flow

SVG = "{http://www.w3.org/2000/svg}"
BOXES = [["a < b & c"], ["one\ntwo", "three"]]
DRAWINGS = {
    "crowd": crowd([("25 yes", 25, 19), ("75 no", 75, 19)], title="100"),
    "flow": flow(BOXES, [("a < b & c", "three")], title="x", strong={"three"}),
    "ball": ball_and_cube(title="C"),
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
    widths = [float(line.get("stroke-width")) for line in svg.iter(f"{SVG}line")]
    assert widths == [2.8, 1.6]
