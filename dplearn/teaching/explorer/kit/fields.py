"""Texts of a page by key, and checks of the values in a request from the browser."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dplearn.core import validate
from dplearn.teaching.explorer.kit import language

# Range of each input, as in `browser/page/run.js`; a range of ints allows no fractions.
RANGES = {
    "noise_multiplier": (0.2, 1000.0),
    "sample_rate": (1e-7, 1.0),
    "delta": (1e-30, 0.5),
    "steps": (1, 10_000_000),
}


def number(run: Mapping[str, Any], name: str, ends: Sequence[float] = ()) -> Any:
    """Return the number `run[name]`; raise ValueError if it is outside `ends` or `RANGES[name]`."""
    value, (low, high) = run.get(name), ends or RANGES[name]
    good = isinstance(value, int | float) and low <= value <= high
    if not good or type(low)(value) != value:
        raise ValueError(f"Expected {name} from {low:g} to {high:g}, got {value!r:.40}.")
    return type(low)(value)


def chosen(run: Mapping[str, Any], name: str, options: Iterable[str]) -> str:
    """Return the text `run[name]`; raise ValueError unless it is one of the options."""
    word: Any = run.get(name)
    validate.one_of(tuple(options), **{name: word})
    return word


class Words:
    """Texts of a message file by key, in the reader's language."""

    def __init__(self, name: str) -> None:
        self._keyed = language.keyed(name)

    def __getitem__(self, key: str) -> str:
        """Return the English text or template of a key."""
        return self._keyed[key][0]

    def __call__(self, key: str, **values: Any) -> str:
        """Return a text in the reader's language, formatted with the values."""
        text = self._keyed[key][language.current() == "zh"]
        return text.format(**values) if values else text

    def table(self, name: str) -> dict[str, str]:
        """Return the texts of a TOML table, by their keys in it, in the reader's language."""
        parted = (key.rpartition(".") for key in self._keyed)
        return {last: self(f"{name}.{last}") for of, _, last in parted if of == name}


_say = Words("shared")


def named(names: Iterable[str]) -> dict[str, str]:
    """Return the text that pages show for each of `names`, such as "add_remove"."""
    spelled = _say.table("names")
    return {name: spelled.get(name, name.replace("_", " ").capitalize()) for name in names}
