"""Places in an entry, value against truth at each: what the pictures of the book are drawn from.

Every point is remembered, so that what a time limit cut short goes on at the next run.
"""

import math
import time
from collections import UserDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from dplearn.app.kit import questions
from dplearn.app.pages.formula_book import words
from dplearn.book import Case, Formula, Refutation, book, compare, drawn, side_of
from dplearn.book.everything import refutation
from dplearn.book.kit.domains import Choice, Derived, Drawn, Linear, Log, Parameters, Whole
from dplearn.figures.formula import Cloud, Curve, Region, formula_cloud, formula_curve

# Points that a picture may begin at; half of them are corners.
_DRAWN = 24


@dataclass(frozen=True)
class Place:
    """An entry or a wrong variant ("none": the entry itself), and all its parameters.

    Those that are not set come from the example, or from a random draw of this rank.
    """

    id: str
    misprint: str
    draw: int
    settings: tuple[tuple[str, Any], ...]

    @property
    def claim(self) -> Formula:
        """The entry or the wrong variant."""
        return shown(self.id, self.misprint)

    @property
    def parameters(self) -> Parameters:
        """All of them; what is made of others is made again where these have changed."""
        return _changed(self.claim, start(self.id, self.misprint, self.draw), dict(self.settings))

    def at(self, name: str, value: Any) -> Self:
        """The same place with one parameter changed."""
        return replace(self, settings=tuple({**dict(self.settings), name: value}.items()))


class _Watched(UserDict[str, Any]):
    """Parameters that remember which of them were looked at."""

    def __init__(self, values: Parameters) -> None:
        self.names = set[str]()
        super().__init__(values)

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


def _changed(claim: Formula, begin: Parameters, settings: Parameters) -> Parameters:
    """Other values for some parameters, and whatever depends on them made again."""
    values = {**begin, **settings}
    changed = {name for name, value in settings.items() if value != begin[name]}
    for name, domain in claim.domain.items():
        if changed and isinstance(domain, Drawn | Derived):
            watched = _Watched(values)
            made = attempt(domain.draw, np.random.default_rng(0), watched)
            if watched.names & changed:
                values[name] = math.nan if made is None else made
                changed.add(name)
    return values


@lru_cache(maxsize=1024)
def shown(id: str, misprint: str) -> Formula:
    """What is drawn: the entry, or the formula that a wrong variant would like to be."""
    entry = book[id]
    return entry if misprint == "none" else entry.claimed(entry.misprint(misprint))


def refuted(id: str, misprint: str) -> Refutation:
    """The outcome of the search for a counterexample."""
    return questions.ask(refutation, id, misprint)


@lru_cache(maxsize=1024)
def start(id: str, misprint: str, draw: int = 0) -> Parameters:
    """The counterexample, the first example or the middle of the domain; or a random point."""
    claim = shown(id, misprint)
    points = design(id, misprint, _DRAWN)
    limit = {name: values[-1] for name, values in (claim.along or {}).items()}
    # The corners come first, what is drawn at random last.
    random = {**points[-1 - draw % len(points)], **limit}
    if draw:
        return random
    examples = [example.parameters for example in claim.printed]
    if misprint != "none" and (case := refuted(id, misprint).counterexample):
        examples = [case.parameters]
    else:
        examples = [example for example in examples if _is_inside(claim, example)]
    if examples:
        return {**random, **{n: x for n, x in examples[0].items() if n in claim.parameters}}
    middle = {}
    for name, domain in claim.domain.items():
        if isinstance(domain, Linear):
            a, b = domain.low, domain.high
            centre = math.sqrt(a * b) if isinstance(domain, Log) else 0.5 * (a + b)
            middle[name] = domain.rounded(centre, 1)
    amid = _changed(claim, random, middle)
    return amid if attempt(claim.accepts, amid) else random


def _is_inside(claim: Formula, example: Parameters) -> bool:
    """Whether an example names all parameters, each with a value that its domain has."""

    def holds(domain: Any, value: Any) -> bool:
        if isinstance(domain, Linear):
            return domain.low <= value <= domain.high or value in domain.also
        return not isinstance(domain, Choice) or str(value) in map(str, domain.values)

    return all(n in example and holds(d, example[n]) for n, d in claim.domain.items())


@lru_cache(maxsize=1024)
def design(id: str, misprint: str, count: int = 0) -> list[Parameters]:
    """As many points as asked for, or as the verification has."""
    return drawn(shown(id, misprint), points=count)


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result; None where there is none."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except Exception:  # Outside its hypothesis an entry may fail in any way.
        return None


