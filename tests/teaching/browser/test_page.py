"""Numbers and controls of the page of epsilon against steps, opened in Chromium."""

import json
import math
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from browsing import BROKEN, DRAWN, as_file, boxes_on_screens, dragged, moved_to, visits
from cases import each
from dplearn import ACCOUNTANTS, Gaussian, PoissonSubsampled
from dplearn.accountants.moments import RDP
from dplearn.teaching import browser
from dplearn.teaching.explorer.kit.accountants import accountants, style_sheet
from dplearn.teaching.figures.kit.template import style_of

pytestmark = DRAWN

PRINTED = [
    {"noise_multiplier": 4, "sample_rate": 0.01, "delta": 1e-5, "T": 10_000, "epsilon": 1.26}
    | {"source": "Abadi et al.", "value": "1.26", "accountant": "moments"}
]
ALL = tuple(ACCOUNTANTS)
# Runs with parameters at the ends of their ranges.
EXTREME = [
    dict(noise_multiplier=0.2, sample_rate=1, delta=1e-30, here=10_000_000, y_axis="log"),
    dict(noise_multiplier=1000, sample_rate=1e-7, delta=0.5, here=1),
    dict(noise_multiplier=0.3, sample_rate=1e-5, delta=1e-12, here=3),
    dict(noise_multiplier=1, sample_rate=1, adjacency="replace_one", here=10, budget=0.01),
]
# Text without the marks of interpolated values and of values not yet computed.
PROVED = re.compile("^[^≈…]*$")
# JavaScript that opens the details below the picture.
OPEN = "document.querySelector('.dp-more').open = true"
SIGMA, EPSILON = "b[data-drag=noise_multiplier]", ".dp-eps output"
# JavaScript that returns the run, its drawn bounds and the displayed epsilon.
STATE = """({run: page.run, ends: page.view.ends,
  head: document.querySelector('.dp-eps output').textContent})"""


def as_page(folder, more: str = ""):
    """Write the page to a file; `more` are additional mount options."""
    mount = f"""const {{ page }} = epsilonPage.mount(here, {{
      engine: dplearn, source: String(dplearnModule), presets: {json.dumps(browser.presets())},
      published: {json.dumps(PRINTED)}, accountants: {json.dumps(accountants())}, {more}
    }});"""
    scripts = browser.source() + browser.source("epsilonPage", "page/page")
    return as_file(folder, style_sheet("page/page"), scripts, mount)


def number(text: str) -> float:
    """Parse a number in the page's format."""
    plain = text.replace("\u202f", "").strip("↑≈◌ ")
    if "10" in plain and re.search("[⁰-⁹⁻]", plain):
        mantissa, _, power = plain.rpartition("10")
        raised = power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
        return float(mantissa.strip("·") or 1) * 10.0 ** int(raised)
    return float(plain)


@each(
    "run",
    [
        dict(noise_multiplier=4, sample_rate=0.01, delta=1e-5, here=10_000),
        dict(noise_multiplier=1.1, sample_rate=256 / 60_000, delta=1e-5, here=14_062),
        dict(noise_multiplier=0.7, sample_rate=0.02, delta=1e-6, here=5),
        dict(noise_multiplier=3, sample_rate=1, delta=1e-10, here=7),
        dict(noise_multiplier=8.5, sample_rate=0.15, delta=1e-8, here=2_000),
    ],
)
def test_page_shows_the_library_bounds(view, run):
    moved_to(view, **run, accountants=",".join(ALL))
    result = view.evaluate(STATE)
    step = PoissonSubsampled(Gaussian(run["noise_multiplier"]), run["sample_rate"])
    target = {"delta": run["delta"], "steps": run["here"]}
    for name in ALL:
        proved, end = ACCOUNTANTS[name]().epsilon(step, **target), result["ends"][name]
        if name == "pld":
            assert end["lower"] <= proved.epsilon and proved.lower <= end["upper"]
        else:
            assert end["upper"] == pytest.approx(proved.epsilon, rel=1e-6)
        written = number(view.locator(f".dp-value.dp-{name}").text_content())
        assert proved.lower <= written and proved.epsilon * (1 - 1e-6) <= written
        assert written <= 1.0101 * proved.epsilon
    assert number(result["head"]) == number(view.locator(".dp-value.dp-pld").text_content())
    assert not view.evaluate(BROKEN)


