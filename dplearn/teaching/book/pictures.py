"""Plots of a formula and its oracle, along one parameter or at all points of a verification.

Every point is cached, so that a picture cut short by its time limit continues at the next call.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dplearn.teaching.book import Refutation, book
from dplearn.teaching.book.kit.checks import Case, compare, side_of, starting_points
from dplearn.teaching.book.kit.domains import Derived, Drawn, Linear, Log, Parameters, Whole
from dplearn.teaching.book.kit.entry import Formula
from dplearn.teaching.book.run_all import refutation
from dplearn.teaching.book.sentences import Wording

_DRAWN = 24  # candidates for a picture's initial parameters; half of them are corners
_POINTS = 33  # points of a curve: 2^5 + 1, so that every second one gives an even grid, too


class Stretch(NamedTuple):
    """Marked interval of the x axis: outside the hypothesis, or of unsafe, safe or wrong values."""

    left: float
    right: float
    kind: str


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Curve of a formula along a parameter `x`, with bounds of the truth; nan leaves a gap."""

    x: Sequence[float]
    value: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    own: Sequence[float] = ()  # the entry's values, if `value` belongs to a wrong variant
    claimed: bool = False  # whether a wrong variant is drawn
    regions: Sequence[Stretch] = ()
    ends: tuple[float, float]  # ends of the x axis
    log_x: bool = False
    ticks: Sequence[str] = ()  # labels of x = 0, 1, ... for steps towards a limit
    star: tuple[float, float] | None = None  # the counterexample to a wrong variant


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Values of a formula and true values at many points, for a scatter plot."""

    truth: Sequence[float]
    value: Sequence[float]
    verdict: Sequence[str]  # each is right, unsafe, safe or wrong
    words: Sequence[str] = ()  # text shown on hover
    kind: str = "identity"  # or upper, lower, asymptotic


class Comparison(NamedTuple):
    """Value of a formula and bounds of the truth at one point; nan and "" if not compared."""

    inside: bool
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    slack: float = math.nan
    verdict: str = ""
    own: float = math.nan


class Picture(NamedTuple):
    """Drawing of a formula and its oracle, its points, and whether all were computed in time."""

    drawn: Any  # a Sweep or a Cloud
    points: list[Comparison]
    complete: bool


@dataclass(frozen=True)
class View:
    """Formula to draw (an entry or its wrong variant `misprint`) and values of its parameters.

    Unset parameters come from the example, or from random draw number `draw`.
    """

    id: str
    misprint: str = "none"
    draw: int = 0
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def claim(self) -> Formula:
        """Formula to draw: the entry or its wrong variant."""
        return shown(self.id, self.misprint)

    @property
    def parameters(self) -> Parameters:
        """All parameters, after recomputing those that depend on `settings`."""
        begin = first_parameters(self.id, self.misprint, self.draw)
        return _changed(self.claim, begin, dict(self.settings))

    @property
    def inside(self) -> bool:
        """Whether the hypothesis of the entry holds, or of the variant if it lacks parameters."""
        entry, parameters = book[self.id], self.parameters
        claim = entry if {*entry.parameters} <= {*parameters} else self.claim
        return bool(_attempt(claim.accepts, parameters))

    @property
    def axes(self) -> tuple[str, ...]:
        """The parameters that can run along the x axis."""
        claim = self.claim
        numbers = (name for name, domain in claim.domain.items() if isinstance(domain, Linear))
        return *(claim.along or {}), *numbers

    @property
    def beside(self) -> bool:
        """Whether the entry's value can be drawn beside the wrong variant's."""
        if self.misprint == "none":
            return False
        entry, misprint = book[self.id], book[self.id].misprint(self.misprint)
        theirs = {*self.claim.parameters}
        return bool(misprint.claim) and not misprint.oracle and {*entry.parameters} <= theirs

    def at(self, name: str, value: Any) -> "View":
        """Return the view with one parameter changed."""
        return replace(self, settings=tuple({**dict(self.settings), name: value}.items()))


def _changed(claim: Formula, begin: Parameters, settings: Parameters) -> Parameters:
    """Return the parameters with `settings` applied and dependent parameters recomputed."""
    values = {**begin, **settings}
    changed = {name for name, value in settings.items() if value != begin[name]}
    for name, domain in claim.domain.items() if changed else ():
        follows = isinstance(domain, Drawn) and any(map(domain.follows, changed))
        if follows or isinstance(domain, Derived):
            made = _attempt(domain.draw, np.random.default_rng(0), values)
            values[name] = math.nan if made is None else made
            changed.add(name)
    return values


@lru_cache(maxsize=1024)
def shown(id: str, misprint: str) -> Formula:
    """Return the formula to draw: the entry, or its wrong variant as a formula."""
    entry = book[id]
    return entry if misprint == "none" else entry.claimed(entry.misprint(misprint))


_refuted: dict[tuple[str, str], Refutation] = {}


def refuted(id: str, misprint: str, search: Callable[..., Refutation] = refutation) -> Refutation:
    """Search for a counterexample to a misprint, which takes seconds, and cache the outcome."""
    if (id, misprint) not in _refuted:
        _refuted[id, misprint] = search(id, misprint)
    return _refuted[id, misprint]


@lru_cache(maxsize=1024)
def first_parameters(id: str, misprint: str = "none", draw: int = 0) -> Parameters:
    """Return initial parameters: the counterexample, an example, the domain's middle, or random."""
    claim = shown(id, misprint)
    points = starting_points(claim, points=_DRAWN)
    limit = {name: values[-1] for name, values in (claim.along or {}).items()}
    # `points` begins with corners and ends with random draws.
    random = {**points[-1 - draw % len(points)], **limit}
    if draw:
        return random
    case = refuted(id, misprint).counterexample if misprint != "none" else None
    examples = [case.parameters] if case else [e.parameters for e in claim.printed]
    for example in examples:
        known = claim.domain.items()
        if case or all(n in example and domain.holds(example[n]) for n, domain in known):
            return {**random, **{n: x for n, x in example.items() if n in claim.parameters}}
    numbers = {n: d for n, d in claim.domain.items() if isinstance(d, Linear)}
    middle = {n: d.rounded(Linear.middle(d, d.low, d.high), 1) for n, d in numbers.items()}
    amid = _changed(claim, random, middle)
    return amid if _attempt(claim.accepts, amid) else random


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call `function`; return None if it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except Exception:  # outside its hypothesis an entry may raise any error
        return None


