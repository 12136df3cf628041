"""Tools for lessons: guesses, tests of published values, figures, and builds of editions."""

import itertools
import re
import shutil
import subprocess
import sys

import contract
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_output
from tiny import question, written_lesson

from cases import clean_environment
from dplearn.__main__ import main
from dplearn.teaching.classroom import (
    Evidence,
    display,
    estimate,
    guess,
    pictures,
    predict,
    reveal,
    show,
    sources,
    yours,
)
from dplearn.teaching.classroom.display import SVG
from dplearn.teaching.classroom.html import from_cell
from dplearn.teaching.figures import number_line

LESSONS = sources.lessons()
ROOT = sources.lessons_folder().parent


def test_guess_is_drawn_with_the_result_and_alt_texts_need_a_number(capsys):
    predict("noise", "about 4")
    assert guess("noise") is None and "text" in capsys.readouterr().out
    reveal("noise", truth=2.0)
    assert capsys.readouterr().out == "noise: truth 2.\n"
    predict("noise", 4)
    reveal("noise", truth=2.0, others={"recipe": 3.0})
    assert capsys.readouterr().out.endswith("noise: truth 2, recipe 3, your guess 4.\n")
    reveal("noise", truth=1.23419, kind="upper")
    reveal("noise", truth=1.23419, kind="lower")
    first, second = capsys.readouterr().out.splitlines()
    assert first == "noise: proved at most 1.235, your guess 4."
    assert second == "noise: proved at least 1.234, your guess 4."
    for value in (np.inf, 1e300, -3):
        predict("noise", value)
        reveal("noise", truth=29385)
        assert capsys.readouterr().out.endswith("noise: truth 29385.\n"), value
    predict("noise", None)
    assert guess("noise") is None
    with pytest.raises(ValueError, match="key numbers"):
        show(number_line({"truth": 2.0}, title="noise"), "a line")


def test_values_of_formula_definition_and_simulation_must_agree():
    coin = estimate([0.0, 1.0] * 5000)
    good = Evidence("coin", closed=0.5, exact=0.5, simulated=coin, printed=0.6)
    assert good.agree and good.refuted
    assert not Evidence("coin", closed=0.5, exact=0.5001, simulated=coin).agree
    off = Evidence("coin", closed=0.6, exact=0.6, simulated=coin, printed=0.7)
    assert not off.agree and not off.refuted and "DISAGREE" in str(off)
    assert not Evidence("coin", closed=0.5, exact=0.5, simulated=coin, printed=0.501).refuted


def test_confidence_intervals_have_their_stated_coverage():
    # On average 10 of 10,000 intervals miss, 13 with draws as skew as these; a number outside
    # [1, 35] has probability 1e-5.
    rng = np.random.default_rng(0)
    misses = sum(0.3 not in estimate(rng.random(400) < 0.3) for _ in range(10_000))
    assert 1 <= misses <= 35


@pytest.mark.slow
def test_template_of_a_lesson_violates_the_rules_only_by_todos(tmp_path, monkeypatch):
    folder, ours = tmp_path / "lessons", ROOT / "lessons"
    # The template repeats questions of lesson 01.
    for name, copy in (("template", "12_pate"), (LESSONS["01"].name, LESSONS["01"].name)):
        shutil.copytree(ours / "sources" / name, folder / "sources" / copy)
    shutil.copy(ours / "README.md", folder)
    lesson = sources.lessons(folder)["12"]
    for path in lesson.folder.glob("*.py"):
        text = path.read_text().replace("NUMBER", "12").replace("KEY", "12")
        path.write_text(text.replace("TITLE", "PATE"))
    assert build(lesson, "12") == 0
    (text, hints) = contract.problems(lesson)
    assert text.startswith("Lesson 12 has a TODO left in lesson.py, line 4, 6, 12 and ")
    assert hints.startswith("Lesson 12 has a TODO left in exercises.py, line ")
    row = r"^\| 12 \| \[PATE\]\(12_pate.ipynb\) \| \d+ minutes"
    assert re.search(row, (folder / "README.md").read_text(), re.MULTILINE)
    monkeypatch.setenv(*NO_PICTURES)
    assert build(lesson, "12", "--instructor", tmp_path) == 0
    solved = (tmp_path / lesson.notebook.name).read_text()
    assert all(f"12.{each} right" in solved for each in ("warmup", "vote", 1, 2, 3, "test"))


# A build starts no browser if this path does not exist.
NO_PICTURES = "BROWSER_PATH", "/nowhere"

TINY = """\
# %% [markdown]
# # 90 Tiny
#
# Nine quarters are 2.25.

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask first.

# %%
from dplearn.teaching.classroom import check, show
from dplearn.teaching.figures import Sheet, number_line

print(9 / 4)

# %%
show(number_line({"truth": 2.5}, title="noise"), "noise: truth 2.5.")

# %%
show(number_line({"truth": 3.5}, title="noise"), "noise: truth 3.5.")

# %%
show(Sheet(9, 9, "Blank", []), "0 lines.")

# %%
answer = None
check("90.1", answer)

# %% [markdown]
# <details><summary>Solution of 90.1</summary>
#
# ```python
# answer = 42
# check("90.1", answer)
# ```
#
# </details>

# %%
print(answer)  # beside pictures("90")
"""

