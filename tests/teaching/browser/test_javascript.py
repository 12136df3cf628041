"""Results of the JavaScript engine in node, compared with those of the Python engine."""

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

import golden
from cases import each, ran
from cases import golden as table
from dplearn.engine.contour import SampledGaussian
from dplearn.engine.contour.line import Line, Majorant
from dplearn.teaching import browser as engine
from dplearn.teaching.book.published import number
from javascript import javascript

# One worker of pytest runs all tests, so that results of all runs are computed once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("javascript")]

LINES = json.loads(golden.FILE.read_text())
# Relative rounding error of stored numbers, which have ten digits.
SLACK = 1e-9
ALL = """lines => lines.map(({run, steps, power, bounds}) => ({
  curves: dplearn.curves(run, steps, bounds ? {} : {accountants: ["pld"]}),
  power: power && dplearn.truePositiveRate(run, power[0], power[1]),
}))"""
RUN = {"noise_multiplier": 4.0, "sample_rate": 0.01, "delta": 1e-5, "adjacency": "add_remove"}
SCRIPTS = [engine.source()]
ENDS = "([run, steps]) => (c => [c.lower[0], c.upper[0]])(dplearn.curves(run, [steps]).pld)"


@pytest.fixture(scope="module")
def answers(evaluate):
    """Return the results of the JavaScript engine for all runs in the file."""
    return evaluate(ALL, LINES)


def test_brackets_of_epsilon_overlap_those_of_python_and_few_are_missing(answers):
    widths, missing = [], 0
    for line, answer in zip(LINES, answers, strict=True):
        pld = answer["curves"]["pld"]
        assert pld["kind"] == ("exact" if line["run"]["sample_rate"] == 1 else "bracket")
        for low, high, lower, upper in zip(*line["pld"], pld["lower"], pld["upper"], strict=True):
            if upper is None:
                missing += 1
                continue
            assert lower <= upper and lower <= high and low <= upper, line
            widths += [upper / lower - 1] if lower else []
    widths.sort()
    share = [widths[int(part * len(widths))] for part in (0.5, 0.95)]
    print(
        f"{len(widths)} brackets, {missing} missing, widths {share[0]:.1e}, {share[1]:.1e} (95 %)"
    )
    assert len(widths) > 0 and missing < 0.115 * len(widths)
    assert share[0] < 3.5e-9 and share[1] < 1e-5


def test_bounds_of_other_accountants_agree_with_python(answers):
    lines = [
        (line, a["curves"]) for line, a in zip(LINES, answers, strict=True) if "bounds" in line
    ]
    assert len(lines) == golden.RUNS / golden.CURVES
    for line, curves in lines:
        assert set(curves) == {*golden.BOUNDS, "pld"}
        for name, bounds in line["bounds"].items():
            for i, (bound, value) in enumerate(zip(bounds, curves[name]["upper"], strict=True)):
                close = value == bound or abs(value - bound) <= 1e-7 * bound
                assert close and value >= bound * (1 - SLACK), (name, line, value)
                assert value >= line["pld"][0][i] or name == "gdp"


