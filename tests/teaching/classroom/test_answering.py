"""Answer fields of lesson pages reply as Python does, and hide results until a guess."""

import json
import math
import re

import pytest
from tiny import ASSETS

from dplearn.teaching import browser, figures
from dplearn.teaching.classroom import Exercise, answering, check, checks, predictions, sources
from dplearn.teaching.classroom._numbers import written
from dplearn.teaching.classroom.checks import SelfTest, exercises
from dplearn.teaching.classroom.programs import Program
from javascript import javascript

LESSONS = {number: one for number, one in sources.lessons().items() if number < "90"}
REPLIES = """answers.replies = (exercise, texts) => {
  const reply = answers.escalation();
  return texts.map((text) => reply(answers.judge(exercise, text)));
};"""
RUBBISH = ["abc", "1,5", "3%", "1e400", "-1e999", "nan", "-inf", "1_000", "0x10", "1.5.2", "2j"]
RUBBISH += ["[1]", "None", "True", ".5", "5.", "+.5e-3", "1__0", "e5", "1e", "0"]
RUBBISH += ["1234.5", "1000.5", "0.00012345", "12345678", "1e-320", " 7 ", "007", "½", "'2'"]
# Arithmetic, which Jupyter evaluates before `check` is called.
ARITHMETIC = ["3.73*200/71", "1/3", "--3", "2**0.5", "-2**2", "2**-1", "2**3**2", "(1+2)*3 - 4/8"]
ARITHMETIC += ["sqrt(2)", "exp(-1)", "math.log(10)/2", "2*pi", "1-(1-0.1)**5", "7-2-1", "1_0*2e-1"]
# Texts that Python does not evaluate: numbers that pages read (ALSO), and typing errors.
ALSO = {"10⁻²": 0.01, "2·10⁻⁶": 2e-6, "1 000": 1000, "2^3": 8, "ln(10)": math.log(10)}
ALSO |= {"１/４": 0.25, "3−1": 2}
SLIPS = ["10⁻²*3", "1/0", "1 1", "(1", "1)", "2*", "sqrt 2", "sqrt", "()", "1//2", "alert(1)"]
SLIPS += ["constructor(1)"]

pytestmark = pytest.mark.slow


def in_javascript(*asked):
    """Return the results of the page's script for calls (function, *arguments)."""
    with javascript(
        browser.source("numbers", "page/numbers"), (ASSETS / "exercises.js").read_text(), REPLIES
    ) as call:
        return call("asked => asked.map(([what, ...given]) => answers[what](...given))", asked)


def all_of(kind):
    """Return the exercises of all lessons that are instances of the class `kind`."""
    every = [each for lesson in LESSONS.values() for each in exercises(lesson).values()]
    return [each for each in every if isinstance(each, kind)]


def as_number(text):
    """Return float(text), or None if `text` is no number."""
    try:
        return float(text)
    except ValueError:
        return None


def texts_for(exercise):
    """Return answers to an exercise: right, wrong, rounded, close, in per cent and invalid."""
    right = exercise.right
    values = [right, *(mistake.value for mistake in exercise.mistakes)]
    values += [factor * value for value in values for factor in (1.0015, 0.9985, 1.004, -1)]
    values += [factor * right for factor in (1.02, 0.98, 1.05, 100, 102, 98, 0.01)]
    values += [right + 1, right - 1, right + 0.5, 12345.678, 1e5]
    # Just inside and just outside the tolerance, which is relative to the larger number.
    values += [right / (1 - exercise.rtol) * (1 + slack) for slack in (-1e-9, 1e-9)]
    rounded = [f"{right:.{digits}g}" for digits in range(1, 6)]
    return [*map(repr, map(float, values)), *rounded, f"{100 * right:.4g}%", *RUBBISH]