ITS_EXERCISE = """
from dplearn.teaching.classroom import Exercise

EXERCISES = (Exercise(key="90.1", right=42, praise="Indeed.", mistakes=(), hints=("6 * 7",)),)
"""


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """Return a lesson of a few cells, built in a folder of its own."""
    lesson = written_lesson(tmp_path_factory.mktemp("once"), "90_tiny", TINY, ITS_EXERCISE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*NO_PICTURES)
        assert build(lesson) == 0
    return lesson


@pytest.fixture
def tiny(once, tmp_path, monkeypatch):
    """Return a copy of the lesson `once`, which a test may change."""
    monkeypatch.setenv(*NO_PICTURES)
    shutil.copytree(once.notebook.parent, tmp_path / "lessons")
    return sources.lessons(tmp_path / "lessons")["90"]


def build(lesson, *options):
    """Build all lessons in the folder of `lesson`, and return the exit status."""
    folder = str(lesson.notebook.parent)
    return main(["lessons", "build", "--folder", folder, *map(str, options)])


@pytest.mark.slow
def test_build_writes_student_and_instructor_editions_or_an_error(tiny, tmp_path, capsys):
    student = tiny.notebook.read_text()
    assert build(tiny, "--instructor", tmp_path / "new" / "teacher") == 0
    teacher = (tmp_path / "new" / "teacher" / "90_tiny.ipynb").read_text()
    assert "90.1 not answered yet" in student
    for theirs in ("For the teacher", "90.1 right", "<details open>"):
        assert theirs in teacher and theirs not in student
    assert build(tiny, "--instructor", tiny.notebook.parent) == 1
    assert "other than the students'" in capsys.readouterr().err
    wrong = "call this solution right, got '90.1 not yet, 43: 6 * 7'"
    for old, new, options, cell, words in (
        ("print(9 / 4)", "print(9 / 0)", (), 2, "ZeroDivisionError"),
        ("answer = 42", "answer = 43", ("--instructor", tmp_path / "other"), 7, wrong),
    ):
        tiny.source.write_text(TINY.replace(old, new))
        assert build(tiny, *options) == 1
        problem = capsys.readouterr().err
        assert f"lesson 90_tiny, cell {cell}" in problem and words in problem, problem
    assert tiny.notebook.read_text() == student
    assert {path.name for path in tiny.notebook.parent.iterdir()} == {"90_tiny.ipynb", "sources"}
    with pytest.raises(sources.LessonError, match=r"solution of 3\.1 after it, got '## Next'"):
        sources.solution("## Next", "3.1")


@pytest.mark.slow
def test_nbval_notices_a_changed_digit_anywhere_in_a_notebook(tiny):
    """Change a digit of an output, a figure, its text, a drawing, a solution and the prose."""
    tiny.source.write_text(TINY.replace("answer = 42", "answer = 43").replace("2.25.", "2.75."))
    spoiled = [("2.25\\n", "2.26\\n"), (' "noise: truth 2.5."\n', ' "noise: truth 2.6."\n')]
    spoiled += [('"x 1: 3.5;', '"x 1: 3.7;'), ("<title>Blank", "<title>Blind")]
    stored = tiny.notebook.read_text()
    for old, new in spoiled:
        assert old in stored
        stored = stored.replace(old, new)
    tiny.notebook.write_text(stored)
    shutil.copy(ROOT / "lessons" / "conftest.py", tiny.notebook.parent)
    options = ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", "tests/nbval.cfg"]
    options += ["-c", "pyproject.toml", "-q", "-p", "no:cacheprovider", "--color=no"]
    command = [sys.executable, "-m", "pytest", *options, str(tiny.notebook.parent)]
    settings = {"cwd": ROOT, "env": clean_environment(), "capture_output": True, "text": True}
    run = subprocess.run(command, **settings, timeout=300)
    assert run.returncode == 1 and "6 failed, 2 passed" in run.stdout, run.stdout[-2000:]
    for failure in (
        "noise: truth 2.6",
        "x 1: 3.7",
        "Blind",
        "got '90.1 not yet, 43",
        "90_tiny quotes 2.75",
    ):
        assert failure in run.stdout, run.stdout[-2000:]


def test_pictures_use_the_students_function_if_it_is_right():
    halved = lambda fresh, share: [fresh[0], *(b - share * a for a, b in itertools.pairwise(fresh))]
    for answer, whose in ((halved, "yours"), (lambda fresh, share: fresh, "ours"), (None, "ours")):
        used = yours("18.1", answer)
        assert used.whose == whose and used([4.0, 2.0], 0.5) == [4.0, 0.0]
    assert pictures("18").noise_matrix(halved, 0.5, evenings=2).tolist() == [[1, 0], [-0.5, 1]]
    with pytest.raises(sources.LessonError, match="number of a lesson, such as '13', got '98'"):
        pictures("98")


