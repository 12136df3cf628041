"""Figures: every function draws results it is given and computes none of them."""

from dplearn.plotting.curves import Published, epsilon_curves
from dplearn.plotting.looseness import looseness
from dplearn.plotting.steps import log_steps

__all__ = ["Published", "epsilon_curves", "log_steps", "looseness"]
