"""Figures: functions that draw results but do not compute them.

The functions in `__all__` draw the lessons' figures: white, with names beside the curves, and with
sliders that work without Python. `claim_map` and `formula` draw figures of the explorer, which have
a legend below the title and the colours of a light or a dark page.
"""

from dplearn.teaching.figures.curves import (
    curves,
    epsilon_curves,
    ladder,
    number_line,
    panels,
    slider,
)
from dplearn.teaching.figures.drawings import Sheet, crowd, flow, images
from dplearn.teaching.figures.kit.marks import Band, Bars, Curve, Dot

__all__ = [
    "Band", "Bars", "Curve", "Dot", "Sheet", "crowd", "curves", "epsilon_curves", "flow", "images",
    "ladder", "number_line", "panels", "slider",
]  # fmt: skip
