"""What a test may cost, in seconds of the processor, so that a busy machine changes little."""

import os
import sys
import time

import pytest
from _pytest.doctest import DoctestItem
from hypothesis import settings

# No doctest can be marked slow, and the first one of a room loads what the others use.
UNMARKED, DOCTEST, SLOW = 1.5, 5.0, 30.0


# What a test may take more that is the first to load a library, and more new modules than that.
LOADING, MODULES = 6.0, 30
# A loop that takes so long on an idle processor tells how much slower this one is now.
LOOP, IDLE = 1_000_000, 0.016


def spent() -> float:
    """Return processor seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def slowness() -> float:
    """Return how many times an idle processor's seconds the same work takes now, at least 1."""
    began = time.process_time()
    sum(range(LOOP))
    return max(1.0, (time.process_time() - began) / IDLE)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Fail a test that took more than it may; what `make thorough` alone runs may take any time."""
    began, modules = spent(), len(sys.modules)
    result = yield
    taken = spent() - began
    loads = LOADING if len(sys.modules) > modules + MODULES else 0.0
    most = DOCTEST if isinstance(item, DoctestItem) else UNMARKED
    most = SLOW if item.get_closest_marker("slow") else most
    free = item.get_closest_marker("thorough") or not settings().derandomize
    # Half as much again passes: processes that run beside it share its caches.
    if taken > 1.5 * most and not free and taken > 1.5 * slowness() * most + loads:
        text = f"{item.nodeid} took {taken:.1f} of {most:g} CPU seconds: make it smaller"
        text += " or mark it slow" if most == UNMARKED else ""
        pytest.fail(f"{text} (`-p no:budget` lets it pass on a slow machine).", pytrace=False)
    return result
