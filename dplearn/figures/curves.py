"""Epsilon against the number of steps, one curve per accountant."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dplearn.figures import certificate, text
from dplearn.figures._band import band
from dplearn.figures._frame import frame
from dplearn.figures._layout import layout
from dplearn.figures._notes import Published
from dplearn.figures.theme import INK, PUBLISHED, dash_of, stroke, style_of
from dplearn.ground.guarantee import Guarantee

Curves = Mapping[str, Sequence[Guarantee]]


def epsilon_curves(
    curves: Curves,
    steps: Sequence[int],
    *,
    published: Sequence[Published] = (),
    here: int | None = None,
    budget: float | None = None,
    certified: Mapping[str, int] | None = None,
    reference: str | None = None,
    claims: Collection[str] = (),
    stairs: bool = False,
    finding: str = "",
    subtitle: str = "",
    log_x: bool = True,
    log_y: bool = True,
    ink: str = INK["light"],
) -> go.Figure:
    """Curves of epsilon over the number of steps; draws results and computes none.

    Parameters
    ----------
    curves : mapping of str to sequence of Guarantee
        Accountant's name to its guarantees, entry i at ``steps[i]``. Bounds become solid
        lines, anything else is dashed. An infinite epsilon leaves a gap.
    steps : sequence of int
        Numbers of steps, increasing, shape (n,).
    published : sequence of Published
        Printed figures, drawn as points.
    here : int, optional
        One of `steps`: marked by a vertical line, and its values are the ones written
        beside the curves. Default: the last step, without a line.
    budget : float, optional
        A target epsilon, drawn as a horizontal line.
    certified : mapping of str to int, optional
        Largest number of steps each accountant certifies within `budget`.
    reference : str, optional
        One of `curves`: where it is proved from both sides it lies in a band between its
        two ends, never thinner than a soft line, and a note says how sharp it is.
    claims : collection of str
        Those of `curves` that are said of the run and do not hold for it: drawn dotted.
    stairs : bool
        Epsilon changes at whole epochs only: between two numbers of steps the upper end is
        that of the second, the lower end that of the first. Claims are not affected.
    finding : str
        The title. Default: how many bounds and approximations there are.
    subtitle : str
        The run in one line, so that a saved picture speaks for itself.
    log_x, log_y : bool
        Logarithmic axes.
    ink : str
        Colour of words and numbers; the background is transparent.

    Returns
    -------
    plotly.graph_objects.Figure
        The band of the reference if there is one, one trace per accountant in the order of
        `curves`, then three of points: at `here`, at the budget, published. Their number
        does not depend on the values.

    Raises
    ------
    ValueError
        If a curve and `steps` differ in length, or `here` is not among `steps`, or
        `reference` not among `curves`.

    Examples
    --------
    >>> from dplearn.ground.guarantee import Guarantee
    >>> line = [Guarantee(epsilon=e, delta=1e-5, kind="upper", method="rdp",
    ...                   adjacency="add_remove") for e in (0.5, 1.0)]
    >>> figure = epsilon_curves({"rdp": line}, [10, 100], here=10)
    >>> len(figure.data), figure.layout.title.text
    (4, '<b>Same run, same δ: one bound on ε</b>')
    """
    steps = [int(t) for t in steps]
    _check(curves, steps, here)
    if reference is not None and reference not in curves:
        raise ValueError(f"Expected reference among the curves, got reference={reference!r}.")
    wanted = [p.epsilon for p in published] + ([budget] if budget else [])
    view = frame(curves, steps, wanted, log_x=log_x, log_y=log_y)
    index = len(steps) - 1 if here is None else steps.index(here)
    return go.Figure(
        {
            "data": [
                *([band(reference, curves[reference], steps, stairs)] if reference else []),
                *(
                    _line(name, curve, steps, claim=name in claims, stairs=stairs)
                    for name, curve in curves.items()
                ),
                _points_here(curves, here, index),
                _points_certified(budget, certified or {}),
                _points_published(published),
            ],
            "layout": layout(
                curves,
                steps,
                view,
                published=published,
                here=here,
                budget=budget,
                reference=reference,
                claims=claims,
                finding=finding,
                subtitle=subtitle,
                ink=ink,
            ),
        }
    )


def _check(curves: Curves, steps: Sequence[int], here: int | None) -> None:
    for name, curve in curves.items():
        if len(curve) != len(steps):
            raise ValueError(f"Expected {len(steps)} values for {name}, got {len(curve)}.")
    if not steps:
        raise ValueError("Expected at least one number of steps, got none.")
    if here is not None and here not in steps:
        raise ValueError(f"Expected here among steps, got here={here!r}.")


def _finite(guarantee: Guarantee) -> float | None:
    """Epsilon, or a gap where it is infinite."""
    return guarantee.epsilon if math.isfinite(guarantee.epsilon) else None


def _line(
    name: str, curve: Sequence[Guarantee], steps: Sequence[int], *, claim: bool, stairs: bool
) -> dict[str, Any]:
    style, dash = style_of(name), "dot" if claim else dash_of(curve)
    shape = {"shape": "vh"} if stairs and not claim else {}
    return {
        "type": "scatter",
        "name": style.label,
        "uid": name,
        "x": steps,
        "y": [_finite(g) for g in curve],
        "mode": "lines+markers",
        "line": stroke(style.colour, dash) | shape,
        "marker": {"symbol": style.symbol, "size": 8, "maxdisplayed": 7},
        "connectgaps": False,
        "text": [_hover(g) for g in curve],
        "hovertemplate": f"<b>{style.label}</b><br>T = %{{x:,}}<br>%{{text}}<extra></extra>",
    }


def _hover(guarantee: Guarantee) -> str:
    order = guarantee.details.get("order")
    won = f"<br>order α = {order:g}" if order is not None else ""
    if guarantee.kind == "bracket":
        sharp = certificate.precision(certificate.width(guarantee))
        return f"{certificate.both_ends(guarantee)}<br>proved from both sides, {sharp}{won}"
    kind = "an approximation, not a bound" if guarantee.kind == "approximate" else guarantee.kind
    return f"ε {text.relation(guarantee)} {text.bare(guarantee, 4)} ({kind}){won}"


def _points_here(curves: Curves, here: int | None, index: int) -> dict[str, Any]:
    """A dot on every curve at the chosen number of steps."""
    shown = {} if here is None else {n: c[index] for n, c in curves.items()}
    return {
        **_points("here", [here] * len(shown), [_finite(g) for g in shown.values()]),
        "marker": {
            "symbol": "circle",
            "size": 10,
            "color": [style_of(n).colour for n in shown],
            "line": {"width": 1.5, "color": "white"},
        },
        "hoverinfo": "skip",
    }


def _points_certified(budget: float | None, certified: Mapping[str, int]) -> dict[str, Any]:
    """Where each accountant's curve meets the budget."""
    names = [] if budget is None else [n for n, t in certified.items() if t > 0]
    return {
        **_points("within the budget", [certified[n] for n in names], [budget] * len(names)),
        "marker": {
            "symbol": "line-ns-open",
            "size": 11,
            "color": [style_of(n).colour for n in names],
            "line": {"width": 3},
        },
        "text": [style_of(n).label for n in names],
        "hovertemplate": "<b>%{text}</b><br>up to T = %{x:,} within the budget<extra></extra>",
    }


def _points_published(published: Sequence[Published]) -> dict[str, Any]:
    return {
        **_points("published", [p.steps for p in published], [p.epsilon for p in published]),
        "marker": {"symbol": "circle-open", "size": 17, "color": PUBLISHED, "line": {"width": 2.5}},
        "customdata": [p.note for p in published],
        "hovertemplate": "published: ε = %{y}<br>T = %{x:,}<br>%{customdata}<extra></extra>",
    }


def _points(name: str, x: Sequence[Any], y: Sequence[Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": name,
        "uid": name,
        "mode": "markers",
        "cliponaxis": False,
        "x": list(x),
        "y": list(y),
    }
