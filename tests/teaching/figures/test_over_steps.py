"""Figure of epsilon against steps: given values, dashed approximations, separate labels."""

import dataclasses
import math

import numpy as np
import pytest

from dplearn.core.guarantee import Guarantee
from dplearn.teaching.figures import Dot, epsilon_curves
from dplearn.teaching.figures.kit import text
from dplearn.teaching.figures.kit.template import style_of

STEPS = [1, 10, 100, 1000]
ABOUT = {"title": "One run", "about": ""}


def curve(name: str, values, kind: str = "upper", **more) -> list[Guarantee]:
    bare = Guarantee(epsilon=1.0, delta=1e-5, kind="upper", method=name, adjacency="add_remove")
    return [dataclasses.replace(bare, epsilon=e, kind=kind, **more) for e in values]


CURVES = {
    "basic": curve("basic", [0.1, 1.0, 10.0, 100.0]),
    "rdp": curve("rdp", [0.2, 0.4, 1.0, 3.0]),
    "pld": curve("pld", [1.0, 1.1, 1.2, 2.8], kind="bracket", lower=0.99999),
    "gdp": curve("gdp", [0.05, 0.28, 0.88, 2.79], kind="approximate"),
}


def test_curves_have_the_given_values_and_approximations_are_dashed():
    figure = epsilon_curves(CURVES, STEPS, **ABOUT)
    assert len(figure.data) == len(CURVES) and not figure.layout.shapes[0].visible
    for trace, (name, guarantees) in zip(figure.data, CURVES.items(), strict=True):
        assert trace.name == style_of(name).label and list(trace.x) == STEPS
        assert list(trace.y) == pytest.approx([g.epsilon for g in guarantees])
        assert trace.line.dash == ("dash" if name == "gdp" else "solid")
        assert trace.line.color == style_of(name).colour
    heading, *labels = [note.text for note in figure.layout.annotations]
    assert heading.startswith("ε at T = 1") and "unless dashed" in figure.layout.yaxis.title.text
    assert ["no bound" in label for label in labels] == [False, False, False, True]
    assert "≈" in labels[3] and "≈" not in "".join(labels[:3])
    assert "within" in labels[2] and "<b>2.8</b> PLD" in labels[2]


def test_bounds_are_rounded_up_and_approximations_to_the_nearest():
    bound, guess = curve("a", [0.94681])[0], curve("a", [0.94681], kind="approximate")[0]
    assert text.epsilon(bound) == "0.947" and text.epsilon(curve("a", [0.9461])[0]) == "0.947"
    assert text.epsilon(guess).endswith("0.947") and text.epsilon(guess).startswith("≈")
    assert text.epsilon(curve("a", [0.9461], kind="approximate")[0])[2:] == "0.946"


def test_end_labels_never_overlap_and_stay_within_the_figure():
    crowd = {f"a{i}": curve(f"a{i}", [1.0, 1.0, 1.0, 1.0 + 0.001 * i]) for i in range(10)}
    layout = epsilon_curves(crowd, STEPS, **ABOUT).layout
    height, (low, high) = layout.height - layout.margin.t - 60, layout.yaxis.range
    places = [(n.y - low) / (high - low) * height - n.ay for n in layout.annotations[1:]]
    assert np.diff(places) == pytest.approx(np.full(9, 22.0))
    assert min(places) >= 0 and max(places) <= height


def test_infinite_values_leave_gaps_and_axes_are_finite():
    odd = {"rdp": curve("rdp", [0.0, math.inf, 2.0, 8.0])}
    figure = epsilon_curves(odd, STEPS, here=10, **ABOUT)
    assert np.isnan(figure.data[0].y[1]) and not figure.data[0].connectgaps
    assert "∞" in figure.layout.annotations[1].text
    for values in ([math.inf] * 4, [0.0] * 4, [0.0, 0.0, 0.0, 1e-9], [1e-9, 1.0, 1e5, 1e12], [0.5]):
        steps = STEPS[: len(values)]
        layout = epsilon_curves({"rdp": curve("rdp", values)}, steps, **ABOUT).layout
        for low, high in (layout.xaxis.range, layout.yaxis.range):
            assert -math.inf < low < high < math.inf, values


def test_figure_marks_the_values_at_a_step_and_the_published_points():
    point = Dot(x=100, y=400.0, label="400 published", role="wrong")
    figure = epsilon_curves(CURVES, STEPS, here=100, marks=[point], **ABOUT)
    *_, dots, published = figure.data
    assert list(dots.x) == [100] * 4
    assert list(dots.y) == pytest.approx([c[2].epsilon for c in CURVES.values()])
    assert (published.x[0], published.y[0]) == (100, 400)
    assert published.marker.symbol == "circle-open" and "400 published" in published.text[0]
    assert figure.layout.yaxis.range[1] > math.log10(400)
    assert figure.layout.shapes[0].x0 == 100 and figure.layout.shapes[0].visible
    words = [note.text for note in figure.layout.annotations]
    assert words[0] == "ε at T = 100" and "<b>10</b> Basic" in words[1]
    with pytest.raises(ValueError, match="50 is not in list"):
        epsilon_curves(CURVES, STEPS, here=50, **ABOUT)
    with pytest.raises(ValueError, match="zip"):
        epsilon_curves(CURVES, STEPS[:2], **ABOUT)
