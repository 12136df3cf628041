"""The page of the formula book: every entry has a picture, and shows what the book finds."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from test_browser import ARTEFACTS, SECONDS, address, browser  # noqa: F401

from dplearn.app.pages.formula_book import controls, points, words
from dplearn.app.pages.formula_book import draw as panels
from dplearn.app.pages.formula_book import fields as ask
from dplearn.book import Case, Interval, Refutation, book, refute, verify
from dplearn.book.published import published
from dplearn.figures import Cloud, Curve, Region, formula_cloud, formula_curve

SCRIPT = "from dplearn.app.pages.formula_book import render\nrender()"


def page(**values: str) -> AppTest:
    """The page, opened at an address."""
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    for key, value in values.items():
        app.query_params[key] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [e.message for e in app.exception]
    return app


def said(app: AppTest) -> str:
    kinds = (app.error, app.success, app.warning, app.info, app.markdown, app.caption)
    return "\n".join(element.value for kind in kinds for element in kind)


def figure(app: AppTest) -> dict:
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def press(app: AppTest, label: str) -> AppTest:
    return checked(next(b for b in app.button if b.label == label).click().run())


def search(app: AppTest, text: str) -> list[str]:
    checked(app.text_input(key="box_find").set_value(text).run())
    return [word for radio in app.radio for word in radio.options]


# Laws over the whole book


@pytest.fixture
def quick(monkeypatch):
    """No search for counterexamples and no oracles: of all variants they take minutes."""
    remembered = (points.start, points.point, points._of_design)
    truth = lambda claim, given: Case(given, claim.value(given), Interval(0.0, 1.0), 0.0)
    stands = lambda id, misprint: Refutation(id=id, kind="", status="stands")
    monkeypatch.setattr(points, "compare", truth)
    monkeypatch.setattr(points, "refuted", stands)
    for cached in remembered:
        cached.cache_clear()
    yield
    for cached in remembered:
        cached.cache_clear()


def drawn(id: str, misprint: str) -> tuple[Curve | Cloud, list[points.Point]]:
    """What is drawn of an entry, a point or two of it."""
    state = ask.state({"id": id, "misprint": misprint})
    along, place = state.values["along"], controls.place_of(state)
    if along:
        return points.curve(place, along, seconds=0.0)[:2]
    return points.cloud(id, misprint, seconds=0.0)[:2]


@pytest.mark.parametrize("id", book)
def test_every_entry_has_a_picture_words_and_a_call_that_runs(id):
    entry = book[id]
    found, some = drawn(id, "none")
    made = formula_curve(found) if isinstance(found, Curve) else formula_cloud(found)
    assert made.data and all(math.isfinite(x) for x in made.layout.yaxis.range)
    start = points.start(id, "none")
    assert entry.accepts(start) and set(entry.domain) <= set(start)
    assert all(p.verdict in ("right", "") for p in some)
    assert words.hypothesis(entry)

    known = entry.printed[0].parameters if entry.printed else start
    code = words.as_python(entry, known)
    lines, _, value = code.rpartition("  # ")
    *first, call = lines.splitlines()
    scope: dict = {}
    exec("\n".join(first), scope)
    result = float(eval(call, scope))
    assert result == pytest.approx(float(value), rel=1e-5, abs=1e-300, nan_ok=True)


def test_every_wrong_variant_has_a_picture(quick):
    for id, entry in book.items():
        for misprint in entry.misprints:
            found, _ = drawn(id, misprint.name)
            made = formula_curve(found) if isinstance(found, Curve) else formula_cloud(found)
            assert made.data, f"{id}/{misprint.name}"


@pytest.mark.parametrize("id", book)
def test_parameters_have_names_of_their_own_in_the_address(id):
    state = ask.state({"id": id})
    settings = ask.settings(state)
    assert all(ask.parameter_key(n) in state.fields for n in settings)
    again = ask.state({"id": id})
    shown = {key: kind.show(state.values[key]) for key, kind in state.fields.items()}
    again.read({key: text for key, text in shown.items() if text})
    assert not again.notes and ask.settings(again) == settings


# Points


def test_points_are_those_of_the_formula_and_its_oracle():
    place = controls.place_of(ask.state({"id": "G-A8"}))
    found, some, whole = points.curve(place, "order")
    entry = book["G-A8"]
    assert found.ends == (found.x[0], found.x[-1]) == entry.domain["order"].corners[:2]
    assert whole and len(found.x) == 33
    for x, value, low in zip(found.x, found.value, found.low, strict=True):
        given = {"order": x, "scale": 1.0}
        assert value == entry.value(given) and low == entry.truth(given).low
    assert {p.verdict for p in some} == {"right"} and found.log_x


def test_grey_ends_where_the_hypothesis_does():
    # sigma_alpha^2 = 4 - 3 alpha vanishes at order 4/3.
    place = controls.place_of(ask.state({"id": "G-A4"})).at("std_p", 2.0).at("std_q", 1.0)
    (region,) = points.curve(place, "order")[0].regions
    assert region.kind == "outside" and region.right == 50.0
    assert region.left == pytest.approx(4 / 3, rel=1e-9)


def test_red_lies_where_the_claim_is_too_small():
    place = controls.place_of(ask.state({"id": "G-A4", "misprint": "no-root"}))
    found, some, _ = points.curve(place, "order")
    assert found.star is not None and found.claimed and len(found.own) == len(found.x)
    kinds = {region.kind for region in found.regions}
    assert "unsafe" in kinds
    for x, point in zip(found.x, some, strict=True):
        inside = [b.kind for b in found.regions if b.left <= x <= b.right]
        assert inside == ([] if point.verdict == "right" else [point.verdict])
        if point.verdict == "unsafe":
            assert point.value < point.low
    colours = {t["name"]: t["fillpattern"]["shape"] for t in formula_curve(found).to_dict()["data"]
               if "fillpattern" in t}  # fmt: skip
    assert len(set(colours.values())) == len(colours), "a hatch of its own"


def test_what_a_time_limit_cuts_is_spread_and_goes_on():
    place = controls.place_of(ask.state({"id": "G-A8"})).at("scale", 3.21)
    _, some, whole = points.curve(place, "order", seconds=0.0)
    assert not whole and len(some) == 1
    assert points._coarse_to_fine(33)[:5] == [0, 32, 16, 8, 24]
    assert sorted(points._coarse_to_fine(7)) == list(range(7))
    assert points.curve(place, "order")[2]


def test_a_cloud_is_the_design_of_the_verification():
    found, some, whole = points.cloud("G-A12b", "none")
    assert whole and len(some) == book["G-A12b"].points and set(found.verdict) == {"right"}
    wrong, _, _ = points.cloud("G-A12b", "without-continuity")
    harmless = refute(book["G-A12b"], book["G-A12b"].misprints[0]).harmless
    assert np.mean([v == "right" for v in wrong.verdict]) == pytest.approx(harmless)


def test_what_is_made_of_a_parameter_follows_it():
    place = controls.place_of(ask.state({"id": "G-M5b"}))
    flip = book["G-M5b"].domain["flip"]
    for noise in (2.0, place.parameters["noise_std"]):
        found = place.at("noise_std", noise).parameters
        assert found["flip"] == flip.make(found)
    place = controls.place_of(ask.state({"id": "G-A5"}))
    kernel = place.parameters["kernel"]
    assert place.at("order", 7.0).parameters["kernel"] is kernel
    drawn = points.Place("G-A5", "none", 3, place.settings).parameters
    assert not np.array_equal(drawn["p"], place.parameters["p"])


def test_the_axis_shows_what_matters():
    # A few far values do not squeeze the rest; a wide range of positive ones is logarithmic.
    x = np.linspace(1, 2, 33)
    y = np.where(x > 1.95, 1e9, -x)
    near = formula_curve(Curve(x=x, value=y, low=y, high=y, ends=(1, 2)))
    assert near.layout.yaxis.type == "linear" and near.layout.yaxis.range[1] < 100
    far = formula_curve(Curve(x=x, value=10**x, low=x, high=x, ends=(1, 2)))
    assert far.layout.yaxis.type == "log"
    nothing = formula_curve(Curve(x=[], value=[], low=[], high=[], ends=(1, 2),
                                  regions=[Region(1, 2, "outside")]))  # fmt: skip
    assert [t.name for t in nothing.data] == ["hypothesis fails", "truth", "formula"]


# Words


@pytest.mark.parametrize(
    "value, text",
    [(0.48453, "0.4845"), (1e-5, "10⁻⁵"), (2.5e-7, "2.5 · 10⁻⁷"), (-3.0, "−3"), (0.0, "0"),
     (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "no value"), (1e7, "10⁷"),
     (40000.0, "40\u202f000"), (9.99996e-4, "10⁻³")],
)  # fmt: skip
def test_numbers_read_as_written_by_hand(value, text):
    assert words.number(value) == text


def test_search_knows_ids_titles_notes_and_variants():
    assert words.matching("G-A8")[0] == "G-A8"
    assert "G-A4" in words.matching("no-root")
    assert "G-A8" in words.matching("laplace RÉNYI") and not words.matching("laplace qqq")
    group = words.matching("", "G-A")
    assert group and {book[id].group for id in group} == {"G-A"}


def test_lessons_are_found_by_the_id(monkeypatch, tmp_path):
    source = tmp_path / "07_test" / "lesson.py"
    source.parent.mkdir()
    source.write_text("# # 07 A lesson\n\nIt treats G-A12b, and (G-A4).\n")
    monkeypatch.setattr(words, "_LESSONS", tmp_path)
    words._lessons.cache_clear()
    assert words.lessons("G-A12b") == words.lessons("G-A4") != []
    assert "07 A lesson" in words.lessons("G-A4")[0] and not words.lessons("G-A12")
    words._lessons.cache_clear()


# The page


def test_an_untouched_page_has_a_clean_address():
    app = page()
    assert app.query_params == {} and "G-A1" in said(app) and app.get("plotly_chart")


@pytest.mark.parametrize("id", ["G-A2", "G-A3d", "G-A4", "G-A5", "G-A12b"])
def test_an_entry_says_what_it_is(id):
    app, entry = page(id=id), book[id]
    assert entry.title in said(app) and str(entry.reference) in said(app)
    assert any(entry.statement in e.value for e in app.latex)
    assert entry.function.__name__ in app.code[0].value
    assert words.KINDS[entry.kind] in said(app)
    assert "Right at" in figure(app)["layout"]["title"]["text"] or entry.along


def test_verify_now_runs_and_says_what_came_out():
    app = press(page(id="G-A4"), "Verify now")
    (found,) = (s.value for s in app.success)
    assert "verified" in found and "at 100 points" in found and "relative error" in found


def test_a_wrong_variant_is_drawn_and_refuted():
    app = page(id="G-A4", misprint="no-root")
    found = refute(book["G-A4"], book["G-A4"].misprint("no-root")).counterexample
    assert found is not None
    assert f"gives **{words.number(found.value)}**" in said(app)
    assert f"the truth is {words.number(found.truth.low)}" in said(app)
    assert "Claims more privacy than there is" in said(app)
    names = [t["name"] for t in figure(app)["data"]]
    assert {"claim", "formula", "truth", "counterexample"} <= set(names)
    again = page(**{k: str(v) for k, v in app.query_params.items()})
    assert figure(again) == figure(app)


def test_sliders_and_boxes_move_the_picture_and_the_address():
    app = page(id="G-A8")
    before = figure(app)
    checked(app.text_input(key="box_scale").set_value("2").run())
    assert figure(app) != before and app.query_params["scale"] == "2"
    checked(app.text_input(key="box_scale").set_value("many").run())
    assert len(app.error) == 1 and "Expected scale" in app.error[0].value
    checked(app.selectbox(key="choice_along").set_value("scale").run())
    assert figure(app)["layout"]["xaxis"]["title"]["text"] == "scale"
    checked(app.selectbox(key="choice_picture").set_value("cloud").run())
    assert app.query_params["picture"] == "cloud"
    assert figure(app)["data"][0]["name"] == "value = truth"


def test_others_are_drawn_where_there_is_no_slider():
    app = page(id="G-A5")
    before = figure(app)
    press(app, "Draw others")
    assert figure(app) != before and app.query_params["draw"] == "1"
    assert figure(page(id="G-A5", draw="1")) == figure(app)


def test_search_chooses_and_a_group_narrows():
    app = page()
    assert len(search(app, "skew symmetry")) == 1
    checked(app.radio(key="choice_id").set_value("G-A3c").run())
    assert app.query_params["id"] == "G-A3c" and book["G-A3c"].title in said(app)
    assert not search(app, "qqqq") and "Nothing found" in said(app)
    search(app, "")
    checked(app.selectbox(key="choice_group").set_value("G-A").run())
    assert len(app.radio(key="choice_id").options) == len(words.matching("", "G-A"))


def test_nonsense_in_the_address_is_named():
    app = page(id="<b>", misprint="none-such", order="x", along="colour")
    assert any("Expected an id of the book" in e.value for e in app.error)
    assert app.get("plotly_chart")


def test_a_group_is_verified_in_a_time_that_is_bounded(monkeypatch):
    monkeypatch.setattr(panels, "verify", lambda entry: verify(entry, points=10))
    app = press(page(view="table"), "Verify all of them")
    assert "all verified" in said(app)
    table = app.dataframe[0].value
    assert list(table["id"]) == words.matching("", "G-A")
    assert set(table["status"]) == {"✓ verified"} and min(table["points"]) > 0
    monkeypatch.setattr(panels, "_TABLE", 0.0)
    app = press(page(view="table", group="all"), "Verify all of them")
    assert "Stopped after 0 s" in said(app)


def test_published_figures_have_their_verdicts():
    app = page(view="figures")
    table = app.dataframe[0].value
    assert list(table["id"]) == list(published()) and not app.error
    counts = {m.label: int(m.value) for m in app.metric}
    assert sum(counts.values()) == len(published())
    assert dict(table["verdict"].value_counts()) == {k: v for k, v in counts.items() if v}
    assert table.set_index("id")["here"]["P01"] == pytest.approx(1.258575)


# In a browser


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_search_choose_see_and_share(browser, address):  # noqa: F811
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(SECONDS)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(address)
    opened.get_by_role("link", name="Formula book").click()
    opened.locator(".st-key-picture .gtitle").wait_for()
    opened.get_by_role("textbox", name="Search").fill("two gaussians")
    opened.keyboard.press("Enter")
    opened.locator(".st-key-found").get_by_text("G-A4").click()
    opened.locator(".st-key-picture .gtitle").get_by_text("Right at all 33 points").wait_for()
    opened.wait_for_url("**id=G-A4**")
    # For a moment the picture that was there before is there, too.
    opened.wait_for_function(
        "document.querySelectorAll('.st-key-picture .js-plotly-plot').length === 1"
    )
    box = opened.locator(".st-key-picture .js-plotly-plot").bounding_box()
    assert box["y"] + box["height"] <= 900, "the first screen shows the whole picture"

    opened.get_by_text("no root").click()
    opened.get_by_text("Claims more privacy than there is").wait_for()
    opened.locator(".st-key-picture .gtitle").get_by_text("Wrong at").wait_for()
    opened.wait_for_url("**misprint=no-root**")
    ARTEFACTS.mkdir(exist_ok=True)
    opened.wait_for_timeout(300)
    opened.screenshot(path=ARTEFACTS / "formula_book.png")
    words_of = ".st-key-variants [data-testid=stAlert]"
    told = opened.locator(words_of).inner_text()

    fresh = context.new_page()
    fresh.set_default_timeout(SECONDS)
    fresh.goto(opened.url)
    fresh.locator(".st-key-picture .gtitle").get_by_text("Wrong at").wait_for()
    assert fresh.locator(words_of).inner_text() == told and "gives" in told
    opened.get_by_role("tab", name="Published figures").click()
    opened.get_by_text("within rounding").first.wait_for()
    opened.wait_for_url("**view=figures**")
    context.close()
    assert not complaints
