"""Images with their labels, and how they are divided."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dplearn.ground import validate


class Labelled(NamedTuple):
    """One record per row: ``images, labels = digits()``."""

    images: NDArray[np.float32]  # (n, ...), in [0, 1]
    labels: NDArray[np.int64]  # (n,)


def labelled(pixels: NDArray, labels: NDArray, *, largest: int = 255) -> Labelled:
    """Whole pixels from 0 to `largest` as float32 in [0, 1], labels as int64."""
    return Labelled(pixels.astype(np.float32) / np.float32(largest), labels.astype(np.int64))


def split(
    records: Labelled, *, validation: float = 0.2, test: float = 0.2, seed: int = 0
) -> tuple[Labelled, Labelled, Labelled]:
    """Training, validation and test part: a partition that everybody may know.

    Which record goes where depends on the number of records and the seed, never on what the
    records hold. What is chosen on one part must be measured on another. `validation` and `test`
    are shares in [0, 1), together < 1; each part is rounded to whole records.

    Examples
    --------
    >>> from dplearn.datasets import digits
    >>> [len(part.labels) for part in split(digits())]
    [1079, 359, 359]
    """
    validate.non_negative(validation=validation, test=test)
    validate.integer(minimum=0, seed=seed)
    count = len(records.labels)
    ends = np.cumsum([round(validation * count), round(test * count)])
    if ends[1] >= count:
        raise ValueError(
            f"Expected validation + test to leave records to train on, got {validation=} and "
            f"{test=} of {count} records."
        )
    parts = np.split(np.random.default_rng(seed).permutation(count), ends)
    chosen, tested, trained = (Labelled(records.images[i], records.labels[i]) for i in parts)
    return trained, chosen, tested
