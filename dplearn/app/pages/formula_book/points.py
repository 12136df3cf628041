"""Value against truth, point by point: what the pictures of the formula book are drawn from.

Every point is remembered, so that what a time limit cut short goes on at the next run. The
caches are bounded and hold answers that nobody changes, which all readers share.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dplearn.app.pages.formula_book.words import wrapped
from dplearn.book import Case, Formula, Refutation, book, compare, drawn, refute, side_of
from dplearn.book.kit.domains import Choice, Derived, Drawn, Linear, Log, Parameters, Whole
from dplearn.figures import Cloud, Curve, Region

# One more than a power of two: half as many points are evenly spaced as well.
_POINTS = 33
# Points that a picture may begin at; half of them are corners.
_DRAWN = 24


class Point(NamedTuple):
    """One comparison; nan and "" where there is none."""

    inside: bool
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    slack: float = math.nan
    verdict: str = ""
    own: float = math.nan


@dataclass(frozen=True)
class Place:
    """An entry or a wrong variant, and all its parameters.

    Parameters
    ----------
    id, misprint : str
        `misprint` is "none" for the entry itself.
    draw : int
        Which random draw the parameters without a control come from; 0 for the example.
    settings : tuple of (str, value)
    """

    id: str
    misprint: str
    draw: int
    settings: tuple[tuple[str, Any], ...]

    @property
    def parameters(self) -> Parameters:
        """All of them; what is made of others is made again where these have changed."""
        begin = start(self.id, self.misprint, self.draw)
        return _changed(shown(self.id, self.misprint), begin, dict(self.settings))

    def at(self, name: str, value: Any) -> Place:
        """The same place with one parameter changed."""
        return replace(self, settings=tuple({**dict(self.settings), name: value}.items()))


class _Seen(Mapping[str, Any]):
    """Parameters that remember which of them were looked at."""

    def __init__(self, values: Parameters) -> None:
        self.values_of, self.names = values, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self.values_of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of)

    def __len__(self) -> int:
        return len(self.values_of)


def _changed(claim: Formula, begin: Parameters, settings: Parameters) -> Parameters:
    """Other values for some parameters, and whatever depends on them made again."""
    found = {**begin, **settings}
    changed = {name for name, value in settings.items() if value != begin[name]}
    for name, domain in claim.domain.items():
        if changed and isinstance(domain, Drawn | Derived):
            seen = _Seen(found)
            made = _attempt(domain.draw, np.random.default_rng(0), seen)
            if seen.names & changed:
                found[name] = math.nan if made is None else made
                changed.add(name)
    return found


@lru_cache(maxsize=1024)
def shown(id: str, misprint: str) -> Formula:
    """What is drawn: the entry, or the formula that a wrong variant would like to be."""
    entry = book[id]
    return entry if misprint == "none" else entry.claimed(entry.misprint(misprint))


@lru_cache(maxsize=1024)
def refuted(id: str, misprint: str) -> Refutation:
    """The outcome of the search for a counterexample."""
    return refute(book[id], book[id].misprint(misprint))


def runners(claim: Formula) -> tuple[str, ...]:
    """Parameters that can run along an axis."""
    numbers = (n for n, domain in claim.domain.items() if isinstance(domain, Linear))
    return (*(claim.along or {}), *numbers)


@lru_cache(maxsize=1024)
def start(id: str, misprint: str, draw: int = 0) -> Parameters:
    """The counterexample, the first example or the middle of the domain; or a random point."""
    claim = shown(id, misprint)
    points = _design(id, misprint, _DRAWN)
    limit = {name: values[-1] for name, values in (claim.along or {}).items()}
    # The corners come first, what is drawn at random last.
    drawn = {**points[-1 - draw % len(points)], **limit}
    if draw:
        return drawn
    found = refuted(id, misprint).counterexample if misprint != "none" else None
    for known in [found.parameters] if found else [example.parameters for example in claim.printed]:
        if found or _is_inside(claim, known):
            return {**drawn, **{n: x for n, x in known.items() if n in claim.parameters}}
    middle = {n: _middle(d) for n, d in claim.domain.items() if isinstance(d, Linear)}
    centre = _changed(claim, drawn, middle)
    return centre if _attempt(claim.accepts, centre) else drawn


def _is_inside(claim: Formula, example: Mapping[str, Any]) -> bool:
    """Whether an example names all parameters, each with a value that its domain has."""
    if not set(claim.domain) <= set(example):
        return False
    for name, domain in claim.domain.items():
        if isinstance(domain, Linear):
            known = domain.low <= example[name] <= domain.high or example[name] in domain.also
        else:
            known = not isinstance(domain, Choice) or str(example[name]) in map(str, domain.values)
        if not known:
            return False
    return True


def _middle(domain: Linear) -> float:
    log = isinstance(domain, Log)
    value = math.sqrt(domain.low * domain.high) if log else 0.5 * (domain.low + domain.high)
    return domain.rounded(value, 1)


# Along one parameter


def curve(place: Place, name: str, *, seconds: float = 1.5) -> tuple[Curve, list[Point], bool]:
    """What the picture along one parameter shows, its points, and whether all are there."""
    claim = shown(place.id, place.misprint)
    limit = (claim.along or {}).get(name)
    grid = list(limit) if limit else _grid(claim.domain[name])
    order = range(len(grid)) if limit else _coarse_to_fine(len(grid))
    found = _in_time(lambda k: point(place.at(name, grid[k])), order, seconds)
    at = sorted(found)
    some = [found[k] for k in at]
    x = [float(k if limit else grid[k]) for k in at]
    log = not limit and isinstance(claim.domain[name], Log)
    ends = (-0.5, len(grid) - 0.5) if limit else (float(grid[0]), float(grid[-1]))
    drawn = Curve(
        x=x,
        value=[p.value for p in some],
        low=[p.low for p in some],
        high=[p.high for p in some],
        own=[p.own for p in some] if _has_own(place) else (),
        claimed=place.misprint != "none",
        regions=[*_outside(place, name, x, some, ends, log), *_wrong(x, some, ends, log)],
        ends=ends,
        log_x=log,
        ticks=[str(v) for v in limit] if limit else (),
        star=_star(place, name, limit, claim),
    )
    return drawn, some, len(found) == len(grid)


def _grid(domain: Any) -> list[Any]:
    spaced = np.geomspace if isinstance(domain, Log) else np.linspace
    values = [float(f"{x:.12g}") for x in spaced(domain.low, domain.high, _POINTS)]
    return sorted({round(v) for v in values}) if isinstance(domain, Whole) else values


def _coarse_to_fine(count: int) -> list[int]:
    """Every index once; a part of them is spread over all."""
    steps = [2**k for k in range(count.bit_length(), -1, -1)]
    return list(dict.fromkeys([0, count - 1, *(k for s in steps for k in range(0, count, s))]))


def _in_time(ask: Callable[[int], Point], order: Iterable[int], seconds: float) -> dict[int, Point]:
    """Points in an order until the time is over."""
    began, found = time.perf_counter(), {}
    for k in order:
        found[k] = ask(k)
        if time.perf_counter() - began > seconds:
            break
    return found


@lru_cache(maxsize=20_000)
def point(place: Place) -> Point:
    """Value and truth at one place."""
    claim, parameters = shown(place.id, place.misprint), place.parameters
    inside, own = _attempt(_first(place, parameters).accepts, parameters), math.nan
    if _has_own(place):
        own = _number(book[place.id].value, parameters)
    case = None
    if any(_attempt(c.accepts, parameters) for c in _same_truth(place, parameters)):
        case = _attempt(compare, replace(claim, along=None), parameters)
    if case is None:
        return Point(bool(inside), _number(claim.value, parameters), own=own)
    # On the way to a limit nothing is right or wrong.
    judged = all(parameters[n] == values[-1] for n, values in (claim.along or {}).items())
    judged = judged and _attempt(claim.accepts, parameters)
    verdict = _verdict(claim, case) if judged else ""
    truth = case.truth
    return Point(bool(inside), case.value, truth.low, truth.high, case.slack, verdict, own)


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result; None where there is none."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except Exception:  # Outside its hypothesis an entry may fail in any way.
        return None


def _number(function: Callable[..., Any], parameters: Parameters) -> float:
    found = _attempt(function, parameters)
    return math.nan if found is None else float(found)


def _first(place: Place, parameters: Mapping[str, Any]) -> Formula:
    """The entry itself where these parameters are its own, else the wrong variant."""
    entry = book[place.id]
    return entry if set(entry.parameters) <= set(parameters) else shown(place.id, place.misprint)


def _has_own(place: Place) -> bool:
    """Whether the entry's value is worth drawing beside that of a wrong variant."""
    if place.misprint == "none":
        return False
    entry, misprint = book[place.id], book[place.id].misprint(place.misprint)
    here = set(shown(place.id, place.misprint).parameters)
    return bool(misprint.claim) and not misprint.oracle and set(entry.parameters) <= here


