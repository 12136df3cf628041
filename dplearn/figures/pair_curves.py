"""One pair of neighbouring outputs as curves: profile, Rényi divergences, trade-off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures._frame import Frame
from dplearn.figures.pair_look import (
    LEAK,
    P_COLOUR,
    RENYI,
    dressed,
    key,
    keys,
    line,
    point,
    upright,
)
from dplearn.figures.theme import GREY, INK, transparent

_HEIGHT = 310
_REAL = "a real pair"
# Beside the diagonal, where no curve ever is.
_GUESSING = {
    "text": "guessing",
    "x": 0.62,
    "y": 0.42,
    "xanchor": "left",
    "showarrow": False,
    "font": {"color": GREY, "size": 13},
}
# Ticks of the orders, few enough for a narrow picture.
_ORDERS = (2, 5, 10, 30, 100, 300, 1000)


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
    x, y = np.asarray(epsilons, dtype=float), np.asarray(deltas, dtype=float)
    top = float(np.max(y))
    lower = max(min(1e-6 * top, 0.1 * here[1] if here[1] > 0 else top), 1e-300)
    view = Frame(False, True, 0.0, float(x[-1]), lower, min(2 * top, 1.5), _HEIGHT)
    traces = [line(x, _above(y, lower), "δ(ε)", P_COLOUR)]
    names = [key("δ(ε)", P_COLOUR)]
    if real is not None:
        traces.append(line(x, _above(real, lower), _REAL, GREY, dash="dash"))
        names.append(key(_REAL, GREY, "dash"))
    ends = here[0] > 0.6 * x[-1]
    side = "top left" if ends else "top right"
    label = "δ = 0" if here[1] == 0 else ""
    traces.append(point(here[0], max(here[1], lower), "here", LEAK, label, side))
    shapes = [upright(here[0], "ε", end="bottom")]
    layout = dressed(view, finding, keys(*names), x="ε (nats)", y="δ", ink=ink, shapes=shapes)
    figure = go.Figure(traces, layout)
    decades = math.log10(view.upper) - math.log10(lower)
    step = max(math.ceil(decades / 7), 1)
    return figure.update_yaxes(exponentformat="power", tickformat="", dtick=step)


def _above(values: ArrayLike, lower: float) -> list[float | None]:
    """Values, with a gap where they are far below the picture."""
    return [float(v) if v > 1e-3 * lower else None for v in np.asarray(values, dtype=float)]


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
    >>> [trace.name for trace in figure.data]
    ['D', 'ε from α', 'divergence', 'converted', 'exact']
    """
    orders = np.asarray(orders, dtype=float)
    ends = [here[1], here[2], epsilon, np.min(np.asarray(converted)), np.min(divergences)]
    known = [float(v) for v in ends if 0 < v < math.inf]
    view = Frame(
        True,
        True,
        float(orders[0]),
        float(orders[-1]),
        max(min(known, default=0.1), 1e-12) / 2,
        6 * max(known, default=1.0),
        _HEIGHT,
    )
    legend = [key("D<sub>α</sub>", RENYI, "dash"), key("ε from order α", RENYI)]
    legend.append(key(beside, P_COLOUR, "dot"))
    traces = [
        line(orders, _finite(divergences), "D", RENYI, dash="dash"),
        line(orders, _finite(converted), "ε from α", RENYI),
        point(here[0], _finite(here)[1], "divergence", RENYI),
        point(here[0], _finite(here)[2], "converted", RENYI),
        line(orders[[0, -1]], [epsilon, epsilon], beside, P_COLOUR, dash="dot"),
    ]
    shapes = [upright(here[0], "α")]
    layout = dressed(view, finding, keys(*legend), x="order α", y="nats", ink=ink, shapes=shapes)
    # 1, 2, 5 and so on as long as there is room for them.
    dense = view.upper / view.lower < 3e3
    figure = go.Figure(traces, layout).update_yaxes(dtick="D2" if dense else 1)
    return figure.update_xaxes(tickvals=_ORDERS)


def _finite(values: ArrayLike) -> list[Any]:
    return [float(v) if 0 < v < math.inf else None for v in np.asarray(values, dtype=float)]


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
    >>> [round(float(y), 2) for y in figure.data[2].y]
    [1.0, 0.0]
    """
    view = Frame(False, False, 0.0, 1.0, 0.0, 1.0, _HEIGHT)
    steep, flat = 1 - deltas[0], math.exp(-epsilon) * (1 - deltas[1])
    foot = steep * math.exp(-epsilon)
    names = [key("best attacker", P_COLOUR), key("(ε, δ) lines", LEAK, "dash")]
    fill = {"fill": "tozeroy", "fillcolor": transparent(P_COLOUR, 0.10)}
    traces = [
        line([0, 1], [1, 0], "guessing", GREY, dash="dot"),
        line(rates, misses, "best attacker", P_COLOUR, **fill),
        line([0, foot], [steep, 0], "1 − δ − e<sup>ε</sup>a", LEAK, dash="dash"),
        line([0, 1 - deltas[1]], [flat, 0], "e<sup>−ε</sup>(1 − δ − a)", LEAK, dash="dash"),
    ]
    if real is not None:
        traces.append(line(rates, real, _REAL, GREY, dash="dash"))
        names.append(key(_REAL, GREY, "dash"))
    traces.append(point(*here, "attacker", P_COLOUR))
    layout = dressed(
        view,
        finding,
        keys(*names),
        x="false alarms a",
        y="missed",
        ink=ink,
        shapes=[upright(here[0], "")],
        annotations=[_GUESSING],
    )
    return go.Figure(traces, layout)
