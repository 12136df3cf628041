"""What an auditor sees of canaries, and what guesses about them prove."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Bars, Line, Mark, keys, level, upright
from dplearn.figures.kit.panel import one_panel

_BINS = 32


def score_histogram(
    left_out: ArrayLike, included: ArrayLike, *, limits: tuple[float, float], finding: str
) -> go.Figure:
    """How many canaries have which score, in the data or not; limits are where guesses begin.

    Examples
    --------
    >>> figure = score_histogram([0, 1, 1], [1, 2], limits=(0, 2), finding="Three are out")
    >>> [int(sum(bars.y)) for bars in figure.data]
    [3, 2]
    """
    groups = [np.asarray(scores, dtype=float) for scores in (left_out, included)]
    every = np.concatenate(groups)
    edges = np.linspace(every.min(), every.max(), _BINS + 1)
    middle, counted = 0.5 * (edges[1:] + edges[:-1]), [np.histogram(g, edges)[0] for g in groups]
    bars = [
        Bars(x=middle, y=y, label=name, role=role, opacity=0.5, edge=1, hatched=role == "quiet")
        for y, name, role in zip(
            counted, ("canaries left out", "canaries included"), ("quiet", "exact"), strict=True
        )
    ]
    # Room at the right for a name beside the last column.
    end = float(1.2 * edges[-1] - 0.2 * edges[0])
    x = Axis(title="score of a canary", lower=float(edges[0]), upper=end)
    y = Axis(title="number of canaries", lower=0.0, upper=1.15 * float(np.max(counted)))
    lines = [upright(limits[0], "← out"), upright(limits[1], "in →")]
    return one_panel(bars, x, y, finding, keys(*bars), height=330, barmode="overlay", shapes=lines)


def proved_by_guesses(
    sizes: ArrayLike,
    proved: ArrayLike,
    ceiling: ArrayLike,
    *,
    here: tuple[float, float],
    claim: float,
    finding: str,
) -> go.Figure:
    """Epsilon proved by each number of guesses, the most it could prove, the claim as a line.

    `here` is the number that was fixed beforehand, and what it proved.

    Examples
    --------
    >>> figure = proved_by_guesses([10, 90], [0, 1], [0, 2], here=(90, 1), claim=3, finding="One")
    >>> [trace.name for trace in figure.data]
    ['ε proved', 'if all were right', 'this audit']
    """
    x = np.asarray(sizes, dtype=float)
    lines = [
        Line(x=x, y=np.asarray(proved, dtype=float), label="ε proved"),
        Line(x=x, y=np.asarray(ceiling, dtype=float), label="if all were right", role="quiet"),
    ]
    # Above a rising curve, where the claim's line does not strike it, if there is room at the left.
    late = np.log(here[0] / x[0]) > 0.3 * np.log(x[-1] / x[0])
    side = "top left" if late else "bottom right"
    mark = Mark(x=here[0], y=here[1], label="this audit", role="wrong", side=side)
    top = 1.15 * max(claim, float(np.max(ceiling)), here[1])
    named = {"x": 0, "xref": "paper", "y": claim, "text": "ε claimed", "showarrow": False}
    named |= {"xanchor": "left", "yanchor": "bottom", "font": {"size": 15}}
    return one_panel(
        [*lines, mark],
        Axis(title="number of guesses", lower=float(x[0]), upper=float(x[-1]) * 1.05, log=True),
        Axis(title="ε", lower=0.0, upper=top),
        finding,
        keys(*lines),
        height=330,
        shapes=[level(claim, "dot")],
        annotations=[named],
    )
