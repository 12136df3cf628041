"""Differentially private training with PyTorch.

`fit` does a whole run and `Trainer` one step at a time, for custom training loops. Both give a
`History`: ``history.guarantee(1e-5)`` is the guarantee of the steps done, by any accountant.
`plain` is DP-SGD on one page. `clipped_sum` returns the sum to which DP-SGD adds noise.
`check_model` refuses models in which a record influences the loss or gradient of another.
"""

from dplearn.mechanisms.clipping import Automatic, ClippingBound, Flat, Grouped, Groups, PerLayer
from dplearn.run import History, Private, Record
from dplearn.training.checks import check_model
from dplearn.training.gradients import ClippedSum, clipped_sum
from dplearn.training.trainer import Trainer, fit

__all__ = ["Automatic", "ClippedSum", "ClippingBound", "Flat", "Grouped", "Groups", "History"]
__all__ += ["PerLayer", "Private", "Record", "Trainer", "check_model", "clipped_sum", "fit"]
