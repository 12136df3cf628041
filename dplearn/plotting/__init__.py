"""Figures: every function draws results it is given and computes none of them."""

from dplearn.plotting.claim_map import claim_map
from dplearn.plotting.curves import Published, epsilon_curves
from dplearn.plotting.looseness import looseness
from dplearn.plotting.steps import log_steps
from dplearn.plotting.training_run import training_run

__all__ = ["Published", "claim_map", "epsilon_curves", "log_steps", "looseness", "training_run"]
