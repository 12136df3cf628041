"""Counter of computational work, in units of about 10 ns that depend on the input alone.

Searches stop after a number of units: a time limit would make results depend on the machine, and
on the results that earlier calls left in a cache.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(eq=False)
class Work:
    """Units of work since counting began, and the cached results already counted."""

    units: float = 0.0
    paid: set["Work"] = field(default_factory=set)


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def counting() -> Iterator[Work]:
    """Count the work inside the context; an outer counter excludes it."""
    token = _WORK.set(work := Work())
    try:
        yield work
    finally:
        _WORK.reset(token)


def spend(units: float) -> None:
    """Add units to the innermost active `counting`, if any."""
    if work := _WORK.get():
        work.units += units


def remembered(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return an `lru_cache` decorator whose hits count as work, once in each `counting`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(maxsize)
        def entry(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Work]:
            with counting() as cost:
                return function(*args, **kwargs), cost

        @wraps(function)
        def value(*args: P.args, **kwargs: P.kwargs) -> R:
            result, cost = entry(*args, **kwargs)
            if (work := _WORK.get()) and cost not in work.paid:
                work.paid.add(cost)
                work.units += cost.units
            return result

        value.cache_clear = entry.cache_clear  # type: ignore[attr-defined]
        return value

    return decorate
