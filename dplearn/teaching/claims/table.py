"""Settings of entries as tables of points: their columns are the parameters and the value.

A formula for any column is a comparison, and nothing is solved. The first points are plain values,
then come corners of the domain, then random ones.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dplearn.teaching.book import Formula, book
from dplearn.teaching.book.kit.domains import Choice, Domain, Linear, Log, Whole, by_name
from dplearn.teaching.book.kit.entry import Interval, Setting
from dplearn.teaching.book.kit.parser import parse
from dplearn.teaching.book.kit.terms import KIND_OF, LENGTHS, LISTS

_PLAIN, _CORNERS, _RANDOM = 36, 28, 64
# Values of an example that a person would choose, the plainest first.
_USUAL = (1.0, 2.0, 10.0, 0.5, 0.1, 5.0, 100.0, 0.2, 3.0, 1000.0, 0.01, 20.0)
_SMALL = (1e-5, 1e-6, 1e-7, 1e-3, 1e-2)
_WIDTH = 3  # of a list


@dataclass(frozen=True, eq=False)
class Table:
    """Points of one setting, with what is proved there and what no mechanism beats."""

    entry: Formula
    setting: Setting
    unit: float | None = None  # 1 if the sensitivity is held there; nan if noise is in units of it

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """Return the columns and from where they are drawn."""
        return columns_of(self.entry, self.setting)

    @property
    def lists(self) -> tuple[str, ...]:
        """Return the columns that are lists."""
        return tuple(name for name in self.domains if name in LISTS)

    @property
    def sign(self) -> int:
        """Return 1 if too small a value promises too much, -1 if too large a one, 0 if neither."""
        below = -1 if self.entry.kind == "lower" else 0
        return {"smaller": 1, "larger": -1}.get(self.entry.unsafe or "", below)

    @cached_property
    def columns(self) -> dict[str, NDArray]:
        """Return the values of every parameter: a column of numbers, or of lists."""
        rng = np.random.default_rng(zlib.crc32(f"{self.entry.id} {self.setting.text}".encode()))
        columns: dict[str, NDArray] = {
            name: _drawn(domain, _WIDTH if name in LISTS else 1, rng)
            for name, domain in self.domains.items()
        }
        if self.unit is not None and "sensitivity" in columns:
            columns["sensitivity"] = np.full_like(columns["sensitivity"], self.unit)
        elif self.unit is not None:
            factor = _drawn(Log(0.3, 4.0), 1, rng) if np.isnan(self.unit) else np.array(self.unit)
            columns |= {n: x * factor for n, x in columns.items() if n in LENGTHS}
            columns |= {"sensitivity": factor} if np.isnan(self.unit) else {}
        return columns

    @cached_property
    def value(self) -> NDArray:
        """Return the entry's value at every point: what is proved."""
        return self.value_at(self.columns)

    @cached_property
    def below(self) -> NDArray | None:
        """Return what no mechanism beats at every point; None if nothing is known."""
        return self.below_at(self.columns, self.value)

    @cached_property
    def holds(self) -> NDArray:
        """Return where the hypothesis is met."""
        if self.hypothesis:
            rule, at = parse(self.hypothesis), self.unscaled(self.columns)
            if rule.names <= {*at}:
                return np.broadcast_to(np.all(rule(**at), axis=-1, keepdims=True), self.value.shape)
        return np.ones(self.value.shape, bool)

    @property
    def hypothesis(self) -> str:
        """Return the hypothesis in the columns; "" if there is none that is an expression."""
        given = self.setting.given or ("" if self.setting.into else self.entry.given)
        return given if isinstance(given, str) else ""

    def value_at(self, columns: Mapping[str, NDArray]) -> NDArray:
        """Return the entry's value at other points of the same number."""
        points = self._points(self.unscaled(columns))
        into, after, function = self.setting.into, self.setting.value, self.entry.function
        if into and not {*into(**points[0])} <= {*signature(function).parameters}:
            named = by_name(function)
            function = lambda **given: named(given)

        def one(point: dict[str, Any]) -> float:
            try:
                value = function(**into(**point)) if into else function(**point)
                return float(after(value, **point) if after else value)
            except (ArithmeticError, ValueError, TypeError):  # a power may be complex
                zero = any(np.ndim(x) == 0 and x == 0 for x in point.values())
                return np.inf if zero else np.nan

        with np.errstate(all="ignore"):
            values = np.array([one(point) for point in points])
        return values[:, None] * self.scale_of(columns)

    def second_at(self, columns: Mapping[str, NDArray]) -> NDArray | None:
        """Return the delta of the pair at every point, where the setting has one of its own."""
        second = self.setting.second
        if not second:
            return None
        at = self.unscaled(columns)
        if isinstance(second, str):
            return np.broadcast_to(parse(second)(**at), self.value.shape)
        return np.array([second(**point) for point in self._points(at)])[:, None]

    @cached_property
    def second_only(self) -> frozenset[str]:
        """Return the columns of which the delta of the pair depends and the value does not."""
        names = [n for n in ("delta", "deltas") if n in self.domains]
        moved = lambda n: self.value_at({**self.columns, n: self.columns[n] / 2})
        return frozenset(n for n in names if np.array_equal(moved(n), self.value, equal_nan=True))

    def below_at(self, columns: Mapping[str, NDArray], value: NDArray) -> NDArray | None:
        """Return what no mechanism beats at points at which the value is known."""
        below = self.setting.below
        if below == "exact" or (below is None and self.entry.kind == "identity"):
            return value
        at = self.unscaled(columns)
        if callable(below):
            with np.errstate(all="ignore"):
                low = np.asarray(by_name(below)(at), float) * self.scale_of(columns)
            return np.broadcast_to(low, value.shape)
        return self._by_oracle(at) if self.entry.kind in ("upper", "lower") else None

    def _by_oracle(self, at: Mapping[str, NDArray]) -> NDArray | None:
        needed = signature(self.entry.oracle).parameters
        needed = {n for n, p in needed.items() if p.default is p.empty and p.kind != p.VAR_KEYWORD}
        if self.setting.into or self.lists or not needed <= {*at}:
            return None
        out, oracle = np.full(self.value.shape, np.nan), by_name(self.entry.oracle)
        # Slow: at the plain points and some others.
        for k, point in enumerate(self._points(at)):
            if k < 12 or k % 8 == 0:
                truth = oracle(point)
                out[k] = truth.low if isinstance(truth, Interval) else truth
        return out * self.scale_of(self.columns)

    def points(self) -> list[dict[str, Any]]:
        """Return the points as the setting's own parameters."""
        return self._points(self.unscaled(self.columns))

    def _points(self, columns: Mapping[str, NDArray]) -> list[dict[str, Any]]:
        """Return the rows of the table; whole numbers are int, and lists stay lists."""
        rows: dict[str, Any] = {}
        for name, x in columns.items():
            whole = isinstance(self.domains.get(name), Whole)
            rows[name] = x if x.shape[-1] > 1 else x[:, 0].astype(int if whole else float).tolist()
        return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]

    def unscaled(self, columns: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Return the columns with lengths in units of the sensitivity."""
        if self.unit is None or "sensitivity" in self.domains:
            return dict(columns)
        factor = columns["sensitivity"] if np.isnan(self.unit) else self.unit
        names = [n for n in columns if n != "sensitivity"]
        return {n: columns[n] / factor if n in LENGTHS else columns[n] for n in names}

    def scale_of(self, columns: Mapping[str, NDArray]) -> NDArray | float:
        """Return what the entry's value is multiplied by, for noise on another sensitivity."""
        own = "sensitivity" in self.domains
        if self.unit is None or own or self.setting.about not in ("sigma", "scale"):
            return 1.0
        return columns["sensitivity"] if np.isnan(self.unit) else self.unit


def columns_of(entry: Formula, setting: Setting) -> Mapping[str, Domain]:
    """Return the columns of a setting's table, from where they are drawn."""
    if setting.into:
        return setting.domain
    own = signature(entry.function).parameters
    every = {n: d for n, d in {**entry.domain, **setting.domain}.items() if n in own}
    return {n: every[n] for n in own if n in every}


def _drawn(domain: Domain, width: int, rng: np.random.Generator) -> NDArray:
    """Return a column of plain values, corners and random ones."""
    size = _PLAIN + _CORNERS + _RANDOM
    if isinstance(domain, Choice):
        values = np.array([v for v in domain.values if isinstance(v, int | float)], float)
        return values[rng.integers(len(values), size=(size, width))]
    if not isinstance(domain, Linear):
        raise TypeError(f"Expected a domain of numbers, got {domain!r}.")
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
    """Return the tables of all settings in which a quantity is the value, or a column."""
    kinds = lambda entry, setting: {KIND_OF.get(n, "") for n in columns_of(entry, setting)}
    return tuple(
        Table(entry, setting)
        for entry in book.values()
        for setting in entry.settings
        if about in {setting.about, *kinds(entry, setting)}
    )


@cache
def scaled(table: Table, unit: float) -> Table:
    """Return the table with noise in units of another sensitivity, nan for any."""
    return replace(table, unit=unit)
