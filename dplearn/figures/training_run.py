"""A training run as it goes on: accuracy, gradients, epsilon so far, loss and clipped share."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import plotly.graph_objects as go

from dplearn.figures.kit.axes import Axis, powers
from dplearn.figures.kit.marks import stroke
from dplearn.figures.kit.panel import Unchecked, page
from dplearn.figures.kit.template import GREY, INK, RED, colour_of, transparent

PRIVATE, PLAIN = colour_of("exact"), RED
_MARGIN = (66, 20, 104, 52)
# Where the panels lie, in shares of the drawing area: accuracy and norms left, the others right.
_LEFT, _RIGHT = (0.0, 0.56), (0.65, 1.0)
_LEFTS, _RIGHTS = ((0.37, 1.0), (0.0, 0.26)), ((0.74, 1.0), (0.37, 0.63), (0.0, 0.26))
# Upper end of the axis of accuracy, in percent.
_TOP = 100.5
# How far below C norms are drawn.
_FAR_BELOW = 100.0

_PLANNED = {
    "line": stroke(PRIVATE, "dot"),
    "hovertemplate": "<b>known beforehand</b><br>step %{x}: ε ≤ %{y:.3g}<extra></extra>",
}

Event = Mapping[str, Any]


def training_run(
    events: Sequence[Event],
    *,
    steps: int,
    planned: Sequence[tuple[int, float]] = (),
    earlier: Mapping[str, Sequence[Event]] = {},
    finding: str = "",
    subtitle: str = "",
) -> go.Figure:
    """Held-out accuracy, gradients, epsilon so far, training loss, clipped share against the step.

    Of the events of `dplearn.app.worker` those that tell no progress are left out. Names
    that begin with ``plain_`` belong to the run without privacy, drawn dashed. The axes end at
    the `steps` of the whole plan; what is `planned`, steps and epsilon known before training,
    is dotted. Accuracies of `earlier` runs, by their names, lie thin behind the others. Of the
    norms of the records' gradients there are a tenth, the median and nine tenths, and the clipping
    norm. There are eleven traces whatever the events.

    Examples
    --------
    >>> event = {"event": "progress", "step": 1, "epsilon": 0.4, "accuracy": 0.61, "loss": 2.3}
    >>> figure = training_run([event], steps=60)
    >>> [trace.name for trace in figure.data if trace.y]
    ['accuracy', 'ε so far', 'loss']
    """
    progress = [event for event in events if event.get("step")]
    plan = [{"step": step, "epsilon": epsilon} for step, epsilon in planned]
    traces = [
        _behind(earlier),
        _line("accuracy", progress, "accuracy", PRIVATE, "solid", ""),
        _line("accuracy without privacy", progress, "plain_accuracy", PLAIN, "dash", ""),
        _line("ε of the plan", plan, "epsilon", PRIVATE, "dot", "2") | _PLANNED,
        _line("ε so far", progress, "epsilon", PRIVATE, "solid", "2"),
        _line("loss", progress, "loss", PRIVATE, "solid", "3"),
        _line("loss without privacy", progress, "plain_loss", PLAIN, "dash", "3"),
        _line("share clipped", progress, "clipped", PRIVATE, "solid", "4"),
        _spread(progress),
        _line("median norm", progress, "norm", PRIVATE, "solid", "5"),
        _line("clipping norm C", progress, "clipping_norm", RED, "dash", "5"),
    ]
    layout = page(finding, subtitle, height=540, margin=_MARGIN)
    notes = {"annotations": [*_headings(), *_ends(progress)]}
    return Unchecked({"data": traces, "layout": layout | _axes(progress, steps, plan) | notes})


def _line(
    name: str, progress: Sequence[Event], key: str, colour: str, dash: str, panel: str
) -> dict[str, Any]:
    percent = key in ("accuracy", "plain_accuracy", "clipped")
    number = "%{y:.1f} %" if percent else "%{y:.3g}"
    at = [(event["step"], event[key]) for event in progress if event.get(key) is not None]
    x, y = [step for step, _ in at], [100 * value if percent else value for _, value in at]
    where = {"name": name, "uid": name, "xaxis": f"x{panel}", "yaxis": f"y{panel}"}
    look = {"mode": "lines", "line": {**stroke(colour, dash), "width": 3}}
    hover = f"<b>{name}</b><br>step %{{x}}: {number}<extra></extra>"
    return {"x": x, "y": y, **where, **look, "hovertemplate": hover}


def _spread(progress: Sequence[Event]) -> dict[str, Any]:
    """A band that holds the norms of eight tenths of the records."""
    ends = [("norm_low", event) for event in progress]
    ends += [("norm_high", event) for event in reversed(progress)]
    corners = [(e["step"], e[key]) for key, e in ends if e.get("norm_low") and e.get("norm_high")]
    where = {"name": "eight tenths of the norms", "uid": "norms", "xaxis": "x5", "yaxis": "y5"}
    look = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "hoverinfo": "skip"}
    x, y = [step for step, _ in corners], [norm for _, norm in corners]
    return {"x": x, "y": y, **where, **look, "fillcolor": transparent(PRIVATE, 0.22)}


def _behind(earlier: Mapping[str, Sequence[Event]]) -> dict[str, Any]:
    """Accuracies of earlier runs as one line with gaps; each point knows its run."""
    points = chain.from_iterable(
        [*((e["step"], 100 * e["accuracy"], name) for e in events), (None, None, "")]
        for name, events in earlier.items()
    )
    x, y, names = zip(*points, strict=True) if earlier else ((), (), ())
    return {
        **{"x": x, "y": y, "text": names, "name": "earlier runs", "uid": "earlier"},
        **{"mode": "lines", "line": {**stroke(GREY, "solid"), "width": 1.5}},
        "hovertemplate": "<b>an earlier run</b><br>%{text}<extra></extra>",
    }


def _axes(progress: Sequence[Event], steps: int, plan: Sequence[Event]) -> dict[str, Any]:
    # Room at the right for the labels at the ends.
    wide, narrow = (0, 1.2 * steps), (0, 1.04 * steps)
    bare = {"showticklabels": False}
    epsilons, losses = _values([*plan, *progress], "epsilon"), _values(progress, "loss")
    percent = _axis("", (_floor(progress), _TOP), _LEFTS[0], "x") | {"ticksuffix": " %"}
    keys = ("norm_low", "norm_high", "clipping_norm")
    norms = [norm for key in keys for norm in _values(progress, key) if norm > 0] or [0.1, 10.0]
    # Records that are learned have hardly a gradient; what matters lies near C.
    least = max(min(norms), min(_values(progress, "clipping_norm"), default=0.1) / _FAR_BELOW)
    return {
        "xaxis": _axis("", wide, _LEFT, "y") | bare,
        "xaxis5": _axis("T, step", wide, _LEFT, "y5"),
        "yaxis5": _axis("", (least / 2, 2 * max(norms)), _LEFTS[1], "x5", log=True),
        "yaxis": percent,
        "xaxis2": _axis("", narrow, _RIGHT, "y2") | bare,
        "yaxis2": _axis("", (0, 1.1 * max(epsilons, default=1.0)), _RIGHTS[0], "x2"),
        "xaxis3": _axis("", narrow, _RIGHT, "y3") | bare,
        "yaxis3": _axis("", (0, 1.1 * max(losses, default=2.5)), _RIGHTS[1], "x3"),
        "xaxis4": _axis("T, step", narrow, _RIGHT, "y4"),
        "yaxis4": _axis("", (0, _TOP), _RIGHTS[2], "x4") | {"ticksuffix": " %"},
    }


def _axis(
    words: str,
    span: tuple[float, float],
    domain: tuple[float, float],
    anchor: str,
    log: bool = False,
) -> dict[str, Any]:
    more = {"domain": domain, "anchor": anchor, "nticks": 5}
    ticks = powers(*span) if log else None
    return Axis(title=words, lower=span[0], upper=span[1], log=log, ticks=ticks, more=more).layout()


def _floor(progress: Sequence[Event]) -> float:
    """Where the axis of accuracy begins: the first steps may leave the picture, no later ones."""
    late = progress[len(progress) // 5 :]
    shares = _values(late, "accuracy") + _values(late, "plain_accuracy")
    return max(10.0 * int(10 * min(shares, default=0.0)) - 5, 0.0)


def _values(progress: Sequence[Event], key: str) -> list[float]:
    return [event[key] for event in progress if event.get(key) is not None]


def _headings() -> list[dict[str, Any]]:
    """What each panel shows, and of which records."""
    shown = (
        (_LEFT[0], 1.0, "<b>Accuracy</b> on held-out public records"),
        (_LEFT[0], _LEFTS[1][1], "<b>Norms of gradients</b>, private; dashed: C"),
        (_RIGHT[0], _RIGHTS[0][1], "<b>ε so far</b>; dotted: planned"),
        (_RIGHT[0], _RIGHTS[1][1], "<b>Training loss</b>, private"),
        (_RIGHT[0], _RIGHTS[2][1], "<b>Gradients clipped</b>, private"),
    )
    place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 4}
    font = {"size": 15, "color": INK}
    return [{**place, "x": x, "y": y, "text": words, "font": font} for x, y, words in shown]


def _ends(progress: Sequence[Event]) -> list[dict[str, Any]]:
    """Values beside the ends of the lines of accuracy, apart from each other."""
    if not progress:
        return []
    last = progress[-1]
    above = last.get("plain_accuracy", -1.0) >= last["accuracy"]
    # A label needs room below the heading or above the axis.
    floor = _floor(progress)
    highest, lowest = floor + 0.89 * (_TOP - floor), floor + 0.13 * (_TOP - floor)
    named = [("accuracy", "private", PRIVATE, not above)]
    if "plain_accuracy" in last:
        named.append(("plain_accuracy", "not private", PLAIN, above))
    place = {"x": last["step"], "xref": "x", "yref": "y", "xanchor": "left", "xshift": 6}
    return [
        {
            **place,
            "y": min(max(100 * last[key], floor if upper else lowest), highest),
            "yanchor": "bottom" if upper else "top",
            "text": f"<b>{100 * last[key]:.1f} %</b><br>{name}",
            "font": {"color": colour, "size": 15},
            "align": "left",
        }
        for key, name, colour, upper in named
    ]