def test_true_positive_rates_are_upper_bounds_close_to_those_of_python(answers):
    powers = [(x["power"], a["power"]) for x, a in zip(LINES, answers, strict=True) if "power" in x]
    assert all(low > 0.999999 for (*_, low, _), upper in powers if upper is None)
    assert all(low <= upper for (*_, low, _), upper in powers if upper is not None)
    excess = sorted(upper / line[-1] - 1 for line, upper in powers if upper is not None)
    # The excess is largest for two or three steps, where few brackets are narrow.
    assert excess[int(0.9 * len(excess))] < 0.01 and excess[len(excess) // 2] < 1e-6


def test_lower_bounds_on_epsilon_do_not_decrease_with_steps():
    """Widen the brackets beyond 150 steps: lower bounds must still not decrease with steps."""
    passage = "row.lower = held ? Math.max(lower, 0) : 0;"
    text = engine.source()
    assert text.count(passage) == 1
    wider = "row.lower = held ? Math.max(row.steps > 150 ? 0.95 * lower : lower, 0) : 0;"
    with javascript(text.replace(passage, wider)) as call:
        ends = call("run => dplearn.curves(run, [152, 150, 151]).pld", CASE)
    assert ends["lower"][0] == ends["lower"][1] == ends["lower"][2] <= min(ends["upper"])


def test_brackets_of_epsilon_are_narrow_and_contain_exact_values(evaluate):
    """The table of exact values was computed with mpmath, independently of both engines."""
    rows = [r for r in table("sampled_gaussian_epsilon") if number(r["sample_rate"]) < 1]
    for row in rows:
        sigma, rate, delta = (number(row[k]) for k in ("noise_multiplier", "sample_rate", "delta"))
        run = RUN | {"noise_multiplier": sigma, "sample_rate": rate, "delta": delta}
        lower, upper = evaluate(ENDS, [run, int(number(row["steps"]))])
        exact = number(row["value"])
        # Values of the table have `digits` digits, floating-point numbers about 16.
        doubt = exact * 10.0 ** (1 - min(int(row["digits"]), 16))
        assert lower <= exact + doubt and exact - doubt <= upper <= lower * (1 + 1e-6), row


def test_python_reproduces_the_stored_bounds_on_epsilon():
    """Only every eighth run is tested, because all runs take minutes."""
    for line in LINES[:: 2 * golden.CURVES]:
        run, steps = line["run"], line["steps"]
        for name in golden.BOUNDS:
            curve = golden.answers(name, run, steps)
            assert line["bounds"][name] == pytest.approx([g.epsilon for g in curve], rel=SLACK)
        lower, upper = golden.ends(golden.answers("pld", run, steps))
        assert all(low <= high for low, high in zip(lower, line["pld"][1], strict=True))
        assert all(low <= high for low, high in zip(line["pld"][0], upper, strict=True))


def test_stored_bounds_of_shuffled_batches_agree_with_the_library():
    stored, proved_now = engine.shuffled(), golden.shuffled()
    # The relative width of brackets is at most 1e-6.
    assert np.array(stored["claim"]) == pytest.approx(np.array(proved_now.pop("claim")), rel=1e-6)
    for result, own in ((stored, proved_now), (stored["before"], proved_now.pop("before"))):
        assert result["lower"] <= own["lower"] * (1 + 1e-9) and own["upper"] <= result["upper"] * (
            1 + 1e-9
        )
        assert result["lower"] > 0.999 * own["lower"] and result["upper"] < 1.001 * own["upper"]
    assert stored["run"] == proved_now["run"]
    assert stored["before"]["noise_multiplier"] == 4.0


def test_tiny_noise_gives_no_bracket_of_epsilon(evaluate):
    quiet = RUN | {"noise_multiplier": 0.02}
    curves = evaluate("run => dplearn.curves(run, [1, 10])", quiet)
    assert curves["pld"]["upper"][1] is None and curves["pld"]["lower"][1] is None


def test_four_steps_at_a_tiny_sample_rate_have_a_bracket_of_epsilon(evaluate):
    """Only the Chernoff bound proves the upper end for an added record."""
    rare = RUN | {"noise_multiplier": 2.55, "sample_rate": 0.000771, "delta": 1.2e-9}
    assert evaluate(ENDS, [rare, 4])[1] < 0.005


@each(
    "wrong, sentence",
    [
        ({"sample_rate": 1.5}, "Expected sample_rate in (0, 1], got 1.5."),
        ({"noise_multiplier": 0}, "Expected noise_multiplier > 0, got 0."),
        ({"delta": 1}, "Expected delta in (0, 1), got 1."),
        (
            {"adjacency": "near"},
            "Expected adjacency among add_remove,zero_out,replace_one, got near.",
        ),
    ],
)
def test_numbers_out_of_range_are_refused(evaluate, wrong, sentence):
    message = "run => { try { dplearn.curves(run, [1]) } catch (error) { return error.message } }"
    assert evaluate(message, RUN | wrong) == sentence


CASE = {"noise_multiplier": 2.0, "sample_rate": 0.05, "delta": 1e-6, "adjacency": "add_remove"}
# Replacements in the source by which brackets with any error bound and width are accepted.
ANYTHING = {
    "if (!(charges[1] + charges[2] <=": "if (charges[0] < 0 && !(0 <=",
    "both <= 1e-2": "both <= 1e300",
    "end.upper <= 1.1 * end.lower": "end.upper <= 1e300 * end.lower",
}
SHORT = {"+ 1, 8);": "+ 1, 4);"}
FREE_CUT = {
    "const truncation = this.logCut - this.line.tilt * epsilon": "const truncation = -Infinity"
}
FREE_ALIASES = {"return logAdd(above, below)": "return -Infinity"}
FREE_ROUNDING = {"return growth + ULP *": "return 0 *"}
SHARP = {"(draft ? 1e-3 : 1e-6)": "1e-13"}
EARLIER = "return { row, cutoff };"
PERIOD = "const period = table.period(plans, tilt);"


def bracket(changes, run, steps):
    """Return the bracket of epsilon after replacing passages in the engine's source."""
    text = engine.source()
    for passage, other in changes.items():
        assert text.count(passage) == 1, passage
        text = text.replace(passage, other)
    with javascript(text) as call:
        lower, upper = call(ENDS, [run, steps])
    assert lower is not None and upper < math.inf, "nothing was claimed"
    return lower, upper


@pytest.fixture(scope="module")
def unchanged():
    """Return the bracket of epsilon from the unchanged engine."""
    least, most = bracket({}, CASE, 400)
    assert most - least < 1e-7 * most
    return least, most


@each("part", [0.4, 0.35])
@each(
    "spoil, free",
    [
        (lambda part: {EARLIER: f"return {{ row, cutoff: {part} * cutoff }};"} | SHORT, FREE_CUT),
        (
            lambda part: {PERIOD: f"const period = {part} * table.period(plans, tilt);"},
            FREE_ALIASES,
        ),
    ],
)
def test_brackets_from_inaccurate_sums_are_wrong_without_error_bounds(unchanged, spoil, free, part):
    least, most = unchanged
    lower, upper = bracket(ANYTHING | spoil(part), CASE, 400)
    assert lower <= most and least <= upper
    lower, upper = bracket(ANYTHING | spoil(part) | free, CASE, 400)
    assert lower > most or upper < least


@each("side", ["remove", "add", "replace"])
def test_truncation_bounds_in_javascript_and_python_are_equal(side):
    """`tests/engine/test_rounding.py` compares the bound in Python with finer sums."""
    bound = Majorant(Line(SampledGaussian(1.3, 0.05, side), 6.0), 0.3)
    t = np.array([0.1, 3.0, 50.0, 300.0])
    errors = """([side, heights, t]) => {
      const one = new line.Line(new pair.Pair(1.3, 0.05, side), 6);
      return t.map(t => heights.map(phi => one._logError(phi, t)));
    }"""
    with javascript(engine.source("pair", "pair"), engine.source("line", "line")) as call:
        result = call(errors, [side, bound.phi[:, 0].tolist(), t.tolist()])
    np.testing.assert_allclose(result, bound.log_error(t[:, None]), rtol=1e-12)


def test_brackets_without_the_bound_on_rounding_errors_are_wrong():
    run, exact = (
        CASE | {"noise_multiplier": 1.1, "sample_rate": 256 / 60000, "delta": 1e-5},
        31.58672802390752,
    )
    lower, upper = bracket(SHARP, run, 10**6)
    assert lower <= exact <= upper
    lower, upper = bracket(SHARP | FREE_ROUNDING, run, 10**6)
    assert not lower <= exact <= upper


def test_order_of_adding_and_removing_a_record_does_not_change_brackets():
    """Considering addition before removal must not change the bracket."""
    swap = {'["remove", "add"]': '["add", "remove"]'}
    for steps in (10, 1000, 100_000):
        expected = bracket({}, CASE, steps)
        assert bracket(swap, CASE, steps) == pytest.approx(expected, rel=1e-6)


@each("unproved, open_", [([16], False), ([8, 16], True), ([10], False)])
def test_last_step_within_epsilon_budget_is_open_if_the_next_step_has_no_bound(unproved, open_):
    question = """unproved => worker.answering({ lastWhere: dplearn.lastWhere,
      curves: (_, [T]) => ({ pld: { upper: [unproved.includes(T) ? null : T] } }),
    })({ kind: "crossings", run: {}, budget: 7, names: ["pld"], limit: 100 })"""
    with javascript(engine.source(), engine.source("worker", "page/worker")) as call:
        assert call(question, unproved) == [{"name": "pld", "steps": 7, "open": open_}]


def test_javascript_passes_the_type_checker():
    """The TypeScript compiler, which npm installs, must find no error."""
    check = "tsc --project . && tsc --project page"
    compiler = ["exec", "--yes", "--package", "typescript@5.9.3", "--call", check]
    folder = Path(engine.__file__).parent
    done = ran("npm", *compiler, cwd=folder, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stdout
