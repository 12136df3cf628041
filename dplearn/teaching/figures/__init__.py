"""Figures: functions that draw given results and compute none.

Figures of lessons are imported here: white pictures with names on the curves, whose sliders need no
kernel, as they contain all frames. Figures of an explorer page are in the file of its name: they
list their parts below the statement, and take the colours of a light or a dark page.
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
    "Band",
    "Bars",
    "Curve",
    "Dot",
    "Sheet",
    "crowd",
    "curves",
    "epsilon_curves",
    "flow",
    "images",
    "ladder",
    "number_line",
    "panels",
    "slider",
]
