"""The page of epsilon against T shows the library's numbers, and says what it was told."""

import dataclasses
import itertools
import math
import re
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
from scenarios import ABADI, CHUA_RUN
from scipy.special import ndtr
from streamlit.testing.v1 import AppTest

from cases import each
from dplearn.accountants import accountants
from dplearn.app.kit.state import save
from dplearn.app.pages.epsilon_vs_steps import answers, fields, live, presets, run
from dplearn.figures import certificate, log_steps, style_of
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from dplearn.mechanisms.shuffled import Shuffled
from dplearn.run import DPSGD, Phases
from explorer import (
    again,
    choose,
    downloads,
    enter,
    errors,
    figure,
    opened,
    press,
    title,
    traces,
    words,
)


@pytest.fixture(scope="module")
def untouched() -> AppTest:
    return opened(colour="red", accountants=",".join(accountants))


def note_of_claim(app: AppTest) -> str:
    """What stands below the name of the claim."""
    texts = [note["text"] for note in figure(app)["layout"]["annotations"]]
    return next(text for text in texts if text.endswith(" here"))


def test_curves_are_the_librarys(untouched):
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    for name, law in accountants.items():
        trace = traces(untouched)[style_of(name).label]
        assert len(trace["x"]) <= 200
        expected = law().epsilon_curve(step, delta=1e-5, steps=trace["x"])
        # PLD aims at 0.1 percent, and shares work between the steps it is asked for at once.
        rel = 1e-3 if name == "pld" else 1e-9
        assert trace["y"] == pytest.approx([g.epsilon for g in expected], rel=rel)


def test_three_curves_to_begin_with_and_the_rest_at_a_click():
    app = opened()
    drawn = [trace for trace in traces(app) if trace in {style_of(n).label for n in accountants}]
    assert drawn == ["PLD", "Optimal", "RDP"] and not traces(app)["published"]["x"]
    simple = {n: accountants[n]() for n in ("basic", "advanced", "optimal")}
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    value = {n: a.epsilon(step, delta=1e-5, steps=10_000).epsilon for n, a in simple.items()}
    assert min(value, key=value.__getitem__) == "optimal"
    app = press(app, "All curves")
    assert app.query_params["accountants"] == ",".join(accountants)
    # What was published of the run lies on a curve that is drawn now.
    assert traces(app)["published"]["x"] == [10_000, 40_000]
    assert "accountants" not in press(app, "Three curves").query_params


def test_the_second_picture_measures_everybody_by_the_reference(untouched):
    finding = "RDP asks for 9.4 % more ε than needed, zCDP for 454 ×"
    assert title(untouched, 1) == f"<b>At T = 10\u202f000 {finding}</b>"
    moved = traces(opened(here="777", accountants=",".join(accountants)))
    assert set(moved) == set(traces(untouched)) and 777 in moved["PLD"]["x"]
    assert [t for t in moved["PLD"]["x"] if t != 777] == list(log_steps(40_000))
    alt = untouched.get("plotly_chart")[1].proto.alt
    assert "RDP 1.094 ×" in alt and "GDP 0.995 ×" in alt and "454 ×" in alt
    # Even where it is not drawn.
    app = opened(accountants="gdp,rdp")
    assert "certified" not in traces(app)
    assert [t["name"] for t in figure(app, 1)["data"]] == ["RDP", "GDP", "here"]
    assert "9.4 % more ε than needed" in title(app, 1)
    alone = opened(accountants="gdp")
    assert not errors(alone) and "only an approximation" in words(alone)


CHUA = presets.PRESETS[-1].address


