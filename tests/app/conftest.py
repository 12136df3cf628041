"""Fixtures of the tests of the explorer: Chromium, and a mechanism that nobody knew before."""

from collections.abc import Iterator

import newcomer
import pytest

from browsing import address, browser, page  # noqa: F401
from dplearn.mechanisms import mechanisms


@pytest.fixture
def registered(monkeypatch) -> Iterator[type]:
    """A mechanism that is in the registry for one test, as a new file in its folder would be."""
    monkeypatch.setattr(mechanisms, "_found", {**mechanisms, "newcomer": newcomer.Newcomer})
    yield newcomer.Newcomer
