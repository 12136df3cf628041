"""Every lesson in lessons/: is it current, readable, honest about its numbers, and solvable?

The outputs themselves are compared cell by cell by nbval (see lessons/README.md).
"""

import ast
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
from functools import cache
from urllib.parse import parse_qs, urlparse

import nbformat
import numpy as np
import pytest

from dplearn.app import claim_fields, formula_fields, mechanism_fields, training_fields
from dplearn.app.catalogue import FIELDS
from dplearn.lessons import Evidence, check, estimate, guess, predict, reveal, show, sources
from dplearn.lessons.__main__ import main
from dplearn.lessons.checks import exercises, lessons_with_exercises
from dplearn.plotting.lessons import Band, Bars, Line, curves, hugging, number_line, panels, slider

LESSONS = sources.sources()
ROOT = sources.FOLDER.parent
PLOTLY = "application/vnd.plotly.v1+json"
# Numbers from 90 are appendices: the same rules, a shorter skeleton, answers instead of checks.
COURSE = [number for number in LESSONS if number < "90"]
APPENDICES = [number for number in LESSONS if number >= "90"]


def over(numbers):
    """A test for each lesson; one worker takes all tests of one, and runs it once."""
    alone = [pytest.param(n, marks=pytest.mark.xdist_group(f"lesson {n}")) for n in numbers]
    return pytest.mark.parametrize("number", alone)


each_lesson, each_of_course, each_appendix = map(over, (LESSONS, COURSE, APPENDICES))


@cache
def cells(number, kind=None):
    """Cells of a built notebook, all or of one kind."""
    path = sources.notebook_path(LESSONS[number])
    found = nbformat.read(path, as_version=4).cells
    return [cell for cell in found if kind in (None, cell.cell_type)]


def texts(number):
    """Every stored output as plain text."""
    outputs = [output for cell in cells(number, "code") for output in cell.outputs]
    return [o.text if "text" in o else o.data["text/plain"] for o in outputs]


# Structure


@each_lesson
def test_notebook_matches_source(number):
    assert sources.is_stale(LESSONS[number]) == ""


@each_lesson
def test_cells_ran_in_order_without_complaint(number):
    code = cells(number, "code")
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        for output in cell.outputs:
            assert output.output_type != "error" and output.get("name") != "stderr"
        # What a busy machine delivers in pieces is stored as one: rebuilding changes nothing.
        names = [output.get("name") for output in cell.outputs]
        assert ("stdout", "stdout") not in itertools.pairwise(names)


@each_lesson
def test_code_cells_are_short_and_introduced(number):
    lengths = [sum(map(bool, cell.source.splitlines())) for cell in cells(number, "code")]
    assert max(len(cell.source.splitlines()) for cell in cells(number, "code")) <= 25
    assert statistics.median(lengths) <= 5
    everything = cells(number)
    for before, cell in itertools.pairwise(everything):
        assert cell.cell_type == "markdown" or before.cell_type == "markdown", cell.source[:60]


@each_of_course
def test_skeleton(number):
    parts = ["After this lesson you can", "**Time**", "**You need**", "in code | symbol"]
    parts += ["The question", "Predict", "A small experiment", "The picture", "The statement"]
    parts += ["Is it true as printed?", "Turn the knob", "Where this breaks", "Exercises"]
    parts += ["Ask yourself", "On one card", "Further reading"]
    stand_in_order(number, parts)


@each_of_course
def test_five_questions_and_an_entry_of_the_book(number):
    text = "\n".join(cell.source for cell in cells(number, "markdown"))
    asked = re.findall(r"<details><summary>(\d)\. ", text)
    assert asked == list("12345")
    assert f"]({sources.EXPLORER}formula_book?id=" in text


@each_of_course
def test_a_printed_claim_is_refuted_in_three_ways(number):
    said = "\n".join(texts(number))
    assert "THE THREE WAYS DISAGREE" not in said
    assert "as printed it is refuted" in said or number == "17"  # whose subject it is


@each_of_course
def test_teachers_get_a_plan_and_notes(number):
    _, plan, *others = sources.read(LESSONS[number], "instructor").cells
    assert sources.is_note(plan) and plan.source.startswith("> **For the teacher.**")
    minutes = re.findall(r"^> \| (\d+) \|", plan.source, re.MULTILINE)
    (time,) = re.findall(r"\*\*Time\*\* (\d+) minutes", cells(number)[0].source)
    assert sum(map(int, minutes)) == int(time) and 35 <= int(time) <= 50
    assert sum(map(sources.is_note, others)) >= 3
    assert not any("For the teacher" in cell.source for cell in cells(number))


