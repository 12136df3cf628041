"""Epsilon against the number of steps, one curve per accountant."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dplearn.figures.kit import certificate, over_steps, text
from dplearn.figures.kit.axes import TYPICAL_WIDTH, Axis, Canvas
from dplearn.figures.kit.labels import along, beside, ink_under
from dplearn.figures.kit.marks import gaps, level, markers, upright
from dplearn.figures.kit.over_steps import Curves, End
from dplearn.figures.kit.template import RED, style_of, transparent
from dplearn.ground.guarantee import Guarantee

# Curves that end further than this above the tightest bound leave the picture: what is worth
# comparing would be squeezed into one line otherwise.
_ABOVE = {True: 50.0, False: 4.0}
_BELOW = 300.0


@dataclass(frozen=True)
class Published:
    """A figure printed somewhere, drawn as a point with a label beside it."""

    steps: int
    epsilon: float  # as printed, in nats
    label: str = ""
    note: str = ""  # source and result of a check, on hover


def epsilon_curves(
    curves: Curves,
    steps: Sequence[int],
    *,
    published: Sequence[Published] = (),
    here: int | None = None,
    budget: float | None = None,
    certified: Mapping[str, int] | None = None,
    reference: str | None = None,
    claims: Mapping[str, str] = MappingProxyType({}),
    pinned: Mapping[str, tuple[Sequence[int], Sequence[Guarantee]]] = MappingProxyType({}),
    stairs: bool = False,
    finding: str = "",
    subtitle: str = "",
    log_x: bool = True,
    log_y: bool = True,
) -> go.Figure:
    """Curves of epsilon over the number of steps; draws results and computes none.

    The curves are an accountant's guarantees, entry i at the increasing ``steps[i]``: bounds
    become solid lines, anything else is dashed, an infinite epsilon leaves a gap. Those among
    `claims` are quoted for the run and no bounds of it: they are dotted, and the words given with
    them stand below their names. The `reference`, one of the curves, lies in a band between its two
    ends where it is proved from both sides, never thinner than a soft line, and a note says how
    sharp it is.

    At `here`, one of the steps, stands a vertical line, and its values are the ones written
    beside the curves; by default the last step's, without a line. A budget is a target epsilon,
    a horizontal line, and `certified` are the most steps within it by accountant. On stairs
    epsilon changes at whole epochs only: between two numbers of steps the upper end is that of
    the second, the lower end that of the first, except for claims. What is pinned is another run,
    steps and curve by accountant, dotted and pale. The finding is the title, by default how many
    bounds and approximations there are; the subtitle tells the run, so that a saved picture speaks
    for itself.

    The traces are those pinned, the band of the reference if there is one, one per accountant in
    the order of `curves`, then three of points: at `here`, at the budget, published. Their number
    does not depend on the values. A ValueError says that what is given does not fit together.

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
    _check(curves, steps, here, reference)
    inside = [p.epsilon for p in published] + ([budget] if budget else [])
    # Of another run only the tightest bound must be in the picture.
    inside += sorted(c[-1].epsilon for _, c in pinned.values() if c[-1].is_bound)[:1]
    canvas = over_steps.canvas_of(steps, log_x, _epsilon_axis(curves, inside, log_y), 480)
    index = len(steps) - 1 if here is None else steps.index(here)
    traces = [_ghost(name, *line) for name, line in pinned.items()]
    traces += [_band(reference, curves[reference], steps, stairs)] if reference else []
    traces += [_line(n, c, steps, claim=n in claims, stairs=stairs) for n, c in curves.items()]
    traces.append(over_steps.dots({n: c[index].epsilon for n, c in curves.items()}, here))
    traces += [_certified(budget, certified or {}), _published(published)]
    below = dict(claims)
    if reference:
        below[reference] = _sharpness(curves[reference], steps, canvas)
    names = over_steps.column("ε", steps[index], _ends(curves, index, below), canvas)
    notes = _notes(curves, steps, canvas, published, here, budget)
    budget_line = level(budget, "dashdot") | {"name": "budget"}
    more = {"shapes": [upright(here), budget_line], "annotations": [*names, *notes]}
    bounds = sum(all(g.is_bound for g in c) for c in curves.values())
    others = len(curves) - bounds
    tail = f" and {text.counted(others, 'approximation')}" if others else ""
    title = finding or f"Same run, same δ: {text.counted(bounds, 'bound')} on ε{tail}"
    return over_steps.figure(canvas, traces, title, subtitle, size=19, **more)


