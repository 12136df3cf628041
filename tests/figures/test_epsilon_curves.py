"""The picture draws what it is given, and an approximation never looks like a bound."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from dplearn.accountants import accountants
from dplearn.figures import Published, epsilon_curves, log_steps, text
from dplearn.figures.kit.labels import Box, clearest, spread
from dplearn.figures.kit.over_steps import dash_of
from dplearn.figures.kit.template import style_of
from dplearn.ground.guarantee import Guarantee

STEPS = [1, 10, 100, 1000]


def curve(name: str, values: list[float], kind: str = "upper", **more: object) -> list[Guarantee]:
    return [
        Guarantee(
            epsilon=e,
            delta=1e-5,
            kind=kind,  # type: ignore[arg-type]
            method=name,
            adjacency="add_remove",
            **more,  # type: ignore[arg-type]
        )
        for e in values
    ]


CURVES = {
    "basic": curve("basic", [0.1, 1.0, 10.0, 100.0]),
    "rdp": curve("rdp", [0.2, 0.4, 1.0, 3.0], details={"order": 17.5}),
    "pld": curve("pld", [0.1, 0.3, 0.9, 2.8], kind="exact"),
    "gdp": curve("gdp", [0.05, 0.28, 0.88, 2.79], kind="approximate"),
}


def plot_height(figure) -> float:
    """Height of the drawing area in pixels."""
    return figure.layout.height - figure.layout.margin.t - figure.layout.margin.b


def annotation_texts(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_traces_are_the_values_given():
    figure = epsilon_curves(CURVES, STEPS)
    for trace, (name, guarantees) in zip(figure.data, CURVES.items(), strict=False):
        assert trace.name == style_of(name).label
        assert list(trace.x) == STEPS
        assert list(trace.y) == [g.epsilon for g in guarantees]


def test_an_approximation_never_looks_like_a_bound():
    figure = epsilon_curves(CURVES, STEPS)
    dashes = {trace.name: trace.line.dash for trace in figure.data[: len(CURVES)]}
    assert dashes == {"Basic": "solid", "RDP": "solid", "PLD": "solid", "GDP": "dash"}
    (label,) = (t for t in annotation_texts(figure) if "GDP" in t)
    assert "≈" in label and "no bound" in label
    assert "not a bound" in figure.data[3].text[0]
    assert (
        figure.layout.title.text
        == "<b>Same run, same δ: three bounds on ε and one approximation</b>"
    )


@pytest.mark.parametrize("kind", ["exact", "upper", "bracket", "approximate", "lower"])
def test_only_what_bounds_from_above_is_solid(kind):
    guarantees = curve("x", [1.0], kind=kind)
    assert dash_of(guarantees) == ("solid" if guarantees[0].is_bound else "dash")


def test_hover_names_epsilon_kind_and_order():
    words = epsilon_curves(CURVES, STEPS).data[1].text[2]
    assert "ε ≤ 1" in words and "upper" in words and "17.5" in words


def test_hover_of_a_bracket_has_both_ends():
    bracket = curve("pld", [1.0], kind="bracket", lower=0.9)
    words = epsilon_curves({"pld": bracket}, [5]).data[0].text[0]
    assert words.startswith("0.9000 ≤ ε ≤ 1.000") and "within 12 %" in words


SHARP = curve("pld", [0.1, 0.3, 0.9, 2.8], kind="bracket")
SHARP = [
    dataclasses.replace(g, lower=g.epsilon / (1 + w))
    for g, w in zip(SHARP, (1e-7, 1e-9, 3e-6, 1e-8), strict=True)
]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (SHARP, "exact to 5 digits"),
        (SHARP[:2] + SHARP[:2], "exact to 7 digits"),
        (curve("pld", [0.1, 0.3, 0.9, 2.8], kind="exact"), "exact"),
        (curve("pld", [0.1, 0.3, 0.9, 2.8]), "upper bound"),
        (curve("pld", [0.1, 0.3]) + SHARP[2:], "exact to 5 digits, T ≥ 100"),
        (SHARP[:3] + curve("pld", [2.8]), "upper bound"),
        (curve("pld", [1.4] * 4, kind="bracket", lower=1.0), "within 40 %"),
        (curve("pld", [800.0] * 4, kind="bracket", lower=11.0), "within 73 ×"),
    ],
)
def test_the_reference_says_how_sharp_it_is(reference, words):
    figure = epsilon_curves({**CURVES, "pld": reference}, STEPS, reference="pld")
    (note,) = (t for t in annotation_texts(figure) if t.startswith(("exact", "upper", "within")))
    assert note == words


def test_only_what_is_in_view_counts_for_the_reference():
    wide = dataclasses.replace(SHARP[0], epsilon=1e-6, lower=1e-9)
    figure = epsilon_curves({"pld": [wide, *SHARP[1:]]}, STEPS, reference="pld")
    assert "exact to 5 digits" in annotation_texts(figure)


def test_the_reference_lies_in_a_band_under_the_others():
    reference = curve("pld", [0.1]) + SHARP[1:3] + curve("pld", [2.8])
    figure = epsilon_curves({**CURVES, "pld": reference}, STEPS, reference="pld")
    band, *rest = figure.data
    assert band.fill == "toself" and band.line.width > 5
    assert list(band.x) == [10, 100, 100, 10, None]
    assert list(band.y) == [0.3, 0.9, reference[2].lower, reference[1].lower, None]
    assert [t.name for t in rest] == [t.name for t in epsilon_curves(CURVES, STEPS).data]


def test_a_note_stays_right_below_its_words():
    crowd = {f"a{i}": curve(f"a{i}", [1.0, 1.0, 1.0, 1.0 + 0.001 * i]) for i in range(8)}
    figure = epsilon_curves({**crowd, "a4": SHARP[:3] + crowd["a4"][3:]}, STEPS, reference="a4")
    axis, height = figure.layout.yaxis.range, plot_height(figure)

    def pixel(note):
        return (note.y - axis[0]) / (axis[1] - axis[0]) * height - (note.ay or 0)

    words = {n.text: pixel(n) for n in figure.layout.annotations if n.yref == "y"}
    (at,) = (p for t, p in words.items() if "a4" in t)
    below = max(p for p in words.values() if p < at)
    assert words["upper bound"] == below and at - below < 22


def test_infinite_epsilon_leaves_a_gap():
    values = [0.1, math.inf, 1.0, math.inf]
    figure = epsilon_curves({"rdp": curve("rdp", values)}, STEPS, here=10)
    assert list(figure.data[0].y) == [0.1, None, 1.0, None]
    assert not figure.data[0].connectgaps
    assert any("∞" in t for t in annotation_texts(figure))


def test_all_infinite_still_draws():
    figure = epsilon_curves({"rdp": curve("rdp", [math.inf] * 4)}, STEPS, here=10, budget=1.0)
    assert list(figure.data[0].y) == [None] * 4


@pytest.mark.parametrize("values", [[0.0] * 4, [0.0, 0.0, 0.0, 1e-9], [1e-9, 1.0, 1e5, 1e12]])
@pytest.mark.parametrize("logs", list(itertools.product([True, False], repeat=2)))
def test_any_range_gives_finite_axes(values, logs):
    figure = epsilon_curves(
        {"rdp": curve("rdp", values)}, STEPS, here=10, budget=2.0, log_x=logs[0], log_y=logs[1]
    )
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        low, high = axis.range
        assert math.isfinite(low) and math.isfinite(high) and low < high


def test_one_step_is_a_picture_too():
    figure = epsilon_curves({"pld": curve("pld", [0.5])}, [1], here=1)
    assert figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]


def test_number_and_order_of_traces_do_not_depend_on_the_extras():
    plain = epsilon_curves(CURVES, STEPS)
    full = epsilon_curves(
        CURVES,
        STEPS,
        published=[Published(steps=100, epsilon=1.26, label="1.26")],
        here=100,
        budget=2.0,
        certified={"rdp": 500},
        log_x=False,
        log_y=False,
    )
    assert [t.name for t in plain.data] == [t.name for t in full.data]
    assert len(plain.data) == len(CURVES) + 3


def test_here_marks_its_own_values():
    figure = epsilon_curves(CURVES, STEPS, here=100)
    marks = figure.data[len(CURVES)]
    assert list(marks.x) == [100] * 4
    assert list(marks.y) == [c[2].epsilon for c in CURVES.values()]
    assert figure.layout.shapes[0].x0 == 100
    assert any("ε at T = 100" in t for t in annotation_texts(figure))
    assert any("<b>0.9</b> PLD" in t for t in annotation_texts(figure))


def test_budget_line_and_what_is_certified():
    figure = epsilon_curves(CURVES, STEPS, budget=2.0, certified={"rdp": 500, "basic": 0})
    marks = figure.data[len(CURVES) + 1]
    assert list(marks.x) == [500] and list(marks.y) == [2.0]
    assert figure.layout.shapes[1].y0 == 2.0
    assert "budget ε = 2" in annotation_texts(figure)


def test_published_figures_are_points_with_words():
    point = Published(steps=100, epsilon=1.26, label="1.26 published", note="Somebody, 2016")
    figure = epsilon_curves(CURVES, STEPS, published=[point])
    marks = figure.data[-1]
    assert (list(marks.x), list(marks.y)) == ([100], [1.26])
    assert marks.customdata[0] == "Somebody, 2016"
    assert "1.26 published" in annotation_texts(figure)


def test_labels_at_the_end_never_overlap():
    crowd = {f"a{i}": curve(f"a{i}", [1.0, 1.0, 1.0, 1.0 + 0.001 * i]) for i in range(10)}
    figure = epsilon_curves(crowd, STEPS)
    axis, height = figure.layout.yaxis.range, plot_height(figure)
    labels = [n for n in figure.layout.annotations if "<b>" in n.text]
    tops = [(n.y - axis[0]) / (axis[1] - axis[0]) * height - n.ay for n in labels]
    assert len(tops) == 10
    assert np.diff(tops) == pytest.approx(np.full(9, 22.0))
    assert min(tops) >= 0 and max(tops) <= height


@pytest.mark.parametrize("wishes", [[], [5.0], [5.0, 5.0, 5.0], [90.0, 1.0, 89.0, 2.0, 3.0]])
def test_spread_keeps_the_order_and_the_distance(wishes):
    placed = spread(wishes, gap=10.0, lower=0.0, upper=100.0)
    order = np.argsort(wishes, kind="stable")
    assert np.all(np.diff(np.array(placed)[order]) >= 10.0 - 1e-9)
    assert all(0.0 <= p <= 100.0 for p in placed)


def test_spread_shrinks_the_gap_when_there_is_no_room():
    assert spread([1.0] * 5, gap=10.0, lower=0.0, upper=20.0) == pytest.approx([0, 5, 10, 15, 20])


def test_clearest_avoids_ink_and_edges():
    boxes = [Box(5, 5, 4, 4), Box(1, 5, 4, 4), Box(15, 5, 4, 4)]
    assert clearest(boxes, np.array([[5.0, 5.0]]), width=20, height=10) == 2


def test_every_accountant_has_its_own_colour_and_marker():
    styles = [style_of(name) for name in accountants]
    assert len({s.colour for s in styles}) == len({s.symbol for s in styles}) == len(styles)


def test_a_newcomer_keeps_its_colour():
    assert style_of("brand_new") == style_of("brand_new")


def test_bounds_are_rounded_up_and_approximations_to_the_nearest():
    bound, guess = curve("a", [0.94681])[0], curve("a", [0.94681], kind="approximate")[0]
    assert text.epsilon(bound) == "0.947" and text.epsilon(curve("a", [0.9461])[0]) == "0.947"
    assert text.epsilon(guess).endswith("0.947") and text.epsilon(guess).startswith("≈")
    assert text.bare(curve("a", [0.9461], kind="approximate")[0]) == "0.946"


@pytest.mark.parametrize("largest", [1, 2, 9, 10, 60, 875, 40_000, 10**7])
def test_log_steps_are_few_increasing_and_end_where_they_should(largest):
    steps = log_steps(largest)
    assert steps[0] == 1 and steps[-1] == largest and len(steps) <= 75
    assert steps == sorted(set(steps)) and all(isinstance(t, int) for t in steps)
    assert all(b <= 1.6 * a for a, b in itertools.pairwise(steps[1:]))


def test_at_most_two_hundred_points_a_curve_arrive_unchanged():
    steps = list(range(1, 201))
    figure = epsilon_curves({"rdp": curve("rdp", [0.01 * t for t in steps])}, steps)
    assert len(figure.data[0].x) == 200


@pytest.mark.parametrize(
    ("curves", "steps", "here", "message"),
    [
        (CURVES, [1, 2], None, "Expected 2 values"),
        (CURVES, STEPS, 50, "Expected here among steps"),
        ({}, [], None, "Expected at least one number of steps"),
    ],
)
def test_what_does_not_fit_together_is_refused(curves, steps, here, message):
    with pytest.raises(ValueError, match=message):
        epsilon_curves(curves, steps, here=here)


def test_an_unknown_reference_is_refused():
    with pytest.raises(ValueError, match="Expected reference among the curves"):
        epsilon_curves(CURVES, STEPS, reference="prv")


def test_stairs_are_drawn_where_the_bound_holds_between_points():
    figure = epsilon_curves(
        {"pld": SHARP, "poisson_claim": curve("poisson_claim", [0.01] * 4, kind="approximate")},
        STEPS,
        reference="pld",
        claims=["poisson_claim"],
        stairs=True,
        finding="A finding",
    )
    band, pld, claim = figure.data[:3]
    assert (pld.line.shape, claim.line.shape, claim.line.dash) == ("vh", None, "dot")
    # Above: at 1 step already the value of 10. Below: at 10 steps still the value of 1.
    ends = list(zip(band.x, band.y, strict=True))
    assert (1, 0.3) in ends and (10, SHARP[0].lower) in ends and (1, SHARP[1].lower) not in ends
    assert figure.layout.title.text == "<b>A finding</b>"
    assert "does not hold here" in annotation_texts(figure)
    assert not any("no bound" in t for t in annotation_texts(figure))