def _same_truth(place: Place, parameters: Mapping[str, Any]) -> Iterable[Formula]:
    """The entry and those variants whose oracle is the one in use: where they go it can go."""
    oracle = shown(place.id, place.misprint).oracle
    family = ["none", *(m.name for m in book[place.id].misprints)]
    for claim in (shown(place.id, name) for name in family):
        if claim.oracle is oracle and set(claim.parameters) <= set(parameters):
            yield claim


def _verdict(claim: Formula, case: Case) -> str:
    """Right; or wrong: unsafe, safe, or neither."""
    side = side_of(claim, case)
    if side == "right":
        return side
    if claim.unsafe is None or side == "none":
        return "wrong"
    return "unsafe" if side == claim.unsafe else "safe"


def _star(place: Place, name: str, limit: Any, claim: Formula) -> tuple[float, float] | None:
    """The counterexample, while the picture runs through it."""
    if place.misprint == "none" or place.draw:
        return None
    found = refuted(place.id, place.misprint).counterexample
    there = {n: x for n, x in place.settings if n != name}
    if found is None or any(found.parameters.get(n) != x for n, x in there.items()):
        return None
    x = list(limit).index(found.parameters[name]) if limit else found.parameters[name]
    log = isinstance(claim.domain.get(name), Log)
    return (float(x), found.value) if (0 if log else -math.inf) < x < math.inf else None


