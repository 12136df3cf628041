"""Rényi divergences over the order, and what each order proves."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Line, Mark, gaps, keys, upright
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import INK

# Ticks of the orders, few enough for a narrow picture.
_ORDERS = {order: str(order) for order in (2, 5, 10, 30, 100, 300, 1000)}


def renyi_curve(
    *,
    orders: ArrayLike,
    divergences: ArrayLike,
    converted: ArrayLike,
    here: tuple[float, float, float],
    epsilon: float,
    beside: str = "exact",
    finding: str,
    ink: str = INK["light"],
) -> go.Figure:
    """Rényi divergences over the order, and the epsilon that each order proves at one delta.

    Parameters
    ----------
    orders, divergences, converted : array_like, shape (n,)
        Infinite values leave a gap.
    here : tuple of float
        The order in use, its divergence, and what it converts to.
    epsilon : float
        What the profile says at that delta.
    beside : str
        What that epsilon is.
    finding : str
    ink : str

    Examples
    --------
    >>> figure = renyi_curve(orders=[2, 4], divergences=[1, 2], converted=[3, 2.5],
    ...                      here=(2, 1, 3), epsilon=2, finding="")
    >>> [trace.name for trace in figure.data if trace.name]
    ['D<sub>α</sub>', 'ε from order α', 'exact']
    """
    orders = np.asarray(orders, dtype=float)
    levels = [here[1], here[2], epsilon, np.min(np.asarray(converted)), np.min(divergences)]
    levels = [float(v) for v in levels if 0 < v < math.inf]
    lower, upper = max(min(levels, default=0.1), 1e-12) / 2, 6 * max(levels, default=1.0)
    low, high = float(orders[0]), float(orders[-1])
    across = Axis(title="order α", lower=low, upper=high, log=True, ticks=_ORDERS)
    up = Axis(title="nats", lower=lower, upper=upper, log=True)
    lines = [
        Line(
            x=orders, y=gaps(divergences, above=0), label="D<sub>α</sub>", role="rdp", dash="dash"
        ),
        Line(x=orders, y=gaps(converted, above=0), label="ε from order α", role="rdp"),
        Line(x=orders[[0, -1]], y=[epsilon, epsilon], label=beside, dash="dot"),
    ]
    marks = [Mark(x=here[0], y=y, label="", role="rdp") for y in gaps(here, above=0)[1:]]
    names, shapes = keys(*lines), [upright(here[0], "α")]
    return one_panel(
        [*lines, *marks], across, up, finding, names, ink=ink, height=310, shapes=shapes
    )