def test_javascript_replies_to_numbers_as_python_does():
    numbers = all_of(Exercise)
    asked = [(each, text) for each in numbers for text in texts_for(each)]
    result = in_javascript(*(("judge", answering.as_data(each), text) for each, text in asked))
    counts = {}
    for (exercise, text), there in zip(asked, result, strict=True):
        here = exercise.verdict(text if (number := as_number(text)) is None else number)
        assert there["outcome"] == here.outcome, (exercise.key, text)
        counts[here.outcome] = counts.get(here.outcome, 0) + 1
        if number is not None:
            assert (there["head"], tuple(there["messages"])) == (here.head, here.messages), text
    assert len(numbers) > 40 and min(counts.values()) > 100, counts
    data = answering.as_data(numbers[0])
    empty, comma = in_javascript(("judge", data, " "), ("judge", data, "5,3"))
    assert empty["outcome"] == "open" and "write a point, as in 5.3." in comma["messages"][0]


def test_javascript_evaluates_typed_arithmetic_as_python_does():
    values = {text: float(eval(text, vars(math) | {"math": math})) for text in ARITHMETIC} | ALSO
    result = in_javascript(*(("readGuess", text) for text in [*values, *SLIPS]))
    for (text, value), there in zip(values.items(), result, strict=False):
        assert there.get("number") == pytest.approx(value, rel=1e-15), text
    assert all("is no number" in each["problem"] for each in result[len(values) :]), result


def test_javascript_hints_for_repeated_mistakes_equal_those_in_python(capsys, monkeypatch):
    monkeypatch.setattr(checks, "_repeats", checks.Counter())
    numbers, asked = all_of(Exercise), []
    for exercise in numbers:
        slips = [mistake.value for mistake in exercise.mistakes[:2]]
        answers = [*slips, *slips, 12345.678, 12345.678, 1e7, slips[0], 12345.678, exercise.right]
        for answer in answers:
            check(exercise.key, answer)
        asked.append(
            ["replies", answering.as_data(exercise), [str(float(each)) for each in answers]]
        )
    there = [line for lines in in_javascript(*asked) for line in lines]
    assert there == capsys.readouterr().out.splitlines()


def test_javascript_replies_to_letters_of_self_tests_as_python_does():
    tests, fixed = all_of(SelfTest), ("aaaaa", "bbbbb", "c-a-b", "-----")
    typed = [(t, x[: len(t.choices)]) for t in tests for x in (t.right, *fixed)]
    result = in_javascript(*(("judgeLetters", vars(t) | {"item": t.key}, x) for t, x in typed))
    for (test, letters), there in zip(typed, result, strict=True):
        here = test.verdict(letters)
        assert (there["outcome"], there["head"]) == (here.outcome, here.head)
        for number, why in enumerate(there["whys"]):
            shown = "Right." if why.startswith("Right. ") else why
            assert here.shown[number] == f"{number + 1} {letters[number]}  {shown}"


@pytest.fixture(scope="module")
def pages():
    """Return the built cells of each lesson, and the HTML that replaces some of them."""
    cells = {number: sources.built_cells(lesson) for number, lesson in LESSONS.items()}
    return {n: (cells[n], answering.fields(LESSONS[n], cells[n])) for n in LESSONS}


def asks_of(texts):
    unescaped = (answering.html.unescape(text) for text in texts)
    data = [found for text in unescaped for found in re.findall(r'data-ask="(\{.*?\})"><p>', text)]
    return [json.loads(each) for each in data]


def test_every_question_of_a_lesson_has_one_answer_field(pages):
    for number, (cells, asked) in pages.items():
        asks = asks_of(asked.values())
        printed = "".join(
            output.get("text", "") for cell in cells for output in cell.get("outputs", ())
        )
        items = [ask["item"] for ask in asks]
        assert items.count(f"{int(number)}.test") == 1 and len(set(items)) == len(items)
        guesses = [ask for ask in asks if ask["kind"] == "prediction"]
        assert len(guesses) == printed.count("no guess yet") > 1
        judged = [ask for ask in asks if ask["kind"] != "prediction"]
        every = exercises(LESSONS[number])
        coded = sum(isinstance(each, Program) for each in every.values())
        assert len(judged) + coded == printed.count("not answered yet") == len(every)
        shown = "".join(asked.get(cell.id, "") for cell in cells)
        assert not re.search("no guess yet|not answered yet|run the cell again", shown)
        for ask in guesses:
            # Results are hidden until a guess or a click; lesson 16 has most in a table.
            assert "points" in ask or number == "16"
            place = answering.html.escape(json.dumps(ask["item"], ensure_ascii=False))
            assert place in "".join(re.findall(r'class="sealed" data-names="(.*?)"', shown))
            visible = re.sub(r'data-ask="[^"]*"|<details.*?</details>', "", shown, flags=re.S)
            assert ask.get("stated", "it is no number") not in visible


