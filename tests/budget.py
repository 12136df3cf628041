"""What a test may cost, in seconds of the processor, so that a busy machine changes little."""

import os

import pytest
from hypothesis import settings

UNMARKED, SLOW = 1.5, 30.0
_BEGAN = pytest.StashKey[float]()


def spent() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    """Remember when a test began, with its fixtures."""
    item.stash[_BEGAN] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    """Fail a test that took more than it may; what `make thorough` alone runs may take any time."""
    result = yield
    taken = spent() - item.stash[_BEGAN]
    most = SLOW if item.get_closest_marker("slow") else UNMARKED
    free = item.get_closest_marker("thorough") or not settings().derandomize
    if taken > most and not free:
        told = f"{item.nodeid} took {taken:.1f} of {most:g} CPU seconds: make it smaller"
        told += " or mark it slow" if most == UNMARKED else " or split it"
        pytest.fail(f"{told} (`-p no:budget` lets it pass on a slow machine).", pytrace=False)
    return result
