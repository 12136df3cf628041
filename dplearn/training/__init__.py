"""Differentially private training with PyTorch: clipped sums, and the models they are right for.

`fit` does a whole run and `Trainer` one step at a time, for loops of one's own. Both end in a
`History`: ``history.guarantee(1e-5)`` is that of the steps done, by any accountant, and
``first + second`` is that of two runs. `plain` is the algorithm as it is printed, on one page.
`clipped_sum` is what DP-SGD releases before noise. `check_model` refuses what mixes records.
"""

from dplearn.training.bounds import (
    AdaptiveQuantile,
    Automatic,
    ClippingBound,
    Flat,
    Grouped,
    Groups,
    PerLayer,
)
from dplearn.training.checks import check_model
from dplearn.training.fitting import fit
from dplearn.training.gradients import ClippedSum, clipped_sum
from dplearn.training.history import History, Private, Record
from dplearn.training.trainer import Trainer

__all__ = [
    "AdaptiveQuantile",
    "Automatic",
    "ClippedSum",
    "ClippingBound",
    "Flat",
    "Grouped",
    "Groups",
    "History",
    "PerLayer",
    "Private",
    "Record",
    "Trainer",
    "check_model",
    "clipped_sum",
    "fit",
]