def test_code_fields_state_whether_a_picture_uses_the_function(pages):
    asked = answering.fields(LESSONS["04"], pages["04"][0], python=True)
    data = re.findall(r'data-ask="(.*?)">', "".join(asked.values()))
    programs = [ask for ask in map(json.loads, map(answering.html.unescape, data)) if "code" in ask]
    assert {ask["item"] for ask in programs if ask["draws"]} == {"4.1"}
    assert len(programs) > 1


def test_instructions_on_pages_name_answer_fields_instead_of_cells(pages):
    for number, kind in (("01", "guess"), ("04", "number")):
        body = answering.body(LESSONS[number], pages[number][0])
        assert f"Write your {kind} in the field." in body
        assert not re.search("In Jupyter, move|in place of <code>None|Replace <code>None", body)


BOUNDS = {"truth": "exact", "proved at most": "upper", "proved at least": "lower"}


def test_javascript_compares_a_guess_with_the_result_as_python_does(pages, monkeypatch):
    drawn = []
    monkeypatch.setattr(figures, "number_line", lambda points, title: drawn.append((title, points)))
    monkeypatch.setattr(predictions, "show", lambda figure, words: None)
    monkeypatch.setattr(predictions, "_guesses", {})
    asks = [ask for _, asked in pages.values() for ask in asks_of(asked.values())]
    lines, asked = [ask for ask in asks if "points" in ask], []
    for line in lines:
        name, points = line["item"], dict(line["points"])
        (label,) = points.keys() & BOUNDS
        exact = points.pop(label)
        factors = (1, 1.03, 2, 1 / 3, 0.99e6, 1e6, 1e9, 1e-7)
        for guess in (None, -1.0, 0.0, 1e308, 1e-308, *(exact * factor for factor in factors)):
            predictions.predict(name, guess)
            predictions.reveal(name, truth=exact, kind=BOUNDS[label], others=points)
            asked.append(["revealed", line, guess])
    for (title, points), result in zip(drawn, in_javascript(*asked), strict=True):
        assert (result["title"], dict(result["points"])) == (title, points)
    assert len(lines) > 30


def test_javascript_reads_a_guess_as_python_does(capsys):
    """A guess beyond the range of floats is refused, in digits or as `inf`."""
    guesses = {text: as_number(text) for text in RUBBISH if as_number(text) is not None}
    for number in guesses.values():
        predictions.predict("noise", number)
    result = in_javascript(*(("readGuess", text) for text in guesses))
    here = capsys.readouterr().out.splitlines()
    for (text, number), there, line in zip(guesses.items(), result, here, strict=True):
        noted = f"your guess {written(number)} is noted."
        assert line == f"noise: {there.get('problem', noted)}", text
    assert "".join(here).count("numbers beyond 1.8e308 are infinite here; write a finite one.") == 3


def test_javascript_formats_numbers_as_python_does():
    numbers = [m * 10.0**e for m in (1, 1.00005, 1.0005, 2.5, 9.9995, 9.9996) for e in range(-9, 9)]
    numbers += [1000.5, 1001.5, 1234.5, 1235.5, 0.5, 2**-20, 1e6, 999999, 999999.5, -3, -0.125]
    assert in_javascript(*(["written", number] for number in numbers)) == [*map(written, numbers)]
