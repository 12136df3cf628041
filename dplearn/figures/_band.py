"""The band between the two ends of a bracket."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from dplearn.figures.certificate import floor, is_certified
from dplearn.figures.theme import style_of, transparent
from dplearn.ground.guarantee import Guarantee

Point = tuple[int, Guarantee]


def band(
    name: str, curve: Sequence[Guarantee], steps: Sequence[int], stairs: bool = False
) -> dict[str, Any]:
    """One closed line around each stretch that is proved from both sides, filled.

    The line is as wide as the eye needs: a bracket of six digits would not be seen. On
    stairs the upper end jumps right after a number of steps, the lower end just before one.
    """
    x: list[int | None] = []
    y: list[float | None] = []
    for stretch in stretches(curve, steps):
        upper = [(t, g.epsilon) for t, g in stretch]
        lower = [(t, floor(g)) for t, g in stretch]
        if stairs:
            upper = _stairs(upper, early=True)
            lower = _stairs(lower, early=False)
        outline = [*upper, *reversed(lower)]
        x += [*(t for t, _ in outline), None]
        y += [*(e for _, e in outline), None]
    colour = style_of(name).colour
    return {
        "type": "scatter",
        "name": "certified",
        "uid": "certified",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"color": transparent(colour, 0.22), "width": 9},
        "fill": "toself",
        "fillcolor": transparent(colour, 0.22),
        "hoverinfo": "skip",
    }


def _stairs(points: list[tuple[int, float]], *, early: bool) -> list[tuple[int, float]]:
    """The corners between points: at the old number of steps if `early`, else at the new one."""
    corners = [points[0]]
    for (t0, e0), (t1, e1) in pairwise(points):
        corners += [(t0, e1) if early else (t1, e0), (t1, e1)]
    return corners


def stretches(curve: Sequence[Guarantee], steps: Sequence[int]) -> list[list[Point]]:
    """The runs of neighbouring numbers of steps at which epsilon is proved from both sides."""
    points = zip(steps, curve, strict=True)
    return [list(run) for sure, run in groupby(points, key=lambda p: is_certified(p[1])) if sure]
