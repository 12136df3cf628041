"""Kinds of input: a number, one of a few words, and free text; and the words of a page.

A field has a `key`, its name in the address; `parse` reads what a reader typed, `show` writes it.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dplearn.core.guarantee import ADJACENCIES
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.explorer.kit import language
from dplearn.teaching.explorer.kit.language import Said, retold
from dplearn.teaching.figures.kit.axes import MANTISSAS

# Mantissas of a slider's marks, by their number per decade.
_MANTISSAS = {
    3: (1, 2, 5),
    10: MANTISSAS,
    20: (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 6, 7, 8.5),
}
# Marks of a slider on a linear scale, or on a logarithmic one with few round numbers.
_FINE, _FEW = 61, 9
# Of more options a message tells the first and the last.
_TOLD = 20


@dataclass(frozen=True)
class Quantity:
    """A number with a slider, logarithmic unless `even`, and a box.

    The box takes what lies in [lower, upper] and the numbers in `also`; the slider has
    `per_decade` marks per power of ten.
    """

    key: str
    label: str
    help: str
    default: float
    lower: float
    upper: float
    per_decade: int = 10
    whole: bool = False
    even: bool = False
    also: tuple[float, ...] = ()

    def parse(self, text: object) -> float:
        """The number a reader typed (``256/60000``, ``10⁻⁵``), or a ValueError of one sentence."""
        for value in self.also:
            if str(text) == self.show(value):
                return value
        value = _number(str(text), commas=self.whole)
        if self.lower <= value <= self.upper and not (self.whole and value != round(value)):
            return int(value) if self.whole else float(value)
        entry = quoted(text)
        if math.isnan(value) and re.search(r"\d,\d", str(text)):
            raise ValueError(_say.said("errors.comma", label=self.label, entry=entry))
        low, high = self.show(self.lower), self.show(self.upper)
        key = f"errors.{'whole' if self.whole else 'number'}"
        raise ValueError(_say.said(key, label=self.label, lower=low, upper=high, entry=entry))

    def show(self, value: float) -> str:
        """`value` as the box shows it."""
        plain = self.whole and value < 1e12
        return f"{value:.0f}" if plain else f"{value:.10g}".replace("e-0", "e-")

    def marks(self) -> tuple[float, ...]:
        """Where the slider can stand."""
        if self.even:
            return tuple(float(f"{x:.4g}") for x in np.linspace(self.lower, self.upper, _FINE))
        first, last = math.floor(math.log10(self.lower)), math.ceil(math.log10(self.upper))
        grid = [
            float(f"{m}e{p}") for p in range(first, last + 1) for m in _MANTISSAS[self.per_decade]
        ]
        inside = [v for v in grid if self.lower <= v <= self.upper]
        if self.whole or len(inside) > _FEW:
            return tuple(v for v in inside if not self.whole or v == round(v))
        return tuple(float(f"{x:.5g}") for x in np.geomspace(self.lower, self.upper, _FINE))


@dataclass(frozen=True)
class Selection:
    """One of a few words, in a list.

    `options` maps words in the address to words on the screen; the first is the default where no
    other is named.
    """

    key: str
    label: str
    help: str
    options: Mapping[str, str]
    default: Any = None

    def __post_init__(self) -> None:
        if self.default is None:
            object.__setattr__(self, "default", next(iter(self.options)))

    def parse(self, text: object) -> str:
        """The option that a text names, or a ValueError as above."""
        if str(text) in self.options:
            return str(text)
        told = [*self.options]
        told = told if len(told) <= _TOLD else [told[0], "…", told[-1]]
        names, entry = ", ".join(told), quoted(text)
        raise ValueError(_say.said("errors.among", label=self.label, names=names, entry=entry))

    def show(self, value: str) -> str:
        """`value` as the address shows it."""
        return value


@dataclass(frozen=True)
class Text:
    """A box for words; whether they make sense `reads` says, or later the library."""

    key: str
    label: str
    help: str
    default: str
    reads: Callable[[str], object] = str  # raises ValueError unless they are as `expected`
    expected: str = ""

    def parse(self, text: object) -> str:
        """The words without spaces around them, or a ValueError as above."""
        words = str(text).strip()
        try:
            self.reads(words)
        except ValueError:
            label, entry = self.label, quoted(text)
            told = _say.said("errors.text", label=label, expected=self.expected, entry=entry)
            raise ValueError(told) from None
        return words

    def show(self, value: str) -> str:
        """The words as they are."""
        return value


Field = Quantity | Selection | Text


def by_key(*fields: Field) -> dict[str, Field]:
    """Fields under their names in the address."""
    return {field.key: field for field in fields}


class Words:
    """The sentences of a file of words by key, and the fields to which it gives their words.

    A field is a table with its label, perhaps help, and names of its options.
    """

    def __init__(self, name: str) -> None:
        self._english = {key: english for key, (english, _) in language.keyed(name).items()}

    def __getitem__(self, key: str) -> str:
        """A sentence, or its template, in English."""
        return self._english[key]

    def __call__(self, key: str, **values: Any) -> str:
        """A sentence in the reader's language, with the values in its places."""
        return retold(self.said(key, **values))

    def said(self, key: str, **values: Any) -> Said:
        """The same in English, which can still be told in another language."""
        return Said(self._english[key], **values)

    def table(self, name: str) -> dict[str, str]:
        """The English sentences of a table."""
        inside = (key.rpartition(".") for key in self._english)
        return {last: self._english[f"{name}.{last}"] for of, _, last in inside if of == name}

    def quantity(
        self, key: str, default: float, lower: float, upper: float, **more: Any
    ) -> Quantity:
        """A number with the label and the help of its table."""
        return Quantity(key, *self._about(key), default, lower, upper, **more)

    def selection(
        self, key: str, options: Mapping[str, str] | None = None, **more: Any
    ) -> Selection:
        """One of the options of its table, or of others, with its label and help."""
        return Selection(key, *self._about(key), options or self.table(f"{key}.options"), **more)

    def text(self, key: str, default: str = "", reads: Callable[[str], object] = str) -> Text:
        """A box for words, with the label and the help of its table, and what it expects."""
        return Text(
            key, *self._about(key), default, reads, self._english.get(f"{key}.expected", "")
        )

    def _about(self, key: str) -> tuple[str, str]:
        return self._english[f"{key}.label"], self._english.get(f"{key}.help", "")