def test_epsilon_budget_gives_the_largest_proved_number_of_steps(view):
    moved_to(view, accountants="basic,moments,pld")
    expect(view.locator("[data-do=go]")).to_have_text(PROVED)
    step = PoissonSubsampled(Gaussian(4.0), 0.01)
    view.evaluate(OPEN)
    view.locator(".dp-more td").first.wait_for()
    cells = [cell.replace("\u202f", "") for cell in view.locator(".dp-more td").all_text_contents()]
    most_of = dict(zip(cells[::4], cells[2::4], strict=True))
    basic, moments, lasts = (int(most_of[name]) for name in ("Basic", "Moments", "PLD"))
    for name, most in (("pld", lasts), ("basic", basic), ("moments", moments)):
        within, beyond = (
            ACCOUNTANTS[name]().epsilon(step, delta=1e-5, steps=t) for t in (most, most + 1)
        )
        assert within.epsilon <= 2 < beyond.epsilon
    view.locator("[data-do=go]").click()
    view.wait_for_function(f"location.hash === '#here={lasts}'")


def test_red_dots_show_the_proved_true_positive_rate(view):
    moved_to(view)
    expect(view.locator(".dp-people.dp-stale")).to_have_count(0)
    step = PoissonSubsampled(Gaussian(4.0), 0.01)
    low, high = ACCOUNTANTS["pld"]().true_positive_rate(step, false_positive_rate=0.01, steps=10**4)
    rate = view.evaluate("page.true_positive_rate")
    assert low <= rate <= 1.0001 * high
    members, others = (float(n.text_content()) for n in view.locator("figcaption b").all())
    assert members >= 100 * low and others == 1
    # A fraction of a person is drawn as that fraction of a dot's area.
    red = view.evaluate(
        "[...document.querySelectorAll('.dp-members .dp-found')].map(n => +n.getAttribute('r'))"
    )
    assert sum((r / 3.7) ** 2 for r in red) == pytest.approx(100 * rate, rel=1e-2)


@each(
    "handle, by, name, key",
    [
        (SIGMA, (-60, 0), "noise_multiplier", "noise_multiplier"),
        (".dp-h-T .dp-pill", (-120, 0), "T", "here"),
        (".dp-h-budget .dp-pill", (0, -60), "budget", "budget"),
    ],
)
def test_dragging_updates_the_page_and_when_it_ends_the_address(view, handle, by, name, key):
    moved_to(view)
    before = view.evaluate(STATE)
    dragged(view, handle, by, held=True)
    view.wait_for_function(f"page.run.{name} !== {before['run'][name]} && !page.queued")
    held = view.evaluate(STATE)
    assert (held["head"] == before["head"]) == (name == "budget")
    assert number(held["head"]) >= held["ends"]["pld"]["lower"]
    assert view.evaluate("location.hash") == ""
    view.mouse.up()
    view.wait_for_function(f"location.hash.includes('{key}=')")
    value = view.evaluate(f"page.run.{name}")
    assert value == held["run"][name] and view.url.endswith(f"#{key}={value}")
    assert not view.evaluate(BROKEN)


@each("pull", [70, -40])
def test_dragging_the_curve_sets_the_noise_multiplier(view, pull):
    moved_to(view)
    grip, top = view.locator(".dp-grip").bounding_box(), view.locator(".dp-svg").bounding_box()
    dragged(view, ".dp-grip", (0, pull), held=True)
    to = grip["y"] + grip["height"] / 2 + pull - top["y"]
    aimed = view.evaluate("y => page.frame.atY(y)", to)
    view.mouse.up()
    view.wait_for_function("location.hash.includes('noise_multiplier')")
    now = view.evaluate(STATE)
    assert (now["run"]["noise_multiplier"] > 4) == (pull > 0)
    # The noise is rounded up, so epsilon exceeds the target at most by the search's tolerance.
    assert now["ends"]["pld"]["upper"] == pytest.approx(aimed, rel=0.02)