@each_appendix
def test_skeleton_of_appendix(number):
    parts = ["After this appendix you can", "**Time**", "**You need**", "in code | symbol"]
    parts += ["The question", "*Experiment.*", "What is proved", "Exercises", "Further reading"]
    stand_in_order(number, parts)
    answers = [cell.source.count("<summary>Answer to") for cell in cells(number, "markdown")]
    assert sum(answers) >= 3


def stand_in_order(number, parts):
    """The lesson has these parts, those of its body in this order, and checks itself last."""
    text = "\n".join(cell.source for cell in cells(number, "markdown"))
    assert text.startswith(f"# {number} ")
    places = [text.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places[4:] == sorted(places[4:])
    last = cells(number, "code")[-1].source
    assert last.startswith("# Checks") and "assert " in last


@each_lesson
def test_only_public_imports(number):
    for cell in cells(number, "code"):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names)


@each_lesson
def test_notebook_knows_nothing_about_the_machine(number):
    path = sources.notebook_path(LESSONS[number])
    notebook = json.loads(path.read_text())
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags"}
    assert not re.search(r"/(home|root|tmp|usr|work|Users)/", path.read_text())


@each_lesson
def test_figures_have_words_and_a_picture(number):
    figures = [
        o.data for c in cells(number, "code") for o in c.outputs if PLOTLY in o.get("data", {})
    ]
    assert figures
    assert any("frames" in data[PLOTLY] for data in figures), "no figure with a slider"
    for data in figures:
        assert re.search(r"\d", data["text/plain"])
        assert data["image/png"].startswith("iVBOR")


