"""Exercises with right answers, common mistakes and hints; multiple-choice self-tests."""

import math
import os
import re
import runpy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from dplearn.teaching.classroom import sources
from dplearn.teaching.classroom._numbers import BEYOND, read_number, written
from dplearn.teaching.classroom.sources import Lesson, LessonError

Outcome = Literal["open", "unreadable", "not judged", "right", "mistake", "close", "wrong"]

# Relative distance within which a wrong answer is called close.
_CLOSE = 0.03
_NEAR = "close, but not equal: something small is left out, or was rounded on the way."
_CHECKED = re.compile(r'^check\("(\d+\.\d+)", (\w+)\)', re.MULTILINE)


@dataclass(frozen=True)
class Mistake:
    """Common wrong answer to an exercise, with hints for students who give it.

    Parameters
    ----------
    value : float or Callable, the wrong number or function
    hints : tuple of str, hints of increasing detail
    """

    value: Any
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """Reply to a student's answer, with plainer messages each time a mistake is repeated."""

    outcome: Outcome
    head: str
    messages: tuple[str, ...]
    shown: tuple[str, ...] = ()  # lines of a counterexample, or a line per question

    def text(self, attempt: int = 0) -> str:
        """Return the reply as text, with plainer messages for later attempts; the first is 0."""
        message = self.messages[min(attempt, len(self.messages) - 1)]
        return "\n  ".join([f"{self.head}: {message}", *self.shown])


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """Question whose answer is a number.

    Parameters
    ----------
    key : str, lesson and number, such as "3.1"
    right : float, right answer, any number, computed by the library; an int is compared exactly
    praise : str, explanation of the right answer; later parts of the lesson do not need it
    mistakes : tuple of Mistake, common wrong answers, each distinguishable from `right`
    hints : tuple of str, hints of increasing detail for all other wrong answers
    rtol : float, relative tolerance of every comparison, > 0

    Examples
    --------
    >>> halves = Exercise(key="0.1", right=0.5, praise="Indeed.", hints=("Divide 1 by 2.",),
    ...                   mistakes=(Mistake(2.0, ("Upside down?", "Divide 1 by 2, not 2 by 1.")),))
    >>> halves.verdict(2).text()
    '0.1 not yet, 2: Upside down?'
    >>> halves.verdict(2).text(attempt=1)
    '0.1 not yet, 2: Divide 1 by 2, not 2 by 1.'
    """

    key: str
    right: float
    praise: str
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    rtol: float = 2e-3

    def verdict(self, answer: Any) -> Reply:
        """Return the reply to `answer`, which may have any type."""
        if answer is None:
            todo = "put your number in place of None and run the cell again."
            return Reply("open", f"{self.key} not answered yet", (todo,))
        number, problem = read_number(answer)
        if number is None:
            return Reply("unreadable", f"{self.key} not readable", (problem,))
        if self._is(number, self.right):
            return Reply("right", f"{self.key} right, {written(number)}", (self.praise,))
        head = f"{self.key} not yet, {written(number)}"
        for mistake in self.mistakes:
            if self._is(number, mistake.value):
                return Reply("mistake", head, mistake.hints)
        if math.isinf(number):
            return Reply("unreadable", f"{self.key} not readable", (BEYOND,))
        if isinstance(self.right, float):
            if math.isclose(number, self.right, rel_tol=_CLOSE):
                unit = 10.0 ** int(Decimal(repr(number)).normalize().as_tuple().exponent)
                rounded = abs(number - self.right) <= unit
                return Reply("close", head, ("close: give four digits." if rounded else _NEAR,))
            if 0 < self.right < 1 and math.isclose(number, 100 * self.right, rel_tol=_CLOSE):
                problem = "this is per cent; write it as a number between 0 and 1."
                return Reply("close", head, (problem,))
        return Reply("wrong", head, self.hints)

    def _is(self, number: float, value: float) -> bool:
        return math.isclose(number, value, rel_tol=0.0 if isinstance(value, int) else self.rtol)


@dataclass(frozen=True)
class SelfTest:
    """Multiple-choice questions, answered by a string of letters."""

    key: str  # such as "10.test"
    choices: tuple[dict[str, str], ...]  # per question: letters, and why each is right or wrong

    @property
    def right(self) -> str:
        """Letters of the right choices, one per question."""
        return sources.right_letters(self.choices)

    def verdict(self, answer: Any) -> Reply:
        """Return the reply to `answer`, which may have any type."""
        count = len(self.choices)
        letters = "1 letter" if count == 1 else f"{count} letters"
        if answer is None or answer == "":
            left = ", - for a question left out" if count > 1 else ""
            todo = f"write {letters} between the quotes{left}."
            return Reply("open", f"{self.key} not answered yet", (todo,))
        if not isinstance(answer, str) or len(answer := re.sub(r"[\s,]", "", answer)) != count:
            problem = f"write {letters} in quotes, such as {('abcab' * count)[:count]!r}."
            return Reply("unreadable", f"{self.key} not readable", (problem,))
        pairs = list(zip(answer.lower(), self.choices, strict=True))
        whys = [each.get(letter, "Left out.") for letter, each in pairs]
        whys = ["Right." if why.startswith(sources.RIGHT) else why for why in whys]
        shown = tuple(
            f"{number} {letter}  {why}"
            for number, (letter, why) in enumerate(zip(answer, whys, strict=True), start=1)
        )
        points, more = whys.count("Right."), ("the lines above say more.",)
        if points == count:
            return Reply("right", f"{self.key} right, {count} of {count}", more, shown)
        return Reply("wrong", f"{self.key} not yet, {points} of {count}", more, shown)


