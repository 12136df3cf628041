"""An entry or a wrong variant with all its parameters: where a picture of it is taken."""

import math
from collections import UserDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from dplearn.app.kit import questions
from dplearn.book import Formula, Refutation, book, drawn
from dplearn.book.everything import refutation
from dplearn.book.kit.domains import Choice, Derived, Drawn, Linear, Log, Parameters

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