def _check(curves: Curves, steps: Sequence[int], here: int | None, reference: str | None) -> None:
    for name, curve in curves.items():
        if len(curve) != len(steps):
            raise ValueError(f"Expected {len(steps)} values for {name}, got {len(curve)}.")
    if not steps:
        raise ValueError("Expected at least one number of steps, got none.")
    if here is not None and here not in steps:
        raise ValueError(f"Expected here among steps, got here={here!r}.")
    if reference is not None and reference not in curves:
        raise ValueError(f"Expected reference among the curves, got reference={reference!r}.")


def _epsilon_axis(curves: Curves, inside: Sequence[float], log: bool) -> Axis:
    """An axis with the tightest bound, every value `inside`, and what is near."""
    ends = [c[-1].epsilon for c in curves.values() if 0 < c[-1].epsilon < math.inf]
    bounds = [c[-1].epsilon for c in curves.values() if c[-1].is_bound and c[-1].epsilon > 0]
    tightest = min([e for e in bounds if e < math.inf] or ends or [1.0])
    inside = [e for e in inside if 0 < e < math.inf]
    upper = max([min(max(ends, default=tightest), _ABOVE[log] * tightest), *inside])
    lowest = min((g.epsilon for c in curves.values() for g in c if g.epsilon > 0), default=tightest)
    lower = min([max(lowest, tightest / _BELOW), *inside]) if log else 0.0
    dashed = not all(g.is_bound for c in curves.values() for g in c)
    return Axis(
        title="ε (nats), upper bound" + (" unless dashed" if dashed else ""),
        lower=min(lower, upper / 2) * (0.85 if log else 1.0),
        upper=upper * (1.25 if log else 1.06),
        log=log,
    )


def _line(
    name: str, curve: Sequence[Guarantee], steps: Sequence[int], *, claim: bool, stairs: bool
) -> dict[str, Any]:
    dash = "dot" if claim else over_steps.dash_of(curve)
    line = over_steps.line_of(name, steps, gaps([g.epsilon for g in curve]), dash, "%{text}")
    if stairs and not claim:
        line["line"]["shape"] = "vh"
    return line | {"text": [_hover(g) for g in curve]}


def _ghost(name: str, steps: Sequence[int], curve: Sequence[Guarantee]) -> dict[str, Any]:
    """The curve of another run."""
    line = _line(name, curve, steps, claim=True, stairs=False) | {"uid": f"{name}, pinned"}
    return line | {"name": f"{style_of(name).label}, pinned", "mode": "lines", "opacity": 0.55}


def _hover(guarantee: Guarantee) -> str:
    order = guarantee.details.get("order")
    won = f"<br>order α = {order:g}" if order is not None else ""
    if guarantee.kind == "bracket":
        sharp = certificate.precision(certificate.width(guarantee))
        return f"{certificate.both_ends(guarantee)}<br>proved from both sides, {sharp}{won}"
    kind = "an approximation, not a bound" if guarantee.kind == "approximate" else guarantee.kind
    return f"ε {text.relation(guarantee)} {text.bare(guarantee, 4)} ({kind}){won}"


