"""The engine in JavaScript: the curves of (sampled) Gaussians, certified, in a reader's browser.

The files beside this one are plain modules without dependencies; the Python engine is their
reference, and each names its counterpart. A page imports `engine.js` or inlines `source`.
"""

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_NEEDED = re.compile(r'^(?:import|export) (\{.*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:(?:class|function|const) (\w+)|\{(.*)\} from)", re.MULTILINE)


@cache
def source(name: str = "dplearn") -> str:
    """Text of a classic script that defines `name`: an object of all that engine.js exports.

    Examples
    --------
    >>> source().splitlines()[0]
    'const dplearn = (() => {'
    """
    scopes = "".join(f"const ${file} = {_scope(file)};\n" for file in _ordered("engine"))
    return f'const {name} = (() => {{\n"use strict";\n{scopes}return $engine;\n}})();\n'


def _ordered(file: str) -> list[str]:
    """The modules that one needs, each after those that it needs, and itself last."""
    needed = (_ordered(other) for _, other in _NEEDED.findall(_text(file)))
    return list(dict.fromkeys([*(one for files in needed for one in files), file]))


def _scope(file: str) -> str:
    """A module as a function's value: an object of its exports."""
    text = _text(file)
    exported = ", ".join(one or more.strip() for one, more in _EXPORTED.findall(text))
    body = re.sub(r"^export ", "", _NEEDED.sub(r"const \1 = $\2;", text), flags=re.MULTILINE)
    return f"(() => {{\n{body}return {{ {exported} }};\n}})()"


def _text(file: str) -> str:
    return (_FOLDER / f"{file}.js").read_text(encoding="utf-8")
