"""The page of the formula book: every entry has a picture, and shows what the book finds."""

import functools
import math

import numpy as np
import pytest

import explorer
from cases import each
from dplearn.teaching.book import (
    Case,
    Interval,
    Refutation,
    Verification,
    book,
    pictures,
    refute,
    verify,
)
from dplearn.teaching.book.pictures import (
    Stretch,
    Sweep,
    View,
    cloud,
    curve,
    example_code,
    first_parameters,
)
from dplearn.teaching.book.published import published
from dplearn.teaching.explorer.pages.formula_book import draw, fields, search
from dplearn.teaching.explorer.pages.formula_book.fields import place_of, words
from dplearn.teaching.figures.formula import formula_cloud, formula_curve
from explorer import choose, enter, figure, press
from explorer import words as shown

opened = functools.partial(explorer.opened, "formula_book")


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Pictures are drawn whole, however busy the machine is."""
    monkeypatch.setattr(draw, "_DRAFT", math.inf)
    monkeypatch.setattr(draw, "_PICTURE", math.inf)


def place_at(id: str, misprint: str = "none") -> View:
    """Where the picture of an entry begins."""
    return place_of(fields.state_at({"id": id, "misprint": misprint}))


@pytest.fixture
def quick(monkeypatch):
    """No search for counterexamples and no oracles: of all variants they take minutes."""
    remembered = (pictures.first_parameters, pictures.comparison_at, pictures._of_design)
    truth = lambda claim, given: Case(given, claim.value(given), Interval(0.0, 1.0), 0.0)
    stands = lambda id, misprint: Refutation(id=id, kind="", status="stands")
    monkeypatch.setattr(pictures, "compare", truth)
    monkeypatch.setattr(pictures, "refuted", stands)
    monkeypatch.setattr(fields, "searched", stands)
    for cached in remembered:
        cached.cache_clear()
    yield
    for cached in remembered:
        cached.cache_clear()


def is_drawn(id: str, misprint: str) -> list[pictures.Comparison]:
    """A point or two of a picture, once its axis is known to be finite."""
    state = fields.state_at({"id": id, "misprint": misprint})
    if along := state.values["along"]:
        picture = curve(place_of(state), along, seconds=0.0)
        figure = formula_curve(picture.drawn)
    else:
        picture = cloud(place_of(state), words, seconds=0.0)
        figure = formula_cloud(picture.drawn)
    assert figure.data and all(math.isfinite(x) for x in figure.layout.yaxis.range)
    return picture.points


@pytest.mark.slow
@pytest.mark.parametrize("group", dict.fromkeys(entry.group for entry in book.values()))
def test_every_entry_has_a_picture_words_and_a_call_that_runs(group):
    for id in search.matching("", group):
        entry, begin = book[id], first_parameters(id)
        assert {p.verdict for p in is_drawn(id, "none")} <= {"right", ""}, id
        assert entry.accepts(begin) and set(entry.domain) <= set(begin), id
        assert words.hypothesis(entry), id
        lines, _, value = example_code(entry).rpartition("  # ")
        *imports, call = lines.splitlines()
        scope: dict = {}
        exec("\n".join(imports), scope)
        near = pytest.approx(float(value), rel=1e-5, abs=1e-300, nan_ok=True)
        assert float(eval(call, scope)) == near, id


@pytest.mark.slow
def test_every_wrong_variant_has_a_picture(quick):
    for id, entry in book.items():
        for misprint in entry.misprints:
            is_drawn(id, misprint.name)


@each("id", book)
def test_parameters_have_names_of_their_own_in_the_address(id):
    state, twin = fields.state_at({"id": id}), fields.state_at({"id": id})
    values = fields.entered(state)
    assert all(fields.parameter_key(name) in state.fields for name in values)
    address = {key: kind.show(state.values[key]) for key, kind in state.fields.items()}
    twin.read({key: text for key, text in address.items() if text})
    assert not twin.notes and fields.entered(twin) == values


def test_points_are_those_of_the_formula_and_its_oracle():
    at = place_at("G-A8")
    found, some, whole = curve(at, "order")
    entry = book["G-A8"]
    assert found.ends == (found.x[0], found.x[-1]) == entry.domain["order"].corners[:2]
    assert whole and len(found.x) == 33
    for x, value, low in zip(found.x, found.value, found.low, strict=True):
        given = {"order": x, "scale": 1.0}
        assert value == entry.value(given) and low == entry.truth(given).low
    assert {p.verdict for p in some} == {"right"} and found.log_x


def test_grey_ends_where_the_hypothesis_does_and_red_lies_where_the_claim_is_too_small():
    # The noise multiplier stays below twice the bit noise.
    at = place_at("G-F5").at("bit_noise", 1.0)
    (region,) = curve(at, "noise_multiplier")[0].regions
    assert region.kind == "outside" and region.right == 20.0
    assert region.left == pytest.approx(2.0, rel=1e-9)
    at = place_at("G-A4", "no-root")
    found, some, _ = curve(at, "order")
    assert found.star is not None and found.claimed and len(found.own) == len(found.x)
    assert "unsafe" in {region.kind for region in found.regions}
    for x, point in zip(found.x, some, strict=True):
        inside = [b.kind for b in found.regions if b.left <= x <= b.right]
        assert inside == ([] if point.verdict == "right" else [point.verdict])
        if point.verdict == "unsafe":
            assert point.value < point.low
    traces = formula_curve(found).to_dict()["data"]
    hatches = {t["name"]: t["fillpattern"]["shape"] for t in traces if "fillpattern" in t}
    assert len(set(hatches.values())) == len(hatches), "a hatch of its own"


def test_what_a_time_limit_cuts_is_spread_and_goes_on():
    at = place_at("G-A8").at("scale", 3.21)
    _, some, whole = curve(at, "order", seconds=0.0)
    assert not whole and len(some) == 1
    assert curve(at, "order")[2]
    drawn: list[int] = []
    pictures._in_time(lambda k: drawn.append(k), pictures._order(33), math.inf)
    assert drawn[:5] == [0, 32, 16, 8, 24] and sorted(drawn) == list(range(33))


def test_a_cloud_is_the_design_of_the_verification():
    found, some, whole = cloud(place_at("G-A12b"), words)
    assert whole and len(some) == book["G-A12b"].points and set(found.verdict) == {"right"}
    wrong, _, _ = cloud(place_at("G-A12b", "without-continuity"), words)
    harmless = refute(book["G-A12b"], book["G-A12b"].misprints[0]).harmless
    assert np.mean([v == "right" for v in wrong.verdict]) == pytest.approx(harmless)


def test_what_is_made_of_a_parameter_follows_it():
    at = place_at("G-M5b")
    flip = book["G-M5b"].domain["flip"]
    for noise in (2.0, at.parameters["noise_std"]):
        found = at.at("noise_std", noise).parameters
        assert found["flip"] == flip.draw(None, found)
    at = place_at("G-A5")
    kernel = at.parameters["kernel"]
    assert at.at("order", 7.0).parameters["kernel"] is kernel
    drawn = View("G-A5", "none", 3, at.settings).parameters
    assert not np.array_equal(drawn["p"], at.parameters["p"])


def test_the_axis_shows_what_matters():
    # A few far values do not squeeze the rest; a wide range of positive ones is logarithmic.
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
def test_numbers_read_as_written_by_hand(value, text):
    assert words.number(value) == text


@each(
    "query, first",
    [
        ("G-A8", "G-A8"),
        ("laplace RÉNYI", "G-A8"),
        ("no-root", "G-A4"),
        ("pate", "G-M1"),
        ("amplification by subsampling", "G-E1"),
        ("the privacy of a group", "G-C8"),
        ("renyi laplace", "G-A8"),
        ("σ ≥ √(2 ln(1.25/δ))", "G-B4"),
        ("α/(2σ²)", "G-A4"),
        ("sqrt(2k*ln(1/delta'))", "G-C2"),
        ("advanced compositon", "G-C2"),
        ("exponential mechnism", "G-B6"),
        ("Papernot 2018 noisy", "G-M1"),
        ("classical gaussian", "G-B4"),
    ],
)
def test_search_puts_first_what_a_reader_means(query, first):
    assert search.matching(query)[0] == first


def test_search_knows_groups_symbols_and_lessons_and_no_letter_within_a_word():
    group = search.matching("", "G-A")
    assert group and {book[id].group for id in group} == {"G-A"}
    assert search.matching("Gaussian", "G-D") == search.matching("gaussain", "G-D") != group
    assert search.matching("σ") == search.matching("sigma")
    assert "G-B4" in search.matching("σ") and "G-A2" not in search.matching("σ")
    assert "G-D3" in search.matching("census") and "G-M1" not in search.matching("k q")
    assert not search.matching("laplace qqq")
    assert search.searched_words("gaussain noise") == ("gaussian", "noise")
    assert f"of {len(book)} formulas with `gaussian`" in shown(enter(opened(), "find", "gaussain"))


def test_lessons_are_found_by_the_id(monkeypatch, tmp_path):
    source = tmp_path / "07_test" / "lesson.py"
    source.parent.mkdir()
    source.write_text("# # 07 A lesson\n\nIt treats G-A12b, and (G-A4).\n")
    monkeypatch.setattr(search, "_LESSONS", tmp_path)
    search._lessons.cache_clear()
    assert search.lessons_about("G-A12b") == search.lessons_about("G-A4") != []
    assert "07 A lesson" in search.lessons_about("G-A4")[0] and not search.lessons_about("G-A12")
    search._lessons.cache_clear()


@each("id", ["G-A3d", "G-A5", "G-A12b"])
def test_an_entry_says_what_it_is(id):
    app, entry = opened(id=id), book[id]
    for line in (entry.title, str(entry.reference), words.kind_of(entry)):
        assert line in shown(app)
    assert any(entry.statement in e.value for e in app.latex)
    assert entry.function.__name__ in app.code[0].value
    assert "Right at" in explorer.title(app) or entry.along


@pytest.mark.slow
def test_a_wrong_variant_is_drawn_and_refuted_and_its_entry_verified():
    app = opened(id="G-A4", misprint="no-root")
    case = refute(book["G-A4"], book["G-A4"].misprint("no-root")).counterexample
    assert case is not None
    assert f"gives **{words.number(case.value)}**" in shown(app)
    assert f"the truth is {words.number(case.truth.low)}" in shown(app)
    assert "Claims more privacy than there is" in shown(app)
    assert explorer.title(app).endswith("points, and claims too much privacy</b>")
    assert {"claim", "formula", "truth", "counterexample"} <= set(explorer.traces(app))
    assert figure(explorer.again(app, "formula_book")) == figure(app)
    (outcome,) = (s.value for s in press(app, "Verify now").success)
    assert all(part in outcome for part in ("verified", "at 150 points", "relative error"))


def test_sliders_and_boxes_move_the_picture_and_the_address():
    app = opened(id="G-A8")
    before = figure(app)
    enter(app, "scale", "2")
    assert figure(app) != before and app.query_params["scale"] == "2"
    enter(app, "scale", "many")
    assert len(app.error) == 1 and "Expected “scale”" in app.error[0].value
    choose(app, "along", "scale")
    assert figure(app)["layout"]["xaxis"]["title"]["text"] == "scale"
    choose(app, "picture", "cloud")
    assert app.query_params["picture"] == "cloud"
    assert figure(app)["data"][0]["name"] == "value = truth"


def test_others_are_drawn_where_there_is_no_slider():
    app = opened(id="G-A5")
    before = figure(app)
    press(app, "Draw others")
    assert figure(app) != before and app.query_params["draw"] == "1"
    assert figure(opened(id="G-A5", draw="1")) == figure(app)


def test_search_chooses_and_a_group_narrows():
    app = enter(opened(), "find", "skew symmetry")
    assert [len(radio.options) for radio in app.radio] == [1]
    explorer.checked(app.radio(key="choice_id").set_value("G-A3c").run())
    assert app.query_params["id"] == "G-A3c" and book["G-A3c"].title in shown(app)
    assert not enter(app, "find", "qqqq").radio and "Nothing found" in shown(app)
    choose(enter(app, "find", ""), "group", "G-A")
    assert len(app.radio(key="choice_id").options) == len(search.matching("", "G-A"))


def quickly(id: str) -> Verification:
    return verify(book[id], points=10)


@pytest.mark.slow
def test_a_group_is_verified_in_a_time_that_is_bounded(monkeypatch):
    monkeypatch.setattr(draw, "verification", quickly)
    app = press(opened(view="table"), "Verify all of them")
    assert "all verified" in shown(app)
    table = app.dataframe[0].value
    assert list(table["id"]) == search.matching("", "G-A")
    assert set(table["status"]) == {"✓ verified"} and min(table["points"]) > 0
    monkeypatch.setattr(draw, "_PATIENCE", 0.0)
    app = press(opened(view="table", group="all"), "Verify all of them")
    assert "Stopped after 0 s" in shown(app)


def test_what_was_checked_of_theorem_numbers_is_said_once_and_not_beneath_each_formula():
    app = opened(view="sources")
    rows = app.dataframe[0].value
    assert set(book) <= set(rows["theorem"]) and (rows["looked up"] == "yes").sum() > 0
    (about,) = (m.value for m in app.markdown if "from memory" in m.value)
    assert f"Of {len(rows)} theorems" in about
    assert "memory" not in shown(opened())


def test_published_figures_have_their_verdicts(monkeypatch):
    by_verdict = {row["verdict"]: id for id, row in reversed(published().items())}
    rows = {id: published()[id] for id in by_verdict.values()}
    monkeypatch.setattr(draw, "published", lambda: rows)
    app = opened(view="figures")
    table = app.dataframe[0].value
    assert list(table["id"]) == list(rows) and not app.error
    assert {m.label: m.value for m in app.metric} == {v: "1" for v in table["verdict"]}
    assert table.set_index("id")["here"]["P01"] == pytest.approx(1.258575)
