"""Page of the formula book: every formula has a picture, and checks have the book's results."""

import functools
import json
import math
from urllib.parse import parse_qsl

import numpy as np
import pytest

import explorer
from cases import each
from dplearn.teaching.book import Refutation, book, pictures, refute
from dplearn.teaching.book.kit.checks import Case
from dplearn.teaching.book.kit.entry import Interval
from dplearn.teaching.book.pictures import Stretch, Sweep, View, cloud, curve, first_parameters
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.pages import formula_book
from dplearn.teaching.explorer.pages.formula_book import words
from dplearn.teaching.figures.formula import formula_cloud, formula_curve
from explorer import choose, figure, press
from explorer import words as shown

opened = functools.partial(explorer.opened, "formula_book")


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Remove the time limit of pictures, so that they are complete on a busy machine."""
    monkeypatch.setattr(formula_book, "_PICTURE", math.inf)


@pytest.fixture
def quick(monkeypatch):
    """Skip searches for counterexamples and true values, which take minutes in total."""
    exact = lambda claim, given: Case(given, claim.value(given), Interval(0.0, 1.0), 0.0)
    stands = lambda id, misprint: Refutation(id=id, kind="", status="stands")
    monkeypatch.setattr(pictures, "compare", exact)
    monkeypatch.setattr(pictures, "refuted", stands)
    for function in ("first_parameters", "comparison_at", "_of_design"):  # skip their caches
        monkeypatch.setattr(pictures, function, getattr(pictures, function).__wrapped__)


def is_drawn(id: str, misprint: str) -> list[pictures.Comparison]:
    """Check that a picture has an axis with finite ends, and return its first points."""
    view = View(id, misprint)
    if view.axes:
        picture = curve(view, view.axes[0], seconds=0.0)
        figure = formula_curve(picture.drawn)
    else:
        picture = cloud(view, words, seconds=0.0)
        figure = formula_cloud(picture.drawn)
    assert figure.data and all(math.isfinite(x) for x in figure.layout.yaxis.range)
    return picture.points


@pytest.mark.slow
@pytest.mark.parametrize("group", dict.fromkeys(one.group for one in book.values()))
def test_every_entry_has_a_picture_a_text_and_correct_example_code(group):
    for id in (id for id, one in book.items() if one.group == group):
        one, begin = book[id], first_parameters(id)
        assert {p.verdict for p in is_drawn(id, "none")} <= {"right", ""}, id
        assert one.accepts(begin) and set(one.domain) <= set(begin), id
        assert words.hypothesis(one), id
        lines, _, value = pictures.example_code(one).rpartition("  # ")
        *imports, call = lines.splitlines()
        scope: dict = {}
        exec("\n".join(imports), scope)
        near = pytest.approx(float(value), rel=1e-5, abs=1e-300, nan_ok=True)
        assert float(eval(call, scope)) == near, id


@pytest.mark.slow
def test_every_wrong_variant_has_a_picture(quick):
    for id, one in book.items():
        for misprint in one.misprints:
            is_drawn(id, misprint.name)


@each("id", book)
def test_parameters_have_ranges_and_names_unlike_other_url_fields(id):
    able = dict(formula_book.parameters(id, "none"))
    assert not able.keys() & {*formula_book.START, language.KEY}
    for part in able.values():
        assert part["ends"][0] < part["ends"][1] if "ends" in part else part["options"]


def test_curves_show_the_formula_and_the_true_value_at_each_point():
    found, some, whole = curve(View("G-A8"), "order")
    one = book["G-A8"]
    assert found.ends == (found.x[0], found.x[-1]) == one.domain["order"].corners[:2]
    assert whole and len(found.x) == 33
    for x, value, low in zip(found.x, found.value, found.low, strict=True):
        given = {"order": x, "scale": 1.0}
        assert value == one.value(given) and low == one.truth(given).low
    assert {p.verdict for p in some} == {"right"} and found.log_x


def test_shaded_regions_are_where_a_hypothesis_fails_or_a_value_is_wrong():
    # The hypothesis requires a noise multiplier below twice the bit noise.
    at = View("G-F5").at("bit_noise", 1.0)
    (region,) = curve(at, "noise_multiplier")[0].regions
    assert region.kind == "outside" and region.right == 20.0
    assert region.left == pytest.approx(2.0, rel=1e-9)
    at = View("G-A4", "no-root")
    found, some, _ = curve(at, "order")
    assert found.star is not None and found.claimed and len(found.own) == len(found.x)
    assert "unsafe" in {region.kind for region in found.regions}
    for x, point in zip(found.x, some, strict=True):
        inside = [b.kind for b in found.regions if b.left <= x <= b.right]
        assert inside == ([] if point.verdict == "right" else [point.verdict])
        assert point.verdict != "unsafe" or point.value < point.low
    traces = formula_curve(found).to_dict()["data"]
    hatches = {t["name"]: t["fillpattern"]["shape"] for t in traces if "fillpattern" in t}
    assert len(set(hatches.values())) == len(hatches), "a hatch of its own"


def test_points_drawn_before_a_time_limit_span_the_axis():
    at = View("G-A8").at("scale", 3.21)
    _, some, whole = curve(at, "order", seconds=0.0)
    assert not whole and len(some) == 1
    assert curve(at, "order")[2]
    drawn: list[int] = []
    pictures._in_time(lambda k: drawn.append(k), pictures._order(33), math.inf)
    assert drawn[:5] == [0, 32, 16, 8, 24] and sorted(drawn) == list(range(33))


def test_scatter_plot_shows_every_point_at_which_the_formula_was_verified():
    found, some, whole = cloud(View("G-A12b"), words)
    assert whole and len(some) == book["G-A12b"].points and set(found.verdict) == {"right"}
    wrong, _, _ = cloud(View("G-A12b", "without-continuity"), words)
    harmless = refute(book["G-A12b"], book["G-A12b"].misprints[0]).harmless
    assert np.mean([v == "right" for v in wrong.verdict]) == pytest.approx(harmless)


def test_derived_parameters_change_with_the_parameter_they_depend_on():
    at = View("G-M5b")
    flip = book["G-M5b"].domain["flip"]
    for noise in (2.0, at.parameters["noise_std"]):
        derived = at.at("noise_std", noise).parameters
        assert derived["flip"] == flip.draw(None, derived)
    at = View("G-A5")
    assert at.at("order", 7.0).parameters["kernel"] is at.parameters["kernel"]
    drawn = View("G-A5", "none", 3, at.settings).parameters
    assert not np.array_equal(drawn["p"], at.parameters["p"])


def test_axes_ignore_outliers_and_are_logarithmic_over_wide_ranges():
    x = np.linspace(1, 2, 33)
    y = np.where(x > 1.95, 1e9, -x)
    near = formula_curve(Sweep(x=x, value=y, low=y, high=y, ends=(1, 2)))
    assert near.layout.yaxis.type == "linear" and near.layout.yaxis.range[1] < 100
    far = formula_curve(Sweep(x=x, value=10**x, low=x, high=x, ends=(1, 2)))
    assert far.layout.yaxis.type == "log"
    grey = [Stretch(1, 2, "outside")]
    nothing = formula_curve(Sweep(x=[], value=[], low=[], high=[], ends=(1, 2), regions=grey))
    assert [t.name for t in nothing.data] == ["hypothesis fails", "truth", "formula"]


@each(
    "value, text",
    [(0.48453, "0.4845"), (1e-5, "10⁻⁵"), (2.5e-7, "2.5 · 10⁻⁷"), (-3.0, "−3"), (0.0, "0"),
     (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "no value"), (1e7, "10⁷"),
     (40000.0, "40\u202f000"), (9.99996e-4, "10⁻³")],
)  # fmt: skip
def test_numbers_are_formatted_for_reading(value, text):
    assert words.number(value) == text


@pytest.mark.slow
def test_formulas_link_to_the_claim_page_and_to_the_epsilon_page():
    text = shown(opened(id="G-B4", misprint="no-two"))
    assert f"({formula_book.claim_address('G-B4')})" in text
    assert f"({formula_book.claim_address('G-B4', 'no-two')})" in text
    assert "All accountants" not in text
    text = shown(opened(id="G-F2", sample_rate="0.02", steps="700"))
    link = text.partition("[All accountants on this run](")[2].partition(")")[0]
    path, _, query = link.partition("?")
    values = dict(parse_qsl(query, strict_parsing=True))
    assert path == "epsilon_vs_steps" and (values["sample_rate"], values["here"]) == ("0.02", "700")
    assert formula_book.claim_address("G-A1") == formula_book.run_address({"steps": 3}) == ""


@pytest.mark.slow
def test_wrong_variant_is_refuted_and_the_correct_formula_verified():
    app, one = opened(id="G-A4", misprint="no-root"), book["G-A4"]
    assert str(one.reference) in shown(app) and words.kind_of(one) in shown(app)
    assert one.title in app.header[0].value and one.function.__name__ in app.code[0].value
    assert any(one.statement in formula.value for formula in app.latex)
    case = refute(book["G-A4"], book["G-A4"].misprint("no-root")).counterexample
    assert case is not None
    assert f"gives **{words.number(case.value)}**" in shown(app)
    assert f"the truth is {words.number(case.truth.low)}" in shown(app)
    assert "Claims more privacy than there is" in shown(app)
    assert explorer.title(app).endswith("points, and claims too much privacy</b>")
    names = {trace["name"] for trace in figure(app)["data"]}
    assert {"claim", "formula", "truth", "counterexample"} <= names
    assert figure(explorer.again(app, "formula_book")) == figure(app)
    (outcome,) = (s.value for s in press(app, "Verify now").success)
    assert all(part in outcome for part in ("verified", "at 150 points", "relative error"))
    app = choose(app, "id", "G-A3c")
    assert [*app.query_params] == ["id"] and book["G-A3c"].title in app.header[0].value


def test_parameters_in_the_url_change_the_picture():
    app = opened(id="G-A8")
    assert "Right at" in explorer.title(app)
    sentence = json.loads(app.get("bidi_component")[0].proto.json)[0]["numbers"]
    assert [(one["name"], one["value"]) for one in sentence] == [("scale", 1.0)]
    moved = opened(id="G-A8", scale="2")
    assert figure(moved) != figure(app)
    for wrong in ("many", "1e300", "1,5"):
        assert figure(opened(id="G-A8", scale=wrong)) == figure(app)
    choose(app, "along", "scale")
    assert figure(app)["layout"]["xaxis"]["title"]["text"] == "scale"
    cloud = opened(id="G-A8", picture="cloud")
    assert figure(cloud)["data"][0]["name"] == "value = truth"


def test_button_draws_other_random_values_of_parameters_that_cannot_be_dragged():
    app = opened(id="G-A5")
    before = figure(app)
    press(app, "Draw others")
    assert figure(app) != before and app.query_params["draw"] == "1"
    assert figure(opened(id="G-A5", draw="1")) == figure(app)
