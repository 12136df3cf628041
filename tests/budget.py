"""What a test may cost, in seconds of the processor, so that a busy machine changes little."""

import os

import pytest
from _pytest.doctest import DoctestItem
from hypothesis import settings

# No doctest can be marked slow, and the first one of a room loads what the others use.
UNMARKED, DOCTEST, SLOW = 1.5, 5.0, 30.0


def spent() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Fail a test that took more than it may; what `make thorough` alone runs may take any time."""
    began = spent()
    result = yield
    taken = spent() - began
    most = DOCTEST if isinstance(item, DoctestItem) else UNMARKED
    most = SLOW if item.get_closest_marker("slow") else most
    free = item.get_closest_marker("thorough") or not settings().derandomize
    if taken > most and not free:
        told = f"{item.nodeid} took {taken:.1f} of {most:g} CPU seconds: make it smaller"
        told += " or mark it slow" if most == UNMARKED else ""
        pytest.fail(f"{told} (`-p no:budget` lets it pass on a slow machine).", pytrace=False)
    return result
