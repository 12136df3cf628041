"""Shared fixtures and the settings of hypothesis."""

from hypothesis import settings
from newcomer import registered  # noqa: F401

from browsing import address, browser, page  # noqa: F401

# Lessons have a conftest of their own, so what tests import stands in modules with other names.
collect_ignore = ["conftest.py"]

# The same few examples on every machine, however slow it is.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("steady")
