"""How lessons are tested: one kernel for each, and what nbval leaves out of the comparison.

Plotly's JSON differs in the last bit between machines, pictures are drawn only when lessons
are built. Every figure carries its key numbers as plain text, and these are compared.
"""

import pytest

# Sources of lessons run when they are imported; their notebooks are what is tested.
collect_ignore_glob = ["lessons/sources/*"]

_NOT_COMPARED = ("application/vnd.plotly.v1+json", "text/html", "image/svg+xml")


def pytest_collectstart(collector):
    """Extend nbval's own list for each notebook it collects."""
    if collector.__class__.__name__ == "IPyNbFile":
        collector.skip_compare += _NOT_COMPARED


def pytest_itemcollected(item):
    """Keep the cells of a notebook together, in one process."""
    if item.__class__.__name__ == "IPyNbCell":
        item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.xdist_group(item.path.name))
