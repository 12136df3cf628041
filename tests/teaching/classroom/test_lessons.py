"""Every lesson satisfies the rules in contract.py, and its exercises reply to mistakes."""

import base64
import copy
import io
import math
import re
import shutil
from pkgutil import resolve_name

import contract
import pytest
from PIL import Image, PngImagePlugin
from quoted import quoted_numbers, stated

from cases import ROOT
from dplearn.teaching.classroom import Exercise, check, sources
from dplearn.teaching.classroom.checks import SelfTest, exercises
from dplearn.teaching.classroom.display import PLOTLY, SVG, digest

LESSONS = sources.lessons()


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_lesson_follows_all_rules_for_lessons(lesson):
    complaints = contract.problems(lesson)
    assert not complaints, "\n".join(complaints)


# Texts in the files of lesson 03, their replacements, and the sentences of the violated rules.
SPOILED = [
    ('"# Checks\\n', '"# Tests\\n', "has no '# Checks' cell"),
    ("## 10 On one card", "## 10 On a card", "has no part 'On one card'"),
    ("formula {formula(", "<= {formula(", "rounds a bound to the"),
    ("## 1 Warm-up", "## 1 On one card. Warm-up", "has its parts in another order"),
    ("# 03 The", "# 04 The", "does not start with its title, '# 03 ...'"),
    ('"execution_count": 2,', '"execution_count": 3,', "did not run from top to bottom"),
    ('"name": "stdout"', '"name": "stderr"', "has a cell that fails or warns: '"),
    ('"# Checks\\n', '"# Checks\\n' + 25 * "\\n", "lines, more than 25"),
    ("# **4** ", "# **44** ", "does not ask itself five questions"),
    ("](formulas.md#", "](formulas.md?", "links to no entry of the formula book"),
    ("as printed it is refuted", "as printed it is fine", "refutes nothing"),
    ("three ways agree", "THE THREE WAYS DISAGREE", "three ways disagree"),
    ("3.2 not answered yet", "3.2 right", "does not ask exercise 3.2"),
    ('"<details><summary>S', '"<details open><summary>S', "has an open solution"),
    ("lesson 02 (", "lesson 04 (", "needs lesson 04, which comes later"),
    ("import quad", "import _quad", "imports the private name _quad"),
    ("Four of its rows", "In /tmp/x", "holds a path of a machine, /tmp/"),
    ('"name": "python"\n', '"name": "python", "v": "3"\n', "stores more than the kernel and its"),
    ('"frames"', '"still"', "has no figure with a slider"),
    ("Error 0.93 years at cap 28, 2.38 at cap 100", "Error", "has a figure without numbers"),
    ('"image/png"', '"image/gif"', "has a figure without a picture"),
    ("04_composition.ipynb", "04_nothing.ipynb", "links to 04_nothing.ipynb, which does not"),
    ("?mechanism=gaussian", "?mechanism=gaussiam", "links to the explorer with"),
    ("Four of its rows", "For the teacher", "shows a note for the teacher"),
    ("Four of its rows", "TODO", "has a TODO left in lesson.py, line "),
    ("Which norm belongs", "Of 770, which norm", "has a hint of 3.3 that quotes 770"),
    ("praise=", "praise='TODO' ", "has a TODO left in exercises.py, line "),
    (" | 2 A vote", "9 | 2 A vote", "has a plan of "),
    ("# > **For the teacher.** One", "# > One", "has no plan after its title"),
    ('tags=["instructor"]', "", "has fewer than three notes for the teacher"),
    ("**Time** ", "**Time** 9", "'**Time** ... minutes' says the same"),
    ("In class, 5 minutes", "At home", "has no exercise for the class"),
    ("_mean_height, _counts, _search)", "_search)", "has fewer than three exercises"),
    ("## 8 At home", "## 8 Elsewhere", "has no part 'At home'"),
    ("## ", "### ", "has its exercise near the beginning or the end"),
    ("(_sum, _mean_height, _counts, _search)", "(_mean_height, _counts,)", "asks for no code"),
]


@pytest.mark.slow
def test_each_violation_of_a_rule_is_reported(tmp_path, monkeypatch):
    lesson = copied("03", tmp_path)
    assert not list(contract.problems(lesson))
    monkeypatch.setattr(sources, "is_stale", lambda lesson: "")
    files = {path: path.read_text() for path in (lesson.notebook, lesson.source, lesson.exercises)}
    for old, new, complaint in SPOILED:
        assert any(old in text for text in files.values()), old
        for path, text in files.items():
            path.write_text(text.replace(old, new))
        exercises.cache_clear()
        assert any(complaint in problem for problem in contract.problems(lesson)), complaint


