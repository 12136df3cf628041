"""Table of points that test a claim: a column per parameter, and one of the correct value.

A claim about any column is checked by comparison, without solving equations. Points with usual
values come first, then corners of the domain, then random points.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.teaching.book import book
from dplearn.teaching.book.kit.domains import Choice, Domain, Log, Whole, by_name
from dplearn.teaching.book.kit.entry import Formula, Setting
from dplearn.teaching.book.kit.expression import GREEK
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import KIND_OF, LENGTHS, LETTERS, LISTS, VALUES

_PLAIN, _CORNERS, _RANDOM = 36, 28, 64
# Typical values in examples, the simplest first.
_USUAL = (1.0, 2.0, 10.0, 0.5, 0.1, 5.0, 100.0, 0.2, 3.0, 1000.0, 0.01, 20.0)
_SMALL = (1e-5, 1e-6, 1e-7, 1e-3, 1e-2)
VALUE = "@"  # name of the column with the entry's value
Points = Mapping[str, NDArray]
_SIGNS = {name: letter for letter, name in reversed(GREEK.items())} | {"Delta": "Δ", "xi": "ξ"}


def base(name: str) -> str:
    """Return the letter of a decorated name: epsilon for ``epsilon_0_prime``."""
    return name.partition("_")[0]


def below(name: str) -> str:
    """Return the decorations of a name: ``0_prime`` for ``epsilon_0_prime``."""
    return name.partition("_")[2]


def sign_of(name: str) -> str:
    """Return a decorated name in Unicode: ``ε_0′`` for ``epsilon_0_prime``."""
    first, *marks = name.split("_")
    rest = "".join(f"_{mark}" for mark in marks if mark != "prime")
    return _SIGNS.get(first, first) + rest + "′" * marks.count("prime")


def fits(name: str, column: str, about: str) -> bool:
    """Return whether the letter `name` may stand for a column; `about` is the value's quantity."""
    kind = about if column == VALUE else LISTS.get(column, column)
    letters = (VALUES if column == VALUE else LETTERS).get(kind, {kind})
    numbered = re.sub(r"_(prime|hat|tilde|bar)", "", name)
    return base(name) in letters or numbered in letters


