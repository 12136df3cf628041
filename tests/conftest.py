"""Shared fixtures, profiles of hypothesis, and files to skip at collection."""

import re
import sys

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

import browsing
import budget

# Lessons have their own conftest, so helpers for tests are in modules with other names.
collect_ignore = ["conftest.py"]

# The schemas of notebooks check no IRIs, and importing this checker takes over a second.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

ALL_SLOW = re.compile(r"^pytestmark = .*(mark\.slow|DRAWN|DRIVEN)", re.MULTILINE)

# The same few examples on every machine, without deadlines.
# Examples may share `subtests`, the function-scoped fixture of `@each`.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}
settings.register_profile("steady", derandomize=True, max_examples=40, **COMMON)
# For `make thorough`: new examples in each run, and a line that reproduces a failure. Omitted
# settings come from the loaded profile, so `derandomize` is set here.
RANDOM = {"derandomize": False, "max_examples": 2_000, "print_blob": True}
settings.register_profile("thorough", **RANDOM, **COMMON)
settings.load_profile("steady")


def pytest_configure(config):
    """Register plugins, so that the package's doctests have time limits, too."""
    config.pluginmanager.register(budget, "budget")
    config.pluginmanager.register(browsing, "browsing")


def pytest_ignore_collect(collection_path, config):
    """Skip files with only slow tests if slow tests are deselected."""
    if "not slow" not in config.option.markexpr or not collection_path.name.startswith("test_"):
        return None
    return bool(ALL_SLOW.search(collection_path.read_text())) or None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Collect no doctests: tests have none, and the search is slow."""
    return [file for file in (yield) if not isinstance(file, DoctestModule)]


@pytest.fixture(autouse=True)
def restore_main():
    """Restore `__main__`, which Streamlit replaces by its page and new processes would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
