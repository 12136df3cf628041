"""Domains of parameters: sets of values from which the checks of a formula draw test points."""

import inspect
import itertools
import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Parameters = dict[str, Any]


class Domain:
    """Set of possible values of one parameter; `str(domain)` describes the range.

    `corners` are the values at the ends, if there are any. `drawn` holds the parameters drawn
    before this one. `near` returns a random value at a distance of about `size` times the domain's
    width. `rounded` returns a value of `digits` digits; 0 means 1, 2 or 5 times a power of ten.
    """

    corners: tuple[Any, ...] = ()

    def draw(self, rng: Generator, drawn: Parameters) -> Any:
        raise NotImplementedError(f"{type(self).__name__} says nothing of how it is drawn.")

    def near(self, value: Any, rng: Generator, size: float, drawn: Parameters) -> Any:
        return self.draw(rng, drawn)

    def rounded(self, value: Any, digits: int) -> Any:
        return value

    def holds(self, value: Any) -> bool:
        return True

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True)
class Linear(Domain):
    """Domain of a real number, drawn uniformly from [low, high] or from the extra values `also`."""

    low: float
    high: float
    also: tuple[float, ...] = ()

    @property
    def corners(self) -> tuple[float, ...]:
        return (self.low, self.high, *self.also)

    def draw(self, rng: Generator, drawn: Parameters) -> float:
        if self.also and rng.random() < 0.2:
            return self.also[rng.integers(len(self.also))]
        return self._value(self._place(self.low) + self._width * rng.random())

    def near(self, value: float, rng: Generator, size: float, drawn: Parameters) -> float:
        if not self.low <= value <= self.high:
            return value
        return self._inside(self._value(self._place(value) + size * self._width * rng.normal()))

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high or value in self.also

    def middle(self, one: float, other: float) -> float:
        """Return the midpoint of `one` and `other`, or `other` if either is outside the domain."""
        if one == other or not self.low <= min(one, other) <= max(one, other) <= self.high:
            return other
        return self._value(0.5 * (self._place(one) + self._place(other)))

    def rounded(self, value: float, digits: int) -> float:
        if not self.low <= value <= self.high or value == 0:
            return value
        if digits:
            return self._inside(float(f"{value:.{digits}g}"))
        power = math.floor(math.log10(abs(value)))
        lead = min((1, 2, 5, 10), key=lambda x: abs(math.log(x * 10.0**power / abs(value))))
        return self._inside(math.copysign(float(f"{lead}e{power}"), value))

    def __str__(self) -> str:
        return f"drawn from {self.low:g} to {self.high:g}"

    def _place(self, value: float) -> float:
        return value

    def _value(self, place: float) -> float:
        return place

    @property
    def _width(self) -> float:
        return self._place(self.high) - self._place(self.low)

    def _inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Log(Linear):
    """Domain of a positive number whose logarithm is drawn uniformly."""

    def _place(self, value: float) -> float:
        return math.log(value)

    def _value(self, place: float) -> float:
        # A random step may leave the domain: avoid overflow here; `_inside` clips the value later.
        return math.exp(min(place, 700.0))


