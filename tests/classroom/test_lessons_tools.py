"""What lessons are made with: guesses, evidence, figures, and the build of both editions."""

import re
import shutil
import subprocess
import sys

import nbformat
import numpy as np
import pytest

from dplearn.__main__ import main
from dplearn.classroom import Evidence, estimate, guess, predict, reveal, show, sources
from dplearn.figures import Band, Bars, Line, curves, hugging, number_line, panels, slider

LESSONS = sources.lessons()
ROOT = sources.lessons_folder().parent

# Guesses and evidence


def test_a_guess_is_drawn_beside_the_truth(capsys):
    predict("noise", "about 4")
    assert guess("noise") is None and "text" in capsys.readouterr().out
    reveal("noise", truth=2.0)
    assert capsys.readouterr().out == "noise: truth 2.\n"
    predict("noise", 4)
    reveal("noise", truth=2.0, others={"recipe": 3.0})
    assert capsys.readouterr().out.endswith("noise: truth 2, recipe 3, your guess 4.\n")
    predict("noise", None)
    assert guess("noise") is None


def test_number_line_draws_every_point():
    figure = number_line({"truth": 2.0, "your guess": 4.0, "recipe": 3.0}, title="noise")
    drawn = {trace.text[0].split("<br>")[0]: trace.x[0] for trace in figure.data}
    assert drawn == {"truth": 2.0, "your guess": 4.0, "recipe": 3.0}


def test_slider_keeps_only_what_changes():
    x = np.arange(3.0)
    figures = {
        str(k): curves([Line(x=x, y=k * x, label="line")], title=f"T {k}", x="x", y="y")
        for k in (1, 2)
    }
    shown = slider(figures, name="k")
    assert shown.layout.title.text == "T 1" and shown.frames[1].layout.title.text == "T 2"
    changed = shown.frames[1].data[0]
    assert changed.x is None and list(changed.y) == [0, 2, 4]


def test_polygons_are_shaded_between_and_named():
    x, corners = np.linspace(0, 2, 9), np.arange(5) / 2
    gaps = {"wide": (x, -x), "narrow": (x / 4, -x / 4)}
    heights = (2 - corners, 1 - corners)
    figure = hugging(x=x, curve=1.5 - x, corners=(corners, *heights), gaps=gaps, title="t")
    (i,) = (i for i, trace in enumerate(figure.data) if trace.fill == "tonexty")
    assert list(figure.data[i].y) == list(heights[0])
    assert list(figure.data[i - 1].y) == list(heights[1])
    said = [trace.text[0].strip() for trace in figure.data if trace.mode == "text"]
    assert said == ["chords", "moved cells", "truth", "wide", "wide", "narrow", "narrow"]


def test_columns_and_regions_are_what_was_given():
    x = np.arange(4.0)
    columns = Bars(x=x, y=[1, 2, 3, 2], label="draws")
    region = Band(x=x, lower=x, upper=x + 2, label="allowed")
    figure = curves([columns, region], title="t", x="x", y="y")
    drawn, name, floor, ceiling, word = figure.data
    assert list(drawn.y) == [1, 2, 3, 2] and drawn.width == 1
    assert list(floor.y) == list(x) and list(ceiling.y) == list(x + 2)
    assert ceiling.fill == "tonexty" and word.y[0] == 3
    assert [trace.text[0].strip() for trace in (name, word)] == ["draws", "allowed"]


def test_panels_keep_their_axes():
    x = np.arange(1.0, 4)
    left = curves(
        [Line(x=x, y=x, label="")], title="one", x="a", y="b", zone=(1, 2, "no"), x_range=(0, 4)
    )
    right = curves([Line(x=x, y=10**x, label="")], title="two", x="c", y="d", log_y=True)
    figure = panels(left, right, title="both")
    assert figure.layout.title.text == "both"
    assert [note.text for note in figure.layout.annotations] == ["one", "two"]
    axes = [figure.layout[name] for name in ("xaxis", "yaxis", "xaxis2", "yaxis2")]
    assert [axis.title.text for axis in axes] == ["a", "b", "c", "d"]
    assert [axis.type for axis in axes] == ["linear", "linear", "linear", "log"]
    assert list(figure.layout.xaxis.range) == [0, 4] and figure.layout.xaxis2.range is None
    assert [trace.xaxis for trace in figure.data] == ["x", "x", "x2"]
    (zone,) = figure.layout.shapes
    assert (zone.yref, zone.y0, zone.y1) == ("y", 1, 2)


def test_evidence_believes_nobody():
    coin = estimate([0.0, 1.0] * 5000)
    good = Evidence("coin", closed=0.5, exact=0.5, simulated=coin, printed=0.6)
    assert good.agree and good.refuted
    assert not Evidence("coin", closed=0.5, exact=0.5001, simulated=coin).agree
    off = Evidence("coin", closed=0.6, exact=0.6, simulated=coin, printed=0.7)
    assert not off.agree and not off.refuted and "DISAGREE" in str(off)
    assert not Evidence("coin", closed=0.5, exact=0.5, simulated=coin, printed=0.501).refuted


