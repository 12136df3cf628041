"""How many times more epsilon each accountant asks for than what is certified."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
from numpy.typing import NDArray

from dplearn.figures.kit import over_steps
from dplearn.figures.kit.axes import Axis, Canvas
from dplearn.figures.kit.certificate import is_certified
from dplearn.figures.kit.excess import comparison, hidden, ratio, shortfalls, sign, times
from dplearn.figures.kit.labels import along, fits, ink_under
from dplearn.figures.kit.marks import level, upright
from dplearn.figures.kit.over_steps import Curves, End
from dplearn.figures.kit.template import INK, RED, style_of, transparent
from dplearn.ground.guarantee import Guarantee

Ratios = Mapping[str, Sequence[float | None]]
# What lies further above leaves the picture; the last few percent would not be seen otherwise.
_ABOVE, _BELOW = 10.0, 0.05
# In the order of importance: a tick is drawn where the ones before it leave room.
_TICKS = (1, 2, 10, 0.5, 5, 0.1, 1.5, 1.2, 1.1, 3, 0.2, 0.8, 0.9, 20, 50, 100, 1000)
# Smallest share of the axis between two ticks.
_TICK_GAP = 0.092
_BELOW_ONE = "claims more privacy than there is"


def looseness(
    curves: Curves,
    reference: Sequence[Guarantee],
    steps: Sequence[int],
    *,
    here: int | None = None,
    claims: Collection[str] = (),
    log_x: bool = True,
) -> go.Figure:
    """Each accountant's epsilon divided by the reference; draws results and computes none.

    The arguments are those of `epsilon_curves`; the title reads the values at `here`. Curves are
    compared with the reference's lower end, so that no ratio flatters: at most so much where the
    bracket is wide. Where it has none, with its upper end: then the ratios are "at least". Below 1,
    where the reference is certified, the ground is shaded: who is there claims more privacy than
    there is.

    There is one trace per accountant in the order of `curves`, then the points at `here`. A
    ValueError says that `reference` and `steps` differ in length.

    Examples
    --------
    >>> from dplearn.ground.guarantee import Guarantee
    >>> ends = {"delta": 1e-5, "adjacency": "add_remove"}
    >>> exact = [Guarantee(epsilon=1.0, kind="exact", method="pld", **ends)]
    >>> rdp = [Guarantee(epsilon=1.094, kind="upper", method="rdp", **ends)]
    >>> looseness({"rdp": rdp}, exact, [100]).layout.title.text
    '<b>At T = 100 RDP asks for 9.4 % more ε than needed</b>'
    """
    if len(reference) != len(steps):
        raise ValueError(f"Expected {len(steps)} values of reference, got {len(reference)}.")
    index = len(steps) - 1 if here is None else list(steps).index(here)
    sure, by = is_certified(reference[index]), style_of(reference[index].method).label
    divisor = f"{'certified lower' if sure else 'upper'} end of {by}"
    about = f"How loose is each accountant? Its ε divided by the {divisor}"
    ratios = {name: list(map(ratio, curve, reference)) for name, curve in curves.items()}
    dashes = {n: "dot" if n in claims else over_steps.dash_of(c) for n, c in curves.items()}
    now = {name: curve[index] for name, curve in curves.items()}
    canvas = over_steps.canvas_of(steps, log_x, _ratio_axis(ratios), 310)
    grounds = [(run[0][0], run[-1][0]) for run in over_steps.stretches(reference, steps)]
    lines = [[canvas.y.lower if r is None else r for r in values] for values in ratios.values()]
    covered = ink_under(lines, steps, canvas, here)
    ends = _ends(curves, ratios, index, sign(reference[index]))
    names = over_steps.column("times", steps[index], ends, canvas)
    traces = [over_steps.line_of(n, steps, ratios[n], dashes[n], "%{y:.4~g} ×") for n in curves]
    traces.append(over_steps.dots({n: values[index] for n, values in ratios.items()}, here))
    shapes = [upright(here), level(1), *(_shade(ground, canvas) for ground in grounds)]
    notes = [*names, _below_one(now, reference[index], grounds, canvas, covered)]
    title, more = comparison(now, reference[index], steps[index]), {"annotations": notes}
    return over_steps.figure(canvas, traces, title, about, size=17, shapes=shapes, **more)


def _ratio_axis(ratios: Ratios) -> Axis:
    numbers = [[r for r in values if r is not None] for values in ratios.values()]
    every = [r for values in numbers for r in values] or [1.0]
    # Who is nearest must be in the picture, however far that is.
    nearest = min((max(values) for values in numbers if values), default=1.0)
    upper = min(max(max(every), 1.7), max(_ABOVE, nearest))
    lower = max(min(min(every), 0.78), _BELOW)
    axis = Axis(title="ε / certified ε", lower=0.88 * lower, upper=1.12 * upper, log=True)
    ticks: list[float] = []
    for tick in _TICKS:
        gaps = [abs(axis.share(tick) - axis.share(t)) for t in ticks]
        if axis.lower <= tick <= axis.upper and all(gap >= _TICK_GAP for gap in gaps):
            ticks.append(tick)
    return replace(axis, ticks={t: f"{t:g} ×" for t in sorted(ticks)})


def _shade(ground: tuple[int, int], canvas: Canvas) -> dict[str, Any]:
    """Below 1, between two numbers of steps."""
    box = {"type": "rect", "x0": ground[0], "x1": ground[1], "y0": canvas.y.lower, "y1": 1}
    return {**box, "line": {"width": 0}, "fillcolor": transparent(RED, 0.13)}


def _below_one(
    now: Mapping[str, Guarantee],
    reference: Guarantee,
    grounds: Sequence[tuple[int, int]],
    canvas: Canvas,
    covered: NDArray,
) -> dict[str, Any]:
    """What it means to be below 1, and who is there at the chosen number of steps."""
    missing = shortfalls(now, reference)
    side = sign(reference)
    who = ", ".join(f"{style_of(n).label} by {hidden(m, side)}" for n, m in missing.items())
    # The widest ground, and the longest words that it holds.
    pixels = [(canvas.x_pixel(left), canvas.x_pixel(right)) for left, right in grounds]
    ground = max(pixels, key=lambda ends: ends[1] - ends[0], default=(0.0, 0.0))
    fitting = [w for w in (f"{_BELOW_ONE}: {who}" if who else "", _BELOW_ONE) if fits(w, ground)]
    words, depth = next(filter(None, fitting), ""), canvas.pixel(1.0)
    spots = {"sides": (-depth / 2, -depth / 4, 12 - depth), "between": ground}
    return along(words, 1.0, canvas, covered, colour=INK, **spots)


def _ends(curves: Curves, ratios: Ratios, index: int, side: str) -> list[End]:
    ends = []
    for name, curve in curves.items():
        last = next((r for r in reversed(ratios[name]) if r is not None), 1.0)
        gone = curve[-1].epsilon == math.inf
        words = f"<b>{times(ratios[name][index], side)}</b> {style_of(name).label}"
        ends.append(End(name, math.inf if gone else last, words))
    return ends