@pytest.mark.slow
def test_stored_images_that_differ_from_their_plotly_figure_are_reported():
    """Insert a wrong point, a blank picture, and a picture and a drawing of another lesson."""
    built, other = (contract.Built(LESSONS[number]) for number in ("03", "04"))

    def having(kind, lesson):
        outputs = (output.get("data", {}) for cell in lesson.code for output in cell.outputs)
        return next(data for data in outputs if kind in data)

    figure, drawing = having(PLOTLY, built), having(SVG, built)
    moved = copy.deepcopy(figure[PLOTLY])
    moved["data"][0]["x"] = [1.0]
    info, blank = PngImagePlugin.PngInfo(), io.BytesIO()
    info.add_text("drawn from", digest(figure[PLOTLY]))
    Image.new("P", (9, 9)).save(blank, "PNG", pnginfo=info)
    encoded = base64.b64encode(blank.getvalue()).decode()
    theirs = having(PLOTLY, other)["image/png"], having(SVG, other)[SVG]
    for data, kind, wrong, complaint in (
        (figure, PLOTLY, moved, "a figure that its numbers do not describe"),
        (figure, "image/png", encoded, "a picture that shows nothing"),
        (figure, "image/png", theirs[0], "a picture or the words of another figure"),
        (drawing, SVG, theirs[1], "a picture or the words of another drawing"),
    ):
        right, data[kind] = data[kind], wrong
        assert complaint in "".join(contract.figures_have_words_and_a_picture(built))
        data[kind] = right
    assert not [*contract.figures_have_words_and_a_picture(built)]


def copied(number, folder):
    """Copy the sources, a lesson's notebook and the glossary to `folder`; return the lesson."""
    lesson = LESSONS[number]
    shutil.copytree(lesson.folder.parent, folder / "sources")  # all, as lessons repeat questions
    for path in (lesson.notebook, lesson.notebook.parent / "README.md"):
        shutil.copy(path, folder)
    return sources.lessons(folder)[number]


def test_numbers_in_prose_are_extracted_and_compared_with_printed_ones():
    text = r"In 2018 $2.265\times10^{-5}$, `9.999`, 8.42, $10^{-5}$, 1,024 and [x](y?z=1234) 0.25"
    assert quoted_numbers(text + r" $\le0.763$") == ["2.265e-5", "8.42", "1024", "0.763"]
    assert stated("2.265e-5", "delta 2.26537e-05") and not stated("2.266e-5", "delta 2.26537e-05")
    assert stated("8.42", "8.4198") and not stated("8.42", "8.43")


# Tests of all exercises run in one process, to share measured results.
@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
@pytest.mark.slow
@pytest.mark.xdist_group("exercises")
def test_each_common_mistake_gets_its_own_hint(lesson, measured_once):
    for key, exercise in exercises(lesson).items():
        assert exercise.verdict(exercise.right).outcome == "right", key
        if isinstance(exercise, SelfTest):
            continue
        values = [exercise.right, *(mistake.value for mistake in exercise.mistakes)]
        for i, value in enumerate(values if isinstance(exercise, Exercise) else ()):
            for other in values[:i]:
                close = math.isclose(value, other, rel_tol=4 * exercise.rtol)
                assert not close, f"{key}: {value} is too close to {other}"
        verdicts = [exercise.verdict(value) for value in values[1:]]
        assert verdicts, f"{key} names no Mistake that a common slip makes"
        assert {verdict.outcome for verdict in verdicts} == {"mistake"}, key
        messages = {v.messages for v in verdicts} | {exercise.verdict(12345.678).messages}
        assert len(messages) == len(verdicts) + 1, f"{key}: two mistakes get the same hints"
        for verdict in verdicts:
            plain = f"{key} says no more the second time to {verdict.head}"
            assert verdict.text(0) != verdict.text(1) == verdict.text(9), plain


def test_answers_of_any_type_get_a_reply_and_repeated_mistakes_a_plainer_hint(capsys):
    exercise = exercises(LESSONS["03"])["3.2"]
    for answer in ("3.7", True, [], [1, 2], {}, object(), 1j, float("nan"), abs, 10**400):
        assert exercise.verdict(answer).outcome == "unreadable", repr(answer)
    assert exercise.verdict(None).outcome == "open"
    slip = exercise.mistakes[0]
    for _ in range(3):
        check("3.2", slip.value)
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.endswith(slip.hints[0]) and second.endswith(slip.hints[1]) and third == second