@dataclass(frozen=True)
class Whole(Log):
    """Domain of a whole number >= 1 whose logarithm is drawn uniformly."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"whole, {super().__str__()}"

    def draw(self, rng: Generator, drawn: Parameters) -> int:
        return round(super().draw(rng, drawn))

    def near(self, value: float, rng: Generator, size: float, drawn: Parameters) -> int:
        step = round(super().near(value, rng, size, drawn))
        return step if step != value else round(self._inside(value + rng.choice([-1, 1])))

    def middle(self, one: float, other: float) -> int:
        return round(super().middle(one, other))

    def rounded(self, value: float, digits: int) -> int:
        return round(super().rounded(value, digits))


class Choice(Domain):
    """Domain of a few listed values."""

    def __init__(self, *values: Any) -> None:
        self.corners = self.values = values

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.values))}"

    def holds(self, value: Any) -> bool:
        return str(value) in map(str, self.values)

    def draw(self, rng: Generator, drawn: Parameters) -> Any:
        return self.values[rng.integers(len(self.values))]

    def near(self, value: Any, rng: Generator, size: float, drawn: Parameters) -> Any:
        return self.draw(rng, drawn) if rng.random() < 0.3 else value


@dataclass(frozen=True)
class Distribution(Domain):
    """Domain of probability vectors of length `symbols`; entries may be 0 if `zeros` is true."""

    symbols: int
    zeros: bool = True

    @property
    def corners(self) -> tuple[NDArray, ...]:
        n = self.symbols
        flat, steep = np.full(n, 1 / n), _normal(np.geomspace(1, 1e-6, n))
        holes = (np.eye(n)[0], _normal(np.arange(n) > 0)) if self.zeros else ()
        return (flat, steep, steep[::-1], *holes)

    def draw(self, rng: Generator, drawn: Parameters) -> NDArray:
        p = rng.dirichlet(np.full(self.symbols, rng.choice([0.3, 1.0, 10.0]))) + 1e-9
        if self.zeros and rng.random() < 0.25:
            p[rng.integers(self.symbols)] = 0.0
        return _normal(p)

    def near(self, value: NDArray, rng: Generator, size: float, drawn: Parameters) -> NDArray:
        return _normal(value * np.exp(3 * size * rng.normal(size=self.symbols)))

    def rounded(self, value: NDArray, digits: int) -> NDArray:
        parts = (4, 10, 100)[digits]
        # Largest remainder method: keep the sum 1, and return `value` if an entry would get 0.
        whole = np.floor(value * parts)
        missing = round(parts - whole.sum())
        whole[np.argsort(whole - value * parts, stable=True)[:missing]] += 1
        possible = (whole > 0) == (value > 0)
        return whole / parts if np.all(possible) else value


@dataclass(frozen=True)
class Drawn(Domain):
    """Domain of values drawn by a function `make` of earlier parameters, `rng` or `drawn`."""

    make: Callable[..., Any]

    def follows(self, name: str) -> bool:
        """Return whether the value must be drawn again after a change of the parameter `name`."""
        return not {name, "drawn"}.isdisjoint(inspect.signature(self.make).parameters)

    def draw(self, rng: Generator | None, drawn: Parameters) -> Any:
        return by_name(self.make)(ChainMap({"rng": rng, "drawn": drawn}, drawn))


@dataclass(frozen=True)
class Derived(Drawn):
    """Domain of a value that `make` computes from other parameters, without random numbers."""

    def follows(self, name: str) -> bool:
        return False


def several(low: float, high: float, *, least: int = 1, most: int = 4) -> Drawn:
    """Return a domain of lists with `least` to `most` numbers from [low, high], rounded to 0.01."""

    def draw(rng: Generator) -> NDArray:
        size = rng.integers(least, most + 1)
        return np.round(np.exp(rng.uniform(math.log(low), math.log(high), size)), 2)

    return Drawn(draw)


@lru_cache(maxsize=1000)
def by_name(function: Callable[..., Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Return a version of `function` that takes its arguments by name from one mapping."""
    named = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in named.values()):
        return lambda parameters: function(**parameters)
    free = named.keys() - getattr(function, "keywords", {})  # not set by functools.partial
    return lambda parameters: function(**{n: parameters[n] for n in free if n in parameters})


def _normal(p: NDArray) -> NDArray:
    return p / np.sum(p)


def design(
    domain: Mapping[str, Domain], fits: Callable[[Parameters], bool], *, points: int, rng: Generator
) -> list[Parameters]:
    """Draw `points` points that satisfy `fits`, at most half of them corners; else ValueError."""
    chosen = list(itertools.islice(filter(fits, _corners(domain, points, rng)), points // 2))
    for _ in range(100 * points):
        if len(chosen) >= points:
            return chosen
        drawn: Parameters = {}
        for name, values in domain.items():
            drawn[name] = values.draw(rng, drawn)
        if fits(drawn):
            chosen.append(drawn)
    raise ValueError(f"Expected {points} points that meet the hypothesis, got {len(chosen)}.")


def _corners(domain: Mapping[str, Domain], points: int, rng: Generator) -> Iterator[Parameters]:
    """Yield at most 4 * `points` corners of the domain in random order."""
    ends = [d.corners or (None,) for d in domain.values()]
    total = math.prod(len(e) for e in ends)
    if total == 1:
        return
    every = list(itertools.product(*ends)) if total <= 4096 else None
    order = rng.permutation(total)[: 4 * points] if every else range(4 * points)
    for k in order:
        corner = every[k] if every else [e[rng.integers(len(e))] for e in ends]
        drawn: Parameters = {}
        for (name, values), end in zip(domain.items(), corner, strict=True):
            drawn[name] = end if values.corners else values.draw(rng, drawn)
        yield drawn


# Domains of common parameters, for the `setting` decorators of chapters.
LOSS, SLACK, COUNT = Log(0.02, 8.0), Log(1e-9, 0.3), Whole(1, 150)
NOISE, ORDER, RATE = Log(0.3, 30.0), Log(1.1, 40.0), Log(1e-3, 0.9)
RHO, MU = Log(0.005, 3.0), Log(0.05, 4.0)
POSSIBLE = Distribution(3, zeros=False)  # three outcomes of positive probability
