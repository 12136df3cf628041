"""What a pair of outputs looks like: laws, loss, profile, Rényi divergences and trade-off.

`here` is the point in use, and `real` what holds for a real pair where the curve is a bound.
Arrays have shape (n,).
"""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dplearn.figures.kit.axes import Axis
from dplearn.figures.kit.marks import Band, Bars, Line, Mark, gaps, keys, upright
from dplearn.figures.kit.panel import one_panel

# What is lower than this, relative to the top, is out of view; so many bars are enough.
_SMALL, _MOST = 1e-3, 600
_REAL: dict[str, Any] = {"label": "a real pair", "role": "quiet", "dash": "dash"}
# Ticks of the orders, few enough for a narrow picture.
_ORDERS = {order: str(order) for order in (2, 5, 10, 30, 100, 300, 1000)}
# Beside the diagonal, where no curve ever is.
_GUESSING = {"text": "guessing", "x": 0.62, "y": 0.46, "xanchor": "left"}


def leaking_area(
    *,
    x: ArrayLike,
    p: ArrayLike,
    q: ArrayLike,
    scaled_q: ArrayLike,
    whole: bool,
    finding: str,
    names: tuple[str, str] = ("P", "Q"),
    axis: str = "released number",
) -> go.Figure:
    """Two laws at places in ascending order, with what P has above e^epsilon Q shaded.

    If `whole` they are probabilities of the places, drawn as bars, else densities.

    Examples
    --------
    >>> coin = {"x": [0, 1], "p": [0.7, 0.3], "q": [0.3, 0.7], "scaled_q": [0.6, 1.4]}
    >>> figure = leaking_area(**coin, whole=True, finding="A coin")
    >>> [round(float(y), 2) for y in figure.data[1].y]
    [0.1, 0.0]
    """
    x, p, q, scaled_q = (np.asarray(a, dtype=float) for a in (x, p, q, scaled_q))
    top = 1.12 * max(np.max(p), np.max(q))
    high = np.flatnonzero(np.maximum(p, q) > _SMALL * top)
    pad = 0.5 if whole else 0.0
    across = Axis(title=axis, lower=float(x[high[0]]) - pad, upper=float(x[high[-1]]) + pad)
    up = Axis(title="probability" if whole else "density", lower=0.0, upper=float(top))
    # What is far above the picture would only slow it down.
    scaled_q = np.minimum(scaled_q, 3 * top)
    covered = np.minimum(p, scaled_q)
    if whole:
        few = slice(high[0], high[-1] + 1, 1 + (high[-1] - high[0]) // _MOST)
        x, p, q, scaled_q, covered = (a[few] for a in (x, p, q, scaled_q, covered))
        # Bars of height P in two parts: up to the scaled Q, and above it.
        width, edge = 0.75 * (x[1] - x[0]), 1.4 if x.size < 60 else 0
        law = Bars(x=x, y=covered, label=names[0], width=width, opacity=0.35, edge=edge)
        area = Bars(x=x, y=p - covered, label="δ", role="wrong", width=width)
        # Corners of staircases that are level over each bar.
        half = 0.5 * (x[1] - x[0])
        at = np.column_stack([x - half, x + half]).ravel()
        second, scaled = np.repeat(q, 2), np.repeat(scaled_q, 2)
    else:
        law, at, second, scaled = Line(x=x, y=p, label=names[0]), x, q, scaled_q
        area = Band(x=x, lower=covered, upper=p, label="δ", role="wrong", opacity=0.45)
    others = [
        Line(x=at, y=second, label=names[1], role="other", dash="dot"),
        Line(x=at, y=scaled, label="e<sup>ε</sup>·Q", role="quiet", dash="dash"),
    ]
    shown = [law, area, *others] if whole else [area, law, *others]
    legend = keys(law, *others, area)
    return one_panel(shown, across, up, finding, legend, barmode="stack")


def loss_law(
    *,
    edges: ArrayLike,
    mass: ArrayLike,
    counted: ArrayLike,
    epsilon: float,
    finding: str,
) -> go.Figure:
    """The privacy loss under P in bins; of those above epsilon, the part that delta counts.

    Epsilon is one of the n + 1 edges, in nats. Counted is the mass of a bin under P minus
    e^epsilon times that under Q; 0 below epsilon.

    Examples
    --------
    >>> figure = loss_law(edges=[-1, 0, 1], mass=[0.3, 0.7], counted=[0, 0.4], epsilon=0,
    ...                   finding="A coin")
    >>> [round(float(y), 2) for y in figure.data[1].y]
    [0.0, 0.3]
    """
    edges, mass, counted = (np.asarray(a, dtype=float) for a in (edges, mass, counted))
    middle, above = 0.5 * (edges[1:] + edges[:-1]), edges[:-1] > epsilon - 1e-9 * np.ptp(edges)
    low, high, width = float(edges[0]), float(edges[-1]), float(edges[1] - edges[0])
    x = Axis(title="privacy loss L = ln dP/dQ (nats)", lower=low, upper=high)
    top = 1.12 * float(np.max(mass))
    y = Axis(title=f"probability in a bin of {width:.2g}", lower=0.0, upper=top)
    delta = Bars(x=middle, y=counted, label="counted in δ", role="wrong", opacity=1)
    uncounted, below = np.where(above, mass - counted, 0.0), np.where(above, 0.0, mass)
    pale = {"role": "quiet", "opacity": 0.2, "hatched": True}
    grey = Bars(x=middle, y=uncounted, label="L > ε, not counted", **pale)
    blue = Bars(x=middle, y=below, label="L ≤ ε", opacity=0.8)
    shown, names = [delta, grey, blue], keys(blue, grey, delta)
    stacked = {"barmode": "stack", "shapes": [upright(epsilon, "ε", on=x)]}
    return one_panel(shown, x, y, finding, names, **stacked)


def profile_curve(
    *,
    epsilons: ArrayLike,
    deltas: ArrayLike,
    here: tuple[float, float],
    finding: str,
    real: ArrayLike | None = None,
) -> go.Figure:
    """Delta over epsilon, delta on a logarithmic axis; a delta of 0 is marked at the foot.

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
        lines.append(Line(x=x, y=gaps(real, above=1e-3 * lower), **_REAL))
    side = "top left" if here[0] > 0.6 * x[-1] else "top right"
    words = "δ = 0" if here[1] == 0 else ""
    point = Mark(x=here[0], y=max(here[1], lower), label=words, role="wrong", side=side)
    more = {"height": 310, "shapes": [upright(here[0], "ε", end="bottom", on=across)]}
    return one_panel([*lines, point], across, up, finding, keys(*lines), **more)


def renyi_curve(
    *,
    orders: ArrayLike,
    divergences: ArrayLike,
    converted: ArrayLike,
    here: tuple[float, float, float],
    epsilon: float,
    beside: str = "exact",
    finding: str,
) -> go.Figure:
    """Rényi divergences over the order, and the epsilon that each order proves at one delta.

    Beside them lies the epsilon of the profile at that delta, called `beside`. In use is an
    order, with its divergence and what it converts to. Infinite values leave a gap.

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
    divergence, proved = gaps(divergences, above=0), gaps(converted, above=0)
    lines = [
        Line(x=orders, y=divergence, label="D<sub>α</sub>", role="rdp", dash="dash"),
        Line(x=orders, y=proved, label="ε from order α", role="rdp"),
        Line(x=orders[[0, -1]], y=[epsilon, epsilon], label=beside, dash="dot"),
    ]
    marks = [Mark(x=here[0], y=y, label="", role="rdp") for y in gaps(here, above=0)[1:]]
    more = {"height": 310, "shapes": [upright(here[0], "α", on=across)]}
    return one_panel([*lines, *marks], across, up, finding, keys(*lines), **more)


def tradeoff_curve(
    *,
    rates: ArrayLike,
    misses: ArrayLike,
    here: tuple[float, float],
    epsilon: float,
    deltas: tuple[float, float],
    finding: str,
    real: ArrayLike | None = None,
) -> go.Figure:
    r"""What the best attacker misses over how often he accuses wrongly.

    With the deltas of the pair and of its reverse at epsilon, nobody is below either of the
    lines :math:`1 - \delta - e^\varepsilon a` and :math:`e^{-\varepsilon}(1 - \delta' - a)`.

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
        named.append(Line(x=rates, y=real, **_REAL))
    parts = [guessing, ground, *named, other, Mark(x=here[0], y=here[1], label="")]
    x, y = (Axis(title=title, lower=0.0, upper=1.0) for title in ("false alarms a", "missed"))
    extras = {"shapes": [upright(here[0])], "annotations": [_GUESSING]}
    return one_panel(parts, x, y, finding, keys(*named), height=310, **extras)