# How many times a student gave each common mistake, or each other answer, to an exercise.
_repeats: Counter[tuple[str, tuple[str, ...]]] = Counter()


def check(key: str, answer: Any) -> None:
    """Print the reply to a student's answer; a wrong answer raises no error.

    Hints get plainer each time that a common mistake, or the same other answer, is repeated.

    Parameters
    ----------
    key : str, key of an exercise of the lessons around the notebook, such as "3.2"
    answer : Any, number, letters or function; None is an answer not given yet

    Raises
    ------
    LessonError if no lesson around the working directory has the exercise

    Examples
    --------
    >>> check("3.2", None)
    3.2 not answered yet: put your number in place of None and run the cell again.
    """
    exercise = exercise_of(key)
    verdict = exercise.verdict(answer)
    slip = (verdict.text(),) if verdict.outcome == "wrong" else verdict.messages
    print(verdict.text(_repeats[key, slip]))
    _repeats[key, slip] += 1
    if verdict.outcome == "right" and callable(exercise.right):
        print("  for later lessons: copy it, with its imports, into my_dp.py beside this notebook.")


def mine(name: str) -> Callable:
    """Return the student's function from ``my_dp.py`` if it is right, otherwise the exercise's.

    A printed line says which of the two it is. ``$DPLEARN_MINE`` sets another path for the file; if
    the variable is empty, no file is read.

    Parameters
    ----------
    name : str, name of a function that an exercise asks for, such as "delta_of"

    Returns
    -------
    Callable, the student's function, or the exercise's if the student's is absent or not right

    Raises
    ------
    LessonError if no exercise asks for the function
    """
    texts = (lesson.source.read_text(encoding="utf-8") for lesson in sources.lessons().values())
    keys = {checked: key for text in texts for key, checked in _CHECKED.findall(text)}
    exercise = exercise_of(keys[name]) if name in keys else None
    if not callable(right := getattr(exercise, "right", None)):
        raise LessonError(f"Expected the name of a function that an exercise asks for, got {name}.")
    function, origin = _load(name, exercise)
    print(f"{name}: {origin}")
    return function or right


def _load(name: str, exercise: Any) -> tuple[Callable | None, str]:
    """Return the student's function, or None if absent or wrong, and what `mine` prints."""
    file = os.environ.get("DPLEARN_MINE", "my_dp.py")
    path = Path(file)
    if not file or not path.exists():
        return None, "ours, as no my_dp.py lies beside this notebook."
    try:
        function = runpy.run_path(str(path), run_name="my_dp").get(name)
    except BaseException as error:  # the file may call exit()
        why = f"{type(error).__name__}: {error}".rstrip(": .")
        return None, f"ours, as {path.name} stops with {why}."
    if function is None:
        return None, f"ours, as {path.name} has none; exercise {exercise.key} asks for one."
    if (outcome := exercise.verdict(function).outcome) != "right":
        verdict = outcome if outcome == "not judged" else "not right"
        return None, f"ours, as the one in {path.name} is {verdict} in exercise {exercise.key}."
    return function, f"yours, from {path.name}."


@dataclass(frozen=True)
class Used:
    """Function of the student (`whose` is "yours") or of the exercise ("ours")."""

    function: Callable
    whose: str

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def yours(key: str, answer: Any) -> Used:
    """Return the student's function if it is right, otherwise the exercise's, with its origin.

    Parameters
    ----------
    key : str, key of an exercise that asks for a function, such as "3.1"
    answer : Any, the student's function
    """
    exercise = exercise_of(key)
    right = exercise.verdict(answer).outcome == "right"
    return Used(answer, "yours") if right else Used(exercise.right, "ours")


def pictures(number: str) -> Any:
    """Return the functions that draw a lesson's pictures, from its ``figures.py``.

    Parameters
    ----------
    number : str, two digits of the lesson, such as "13"

    Returns
    -------
    SimpleNamespace, all names that the file defines

    Raises
    ------
    LessonError if no lesson has the number
    """
    if (lesson := sources.lessons().get(number)) is None:
        raise LessonError(f"Expected the number of a lesson, such as '13', got {number!r}.")
    return SimpleNamespace(**runpy.run_path(str(lesson.figures)))


def exercise_of(key: str) -> Any:
    """Return the exercise with a key; raise LessonError if no lesson has it."""
    lesson = sources.lessons().get(key.partition(".")[0].zfill(2))
    by_key = exercises(lesson) if lesson else {}
    if key not in by_key:
        keys = ", ".join(by_key) or "the key of an exercise in lessons/sources"
        raise LessonError(f"Expected {keys}, got exercise {key}.")
    return by_key[key]


@cache
def exercises(lesson: Lesson) -> dict[str, Any]:
    """Return a lesson's exercises and self-tests by key; {} if it has no ``exercises.py``."""
    if not lesson.exercises.exists():
        return {}
    every = runpy.run_path(str(lesson.exercises))["EXERCISES"]
    chosen = (self_test(lesson, part) for part in sources.CHOSEN)
    return {each.key: each for each in (*every, *(each for each in chosen if each.choices))}


def self_test(lesson: Lesson, part: str = "test") -> SelfTest:
    """Return the multiple-choice questions in a `part` of a lesson, none if the part is absent."""
    return SelfTest(f"{int(lesson.number)}.{part}", sources.questions(lesson, part))
