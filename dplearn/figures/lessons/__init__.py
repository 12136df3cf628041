"""Figures of the lessons: curves, columns, regions, a number line, two panels, a slider.

Each function draws arrays that were computed elsewhere. The title is the statement, curves
carry their names, and a slider needs no kernel: its frames are in the figure.
"""

from dplearn.figures.lessons._axes import curves, number_line, panels
from dplearn.figures.lessons._elements import Band, Bars, Line, Mark
from dplearn.figures.lessons._hugging import hugging
from dplearn.figures.lessons._leak import leak
from dplearn.figures.lessons._slider import slider

__all__ = [
    "Band",
    "Bars",
    "Line",
    "Mark",
    "curves",
    "hugging",
    "leak",
    "number_line",
    "panels",
    "slider",
]
