"""Value against truth, point by point: what the pictures of the formula book are drawn from.

Every point is remembered, so that what a time limit cut short goes on at the next run.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dplearn.app.pages.formula_book import words
from dplearn.app.pages.formula_book.place import Place, attempt, design, refuted, shown
from dplearn.book import Case, Formula, book, compare, side_of
from dplearn.book.kit.domains import Log, Parameters, Whole
from dplearn.figures import Cloud, Curve, Region, formula_cloud, formula_curve

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


def drawn(place: Place, name: str, *, seconds: float) -> tuple[Any, str, Picture]:
    """The figure along one parameter ("": at all points), what it shows, and its points."""
    if name:
        picture = curve(place, name, seconds=seconds)
    else:
        picture = cloud(place.id, place.misprint, seconds=seconds)
    verdicts, slacks = [p.verdict for p in picture.points], [p.slack for p in picture.points]
    headline = words.headline(place.claim.kind, verdicts, slacks, place.misprint != "none")
    if isinstance(picture.drawn, Curve):
        return (
            formula_curve(picture.drawn, finding=headline, x=words.label(name)),
            headline,
            picture,
        )
    return formula_cloud(picture.drawn, finding=headline), headline, picture


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
    case = None
    if any(attempt(c.accepts, parameters) for c in _same_truth(place, parameters)):
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


def _same_truth(place: Place, parameters: Mapping[str, Any]) -> Iterable[Formula]:
    """The entry and those variants whose oracle is the one in use: where they go it can go."""
    oracle = place.claim.oracle
    family = ["none", *(m.name for m in book[place.id].misprints)]
    for claim in (shown(place.id, name) for name in family):
        if claim.oracle is oracle and set(claim.parameters) <= set(parameters):
            yield claim


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
