"""Output as HTML, LaTeX and JSON, a progress line, and a read-only dict."""

import html
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

_PAUSE = 0.2  # seconds between two updates of a progress line
_SIGNS = {"epsilon": "ε", "delta": "δ", "<=": "≤", ">=": "≥"}
_TEX = {sign: rf"\{sign}" for sign in "&%$#_{}"}
_TEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {"ε": r"$\varepsilon$", "δ": r"$\delta$", "≤": r"$\le$", "≥": r"$\ge$"}
_CARD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>@page {{ size: A5; margin: 10mm }}
body {{ font: 15px/1.4 system-ui, sans-serif; max-width: 36em; margin: 1em auto; padding: 0 1em }}
p {{ font-size: 1.3em; border: solid; border-width: 2px 0; padding: .5em 0 }}
dt {{ font-weight: bold; margin-top: .4em }} dd {{ margin: 0; overflow-wrap: anywhere }}</style>
<h1>{title}</h1><p>{first}</p><dl>{rows}</dl></html>
"""


def in_signs(words: str) -> str:
    """Replace epsilon, delta, <= and >= by their mathematical symbols."""
    for name, sign in _SIGNS.items():
        words = words.replace(name, sign)
    return words


def as_json(value: Any) -> Any:
    """Convert a value to types that JSON can hold; inf and nan become None."""
    if isinstance(value, Mapping):
        return {name: as_json(x) for name, x in value.items()}
    if isinstance(value, np.ndarray | tuple | list):
        return [as_json(x) for x in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_json(rows: Iterable[dict[str, Any]]) -> None:
    """Print rows as a JSON list of objects."""
    print(json.dumps([*rows], indent=2, allow_nan=False))


def in_latex(text: str) -> str:
    """Return `text` with symbols as in `in_signs`, escaped for LaTeX."""
    return in_signs(text).translate(str.maketrans(_TEX))


def as_latex(rows: Mapping[str, str]) -> str:
    """Return `rows` as a two-column LaTeX table that needs no LaTeX package."""
    lines = [rf"{in_latex(name)} & {in_latex(words)} \\" for name, words in rows.items()]
    return "\n".join([r"\begin{tabular}{lp{0.7\linewidth}}", *lines, r"\end{tabular}", ""])


def as_card(title: str, rows: Mapping[str, str]) -> str:
    """Return a self-contained HTML page for printing: title, text of the first row, other rows."""
    shown = ((name, html.escape(in_signs(words))) for name, words in rows.items())
    (_, first), *others = shown
    listed = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in others)
    return _CARD.format(title=title, first=first, rows=listed)


class Shown:
    """Base class of values that notebooks show as a table."""

    def _shown(self) -> Mapping[str, str]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        cells = (map(html.escape, map(in_signs, row)) for row in self._shown().items())
        lines = "".join(f"<tr><th>{name}</th><td>{words}</td></tr>" for name, words in cells)
        return f"<table>{lines}</table>"

    def _repr_latex_(self) -> str:
        return as_latex(self._shown())


class ProgressLine:
    """Progress line on standard error, written only if `shown`, at most five times a second."""

    def __init__(self, shown: bool) -> None:
        self._shown, self._due = shown, 0.0

    def show(self, text: Callable[[], str], *, last: bool) -> None:
        """Write `text` over the line, at most every 0.2 s; if `last`, always, and end the line."""
        if self._shown and (last or time.monotonic() >= self._due):
            self._due = time.monotonic() + _PAUSE
            print("\r" + text().ljust(100), end="\n" if last else "", file=sys.stderr, flush=True)


class ReadOnly(dict[str, Any]):
    """Read-only dict of numbers and texts; it can be hashed, pickled and written as JSON."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return ReadOnly, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("Expected no change of details, which are read-only.")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]
