"""The suite of certified values: its form, its proofs, and a runner that no tool can break."""

import ast
import fcntl
import json
import random
import re
import subprocess
import sys
from types import SimpleNamespace

import jsonschema
import pytest

from cases import ROOT, rows
from dplearn.engine.contour import worse_brackets
from dplearn.site import course

sys.path.append(str(ROOT / "conformance"))
import make
import run

FOLDER = make.HERE
SUITE = json.loads(make.FILE.read_text())
CASES = SUITE["cases"]
DRAWN = ("lower", "upper", "proved by", "P", "Q", "certificate", "id")


def asked(case):
    """The case as it is before it is judged."""
    return {name: value for name, value in case.items() if name not in DRAWN}


def test_the_file_is_what_its_schema_says_and_the_seed_draws():
    jsonschema.validate(SUITE, json.loads((FOLDER / "schema.json").read_text()))
    assert make.FILE.stat().st_size <= 10**6 and make.HEAD.items() <= SUITE.items()
    assert len(CASES) >= 2000 and len({case["id"] for case in CASES}) == len(CASES)
    assert all(0 <= float(case["lower"]) <= float(case["upper"]) for case in CASES)
    assert all("certificate" in case for case in CASES if case["family"] in make.CERTIFIED)
    candidates = make.candidates()
    assert all(asked(case) in candidates for case in CASES)  # in the same order


def test_values_of_mpmath_lie_between_the_ends():
    for row in rows("tests/golden/sampled_gaussian_epsilon.csv"):
        words, value = f"mpmath gives {row['value']}", float(row["value"])
        for case in (case for case in CASES if case["why"].endswith(words)):
            assert float(case["lower"]) <= value * (1 + 1e-11), case
            assert float(case["upper"]) >= value * (1 - 1e-11), case


@pytest.mark.parametrize("family", make.FAMILIES)
def test_a_sample_is_made_and_proved_again(family):
    mine = [case for case in CASES if case["family"] == family and case["T"] <= 3000]
    sample = random.Random(family).sample(mine, 4)
    assert make.prove(sample) == 0
    again = asked(sample[0])
    assert not make.judged(again) and again == {k: v for k, v in sample[0].items() if k != "id"}


@pytest.mark.parametrize("family", make.FAMILIES)
def test_a_spoilt_case_is_refused(family, monkeypatch):
    """An engine past the others, an oracle past the engines, and one engine alone."""
    mine = (case for case in CASES if case["family"] == family and float(case["lower"]) > 0.1)
    case = next(c for c in mine if 1 < c["T"] <= 100)
    ends, proof = make.engines(case)
    found = lambda ends, proof: monkeypatch.setattr(make, "engines", lambda case: (ends, proof))
    for by in (0.99, 1.01):
        beside = tuple(float(case[end]) * by for end in ("lower", "upper"))
        found(ends | {"other": beside}, proof)
        assert "the engines disagree" in make.judged(asked(case))
        moved = dict(zip(("lower", "upper"), map(repr, beside), strict=True))
        found({"other": beside}, proof and proof | moved)
        alone = make.judged(asked(case))
        assert alone == ("the oracle disagrees" if make.oracle(case) else "one engine alone")
        assert make.prove([case | moved]) == 1


def test_what_a_table_shows_is_an_upper_bound_between_its_entries():
    text = (FOLDER / "tables.md").read_text()
    assert text == make.tables(CASES)
    grid, entries = make.HEAD["tables"], {}
    for q, delta, body in re.findall(r"## q = (\S+), δ = (\S+)\n\n(.*?)\n\n", text, re.S):
        for row in body.splitlines()[2:]:
            steps, *ends = row.strip("| ").replace(",", "").split(" | ")
            for sigma, end in zip(grid["sigma"], ends, strict=True):
                value = float(end.replace("—", "inf"))
                entries[float(q), float(delta), float(sigma), int(steps)] = value
    assert len(entries) == 7 * 10 * 8
    for case in (case for case in CASES if case["why"] == "sheet"):
        shown = entries[tuple(float(case[name]) for name in ("q", "delta", "sigma", "T"))]
        assert 1 <= shown / float(case["upper"]) < 1.001
    rates, _, sizes, counts = (sorted(set(places)) for places in zip(*entries, strict=True))
    rng = random.Random(0)
    for _ in range(30):
        q, sigma, steps = rng.uniform(0.001, 0.1), rng.uniform(0.6, 5), rng.randint(100, 300_000)
        place = (
            *(min(rate for rate in rates if rate >= q), 1e-5),
            *(max(size for size in sizes if size <= sigma), min(t for t in counts if t >= steps)),
        )
        delta = rng.uniform(1e-5, 1e-4)
        lower = worse_brackets([steps], sigma=sigma, q=q, delta=delta)[0][0]
        assert lower <= entries[place], (place, sigma, q, steps)


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
    late = [case["why"] in ("drawn", "sheet") for case in order]
    assert late == sorted(late) and len(order) == len(CASES)
    assert len({case["family"] for case in order[:7]}) == 7
    slow = SimpleNamespace(start=lambda: None, close=lambda: None, answer=lambda case: 1.0)
    assert run.held(slow, order[:9], -1) == [] and len(run.held(slow, order[:9], 99)) == 9