_say = Words("shared")

# Fields of a run of DP-SGD, by the library's keywords.
NOISE = _say.quantity("noise_multiplier", 4, 0.2, 1000, per_decade=20)
RATE = _say.quantity("sample_rate", 0.01, 1e-7, 1)
DELTA = _say.quantity("delta", 1e-5, 1e-30, 0.5, per_decade=3)
STEPS = _say.quantity("steps", 40_000, 1, 1e7, whole=True)


def named(names: Iterable[str]) -> dict[str, str]:
    """Names of the library and how they read on the screen."""
    spelled = _say.table("names")
    return {name: spelled.get(name, name.replace("_", " ").capitalize()) for name in names}


ADJACENCY = _say.selection("adjacency", named(ADJACENCIES))


def quoted(text: object) -> str:
    """A reader's words as inert code: a link or a picture in an address must stay text."""
    words = " ".join(str(text).split()).replace("`", "'")
    return f"`{words[:40]}`" if words else "nothing"


# Digits in threes, parted by spaces or apostrophes; a percentage.
_GROUPED = r"(?<![\d.,])[1-9]\d{0,2}(?:[\s'’%s]\d{3})+(?![\d,])"
_PERCENT = re.compile(r"(\d[\d.]*(?:[eE][-+]?\d+)?)\s*%")
# A comparison has no value, and 1e is an unfinished number, not Euler's.
_NO_NUMBER = re.compile(r"[<>=]|\de(?!xp|[-+]?\d)", re.IGNORECASE)


def _number(text: str, *, commas: bool) -> float:
    """What a number or a sum comes to, `commas` between thousands allowed or not; else NaN."""
    plain = re.sub(_GROUPED % ("," * commas), lambda m: re.sub(r"\D", "", m[0]), text)
    plain = _PERCENT.sub(r"(\1/100)", plain)
    try:
        # In 15 digits 10⁻⁵ is what 1e-5 is.
        return math.nan if _NO_NUMBER.search(plain) else float(f"{parse(plain)():.15g}")
    except ValueError:
        return math.nan
