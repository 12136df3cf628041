"""Figures: every function draws results it is given and computes none of them."""

from dplearn.plotting.curves import Published, epsilon_curves

__all__ = ["Published", "epsilon_curves"]
