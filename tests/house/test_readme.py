"""README and CONTRIBUTING: examples run, and links and names exist."""

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dp_accounting import GaussianDpEvent, NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from test_floors import FLOOR

from cases import ROOT, clean_environment
from dplearn import ACCOUNTANTS, DPSGD, Gaussian
from dplearn.__main__ import main
from dplearn.core.guarantee import round_down, round_up
from dplearn.teaching.classroom import sources

README = (ROOT / "README.md").read_text()
# Folders with a README of their own.
ROOMS = sorted((ROOT / "dplearn").rglob("README.md"))


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language in all READMEs."""
    pages = "\n".join([README, *(page.read_text() for page in ROOMS)])
    fences = re.findall(r"^```(\w*)\n(.*?)^```", pages, flags=re.S | re.M)
    return [text for name, text in fences if name == language]


EXAMPLES = [
    pytest.param(*pair, marks=pytest.mark.slow if re.search(r"fit\(|Shuffled", pair[0]) else ())
    for pair in zip(blocks("python"), blocks("text"), strict=True)
]


@pytest.mark.parametrize("code, shown", EXAMPLES)
def test_example_code_in_the_readme_prints_the_output_shown(code, shown):
    assert len([line for line in code.splitlines() if line.strip()]) <= 14
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == shown


def test_the_first_table_of_the_readme_states_the_computed_bounds():
    run = DPSGD.from_epochs(dataset_size=100_000, batch_size=256, epochs=50, noise_multiplier=1.2)
    bounds = [run.guarantee(name, delta=1e-10) for name in ("moments", "rdp", "pld")]
    moments, rdp, pld = bounds
    assert (
        f"| ≤ {round_up(moments.epsilon)} |" in README
        and f"| ≤ {round_up(rdp.epsilon)} |" in README
    )
    ends = round_down(pld.lower), round_up(pld.epsilon)
    assert [f"{float(end):.3f}" for end in ends] == ["2.240", "2.241"]
    assert "| 2.240 to 2.241 |" in README


@pytest.mark.slow
def test_shell_commands_in_the_readmes_run_without_errors(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = "".join(blocks("")).splitlines()
    lines = [*dict.fromkeys(line for line in shell if line.startswith(".venv/bin/dplearn"))]
    assert len(lines) == 6
    for line in lines:
        words = shlex.split(line)[1:]
        assert main(words) == 0
    (proved,) = (line for line in shell if line.startswith("proved: "))
    assert proved in capsys.readouterr().out.splitlines()


def test_readme_quotes_the_measured_results_of_other_tools():
    assert README.count("\n") <= 120
    rows = [
        line.split("|")[1:-1]
        for line in (ROOT / "conformance/results.md").read_text().splitlines()
        if line.startswith("|")
    ]
    cells = {
        row[0].strip(): [cell.strip() for cell in row]
        for row in rows
        if "poisson_gaussian" in row[1]
    }
    for tool, name in (
        ("opacus:gdp", "GDP of opacus and tf_privacy"),
        ("tf_privacy", "GDP of opacus and tf_privacy"),
        ("dp_accounting:pld", "PLD of dp_accounting"),
        ("opacus:rdp", "RDP of opacus"),
        ("opacus:prv", "PRV of opacus"),
    ):
        asked, below, worst = cells[tool][2].split()[0], cells[tool][4], float(cells[tool][9])
        rounded = f"{worst:,.0f}" if worst > 10 else f"{worst:.1f}"
        assert f"| {name} | {asked} | {below} | {rounded} |" in README
    replaced = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    theirs = replaced.compose(GaussianDpEvent(2.0)).get_epsilon(1e-5)
    exact = Gaussian(2.0).guarantee("pld", delta=1e-5, adjacency="replace_one")
    assert f"{theirs:.2f}" == "2.17" and f"{exact.lower:.2f}" == f"{exact.epsilon:.2f}" == "4.38"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a Markdown page, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
    headings = re.findall(r"^#+ (.+)", prose, flags=re.M)
    named = {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in headings}
    return named | set(re.findall(r'<a name="([^"]+)">', prose))


def committed(*kinds: str) -> list[Path]:
    """Return the files with these extensions that a reader of the repository may open."""
    folders = ("dplearn", "lessons", "conformance", "data", "benchmarks")
    below = [path for folder in folders for path in (ROOT / folder).rglob("[!.]*.*")]
    return [path for path in [*ROOT.glob("*.*"), *below] if path.suffix in kinds]


def test_links_lead_to_existing_files_and_anchors():
    places, count = {}, 0
    for page in committed(".md", ".ipynb"):
        # Links in zh.md are made for the site, which shows its cells beside those of the notebook.
        if page.name == "zh.md" or page.parent.name == ".ipynb_checkpoints":
            continue
        text = page.read_text()
        if page.suffix == ".ipynb":
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        for target in re.findall(
            r"\]\((?!http|data:)([^)\s]+)", re.sub(r"(?s)```.*?```", "", text)
        ):
            place, _, anchor = target.partition("#")
            led = (page.parent / place).resolve() if place else page
            assert led.exists(), (page.name, target)
            if anchor and led.suffix == ".md":
                assert anchor in places.setdefault(led, anchors(led)), (page.name, target)
            count += 1
    assert count > 700


def test_no_committed_file_links_to_localhost(monkeypatch):
    written = committed(".md", ".ipynb", ".py", ".js", ".html", ".toml", ".yml", ".svg")
    lines = [(path, line) for path in written for line in path.read_text().splitlines()]
    named = {str(path.relative_to(ROOT)): line for path, line in lines if "localhost" in line}
    start = "make app     # makes .venv, installs, opens the explorer at http://localhost:8501"
    # Allowed: the command that starts the explorer, and the host names that the server accepts.
    assert named.pop("README.md") == start
    assert [*named] == ["dplearn/teaching/explorer/__init__.py"]
    assert sources.ADDRESS == "" or sources.ADDRESS.startswith("https://")
    monkeypatch.setattr(sources, "ADDRESS", "https://example.org/dplearn/")
    public = sources.led("[a](explorer:formula_book?id=G-B4) [b](explorer:check_a_claim?claim=q)")
    assert public.startswith("[a](https://example.org/dplearn/book/G-B4.html) [b](../README.md#s")


def test_names_in_the_readme_exist():
    (tree,) = [block for block in blocks("") if block.startswith("dplearn/ ")]
    names = re.findall(r"\b(\w+(?:/|\.py))(?=[\s;:])", tree)
    places = ("", "*/", "dplearn/*/", "dplearn/teaching/*/")
    lost = [name for name in names if not any([*ROOT.glob(place + name)] for place in places)]
    assert len(names) > 15
    assert not lost, f"the README shows {lost}, which are not there"
    table = set(re.findall(r"^\| `(\w+)` \|", README.split("## The accountants")[1], flags=re.M))
    assert len(table) > 7 and table <= set(ACCOUNTANTS)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M)
    assert set(re.findall(r"^make (\w+)", "".join(blocks("")), flags=re.M)) <= set(targets)


def test_readme_of_the_library_names_every_folder_and_five_files():
    page = (ROOT / "dplearn" / "README.md").read_text().split("## What")[0]
    (first,) = re.findall(r"Five files to open first(.*?)\n\n", page, flags=re.S)
    assert len(re.findall(r"\[\w+\.py\]", first)) == 5
    rooms = [name for name in FLOOR if "_" not in name and not name.startswith("teaching.")]
    named = re.findall(r"\*\*\[(\w+)(?:\.py)?\]", page)
    assert set(named) == {*rooms}
    # That README has the order of the layers, from the bottom up.
    assert [FLOOR[name] for name in named] == sorted(FLOOR[name] for name in named)


def test_names_in_contributing_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"(?s)```.*?```", "", text))
    named = [w for line in quoted for w in line.split() if re.fullmatch(r"[\w./]+(/|\.(py|md))", w)]
    paths = [*ROOT.glob("*"), *(path for each in ROOT.glob("[!.]*/") for path in each.rglob("*"))]
    patterns = [re.sub(r"(NN|NAME|THEME)\w*", "*", name) for name in named]
    lost = [name for name in patterns if not any(path.match(name) for path in paths)]
    assert len(named) > 25 and not lost, f"CONTRIBUTING names {lost}"
    for verb in [line.split()[1] for line in quoted if line.startswith("dplearn ")]:
        with pytest.raises(SystemExit, match="0"), contextlib.redirect_stdout(io.StringIO()):
            main([verb, "--help"])
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M)
    assert {line.split()[1] for line in quoted if line.startswith("make ")} <= {*targets}


@pytest.mark.slow
def test_the_example_in_contributing_needs_only_one_file_and_one_test(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--of-whoever-runs-this")
    for folder in ("dplearn", "tests", "data"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    block = re.compile(r"```python\n# (\S+\.py)\n(.*?)```", re.DOTALL)
    files = block.findall((ROOT / "CONTRIBUTING.md").read_text())
    assert [Path(name).parts[0] for name, _ in files] == ["dplearn", "tests"]
    for name, text in files:
        assert not (tmp_path / name).exists()
        (tmp_path / name).write_text(text)
    tests = [files[1][0], "tests/accountants/test_contract.py", "tests/house/test_floors.py"]
    chosen = ["-k", "logistic or Logistic or floors or import"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *chosen]
    environment = clean_environment(PYTHONPATH=str(tmp_path))
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-3000:]
    # More than the example's own five tests, because the contract tests cover it, too.
    assert int(re.findall(r"(\d+) passed", ran.stdout)[0]) > 8, ran.stdout
    lint = [sys.executable, "-m", "ruff", "check", "--no-cache", *(name for name, _ in files)]
    assert subprocess.run(lint, cwd=tmp_path).returncode == 0
