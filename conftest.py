"""What nbval leaves out when it compares a lesson's new outputs with the stored ones.

Plotly's JSON differs in the last bit between machines, pictures are drawn only when lessons
are built. Every figure carries its key numbers as plain text, and these are compared.
"""

# Sources of lessons run when they are imported; their notebooks are what is tested.
collect_ignore_glob = ["lessons/sources/*"]

_NOT_COMPARED = ("application/vnd.plotly.v1+json", "text/html", "image/svg+xml")


def pytest_collectstart(collector):
    """Extend nbval's own list for each notebook it collects."""
    if collector.__class__.__name__ == "IPyNbFile":
        collector.skip_compare += _NOT_COMPARED
