"""Exercises that ask for Python code, run on a lesson's page by Pyodide without NumPy.

`described` runs when a page is built. `replied` runs in the page and uses `Program.verdict`.
"""

import contextlib
import inspect
import io
import json
import math
import random
import re
import textwrap
import traceback
from typing import Any

from dplearn.teaching.classroom import programs
from dplearn.teaching.classroom._numbers import unpacked
from dplearn.teaching.classroom.checks import Mistake, Reply
from dplearn.teaching.classroom.programs import Complaint, Program

# Modules of this folder that the page gives to Pyodide.
MODULES = ("_numbers", "checks", "in_page", "programs", "sources")

_ONLY = " This page has the standard library only."


def described(program: Program) -> str:
    """Return an exercise as a Python expression, with results instead of reference functions.

    The expression is empty if the measure uses NumPy.
    """
    source = ""
    if (measure := program.measure) is not programs.returned:
        # The measure, and all functions of its module that it calls directly or indirectly.
        needed, place = [measure], measure.__code__.co_filename
        for function in needed:  # the loop extends the list
            words = re.findall(r"\w+", inspect.getsource(function))
            others = filter(inspect.isfunction, map(measure.__globals__.get, words))
            own = (o for o in others if o.__code__.co_filename == place)
            needed += [o for o in dict.fromkeys(own) if o not in needed]
        source = "\n".join(textwrap.dedent(inspect.getsource(each)) for each in needed)
    if "np." in source:
        return ""
    places, slips = range(len(program.cases)), range(len(program.mistakes))
    fields = {
        "names": program.names,
        "measure": source,
        "cases": _plain(program.cases),
        "expected": _plain(program.expected),
        "made": [_plain([program.of_mistake(slip, i) for i in places]) for slip in slips],
        "mistakes": [mistake.hints for mistake in program.mistakes],
    }
    same = ("key", "praise", "hints", "rtol", "rtol_mistakes", "seconds")
    return repr(fields | {name: getattr(program, name) for name in same})


def _plain(value: Any) -> Any:
    """Convert all arrays in a value to lists."""
    value = unpacked(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(_plain, value))
    return value


def rebuilt(description: str) -> Program:
    """Rebuild, from the result of `described`, an exercise that gives the same replies."""
    scope = {"Complaint": Complaint, "inf": math.inf, "nan": math.nan}
    result = eval(description, scope)
    source, made, names = result.pop("measure"), result.pop("made"), result.pop("names")
    expected, mistakes = result.pop("expected"), result.pop("mistakes")
    names_of_source: dict[str, Any] = {"math": math, "random": random}
    exec(source, names_of_source)
    functions = filter(inspect.isfunction, names_of_source.values())  # first comes the comparison
    program = Program(
        right=lambda: None,
        mistakes=tuple(Mistake(None, hints) for hints in mistakes),
        measure=next(functions, programs.returned),
        **result,
    )
    names_of_source["settled"] = programs.settled
    computed = {"names": names, "expected": expected}
    vars(program).update(computed, of_mistake=lambda slip, number: made[slip][number])
    return program


def replied(code: str, name: str, description: str) -> str:
    """Return as JSON the reply to the function `name` in a student's code, or to an error there."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    program = rebuilt(description)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, "<answer>", "exec"), scope)
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        line = error.lineno if isinstance(error, SyntaxError) else last.lineno
        problem = f"line {line}: {type(error).__name__}: {getattr(error, 'msg', error)}."
        if isinstance(error, ModuleNotFoundError):
            problem += _ONLY
        return json.dumps(vars(Reply("unreadable", f"{program.key} stops", (problem,))))
    reply = program.verdict(scope.get(name))
    messages = tuple(each + _ONLY * ("name 'np' is not" in each) for each in reply.messages)
    return json.dumps(vars(reply) | {"messages": messages})
