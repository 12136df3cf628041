"""Words of a page by key, and numbers and words of a question within their ranges."""

from collections.abc import Iterable, Mapping
from typing import Any

from dplearn.core import validate
from dplearn.teaching.explorer.kit import language

# Ranges of what a reader may ask of the server; `browser/page/run.js` has the same ones.
RANGES = {
    "noise_multiplier": (0.2, 1000.0),
    "sample_rate": (1e-7, 1.0),
    "delta": (1e-30, 0.5),
    "steps": (1, 10_000_000),
}


def number(run: Mapping[str, Any], name: str, key: str = "") -> float:
    """Return a number of a question within its range; ValueError in one sentence."""
    value, (low, high) = run.get(key or name), RANGES[name]
    good = isinstance(value, int | float) and low <= value <= high
    if not good or (name == "steps" and value != int(value)):
        raise ValueError(f"Expected {key or name} from {low:g} to {high:g}, got {value!r:.40}.")
    return int(value) if name == "steps" else float(value)


def chosen(run: Mapping[str, Any], name: str, options: Iterable[str]) -> str:
    """Return a word of a question that is among options; ValueError in one sentence."""
    word: Any = run.get(name)
    validate.one_of(tuple(options), **{name: word})
    return word


class Words:
    """The sentences of a file of words by key, in the reader's language."""

    def __init__(self, name: str) -> None:
        self._keyed = language.keyed(name)

    def __getitem__(self, key: str) -> str:
        """Return a sentence, or its template, in English."""
        return self._keyed[key][0]

    def __call__(self, key: str, **values: Any) -> str:
        """Return a sentence in the reader's language, with the values in its places."""
        text = self._keyed[key][language.spoken() == "zh"]
        return text.format(**values) if values else text

    def table(self, name: str) -> dict[str, str]:
        """Return the sentences of a table in the reader's language, by the last word of keys."""
        parted = (key.rpartition(".") for key in self._keyed)
        return {last: self(f"{name}.{last}") for of, _, last in parted if of == name}


_say = Words("shared")


def named(names: Iterable[str]) -> dict[str, str]:
    """Return names of the library and how they read on the screen."""
    spelled = _say.table("names")
    return {name: spelled.get(name, name.replace("_", " ").capitalize()) for name in names}
