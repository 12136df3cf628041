"""Shared fixtures, the settings of hypothesis, and files that need not be imported."""

import re
import sys

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from new_mechanism import registered  # noqa: F401

import browsing
import budget

# Lessons have a conftest of their own, so what tests import stands in modules with other names.
collect_ignore = ["conftest.py"]

# Schemas of notebooks have no address to check, and its 38 grammars take over a second to compile.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

ALL_SLOW = re.compile(r"^pytestmark = .*(mark\.slow|DRAWN|DRIVEN)", re.MULTILINE)

# The same few examples on every machine, however slow it is.
# `@each` reports its cases by a fixture, which takes any number of them.
ANEW = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}
settings.register_profile("steady", derandomize=True, max_examples=40, **ANEW)
settings.load_profile("steady")
# Of `make thorough`: others at each run, and a line that repeats the one that failed.
settings.register_profile("thorough", max_examples=2_000, print_blob=True, **ANEW)


def pytest_configure(config):
    """Limit doctests of the package, too, which know no conftest of tests; offer a browser."""
    config.pluginmanager.register(budget, "budget")
    config.pluginmanager.register(browsing, "browsing")


def pytest_ignore_collect(collection_path, config):
    """Ignore a file whose tests are all slow where slow ones are left out."""
    if "not slow" not in config.option.markexpr or not collection_path.name.startswith("test_"):
        return None
    return bool(ALL_SLOW.search(collection_path.read_text())) or None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Leave doctests out: tests hold none, and looking for them takes long."""
    return [file for file in (yield) if not isinstance(file, DoctestModule)]


@pytest.fixture(autouse=True)
def main_stays():
    """Streamlit calls the page that it runs `__main__`, which new processes would run again."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
