"""Shipped tables and synthetic images to train on; nothing is downloaded.

Every set of images is a `Labelled` pair of images (float32 in [0, 1]) and labels (int64).
"""

from dplearn.datasets.features import oriented_gradients
from dplearn.datasets.shipped import (
    Deployment,
    Labelled,
    School,
    deployments,
    digits,
    school,
    shipped_table,
    split,
)
from dplearn.datasets.synthetic import synthetic_digits

__all__ = ["Deployment", "Labelled", "School", "deployments", "digits", "oriented_gradients"]
__all__ += ["school", "shipped_table", "split", "synthetic_digits"]
