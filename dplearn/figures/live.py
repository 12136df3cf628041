"""Charts as HTML that lives without Jupyter."""

from typing import Any

from plotly.io import to_html
from plotly.offline import get_plotlyjs

library = get_plotlyjs  # the script that every live chart of a page needs once


def live(chart: dict[str, Any]) -> str:
    """The HTML element of a `chart` as Jupyter stores it; its sliders move."""
    parts = {key: chart[key] for key in ("data", "layout", "frames") if key in chart}
    return to_html(parts, full_html=False, include_plotlyjs=False, auto_play=False, validate=False)
