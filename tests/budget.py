"""Limits on the CPU seconds of each test, which depend little on the machine's load."""

import os
import sys
import time

import pytest
from _pytest.doctest import DoctestItem
from hypothesis import settings

# CPU seconds. Doctests cannot be marked slow; a module's first doctest includes imports.
UNMARKED, DOCTEST, SLOW = 1.5, 5.0, 30.0


# Extra CPU seconds of a test that imports more than MODULES modules.
LOADING, MODULES = 6.0, 30
# A loop's length and its CPU seconds on an idle core, to measure the current slowdown.
LOOP, IDLE = 1_000_000, 0.016


def spent() -> float:
    """Return the CPU seconds of this process and its finished children."""
    return sum(os.times()[:4])


def slowness() -> float:
    """Return the current slowdown against an idle core, at least 1."""
    began = time.process_time()
    sum(range(LOOP))
    return max(1.0, (time.process_time() - began) / IDLE)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Fail a test that exceeds its CPU seconds; tests only for `make thorough` have no limit."""
    began, modules = spent(), len(sys.modules)
    result = yield
    taken = spent() - began
    loads = LOADING if len(sys.modules) > modules + MODULES else 0.0
    most = DOCTEST if isinstance(item, DoctestItem) else UNMARKED
    most = SLOW if item.get_closest_marker("slow") else most
    free = item.get_closest_marker("thorough") or not settings().derandomize
    # Allow 50 % more, because other processes share the caches.
    if taken > 1.5 * most and not free and taken > 1.5 * slowness() * most + loads:
        text = f"{item.nodeid} took {taken:.1f} of {most:g} CPU seconds: make it smaller"
        text += " or mark it slow" if most == UNMARKED else ""
        pytest.fail(f"{text} (`-p no:budget` lets it pass on a slow machine).", pytrace=False)
    return result