def test_estimate_covers_the_mean_as_often_as_it_says():
    # 2000 intervals of confidence 0.9: the count of hits has standard deviation 13.4, and
    # five of these leave one false alarm in a million.
    rng = np.random.default_rng(0)
    hits = sum(0.3 in estimate(rng.random(400) < 0.3, confidence=0.9) for _ in range(2000))
    assert abs(hits - 1800) < 67


def test_figures_need_words():
    with pytest.raises(ValueError, match="key numbers"):
        show(number_line({"truth": 2.0}, title="noise"), "a line")


# The machinery


def test_check_notices_a_changed_word(tmp_path, capsys):
    shutil.copytree(sources.lessons_folder(), tmp_path / "lessons")
    changed = sources.lessons(tmp_path / "lessons")["01"]
    changed.source.write_text(changed.source.read_text().replace("noise", "Noise", 1))
    command = ["lessons", "build", "--check", "--folder", str(tmp_path / "lessons")]
    assert main(command) == 1
    assert changed.name in capsys.readouterr().out
    assert main([*command, list(LESSONS)[-1]]) == 0
    assert main([*command, "98"]) == 2 and "got lesson 98" in capsys.readouterr().err


@pytest.mark.slow
def test_build_is_repeatable_and_writes_nothing_on_failure(tmp_path, capsys):
    source = tmp_path / "sources" / "90_tiny" / "lesson.py"
    source.parent.mkdir(parents=True)
    source.write_text("# %% [markdown]\n# # 90 Tiny\n\n# %%\nprint(6 * 7)\n\n# %%\n6 * 7\n")
    command = ["lessons", "build", "--folder", str(tmp_path)]
    assert main(command) == 0
    first = (tmp_path / "90_tiny.ipynb").read_text()
    assert main(command) == 0 and (tmp_path / "90_tiny.ipynb").read_text() == first
    source.write_text(source.read_text().replace("# %%\n6 * 7", "# %%\n6 / 0"))
    assert main(command) == 1 and (tmp_path / "90_tiny.ipynb").read_text() == first
    problem = capsys.readouterr().err
    assert "lesson 90_tiny, cell 3" in problem and "ZeroDivisionError" in problem
    assert sorted(path.name for path in tmp_path.iterdir()) == ["90_tiny.ipynb", "sources"]


TWO_EDITIONS = """
# %% [markdown]
# # 90 Tiny

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask first.

# %%
from dplearn.classroom import check

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
"""

ITS_EXERCISE = """
from dplearn.classroom import Exercise

EXERCISES = (Exercise(key="90.1", right=42, praise="Indeed.", mistakes=(), hints=("6 * 7",)),)
"""


@pytest.mark.slow
def test_one_source_gives_two_editions(tmp_path, capsys):
    source = tmp_path / "sources" / "90_tiny" / "lesson.py"
    source.parent.mkdir(parents=True)
    source.write_text(TWO_EDITIONS)
    source.with_name("exercises.py").write_text(ITS_EXERCISE)
    command = ["lessons", "build", "--folder", str(tmp_path)]
    assert main(command) == 0
    assert main([*command, "--instructor", str(tmp_path / "new" / "teacher")]) == 0
    assert main([*command, "--instructor", str(tmp_path)]) == 1
    assert "other than the students'" in capsys.readouterr().err
    student, teacher = (tmp_path / path for path in ("90_tiny.ipynb", "new/teacher/90_tiny.ipynb"))
    assert "90.1 not answered yet" in student.read_text()
    for theirs in ("For the teacher", "90.1 right", "<details open>"):
        assert theirs in teacher.read_text() and theirs not in student.read_text()


def test_a_solution_must_follow_its_exercise():
    with pytest.raises(sources.LessonError, match=r"solution of 3\.1 after it, got '## Next'"):
        sources.solution("## Next", "3.1")


def shifted(text):
    """`text` with the last digit of its last decimal number changed."""
    *_, match = re.finditer(r"\d+\.\d+", text)
    digit = str((int(match[0][-1]) + 1) % 10)
    return text[: match.end() - 1] + digit + text[match.end() :]


@pytest.mark.slow
def test_nbval_notices_one_changed_digit(tmp_path):
    path = LESSONS["01"].notebook
    notebook = nbformat.read(path, as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    printed = next(o for o in outputs if re.search(r"\d\.\d", o.get("text", "")))
    printed.text = shifted(printed.text)
    drawn = next(o.data for o in outputs if "data" in o)
    drawn["text/plain"] = shifted(drawn["text/plain"])
    nbformat.write(notebook, tmp_path / path.name)
    shutil.copy(ROOT / "lessons" / "conftest.py", tmp_path)
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "-q"]
    options += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval.cfg")]
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1 and "2 failed" in run.stdout, run.stdout[-2000:]
