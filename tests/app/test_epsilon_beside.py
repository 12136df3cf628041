"""Beside the run in view: one that is pinned, settings that meet a budget, a word of caution."""

import itertools

import pytest
from scenarios import ABADI

from cases import each
from dplearn.accountants import accountants
from dplearn.app.pages.epsilon_vs_steps import answers, present
from dplearn.figures import style_of
from dplearn.mechanisms import Gaussian, PoissonSubsampled
from explorer import again, enter, errors, figure, opened, press, traces, words


@pytest.mark.slow
def test_a_pinned_run_stays_in_the_picture_and_is_compared():
    app = opened(accountants="rdp,pld", steps="1000", here="900")
    before = traces(app)
    app = press(app, "Pin to compare")
    assert traces(app)["RDP, pinned"]["y"] == before["RDP"]["y"]
    app = enter(app, "noise_multiplier", "2")
    now, kept = traces(app)["RDP"], traces(app)["RDP, pinned"]
    assert kept["y"] == before["RDP"]["y"] and kept["x"] == before["RDP"]["x"]
    rows = app.table[0].value.set_index("Accountant")
    row = rows.loc[f"{style_of('rdp').glyph} {accountants['rdp'].title}"]
    place = now["x"].index(900)
    assert float(row["ε pinned, at T = 900"]) == pytest.approx(kept["y"][place], rel=1e-3)
    assert float(row["ε in view, at T = 900"]) == pytest.approx(now["y"][place], rel=1e-3)
    assert float(row["in view ÷ pinned"].split()[0]) == pytest.approx(
        now["y"][place] / kept["y"][place], rel=5e-3
    )
    assert figure(again(app)) == figure(app)
    # Another length: each is read where it ends. Rubbish pins the default run.
    app = enter(app, "steps", "5000")
    app = enter(app, "here", "4000")
    assert traces(app)["RDP, pinned"]["x"][-1] == 1000 and traces(app)["RDP"]["x"][-1] == 5000
    assert "ε pinned, at T = 1\u202f000" in app.table[0].value
    assert not errors(opened(pinned="delta=-1&<b>", accountants="rdp"))
    app = press(app, "Unpin")
    assert "RDP, pinned" not in traces(app) and "pinned" not in app.query_params


@pytest.mark.slow
@each("symbol, field, worse", [("σ", "noise_multiplier", 0.998), ("q", "sample_rate", 1.002)])
def test_a_budget_is_met_by_the_least_noise_or_the_largest_rate(symbol, field, worse):
    app = opened(accountants="rdp,pld", here="777", budget="1.5", rate_from="counts")
    app = press(app, symbol)
    assert not errors(app)
    run = {"noise_multiplier": 4.0, "sample_rate": 0.01}
    run[field] = float(app.text_input(key=f"box_{field}").value)
    for factor, within in ((1, True), (worse, False)):
        changed = run | {field: factor * run[field]}
        step = PoissonSubsampled(Gaussian(changed["noise_multiplier"]), changed["sample_rate"])
        spent = accountants["pld"]().epsilon(step, delta=1e-5, steps=777).epsilon
        assert (spent <= 1.5) == within
    assert "777 steps" in words(app) and traces(app)["PLD"]["x"][-1] == 40_000


@pytest.mark.slow
def test_a_budget_is_met_by_the_most_steps_or_it_is_said_why_not():
    app = press(opened(accountants="pld", steps="100", here="10", length_in="epochs"), "T")
    most = int(app.text_input(key="box_here").value)
    step = PoissonSubsampled(Gaussian(4.0), sample_rate=0.01)
    spent = accountants["pld"]().epsilon_curve(step, delta=1e-5, steps=[most, most + 1])
    assert spent[0].epsilon <= 2.0 < spent[1].epsilon
    assert all(button.label != "σ" for button in opened(then="2,0.1,50", steps="50").button)
    # What no field holds is said at the field.
    app = opened(accountants="pld", sampling="none", noise_multiplier="0.3", budget="0.01")
    assert app.button(key="meet_q").disabled
    told = {
        "σ": "Expected “Noise multiplier σ” to be a",
        "T": "No value of “You are here: T” meets",
    }
    for symbol, sentence in told.items():
        assert sentence in "\n".join(errors(press(app, symbol)))


def test_a_presentation_tells_each_curve_once_after_the_truth():
    given = answers.answers_of(ABADI, ("pld", "rdp", "gdp", "basic"), 10_000, 2.0)
    told = present.scenes(given)
    names = ["what", "guess", "truth", "rdp", "basic", "gdp", "attack", "code"]
    assert [scene["name"] for scene in told] == names
    # One more curve at a time, the tightest first, the approximation last.
    assert [scene["shows"][-1:] for scene in told[2:6]] == [["pld"], ["rdp"], ["basic"], ["gdp"]]
    assert all({*a["shows"]} <= {*b["shows"]} for a, b in itertools.pairwise(told))
    assert "1.094 × the certified ε" in told[3]["words"] and "ε\u00a0~" not in told[5]["words"]


@pytest.mark.slow
def test_a_promise_that_is_worth_little_says_so():
    delta, epsilon = "is no less than 1/N", "rules next to nothing out"
    small = {"rate_from": "counts", "dataset_size": "1000", "batch_size": "10"}
    for address, told in (
        ({}, ()),
        ({"delta": "0.01"}, ()),  # Nobody said how many records there are.
        (small | {"delta": "9e-4"}, ()),
        (small | {"delta": "0.001"}, (delta,)),
        ({"noise_multiplier": "0.2"}, (epsilon,)),
        (small | {"delta": "0.001", "noise_multiplier": "0.2"}, (delta, epsilon)),
    ):
        shown = words(opened(accountants="rdp", **address))
        assert tuple(part for part in (delta, epsilon) if part in shown) == told, address
