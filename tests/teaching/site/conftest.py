"""One site for all tests of it: the lessons, some entries of the book, and what moves."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from browsing import ENTRIES
from dplearn.teaching import site


@pytest.fixture(scope="session")
def out(tmp_path_factory) -> Path:
    """Return the folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as executor:
        patch.setattr(site, "book", ENTRIES)
        patch.setattr(site, "REFERENCE", ("dplearn", "dplearn.pate"))  # pdoc makes all alike
        site.write_site(folder, executor, tell=lambda line: None)
    return folder
