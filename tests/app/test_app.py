"""Every page found runs without an exception; the first one shows the library's numbers."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dplearn.accountants import accountants
from dplearn.app import navigation
from dplearn.app.kit.fields import Choice, Quantity
from dplearn.app.pages.epsilon_vs_steps import answers as calls
from dplearn.app.pages.epsilon_vs_steps import export, presets, run
from dplearn.app.pages.epsilon_vs_steps import fields as catalogue
from dplearn.app.pages.epsilon_vs_steps import words as reading
from dplearn.app.pages.epsilon_vs_steps.answers import Setting
from dplearn.figures import certificate, log_steps, style_of
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.mechanisms.shuffled import Shuffled
from dplearn.run import EPOCH_SAMPLINGS, SAMPLINGS

ROOT = Path(__file__).parents[2]
ABADI = Setting("gaussian", 4.0, "poisson", 0.01, 1e-5, "add_remove", 40_000)


def page(**address: str) -> AppTest:
    """The explorer, opened at an address."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, value in address.items():
        app.query_params[key] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [e.message for e in app.exception]
    return app


def figure(app: AppTest, which: int = 0) -> dict:
    return json.loads(app.get("plotly_chart")[which].proto.spec)


def traces(app: AppTest) -> dict[str, dict]:
    return {trace["name"]: trace for trace in figure(app)["data"]}


def errors(app: AppTest) -> list[str]:
    return [e.value for e in app.error]


def enter(app: AppTest, field: str, text: str) -> AppTest:
    return checked(app.text_input(key=f"box_{field}").set_value(text).run())


def choose(app: AppTest, field: str, option: str) -> AppTest:
    return checked(app.selectbox(key=f"choice_{field}").set_value(option).run())


@pytest.fixture(scope="module")
def opened() -> AppTest:
    return page()


# Pages


def test_pages_are_the_folders_of_the_folder():
    files = {p.parent.name for p in (ROOT / "dplearn/app/pages").glob("[!_]*/__init__.py")}
    found = navigation.modules()
    assert {m.__name__.rpartition(".")[2] for m in found} == files
    assert [m.ORDER for m in found] == sorted(m.ORDER for m in found)
    assert all(m.TITLE and callable(m.render) for m in found)


@pytest.mark.parametrize("module", navigation.modules(), ids=lambda m: m.__name__)
def test_every_page_renders(module):
    def script(name: str) -> None:
        import importlib

        importlib.import_module(name).render()

    app = AppTest.from_function(script, args=(module.__name__,), default_timeout=60)
    checked(app.run())


def test_the_explorer_never_loads_torch():
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=60).run()\n"
        "assert not app.exception\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


# The picture shows the library's numbers


def test_curves_are_the_librarys(opened):
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    for name, law in accountants.items():
        trace = traces(opened)[style_of(name).label]
        assert len(trace["x"]) <= 200
        expected = law().epsilon_curve(step, delta=1e-5, steps=trace["x"])
        # PLD aims at 0.1 percent, and shares work between the steps it is asked for at once.
        rel = 1e-3 if name == "pld" else 1e-9
        assert trace["y"] == pytest.approx([g.epsilon for g in expected], rel=rel)
        assert trace["line"]["dash"] == ("dash" if law.kind == "approximate" else "solid")


def test_the_reference_run_tells_its_story(opened):
    at = {name: dict(zip(t["x"], t["y"], strict=True)) for name, t in traces(opened).items()}
    assert at["Moments"][10_000] == pytest.approx(1.258575, abs=1e-4)
    assert at["RDP"][10_000] <= 1.0356
    assert 0.9468 <= at["PLD"][10_000] <= 0.96
    assert at["GDP"][10_000] < at["PLD"][10_000]
    assert min(at["Basic"][10_000], at["Advanced"][10_000]) > 9
    said = [m.value for m in opened.markdown if m.value.startswith("After")]
    assert len(said) == 1 and "10\u202f000 steps" in said[0] and "0.947" in said[0]
    ends = certificate.both_ends(calls.reading("pld", ABADI, 10_000))
    assert ends in said[0].replace("\u00a0", " ")


