"""How the ten digits are written: strokes through points, several ways for each.

A way of writing is a share and its strokes. A stroke is a smooth curve through its points, x to
the right and y down, both from 0 to 1. Strokes that name the same point meet there in a corner,
however the points are moved.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Stroke = Sequence[tuple[float, float]]
SEGMENTS = 72

# For each digit: (share, strokes).
WAYS: dict[int, list[tuple[float, list[Stroke]]]] = {
    0: [
        (3, [[(.55, .02), (.25, .14), (.08, .5), (.24, .88), (.52, .99), (.8, .84), (.92, .46),
              (.78, .12), (.5, .03)]]),
        (2, [[(.68, .1), (.42, .02), (.16, .28), (.12, .7), (.38, .98), (.7, .85), (.86, .45),
              (.74, .1), (.44, .06)]]),
        (1, [[(.3, .1), (.18, .5), (.3, .9), (.55, .97), (.76, .7), (.78, .3), (.6, .05),
              (.36, .02), (.26, .16)]]),
    ],
    1: [
        (5, [[(.5, 0), (.5, .33), (.5, .66), (.5, 1)]]),
        (2, [[(.3, .24), (.42, .12), (.56, 0)], [(.56, 0), (.55, .5), (.54, 1)]]),
        (1, [[(.3, .22), (.52, 0)], [(.52, 0), (.52, .5), (.52, 1)],
             [(.26, 1), (.52, 1), (.8, .99)]]),
    ],
    2: [
        (3, [[(.12, .22), (.34, .02), (.7, .05), (.84, .3), (.64, .58), (.36, .8), (.08, .97)],
             [(.08, .97), (.5, .94), (.96, .96)]]),
        (3, [[(.1, .2), (.4, 0), (.78, .12), (.8, .4), (.56, .72), (.26, .96), (.08, .9),
              (.16, .76), (.4, .8), (.7, .96), (.98, .9)]]),
        (1, [[(.2, .3), (.28, .08), (.6, 0), (.82, .18), (.72, .46), (.4, .74), (.1, .92)],
             [(.1, .92), (.4, .88), (.68, 1), (.94, .9)]]),
    ],
    3: [
        (3, [[(.12, .12), (.45, 0), (.8, .13), (.74, .36), (.42, .48)],
             [(.42, .48), (.78, .54), (.9, .77), (.62, .98), (.28, .98), (.05, .84)]]),
        (2, [[(.16, .16), (.48, 0), (.78, .16), (.66, .4), (.38, .46), (.62, .5), (.84, .7),
              (.68, .95), (.34, 1), (.1, .9)]]),
        (1, [[(.12, .03), (.5, .05), (.86, .03)], [(.86, .03), (.62, .24), (.4, .4)],
             [(.4, .4), (.78, .48), (.88, .76), (.52, 1), (.08, .88)]]),
    ],
    4: [
        (3, [[(.28, .02), (.16, .3), (.1, .54)], [(.1, .54), (.5, .55), (.92, .5)],
             [(.74, .06), (.7, .5), (.64, 1)]]),
        (2, [[(.16, .05), (.12, .3), (.26, .5), (.56, .48), (.82, .34)],
             [(.86, .02), (.82, .34), (.78, .66), (.72, 1)]]),
        (2, [[(.66, 0), (.36, .3), (.06, .62)], [(.06, .62), (.5, .61), (.95, .6)],
             [(.66, 0), (.66, .5), (.64, 1)]]),
    ],
    5: [
        (3, [[(.24, .03), (.22, .22), (.18, .42)],
             [(.18, .42), (.5, .34), (.84, .5), (.84, .8), (.5, 1), (.08, .9)],
             [(.24, .03), (.55, .04), (.88, 0)]]),
        (3, [[(.92, .02), (.6, .03), (.34, .06)], [(.34, .06), (.26, .24), (.24, .42)],
             [(.24, .42), (.56, .42), (.8, .62), (.68, .9), (.36, 1), (.05, .92)]]),
        (1, [[(.9, .04), (.56, .02), (.3, .14), (.3, .36), (.58, .48), (.8, .68), (.62, .95),
              (.3, 1), (.06, .9)]]),
    ],
    6: [
        (3, [[(.74, .02), (.4, .2), (.14, .6), (.24, .92), (.54, .98), (.82, .8), (.74, .58),
              (.45, .52), (.18, .72)]]),
        (2, [[(.5, 0), (.28, .34), (.18, .7), (.34, .96), (.64, .95), (.78, .75), (.62, .58),
              (.36, .64), (.2, .78)]]),
        (1, [[(.84, .06), (.56, .02), (.24, .28), (.14, .66), (.36, .97), (.68, .9), (.8, .66),
              (.58, .46), (.26, .54), (.16, .7)]]),
    ],
    7: [
        (4, [[(.08, .1), (.5, .06), (.9, .04)], [(.9, .04), (.64, .45), (.42, 1)]]),
        (2, [[(.1, .2), (.14, .04)], [(.14, .04), (.5, .06), (.88, .04)],
             [(.88, .04), (.72, .3), (.58, .6), (.54, 1)]]),
        (1, [[(.08, .06), (.5, .05), (.9, .04)], [(.9, .04), (.64, .45), (.42, 1)],
             [(.34, .52), (.6, .5), (.84, .48)]]),
        (1, [[(.06, .16), (.3, .04), (.62, .1), (.9, .06)], [(.9, .06), (.66, .42), (.56, 1)]]),
    ],
    8: [
        (3, [[(.78, .16), (.5, 0), (.22, .16), (.32, .38), (.68, .6), (.8, .82), (.5, 1),
              (.2, .84), (.32, .6), (.7, .38), (.8, .14)]]),
        (1, [[(.5, .46), (.22, .3), (.3, .06), (.68, .05), (.78, .28), (.52, .45)],
             [(.52, .45), (.18, .66), (.26, .96), (.7, .97), (.84, .7), (.5, .46)]]),
        (2, [[(.84, .1), (.56, .02), (.3, .14), (.36, .36), (.6, .54), (.7, .78), (.48, .99),
              (.24, .86), (.4, .6), (.68, .4), (.86, .16)]]),
    ],
    9: [
        (3, [[(.82, .16), (.5, .02), (.18, .2), (.26, .46), (.56, .46), (.8, .26)],
             [(.82, .16), (.78, .55), (.7, 1)]]),
        (2, [[(.82, .15), (.5, 0), (.16, .22), (.3, .48), (.64, .42), (.84, .15), (.84, .5),
              (.7, .86), (.38, 1), (.16, .9)]]),
        (2, [[(.74, .06), (.42, .04), (.18, .24), (.32, .44), (.6, .36), (.76, .08), (.7, .4),
              (.58, .72), (.5, 1)]]),
    ],
}  # fmt: skip


class Glyphs(NamedTuple):
    """All ways of writing, in arrays padded to the largest number K of points.

    share (G,), label (G,), points (G, K, 2); curve (G, SEGMENTS + 1, K) takes points to places
    on the strokes; drawn (G, SEGMENTS) is False where the pen is lifted.
    """

    share: NDArray
    label: NDArray
    points: NDArray
    curve: NDArray
    drawn: NDArray


def spline(knots: int, places: int) -> NDArray:
    """Weights (places, knots) of a Catmull-Rom curve; ends continue straight on."""
    at = np.linspace(0, knots - 1, places)
    left = np.minimum(at.astype(int), knots - 2)
    t = (at - left)[:, None]
    powers = t ** np.arange(4)
    basis = np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]]) / 2
    # Row j of `padded` expresses knot j - 1; the two outermost are mirrored.
    padded = np.vstack([2 * np.eye(knots)[0] - np.eye(knots)[1], np.eye(knots),
                        2 * np.eye(knots)[-1] - np.eye(knots)[-2]])  # fmt: skip
    windows = padded[left[:, None] + np.arange(4)]  # (places, 4, knots)
    return np.einsum("pk,kw,pwn->pn", powers, basis, windows)


def _way(strokes: list[Stroke], most: int) -> tuple[NDArray, NDArray, NDArray]:
    """Points, curve and drawn of one way of writing."""
    names = list(dict.fromkeys(point for stroke in strokes for point in stroke))
    points = np.zeros((most, 2))
    points[: len(names)] = names
    lengths = [np.linalg.norm(np.diff(stroke, axis=0), axis=1).sum() for stroke in strokes]
    ends = np.rint(np.cumsum([0, *lengths]) / sum(lengths) * (SEGMENTS + 1)).astype(int)
    curve, drawn = np.zeros((SEGMENTS + 1, most)), np.ones(SEGMENTS, dtype=bool)
    for stroke, start, end in zip(strokes, ends, ends[1:], strict=False):
        weights = spline(len(stroke), end - start)
        for knot, point in enumerate(stroke):
            curve[start:end, names.index(point)] += weights[:, knot]
    drawn[ends[1:-1] - 1] = False
    return points, curve, drawn


@cache
def glyphs() -> Glyphs:
    """All ways of writing of all digits; the shares of a digit add up to 1."""
    flat = [(share, label, way) for label, ways in WAYS.items() for share, way in ways]
    total = {label: sum(share for share, _ in ways) for label, ways in WAYS.items()}
    most = max(len({p for stroke in way for p in stroke}) for _, _, way in flat)
    points, curve, drawn = zip(*(_way(way, most) for _, _, way in flat), strict=True)
    return Glyphs(
        share=np.array([share / total[label] for share, label, _ in flat]),
        label=np.array([label for _, label, _ in flat]),
        points=np.stack(points),
        curve=np.stack(curve),
        drawn=np.stack(drawn),
    )