def _wrong(
    x: Sequence[float], points: Sequence[Point], ends: tuple[float, float], log: bool
) -> list[Region]:
    """Where the claim is wrong, up to half way to the next point."""
    kinds = [p.verdict if p.verdict != "right" else "" for p in points]
    edges = [ends[0], *(_between(a, b, log) for a, b in pairwise(x)), ends[1]]
    return _runs(kinds, edges)


def _outside(
    place: Place,
    name: str,
    x: Sequence[float],
    points: Sequence[Point],
    ends: tuple[float, float],
    log: bool,
) -> list[Region]:
    """Where the hypothesis fails; the ends are exact."""
    kinds = ["" if p.inside else "outside" for p in points]
    domain = shown(place.id, place.misprint).domain.get(name)

    def edge(a: float, b: float, left: bool, right: bool) -> float:
        # A limit and whole numbers have nothing between.
        for _ in range(40 if left != right and domain and not isinstance(domain, Whole) else 0):
            middle = _between(a, b, log)
            parameters = place.at(name, middle).parameters
            same = bool(_attempt(_first(place, parameters).accepts, parameters)) == left
            a, b = (middle, b) if same else (a, middle)
        return _between(a, b, log)

    inner = zip(pairwise(x), pairwise(p.inside for p in points), strict=True)
    return _runs(kinds, [ends[0], *(edge(*at, *met) for at, met in inner), ends[1]])


def _between(a: float, b: float, log: bool) -> float:
    return math.sqrt(a * b) if log else 0.5 * (a + b)


def _runs(kinds: Sequence[str], edges: Sequence[float]) -> list[Region]:
    """Neighbouring intervals of one kind as one band; "" is none."""
    found: list[Region] = []
    for kind, (left, right) in zip(kinds, pairwise(edges), strict=True):
        if found and kind == found[-1].kind and found[-1].right == left:
            found[-1] = found[-1]._replace(right=right)
        elif kind:
            found.append(Region(left, right, kind))
    return found


# All points of a verification


def cloud(id: str, misprint: str, *, seconds: float = 1.5) -> tuple[Cloud, list[Point], bool]:
    """The points that `verify` looks at, or `refute` before its walk."""
    claim = shown(id, misprint)
    order = range(len(_design(id, misprint)))
    found = _in_time(lambda k: _of_design(id, misprint, k), order, seconds)
    known = {k: p for k, p in found.items() if p.verdict}
    drawn = Cloud(
        truth=[0.5 * (p.low + p.high) if p.low < p.high else p.low for p in known.values()],
        value=[p.value for p in known.values()],
        verdict=[p.verdict for p in known.values()],
        words=[wrapped(_design(id, misprint)[k]) for k in known],
        kind=claim.kind,
    )
    return drawn, list(known.values()), len(found) == len(order)


@lru_cache(maxsize=1024)
def _design(id: str, misprint: str, count: int = 0) -> list[Parameters]:
    """As many points as asked for, or as the verification has."""
    return drawn(shown(id, misprint), points=count)


@lru_cache(maxsize=20_000)
def _of_design(id: str, misprint: str, k: int) -> Point:
    claim = shown(id, misprint)
    case = _attempt(compare, claim, _design(id, misprint)[k])
    if case is None:
        return Point(True)
    truth = case.truth
    return Point(True, case.value, truth.low, truth.high, case.slack, _verdict(claim, case))
