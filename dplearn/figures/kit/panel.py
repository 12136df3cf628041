"""A page's figure: the statement on top, below it what it is about or what is drawn."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.template import PAGE

_SMALL = (66, 26, 78, 46)  # the last tick's words need half of their width at the right
TEMPLATE = PAGE.to_plotly_json()


class Unchecked(go.Figure):
    """A figure that Plotly checks when somebody looks into it, and not where it is shown.

    To check its parts takes five times as long as to make them.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self._unchecked = parts

    def __getattr__(self, name: str) -> Any:
        # All that a figure has is missing until then.
        if "_unchecked" not in self.__dict__:
            raise AttributeError(name)
        super().__init__(self.__dict__.pop("_unchecked"))
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """Data and layout as they are drawn, the template among them."""
        return self.__dict__.get("_unchecked") or super().to_dict()


def one_panel(
    parts: Sequence[Any],
    x: Axis,
    y: Axis,
    finding: str,
    subtitle: str,
    *,
    height: int = 330,
    margin: Sequence[int] = _SMALL,
    size: float = 15.5,
    **more: Any,
) -> Unchecked:
    """Parts, or traces, in this order on one pair of axes, below a statement.

    A long statement is smaller than `size`, to keep clear of the buttons; the margin is left,
    right, top and bottom; `more` is told Plotly as it is.
    """
    traces = [t for part in parts for t in ([part] if isinstance(part, dict) else part.traces())]
    font = {"size": size if len(finding) <= 60 else min(size, 17)}
    title = {"text": f"<b>{finding}</b>", "subtitle": {"text": subtitle}, "font": font}
    sides = dict(zip("lrtb", margin, strict=True))
    layout = {"template": TEMPLATE, "height": height, "margin": sides, "title": title}
    axes = {"xaxis": x.layout(), "yaxis": y.layout()}
    return Unchecked({"data": traces, "layout": {**layout, **axes, **more}})
