"""The engine in JavaScript: the curves of (sampled) Gaussians, certified, in a reader's browser.

The files beside this one are plain modules without dependencies; the Python engine is their
reference, and each names its counterpart. A page imports `engine.js` or inlines `source`.
"""

import json
import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_NEEDED = re.compile(r'^(?:import|export) (\{.*\}) from "\./(\w+)\.js";$', re.MULTILINE)
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
        "engine", or "page/page", the page of epsilon against T.

    Examples
    --------
    >>> source().splitlines()[0]
    'function dplearnModule() {'
    """
    folder = (_FOLDER / entry).parent
    last = entry.rpartition("/")[2]
    scopes = "".join(
        f"const ${file} = {_scope(folder, file)};\n" for file in _ordered(folder, last)
    )
    body = f'"use strict";\n{scopes}return ${last};'
    return f"function {name}Module() {{\n{body}\n}}\nconst {name} = {name}Module();\n"


def presets() -> list[dict[str, str]]:
    """Published runs: title, and query of the address that shows it."""
    return json.loads((_FOLDER / "page" / "presets.json").read_text(encoding="utf-8"))


def style() -> str:
    """Text of the style sheet of the page of epsilon against T."""
    return (_FOLDER / "page" / "page.css").read_text(encoding="utf-8")


def _ordered(folder: Path, file: str) -> list[str]:
    """The modules that one needs, each after those that it needs, and itself last."""
    needed = (_ordered(folder, other) for _, other in _NEEDED.findall(_text(folder, file)))
    return list(dict.fromkeys([*(one for files in needed for one in files), file]))


def _scope(folder: Path, file: str) -> str:
    """A module as a function's value: an object of its exports."""
    text = _text(folder, file)
    exported = ", ".join(one or more.strip() for one, more in _EXPORTED.findall(text))
    body = re.sub(r"^export ", "", _NEEDED.sub(r"const \1 = $\2;", text), flags=re.MULTILINE)
    return f"(() => {{\n{body}return {{ {exported} }};\n}})()"


def _text(folder: Path, file: str) -> str:
    return (folder / f"{file}.js").read_text(encoding="utf-8")
