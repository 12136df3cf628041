"""Count the cost of a computation, in units of about 10 ns that depend on the input alone.

A search stops by them: seconds would make its result depend on the machine, and work that a cache
spares on earlier questions.
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
    """Units of work spent since counting began, and the remembered results among them."""

    units: float = 0.0
    paid: set["Work"] = field(default_factory=set)


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def counting() -> Iterator[Work]:
    """Work spent inside the context; an outer counter does not see it."""
    token = _WORK.set(work := Work())
    try:
        yield work
    finally:
        _WORK.reset(token)


def spend(units: float) -> None:
    """Add units to the innermost `counting` that is open, if any."""
    if work := _WORK.get():
        work.units += units


def remembered(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate with an `lru_cache` whose hits count as work, too, once in each `counting`."""

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