# One more than a power of two: half as many points are evenly spaced as well.
_POINTS = 33
Ends = tuple[float, float]


class Point(NamedTuple):
    """One comparison; nan and "" where there is none."""

    inside: bool
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    slack: float = math.nan
    verdict: str = ""
    own: float = math.nan


class Picture(NamedTuple):
    """What is drawn, the points behind it, and whether all of them are there."""

    drawn: Curve | Cloud
    points: list[Point]
    complete: bool


def figure_of(place: Place, name: str, *, seconds: float) -> tuple[Any, str, Picture]:
    """The figure along one parameter ("": at all points), what it shows, and its points."""
    if name:
        picture = curve(place, name, seconds=seconds)
    else:
        picture = cloud(place.id, place.misprint, seconds=seconds)
    verdicts, slacks = [p.verdict for p in picture.points], [p.slack for p in picture.points]
    headline = words.headline(place.claim.kind, verdicts, slacks, place.misprint != "none")
    if isinstance(picture.drawn, Curve):
        figure = formula_curve(picture.drawn, finding=headline, x=words.label(name))
    else:
        figure = formula_cloud(picture.drawn, finding=headline)
    return figure, headline, picture


def curve(place: Place, name: str, *, seconds: float = 1.5) -> Picture:
    """The picture along one parameter."""
    claim = place.claim
    limit = (claim.along or {}).get(name)
    grid = list(limit) if limit else _grid(claim.domain[name])
    order = range(len(grid)) if limit else _coarse_to_fine(len(grid))
    in_time = _in_time(lambda k: point(place.at(name, grid[k])), order, seconds)
    ranks = sorted(in_time)
    points = [in_time[k] for k in ranks]
    x = [float(k if limit else grid[k]) for k in ranks]
    log = not limit and isinstance(claim.domain[name], Log)
    ends = (-0.5, len(grid) - 0.5) if limit else (float(grid[0]), float(grid[-1]))
    outside = ["" if p.inside else "outside" for p in points]
    inner = zip(pairwise(x), pairwise(p.inside for p in points), strict=True)
    borders = [_border(place, name, log, at, met) for at, met in inner]
    # A claim is wrong up to half way to the next point.
    wrong = [p.verdict if p.verdict != "right" else "" for p in points]
    halfway = [_between(a, b, log) for a, b in pairwise(x)]
    drawn = Curve(
        x=x,
        value=[p.value for p in points],
        low=[p.low for p in points],
        high=[p.high for p in points],
        own=[p.own for p in points] if _has_own(place) else (),
        claimed=place.misprint != "none",
        regions=[*_runs(outside, borders, ends), *_runs(wrong, halfway, ends)],
        ends=ends,
        log_x=log,
        ticks=[str(v) for v in limit] if limit else (),
        star=_star(place, name, limit, claim),
    )
    return Picture(drawn, points, len(points) == len(grid))


def _grid(domain: Any) -> list[Any]:
    spaced = np.geomspace if isinstance(domain, Log) else np.linspace
    values = [float(f"{x:.12g}") for x in spaced(domain.low, domain.high, _POINTS)]
    return sorted({round(v) for v in values}) if isinstance(domain, Whole) else values


def _coarse_to_fine(count: int) -> list[int]:
    """Every index once; a part of them is spread over all."""
    steps = [2**k for k in range(count.bit_length(), -1, -1)]
    return list(dict.fromkeys([0, count - 1, *(k for s in steps for k in range(0, count, s))]))


def _in_time(
    make: Callable[[int], Point], order: Iterable[int], seconds: float
) -> dict[int, Point]:
    """Points in an order until the time is over."""
    began, made = time.perf_counter(), {}
    for k in order:
        made[k] = make(k)
        if time.perf_counter() - began > seconds:
            break
    return made


@lru_cache(maxsize=20_000)
def point(place: Place) -> Point:
    """Value and truth at one place."""
    claim, parameters = place.claim, place.parameters
    inside, own = attempt(_first(place, parameters).accepts, parameters), math.nan
    if _has_own(place):
        own = _number(book[place.id].value, parameters)
    # Where the entry, or a variant whose oracle is the one in use, goes it can go.
    family = ["none", *(m.name for m in book[place.id].misprints)]
    claims = [shown(place.id, name) for name in family]
    able = [c for c in claims if c.oracle is claim.oracle and {*c.parameters} <= {*parameters}]
    case = None
    if any(attempt(c.accepts, parameters) for c in able):
        case = attempt(compare, replace(claim, along=None), parameters)
    if case is None:
        return Point(bool(inside), _number(claim.value, parameters), own=own)
    # On the way to a limit nothing is right or wrong.
    judged = all(parameters[n] == values[-1] for n, values in (claim.along or {}).items())
    judged = judged and attempt(claim.accepts, parameters)
    return _of_case(claim, case, judged)._replace(inside=bool(inside), own=own)


