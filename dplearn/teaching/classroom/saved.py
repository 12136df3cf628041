"""Saved solutions: right answers to code exercises in ``my_dp.py``, for later lessons.

The file belongs to the student: functions are added at its end, below a comment with the exercise
and the day, and the last one of a name counts. Only an equal text of the same name is moved there;
all else stays as it is.
"""

import ast
import builtins
import dis
import inspect
import os
import re
import runpy
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from types import CodeType
from typing import Any

from dplearn.core.files import write_whole
from dplearn.teaching.classroom.sources import lessons

_ASKED = re.compile(r'^check\("(\d+\.\d+)", (\w+)\)', re.MULTILINE)
_HEAD = '"""My own library of differential privacy: functions that were right, and what I add."""\n'


def library() -> Path | None:
    """Return the file of saved solutions, None if ``$DPLEARN_MINE`` is empty."""
    name = os.environ.get("DPLEARN_MINE", "my_dp.py")
    return Path(name).resolve() if name else None


def load(name: str, key: str, exercise: Any) -> tuple[Callable | None, str]:
    """Return the saved solution of an exercise, or None unless it is right, and the reason."""
    path = library()
    if path is None or not path.exists():
        return None, "ours, as no my_dp.py lies beside this notebook."
    scope = _run(path)
    if isinstance(error := scope.get(""), BaseException):
        why = f"{type(error).__name__}: {error}".rstrip(": .")
        return None, f"ours, as {path.name} stops with {why}."
    if (function := scope.get(name)) is None:
        return None, f"ours, as {path.name} has none; exercise {key} keeps one."
    if (outcome := exercise.verdict(function).outcome) != "right":
        verdict = outcome if outcome == "not judged" else "not right"
        return None, f"ours, as the one in {path.name} is {verdict} in exercise {key}."
    text = path.read_text(encoding="utf-8")
    days = re.findall(rf"^# \S+ {name}, kept on (\S+)", text, re.MULTILINE)
    return function, f"yours, {'kept on ' + days[-1] if days else 'from ' + path.name}."


def save(key: str, exercise: Any, function: Callable) -> str:
    """Add a right answer to exercise `key` to the file; return a sentence on the outcome."""
    if (path := library()) is None:
        return "not kept: $DPLEARN_MINE is empty, so there is no file."
    name = next(name for name, each in keys().items() if each == key)
    again = f'run check("{key}", {name}, keep=True) again'
    try:
        own = _standing_alone(function, name)
        scope: dict[str, Any] = {"__name__": "my_dp"}
        exec(compile(own, "<kept>", "exec"), scope)
        if exercise.verdict(scope[name]).outcome != "right":
            raise ValueError(f"its text alone is not right; put all it needs inside, and {again}.")
        text = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        # Not if a line of the function's body follows, which the student has added.
        equal = rf"^# \S+ {name}, kept on \S+\n{re.escape(own)}\n*(?=\S|\Z)"
        text = re.sub(equal, "", text, flags=re.MULTILINE).rstrip()
        text += f"\n\n\n# {key} {name}, kept on {date.today()}\n{own}"
        ast.parse(text)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        write_whole(path, text.encode())
        path.chmod(mode)
    except SyntaxError as error:
        return f"not kept: line {error.lineno} of {path.name} is no Python; mend it, and {again}."
    except (OSError, UnicodeDecodeError, ValueError) as error:
        return f"not kept: {error}"
    return f'kept as {name} in {path.name}; mine("{name}") finds it in later lessons.'


def keys() -> dict[str, str]:
    """Return the key of each exercise by the name of the function that its cell checks."""
    texts = [lesson.source.read_text(encoding="utf-8") for lesson in lessons().values()]
    return {name: key for text in texts for key, name in _ASKED.findall(text)}


def _run(path: Path) -> dict[str, Any]:
    """Return the names that the file defines, or its error under an empty name."""
    try:
        return runpy.run_path(str(path), run_name="my_dp")
    except BaseException as error:  # also exit()
        return {"": error}


def _standing_alone(function: Callable, name: str) -> str:
    """Return the imports and text of a notebook's function, with `name` as its name."""
    text, tree = "", None
    with suppress(OSError, SyntaxError, TypeError, ValueError):
        text = textwrap.dedent(inspect.getsource(function))
        (tree,) = ast.parse(text).body
    if not isinstance(tree, ast.FunctionDef):
        raise ValueError(f"write it as `def {name}(...):` in a cell, and check it there.")
    # Import line of each name that a cell of this notebook has imported.
    given, imports = {}, []
    for cell in inspect.unwrap(function).__globals__.get("In", ()):
        with suppress(SyntaxError):
            for node in ast.walk(ast.parse(cell)):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    for alias in node.names:
                        node.names = [alias]
                        given[alias.asname or alias.name.partition(".")[0]] = ast.unparse(node)
    for used in sorted(set(outside(compile(text, "<kept>", "exec"))) - {tree.name}):
        if used not in given:
            raise ValueError(
                f"it uses `{used}`, a name of this notebook; write what it is inside {tree.name}."
            )
        imports.append(given[used])
    head = "".join(f"{line}\n" for line in dict.fromkeys(imports))
    alias = f"\n\n{name} = {tree.name}\n" if tree.name != name else ""
    return f"{head}\n\n{text.rstrip()}\n{alias}" if head else f"{text.rstrip()}\n{alias}"


def outside(code: CodeType) -> Iterator[str]:
    """Yield the names that code takes from its module, without Python's builtins."""
    loads = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
    for each in dis.get_instructions(code):
        own = hasattr(builtins, str(each.argval)) or str(each.argval).startswith("__")
        if each.opname in loads and not own:
            yield each.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from outside(constant)
