"""Figures: every function draws results it is given and computes none of them."""

from dplearn.figures.claim_map import claim_map
from dplearn.figures.curves import Published, epsilon_curves
from dplearn.figures.lessons import (
    Band,
    Bars,
    Line,
    Mark,
    curves,
    hugging,
    leak,
    number_line,
    panels,
    slider,
)
from dplearn.figures.looseness import looseness
from dplearn.figures.steps import log_steps
from dplearn.figures.training_run import training_run

__all__ = [
    "Band",
    "Bars",
    "Line",
    "Mark",
    "Published",
    "claim_map",
    "curves",
    "epsilon_curves",
    "hugging",
    "leak",
    "log_steps",
    "looseness",
    "number_line",
    "panels",
    "slider",
    "training_run",
]
