"""Figures: every function draws results it is given and computes none of them.

Here is what lessons draw with: white pictures with names on the curves, whose slider needs no
kernel, for its frames are inside. What draws a page of the explorer lies in the file of its name,
names below the statement what it shows, and takes the colours of a light or a dark page.
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
