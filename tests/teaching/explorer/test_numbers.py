"""Numbers that a reader types, and numbers of a question to the server."""

import json
import math
from pathlib import Path

import pytest

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import fields
from javascript import javascript

# What is typed, and the number that it is; NaN where it is none.
TYPED = {
    "0.01": 0.01, " 1e-2 ": 0.01, "1E-2": 0.01, "1/100": 0.01, "600 / 60000": 0.01, "1%": 0.01,
    "1.0 %": 0.01, "10^-2": 0.01, "10⁻²": 0.01, "1·10⁻²": 0.01, "10**-2": 0.01, "1×10^−2": 0.01,
    "1*10^-2": 0.01, "256/60000": 256 / 60_000, "256/60 000": 256 / 60_000, ".5": 0.5, "4.": 4,
    "10000": 1e4, "10,000": 1e4, "10 000": 1e4, "10\u202f000": 1e4, "10'000": 1e4, "10⁴": 1e4,
    "12,345,678": 12_345_678, "1,000.5": 1000.5, "2.5·10⁻⁶": 2.5e-6, "0.5 % ": 0.005, "-3": -3,
    "1,5": math.nan, "0,001": math.nan, "1,00": math.nan, "10,00": math.nan, "1,0000": math.nan,
    "0,500": math.nan, "1 1": math.nan, "1 0000": math.nan, "1,000 000": math.nan, "": math.nan,
    "abc": math.nan, "nan": math.nan, "NaN": math.nan, "Infinity": math.nan, "1e": math.nan,
    "1/0": math.nan, "1/2/3": math.nan, "5 %%": math.nan, "2 < 3": math.nan, "σ": math.nan,
    "<b>4</b>": math.nan, "１": math.nan, "0x10": math.nan, "1_000": math.nan, "++1": math.nan,
}  # fmt: skip


def test_the_browser_reads_what_is_typed():
    page = browser.source("numbers", "page/numbers")
    with javascript(page) as call:
        theirs = call("(all) => all.map(numbers.read)", [*TYPED])
    for text, value, here in zip(TYPED, TYPED.values(), theirs, strict=True):
        assert here == pytest.approx(value, rel=1e-14, nan_ok=True), text


def test_both_sides_have_the_same_ranges():
    with javascript(browser.source("run", "page/run")) as call:
        theirs = call("() => run.FIELDS")
    for name, ends in fields.RANGES.items():
        assert theirs["T" if name == "steps" else name]["ends"] == list(ends), name


@pytest.mark.parametrize(
    ("run", "name"),
    [({"delta": 3}, "delta"), ({"noise_multiplier": "many"}, "noise_multiplier"), ({}, "steps"),
     ({"steps": 0.5}, "steps"), ({"steps": 10**9}, "steps"), ({"delta": math.nan}, "delta")],
)  # fmt: skip
def test_a_number_out_of_its_range_is_refused_in_one_sentence(run, name):
    with pytest.raises(ValueError, match=f"Expected {name} from "):
        fields.number(run, name)


def test_figures_printed_beside_a_published_run_are_those_of_the_table():
    rows = (Path(__file__).parents[3] / "data" / "published.csv").read_text()
    presets = json.loads(json.dumps(browser.presets()))
    for preset in presets:
        assert f",{preset.get('printed', '')}," in rows, preset["title"]
    assert sum("printed" in preset for preset in presets) >= 4
