"""The privacy profile: delta over epsilon."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Line, Mark, gaps, keys, upright
from dplearn.figures.kit.panel import one_panel
from dplearn.figures.kit.template import INK


def profile_curve(
    *,
    epsilons: ArrayLike,
    deltas: ArrayLike,
    here: tuple[float, float],
    finding: str,
    real: ArrayLike | None = None,
    ink: str = INK["light"],
) -> go.Figure:
    """Delta over epsilon, delta on a logarithmic axis, with the point in use.

    Parameters
    ----------
    epsilons, deltas : array_like, shape (n,)
    here : tuple of float
        Epsilon and delta in use; a delta of 0 is marked at the foot of the picture.
    finding : str
    real : array_like, shape (n,), optional
        Delta of a real pair, where the profile is a bound.
    ink : str

    Examples
    --------
    >>> figure = profile_curve(epsilons=[0, 1], deltas=[0.4, 0.0], here=(0.5, 0.1), finding="")
    >>> list(figure.data[0].y)
    [0.4, None]
    """
    x, top = np.asarray(epsilons, dtype=float), float(np.max(deltas))
    lower = max(min(1e-6 * top, 0.1 * here[1] if here[1] > 0 else top), 1e-300)
    across = Axis(title="ε (nats)", lower=0.0, upper=float(x[-1]))
    up = Axis(title="δ", lower=lower, upper=min(2 * top, 1.5), log=True)
    lines = [Line(x=x, y=gaps(deltas, above=1e-3 * lower), label="δ(ε)")]
    if real is not None:
        y = gaps(real, above=1e-3 * lower)
        lines.append(Line(x=x, y=y, label="a real pair", role="quiet", dash="dash"))
    side = "top left" if here[0] > 0.6 * x[-1] else "top right"
    words = "δ = 0" if here[1] == 0 else ""
    point = Mark(x=here[0], y=max(here[1], lower), label=words, role="wrong", side=side)
    shapes = [upright(here[0], "ε", end="bottom")]
    return one_panel(
        [*lines, point], across, up, finding, keys(*lines), ink=ink, height=310, shapes=shapes
    )