@each_lesson
def test_links(number):
    text = "\n".join(cell.source for cell in cells(number, "markdown"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert any(target.startswith(sources.EXPLORER) for target in targets)
    for target in targets:
        if target.startswith(sources.EXPLORER):
            page = urlparse(target)
            query = parse_qs(page.query, strict_parsing=True)
            fields = fields_of(page.path, {key: value for key, (value,) in query.items()})
            for key, (value,) in query.items():
                fields[key].parse(value)
        elif not target.startswith("https://"):
            assert (sources.FOLDER / target.split("#")[0]).exists(), target


def fields_of(path, query):
    """What can be set on the page of the explorer that an address leads to."""
    pages = {
        "/": lambda: FIELDS,
        "/mechanisms": mechanism_fields.fields,
        "/train": lambda: training_fields.FIELDS,
        "/check_a_claim": claim_fields.fields,
        "/formula_book": lambda: formula_fields.state(query["id"], query["misprint"]).fields,
    }
    return pages[path]()


# Numbers in the prose

_NUMBER = re.compile(r"(?<![\w.^])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


def quoted_numbers(markdown):
    """Numbers with three or more significant digits that a text states.

    Not counted: code, link targets, exponents, and bare years from 1900 to 2099.
    """
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"\s*\\(?:times|cdot)\s*10\^\{?(-?\d+)\}?", r"e\1", text)
    text = re.sub(r"\^\{?-?[\d.]+\}?", " ", text)
    text = re.sub(r"\\[a-zA-Z]+(?=\d)", " ", text)
    found = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return [n for n in found if digits(n) >= 3 and not re.fullmatch(r"(19|20)\d\d", n)]


def digits(number):
    """Significant digits; trailing zeros of a whole number do not count."""
    mantissa = number.split("e")[0]
    bare = mantissa.replace(".", "").lstrip("0")
    return len(bare if "." in mantissa else bare.rstrip("0"))


def stated(number, outputs):
    """Whether some number in `outputs` rounds to the quoted one."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals)
    printed = re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", outputs.replace(",", ""))
    return any(abs(float(p) - float(number)) <= 0.5001 * unit for p in printed)


@each_lesson
def test_every_quoted_number_was_computed(number):
    outputs = "\n".join([*texts(number), *([worked(number)] if number in COURSE else [])])
    for cell in sources.read(LESSONS[number], "instructor").cells:
        for quoted in quoted_numbers(cell.source) if cell.cell_type == "markdown" else ():
            assert stated(quoted, outputs), f"{quoted} in: {cell.source[:80]}"


def test_quoted_numbers_are_found_and_missed():
    text = r"In 2018 $2.265\times10^{-5}$, `9.999`, 8.42, $10^{-5}$, 1,024 and [x](y?z=1234) 0.25"
    assert quoted_numbers(text + r" $\le0.763$") == ["2.265e-5", "8.42", "1024", "0.763"]
    assert stated("2.265e-5", "delta 2.26537e-05") and not stated("2.266e-5", "delta 2.26537e-05")
    assert stated("8.42", "8.4198") and not stated("8.42", "8.43")


# Exercises


# A process of its own: what a lesson sets, such as torch's default type, stays there.
RUN = """
import contextlib, io, json, sys

space = {"__name__": "lesson"}
for code, heard in json.load(sys.stdin):
    with contextlib.redirect_stdout(sys.stdout if heard else io.StringIO()):
        exec(compile(code, "<lesson>", "exec"), space)
"""


@cache
def worked(number):
    """What the exercises print in the instructor's edition, run as a script."""
    everything = sources.read(LESSONS[number], "instructor").cells
    code = [cell.source for cell in everything if cell.cell_type == "code"]
    cells_heard = [(text, bool(re.search(r'^check\("', text, re.MULTILINE))) for text in code]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        input=json.dumps(cells_heard),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


@each_of_course
def test_solutions_are_right(number):
    keys = exercises(int(number))
    assert len(keys) >= 3
    for key in keys:
        assert re.search(rf"^{re.escape(key)} right", worked(number), re.MULTILINE), key


@each_of_course
def test_exercises_ship_unanswered(number):
    said = "\n".join(texts(number))
    for key in exercises(int(number)):
        assert f"{key} not answered yet" in said
    for cell in cells(number, "markdown"):
        assert "<details open" not in cell.source


all_exercises = pytest.mark.parametrize(
    "exercise",
    [e for n in lessons_with_exercises() for e in exercises(n).values()],
    ids=lambda exercise: exercise.key,
)


@all_exercises
def test_each_mistake_gets_its_own_hint(exercise):
    assert exercise.verdict(exercise.right).outcome == "right"
    assert exercise.verdict(f"{exercise.right}").outcome == "unreadable"
    values = [exercise.right, *(mistake.value for mistake in exercise.mistakes)]
    for i, value in enumerate(values):
        for other in values[:i]:
            assert abs(value - other) > 4 * exercise.rtol * max(abs(value), abs(other)), value
    verdicts = [exercise.verdict(value) for value in values[1:]]
    assert {verdict.outcome for verdict in verdicts} == {"mistake"}
    said = {v.messages for v in verdicts} | {exercise.verdict(12345.678).messages}
    assert len(said) == len(verdicts) + 1
    for verdict in verdicts:
        assert verdict.text(0) != verdict.text(1) == verdict.text(9)


@all_exercises
@pytest.mark.parametrize("answer", ["3.7", True, [], [1, 2], {}, object(), 1j, float("nan"), abs])
def test_no_answer_makes_a_check_raise(exercise, answer):
    assert exercise.verdict(answer).outcome == "unreadable"
    assert exercise.verdict(None).outcome == "open"


def test_the_same_slip_again_gets_the_plainer_hint(capsys):
    exercise = exercises(3)["3.1"]
    slip = exercise.mistakes[0]
    for _ in range(3):
        check("3.1", slip.value)
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith(slip.hints[0]) and said[1].endswith(slip.hints[1])
    assert said[2] == said[1]
    with pytest.raises(KeyError, match="lesson 98"):
        check("98.1", 1)


# The map in lessons/README.md

README = (sources.FOLDER / "README.md").read_text()


def test_the_map_lists_every_lesson_with_its_minutes():
    rows = re.findall(r"^\| (\d\d) \| \[([^]]+)\]\((\S+)\)[^|]*\| (\d*) ?\|", README, re.MULTILINE)
    assert [number for number, *_ in rows] == list(LESSONS)
    for number, _, file, minutes in rows:
        assert file == sources.notebook_path(LESSONS[number]).name
        if number in COURSE:
            assert f"**Time** {minutes} minutes" in cells(number)[0].source


@each_of_course
def test_a_lesson_needs_only_earlier_ones(number):
    (line,) = re.findall(r"^\* \*\*You need\*\* (.*)", cells(number)[0].source, re.MULTILINE)
    assert all(needed < number for needed in re.findall(r"\b\d\d\b", line))


def test_links_of_the_map_lead_somewhere():
    headings = re.findall(r"^## (.+)", README, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for target in re.findall(r"\]\(([^)]+)\)", README):
        known = target[1:] in anchors if target[0] == "#" else (sources.FOLDER / target).exists()
        assert known or target.startswith(sources.EXPLORER), target


def test_every_exercise_the_course_plan_names_exists():
    plan = README.split("## A course of six weeks")[1].split("## A workshop")[0]
    for key in re.findall(r"\b\d+\.\d\b", plan):
        assert key in exercises(int(key.split(".")[0])), key


def test_the_glossary_is_sorted_and_bilingual():
    table = README.split("## Glossary")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)[2:]
    assert len(rows) >= 40
    english = [row[0].lower().replace("-", " ") for row in rows]
    assert english == sorted(english)
    assert all(re.search(r"[\u4e00-\u9fff]", chinese) for _, chinese, _ in rows)


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
    shaded = [i for i, trace in enumerate(figure.data) if trace.fill == "tonexty"]
    (i,) = shaded
    assert list(figure.data[i].y) == list(heights[1])
    assert list(figure.data[i - 1].y) == list(heights[0])
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
    shutil.copytree(sources.FOLDER, tmp_path / "lessons")
    changed = tmp_path / "lessons" / "src" / next(iter(LESSONS.values())).name
    changed.write_text(changed.read_text().replace("noise", "Noise", 1))
    command = ["build", "--check", "--folder", str(tmp_path / "lessons")]
    assert main(command) == 1
    assert changed.stem in capsys.readouterr().out
    assert main([*command, list(LESSONS)[-1]]) == 0
    with pytest.raises(SystemExit, match="2"):
        main([*command, "98"])


@pytest.mark.slow
def test_build_is_repeatable_and_writes_nothing_on_failure(tmp_path, capsys):
    source = tmp_path / "src" / "90_tiny.py"
    source.parent.mkdir()
    source.write_text("# %% [markdown]\n# # 90 Tiny\n\n# %%\nprint(6 * 7)\n\n# %%\n6 * 7\n")
    command = ["build", "--folder", str(tmp_path)]
    assert main(command) == 0
    first = (tmp_path / "90_tiny.ipynb").read_text()
    assert main(command) == 0 and (tmp_path / "90_tiny.ipynb").read_text() == first
    source.write_text(source.read_text().replace("# %%\n6 * 7", "# %%\n6 / 0"))
    assert main(command) == 1 and (tmp_path / "90_tiny.ipynb").read_text() == first
    problem = capsys.readouterr().err
    assert "lesson 90_tiny, cell 3" in problem and "ZeroDivisionError" in problem
    assert sorted(path.name for path in tmp_path.iterdir()) == ["90_tiny.ipynb", "src"]


TWO_EDITIONS = """
# %% [markdown]
# # 90 Tiny

# %% [markdown] tags=["instructor"]
# > **For the teacher.** Ask first.

# %%
from dplearn.lessons import check

# %%
answer = None
check("3.3", answer)

# %% [markdown]
# <details><summary>Solution of 3.3</summary>
#
# ```python
# answer = 8.782
# check("3.3", answer)
# ```
#
# </details>
"""


@pytest.mark.slow
def test_one_source_gives_two_editions(tmp_path, capsys):
    source = tmp_path / "src" / "90_tiny.py"
    source.parent.mkdir()
    source.write_text(TWO_EDITIONS)
    command = ["build", "--folder", str(tmp_path)]
    assert main(command) == 0
    assert main([*command, "--instructor", str(tmp_path / "new" / "teacher")]) == 0
    assert main([*command, "--instructor", str(tmp_path)]) == 1
    assert "other than the students'" in capsys.readouterr().err
    student, teacher = (tmp_path / path for path in ("90_tiny.ipynb", "new/teacher/90_tiny.ipynb"))
    assert "3.3 not answered yet" in student.read_text()
    for theirs in ("For the teacher", "3.3 right", "<details open>"):
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
    path = sources.notebook_path(next(iter(LESSONS.values())))
    notebook = nbformat.read(path, as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    printed = next(o for o in outputs if re.search(r"\d\.\d", o.get("text", "")))
    printed.text = shifted(printed.text)
    drawn = next(o.data for o in outputs if "data" in o)
    drawn["text/plain"] = shifted(drawn["text/plain"])
    nbformat.write(notebook, tmp_path / path.name)
    shutil.copy(ROOT / "conftest.py", tmp_path)
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=120", "-q"]
    options += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval.cfg")]
    command = [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert run.returncode == 1 and "2 failed" in run.stdout, run.stdout[-2000:]
