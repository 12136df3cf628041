"""Votes of the teachers: for each query, how many chose each class."""

import gzip
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dplearn.core import validate
from dplearn.datasets import shipped_table

_MOST = 10**9  # largest count allowed; doubles hold sums of such counts exactly


@dataclass(frozen=True, eq=False)
class Votes:
    """Counts of the teachers' votes, validated and read-only.

    They depend on all of the private data and must not be published.

    Parameters
    ----------
    counts : array of int in [0, 1e9], shape (queries, classes), all rows with the same sum

    Examples
    --------
    >>> votes = Votes([[240, 10, 0], [150, 60, 40]])
    >>> votes.teachers, votes.queries, votes.classes
    (250, 2, 3)
    >>> Votes.from_labels([[0, 0, 1], [2, 2, 2]], classes=3).counts.tolist()
    [[2, 1, 0], [0, 0, 3]]
    """

    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        counts = _whole(self.counts, "counts", "(queries, classes)")
        if counts.shape[1] < 2:
            raise ValueError(f"Expected counts of at least 2 classes, got shape {counts.shape}.")
        sums = counts.sum(axis=1)
        if np.any(sums != sums[0]) or sums[0] == 0:
            raise ValueError(
                "Expected counts whose rows all have the same sum > 0, the number of teachers, "
                f"got sums from {sums.min()} to {sums.max()}: if the numbers are the labels that "
                "each teacher gave, use Votes.from_labels."
            )
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def from_labels(cls, labels: ArrayLike, *, classes: int) -> Self:
        """Count the votes on each query, given labels of shape (queries, teachers)."""
        validate.integer(minimum=2, classes=classes)
        given = _whole(labels, "labels", "(queries, teachers)")
        if given.max() >= classes:
            raise ValueError(f"Expected labels < classes = {classes}, got {given.max()}.")
        return cls(np.stack([np.sum(given == c, axis=1) for c in range(classes)], axis=1))

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.counts)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.counts.shape[1]

    @property
    def teachers(self) -> int:
        """Number of teachers, the sum of each row of counts."""
        return int(self.counts[0].sum())

    @property
    def ranked(self) -> NDArray[np.int64]:
        """Counts of each query in descending order, shape (queries, classes)."""
        return -np.sort(-self.counts, axis=1)

    def first(self, queries: int) -> Self:
        """Return the votes on the first `queries` queries."""
        validate.integer(minimum=1, maximum=self.queries, queries=queries)
        return type(self)(self.counts[:queries])


SHIPPED = (50, 100, 250, 500, 1000)  # numbers of teachers for which dplearn ships votes


def shipped_votes(teachers: int) -> tuple[Votes, NDArray[np.int64]]:
    """Return the shipped votes on a thousand synthetic digits, and the true digits.

    Parameters
    ----------
    teachers : int in `SHIPPED`; they trained on parts of 60,000 other digits

    Returns
    -------
    Votes, and an array of shape (1000,)

    Examples
    --------
    >>> votes, digits = shipped_votes(250)
    >>> votes.queries, round(float(np.mean(votes.counts.argmax(axis=1) == digits)), 2)
    (1000, 0.97)
    """
    validate.one_of([str(n) for n in SHIPPED], teachers=str(teachers))
    with gzip.open(shipped_table("pate_votes.csv.gz")) as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    rows = table[table[:, 0] == teachers]
    return Votes(rows[:, 2:]), rows[:, 1]


def _whole(values: ArrayLike, name: str, shape: str) -> NDArray[np.int64]:
    """Copy a table as integers; raise unless it holds whole numbers >= 0."""
    table = np.asarray(values)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"Expected {name} of shape {shape}, got shape {table.shape}.")
    if table.dtype.kind not in "iuf":
        raise TypeError(f"Expected {name} to hold whole numbers, got dtype {table.dtype}.")
    if len(wrong := table[~((table >= 0) & (table <= _MOST) & (table == np.floor(table)))]):
        raise ValueError(f"Expected {name} to be whole numbers in [0, 1e9], got {wrong[0]}.")
    return table.astype(np.int64)