def _of_case(claim: Formula, case: Case, judged: bool = True) -> Point:
    """A comparison; its verdict is right or wrong, and then unsafe or safe where that is known."""
    side = side_of(claim, case) if judged else ""
    if side in ("", "right"):
        verdict = side
    elif claim.unsafe is None or side == "none":
        verdict = "wrong"
    else:
        verdict = "unsafe" if side == claim.unsafe else "safe"
    return Point(True, case.value, case.truth.low, case.truth.high, case.slack, verdict)


def _number(function: Callable[..., Any], parameters: Parameters) -> float:
    value = attempt(function, parameters)
    return math.nan if value is None else float(value)


def _first(place: Place, parameters: Mapping[str, Any]) -> Formula:
    """The entry itself where these parameters are its own, else the wrong variant."""
    entry = book[place.id]
    return entry if set(entry.parameters) <= set(parameters) else place.claim


def _has_own(place: Place) -> bool:
    """Whether the entry's value is worth drawing beside that of a wrong variant."""
    if place.misprint == "none":
        return False
    entry, misprint = book[place.id], book[place.id].misprint(place.misprint)
    theirs = set(place.claim.parameters)
    return bool(misprint.claim) and not misprint.oracle and set(entry.parameters) <= theirs


def _star(place: Place, name: str, limit: Any, claim: Formula) -> tuple[float, float] | None:
    """The counterexample, while the picture runs through it."""
    if place.misprint == "none" or place.draw:
        return None
    case = refuted(place.id, place.misprint).counterexample
    others = [(n, x) for n, x in place.settings if n != name]
    if case is None or any(case.parameters.get(n) != x for n, x in others):
        return None
    x = list(limit).index(case.parameters[name]) if limit else case.parameters[name]
    log = isinstance(claim.domain.get(name), Log)
    return (float(x), case.value) if (0 if log else -math.inf) < x < math.inf else None


def _border(place: Place, name: str, log: bool, at: Ends, met: tuple[bool, bool]) -> float:
    """Where between two points the hypothesis begins or ceases to hold: exact where it does."""
    (a, b), (left, right), domain = at, met, place.claim.domain.get(name)
    # A limit and whole numbers have nothing between.
    for _ in range(40 if left != right and domain and not isinstance(domain, Whole) else 0):
        middle = _between(a, b, log)
        parameters = place.at(name, middle).parameters
        same = bool(attempt(_first(place, parameters).accepts, parameters)) == left
        a, b = (middle, b) if same else (a, middle)
    return _between(a, b, log)


def _between(a: float, b: float, log: bool) -> float:
    return math.sqrt(a * b) if log else 0.5 * (a + b)


def _runs(kinds: Iterable[str], borders: Iterable[float], ends: Ends) -> list[Region]:
    """Neighbouring intervals of one kind as one band; "" is none."""
    regions: list[Region] = []
    for kind, (left, right) in zip(kinds, pairwise([ends[0], *borders, ends[1]]), strict=True):
        if regions and kind == regions[-1].kind and regions[-1].right == left:
            regions[-1] = regions[-1]._replace(right=right)
        elif kind:
            regions.append(Region(left, right, kind))
    return regions


def cloud(id: str, misprint: str, *, seconds: float = 1.5) -> Picture:
    """The points from which `verify` and `refute` begin their first search."""
    places = design(id, misprint)
    made = _in_time(lambda k: _of_design(id, misprint, k), range(len(places)), seconds)
    judged = {k: p for k, p in made.items() if p.verdict}
    drawn = Cloud(
        truth=[0.5 * (p.low + p.high) if p.low < p.high else p.low for p in judged.values()],
        value=[p.value for p in judged.values()],
        verdict=[p.verdict for p in judged.values()],
        words=[words.wrapped(places[k]) for k in judged],
        kind=shown(id, misprint).kind,
    )
    return Picture(drawn, list(judged.values()), len(made) == len(places))


@lru_cache(maxsize=20_000)
def _of_design(id: str, misprint: str, k: int) -> Point:
    claim = shown(id, misprint)
    case = attempt(compare, claim, design(id, misprint)[k])
    return Point(True) if case is None else _of_case(claim, case)
