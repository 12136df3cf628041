"""Numbers typed by a reader, and numbers in a request to the server."""

import json
import math
from pathlib import Path

import pytest

from dplearn.teaching import browser
from dplearn.teaching.explorer.kit import fields
from javascript import javascript

# Typed text and its number; NaN for text that is not a number.
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


def test_browser_parses_typed_numbers():
    page = browser.source("numbers", "page/numbers")
    with javascript(page) as call:
        theirs = call("(all) => all.map(numbers.read)", [*TYPED])
    for text, value, here in zip(TYPED, TYPED.values(), theirs, strict=True):
        assert here == pytest.approx(value, rel=1e-14, nan_ok=True), text


def test_browser_and_server_have_the_same_ranges():
    with javascript(browser.source("run", "page/run")) as call:
        theirs = call("() => run.FIELDS")
    for name, ends in fields.RANGES.items():
        assert theirs["T" if name == "steps" else name]["ends"] == list(ends), name


@pytest.mark.parametrize(
    ("run", "name"),
    [({"delta": 3}, "delta"), ({"noise_multiplier": "many"}, "noise_multiplier"), ({}, "steps"),
     ({"steps": 0.5}, "steps"), ({"steps": 10**9}, "steps"), ({"delta": math.nan}, "delta")],
)  # fmt: skip
def test_numbers_out_of_range_raise_value_error(run, name):
    with pytest.raises(ValueError, match=f"Expected {name} from "):
        fields.number(run, name)


def test_printed_values_of_presets_are_in_the_published_table():
    rows = (Path(__file__).parents[3] / "data" / "published.csv").read_text()
    presets = json.loads(json.dumps(browser.presets()))
    for preset in presets:
        assert f",{preset.get('printed', '')}," in rows, preset["title"]
    assert sum("printed" in preset for preset in presets) >= 4