@pytest.mark.slow
def test_the_claim_of_shuffling_is_the_poisson_curve_and_no_bound():
    app = opened(**CHUA)
    gap = "A Poisson accountant would claim 1.95; shuffling leaks at least 10.99"
    assert title(app) == f"<b>{gap}</b>" and "Poisson claim hides 82 %" in title(app, 1)
    assert "leaves out 82 % of the ε that is certain" in words(app)
    assert "would claim 1.95" in app.get("plotly_chart")[0].proto.alt

    claim, pld = traces(app)["Poisson claim"], traces(app)["PLD"]
    step = PoissonSubsampled(Gaussian(0.5), sample_rate=1e-4)
    expected = accountants["pld"]().epsilon_curve(step, delta=1e-6, steps=claim["x"])
    # The bracket shares work between the steps it is asked for at once.
    assert claim["y"] == pytest.approx([g.epsilon for g in expected], rel=1e-2)
    assert all(less < true for less, true in zip(claim["y"], pld["y"], strict=True))
    assert claim["line"]["dash"] == "dot" and pld["line"]["shape"] == "vh"

    assert note_of_claim(app) == "does not hold here"
    allocated = {"sampling": "random_allocation", "noise_multiplier": "1", "here": "100000"}
    covered = title(opened(**CHUA | allocated))
    assert "proved here: " in covered and "leaks at least" not in covered


@pytest.mark.slow
def test_the_band_of_shuffling_lies_between_complete_and_begun_epochs():
    epoch = Shuffled(Gaussian(0.5), batches=10_000)
    law = accountants["pld"]()
    two = law.epsilon_curve(epoch, delta=1e-6, steps=[1, 2], adjacency="zero_out")
    scenario = dataclasses.replace(CHUA_RUN, largest=20_000)
    inside = answers.guarantee_at("pld", scenario, 15_000)
    assert inside.lower == pytest.approx(two[0].lower, rel=1e-2)
    assert inside.epsilon == pytest.approx(two[1].epsilon, rel=1e-2)
    assert inside.kind == "bracket"
    assert answers.guarantee_at("pld", scenario, 5000).kind == "upper"
    # Nothing but ends of epochs beyond the first: no saw teeth.
    assert all(t % 10_000 == 0 for t in CHUA_RUN.steps if t > 10_000)


def test_certified_steps_of_epochs_are_whole_epochs():
    short = dataclasses.replace(CHUA_RUN, noise_multiplier=2.0, sample_rate=0.01)
    budget = 1.0001 * answers.guarantee_at("rdp", short, 77_700).epsilon
    assert 77_700 not in short.steps
    assert answers.certified_steps("rdp", short, budget) == 77_700


@pytest.mark.slow
def test_a_moving_slider_gets_a_draft_that_is_true():
    state = fields.state()
    state.moving = True
    scenario = run.scenario_of(state)
    assert scenario.draft and not run.scenario_of(fields.state()).draft
    assert 3 * len(scenario.steps) < len(ABADI.steps) and scenario.steps[-1] == ABADI.steps[-1]
    for change in ({}, {"mechanism": "laplace"}):
        runs = [dataclasses.replace(s, **change) for s in (scenario, ABADI)]
        rough, fine = (answers.guarantee_at("pld", s, 40_000) for s in runs)
        assert 0 < rough.lower <= fine.epsilon and fine.lower <= rough.epsilon <= 1.1 * fine.epsilon


