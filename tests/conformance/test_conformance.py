"""The suite of certified epsilons: its format, its proofs, and the runner that tests tools."""

import ast
import fcntl
import json
import math
import os
import random
import re
import subprocess
import sys

import jsonschema
import pytest

from cases import ROOT
from dplearn.core.guarantee import round_up
from dplearn.engine.contour import worse_brackets
from dplearn.teaching.classroom.html import from_markdown

sys.path.append(str(ROOT / "conformance"))
import make
import run

pytestmark = pytest.mark.slow

SUITE = json.loads(make.FILE.read_text())
CASES = SUITE["cases"]
RUNS = {
    tuple(case[place] for place in ("q", "delta", "sigma", "T")): case
    for case in CASES
    if case["family"] == "poisson_gaussian"
}


def candidate(case):
    """Return the parameters of a case, without its results."""
    found = ("lower", "upper", "proved by", "P", "Q", "certificate", "id")
    return {name: value for name, value in case.items() if name not in found}


def test_suite_matches_its_schema_and_has_the_cases_drawn_from_its_seed():
    jsonschema.validate(SUITE, json.loads((make.HERE / "schema.json").read_text()))
    assert make.FILE.stat().st_size <= 10**6 and make.HEAD.items() <= SUITE.items()
    assert len({case["id"] for case in CASES}) == len(CASES) == 2212
    # Cases of version 1.0 keep their numbers, so cases with replaced records come last.
    assert [case["family"].endswith("replace_one") for case in CASES] == [False] * 2076 + [
        True
    ] * 136
    candidates = make.candidates()
    assert all(candidate(case) in candidates for case in CASES)  # in the same order
    for case in CASES:
        lower, upper = float(case["lower"]), float(case["upper"])
        value = float(case["why"].split()[-1]) if "mpmath gives" in case["why"] else lower
        assert 0 <= lower <= value * (1 + 1e-11) and value * (1 - 1e-11) <= upper, case


@pytest.mark.parametrize("family", make.FAMILIES)
def test_cases_are_proved_again_and_altered_brackets_are_refused(family, monkeypatch, tmp_path):
    mine = [case for case in CASES if case["family"] == family and 1 < case["T"] <= 300]
    sample = random.Random(family).sample([c for c in mine if float(c["lower"]) > 0.1], 4)
    assert all(make.proved(case, tmp_path) for case in sample)
    # Cases with q T < 10 were proved by an integral that has since been removed.
    sample = [case for case in mine if float(case.get("q", 1)) * case["T"] >= 10]
    case = candidate(sample[0])
    ends, proof = make.engines(case)
    assert not make.judged(case) and {"id": sample[0]["id"]} | case == sample[0]
    for by in (0.99, 1.01):
        moved = {end: repr(float(case[end]) * by) for end in ("lower", "upper")}
        assert not make.proved(sample[0] | moved, tmp_path)
        beside = {"other": tuple(map(float, moved.values()))}
        monkeypatch.setattr(make, "engines", lambda _, found=ends | beside: (found, proof))
        assert "the engines disagree" in make.judged(candidate(case))
        monkeypatch.setattr(make, "engines", lambda _, found=beside: (found, {}))
        assert make.judged(candidate(case)) == ("no proof" if proof else "the oracle disagrees")


def test_epsilon_read_from_or_between_table_entries_is_an_upper_bound():
    text = (make.HERE / "tables.md").read_text()
    assert text == make.tables(CASES) and from_markdown(text).count('<div class="sheet">') == 7
    printed = {place: float(round_up(float(case["upper"]))) for place, case in RUNS.items()}
    grid, rng = make.HEAD["tables"], random.Random(0)
    for _ in range(30):
        q, sigma, steps = rng.uniform(0.001, 0.1), rng.uniform(0.6, 5), rng.randint(100, 300_000)
        rate = min((rate for rate, _ in grid["sheets"] if float(rate) >= q), key=float)
        size = max((size for size in grid["sigma"] if float(size) <= sigma), key=float)
        worse = rate, "1e-05", size, min(count for count in grid["T"] if count >= steps)
        low, _ = worse_brackets([steps], sigma=sigma, q=q, delta=rng.uniform(1e-5, 1e-4))
        assert low <= printed.get(worse, math.inf)
        # Interpolate exp(epsilon) linearly between two deltas.
        share, size, steps = rng.random(), rng.choice(grid["sigma"]), rng.choice(grid["T"])
        ends = [printed.get(("0.01", delta, size, steps), math.inf) for delta in ("1e-06", "1e-05")]
        line = share * math.exp(ends[0]) + (1 - share) * math.exp(ends[1])
        delta = share * 1e-6 + (1 - share) * 1e-5
        assert worse_brackets([steps], sigma=float(size), q=0.01, delta=delta)[0] <= math.log(line)


