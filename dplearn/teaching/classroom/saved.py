"""Saved solutions: a student's right functions in ``my_dp.py``, for later lessons."""

import os
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dplearn.teaching.classroom.checks import exercise_of
from dplearn.teaching.classroom.sources import LessonError, lessons

_CHECKED = re.compile(r'^check\("(\d+\.\d+)", (\w+)\)', re.MULTILINE)


def mine(name: str) -> Callable:
    """Return a student's function if ``my_dp.py`` has it and it is right, otherwise ours.

    A line that names its origin is printed. ``$DPLEARN_MINE`` is another path of the file; if it
    is empty, no file is read.

    Parameters
    ----------
    name : str
        Name of a function that an exercise asks for, such as "delta_of".

    Returns
    -------
    Callable
        The student's function or, if it is absent or not right, that of the exercise.

    Raises
    ------
    LessonError
        If no exercise asks for the function.
    """
    texts = (lesson.source.read_text(encoding="utf-8") for lesson in lessons().values())
    keys = {checked: key for text in texts for key, checked in _CHECKED.findall(text)}
    exercise = exercise_of(keys[name]) if name in keys else None
    if not callable(right := getattr(exercise, "right", None)):
        raise LessonError(f"Expected the name of a function that an exercise asks for, got {name}.")
    function, origin = _load(name, exercise)
    print(f"{name}: {origin}")
    return function or right


def _load(name: str, exercise: Any) -> tuple[Callable | None, str]:
    """Return a student's function, or None unless it is right, and a phrase on its origin."""
    file = os.environ.get("DPLEARN_MINE", "my_dp.py")
    path = Path(file)
    if not file or not path.exists():
        return None, "ours, as no my_dp.py lies beside this notebook."
    try:
        function = runpy.run_path(str(path), run_name="my_dp").get(name)
    except BaseException as error:  # also exit()
        why = f"{type(error).__name__}: {error}".rstrip(": .")
        return None, f"ours, as {path.name} stops with {why}."
    if function is None:
        return None, f"ours, as {path.name} has none; exercise {exercise.key} asks for one."
    if (outcome := exercise.verdict(function).outcome) != "right":
        verdict = outcome if outcome == "not judged" else "not right"
        return None, f"ours, as the one in {path.name} is {verdict} in exercise {exercise.key}."
    return function, f"yours, from {path.name}."