def test_the_second_picture_measures_everybody_by_the_reference(opened):
    loose = figure(opened, 1)
    assert loose["layout"]["title"]["text"] == (
        "<b>At T = 10\u202f000 RDP asks for 9.4 % more ε than needed, zCDP for 454 ×</b>"
    )
    first = traces(opened)
    for trace in loose["data"][:-1]:
        ratios = dict(zip(trace["x"], trace["y"], strict=True))
        mine = dict(zip(trace["x"], first[trace["name"]]["y"], strict=True))
        reference = dict(zip(trace["x"], first["PLD"]["y"], strict=True))
        assert ratios[10_000] == pytest.approx(mine[10_000] / reference[10_000], rel=1e-6)
        assert trace["line"] == first[trace["name"]]["line"]
    assert loose["layout"]["xaxis"] == figure(opened)["layout"]["xaxis"]
    alt = opened.get("plotly_chart")[1].proto.alt
    assert "RDP 1.094 ×" in alt and "GDP 0.995 ×" in alt and "454 ×" in alt


def test_the_reference_measures_even_where_it_is_not_drawn():
    app = page(accountants="gdp,rdp")
    assert "certified" not in traces(app)
    assert [t["name"] for t in figure(app, 1)["data"]] == ["RDP", "GDP", "here"]
    assert "9.4 % more ε than needed" in figure(app, 1)["layout"]["title"]["text"]


def test_a_wrong_tool_is_named_only_where_it_is_wrong(opened):
    def panel(app: AppTest) -> str:
        return "".join(m.value for m in app.markdown if "Where other tools" in m.value)

    assert "0.47 % below the certified ε" in panel(opened)
    assert "dp-accounting" not in panel(opened)
    assert "returns ε = ∞" in panel(page(delta="1e-20"))
    assert not panel(page(sampling="none", steps="100", here="100"))


# Batches drawn once per epoch

CHUA = {
    "noise_multiplier": "0.5",
    "sampling": "shuffled",
    "sample_rate": "0.0001",
    "delta": "1e-6",
    "adjacency": "zero_out",
    "steps": "100000",
    "here": "10000",
}


@pytest.fixture(scope="module")
def shuffled() -> AppTest:
    return page(**CHUA)


def test_the_gap_of_shuffling_is_the_title(shuffled):
    layout = figure(shuffled)["layout"]
    assert layout["title"]["text"] == (
        "<b>A Poisson accountant would claim 1.95; shuffling leaks at least 10.99</b>"
    )
    assert "Poisson claim hides 82 %" in figure(shuffled, 1)["layout"]["title"]["text"]
    panel = "".join(m.value for m in shuffled.markdown if "Where other tools" in m.value)
    assert "leaves out 82 % of the ε that is certain" in panel
    assert "would claim 1.95" in shuffled.get("plotly_chart")[0].proto.alt


def test_the_claim_is_the_poisson_curve_and_looks_like_no_bound(shuffled):
    claim, pld = traces(shuffled)["Poisson claim"], traces(shuffled)["PLD"]
    step = PoissonSubsampled(Gaussian(0.5), sample_rate=1e-4)
    expected = accountants["pld"]().epsilon_curve(step, delta=1e-6, steps=claim["x"])
    # The bracket shares work between the steps it is asked for at once.
    assert claim["y"] == pytest.approx([g.epsilon for g in expected], rel=1e-2)
    assert claim["line"]["dash"] == "dot" and "shape" not in claim["line"]
    assert pld["line"]["dash"] == "solid" and pld["line"]["shape"] == "vh"
    (note,) = (a for a in figure(shuffled)["layout"]["annotations"] if "hold here" in a["text"])
    assert note["text"] == "does not hold here"


def test_the_band_of_shuffling_lies_between_complete_and_begun_epochs(shuffled):
    epoch = Shuffled(Gaussian(0.5), batches=10_000)
    law = accountants["pld"]()
    two = law.epsilon_curve(epoch, delta=1e-6, steps=[1, 2], adjacency="zero_out")
    setting = dataclasses.replace(CHUA_RUN, largest=20_000)
    inside = calls.reading("pld", setting, 15_000)
    assert inside.lower == pytest.approx(two[0].lower, rel=1e-2)
    assert inside.epsilon == pytest.approx(two[1].epsilon, rel=1e-2)
    assert inside.kind == "bracket"
    assert calls.reading("pld", setting, 5000).kind == "upper"
    # Nothing but ends of epochs beyond the first: no saw teeth.
    assert all(t % 10_000 == 0 for t in CHUA_RUN.steps if t > 10_000)


CHUA_RUN = Setting("gaussian", 0.5, "shuffled", 1e-4, 1e-6, "zero_out", 100_000)


def test_certified_steps_of_epochs_are_whole_epochs():
    at_two = calls.reading("rdp", CHUA_RUN, 20_000).epsilon
    assert calls.certified("rdp", CHUA_RUN, at_two * 1.001) == 20_000


