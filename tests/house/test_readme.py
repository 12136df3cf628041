"""The README keeps its word: its example runs and prints what it shows."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from dplearn import accountants
from dplearn.__main__ import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.S | re.M)
    return [text for name, text in fences if name == language]


EXAMPLES = list(zip(blocks("python"), blocks("text"), strict=True))


@pytest.mark.parametrize(
    "code, shown",
    [
        pytest.param(*example, id=name, marks=[pytest.mark.slow] * (name == "training"))
        for name, example in zip(("run", "certificate", "training"), EXAMPLES, strict=True)
    ],
)
def test_an_example_prints_what_the_readme_shows(code, shown):
    assert len([line for line in code.splitlines() if line.strip()]) <= 14
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == shown


@pytest.mark.slow
def test_the_shell_lines_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = "".join(blocks("")).splitlines()
    lines = [line for line in shell if line.startswith(".venv/bin/dplearn")]
    assert len(lines) == 6
    for line in lines:
        words = shlex.split(line)[1:]
        assert main(words) == (words[0] == "claim")  # the claim is false
    (proved,) = (line for line in shell if line.startswith("proved: "))
    assert proved in capsys.readouterr().out.splitlines()


def test_accountants_of_the_table_exist():
    table = set(re.findall(r"^\| `(\w+)` \|", README.split("## The accountants")[1], flags=re.M))
    lost = sorted(table - set(accountants))
    assert len(table) > 7 and not lost, f"the README names {lost}, which are no accountants"


def test_links_lead_somewhere():
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for page in [*pages, ROOT / "lessons" / "README.md", ROOT / "data" / "README.md"]:
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        headings = [re.sub(r"[^\w -]", "", line.lower()) for line in re.findall(r"#+ (.+)", prose)]
        for target in re.findall(r"\]\(([^)]+)\)", prose):
            place, _, anchor = target.partition("#")
            exists = (
                (page.parent / place).exists() if place else anchor.replace("-", " ") in headings
            )
            assert exists or target.startswith("http"), (
                f"{page.name} links to {target}: nothing there"
            )


def test_the_tree_that_is_shown_is_there():
    (tree,) = [block for block in blocks("") if block.startswith("dplearn/ ")]
    names = re.findall(r"\b(\w+(?:/|\.py))(?=[\s;:])", tree)
    places = ("", "*/", "dplearn/*/")
    lost = [name for name in names if not any([*ROOT.glob(place + name)] for place in places)]
    assert len(names) > 15
    assert not lost, f"the README shows {lost}, which are not there"


def test_make_targets_named_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", "".join(blocks("")), flags=re.M):
        assert re.search(rf"^{target}:", makefile, flags=re.M)
