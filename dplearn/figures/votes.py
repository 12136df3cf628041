"""What teachers' votes look like, and what answers to them cost."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Bars, Line, keys, upright
from dplearn.figures.kit.panel import one_panel

_ROLES = {"answered, right": "second", "answered, wrong": "wrong", "no answer": "quiet"}
_BINS = 25


def vote_histogram(
    largest: Mapping[str, ArrayLike], *, teachers: int, finding: str, threshold: float | None = None
) -> go.Figure:
    """How many of the queries had a largest count of so many votes, by what became of them.

    `largest` maps "answered, right", "answered, wrong" and "no answer" to largest counts.

    Examples
    --------
    >>> counts = {"answered, right": [9, 10, 10], "no answer": [4]}
    >>> figure = vote_histogram(counts, teachers=10, finding="Most agree")
    >>> [int(sum(bars.y)) for bars in figure.data]
    [3, 1]
    """
    edges = np.linspace(0.0, teachers, _BINS + 1)
    middle, counted = 0.5 * (edges[1:] + edges[:-1]), {}
    for name, counts in largest.items():
        counted[name] = np.histogram(np.asarray(counts, dtype=float), edges)[0]
    top = 1.15 * max(1.0, float(np.max(sum(counted.values()))))
    bars = [
        Bars(
            x=middle, y=y, label=name, role=_ROLES[name], opacity=0.75, hatched=name == "no answer"
        )
        for name, y in counted.items()
    ]
    x = Axis(title="votes for the favourite", lower=0.0, upper=float(teachers))
    y = Axis(title="queries", lower=0.0, upper=top)
    more = {"barmode": "stack", "shapes": [upright(threshold, "T", on=x)]}
    return one_panel(bars, x, y, finding, keys(*bars), height=330, **more)


def spent_on_answers(
    answers: ArrayLike, epsilons: Mapping[str, ArrayLike], *, finding: str
) -> go.Figure:
    """Epsilon after each number of answers, a line for each way to state it, the public one first.

    Examples
    --------
    >>> figure = spent_on_answers([1, 2], {"public": [0.1, 0.15]}, finding="Cheap")
    >>> figure.data[0].name
    'public'
    """
    answers = np.asarray(answers, dtype=float)
    roles = ("exact", "guess", "other")
    lines = [
        Line(x=answers, y=np.asarray(y), label=name, role=role, dash="solid" if i == 0 else "dash")
        for i, ((name, y), role) in enumerate(zip(epsilons.items(), roles, strict=False))
    ]
    top = 1.12 * max(float(np.max(np.asarray(y))) for y in epsilons.values())
    x = Axis(title="answers given", lower=0.0, upper=float(answers[-1]))
    y = Axis(title="ε", lower=0.0, upper=top)
    return one_panel(lines, x, y, finding, keys(*lines), height=330)