def test_where_the_claim_covers_the_loader_nobody_is_accused():
    app = page(
        **CHUA | {"sampling": "random_allocation", "noise_multiplier": "1", "here": "100000"}
    )
    said = figure(app)["layout"]["title"]["text"]
    assert "proved here: " in said and "leaks at least" not in said


def test_the_menu_of_batches_is_the_librarys():
    assert tuple(catalogue.SAMPLING.options) == SAMPLINGS + EPOCH_SAMPLINGS


def test_epochs_of_another_noise_are_refused_with_a_reason():
    app = page(sampling="shuffled", adjacency="zero_out", mechanism="laplace")
    (message,) = errors(app)
    assert "shuffled batches with laplace noise" in message and "Gaussian" in message


def test_a_moving_slider_gets_a_draft_that_is_true():
    state = catalogue.state()
    state.moving = True
    setting = run.setting_of(state)
    assert setting.draft and not run.setting_of(catalogue.state()).draft
    rough, fine = (calls.reading("pld", s, 3) for s in (setting, ABADI))
    assert rough.lower <= fine.epsilon and fine.lower <= rough.epsilon


# Published figures


def test_published_figures_are_drawn_and_judged(opened):
    published = traces(opened)["published"]
    assert (10_000, 1.26) in zip(published["x"], published["y"], strict=True)
    shown = opened.table[1].value
    assert "does not reproduce" in set(shown["Verdict"])


def test_table_reads_the_vertical_line(opened):
    rows = opened.table[0].value.set_index("Accountant")
    pld, gdp = (
        rows.loc[f"{style_of(name).glyph} {accountants[name].title}"] for name in ("pld", "gdp")
    )
    assert float(pld["ε"]) == pytest.approx(0.947, abs=0.001)
    ends = certificate.both_ends(calls.reading("pld", ABADI, 10_000))
    assert ends.startswith("0.94686") and pld["Kind"].endswith(ends)
    assert pld["Times the certified ε"] == "1 ×"
    assert gdp["ε"].startswith("≈") and gdp["Times the certified ε"] == "0.995 ×"
    assert gdp["Kind"] == "approximation, not a bound"
    assert (rows.index[0], rows.index[-1]) == (pld.name, gdp.name)


def test_every_theorem_is_stated_with_its_source(opened):
    words = "\n".join(m.value for m in opened.markdown)
    for law in accountants.values():
        assert law.statement in words and str(law.reference) in words and law.explanation in words


@pytest.mark.parametrize("noise", [1.1, 4.0, 30.0])
@pytest.mark.parametrize("budget", [0.5, 2.0, 20.0])
def test_certified_steps_are_certified_and_nearly_the_largest(noise, budget):
    setting = dataclasses.replace(ABADI, noise_multiplier=noise)
    step = PoissonSubsampled(Gaussian(noise), sample_rate=0.01)
    for name, law in accountants.items():
        found = calls.certified(name, setting, budget)
        later = math.ceil(found * 1.004) + 1
        now, then = law().epsilon_curve(step, delta=1e-5, steps=[found, later])
        assert now.epsilon <= budget * (1 + 1e-3 * (name == "pld"))
        assert then.epsilon > budget or found == setting.largest


def test_certified_beyond_the_picture_is_its_edge():
    assert calls.certified("pld", ABADI, 1000.0) == ABADI.largest
    assert calls.certified("zcdp", ABADI, 0.01) == 0


def test_moving_the_line_keeps_the_curves(opened):
    app = page(here="777")
    assert 777 in traces(app)["PLD"]["x"]
    assert len(figure(app)["data"]) == len(figure(opened)["data"])
    without = [t for t in traces(app)["PLD"]["x"] if t != 777]
    assert without == list(log_steps(40_000))


# Presets


@pytest.mark.parametrize("preset", presets.PRESETS, ids=lambda p: p.title)
def test_presets_work_and_are_recognised(preset):
    app = page()
    checked(app.selectbox(key="choice_preset").set_value(preset.title).run())
    assert app.selectbox(key="choice_preset").value == preset.title
    assert not errors(app)
    assert len(traces(app)["PLD"]["y"]) > 1
    again = page(**app.query_params)
    assert figure(again) == figure(app)


def test_any_change_makes_a_preset_ones_own():
    app = enter(page(), "noise_multiplier", "5")
    assert app.selectbox(key="choice_preset").value == presets.CUSTOM


# The address


def test_an_untouched_page_has_a_clean_address(opened):
    assert opened.query_params == {}


DEEP = {
    "noise_multiplier": "1.3",
    "rate_from": "counts",
    "dataset_size": "50000",
    "batch_size": "500",
    "delta": "1e-6",
    "length_in": "epochs",
    "epochs": "20",
    "here": "1500",
    "budget": "3",
    "accountants": "gdp,pld,rdp",
    "x_axis": "linear",
    "y_axis": "linear",
}


