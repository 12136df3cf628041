"""The suite of certified values: its form, its proofs, and a runner that no tool can break."""

import itertools
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cases import ROOT, rows
from dplearn.site import yardstick

sys.path.append(str(ROOT / "conformance"))
import make
import run

SUITE = json.loads(make.FILE.read_text())
CASES = SUITE["cases"]


def test_the_file_is_what_its_schema_says():
    schema = json.loads((ROOT / "conformance/schema.json").read_text())
    about = schema["$defs"]["case"]
    number = re.compile(schema["$defs"]["number"]["pattern"])
    assert make.FILE.stat().st_size <= 10**6 and SUITE.keys() >= set(schema["required"])
    assert len(CASES) >= 1900 and len({case["id"] for case in CASES}) == len(CASES)
    for case in CASES:
        assert set(about["required"]) <= case.keys() <= about["properties"].keys()
        assert all(
            number.match(v) for k, v in case.items() if "number" in str(about["properties"][k])
        )
        assert 0 <= float(case["lower"]) <= float(case["upper"]) and 0 < float(case["delta"]) < 1
        assert len(case["proved by"]) >= 2 and case["T"] >= 1, case
        # The laws are written with the case's own parameters.
        assert all(case.get(name, "") in case["P"] for name in ("sigma", "b", "epsilon0", "q"))


def test_cases_with_a_form_of_proof_have_one():
    proved = [case for case in CASES if case["family"] in make._PROVED]
    assert all("certificate" in case for case in proved) and len(proved) > 1000


@pytest.mark.parametrize("family", make.LAWS)
def test_a_sample_is_proved_again(family):
    mine = [case for case in CASES if case["family"] == family and case["T"] <= 5000]
    assert make.prove(random.Random(family).sample(mine, 6)) == 0


def test_a_case_that_is_not_true_is_not_proved():
    case = next(case for case in CASES if "certificate" in case)
    low, high = (f"{float(case['upper']) * by:.12g}" for by in (1.001, 1.002))
    assert make.prove([case | {"lower": low, "upper": high}]) == 1


@pytest.mark.parametrize("family", make.LAWS)
def test_an_oracle_sees_ends_past_the_truth(family):
    """Both ends above it, and both below, are refused: the oracle alone decides."""
    mine = [case for case in CASES if case["family"] == family and "oracle" in case["proved by"]]
    case = next(c for c in mine if c["T"] <= 100 and float(c["lower"]) > 0.1)
    delta = make.oracle(case)
    assert make.agrees(case, delta)
    for by in (0.99, 1.01):
        moved = {end: repr(float(case[end]) * by) for end in ("lower", "upper")}
        assert not make.agrees(case | moved, delta)


def test_a_command_is_asked_of_what_it_names():
    one = run.command(f"{sys.executable} -c 'print(2);raise SystemExit({{T}})' {{sigma}} {{delta}}")
    case = {"family": "gaussian", "sigma": "1", "T": 0, "delta": "1e-5"}
    assert one(case) == 2
    with pytest.raises(ValueError, match="exit status 1"):
        one(case | {"T": 1})
    for other in ({"q": "0.1"}, {"family": "discrete_gaussian"}):
        with pytest.raises(NotImplementedError):
            one(case | other)


def test_cases_picked_by_hand_come_first_and_time_ends():
    order = run.ordered(CASES)
    late = [case["why"] == "drawn" or case["why"].startswith("sheet") for case in order]
    assert late == sorted(late) and len(order) == len(CASES)
    assert len({case["family"] for case in order[:7]}) == 7
    slow = SimpleNamespace(start=lambda: None, close=lambda: None, ask=lambda case: 1.0)
    assert run.asked(slow, order[:9], -1) == [] and len(run.asked(slow, order[:9], 99)) == 9


def test_the_printed_tables_are_monotone():
    sheets = [case for case in CASES if case["family"] == "poisson_gaussian"]
    for one, other in itertools.permutations(sheets[:700], 2):
        less = all(float(one[k]) <= float(other[k]) for k in ("T", "q"))
        if less and all(float(one[k]) >= float(other[k]) for k in ("sigma", "delta")):
            assert float(one["lower"]) <= float(other["upper"]), (one["id"], other["id"])


