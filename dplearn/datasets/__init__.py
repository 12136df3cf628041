"""Images to train on: shipped, read from files that you have, or drawn. Nothing is downloaded.

Every set is a `Labelled` pair of images (float32 in [0, 1]) and labels (int64).
"""

from dplearn.datasets.features import oriented_gradients
from dplearn.datasets.files import cifar10, fashion_mnist, idx, mnist
from dplearn.datasets.records import Labelled, split
from dplearn.datasets.shipped import digits
from dplearn.datasets.synthetic import cache_folder, synthetic_digits

__all__ = [
    "Labelled",
    "cache_folder",
    "cifar10",
    "digits",
    "fashion_mnist",
    "idx",
    "mnist",
    "oriented_gradients",
    "split",
    "synthetic_digits",
]
