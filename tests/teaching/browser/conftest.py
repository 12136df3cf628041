"""Fixtures that open a test file's page (`as_page`) and run its JavaScript (`SCRIPTS`)."""

from urllib.parse import urlencode

import pytest

from browsing import SCREEN, visits
from javascript import javascript

READY = "[data-drawn]:not([data-drawn='0'])"


@pytest.fixture(scope="module")
def address(request, tmp_path_factory) -> str:
    """Write the test file's page, and return its address."""
    return request.module.as_page(tmp_path_factory.mktemp("page")).as_uri()


@pytest.fixture
def open_page(browser, address):
    """Yield a function that opens the page in a given state; fail on console errors."""
    with visits(browser) as visit:
        yield lambda screen=SCREEN, scheme="light", touch=False, **state: visit(
            f"{address}#{urlencode(state)}", READY, screen, color_scheme=scheme, has_touch=touch
        )


@pytest.fixture(scope="module")
def view(browser, address):
    """Open one page for all tests of a file; each test sets the page's state by its address."""
    with visits(browser) as visit:
        yield visit(address, READY)


@pytest.fixture(scope="module")
def evaluate(request):
    """Yield a function that runs JavaScript in node with the test file's scripts."""
    with javascript(*request.module.SCRIPTS) as call:
        yield call