THREADS = """
import importlib, ipykernel
import dplearn.teaching.classroom as room
import torch
print(torch.get_num_threads())
torch.set_num_threads(2)
print(importlib.reload(room) and torch.get_num_threads())
"""


@pytest.mark.slow
def test_torch_uses_one_thread_in_a_kernel_started_without_make(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    command = [sys.executable, "-c", THREADS]
    assert subprocess.check_output(command, text=True, env=clean_environment()) == "1\n1\n"


@pytest.mark.slow
def test_build_check_fails_on_a_changed_word_and_warns_of_outdated_chinese(tiny, capsys):
    built, command = sources.built_cells(tiny), ["lessons", "build", "--check", "--folder"]
    chinese = ["# 90 小\n\n九个四分之一是 2.25。", built[6].source]
    for number, added, outdated in (("2.25", [], []), ("2.26", [], [1]), ("2.25", ["新 7。"], [])):
        lines = [*added, chinese[0].replace("2.25", number), chinese[1]]
        tiny.chinese.write_text("\n%%\n".join(lines))
        shown = sources.in_chinese(tiny, built)
        assert shown[6].source == chinese[1] and shown[1] is built[1]
        assert shown[0].source.startswith("# 90 Tiny" if outdated else chinese[0])
        assert main([*command, str(tiny.notebook.parent)]) == 0
        printed = capsys.readouterr().out
        warned = re.findall(r"Chinese 90_tiny: cell (\d) is shown", printed)
        assert [*map(int, warned)] == outdated
    tiny.source.write_text(TINY.replace("Nine", "9"))
    assert main([*command, str(tiny.notebook.parent)]) == 1
    assert "stale  90_tiny: cell 1 differs: '# 90 Tiny'" in capsys.readouterr().out
    assert main([*command, str(tiny.notebook.parent), "98"]) == 2
    tiny.source.write_text(TINY)
    tiny.figures.write_text("A, B = 1, 2")
    assert sources.is_stale(tiny) == "cell 8 differs: 'print(answer)  # beside pictures(\"90\")'"


@pytest.mark.parametrize(
    "kind, content, expected",
    [
        ("error", {"traceback": ["\x1b[31mNameError\x1b[39m", "<b>"]}, "NameError\n&lt;b&gt;</"),
        ("stream", {"name": "stderr", "text": "<x>"}, '<pre class="output">&lt;x&gt;'),
        ("display_data", {"data": {SVG: "<svg>", "text/plain": '"1"'}}, 'alt="&quot;1&quot;"'),
    ],
)
def test_outputs_of_every_kind_are_shown_on_a_page(kind, content, expected):
    cell = new_code_cell("1 < 2", outputs=[new_output(kind, **content)])
    assert expected in from_cell(cell) and "\x1b" not in from_cell(cell)


def test_pictures_in_a_students_notebook_come_from_the_stored_notebooks(tmp_path, monkeypatch):
    outputs = (
        o.get("data", {}) for c in sources.built_cells(LESSONS["12"]) for o in c.get("outputs", ())
    )
    drawings = [data for data in outputs if SVG in data]
    assert drawings
    assert all(display._stored()[data[SVG]] == data["image/png"] for data in drawings)
    lesson = written_lesson(tmp_path, "90_tiny", "")
    lesson.notebook.write_text('{"cells": [')  # half written
    monkeypatch.chdir(lesson.notebook.parent)
    assert display._stored.__wrapped__() == {}


REPEATED = """\
# | 4 | 0 The first screen | guess |
# > | 3 | 1 Warm-up | ask |
# | 9 | 2 A vote | vote |
#
# * **Time** NN minutes in class.
#
# *To here NN minutes.*
#
# ## 1 Warm-up
#
# **1** 01.2
#
# *To here NN minutes.*

# %%
check("91.warmup", answers)
"""
EARLIER = (
    "# %% [markdown]\n"
    + question("**1** One?", ("a. One.", "Right. One."))
    + question("**2** Two?", ("a. Two.", "Right. *Two*."))
    + '\n# %%\ncheck("1.test", answers)\n'
)


def test_total_minutes_and_earlier_questions_are_inserted_into_a_lesson(tmp_path):
    lesson = written_lesson(tmp_path, "91_later", REPEATED)
    written_lesson(tmp_path, "01_first", EARLIER)
    text = sources.text(lesson)
    assert re.findall(r"(\d+) minutes", text) == ["16", "4", "7"]
    assert "# **1** (lesson 01) Two?\n#\n# <details><summary>a. Two." in text and "One" not in text
    assert sources.questions(lesson, "warmup") == ({"a": "Right. Two."},)
    assert not sources.questions(lesson)
    for absent in ("01.3", "02.1", "91.1"):
        lesson.source.write_text(REPEATED.replace("01.2", absent))
        with pytest.raises(sources.LessonError, match=f"earlier self-test, got {absent}"):
            sources.text(lesson)