def _band(
    name: str, curve: Sequence[Guarantee], steps: Sequence[int], stairs: bool
) -> dict[str, Any]:
    """A filled line around each stretch proved from both sides, wide enough to be seen."""
    corners: list[tuple[int | None, float | None]] = []
    for stretch in over_steps.stretches(curve, steps):
        upper = [(t, g.epsilon) for t, g in stretch]
        lower = [(t, certificate.floor(g)) for t, g in stretch]
        if stairs:
            upper, lower = _stairs(upper, early=True), _stairs(lower, early=False)
        corners += [*upper, *reversed(lower), (None, None)]
    x, y = [t for t, _ in corners], [e for _, e in corners]
    colour = transparent(style_of(name).colour, 0.22)
    outlined = {"mode": "lines", "line": {"color": colour, "width": 9}, "hoverinfo": "skip"}
    filled = {"fill": "toself", "fillcolor": colour}
    return {"name": "certified", "x": x, "y": y, **outlined, **filled}


def _stairs(corners: list[tuple[int, float]], *, early: bool) -> list[tuple[int, float]]:
    """The corners between points: at the old number of steps if `early`, else at the new one."""
    stairs = [corners[0]]
    for (t0, e0), (t1, e1) in pairwise(corners):
        stairs += [(t0, e1) if early else (t1, e0), (t1, e1)]
    return stairs


def _certified(budget: float | None, certified: Mapping[str, int]) -> dict[str, Any]:
    """Where each accountant's curve meets the budget."""
    names = [] if budget is None else [n for n, t in certified.items() if t > 0]
    x, y, styles = [certified[n] for n in names], [budget] * len(names), list(map(style_of, names))
    look = {"symbol": "line-ns-open", "size": 11, "edge": (3,)}
    look["colour"], look["text"] = [s.colour for s in styles], [s.label for s in styles]
    hover = "<b>%{text}</b><br>up to T = %{x:,} within the budget<extra></extra>"
    return markers(x, y, "within the budget", **look, hovertemplate=hover)


def _published(published: Sequence[Published]) -> dict[str, Any]:
    x, y = [p.steps for p in published], [p.epsilon for p in published]
    look = {"symbol": "circle-open", "size": 17, "colour": RED, "edge": (2.5,)}
    look["customdata"] = [p.note for p in published]
    hover = "published: ε = %{y}<br>T = %{x:,}<br>%{customdata}<extra></extra>"
    return markers(x, y, "published", **look, hovertemplate=hover)


def _ends(curves: Curves, index: int, below: Mapping[str, str]) -> list[End]:
    """Name and value beside the end of each curve."""
    ends = []
    for name, curve in curves.items():
        words = f"<b>{text.epsilon(curve[index])}</b> {style_of(name).label}"
        note = below.get(name, "" if curve[index].is_bound else "no bound")
        ends.append(End(name, curve[-1].epsilon, words, note))
    return ends


def _sharpness(curve: Sequence[Guarantee], steps: Sequence[int], canvas: Canvas) -> str:
    """What the reference is, over the part of it that is in view."""
    shown = [(g, t) for g, t in zip(curve, steps, strict=True) if canvas.y.lower <= g.epsilon]
    return certificate.of_curve([g for g, _ in shown], [t for _, t in shown])


def _notes(
    curves: Curves,
    steps: Sequence[int],
    canvas: Canvas,
    published: Sequence[Published],
    here: int | None,
    budget: float | None,
) -> list[dict[str, Any]]:
    """One annotation per labelled published figure and one for the budget, out of the way."""
    lines = [[g.epsilon for g in curve] for curve in curves.values()]
    ink, notes = ink_under(lines, steps, canvas, here), []
    x = np.arange(0.0, 0.0 if budget is None else TYPICAL_WIDTH, 4.0)
    line = np.column_stack([x, np.full(x.size, canvas.pixel(budget or 1.0))])
    for point in published:
        if point.label and canvas.y.lower <= point.epsilon <= canvas.y.upper:
            covered = np.concatenate([ink, line])
            note, box = beside(point.label, point.steps, point.epsilon, canvas, covered)
            ink = np.concatenate([ink, box.outline()])
            notes.append({"name": "published", **note})
    if budget is not None:
        note = along(f"budget ε = {budget:g}", budget, canvas, ink, sides=(11, -11))
        notes.append({"name": "budget", **note})
    return notes