def test_values_of_mpmath_lie_between_the_ends():
    for row in rows("tests/golden/sampled_gaussian_epsilon.csv"):
        words = f"tests/golden: a contour integral in mpmath gives {row['value']}"
        for case in (case for case in CASES if case["why"] == words):
            assert float(case["lower"]) <= float(row["value"]) * (1 + 1e-11), case
            assert float(case["upper"]) >= float(row["value"]) * (1 - 1e-11), case


TOOL = """
import sys, time
sigma = float(sys.argv[1])
if sigma == 1: time.sleep(99)
if sigma == 2: sys.exit(3)
if sigma == 3: sys.exit("broken")
if sigma == 4: print("between 1 and 2")
if sigma == 5: print("nan")
if sigma == 6: print("inf")
if sigma == 7: print("epsilon = 0.5")
if sigma == 8: print("epsilon = 1.5 ")
if sigma == 9: print("1.1")
"""
WANTED = ["failed", "refused", "failed", "failed", "failed", "infinite", "unsound", "sound"]
WANTED += ["sound"]


def test_a_tool_that_hangs_or_lies_is_counted(tmp_path):
    """Without a package on the path: the runner needs the standard library alone."""
    case = {"family": "gaussian", "T": 1, "delta": "1e-5", "lower": "1", "upper": "1.2"}
    cases = [
        case | {"id": f"g-{i}", "sigma": str(i), "why": "", "P": "", "Q": ""} for i in range(1, 10)
    ]
    (tmp_path / "suite.json").write_text(json.dumps({"version": "0", "cases": cases}))
    (tmp_path / "tool.py").write_text(TOOL)
    (tmp_path / "module.py").write_text(
        "import os\ndef epsilon(case):\n    s = case['sigma']\n"
        "    if s == '2': raise NotImplementedError\n    if s in '45': return float('nan')\n"
        "    if s == '1': os._exit(1)\n    print('noise')\n"
        "    return {'6': float('inf'), '7': .5, '8': 1.5, '9': 1.1}[s]\n"
    )
    command = [sys.executable, "-I", str(ROOT / "conformance/run.py"), "--limit", "2"]
    command += ["--suite", str(tmp_path / "suite.json"), "--out", str(tmp_path / "out")]
    asked = f"{sys.executable} {tmp_path / 'tool.py'} {{sigma}} {{T}} {{delta}}"
    for how in (["--tool", asked], ["--module", str(tmp_path / "module.py")]):
        ended = subprocess.run([*command, *how], capture_output=True, text=True, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        (told,) = json.loads((tmp_path / "out.json").read_text()).values()
        verdicts = {row["id"]: row["verdict"] for row in told}
        assert [verdicts[f"g-{i}"] for i in range(1, 10)] == WANTED, told
        rows = {row["id"]: row for row in told}
        assert rows["g-7"]["share"] == 0.5 and rows["g-1"]["seconds"] < 50
        assert [rows[f"g-{i}"]["factor"] for i in (8, 9)] == [1.25, 1]
        assert "| 0.5 |" in ended.stdout and "covers 8 of 9 cases" in ended.stdout


def test_findings_quote_the_suite():
    """Every end that a page of a finding quotes is that of a case."""
    ends = {case[end] for case in CASES for end in ("lower", "upper")}
    for path in Path(make.HERE, "findings").glob("*.md"):
        for low, high in re.findall(r"between ([\d.]+) and\s+([\d.]+\d)", path.read_text()):
            assert {low, high} <= ends, path


def test_pages_show_no_less_than_is_proved():
    pages = {page.path: page.text() for page in yardstick.pages(ROOT)}
    assert len(pages) == 2 + len(list((ROOT / "conformance/findings").glob("*.md")))
    assert "74.9085; proved: 2.24" in pages["yardstick/index.html"]
    body = pages["yardstick/tables.html"]
    assert body.count("<section") == len(make.SHEETS)
    for case in (case for case in CASES if case["why"].startswith("sheet")):
        shown = yardstick.rounded_up(case["upper"])
        assert f"<td>{shown}</td>" in body and float(shown) >= float(case["upper"])
    for link in re.findall(r'href="([a-z_-]+\.html)"', pages["yardstick/index.html"]):
        assert f"yardstick/{link}" in pages
