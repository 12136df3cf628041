"""Epsilon over the steps: values as given, approximations apart, labels beside each other."""

import dataclasses
import math

import numpy as np
import pytest

from cases import each
from dplearn.figures import Published, epsilon_curves, style_of, text
from dplearn.figures.epsilon_curves import dash_of
from dplearn.ground.guarantee import Guarantee

STEPS = [1, 10, 100, 1000]


def curve(name: str, values, kind: str = "upper", **more) -> list[Guarantee]:
    bare = Guarantee(epsilon=1.0, delta=1e-5, kind="upper", method=name, adjacency="add_remove")
    return [dataclasses.replace(bare, epsilon=e, kind=kind, **more) for e in values]


def notes(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations if note.visible is not False]


CURVES = {
    "basic": curve("basic", [0.1, 1.0, 10.0, 100.0]),
    "rdp": curve("rdp", [0.2, 0.4, 1.0, 3.0], details={"order": 17.5}),
    "pld": curve("pld", [0.1, 0.3, 0.9, 2.8], kind="exact"),
    "gdp": curve("gdp", [0.05, 0.28, 0.88, 2.79], kind="approximate"),
}
WIDTHS = ((0.1, 1e-7), (0.3, 1e-9), (0.9, 3e-6), (2.8, 1e-8))
SHARP = [curve("pld", [e], kind="bracket", lower=e / (1 + width))[0] for e, width in WIDTHS]
ENDS = ((0.1, 0.11), (0.3, 0.31), (1.0, 1.01), (4.0, 4.01))
REFERENCE = [curve("pld", [upper], "bracket", lower=lower)[0] for lower, upper in ENDS]
LOOSE = {
    "pld": REFERENCE,
    "basic": curve("basic", [0.11, 1.1, 11.0, 110.0]),
    "rdp": curve("rdp", [0.5, 0.6, 1.1, 4.4]),
    "gdp": curve("gdp", [0.02, 0.2, 0.8999, 4.004], kind="approximate"),
}


def pixels(figure) -> dict[str, float]:
    """Height of each label beside the ends, by its words."""
    margin, (low, high) = figure.layout.margin, figure.layout.yaxis.range
    scale = (figure.layout.height - margin.t - margin.b) / (high - low)
    labels = [note for note in figure.layout.annotations if note.yref == "y"]
    return {note.text: (note.y - low) * scale - (note.ay or 0) for note in labels}


def test_traces_are_the_values_given_and_an_approximation_never_looks_like_a_bound():
    for kind in ("exact", "upper", "bracket", "approximate", "lower"):
        guarantees = curve("x", [1.0], kind=kind)
        assert dash_of(guarantees) == ("solid" if guarantees[0].is_bound else "dash"), kind
    figure = epsilon_curves(CURVES, STEPS)
    for trace, (name, guarantees) in zip(figure.data, CURVES.items(), strict=False):
        assert trace.name == style_of(name).label and list(trace.x) == STEPS
        assert list(trace.y) == [g.epsilon for g in guarantees]
        assert trace.line.dash == ("dash" if name == "gdp" else "solid")
    (label,) = (t for t in notes(figure) if "GDP" in t)
    assert "≈" in label and sum("no bound" in t for t in notes(figure)) == 1
    assert "not a bound" in figure.data[3].text[0]
    title = "<b>Same run, same δ: three bounds on ε and one approximation</b>"
    assert figure.layout.title.text == title
    # The hover names epsilon, kind and order, or both ends.
    words = epsilon_curves(CURVES, STEPS).data[1].text[2]
    assert "ε ≤ 1" in words and "upper" in words and "17.5" in words
    bracket = curve("pld", [1.0], kind="bracket", lower=0.9)
    words = epsilon_curves({"pld": bracket}, [5]).data[0].text[0]
    assert words.startswith("0.9000 ≤ ε ≤ 1.000") and "within 12 %" in words


def test_bounds_are_rounded_up_and_approximations_to_the_nearest():
    bound, guess = curve("a", [0.94681])[0], curve("a", [0.94681], kind="approximate")[0]
    assert text.epsilon(bound) == "0.947" and text.epsilon(curve("a", [0.9461])[0]) == "0.947"
    assert text.epsilon(guess).endswith("0.947") and text.epsilon(guess).startswith("≈")
    assert text.bare(curve("a", [0.9461], kind="approximate")[0]) == "0.946"


