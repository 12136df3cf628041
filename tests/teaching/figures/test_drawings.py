"""Drawings are SVG images with a title, inside their sheet."""

from xml.etree import ElementTree

import numpy as np
import pytest

from dplearn.teaching.classroom.sources import lessons_folder
from dplearn.teaching.figures import crowd, flow, images

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


def test_arrows_between_strong_boxes_are_strong():
    svg = flow([["a"], ["b", "c"]], [("a", "b"), ("a", "c")], title="t", strong="ab").svg()
    lines = ElementTree.fromstring(svg).iter(f"{SVG}line")
    assert [float(line.get("stroke-width", "nan")) for line in lines] == [2.8, 1.6]
