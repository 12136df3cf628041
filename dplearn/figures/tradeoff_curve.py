"""The trade-off of the best attacker: what he misses over how often he accuses wrongly."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Band, Line, Mark, keys, upright
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import INK

# Beside the diagonal, where no curve ever is.
_GUESSING = {"text": "guessing", "x": 0.62, "y": 0.42, "xanchor": "left"}


def tradeoff_curve(
    *,
    rates: ArrayLike,
    misses: ArrayLike,
    here: tuple[float, float],
    epsilon: float,
    deltas: tuple[float, float],
    finding: str,
    real: ArrayLike | None = None,
    ink: str = INK["light"],
) -> go.Figure:
    r"""What the best attacker misses over how often he accuses wrongly.

    Parameters
    ----------
    rates, misses : array_like, shape (n,)
        False positive and smallest false negative rates.
    here : tuple of float
        The attacker's operating point.
    epsilon : float
    deltas : tuple of float
        Of the pair and of its reverse at epsilon: nobody is below either of the lines
        :math:`1 - \delta - e^\varepsilon a` and :math:`e^{-\varepsilon}(1 - \delta' - a)`.
    finding : str
    real : array_like, shape (n,), optional
        What an attacker of a real pair misses, where the curve is a bound.
    ink : str

    Examples
    --------
    >>> figure = tradeoff_curve(rates=[0, 1], misses=[1, 0], here=(0.5, 0.5), epsilon=0,
    ...                         deltas=(0, 0), finding="")
    >>> steep = next(trace for trace in figure.data if trace.name == "(ε, δ) lines")
    >>> [round(float(y), 2) for y in steep.y]
    [1.0, 0.0]
    """
    steep, flat = 1 - deltas[0], math.exp(-epsilon) * (1 - deltas[1])
    floor = np.zeros(np.size(rates))
    ground = Band(x=rates, lower=floor, upper=misses, label="", role="exact", opacity=0.1)
    guessing = Line(x=[0, 1], y=[1, 0], label="guessing", role="quiet")
    best = Line(x=rates, y=misses, label="best attacker")
    foot, words = steep * math.exp(-epsilon), "(ε, δ) lines"
    bound = Line(x=[0, foot], y=[steep, 0], label=words, role="wrong")
    other = Line(x=[0, 1 - deltas[1]], y=[flat, 0], label=words, role="wrong")
    named = [best, bound]
    if real is not None:
        named.append(Line(x=rates, y=real, label="a real pair", role="quiet", dash="dash"))
    parts = [guessing, ground, *named, other, Mark(x=here[0], y=here[1], label="")]
    x, y = (Axis(title=title, lower=0.0, upper=1.0) for title in ("false alarms a", "missed"))
    extras = {"shapes": [upright(here[0])], "annotations": [_GUESSING]}
    return one_panel(parts, x, y, finding, keys(*named), ink=ink, height=310, **extras)
