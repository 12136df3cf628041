"""JavaScript engine for certified epsilon of (subsampled) Gaussian mechanisms in browsers.

The .js files in this folder are plain modules without dependencies; most name the Python module
that is their reference. A page imports `engine.js` or inlines `source`.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dplearn.datasets import digits, split

# Mechanisms with closed forms in `laws.js`, which need no tables from Python.
CLOSED_FORMS = ("gaussian", "laplace", "randomized_response", "geometric")
_FOLDER = Path(__file__).resolve().parent
_NEEDED = re.compile(r'^(?:import|export) (\{.*\}) from "(\.[./\w]+\.js)";$', re.MULTILINE)
_COMMENTS = re.compile(r"^ *(?://.*|/\*\*[\s\S]*?\*/)\n", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:(?:class|function|const) (\w+)|\{(.*)\} from)", re.MULTILINE)


@cache
def source(name: str = "dplearn", entry: str = "engine") -> str:
    """Return a classic script that defines the variable `name`, an object with a module's exports.

    It also defines the function that creates the object; workers get this function's text.

    Parameters
    ----------
    name : str, name of the variable; the function is called name + "Module"
    entry : str, the module: "engine", "page/page" for epsilon against T, "mechanisms/mechanisms",
        "attack_page/attack_page", or "scenes/scenes" for the one-minute page

    Examples
    --------
    >>> source().splitlines()[0]
    'function dplearnModule() {'
    """
    path = _FOLDER / f"{entry}.js"
    scopes = "".join(f"const {_variable(file)} = {_scope(file)};\n" for file in _ordered(path))
    body = f'"use strict";\n{scopes}return {_variable(path)};'
    return f"function {name}Module() {{\n{body}\n}}\nconst {name} = {name}Module();\n"


def presets() -> list[dict[str, str]]:
    """Return published training runs, each with its title and the query string that shows it."""
    return json.loads((_FOLDER / "page" / "presets.json").read_text(encoding="utf-8"))


def shuffled() -> dict[str, Any]:
    """Return stored bounds on epsilon of two runs with shuffled batches."""
    # The bounds are stored, because computing them takes seconds.
    return json.loads((_FOLDER / "scenes" / "shuffled.json").read_text(encoding="utf-8"))


@cache
def digits_as_text() -> dict[str, Any]:
    """Return the digit images of the attack page: 1238 records, 200 canaries and 359 test images.

    An image has 64 pixels from 0 to 16, each written as a digit of base 17.
    """
    train, _, test = split(digits(), validation=0.0)
    others = len(train.labels) - 200
    images = np.concatenate([train.images, test.images])
    labels = np.concatenate([train.labels, test.labels])
    pixels = "".join("0123456789abcdefg"[round(16 * x)] for x in images.ravel().tolist())
    return {"pixels": pixels, "labels": "".join(map(str, labels)), "others": others}


def attack_page() -> str:
    """Return the page "Proof and attack" as one HTML file."""
    scripts = source() + source("attackPage", "attack_page/attack_page")
    digits = json.dumps(digits_as_text())
    options = f"engine: dplearn, source: String(dplearnModule), digits: {digits}"
    return f"""<!doctype html><meta charset="utf-8"><title>Proof and attack</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style("page/page", "attack_page/attack_page")}</style>
<body style="margin: 0; color-scheme: light dark"><div id="here"></div><script>{scripts}
const {{ page }} = attackPage.mount(document.getElementById("here"), {{ {options} }});</script>"""


def style(*entries: str) -> str:
    """Return the style sheets of pages; `entries` are names of modules as in `source`."""
    return "".join((_FOLDER / f"{entry}.css").read_text(encoding="utf-8") for entry in entries)


def _ordered(path: Path) -> list[Path]:
    """Return a module and its direct and indirect imports, each module after its own imports."""
    others = [(path.parent / other).resolve() for _, other in _NEEDED.findall(_text(path))]
    needed = map(_ordered, others)
    return list(dict.fromkeys([*(one for files in needed for one in files), path]))


def _variable(path: Path) -> str:
    return "$" + path.relative_to(_FOLDER).with_suffix("").as_posix().replace("/", "_")


def _scope(path: Path) -> str:
    """Convert a module to a function call that returns an object with the module's exports."""
    text = _text(path)
    exported = ", ".join(one or more.strip() for one, more in _EXPORTED.findall(text))
    bound = lambda m: f"const {m[1]} = {_variable((path.parent / m[2]).resolve())};"
    body = re.sub(r"^export ", "", _NEEDED.sub(bound, text), flags=re.MULTILINE)
    return f"(() => {{\n{body}return {{ {exported} }};\n}})()"


def _text(path: Path) -> str:
    """Return a module's text without comment lines; licences, which begin with `/*!`, stay."""
    return _COMMENTS.sub("", path.read_text(encoding="utf-8"))
