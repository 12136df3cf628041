"""The law of the privacy loss, and the part of it that delta counts."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Bars, keys, upright
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import INK


def loss_law(
    *,
    edges: ArrayLike,
    mass: ArrayLike,
    counted: ArrayLike,
    epsilon: float,
    finding: str,
    ink: str = INK["light"],
) -> go.Figure:
    """The privacy loss under P in bins; of those above epsilon, the part that delta counts.

    Parameters
    ----------
    edges : array_like, shape (n + 1,)
        Of the bins, in nats; one of them is epsilon.
    mass : array_like, shape (n,)
        Probability of each bin under P.
    counted : array_like, shape (n,)
        Mass minus e^epsilon times the bin's probability under Q; 0 below epsilon.
    epsilon : float
    finding : str
    ink : str

    Examples
    --------
    >>> figure = loss_law(edges=[-1, 0, 1], mass=[0.3, 0.7], counted=[0, 0.4], epsilon=0,
    ...                   finding="A coin")
    >>> [round(float(y), 2) for y in figure.data[1].y]
    [0.0, 0.3]
    """
    edges, mass, counted = (np.asarray(a, dtype=float) for a in (edges, mass, counted))
    middle, above = 0.5 * (edges[1:] + edges[:-1]), edges[:-1] > epsilon - 1e-9 * np.ptp(edges)
    width = float(edges[1] - edges[0])
    x = Axis(
        title="privacy loss L = ln dP/dQ (nats)", lower=float(edges[0]), upper=float(edges[-1])
    )
    y = Axis(
        title=f"probability in a bin of {width:.2g}", lower=0.0, upper=1.12 * float(np.max(mass))
    )
    delta = Bars(x=middle, y=counted, label="counted in δ", role="wrong", opacity=1)
    uncounted, below = np.where(above, mass - counted, 0.0), np.where(above, 0.0, mass)
    pale = {"role": "quiet", "opacity": 0.2, "hatched": True}
    grey = Bars(x=middle, y=uncounted, label="L > ε, not counted", **pale)
    blue = Bars(x=middle, y=below, label="L ≤ ε", opacity=0.55)
    shown, names = [delta, grey, blue], keys(blue, grey, delta)
    stacked = {"barmode": "stack", "shapes": [upright(epsilon, "ε")]}
    return one_panel(shown, x, y, finding, names, ink=ink, height=330, **stacked)
