"""Figures: every function draws results it is given and computes none of them.

A page's pictures name what they draw below their statement; a lesson's are white, carry names on
the curves, and a slider needs no kernel: its frames are inside.
"""

from dplearn.figures.claim_map import SYMBOLS, claim_map, map_finding
from dplearn.figures.curves import curves, hugging, ladder, leak, number_line, panels, slider
from dplearn.figures.drawings import (
    Drawing,
    ball_and_cube,
    batch_schemes,
    clipped_arrows,
    crowd,
    flow,
    images,
    moved_mass,
    right_angle,
    verdicts,
    whispers,
)
from dplearn.figures.epsilon_curves import Published, epsilon_curves
from dplearn.figures.formula import Cloud, Curve, Region, formula_cloud, formula_curve
from dplearn.figures.kit import certificate, text
from dplearn.figures.kit.axes import MANTISSAS, log_steps
from dplearn.figures.kit.marks import Band, Bars, Line, Mark
from dplearn.figures.kit.panel import on_page
from dplearn.figures.kit.template import style_of
from dplearn.figures.pair import leaking_area, loss_law, profile_curve, renyi_curve, tradeoff_curve
from dplearn.figures.prices import histogram, price_lines, proved_by_guesses, seen_by_a_server
from dplearn.figures.training_run import training_run

__all__ = [
    "MANTISSAS",
    "SYMBOLS",
    "Band",
    "Bars",
    "Cloud",
    "Curve",
    "Drawing",
    "Line",
    "Mark",
    "Published",
    "Region",
    "ball_and_cube",
    "batch_schemes",
    "certificate",
    "claim_map",
    "clipped_arrows",
    "crowd",
    "curves",
    "epsilon_curves",
    "flow",
    "formula_cloud",
    "formula_curve",
    "histogram",
    "hugging",
    "images",
    "ladder",
    "leak",
    "leaking_area",
    "log_steps",
    "loss_law",
    "map_finding",
    "moved_mass",
    "number_line",
    "on_page",
    "panels",
    "price_lines",
    "profile_curve",
    "proved_by_guesses",
    "renyi_curve",
    "right_angle",
    "seen_by_a_server",
    "slider",
    "style_of",
    "text",
    "tradeoff_curve",
    "training_run",
    "verdicts",
    "whispers",
]