def test_keys_change_all_numbers_and_aria_values_are_correct(view):
    moved_to(view)
    for node in view.locator("[data-drag][tabindex]:visible").all():
        name = node.get_attribute("data-drag")
        ends = [node.get_attribute(f"aria-value{end}") for end in ("min", "now", "max")]
        assert all(re.fullmatch(r"\d+(\.\d+)?", end) for end in ends), (name, ends)
        node.focus()
        before = node.get_attribute("aria-valuetext")
        view.keyboard.press("ArrowDown")
        view.wait_for_function(
            "([name, old]) => document.querySelector(`[data-drag=${name}]`)"
            ".getAttribute('aria-valuetext') !== old",
            arg=[name, before],
        )
        if name not in ("curve", "sample_rate", "rate"):
            assert float(node.get_attribute("aria-valuetext")) == view.evaluate(f"page.run.{name}")
    assert view.evaluate("page.run.sample_rate") == pytest.approx(0.0099)


@each(
    "drag, typed, value, message",
    [
        ("sample_rate", "256/60000", 256 / 60000, ""),
        ("delta", "2·10⁻⁶", 2e-6, ""),
        ("T", "12,000", 12000, ""),
        ("noise_multiplier", "1,5", None, "sigma is a number from 0.2 to 1000, with a point"),
        ("sample_rate", "1/0", None, "100"),
        ("T", "1.5", None, "a whole number from 1 to 10"),
    ],
)
def test_typed_numbers_are_accepted_and_invalid_ones_get_a_message(
    view, drag, typed, value, message
):
    moved_to(view)
    before = view.evaluate(f"page.run.{drag}")
    box, alert = view.locator(f"b[data-drag={drag}] input"), view.get_by_role("alert")
    view.locator(f"b[data-drag={drag}]").press("Enter")
    view.keyboard.press("Control+a")
    view.keyboard.type(typed)
    view.keyboard.press("Enter")
    if message:
        expect(alert).to_contain_text(message)
        expect(box).to_have_value(typed)
        view.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(alert).to_have_count(0)
    assert view.evaluate(f"page.run.{drag}") == pytest.approx(value or before, rel=1e-15)


def test_back_button_undoes_one_change(open_page):
    view = open_page()
    view.wait_for_timeout(200)
    for value in (4.1, 4.2):
        view.locator(SIGMA).press("ArrowUp")
        view.wait_for_function(f"location.hash === '#noise_multiplier={value}'")
    for value in (4.1, 4):
        view.go_back()
        view.wait_for_function(f"page.run.noise_multiplier === {value}")
    view.go_forward()
    view.wait_for_function("page.run.noise_multiplier === 4.1")


def test_address_restores_the_page_and_lists_its_invalid_fields(open_page, view):
    first, run = view, {"noise_multiplier": 2, "dataset_size": 1438, "batch_size": 512}
    run |= {"rate_from": "counts", "delta": 1e-4, "steps": 1000, "here": 80}
    moved_to(first, **run, accountants="rdp,pld", y_axis="log")
    first.locator("[data-do=pin]").click()
    first.locator("b[data-drag=T]").press("ArrowUp")
    # The pinned run keeps its steps and its epsilon.
    expect(first.locator("p.dp-pinned")).to_contain_text(re.compile(r"the pinned 7\.41 \(T 80\)"))
    first.wait_for_function("location.hash.includes('pinned')")
    view = open_page(**dict(parse_qsl(urlsplit(first.url).fragment)))
    for page in (first, view):
        expect(page.locator("[data-do=go]")).to_have_text(PROVED)
    for part in (".dp-sentence", ".dp-answer", ".dp-budget"):
        expect(view.locator(part)).to_have_text(first.locator(part).text_content())
    assert view.evaluate("page.run.B / page.run.N === page.run.sample_rate && page.run.T === 81")
    moved_to(first, mechanism="laplace", noise_multiplier="x", sample_rate=7)
    for part in ("mechanism=laplace", "noise_multiplier=x", "=7"):
        expect(first.locator(".dp-unread")).to_contain_text(part)