TOOL = """
import fcntl, os, subprocess, sys
def epsilon(case):
    print("noise")
    if case["sigma"] == "1":
        with open("lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            subprocess.run(["sh", "-c", "sleep 20; echo on >lock"], pass_fds=[file.fileno()])
    if case["sigma"] == "2": raise NotImplementedError
    if case["sigma"] == "3": os._exit(1)
    return ["between 1 and 2", "nan", "inf", "0.5", "1.5", "1.1"][int(case["sigma"]) - 4]
if __name__ == "__main__":
    sys.stdout = open(os.devnull, "w")
    try: print("epsilon =", epsilon({"sigma": sys.argv[1]}), file=sys.__stdout__)
    except NotImplementedError: sys.exit(3)
"""
WANTED = ["refused", "failed", "failed", "failed", "infinite", "unsound", "sound", "sound"]
COMMAND = f"{sys.executable} tool.py {{sigma}} {{T}} {{delta}}"


def case(sigma, **more):
    """Return a case whose bracket of epsilon is 1 to 1.2."""
    ends = {"id": str(sigma), "sigma": str(sigma), "lower": "1", "upper": "1.2"}
    return {"family": "gaussian", "T": 1, "delta": "1e-5"} | ends | more


@pytest.mark.parametrize(
    "load, name, other", [(run.command, COMMAND, "refused"), (run.imported, "tool.py", "sound")]
)
def test_failures_wrong_answers_and_hangs_of_tools_are_counted(
    load, name, other, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool.py").write_text(TOOL)
    # A command receives only the cases whose parameters it names.
    others = [case(9, family="poisson_gaussian", q="0.1"), case(9, family="discrete_gaussian")]
    rows = run.held(load, name, [*map(case, range(2, 10)), *others], 600, 600)
    assert [row["verdict"] for row in rows] == [*WANTED, other, other], rows
    assert [row.get("share") or row.get("factor") for row in rows[5:8]] == [0.5, 1.25, 1]
    line = "| my | gaussian | 8 of 8 | 2 | 1 | 1 | 1 | 3 | 1.125 | 1.25 | 0.5 | "
    text = run.markdown({"my": rows}, rows)
    finite = 3 if other == "refused" else 5  # infinite results do not count
    assert line in text and f"**my** answers {finite} of 10 cases with a finite number" in text
    assert run.held(load, name, [case(1)], 600, 3)[0]["why"] == "no answer in 3 s"
    with open("lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert os.path.getsize("lock") == 0


def test_unusable_tools_get_a_one_line_error_and_usable_tools_a_table(tmp_path):
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "no.py").write_text("def epsilon(case):\n    raise NotImplementedError\n")
    broken = {
        ("--tool", "true {sigma} {T} {delta} {eps}"): "got 'true {sigma} {T} {delta} {eps}'",
        ("--tool", "true {sigma} {T}"): "Expected {T}, {delta} and others of ['P', 'Q', 'T'",
        ("--tool", "no-such {T} {delta}"): "Expected a program, got 'no-such'",
        ("--module", "none.py"): "No module named 'none'",
        ("--module", "empty.py"): "module 'empty' has no attribute 'epsilon'",
    }
    command = [sys.executable, "-ISB", make.HERE / "run.py", "--module", "no.py", *sum(broken, ())]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    for why, line in zip(broken.values(), ended.stderr.splitlines(), strict=True):
        assert why in line
    assert f"**no.py** answers 0 of {len(CASES)} cases" in ended.stdout and ended.returncode == 1


def test_runner_is_valid_python_39_and_interleaves_families_of_cases():
    ast.parse((make.HERE / "run.py").read_text(), feature_version=(3, 9))
    order = run.ordered(CASES)
    assert sorted(case["id"] for case in order) == sorted(case["id"] for case in CASES)
    for family in make.FAMILIES:
        early = [case["why"] for case in order[:60] if case["family"] == family]
        assert {"drawn", "sheet"} & {*early} and {*early} - {"drawn", "sheet"}


def test_findings_quote_the_brackets_of_the_suite():
    """Each bracket that a finding quotes is the bracket of a case."""
    ends = {case["lower"]: case["upper"] for case in CASES}
    readme = (make.HERE / "README.md").read_text()
    listed = re.findall(r"^- \[(.*)\]\(findings/(.*)\)$", readme, re.M)
    assert {name for _, name in listed} == {path.name for path in make.HERE.glob("findings/*")}
    for title, name in listed:
        text = (make.HERE / "findings" / name).read_text()
        assert text.startswith(f"# {title}\n")
        for low, high in re.findall(r"between ([\d.]+) and\s+([\d.]+\d)", text):
            assert ends[low] == high, name
    for row in (make.HERE / "findings/printed.md").read_text().splitlines()[6:]:
        _, sigma, q, steps, delta, _, proved = row.strip("| ").split(" | ")
        case = RUNS[q, delta, sigma, int(steps)]
        assert proved == f"{case['lower']} to {case['upper']}"