def test_nearly_right_answers_get_their_own_reply(capsys):
    """Integers are right or wrong; other answers may have too few digits or be in per cent."""
    close, whole = exercises(LESSONS["02"])["2.2"], exercises(LESSONS["01"])["1.3"]
    for factor, outcome in [(1.001, "right"), (1.02, "close"), (102.0, "close"), (1.05, "wrong")]:
        assert close.verdict(factor * close.right).outcome == outcome, factor
    assert "per cent" in close.verdict(13.93).text() and "left out" in close.verdict(0.141).text()
    assert "four digits" in close.verdict(0.14).text()  # right is 0.1393
    assert whole.verdict(whole.right).text().startswith(f"1.3 right, {whole.right}:")
    for answer in (whole.right - 1, whole.right + 1, whole.right - 0.5):
        assert whole.verdict(answer).outcome not in ("right", "close"), answer
    for answer in (1e5, 2e5, 2e5):  # only a repeated number gets the plainer hint
        check("2.2", answer)
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.endswith(close.hints[0]) and second.endswith(close.hints[0])
    assert third.endswith(close.hints[1])


def test_exercises_are_read_from_the_surrounding_lessons_folder(tmp_path, monkeypatch, capsys):
    for key in ("98.1", "3.9", "90.1"):
        with pytest.raises(sources.LessonError, match=rf"got exercise {re.escape(key)}\."):
            check(key, 1)
    lesson = copied("03", tmp_path / "lessons")
    lesson.exercises.write_text(lesson.exercises.read_text().replace('"3.1"', '"3.9"'))
    for folder in (lesson.notebook.parent, lesson.folder, tmp_path):
        monkeypatch.chdir(folder)
        check("3.9", None)
        assert capsys.readouterr().out.startswith("3.9 not answered yet")
    monkeypatch.chdir("/")
    check("3.1", None)  # falls back to the checkout of the imported package
    monkeypatch.setattr(sources, "__file__", "/site-packages/dplearn/teaching/classroom/sources.py")
    with pytest.raises(sources.LessonError, match="open the notebook inside a checkout"):
        check("3.1", None)


@pytest.mark.slow
def test_each_pitfall_in_the_readme_names_a_lesson_a_test_and_a_safeguard():
    readme = (sources.lessons_folder() / "README.md").read_text()
    part = readme.split("## Twelve pitfalls")[1].split("\n## ")[0]
    row = (
        r"^\d+\. \*\*.*\*\* \*(?:False|At times|Misread)\.\* Lesson \[(\d\d)\]\(.*?\), (.*?)\.?\n"
        r"   Here: (.*)\n   The test `(.*)` in `(.*)` proves it\.$"
    )
    rows = re.findall(row, part, re.MULTILINE)
    assert len(rows) == 12
    for number, heading, stops, test, file in rows:
        text = LESSONS[number].source.read_text()
        assert re.search(rf"^# ##+ {re.escape(heading)}$", text, re.MULTILINE), heading
        assert f"def {test}(" in (ROOT / file).read_text(), test
        for name in re.findall(r"`(dplearn[\w.]+)`", stops):
            assert resolve_name(name), name


def test_course_plan_names_exercises_and_glossary_is_sorted_and_bilingual():
    readme = (sources.lessons_folder() / "README.md").read_text()
    plan = readme.split("## A course of twelve weeks")[1].split("\n## ")[0]
    for key in re.findall(r"\b\d+\.\d\b", plan):
        assert key in exercises(LESSONS[key.split(".")[0].zfill(2)]), key
    table = readme.split("## Glossary")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)[2:]
    assert len(rows) >= 40
    english = [row[0].lower().replace("-", " ") for row in rows]
    assert english == sorted(english)
    assert all(re.search(r"[\u4e00-\u9fff]", chinese) for _, chinese, _ in rows)
    for lesson in LESSONS.values():
        text = lesson.source.read_text().replace("#glossary-english中文", "")
        absent = [word for word in re.findall(r"[\u4e00-\u9fff]+", text) if word not in table]
        assert not absent, f"{lesson.name} uses {absent}, which the glossary does not have"
