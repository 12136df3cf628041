"""Site that all tests share: the lessons and some formulas of the book."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page

from browsing import ENTRIES
from dplearn.teaching import site
from dplearn.teaching.classroom import in_page


@pytest.fixture(scope="session")
def out(tmp_path_factory) -> Path:
    """Write the site once for all tests, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    described = in_page.described
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as executor:
        patch.setattr(site, "book", ENTRIES)
        patch.setattr(site, "REFERENCE", ("dplearn", "!dplearn[.]"))  # documents one module only
        # Leave out known mistakes: running them takes long, and tests of exercises check them.
        right = lambda program: described(dataclasses.replace(program, mistakes=()))
        patch.setattr(in_page, "described", right)
        site.write_site(folder, executor, tell=lambda line: None)
    return folder


@pytest.fixture
def view(browser) -> Page:
    """Return a page whose test fails on script errors and on requests to other hosts."""
    page = browser.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
    local = ("file:", "data:", "blob:")
    page.on("request", lambda r: r.url.startswith(local) or page.problems.append(r.url))
    page.scripts = []
    page.on("request", lambda r: r.url.endswith(".js") and page.scripts.append(r.url))
    yield page
    assert not page.problems
    page.close()