def test_an_address_reproduces_the_picture():
    app = page(**DEEP)
    assert not errors(app)
    found = traces(app)
    assert list(found) == [
        "certified",
        "PLD",
        "RDP",
        "GDP",
        "here",
        "within the budget",
        "published",
    ]
    assert found["PLD"]["x"][-1] == 2000 and 1500 in found["PLD"]["x"]
    step = PoissonSubsampled(Gaussian(1.3), sample_rate=0.01)
    expected = accountants["rdp"]().epsilon(step, delta=1e-6, steps=2000).epsilon
    assert found["RDP"]["y"][-1] == pytest.approx(expected)
    assert figure(app)["layout"]["xaxis"]["type"] == "linear"
    assert {k: str(v) for k, v in app.query_params.items()} == DEEP


def test_what_is_entered_is_in_the_address():
    app = enter(page(), "noise_multiplier", "2.5")
    app = choose(app, "mechanism", "laplace")
    assert app.query_params == {"noise_multiplier": "2.5", "mechanism": "laplace"}
    assert figure(page(**app.query_params)) == figure(app)


RUBBISH = ["abc", "nan", "-1", "1e999", "", "__import__('os')", "9" * 400, "1/0", "<b>x</b>"]


@pytest.mark.parametrize("field", catalogue.FIELDS.values(), ids=lambda f: f.key)
def test_rubbish_in_the_address_is_named_and_the_default_used(field, opened):
    for text in ("rubbish", "-1"):
        mode = {"dataset_size": "counts", "batch_size": "counts"}.get(field.key, "rate")
        extra = {"rate_from": mode} if field.key != "rate_from" else {}
        if field.key == "epochs":
            extra["length_in"] = "epochs"
        app = page(**extra, **{field.key: text})
        (message,) = errors(app)
        assert field.key in message and text in message and message.endswith("is used.")
        assert all(box.value != text for box in app.text_input)
        expected = figure(page(**extra)) if len(extra) > 1 or mode != "rate" else figure(opened)
        assert figure(app) == expected


@pytest.mark.parametrize("text", RUBBISH)
def test_rubbish_of_every_kind_leaves_the_page_standing(text):
    app = page(**dict.fromkeys(catalogue.FIELDS, text))
    assert len(errors(app)) >= 10
    assert app.get("plotly_chart")


def test_words_from_the_address_stay_words():
    (message,) = errors(page(delta="![x](http://example.org/`)"))
    assert "got `![x](http://example.org/')`." in message


def test_unknown_names_in_the_address_are_dropped():
    app = page(colour="red")
    assert not errors(app) and app.query_params == {}


# The controls


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("noise_multiplier", "0"),
        ("noise_multiplier", "-1"),
        ("noise_multiplier", "four"),
        ("sample_rate", "1.5"),
        ("sample_rate", "0"),
        ("delta", "1"),
        ("delta", "0"),
        ("steps", "0"),
        ("steps", "2.5"),
        ("steps", "1e9"),
        ("here", "1e6"),
        ("budget", "-2"),
    ],
)
def test_bad_input_gives_one_message_and_keeps_the_picture(field, text):
    app = page()
    before = figure(app)
    app = enter(app, field, text)
    (message,) = errors(app)
    assert message.startswith(f"Expected {field}") and message.endswith("is used.")
    assert app.text_input(key=f"box_{field}").value == text
    assert figure(app) == before
    good = catalogue.FIELDS[field]
    assert isinstance(good, Quantity)
    assert not errors(enter(app, field, good.show(good.default)))


def test_a_batch_larger_than_the_dataset_is_refused_at_the_control():
    app = page(rate_from="counts", dataset_size="1000", batch_size="600")
    app = enter(app, "batch_size", "2000")
    (message,) = errors(app)
    assert "batch_size" in message and "dataset_size = 1000" in message
    assert not errors(enter(app, "dataset_size", "2000"))


@pytest.mark.parametrize("text", ["256/60000", " 0.01 ", "1e-2", "1E-2", "1/100"])
def test_boxes_take_numbers_as_people_write_them(text):
    app = enter(page(), "sample_rate", text)
    assert not errors(app) and traces(app)["PLD"]["y"]


def test_a_run_without_a_theorem_says_so_at_the_control():
    app = choose(page(), "adjacency", "replace_one")
    (message,) = errors(app)
    assert "replace_one" in message and "Poisson" in message
    assert not app.get("plotly_chart")


