"""Every lesson in lessons/: is it current, readable, honest about its numbers, and solvable?

The outputs themselves are compared cell by cell by nbval (see lessons/README.md).
"""

import ast
import itertools
import json
import re
import statistics
import subprocess
import sys
from functools import cache
from urllib.parse import parse_qs, urlparse

import nbformat
import pytest

from dplearn.app import navigation
from dplearn.classroom import check, sources
from dplearn.classroom.checks import exercises

LESSONS = sources.lessons()
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
    path = LESSONS[number].notebook
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
    path = LESSONS[number].notebook
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
            address = {key: value for key, (value,) in query.items()}
            fields = navigation.at(page.path).fields.state(address).fields
            for key, (value,) in query.items():
                fields[key].parse(value)
        elif not target.startswith("https://"):
            assert (sources.lessons_folder() / target.split("#")[0]).exists(), target


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
    keys = exercises(LESSONS[number])
    assert len(keys) >= 3
    for key in keys:
        assert re.search(rf"^{re.escape(key)} right", worked(number), re.MULTILINE), key


@each_of_course
def test_exercises_ship_unanswered(number):
    said = "\n".join(texts(number))
    for key in exercises(LESSONS[number]):
        assert f"{key} not answered yet" in said
    for cell in cells(number, "markdown"):
        assert "<details open" not in cell.source


all_exercises = pytest.mark.parametrize(
    "exercise",
    [e for n in COURSE for e in exercises(LESSONS[n]).values()],
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
    exercise = exercises(LESSONS["03"])["3.1"]
    slip = exercise.mistakes[0]
    for _ in range(3):
        check("3.1", slip.value)
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith(slip.hints[0]) and said[1].endswith(slip.hints[1])
    assert said[2] == said[1]
    with pytest.raises(sources.LessonError, match=r"98\.1"):
        check("98.1", 1)


# The map in lessons/README.md

README = (sources.lessons_folder() / "README.md").read_text()


def test_the_map_lists_every_lesson_with_its_minutes():
    rows = re.findall(r"^\| (\d\d) \| \[([^]]+)\]\((\S+)\)[^|]*\| (\d*) ?\|", README, re.MULTILINE)
    assert [number for number, *_ in rows] == list(LESSONS)
    for number, _, file, minutes in rows:
        assert file == LESSONS[number].notebook.name
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
        known = (
            target[1:] in anchors
            if target[0] == "#"
            else (sources.lessons_folder() / target).exists()
        )
        assert known or target.startswith(sources.EXPLORER), target


def test_every_exercise_the_course_plan_names_exists():
    plan = README.split("## A course of six weeks")[1].split("## A workshop")[0]
    for key in re.findall(r"\b\d+\.\d\b", plan):
        assert key in exercises(LESSONS[key.split(".")[0].zfill(2)]), key


def test_the_glossary_is_sorted_and_bilingual():
    table = README.split("## Glossary")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)[2:]
    assert len(rows) >= 40
    english = [row[0].lower().replace("-", " ") for row in rows]
    assert english == sorted(english)
    assert all(re.search(r"[\u4e00-\u9fff]", chinese) for _, chinese, _ in rows)
