"""A training run as it goes on: accuracy, epsilon so far, and loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dplearn.figures._layout import axis, title
from dplearn.figures.theme import FONT, INK, PUBLISHED, stroke, style_of

HEIGHT = 540
PRIVATE, PLAIN = style_of("pld").colour, PUBLISHED
_MARGIN = {"l": 66, "r": 20, "t": 104, "b": 52}
# Where the panels lie, in shares of the drawing area: accuracy left, the others right.
_LEFT, _RIGHT = (0.0, 0.56), (0.65, 1.0)
_UPPER, _LOWER = (0.57, 1.0), (0.0, 0.38)
# Upper end of the axis of accuracy, in percent.
_TOP = 100.5

Event = Mapping[str, Any]


def training_run(
    events: Sequence[Event],
    *,
    steps: int,
    planned: Sequence[tuple[int, float]] = (),
    finding: str = "",
    subtitle: str = "",
    ink: str = INK["light"],
) -> go.Figure:
    """Held-out accuracy, epsilon so far and training loss against the step.

    Parameters
    ----------
    events : sequence of mapping
        Of `dplearn.training.worker`, in order; those that tell no progress are left out. Names
        that begin with ``plain_`` belong to the run without privacy, drawn dashed.
    steps : int
        The whole plan, where the axes end.
    planned : sequence of (int, float)
        Steps and epsilon of the plan, drawn dotted: known before training.
    finding, subtitle : str
        The title, and the run in one line.
    ink : str
        Colour of words and numbers; the background is transparent.

    Returns
    -------
    plotly.graph_objects.Figure
        Six traces whatever the events: accuracy with and without privacy, epsilon planned and
        so far, loss with and without privacy.

    Examples
    --------
    >>> event = {"event": "progress", "step": 1, "epsilon": 0.4, "accuracy": 0.61, "loss": 2.3}
    >>> figure = training_run([event], steps=60)
    >>> [trace.name for trace in figure.data if trace.y]
    ['accuracy', 'ε so far', 'loss']
    """
    seen = [event for event in events if event.get("step")]
    return go.Figure(
        {
            "data": [
                _line("accuracy", seen, "accuracy", PRIVATE, "solid", ""),
                _line("accuracy without privacy", seen, "plain_accuracy", PLAIN, "dash", ""),
                _planned(planned),
                _line("ε so far", seen, "epsilon", PRIVATE, "solid", "2"),
                _line("loss", seen, "loss", PRIVATE, "solid", "3"),
                _line("loss without privacy", seen, "plain_loss", PLAIN, "dash", "3"),
            ],
            "layout": {
                "height": HEIGHT,
                "margin": _MARGIN,
                "font": {"family": FONT, "size": 15, "color": ink},
                "template": "none",
                "paper_bgcolor": "rgba(0,0,0,0)",
                "plot_bgcolor": "rgba(0,0,0,0)",
                "showlegend": False,
                "hovermode": "closest",
                "hoverlabel": {"font": {"family": FONT, "size": 15}, "align": "left"},
                "dragmode": False,
                "title": title(finding, subtitle),
                **_axes(seen, steps, planned),
                "annotations": [*_headings(), *_ends(seen)],
            },
        }
    )


def _line(
    name: str, seen: Sequence[Event], key: str, colour: str, dash: str, panel: str
) -> dict[str, Any]:
    found = [event for event in seen if key in event]
    percent = "accuracy" in key
    number = "%{y:.1f} %" if percent else "%{y:.3g}"
    return {
        "type": "scatter",
        "name": name,
        "uid": name,
        "x": [event["step"] for event in found],
        "y": [100 * event[key] if percent else event[key] for event in found],
        "mode": "lines",
        "line": {**stroke(colour, dash), "width": 3},
        "xaxis": f"x{panel}",
        "yaxis": f"y{panel}",
        "hovertemplate": f"<b>{name}</b><br>step %{{x}}: {number}<extra></extra>",
    }


def _planned(planned: Sequence[tuple[int, float]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": "ε of the plan",
        "uid": "planned",
        "x": [step for step, _ in planned],
        "y": [epsilon for _, epsilon in planned],
        "mode": "lines",
        "line": {"color": PRIVATE, "width": 2, "dash": "dot"},
        "xaxis": "x2",
        "yaxis": "y2",
        "hovertemplate": "<b>known beforehand</b><br>step %{x}: ε ≤ %{y:.3g}<extra></extra>",
    }


def _axes(
    seen: Sequence[Event], steps: int, planned: Sequence[tuple[int, float]]
) -> dict[str, Any]:
    # Room at the right for the labels at the ends.
    wide, narrow = [0, 1.2 * steps], [0, 1.04 * steps]
    epsilons = [e for _, e in planned] + _values(seen, "epsilon")
    losses = _values(seen, "loss")
    return {
        "xaxis": _axis("T, step", wide, _LEFT, "y"),
        "yaxis": _axis("", [_floor(seen), _TOP], (0.0, 1.0), "x") | {"ticksuffix": " %"},
        "xaxis2": _axis("", narrow, _RIGHT, "y2"),
        "yaxis2": _axis("", [0, 1.1 * max(epsilons, default=1.0)], _UPPER, "x2"),
        "xaxis3": _axis("T, step", narrow, _RIGHT, "y3"),
        "yaxis3": _axis("", [0, 1.1 * max(losses, default=2.5)], _LOWER, "x3"),
    }


def _axis(words: str, span: Sequence[float], domain: Sequence[float], anchor: str) -> dict:
    return {
        **axis(words, False, list(span)),
        "domain": list(domain),
        "anchor": anchor,
        "nticks": 6,
        "rangemode": "tozero",
    }


def _floor(seen: Sequence[Event]) -> float:
    """Where the axis of accuracy begins: the first steps may leave the picture, the rest not."""
    late = seen[len(seen) // 5 :]
    found = _values(late, "accuracy") + _values(late, "plain_accuracy")
    return max(10.0 * int(10 * min(found, default=0.0)) - 5, 0.0)


def _values(seen: Sequence[Event], key: str) -> list[float]:
    return [event[key] for event in seen if event.get(key) is not None]


def _headings() -> list[dict[str, Any]]:
    """What each panel shows, and of which records."""
    shown = (
        (_LEFT[0], 1.0, "<b>Accuracy</b> on held-out public records"),
        (_RIGHT[0], _UPPER[1], "<b>ε so far</b>; dotted: known beforehand"),
        (_RIGHT[0], _LOWER[1], "<b>Training loss</b>, a private diagnostic"),
    )
    place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return [
        {**place, "x": x, "y": y, "text": words, "showarrow": False, "yshift": 4}
        for x, y, words in shown
    ]


def _ends(seen: Sequence[Event]) -> list[dict[str, Any]]:
    """Values beside the ends of the lines of accuracy, apart from each other."""
    if not seen:
        return []
    last = seen[-1]
    above = last.get("plain_accuracy", -1.0) >= last["accuracy"]
    # A label needs room below the heading or above the axis.
    floor = _floor(seen)
    highest, lowest = floor + 0.89 * (_TOP - floor), floor + 0.13 * (_TOP - floor)
    named = [("accuracy", "private", PRIVATE, not above)]
    if "plain_accuracy" in last:
        named.append(("plain_accuracy", "not private", PLAIN, above))
    return [
        {
            "x": last["step"],
            "y": min(max(100 * last[key], floor if upper else lowest), highest),
            "xref": "x",
            "yref": "y",
            "text": f"<b>{100 * last[key]:.1f} %</b><br>{name}",
            "font": {"color": colour, "size": 15},
            "align": "left",
            "xanchor": "left",
            "yanchor": "bottom" if upper else "top",
            "xshift": 6,
            "showarrow": False,
        }
        for key, name, colour, upper in named
    ]
