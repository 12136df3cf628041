"""The second picture: how much each accountant asks for beyond what is certified."""

import math

import pytest
from guarantees import STEPS, curve, notes

from cases import each
from dplearn.figures import epsilon_curves, excess, looseness, style_of

ENDS = ((0.1, 0.11), (0.3, 0.31), (1.0, 1.01), (4.0, 4.01))
REFERENCE = [curve("pld", [upper], "bracket", lower=lower)[0] for lower, upper in ENDS]
CURVES = {
    "pld": REFERENCE,
    "basic": curve("basic", [0.11, 1.1, 11.0, 110.0]),
    "rdp": curve("rdp", [0.5, 0.6, 1.1, 4.4]),
    "gdp": curve("gdp", [0.02, 0.2, 0.8999, 4.004], kind="approximate"),
}


def grounds(figure) -> list[tuple[float, float]]:
    return [(s.x0, s.x1) for s in figure.layout.shapes if s.type == "rect"]


def test_ratios_are_to_the_lower_end_in_the_look_of_the_first_picture():
    figure = looseness(CURVES, REFERENCE, STEPS)
    for trace, (name, guarantees) in zip(figure.data, CURVES.items(), strict=False):
        assert trace.name == style_of(name).label and list(trace.x) == STEPS
        expected = [g.epsilon / r.lower for g, r in zip(guarantees, REFERENCE, strict=True)]
        assert list(trace.y) == pytest.approx(expected)
    # Colours, dashes and markers are those of the first picture.
    for trace, same in zip(figure.data, epsilon_curves(CURVES, STEPS).data[:4], strict=False):
        assert (trace.uid, trace.line, trace.marker) == (same.uid, same.line, same.marker)
    assert figure.data[3].uid == "gdp" and figure.data[3].line.dash == "dash"


@each("log_x, steps", [(True, 4), (False, 4), (True, 1)])
def test_the_x_axis_is_that_of_the_first_picture(log_x, steps):
    run = {"steps": STEPS[:steps], "log_x": log_x, "here": STEPS[steps - 1]}
    curves = {name: curve[:steps] for name, curve in CURVES.items()}
    first = epsilon_curves(curves, **run).layout
    second = looseness(curves, REFERENCE[:steps], **run).layout
    assert second.xaxis == first.xaxis and second.shapes[0] == first.shapes[0]
    assert (second.margin.l, second.margin.r) == (first.margin.l, first.margin.r)


@each(
    "here, words",
    [
        (1, "At T = 1 Basic asks for 10 % more ε than needed, GDP hides 80 %"),
        (100, "At T = 100 RDP asks for 10 % more ε than needed, GDP hides 10 %"),
        (1000, "At T = 1\u202f000 RDP asks for 10 % more ε than needed, Basic for 27.5 ×"),
    ],
)
def test_the_title_is_the_finding_in_numbers_rounded_up(here, words):
    figure = looseness(CURVES, REFERENCE, STEPS, here=here)
    assert figure.layout.title.text == f"<b>{words}</b>"
    marks = figure.data[-1]
    assert set(marks.x) == {here} and len(marks.y) == len(CURVES)


@each(
    "words, epsilon, kind, reference",
    [
        ("asks for no more ε than needed", 1.0, "upper", curve("pld", [1.0], "exact")),
        ("asks for 0.1 % more ε than needed", 1.001, "upper", curve("pld", [1.0], "exact")),
        ("asks for at least 50 % more ε than needed", 1.5, "upper", curve("pld", [1.0])),
        ("asks for at least 2.5 × the ε needed", 2.5, "upper", curve("pld", [1.0])),
        ("hides 25 % of ε", 0.75, "approximate", curve("pld", [1.0], "exact")),
        ("no other bound is drawn", 0.75, "approximate", curve("pld", [1.0])),
        ("no finite ε to compare with", 1.0, "upper", curve("pld", [math.inf])),
        ("no finite ε to compare with", 1.0, "upper", curve("pld", [0.0], "exact")),
        # It is not compared with itself.
        ("no other bound is drawn", 1.0, "upper", curve("rdp", [1.0], "exact")),
    ],
)
def test_the_finding_says_what_is_proved(words, epsilon, kind, reference):
    now = {"rdp": curve("rdp", [epsilon], kind)[0]}
    assert excess.comparison(now, reference[0], 10).endswith(words)


def test_below_one_is_shaded_and_every_label_has_its_ratio():
    figure = looseness(CURVES, REFERENCE, STEPS, here=100)
    assert grounds(figure) == [(1, 1000)]
    (shape,) = (s for s in figure.layout.shapes if s.type == "rect")
    assert shape.y1 == 1 and shape.y0 < 0.9
    texts = notes(figure)
    assert "claims more privacy than there is: GDP by 10 %" in texts
    shown = {"PLD": "1.01 ×", "Basic": "11 ×", "RDP": "1.1 ×", "GDP": "0.9 ×"}
    for name, ratio in shown.items():
        assert any(f"<b>{ratio}</b> {name}" in t for t in texts), name
    assert any("↑" in t and "Basic" in t for t in texts), "it left the frame"


def test_nothing_is_held_against_anybody_where_the_reference_has_no_lower_end():
    partly = curve("pld", [0.11, 0.31]) + REFERENCE[2:]
    figure = looseness(CURVES, partly, STEPS, here=10)
    assert grounds(figure) == [(100, 1000)]
    assert not any("GDP by" in n for n in notes(figure))
    assert any("≥ 1.93 ×" in n and "RDP" in n for n in notes(figure))
    nowhere = looseness(CURVES, curve("pld", [0.11, 0.31, 1.01, 4.01]), STEPS)
    assert not grounds(nowhere) and not any("claims more" in n for n in notes(nowhere))
    assert "upper end of PLD" in nowhere.layout.title.subtitle.text


@each("top", [1.0, 1.3, 4.0, 1e6])
def test_ticks_are_few_include_one_and_keep_apart(top):
    other = curve("rdp", [g.lower * top for g in REFERENCE])
    axis = looseness({"rdp": other}, REFERENCE, STEPS).layout.yaxis
    assert axis.type == "log" and 1 in axis.tickvals
    assert 2 <= len(axis.tickvals) <= 9 and axis.range[0] < 0 < axis.range[1]
    assert all(t.endswith(" ×") for t in axis.ticktext)


def test_what_is_infinite_or_zero_leaves_a_gap():
    odd = curve("rdp", [0.0, math.inf, 2.0, 8.0])
    figure = looseness({"rdp": odd}, REFERENCE, STEPS, here=10)
    assert list(figure.data[0].y) == [None, None, 2.0, 2.0]
    nothing = looseness({"rdp": curve("rdp", [math.inf] * 4)}, REFERENCE, STEPS)
    assert list(nothing.data[0].y) == [None] * 4


def test_a_reference_of_another_length_is_refused():
    with pytest.raises(ValueError, match="Expected 4 values of reference, got 3"):
        looseness(CURVES, REFERENCE[:3], STEPS)