def test_the_runner_needs_the_standard_library_of_python_39_alone():
    tree = ast.parse((FOLDER / "run.py").read_text(), feature_version=(3, 9))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {getattr(node, "module", alias.name) for node in imports for alias in node.names}
    assert names <= sys.stdlib_module_names and len(names) > 10


TOOL = """
import os, sys
def epsilon(case):
    sigma = case["sigma"]
    print("noise")
    if sigma == "2": raise NotImplementedError
    if sigma == "3": os._exit(1)
    if sigma == "4": return "between 1 and 2"
    return {"5": "nan", "6": "inf", "7": "0.5", "8": "1.5", "9": "1.1"}[sigma]
if __name__ == "__main__":
    sys.stdout = open(os.devnull, "w")
    try: answer = epsilon({"sigma": sys.argv[1]})
    except NotImplementedError: sys.exit(3)
    print("epsilon =", answer, file=sys.__stdout__)
"""
HANGS = """
import fcntl, subprocess, sys, time
if __name__ == "__main__":
    with open("lock", "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        time.sleep(20)
        file.write("not ended")
def epsilon(case):
    subprocess.run([sys.executable, __file__])
"""
WANTED = ["refused", "failed", "failed", "failed", "infinite", "unsound", "sound", "sound"]
HOW = [("--tool", f"{sys.executable} tool.py {{sigma}} {{T}} {{delta}}"), ("--module", "tool.py")]


@pytest.fixture
def ran(tmp_path):
    """Results of the runner, without a package on its path, for cases of sigma."""

    def result(text, *words, sigmas):
        case = {"family": "gaussian", "T": 1, "delta": "1e-5", "lower": "1", "upper": "1.2"}
        case |= {"why": "", "P": "", "Q": ""}
        cases = [case | {"id": str(sigma), "sigma": str(sigma)} for sigma in sigmas]
        (tmp_path / "suite.json").write_text(json.dumps({"version": "0", "cases": cases}))
        (tmp_path / "tool.py").write_text(text)
        command = [sys.executable, "-I", str(FOLDER / "run.py"), "--suite", "suite.json"]
        command += ["--out", "out", *words]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        (told,) = json.loads((tmp_path / "out.json").read_text()).values()
        return ended.stdout, {row["id"]: row for row in told}

    return result


@pytest.mark.parametrize("how", HOW)
def test_a_tool_that_breaks_or_lies_is_counted(ran, how):
    printed, told = ran(TOOL, "--limit", "600", *how, sigmas=range(2, 10))
    assert [told[str(sigma)]["verdict"] for sigma in range(2, 10)] == WANTED, told
    assert told["7"]["share"] == 0.5
    assert [told[sigma]["factor"] for sigma in "89"] == [1.25, 1]
    assert "| 0.5 |" in printed and "covers 7 of 8 cases" in printed


@pytest.mark.parametrize("how", HOW)
def test_a_tool_that_hangs_is_ended_with_all_that_it_started(ran, how, tmp_path):
    (tmp_path / "lock").write_text("")
    _, told = ran(HANGS, "--limit", "3", *how, sigmas=[1])
    assert told["1"]["why"] == "no answer in 3 s"
    with (tmp_path / "lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert file.read() == ""


def test_findings_quote_the_suite():
    """Every end that a page of a finding quotes is that of a case."""
    ends = {case["lower"]: case["upper"] for case in CASES}
    names = ("sigma", "q", "T", "delta")
    runs = {tuple(str(case.get(name)) for name in names): case for case in CASES}
    listed = re.findall(r"^- \[(.*)\]\(findings/(.*)\)$", (FOLDER / "README.md").read_text(), re.M)
    assert {name for _, name in listed} == {path.name for path in FOLDER.glob("findings/*")}
    for title, name in listed:
        text = (FOLDER / "findings" / name).read_text()
        assert text.startswith(f"# {title}\n")
        for low, high in re.findall(r"between ([\d.]+) and\s+([\d.]+\d)", text):
            assert ends[low] == high, name
    for row in text.splitlines()[6:]:
        _, *about, _, proved = row.strip("| ").split(" | ")
        case = runs[tuple(about)]
        assert proved == f"{case['lower']} to {case['upper']}"


def test_pages_are_the_folder_and_lead_to_each_other():
    pages = {page.path: page.text() for page in course.yardstick_pages(FOLDER)}
    assert len(pages) == len(list(FOLDER.rglob("*.md")))
    links = re.findall(r'href="([a-z_-]+\.html)"', pages["yardstick/index.html"])
    assert {f"yardstick/{link}" for link in links} | {"yardstick/index.html"} == pages.keys()
    assert pages["yardstick/tables.html"].count('<div class="sheet">') == 7