@each(
    "reference, words",
    [
        (SHARP, "exact to 5 digits"),
        (SHARP[:2] + SHARP[:2], "exact to 7 digits"),
        (curve("pld", [0.1, 0.3, 0.9, 2.8], kind="exact"), "exact"),
        (curve("pld", [0.1, 0.3, 0.9, 2.8]), "upper bound"),
        (curve("pld", [0.1, 0.3]) + SHARP[2:], "exact to 5 digits, T ≥ 100"),
        (SHARP[:3] + curve("pld", [2.8]), "upper bound"),
        (curve("pld", [1.4] * 4, kind="bracket", lower=1.0), "within 40 %"),
        (curve("pld", [800.0] * 4, kind="bracket", lower=11.0), "within 73 ×"),
        # Only what is in view counts.
        (curve("pld", [1e-6], kind="bracket", lower=1e-9) + SHARP[1:], "exact to 5 digits"),
    ],
)
def test_the_reference_says_how_sharp_it_is(reference, words):
    figure = epsilon_curves({"pld": reference}, STEPS, reference="pld")
    assert [t for t in notes(figure) if t.startswith(("exact", "upper", "within"))] == [words]


def test_the_reference_lies_in_a_band_under_the_others():
    reference = curve("pld", [0.1]) + SHARP[1:3] + curve("pld", [2.8])
    figure = epsilon_curves({**CURVES, "pld": reference}, STEPS, reference="pld")
    band, *others = figure.data
    assert band.fill == "toself" and band.line.width > 5
    assert list(band.x) == [10, 100, 100, 10, None]
    assert list(band.y) == [0.3, 0.9, reference[2].lower, reference[1].lower, None]
    assert [t.name for t in others] == [t.name for t in epsilon_curves(CURVES, STEPS).data]


def test_labels_at_the_end_never_overlap_and_a_note_stays_below_its_words():
    crowd = {f"a{i}": curve(f"a{i}", [1.0, 1.0, 1.0, 1.0 + 0.001 * i]) for i in range(10)}
    figure = epsilon_curves(crowd, STEPS)
    places, margin = list(pixels(figure).values()), figure.layout.margin
    assert len(places) == 10
    assert np.diff(places) == pytest.approx(np.full(9, 22.0))
    assert min(places) >= 0 and max(places) <= figure.layout.height - margin.t - margin.b
    words = pixels(epsilon_curves(crowd | {"a4": crowd["a4"]}, STEPS, reference="a4"))
    (at,) = (p for t, p in words.items() if "a4" in t)
    below = max(p for p in words.values() if p < at)
    assert words["upper bound"] == below and at - below < 22


def test_what_is_infinite_leaves_a_gap():
    odd, nothing = ({"rdp": curve("rdp", y)} for y in ([0.0, math.inf, 2.0, 8.0], [math.inf] * 4))
    figure = epsilon_curves(odd, STEPS, here=10)
    assert list(figure.data[0].y) == [0.0, None, 2.0, 8.0] and not figure.data[0].connectgaps
    assert any("∞" in t for t in notes(figure))
    assert list(epsilon_curves(nothing, STEPS, here=10).data[0].y) == [None] * 4


def test_any_range_and_one_step_give_finite_axes():
    ranges = ([0.0] * 4, [0.0, 0.0, 0.0, 1e-9], [1e-9, 1.0, 1e5, 1e12], [0.5])
    for values in ranges:
        steps = STEPS[: len(values)]
        figure = epsilon_curves({"rdp": curve("rdp", values)}, steps, here=steps[-1])
        for axis in (figure.layout.xaxis, figure.layout.yaxis):
            low, high = axis.range
            assert -math.inf < low < high < math.inf, (values, axis.title.text)


def test_what_is_added_has_its_place_and_its_words():
    point = Published(steps=100, epsilon=1.26, label="1.26 published", note="Somebody, 2016")
    figure = epsilon_curves(CURVES, STEPS, published=[point], here=100)
    plain, words = epsilon_curves(CURVES, STEPS), notes(figure)
    assert [t.name for t in plain.data] == [t.name for t in figure.data]
    assert len(plain.data) == len(CURVES) + 2
    dots, published = figure.data[len(CURVES) :]
    assert list(dots.x) == [100] * 4
    assert list(dots.y) == [c[2].epsilon for c in CURVES.values()]
    assert (list(published.x), list(published.y)) == ([100], [1.26])
    assert published.customdata[0] == "Somebody, 2016"
    assert figure.layout.shapes[0].x0 == 100 and "1.26 published" in words
    assert any("ε at T = 100" in t for t in words)
    assert any("<b>0.9</b> PLD" in t for t in words)


def test_what_does_not_fit_together_is_refused():
    for figure, about, more, message in (
        (epsilon_curves, (CURVES, [1, 2]), {}, "Expected 2 values"),
        (epsilon_curves, (CURVES, STEPS), {"here": 50}, "Expected here among steps"),
        (epsilon_curves, ({}, []), {}, "Expected at least one number of steps"),
        (epsilon_curves, (CURVES, STEPS), {"reference": "prv"}, "Expected reference among the cur"),
    ):
        with pytest.raises(ValueError, match=message):
            figure(*about, **more)