def curve(place: View, name: str, *, seconds: float = math.inf, most: int | None = None) -> Picture:
    """Draw a formula along the parameter `name`, at the points computed within `seconds`.

    `most` limits the number of points, unless the parameter runs towards a limit.
    """
    limit: Any = (place.claim.along or {}).get(name)
    domain: Any = place.claim.domain.get(name)
    log = isinstance(domain, Log)
    grid = list(limit) if limit else _grid(domain)
    order = range(len(grid)) if limit else _order(len(grid))[:most]
    in_time = _in_time(lambda k: comparison_at(place.at(name, grid[k])), order, seconds)
    points = [in_time[k] for k in sorted(in_time)]
    x = [float(k if limit else grid[k]) for k in sorted(in_time)]
    ends = (-0.5, len(grid) - 0.5) if limit else (float(grid[0]), float(grid[-1]))
    between = lambda a, b: 0.5 * (a + b) if limit else Linear.middle(domain, a, b)

    def border(a: float, b: float, left: bool, right: bool) -> float:
        """Return where in [a, b] the hypothesis turns from `left` to `right`, or the midpoint."""
        exact = left != right and domain is not None and not isinstance(domain, Whole)
        for _ in range(40 * exact):
            middle = between(a, b)
            a, b = (middle, b) if place.at(name, middle).inside == left else (a, middle)
        return between(a, b)

    inside = pairwise(p.inside for p in points)
    borders = [border(*at, *held) for at, held in zip(pairwise(x), inside, strict=True)]
    outside = ["" if p.inside else "outside" for p in points]
    # A band around a wrong value extends half way to the next points.
    wrong = [p.verdict if p.verdict != "right" else "" for p in points]
    halfway = [between(a, b) for a, b in pairwise(x)]
    drawn = Sweep(
        x=x,
        value=[p.value for p in points],
        low=[p.low for p in points],
        high=[p.high for p in points],
        own=[p.own for p in points] if place.beside else (),
        claimed=place.misprint != "none",
        regions=[*_bands(outside, borders, ends), *_bands(wrong, halfway, ends)],
        ends=ends,
        log_x=log,
        ticks=[str(v) for v in limit] if limit else (),
        star=_star(place, name, limit, log),
    )
    return Picture(drawn, points, len(points) == len(grid))


def _grid(domain: Any) -> list[Any]:
    spaced = np.geomspace if isinstance(domain, Log) else np.linspace
    values = [float(f"{x:.12g}") for x in spaced(domain.low, domain.high, _POINTS)]
    return sorted({round(v) for v in values}) if isinstance(domain, Whole) else values


def _order(count: int) -> list[int]:
    """Return the indices below `count` from coarse to fine, so that each prefix spans the range."""
    steps = [2**k for k in range(count.bit_length(), -1, -1)]
    return list(dict.fromkeys([0, count - 1, *(k for s in steps for k in range(0, count, s))]))


