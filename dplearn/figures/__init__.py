"""Figures: every function draws results it is given and computes none of them."""

from dplearn.figures.claim_map import claim_map
from dplearn.figures.curves import Published, epsilon_curves
from dplearn.figures.looseness import looseness
from dplearn.figures.steps import log_steps
from dplearn.figures.training_run import training_run

__all__ = ["Published", "claim_map", "epsilon_curves", "log_steps", "looseness", "training_run"]
