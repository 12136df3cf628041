"""Two neighbouring outputs as laws: of what is released, and of the privacy loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from dplearn.figures._frame import Frame
from dplearn.figures.pair_look import (
    LEAK,
    LEAK_AREA,
    P_COLOUR,
    Q_COLOUR,
    dressed,
    key,
    keys,
    line,
    upright,
)
from dplearn.figures.theme import GREY, INK, transparent

_HEIGHT = 330
# What is lower than this, relative to the top, is out of view; so many bars are enough.
_SEEN, _MOST = 1e-3, 600


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
    ink: str = INK["light"],
) -> go.Figure:
    """Two laws, with what P has above the scaled Q shaded: densities, or bars of probabilities.

    Parameters
    ----------
    x, p, q, scaled_q : array_like, shape (n,)
        Places in ascending order, both laws there, and e^epsilon times the second.
    whole : bool
        The laws are probabilities of the places, not densities.
    finding : str
        The title.
    names : tuple of str
        Of the two laws.
    axis : str
        What is released.
    ink : str
        Colour of words and numbers.

    Examples
    --------
    >>> coin = {"x": [0, 1], "p": [0.7, 0.3], "q": [0.3, 0.7], "scaled_q": [0.6, 1.4]}
    >>> figure = leaking_area(**coin, whole=True, finding="A coin")
    >>> [round(float(y), 2) for y in figure.data[1].y]
    [0.1, 0.0]
    """
    x, p, q, scaled_q = (np.asarray(a, dtype=float) for a in (x, p, q, scaled_q))
    top = 1.12 * max(np.max(p), np.max(q))
    seen = np.flatnonzero(np.maximum(p, q) > _SEEN * top)
    pad = 0.5 if whole else 0.0
    sides = float(x[seen[0]]) - pad, float(x[seen[-1]]) + pad
    view = Frame(False, False, *sides, 0.0, float(top), _HEIGHT)
    if whole:
        few = slice(seen[0], seen[-1] + 1, 1 + (seen[-1] - seen[0]) // _MOST)
        x, p, q, scaled_q = (a[few] for a in (x, p, q, scaled_q))
    # What is far above the picture would only slow it down.
    scaled = np.minimum(scaled_q, 3 * top)
    q_line, scaled_line = (_steps(x, y) if whole else {"x": x, "y": y} for y in (q, scaled))
    legend = keys(
        key(names[0], P_COLOUR, "area" if whole else "solid"),
        key(names[1], Q_COLOUR, "dot"),
        key("e<sup>ε</sup>·Q", GREY, "dash"),
        key("δ", LEAK, "area"),
    )
    traces = (_bars if whole else _densities)(x, p, scaled)
    return go.Figure(
        [
            *traces,
            line(name="Q", colour=Q_COLOUR, dash="dot", **q_line),
            line(name="e<sup>ε</sup>·Q", colour=GREY, dash="dash", **scaled_line),
        ],
        dressed(
            view,
            finding,
            legend,
            x=axis,
            y="probability" if whole else "density",
            ink=ink,
            barmode="stack",
            bargap=0.25,
        ),
    )


def _densities(x: NDArray, p: NDArray, scaled: NDArray) -> list[dict[str, Any]]:
    """P, filled down to where the scaled Q is below it."""
    edge = line(x, np.minimum(p, scaled), "edge", LEAK, line_width=0, hoverinfo="skip")
    edge.pop("hovertemplate")
    return [edge, line(x, p, "P", P_COLOUR, fill="tonexty", fillcolor=LEAK_AREA)]


def _steps(x: NDArray, y: NDArray) -> dict[str, NDArray]:
    """Corners of a staircase that is level over each bar."""
    half = 0.5 * (x[1] - x[0])
    return {"x": np.column_stack([x - half, x + half]).ravel(), "y": np.repeat(y, 2)}


def _bars(x: NDArray, p: NDArray, scaled: NDArray) -> list[dict[str, Any]]:
    """Bars of height P in two parts: up to the scaled Q, and above it."""
    covered = np.minimum(p, scaled)
    look = {"line": {"color": P_COLOUR, "width": 1.4}} if x.size < 60 else {}
    return [
        _bar(x, covered, "P", {"color": transparent(P_COLOUR, 0.35), **look}),
        _bar(x, p - covered, "P above e<sup>ε</sup>·Q", {"color": LEAK_AREA, **look}),
    ]


def _bar(x: ArrayLike, y: ArrayLike, name: str, marker: dict[str, Any]) -> dict[str, Any]:
    hover = f"{name}<br>%{{x:.4~g}}: %{{y:.4~g}}<extra></extra>"
    return {
        "type": "bar",
        "name": name,
        "uid": name,
        "x": x,
        "y": y,
        "marker": {"line": {"width": 0}} | marker,
        "hovertemplate": hover,
    }


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
    view = Frame(
        False, False, float(edges[0]), float(edges[-1]), 0.0, 1.12 * float(np.max(mass)), _HEIGHT
    )
    legend = keys(
        key("L ≤ ε", P_COLOUR, "area"), key("L > ε", GREY, "area"), key("of it δ", LEAK, "area")
    )
    hatched = {"shape": "/", "size": 5, "fgcolor": GREY, "bgcolor": transparent(GREY, 0.2)}
    pale = {"color": transparent(GREY, 0.2), "pattern": hatched}
    return go.Figure(
        [
            _bar(middle, counted, "counted in δ", {"color": LEAK}),
            _bar(middle, np.where(above, mass - counted, 0.0), "above ε, not counted", pale),
            _bar(
                middle,
                np.where(above, 0.0, mass),
                "L ≤ ε",
                {"color": transparent(P_COLOUR, 0.55)},
            ),
        ],
        dressed(
            view,
            finding,
            legend,
            x="privacy loss L = ln dP/dQ (nats)",
            y=f"probability in a bin of {edges[1] - edges[0]:.2g}",
            ink=ink,
            barmode="stack",
            bargap=0,
            shapes=[upright(epsilon, "ε")],
        ),
    )