@pytest.mark.thorough
def test_all_values_fit_small_screens_in_both_languages(open_page):
    view = open_page(accountants=",".join(ALL))
    for boxes in boxes_on_screens(view, ".dp-value"):
        assert len(boxes) == len(ALL)


def test_published_value_is_marked_on_the_curve_of_its_run(view):
    moved_to(view)
    expect(view.locator(".dp-ringname")).to_have_text(["◎ 1.26"])
    view.get_by_text("Printed: ◎ 1.26, T = 10").wait_for()
    view.locator("select[name=preset]").select_option(label="De et al. 2022, CIFAR-10")
    view.wait_for_function(
        "[page.run.noise_multiplier, page.run.B, page.run.T].join() === '10,4096,875'"
    )
    expect(view.locator(".dp-ring")).to_have_count(0)
    view.get_by_text("Printed: 1. Proved here: 0.903").wait_for()
    chosen = "document.querySelector('select[name=preset]').selectedOptions[0].text"
    assert view.evaluate(chosen) == "De et al. 2022, CIFAR-10"
    view.locator(SIGMA).press("ArrowUp")
    view.wait_for_function(f"{chosen} === 'Published runs'")


@each("run", EXTREME)
def test_extreme_runs_show_valid_numbers(view, run):
    moved_to(view, **run, accountants=",".join(ALL))
    view.locator(SIGMA).press("ArrowUp")
    view.wait_for_function("!page.queued")
    assert not view.evaluate(BROKEN)
    expect(view.locator(EPSILON)).not_to_have_text("")
    # The first sentence states the adjacency.
    who = "Replacing" if run.get("adjacency") == "replace_one" else "Adding"
    expect(view.locator("p.dp-plain")).to_contain_text(f"{who} one person's record")


@dataclass(frozen=True)
class OrderTwo(RDP):
    """Registered accountant that the browser's engine does not have."""

    name = "order_two"


def chips(view) -> list[str]:
    return view.evaluate("[...document.querySelectorAll('[data-chip]')].map(n => n.dataset.chip)")


def test_each_accountant_has_a_button_and_the_server_answers_for_an_added_one(
    browser, view, tmp_path, monkeypatch
):
    assert sorted(chips(view)) == sorted(ACCOUNTANTS)
    monkeypatch.setitem(ACCOUNTANTS, OrderTwo.name, OrderTwo)
    page = as_page(tmp_path, "send: (question) => { window.question = question; }")
    with visits(browser) as visit:
        view = visit(page.as_uri(), ".dp[data-drawn]")
        assert sorted(chips(view)) == sorted(ACCOUNTANTS)
        view.locator("[data-chip=order_two]").click()
        assert view.wait_for_function("window.question").json_value()["shown"][-1] == "order_two"
        answer = "{...question, steps: [1, 1e7], of: {order_two: {lower: null, upper: [1, 2]}}}"
        view.evaluate(f"page.server.take({answer})")
        line = view.locator(".dp-line.dp-order_two[d^=M]")
        red, green, blue = (int(style_of("order_two").colour[i : i + 2], 16) for i in (1, 3, 5))
        expect(line).to_have_css("stroke", f"rgb({red}, {green}, {blue})")