@dataclass(frozen=True, eq=False)
class Table:
    """Test points of a situation (`setting`), with the proved value and a lower bound at each."""

    entry: Formula
    setting: Setting
    pinned: bool = True  # whether the sensitivity is fixed at 1

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """Columns and the domains from which their values are drawn."""
        if self.setting.into:
            return self.setting.domain
        every = {**self.entry.domain, **self.setting.domain}
        return {n: every[n] for n in signature(self.entry.function).parameters if n in every}

    @cached_property
    def unpinned(self) -> "Table":
        """The same table with varying sensitivity."""
        return replace(self, pinned=False)

    @property
    def lists(self) -> tuple[str, ...]:
        """Names of the columns that hold lists."""
        return tuple(name for name in self.domains if name in LISTS)

    @property
    def sign(self) -> int:
        """1 if too small a value overstates privacy, -1 if too large a value does, else 0."""
        below = -1 if self.entry.kind == "lower" else 0
        return {"smaller": 1, "larger": -1}.get(self.entry.unsafe or "", below)

    @cached_property
    def in_units(self) -> bool:
        """Whether noise is in units of a sensitivity that is not a column."""
        lengths = self.setting.about in ("sigma", "scale") or {*LENGTHS} & {*self.domains}
        return bool(lengths) and "sensitivity" not in self.domains

    @cached_property
    def columns(self) -> dict[str, NDArray]:
        """Values of every parameter: a column of numbers or of lists."""
        rng = np.random.default_rng(zlib.crc32(f"{self.entry.id} {self.setting.text}".encode()))
        columns = {n: _drawn(d, 3 if n in LISTS else 1, rng) for n, d in self.domains.items()}
        if self.in_units:
            columns["sensitivity"] = _drawn(Log(0.3, 4.0), 1, rng)
        if self.pinned and "sensitivity" in columns:
            columns["sensitivity"] = np.ones_like(columns["sensitivity"])
        factor = columns["sensitivity"] if self.in_units else 1.0
        return {n: x * factor if n in LENGTHS else x for n, x in columns.items()}

    @cached_property
    def value(self) -> NDArray:
        """Proved value of the entry at every point."""
        return self.value_at(self.columns)

    @cached_property
    def edge(self) -> dict[str, NDArray] | None:
        """Columns, with the lower bounds of valid claims in place of the value; None if unknown."""
        low = self.below_at(self.columns, self.value)
        return None if low is None else {**self.columns, VALUE: low}

    @cached_property
    def holds(self) -> NDArray:
        """Mask of the points at which the entry's hypothesis holds."""
        if self.hypothesis:
            rule, at = parse(self.hypothesis), self.unscaled(self.columns)
            if rule.names <= {*at}:
                return np.broadcast_to(np.all(rule(**at), axis=-1, keepdims=True), self.value.shape)
        return np.ones(self.value.shape, bool)

    @property
    def hypothesis(self) -> str:
        """Hypothesis as an expression of column names; "" if it is a function or missing."""
        given = self.setting.given or ("" if self.setting.into else self.entry.given)
        return given if isinstance(given, str) else ""

    def value_at(self, columns: Points, function: Callable[..., Any] | None = None) -> NDArray:
        """Return the value of the entry, or of `function`, at the points `columns`."""
        into, after = self.setting.into, self.setting.value
        named = by_name(function or self.entry.function)

        def one(point: dict[str, Any]) -> float:
            try:
                value = named(into(**point) if into else point)
                return float(after(value, **point) if after else value)
            except (ArithmeticError, ValueError, TypeError):  # complex powers raise TypeError
                zero = any(np.ndim(x) == 0 and x == 0 for x in point.values())
                return np.inf if zero else np.nan

        with np.errstate(all="ignore"):
            values = np.array([one(point) for point in self.rows(self.unscaled(columns))])
        return values[:, None] * self.scale_of(columns)

    def second_at(self, columns: Points) -> NDArray | None:
        """Return delta of the pair (value, delta) at every point, or None if there is no pair."""
        if not (second := self.setting.second):
            return None
        return np.broadcast_to(parse(second)(**self.unscaled(columns)), self.value.shape)

    def below_at(self, columns: Points, value: NDArray) -> NDArray | None:
        """Return the lower bounds of valid claims at points with the proved `value`, or None."""
        below = self.setting.below
        if not callable(below):
            return value if below or self.entry.kind == "identity" else None
        with np.errstate(all="ignore"):
            low = np.asarray(by_name(below)(self.unscaled(columns)), float) * self.scale_of(columns)
        return np.broadcast_to(low, value.shape)

    def rows(self, columns: Points) -> list[dict[str, Any]]:
        """Return the rows of the table, with whole numbers as int and lists as arrays."""
        rows: dict[str, Any] = {}
        for name, x in columns.items():
            whole = isinstance(self.domains.get(name), Whole)
            rows[name] = x if x.shape[-1] > 1 else x[:, 0].astype(int if whole else float).tolist()
        return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]

    def unscaled(self, columns: Points) -> dict[str, NDArray]:
        """Return the columns without the sensitivity, by which all noise scales are divided."""
        if not self.in_units:
            return dict(columns)
        at = {n: x / columns["sensitivity"] if n in LENGTHS else x for n, x in columns.items()}
        return {n: x for n, x in at.items() if n != "sensitivity"}

    def scale_of(self, columns: Points) -> NDArray | float:
        """Return the sensitivity if the entry's value scales with it, else 1."""
        length = self.in_units and self.setting.about in LENGTHS
        return columns["sensitivity"] if length else 1.0


def _drawn(domain: Any, width: int, rng: np.random.Generator) -> NDArray:
    """Draw a column of a table: usual values first, then corners, then random values."""
    size = _PLAIN + _CORNERS + _RANDOM
    if isinstance(domain, Choice):
        values = np.array([v for v in domain.values if isinstance(v, int | float)], float)
        return values[rng.integers(len(values), size=(size, width))]
    u = rng.random((size, width))
    u[_PLAIN : _PLAIN + _CORNERS] = np.round(u[_PLAIN : _PLAIN + _CORNERS])
    low, high = domain.low, domain.high
    x = low * (high / low) ** u if isinstance(domain, Log) else low + (high - low) * u
    x = np.clip(x, low, high)
    small = isinstance(domain, Log) and high <= 0.5 and low < 1e-4
    usual = [v for v in (_SMALL if small else _USUAL) if low <= v <= high]
    usual += [v for v in (0.5, 0.75, 0.25, -1.0) if low <= v <= high and not usual]
    if usual:
        weights = 0.6 ** np.arange(len(usual))
        x[:_PLAIN] = rng.choice(usual, size=(_PLAIN, width), p=weights / weights.sum())
        x[0] = usual[0]
    return np.round(x) if isinstance(domain, Whole) else x


@cache
def tables(about: str) -> tuple[Table, ...]:
    """Return the tables of all situations where the quantity `about` is the value or a column."""
    every = (Table(entry, setting) for entry in book.values() for setting in entry.settings)
    kinds = lambda table: {table.setting.about, *(KIND_OF.get(n, "") for n in table.domains)}
    return tuple(table for table in every if about in kinds(table))