def test_changing_the_sampling_takes_the_adjacency_along():
    app = choose(page(), "sampling", "without_replacement")
    assert app.selectbox(key="choice_adjacency").value == "replace_one"
    assert not errors(app) and "GDP" not in traces(app)
    assert any(accountants["gdp"].title in c.value for c in app.caption)


def test_without_sampling_there_is_no_rate_to_set():
    app = choose(page(steps="100", here="10"), "sampling", "none")
    assert not errors(app)
    step = Gaussian(4.0)
    expected = accountants["pld"]().epsilon(step, delta=1e-5, steps=100).epsilon
    assert traces(app)["PLD"]["y"][-1] == pytest.approx(expected)
    assert all(box.key != "box_sample_rate" for box in app.text_input)


def test_one_accountant_is_enough_and_none_is_refused():
    app = page(accountants="gdp")
    assert not errors(app)
    assert any("only an approximation" in m.value for m in app.markdown)
    (message,) = errors(page(accountants=","))
    assert "accountants" in message


@pytest.mark.parametrize("field", catalogue.FIELDS.values(), ids=lambda f: f.key)
def test_every_field_reads_back_what_it_shows(field):
    if isinstance(field, Choice):
        values = [field.default] if isinstance(field.default, tuple) else list(field.options)
    else:
        values = [field.default, field.lower, field.upper, *field.marks()]
    for value in values:
        assert field.parse(field.show(value)) == value


def test_every_number_says_what_it_is():
    quantities = [f for f in catalogue.FIELDS.values() if isinstance(f, Quantity)]
    assert all(len(q.help.split()) > 5 for q in quantities)


def test_sliders_stand_on_increasing_marks_inside_the_range():
    for field in catalogue.FIELDS.values():
        if isinstance(field, Quantity):
            marks = field.marks()
            assert list(marks) == sorted(set(marks))
            assert field.lower <= marks[0] and marks[-1] <= field.upper


def test_the_address_waits_until_a_slider_is_let_go():
    state = catalogue.state()
    state.enter(catalogue.NOISE, "2")
    assert state.address() == {"noise_multiplier": "2"}


# What one takes along


@pytest.mark.parametrize(
    "address",
    [
        {"accountants": "pld,rdp", "noise_multiplier": "2", "steps": "500", "here": "123"},
        {"mechanism": "laplace", "accountants": "basic,moments", "steps": "50", "here": "7"},
        {"sampling": "none", "accountants": "gdp,zcdp", "steps": "50", "here": "50"},
        {
            "sampling": "shuffled",
            "adjacency": "zero_out",
            "sample_rate": "0.1",
            "accountants": "rdp,zcdp",
            "steps": "50",
            "here": "15",
        },
    ],
    ids=["poisson", "laplace", "all-records", "shuffled"],
)
def test_the_python_on_the_page_draws_the_same_numbers(address):
    app = page(**address)
    code = app.code[0].value
    assert code.rstrip().endswith(".show()")
    scope: dict = {}
    code = code.replace(".show()", "").replace("\nepsilon_curves(", "\nshown = epsilon_curves(")
    exec(code, scope)
    for trace in scope["shown"].data[:-3]:
        if trace.name == "certified":
            continue
        # PLD aims at 0.1 percent, and shares work between the steps it is asked for at once.
        assert list(trace.y) == pytest.approx(traces(app)[trace.name]["y"], rel=1e-3)
        assert list(trace.x) == traces(app)[trace.name]["x"]


def test_the_csv_holds_every_number_of_the_picture():
    names = ("pld", "gdp")
    curves, steps = calls.curves(names, ABADI, 10_000)
    lines = export.as_csv(curves, steps).splitlines()
    assert lines[0].split(",") == list(export.COLUMNS)
    assert len(lines) == 1 + 2 * len(steps)
    ends = {tuple(r[:2]): r[2:4] for r in (line.split(",") for line in lines[1:])}
    found = calls.reading("pld", ABADI, 10_000)
    assert [float(end) for end in ends["pld", "10000"]] == [found.lower, found.epsilon]
    assert {line.split(",")[4] for line in lines if line.startswith("gdp")} == {"approximate"}


def test_words_do_not_call_an_approximation_tight():
    readings = {name: calls.reading(name, ABADI, 10_000) for name in ("gdp", "pld", "basic")}
    assert reading.tightest(readings) == "pld"
    assert reading.tightest({"gdp": readings["gdp"]}) is None


def test_caches_are_bounded():
    for cached in (calls.answer, calls.reading, calls.certified, calls.published):
        assert cached.cache_parameters()["maxsize"] is not None
