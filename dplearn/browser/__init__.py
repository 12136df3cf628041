"""The engine in JavaScript: the curves of (sampled) Gaussians, certified, in a reader's browser.

The files beside this one are plain modules without dependencies; the Python engine is their
reference, and each names its counterpart. A page imports `engine.js` or inlines `source`.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

# Mechanisms that the page of mechanisms draws without the library: the laws of `laws.js`.
CLOSED_FORMS = ("gaussian", "laplace", "randomized_response", "geometric", "discrete_gaussian")
_FOLDER = Path(__file__).resolve().parent
_NEEDED = re.compile(r'^(?:import|export) (\{.*\}) from "(\.[./\w]+)\.js";$', re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:(?:class|function|const) (\w+)|\{(.*)\} from)", re.MULTILINE)


@cache
def source(name: str = "dplearn", entry: str = "engine") -> str:
    """Text of a classic script that defines `name`: an object of all that a module exports.

    It also defines the function that makes the object; its text is what a worker is given.

    Parameters
    ----------
    name : str
        The variable; the function's name has "Module" after it.
    entry : str
        "engine", or a page: "page/page", of epsilon against T, or "mechanisms/mechanisms".

    Examples
    --------
    >>> source().splitlines()[0]
    'function dplearnModule() {'
    """
    last = _FOLDER / entry
    scopes = "".join(f"const {_name(file)} = {_scope(file)};\n" for file in _ordered(last))
    body = f'"use strict";\n{scopes}return {_name(last)};'
    return f"function {name}Module() {{\n{body}\n}}\nconst {name} = {name}Module();\n"


def presets() -> list[dict[str, Any]]:
    """Published runs: title, query of the address that shows it, where it is described, and rows of
    data/published.csv that belong to it without naming its parameters."""
    return json.loads((_FOLDER / "page" / "presets.json").read_text(encoding="utf-8"))


def style(*more: str) -> str:
    """Text of the style sheet of the page of epsilon against T, and of other pages after it."""
    sheets = ("page", *more)
    return "".join((_FOLDER / s / f"{s}.css").read_text(encoding="utf-8") for s in sheets)


def _ordered(file: Path) -> list[Path]:
    """The modules that one needs, each after those that it needs, and itself last."""
    needed = (_ordered(_beside(file, other)) for _, other in _NEEDED.findall(_text(file)))
    return list(dict.fromkeys([*(one for files in needed for one in files), file]))


def _beside(file: Path, other: str) -> Path:
    """The module that another one calls by a relative address."""
    return (file.parent / other).resolve()


def _name(file: Path) -> str:
    """The variable of a module, by its place."""
    return "$" + "_".join(file.relative_to(_FOLDER).parts)


def _scope(file: Path) -> str:
    """A module as a function's value: an object of its exports."""
    text = _text(file)
    exported = ", ".join(one or more.strip() for one, more in _EXPORTED.findall(text))
    bound = _NEEDED.sub(lambda m: f"const {m[1]} = {_name(_beside(file, m[2]))};", text)
    body = re.sub(r"^export ", "", bound, flags=re.MULTILINE)
    return f"(() => {{\n{body}return {{ {exported} }};\n}})()"


def _text(file: Path) -> str:
    return file.with_suffix(".js").read_text(encoding="utf-8")
