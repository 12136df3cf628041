"""Images to train on: shipped, read from files that you have, or drawn. Nothing is downloaded.

Every set of images is a `Labelled` pair of images (float32 in [0, 1]) and labels (int64).
"""

from dplearn.datasets.features import oriented_gradients
from dplearn.datasets.files import PRACTICE_SIZES, mnist, practice_names, practice_set
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
from dplearn.datasets.synthetic import cache_folder, synthetic_digits

__all__ = [
    "PRACTICE_SIZES",
    "Deployment",
    "Labelled",
    "School",
    "cache_folder",
    "deployments",
    "digits",
    "mnist",
    "oriented_gradients",
    "practice_names",
    "practice_set",
    "school",
    "shipped_table",
    "split",
    "synthetic_digits",
]
