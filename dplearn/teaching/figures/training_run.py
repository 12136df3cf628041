"""A training run as it goes on: accuracy and gradients; epsilon so far, loss and clipped share."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import plotly.graph_objects as go

from dplearn.run import DPSGD
from dplearn.teaching.figures.kit.axes import Axis, powers, spread
from dplearn.teaching.figures.kit.marks import TEMPLATE, Unchecked, stroke
from dplearn.teaching.figures.kit.template import GREY, INK, RED, colour_of, transparent

PRIVATE, PLAIN = colour_of("exact"), RED
_HEIGHT = 420
# Upper end of an axis of percents, and the height of a label on that of accuracy.
_ALL, _LABEL = 100.5, 17.0
# How far below C norms are drawn: records that are learned have hardly a gradient.
_FAR_BELOW = 100.0
_NORMS = ("norm_low", "norm_high", "clipping_norm", "noise")
_PLANNED = {
    "line": stroke(PRIVATE, "dot"),
    "hovertemplate": "<b>known beforehand</b><br>step %{x}: ε ≤ %{y:.3g}<extra></extra>",
}

Event = Mapping[str, Any]


def training_run(
    events: Sequence[Event],
    *,
    plan: DPSGD,
    planned: Sequence[tuple[int, float]] = (),
    earlier: Mapping[str, Sequence[Event]] = {},
) -> tuple[go.Figure, go.Figure]:
    """Two figures over the steps: accuracy and gradients; epsilon so far, loss, clipped share.

    Of the events of `teaching.explorer.worker` those that tell no progress are left out. Names
    that begin with ``plain_`` belong to the run without privacy, drawn dashed. The axes end at
    the steps of the whole plan and only grow while a run goes on. What is known before training
    is there from the start: steps and epsilon as `planned`, the clipping norm, the standard
    deviation of the noise. Accuracies of `earlier` runs, by their names, lie thin behind the
    others. Of the norms of the records' gradients there are a tenth, the median and nine tenths.
    There are twelve traces whatever the events.

    Examples
    --------
    >>> event = {"event": "progress", "step": 1, "epsilon": 0.4, "accuracy": 0.61, "loss": 2.3}
    >>> plan = DPSGD(noise_multiplier=4.0, sample_rate=0.1, steps=60)
    >>> [[t.name for t in figure.data if t.y] for figure in training_run([event], plan=plan)]
    [['accuracy', 'noise σ·C', 'clipping norm C'], ['ε so far', 'loss']]
    """
    progress = [event for event in events if event.get("step")]
    known = [{"step": step, "epsilon": epsilon} for step, epsilon in planned]
    clipping = _clipping(progress, plan)
    left = [
        _behind(earlier),
        _line("accuracy", progress, "accuracy", PRIVATE, "solid", ""),
        _line("accuracy without privacy", progress, "plain_accuracy", PLAIN, "dash", ""),
        _spread(progress),
        _line("median norm", progress, "norm", PRIVATE, "solid", "2"),
        _line("noise σ·C", clipping, "noise", GREY, "dot", "2"),
        _line("clipping norm C", clipping, "clipping_norm", RED, "dash", "2"),
    ]
    right = [
        _line("ε of the plan", known, "epsilon", PRIVATE, "dot", "") | _PLANNED,
        _line("ε so far", progress, "epsilon", PRIVATE, "solid", ""),
        _line("loss", progress, "loss", PRIVATE, "solid", "2"),
        _line("loss without privacy", progress, "plain_loss", PLAIN, "dash", "2"),
        _line("share clipped", progress, "clipped", PRIVATE, "solid", "3"),
    ]
    most = max(_values([*known, *progress], "epsilon"), default=1.0)
    largest = max([2.3, *_values(progress, "loss"), *_values(progress, "plain_loss")])
    percent = Axis(lower=0, upper=_ALL, more={"ticksuffix": " %"})
    spent, lost = (Axis(lower=0, upper=1.1 * value) for value in (most, largest))
    norms = _norms([*progress, *clipping])
    accuracy = [
        ("<b>Accuracy</b> on held-out public records", (0.37, 1.0), percent),
        ("<b>Norms of gradients</b>; dashed: C; dotted: noise", (0.0, 0.25), norms),
    ]
    costs = [
        ("<b>ε so far</b>; dotted: planned", (0.74, 1.0), spent),
        ("<b>Loss</b>; dashed: no privacy", (0.37, 0.63), lost),
        ("<b>Gradients clipped</b>", (0.0, 0.25), percent),
    ]
    return (
        _figure(left, accuracy, plan.steps, right=92, notes=_ends(progress)),
        _figure(right, costs, plan.steps, right=20),
    )


def _figure(
    traces: list[dict[str, Any]],
    panels: Sequence[tuple[str, tuple[float, float], Axis]],
    steps: int,
    *,
    right: int,
    notes: Sequence[dict[str, Any]] = (),
) -> go.Figure:
    """Panels above each other over the same steps, each with its heading."""
    place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "yshift": 4}
    font = {"size": 15, "color": INK}
    headings = [{**place, "x": 0, "y": ends[1], "text": t, "font": font} for t, ends, _ in panels]
    axes: dict[str, Any] = {}
    for rank, (_, ends, axis) in enumerate(panels, 1):
        number, last = rank if rank > 1 else "", rank == len(panels)
        x = Axis(title="T, step" if last else "", lower=0, upper=steps).layout()
        axes[f"xaxis{number}"] = x | {"anchor": f"y{number}", "nticks": 5, "showticklabels": last}
        place_of = {"anchor": f"x{number}", "domain": ends, "nticks": 5}
        axes[f"yaxis{number}"] = axis.layout() | place_of
    layout = {"template": TEMPLATE, "height": _HEIGHT, **axes}
    margin = {"l": 56, "r": right, "t": 30, "b": 46}
    more = {"margin": margin, "annotations": [*headings, *notes]}
    return Unchecked({"data": traces, "layout": layout | more})


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
    where = {"name": "eight tenths of the norms", "uid": "norms", "xaxis": "x2", "yaxis": "y2"}
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


def _clipping(progress: Sequence[Event], plan: DPSGD) -> list[Event]:
    """Clipping norm and deviation of the noise: as told, and to both ends what is next to them."""
    norms = [(e["step"], e["clipping_norm"]) for e in progress if e.get("clipping_norm")]
    norms = norms or [(0, plan.max_grad_norm)]
    ends = [(0, norms[0][1]), *norms, (plan.steps, norms[-1][1])]
    sigma = plan.noise_multiplier
    return [{"step": step, "clipping_norm": C, "noise": sigma * C} for step, C in ends]


def _norms(events: Sequence[Event]) -> Axis:
    """From a hundredth of C to ten times C, or to the largest norm."""
    clipping = _values(events, "clipping_norm")
    sizes = [norm for key in _NORMS for norm in _values(events, key)]
    lower, upper = min(clipping) / _FAR_BELOW, 2 * max(*sizes, 5 * max(clipping))
    return Axis(lower=lower, upper=upper, log=True, ticks=powers(lower, upper))


def _values(progress: Sequence[Event], key: str) -> list[float]:
    return [event[key] for event in progress if event.get(key) is not None]


def _ends(progress: Sequence[Event]) -> list[dict[str, Any]]:
    """Values beside the ends of the lines of accuracy, apart from each other."""
    named = [("accuracy", "private", PRIVATE), ("plain_accuracy", "not private", PLAIN)]
    ends = [
        (100 * progress[-1][key], *look) for key, *look in named if progress and key in progress[-1]
    ]
    half = _LABEL / 2
    heights = spread([end[0] for end in ends], gap=_LABEL, lower=half, upper=_ALL - half)
    return [
        {
            **{"x": progress[-1]["step"], "y": y, "xref": "x", "yref": "y", "xanchor": "left"},
            **{"xshift": 6, "align": "left", "font": {"color": colour, "size": 15}},
            "text": f"<b>{reached:.1f} %</b><br>{name}",
        }
        for (reached, name, colour), y in zip(ends, heights, strict=True)
    ]
