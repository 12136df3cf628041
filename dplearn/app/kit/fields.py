"""Kinds of input: a number, one or several of a few words, and free text.

Each has a `key`, its name in the address; `parse` reads what a reader typed and `show` writes it.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dplearn.figures.kit.axes import MANTISSAS
from dplearn.ground.written import read

# Mantissas of a slider's marks, by their number per decade.
_MANTISSAS = {
    3: (1, 2, 5),
    10: MANTISSAS,
    20: (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 6, 7, 8.5),
}
# Marks of a slider on a linear scale, or on a logarithmic one with few round numbers.
_FINE, _FEW = 61, 9


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
        kind = "a whole number" if self.whole else "a number"
        span = f"to be {kind} from {self.show(self.lower)} to {self.show(self.upper)}"
        if math.isnan(value) and re.search(r"\d,\d", str(text)):
            span = "without a comma, which may stand before decimals or between thousands"
        raise ValueError(f"Expected “{self.label}” {span}, got {quoted(text)}.")

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
class Choice:
    """One of a few words; several where `default` is a tuple.

    `options` maps words in the address to words on the screen; the first is the default where no
    other is named. `among` says what they are where there are too many for a message.
    """

    key: str
    label: str
    help: str
    options: Mapping[str, str]
    default: Any = None
    among: str = ""

    def __post_init__(self) -> None:
        if self.default is None:
            object.__setattr__(self, "default", next(iter(self.options)))

    def parse(self, text: object) -> Any:
        """The option, or the tuple of options, that a text names, or a ValueError as above."""
        several = isinstance(self.default, tuple)
        words = tuple(w for w in str(text).split(",") if w) if several else (str(text),)
        if wrong := [w for w in words if w not in self.options]:
            if self.among:
                raise ValueError(f"Expected {self.among}, got another.")
            names = ", ".join(self.options)
            raise ValueError(
                f"Expected “{self.label}” to be among {names}, got {quoted(wrong[0])}."
            )
        if not words:
            raise ValueError(f"Expected “{self.label}” to name at least one, got none.")
        return tuple(k for k in self.options if k in words) if several else words[0]

    def show(self, value: Any) -> str:
        """`value` as the address shows it."""
        return ",".join(value) if isinstance(value, tuple) else str(value)


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
            message = f"Expected “{self.label}” to be {self.expected}, got {quoted(text)}."
            raise ValueError(message) from None
        return words

    def show(self, value: str) -> str:
        """The words as they are."""
        return value


Field = Quantity | Choice | Text


def by_key(*fields: Field) -> dict[str, Field]:
    """Fields under their names in the address."""
    return {field.key: field for field in fields}


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
        return math.nan if _NO_NUMBER.search(plain) else float(f"{read(plain, ())():.15g}")
    except ValueError:
        return math.nan