@pytest.mark.slow
def test_a_draft_of_shuffled_epochs_is_their_upper_end_without_the_lattice(monkeypatch):
    fine = dataclasses.replace(CHUA_RUN, noise_multiplier=2.0)
    whole, steps = answers.guarantee_at("pld", fine, 35_000), (1, 35_000)
    monkeypatch.setattr("dplearn.engine.lattice.Lattice.brackets", None)
    draft = dataclasses.replace(fine, draft=True)
    for t, end in zip(steps, answers.answer("pld", draft, steps).curve, strict=True):
        # One Gaussian an epoch (Balle & Wang 2018, Theorem 8).
        mu = math.sqrt(-(-t // 10_000)) / 2.0
        less, more = ndtr(mu / 2 - end.epsilon / mu), ndtr(-mu / 2 - end.epsilon / mu)
        assert less - math.exp(end.epsilon) * more == pytest.approx(1e-6, rel=1e-6)
        assert (end.kind, end.lower) == ("upper", 0.0)
    assert whole.lower < end.epsilon == pytest.approx(whole.epsilon, rel=1e-5)


def test_tables_read_the_vertical_line_and_judge_what_was_printed(untouched):
    published = traces(untouched)["published"]
    assert (10_000, 1.26) in zip(published["x"], published["y"], strict=True)
    numbers, printed = (table.value for table in untouched.table)
    assert "does not reproduce" in set(printed["Verdict"])
    rows = numbers.set_index("Accountant")
    pld, gdp = (
        rows.loc[f"{style_of(name).glyph} {accountants[name].title}"] for name in ("pld", "gdp")
    )
    assert float(pld["ε"]) == pytest.approx(0.947, abs=0.001)
    ends = certificate.both_ends(answers.guarantee_at("pld", ABADI, 10_000))
    assert ends.startswith("0.94686") and pld["Kind"].endswith(ends)
    (story,) = (line for line in words(untouched).splitlines() if line.startswith("After"))
    # One rounding in a sentence.
    assert story == "After **10\u202f000 steps** (100 epochs): **ε ≤ 0.9469** (PLD)."
    assert pld["Times the certified ε"] == "1 ×"
    assert gdp["ε"].startswith("≈") and gdp["Times the certified ε"] == "0.995 ×"
    assert gdp["Kind"] == "approximation, not a bound"
    assert (rows.index[0], rows.index[-1]) == (pld.name, gdp.name)
    markdown = "\n".join(m.value for m in untouched.markdown)
    assert "0.47\u00a0% below the certified ε" in markdown and "dp-accounting" not in markdown
    for law in accountants.values():
        assert all(str(x) in markdown for x in (law.statement, law.reference, law.explanation))


@each("noise", [1.1, 4.0, 30.0])
def test_certified_steps_are_certified_and_nearly_the_largest(noise):
    scenario = dataclasses.replace(ABADI, noise_multiplier=noise)
    step = PoissonSubsampled(Gaussian(noise), sample_rate=0.01)
    for name, budget in itertools.product(accountants, (0.5, 2.0, 20.0)):
        most = answers.certified_steps(name, scenario, budget)
        now, then = accountants[name]().epsilon_curve(
            step, delta=1e-5, steps=[most, math.ceil(most * 1.004) + 1]
        )
        assert now.epsilon <= budget * (1 + 1e-3 * (name == "pld")), (name, budget)
        assert then.epsilon > budget or most == scenario.largest, (name, budget)
    assert answers.certified_steps("pld", scenario, 10_000.0) == scenario.largest
    assert answers.certified_steps("zcdp", scenario, 0.001) == 0


@pytest.mark.slow
def test_presets_work_and_are_recognised():
    app = opened()
    for preset in presets.PRESETS:
        app = choose(app, "preset", preset.title)
        assert app.selectbox(key="choice_preset").value == preset.title
        assert not errors(app), preset.title
        assert len(traces(app)["PLD"]["y"]) > 1
        assert figure(again(app)) == figure(app), preset.title


DEEP = dict(
    parse_qsl(
        "noise_multiplier=1.3&rate_from=counts&dataset_size=50000&batch_size=500&delta=1e-6"
        "&length_in=epochs&epochs=20&here=1500&budget=3&accountants=gdp,pld,rdp"
        "&x_axis=linear&y_axis=linear"
    )
)


def test_an_address_reproduces_the_picture():
    app = opened(**DEEP)
    assert not errors(app)
    found = traces(app)
    names = ["certified", "PLD", "RDP", "GDP", "here", "within the budget", "published"]
    assert list(found) == names
    assert found["PLD"]["x"][-1] == 2000 and 1500 in found["PLD"]["x"]
    step = PoissonSubsampled(Gaussian(1.3), sample_rate=0.01)
    expected = accountants["rdp"]().epsilon(step, delta=1e-6, steps=2000).epsilon
    assert found["RDP"]["y"][-1] == pytest.approx(expected)
    assert figure(app)["layout"]["xaxis"]["type"] == "linear"
    assert {k: str(v) for k, v in app.query_params.items()} == DEEP


def test_what_is_entered_is_in_the_address_and_makes_a_run_ones_own():
    short = {"steps": "100", "here": "10"}
    app = choose(enter(opened(**short), "noise_multiplier", "2.5"), "mechanism", "laplace")
    assert app.query_params == {"noise_multiplier": "2.5", "mechanism": "laplace", **short}
    assert app.selectbox(key="choice_preset").value == presets.CUSTOM
    assert figure(again(app)) == figure(app)
    app = choose(opened(**short), "sampling", "none")
    expected = accountants["pld"]().epsilon(Gaussian(4.0), delta=1e-5, steps=100).epsilon
    assert not errors(app) and traces(app)["PLD"]["y"][-1] == pytest.approx(expected)
    assert all(box.key != "box_sample_rate" for box in app.text_input)
    assert "Where other tools" not in words(app)


@pytest.mark.slow
def test_curves_go_on_with_further_phases():
    app = opened(steps="1000", here="900", budget="1", accountants="rdp,pld")
    app = enter(app, "then", "2, 0.02, 50")
    assert not errors(app) and app.query_params["then"] == "2, 0.02, 50"
    first = DPSGD(noise_multiplier=4.0, sample_rate=0.01, steps=1000)
    last = DPSGD(noise_multiplier=2.0, sample_rate=0.02, steps=50)
    for name, label in (("rdp", "RDP"), ("pld", "PLD")):
        trace = traces(app)[label]
        assert trace["x"][-7:] == [900, 1000, 1010, 1020, 1030, 1040, 1050]
        for steps, plan in ((1050, Phases((first, last))), (1000, first), (900, first)):
            value = trace["y"][trace["x"].index(steps)]
            stated = plan.guarantee(name, delta=1e-5, steps=steps)
            assert value == pytest.approx(stated.epsilon, rel=1e-3)
    assert "then 2, 0.02, 50" in figure(app)["layout"]["title"]["subtitle"]["text"]
    assert downloads(app) == ["Data as CSV"]
    assert figure(again(app)) == figure(app)
    # What is no phase is said to be none; other noise has no phases.
    for wrong in ("2, 0.02", "2, 3, 50", "two"):
        (message,) = errors(enter(app, "then", wrong))
        assert message.startswith("Expected “Then σ, q, T” to be σ, q, T of each further phase")
    app = choose(enter(app, "then", ""), "mechanism", "laplace")
    assert all(box.key != "box_then" for box in app.text_input)
    assert traces(app)["RDP"]["x"][-1] == 1000


def test_a_batch_larger_than_the_dataset_is_refused_at_the_control():
    app = opened(rate_from="counts", dataset_size="1000", batch_size="600")
    app = enter(app, "batch_size", "2000")
    (message,) = errors(app)
    assert "“Expected batch B”" in message and "N = 1000" in message
    assert not errors(enter(app, "dataset_size", "2000"))
    (message,) = errors(enter(app, "dataset_size", "many"))
    assert message.startswith("Expected “Dataset size N”") and message.endswith("2000 is used.")
    assert app.text_input(key="box_dataset_size").value == "many"


def test_a_run_without_a_theorem_says_so_at_the_control():
    app = choose(opened(), "adjacency", "replace_one")
    (message,) = errors(app)
    assert "replace_one" in message and "Poisson" in message
    assert not app.get("plotly_chart")
    # One change that gives it a theorem is a click away, in the words of the controls.
    assert {b.label for b in app.button} >= {"Batches: Without replacement"}
    app = press(app, "Neighbours: Add or remove a record")
    assert not errors(app) and app.get("plotly_chart")
    app = opened(sampling="shuffled", adjacency="zero_out", mechanism="laplace")
    (message,) = errors(app)
    assert "shuffled batches with laplace noise" in message and "Gaussian" in message
    assert "Noise: Gaussian" in {b.label for b in app.button}


def test_settings_that_are_folded_away_are_not_sent_unless_one_is_wrong():
    for adjacency, boxes in (("add_remove", 1), ("replace_one", 4)):
        app = opened(adjacency=adjacency, accountants="gdp", steps="10", here="10")
        app.session_state["more"] = False
        assert len(app.run().selectbox) == boxes


@pytest.mark.slow
def test_changing_the_sampling_takes_the_adjacency_along():
    app = opened(steps="100", here="10", accountants="gdp,rdp,pld")
    app = choose(app, "sampling", "without_replacement")
    assert app.selectbox(key="choice_adjacency").value == "replace_one"
    assert not errors(app) and "GDP" not in traces(app)
    assert any(accountants["gdp"].title in c.value for c in app.caption)


def test_the_address_waits_until_a_slider_is_let_go(monkeypatch):
    kept: dict[str, str] = {}
    params = SimpleNamespace(to_dict=lambda: dict(kept), from_dict=kept.update)
    monkeypatch.setattr("dplearn.app.kit.state.st.query_params", params)
    state = fields.state()
    state.enter(state.fields["noise_multiplier"], "2")
    for state.moving in (True, False):
        save(state)
        assert kept == ({} if state.moving else {"noise_multiplier": "2"})


def test_what_a_browser_drew_is_compared_with_the_library_whatever_it_sends(caplog):
    given = answers.answers_of(ABADI, ("pld", "rdp", "gdp"), 10_000, 2.0)

    def drawn(**changes) -> dict:
        curves = {
            name: {"lower": [g.lower for g in curve], "upper": [g.epsilon for g in curve]}
            for name, curve in given.curves.items()
        }
        return {"steps": list(given.steps), "curves": curves | changes}

    def told(of) -> list[str]:
        return re.findall("drew .* at|read of .*[.]", "\n".join(live.disagreements(of, given)))

    pld, count = drawn()["curves"]["pld"], len(given.steps)
    assert told(drawn()) == []
    # Brackets that meet, and what is not drawn.
    wide = {"lower": [0.9 * e for e in pld["lower"]], "upper": [1.1 * e for e in pld["upper"]]}
    assert told(drawn(pld=wide)) == told(drawn(rdp={"lower": None, "upper": [None] * count})) == []
    below = {"lower": [0.9 * e for e in pld["lower"]], "upper": [0.99 * e for e in pld["lower"]]}
    assert told(drawn(pld=below)) == ["drew PLD at"]
    halved = {"lower": None, "upper": [0.5 * e for e in drawn()["curves"]["rdp"]["upper"]]}
    assert told(drawn(rdp=halved)) == ["drew RDP at"]
    for rubbish in (
        {"lower": 1, "upper": 2},
        {"lower": [], "upper": ["x"] * count},
        {},
        "no",
        None,
    ):
        assert told(drawn(gdp=rubbish)) == ["read of GDP."], rubbish
    for rubbish in ("no", 7, [], {"steps": [[]] * count, "curves": {}}):
        assert len(told(rubbish)) == 3
    state = fields.state()
    state.drawn = drawn(rdp=halved)
    live.confirm(state, given)
    assert "drew RDP" in caplog.text and "noise_multiplier=4.0" in caplog.text


@pytest.mark.slow
def test_what_is_proved_of_a_claim_stands_below_its_name_and_wide_ratios_are_at_most():
    for address, proved, finding in (
        ({"sampling": "random_allocation"}, "holds here", "RDP asks for up to"),
        (
            {"sampling": "shuffled", "adjacency": "zero_out"},
            "not decided here",
            "asks for up to 34 ×",
        ),
    ):
        app = opened(**address)
        assert note_of_claim(app) == proved and finding in title(app, 1)
        rows = app.table[0].value.set_index("Accountant")
        assert all(t.startswith("≤ ") for t in rows["Times the certified ε"])
        # The code draws the same words.
        assert proved in app.code[0].value