def test_epsilon_budget_gives_the_smallest_noise_multiplier(view):
    view.evaluate(OPEN)
    moved_to(view, here=777, budget=1.5)
    view.locator("[data-do=noise_multiplier]").click()
    view.wait_for_function("Math.abs(page.view.ends.pld.upper - 1.5) < 0.02")
    sigma = view.evaluate("page.run.noise_multiplier")
    for factor, within in ((1, True), (0.984, False)):
        step = PoissonSubsampled(Gaussian(factor * sigma), 0.01)
        assert (step.guarantee(delta=1e-5, steps=777).epsilon <= 1.5) == within


def test_button_copies_python_code(view):
    moved_to(view)
    view.evaluate(OPEN)
    view.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    view.locator("[data-do=python]").click()
    code = view.wait_for_function("window.copied").json_value()
    assert "DPSGD(noise_multiplier=4, sample_rate=0.01, steps=10000)" in code


def test_interpolated_server_curves_are_bounds(open_page):
    """Epsilon is monotone in steps. Until the server answers, the page shows no bound."""
    view = open_page(here=50)
    view.evaluate("page.server.send = (question) => { window.question = question; }")
    view.evaluate("page.run = {...page.run, mechanism: 'laplace'}; page.schedule()")
    question = view.wait_for_function("window.question").json_value()
    view.wait_for_function("!page.queued")
    assert question["run"]["mechanism"] == "laplace"
    empty = (".dp-plain", ".dp-claimed", ".dp-pinned", ".dp-printed-list", ".dp-note")
    assert {view.locator(part).first.text_content() for part in empty} == {""}
    words = (EPSILON, ".dp-finds", "[data-do=go]")
    assert {view.locator(part).text_content() for part in words} == {"…"}
    ends = {"lower": [0.9, 1.9, 2.9], "upper": [1.0, 2.0, 3.0]}
    answer = {"kind": "curves", "steps": [1, 10, 100], "of": {"pld": ends}, "draft": False}
    view.evaluate("answer => page.server.take(answer)", answer | question)
    for steps, lower, upper in ((10, 1.9, 2), (50, 1.9, 3), (100, 2.9, 3)):
        result = view.evaluate("T => page.server.at(page.run, T).pld", steps)
        assert result == {"lower": lower, "upper": upper}
    view.wait_for_function("page.true_positive_rate > 0.1")
    # Upper bounds by both inequalities of (epsilon, delta)-DP, at 1 % false alarms.
    both = (math.exp(3) * 0.01 + 1e-5, 1 - math.exp(-3) * (1 - 1e-5 - 0.01))
    assert view.evaluate("page.true_positive_rate") == pytest.approx(min(both))


def test_library_confirms_corrects_or_completes_the_drawn_bracket(view):
    def answered(run: dict, **answer) -> dict:
        """Send `answer` as the library's reply about a run, and return the page's question."""
        moved_to(view, **run)
        view.evaluate("""() => {
          page.server.send = (question) => { window.question = question; };
          page.askLibrary("confirm");
        }""")
        question = view.evaluate("window.question")
        answer |= {"T": question["run"]["here"]}
        view.evaluate("answer => page.update({answer, kinds: page.kinds})", question | answer)
        return question

    question, proof = answered({}, agrees=True, lower=0.94, upper=0.95), view.locator(".dp-proof")
    assert question["lower"] < 0.94687 < 1.0001 * question["upper"]
    expect(proof).to_contain_text("confirmed by the Python library")
    expect(view.locator(EPSILON)).to_have_text("0.947")
    answered({"here": 9000}, agrees=False, lower=0.47, upper=0.474)
    expect(proof).to_contain_text("The library says 0.47 ≤ ε ≤ 0.474")
    expect(view.locator(EPSILON)).to_have_text("0.474")
    left = {"noise_multiplier": 0.3, "sample_rate": 1e-5, "delta": 1e-12, "here": 3}
    assert "upper" not in answered(left, lower=11.4, upper=11.5)
    expect(view.locator(EPSILON)).to_have_text("11.5")
    expect(proof).to_contain_text("confirmed by the Python library")
    view.evaluate("page.server.send = null")