def _in_time(make: Callable, order: Iterable[int], seconds: float) -> dict[int, Comparison]:
    began, made = time.perf_counter(), {}
    for k in order:
        made[k] = make(k)
        if time.perf_counter() - began > seconds:
            break
    return made


@lru_cache(maxsize=20_000)
def comparison_at(place: View) -> Comparison:
    """Compare the formula of `place` with its oracle at the parameters of `place`."""
    claim, parameters, entry = place.claim, place.parameters, book[place.id]
    own = _value(entry, parameters) if place.beside else math.nan
    # Compare if the hypothesis of the entry or of a variant with this oracle holds here.
    family = [shown(place.id, name) for name in ("none", *(m.name for m in entry.misprints))]
    able = [c for c in family if c.oracle is claim.oracle and {*c.parameters} <= {*parameters}]
    case = None
    if any(_attempt(c.accepts, parameters) for c in able):
        case = _attempt(compare, replace(claim, along=None), parameters)
    if case is None:
        return Comparison(place.inside, _value(claim, parameters), own=own)
    # On the way to a limit, judge only the last point.
    judged = all(parameters[n] == values[-1] for n, values in (claim.along or {}).items())
    judged = judged and _attempt(claim.accepts, parameters)
    return _compared(claim, case, judged)._replace(inside=place.inside, own=own)


def _value(formula: Formula, parameters: Parameters) -> float:
    value = _attempt(formula.value, parameters)
    return math.nan if value is None else float(value)


def _compared(claim: Formula, case: Case, judged: bool = True) -> Comparison:
    """Return a case as a comparison, with the verdict "" if `judged` is false."""
    side = side_of(claim, case) if judged else ""
    verdict = side
    if side not in ("", "right"):
        known = claim.unsafe is not None and side != "none"
        verdict = ("unsafe" if side == claim.unsafe else "safe") if known else "wrong"
    return Comparison(True, case.value, case.truth.low, case.truth.high, case.slack, verdict)


def _star(place: View, name: str, limit: Any, log: bool) -> tuple[float, float] | None:
    if place.misprint == "none" or place.draw:
        return None
    case = refuted(place.id, place.misprint).counterexample
    others = [(n, x) for n, x in place.settings if n != name]
    if case is None or any(case.parameters.get(n) != x for n, x in others):
        return None
    x = list(limit).index(case.parameters[name]) if limit else case.parameters[name]
    return (float(x), case.value) if (0 if log else -math.inf) < x < math.inf else None


def _bands(kinds: Iterable, borders: Iterable, ends: tuple[float, float]) -> list[Stretch]:
    """Merge adjacent intervals of the same kind into bands; skip intervals of kind ""."""
    regions: list[Stretch] = []
    for kind, (left, right) in zip(kinds, pairwise([ends[0], *borders, ends[1]]), strict=True):
        if regions and kind == regions[-1].kind and regions[-1].right == left:
            regions[-1] = regions[-1]._replace(right=right)
        elif kind:
            regions.append(Stretch(left, right, kind))
    return regions


def cloud(place: View, words: Wording, *, seconds: float = math.inf) -> Picture:
    """Draw values against true values at the first points of `verify`, within `seconds`."""
    places = _design(place.id, place.misprint)
    made = _in_time(lambda k: _of_design(place.id, place.misprint, k), range(len(places)), seconds)
    judged = {k: p for k, p in made.items() if p.verdict}
    drawn = Cloud(
        truth=[0.5 * (p.low + p.high) if p.low < p.high else p.low for p in judged.values()],
        value=[p.value for p in judged.values()],
        verdict=[p.verdict for p in judged.values()],
        words=[words.given(places[k], "<br>", 90) for k in judged],
        kind=place.claim.kind,
    )
    return Picture(drawn, list(judged.values()), len(made) == len(places))


@lru_cache(maxsize=1024)
def _design(id: str, misprint: str) -> list[Parameters]:
    return starting_points(shown(id, misprint))


@lru_cache(maxsize=20_000)
def _of_design(id: str, misprint: str, k: int) -> Comparison:
    claim = shown(id, misprint)
    case = _attempt(compare, claim, _design(id, misprint)[k])
    return Comparison(True) if case is None else _compared(claim, case)


def example_code(formula: Formula) -> str:
    """Return code that imports and calls the formula's function, with the result in a comment."""
    printed, function = formula.printed, formula.function
    parameters = printed[0].parameters if printed else first_parameters(formula.id)
    names = inspect.signature(function).parameters
    plain = lambda x: x.tolist() if isinstance(x, np.ndarray | np.generic) else x
    handed = ", ".join(f"{n}={plain(parameters[n])!r}" for n in names if n in parameters)
    value = formula.value({**parameters})
    call = f"{function.__name__}({handed})  # {value:.6g}"
    return f"from dplearn.teaching.book import {function.__name__}\n\n{call}"
