"""Tables shipped with dplearn: digits, the lessons' school, and deployments of DP."""

import csv
import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dplearn.core import validate

# An installed wheel has the data inside the package, a checkout has them beside it.
_FOLDERS = (Path(__file__).parents[1] / "data", Path(__file__).parents[2] / "data")


class Labelled(NamedTuple):
    """Images and their labels, a row per record: ``images, labels = digits()``.

    Parameters
    ----------
    images : array of float in [0, 1], shape (n, ...)
    labels : array of int >= 0, shape (n,)
    """

    images: NDArray[np.float32]
    labels: NDArray[np.int64]


def labelled(pixels: NDArray, labels: NDArray, *, largest: int = 255) -> Labelled:
    """Return integer pixels from 0 to `largest` as float32 in [0, 1], and labels as int64."""
    return Labelled(pixels.astype(np.float32) / np.float32(largest), labels.astype(np.int64))


def split(
    records: Labelled, *, validation: float = 0.2, test: float = 0.2, seed: int = 0
) -> tuple[Labelled, Labelled, Labelled]:
    """Return the training, validation and test parts of a random, public partition.

    The partition depends on the number of records and the seed alone.

    Parameters
    ----------
    records : Labelled
    validation, test : float in [0, 1), shares, together < 1; rounded to whole records
    seed : int >= 0

    Returns
    -------
    Three Labelled

    Raises
    ------
    ValueError if no record is left to train on

    Examples
    --------
    >>> [len(part.labels) for part in split(digits())]
    [1079, 359, 359]
    """
    validate.non_negative(validation=validation, test=test)
    validate.integer(minimum=0, seed=seed)
    count = len(records.labels)
    ends = np.cumsum([round(validation * count), round(test * count)])
    if ends[1] >= count:
        got = f"{validation=} and {test=} of {count} records"
        raise ValueError(f"Expected validation + test to leave records to train on, got {got}.")
    parts = np.split(np.random.default_rng(seed).permutation(count), ends)
    chosen, tested, trained = (Labelled(records.images[i], records.labels[i]) for i in parts)
    return trained, chosen, tested


def shipped_table(name: str) -> Path:
    """Return the path of the table `name` of ``data/``, in a checkout or an installed package."""
    for folder in _FOLDERS:
        if (folder / name).is_file():
            return folder / name
    places = " or ".join(str(folder) for folder in _FOLDERS)
    raise FileNotFoundError(
        f"Expected the table {name}, which comes with dplearn, in {places}, got nothing there: "
        "install dplearn again, or take the file from a checkout of the project."
    )


def digits() -> Labelled:
    """Return 1797 digits of 8 x 8 pixels, written by 13 people, from the published table.

    References
    ----------
    Alpaydin & Kaynak (1998), Optical Recognition of Handwritten Digits, UCI Machine Learning
    Repository; CC BY 4.0.

    Examples
    --------
    >>> images, labels = digits()
    >>> images.shape, labels[:10].tolist()
    ((1797, 8, 8), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    with gzip.open(shipped_table("digits.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)
    return labelled(table[:, :-1].reshape(-1, 8, 8), table[:, -1], largest=16)


class School(NamedTuple):
    """Synthetic school with a row per pupil: attributes, and the digit the pupil wrote.

    Anna, in row `anna`, is nine and from Oak; her written five looks like a nine.

    Parameters
    ----------
    age : array of int >= 6, years; those above 18 learn in the evening
    month : array of int in [1, 12], of birth
    village : array of str
    height : array of int, cm
    copied : array of bool, whether they have ever handed in copied homework
    digit : array of int in [0, 9]
    images : array of float in [0, 1], shape (1438, 8, 8)
    """

    age: NDArray[np.int64]
    month: NDArray[np.int64]
    village: NDArray[np.str_]
    height: NDArray[np.int64]
    copied: NDArray[np.bool_]
    digit: NDArray[np.int64]
    images: NDArray[np.float32]
    anna = 341


def school() -> School:
    """Return the 1,438 pupils of the lessons, synthetic except for their images.

    The images are the training part of ``split(digits(), validation=0)``; all else is drawn from
    one seed. Of the 64 pupils of Anna's age, only she has both her month and her village.

    Examples
    --------
    >>> pupils = school()
    >>> len(pupils.age), int(pupils.digit[pupils.anna]), int((pupils.age == 9).sum())
    (1438, 5, 64)
    """
    images, labels = split(digits(), validation=0)[0]
    rng = np.random.default_rng(1757)
    years, evening, month, place, tall, copied = rng.random((6, len(labels)))
    age = np.where(evening < 0.93, 6 + 13 * np.sqrt(years), 19 + 60 * years**3).astype(int)
    shares = {"Ash": 0.05, "Elm": 0.1, "Fir": 0.15, "Lime": 0.2, "Oak": 0.25, "Yew": 0.25}
    ends = np.cumsum([*shares.values()])
    pupils = School(
        age=age,
        month=(1 + 12 * month).astype(int),
        village=np.array([*shares])[np.searchsorted(ends, place, side="right")],
        height=np.rint(66 + 6 * np.minimum(age, 15) + 36 * tall).astype(int),
        copied=copied < 0.2 + 0.01 * np.minimum(age, 18),
        digit=labels,
        images=images,
    )
    hers = {"age": 9, "month": 10, "village": "Oak", "height": 131, "copied": True}
    for column, value in hers.items():
        getattr(pupils, column)[pupils.anna] = value
    return pupils


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Row of ``data/deployments.csv``: a published epsilon and its context.

    Parameters
    ----------
    id, organisation, what, source : str
    year : int > 0, in which it began
    model : "local": noise on the device, or "central": noise at the data holder
    unit : "user", "person", "housing_unit" or "unsaid"
    period : str, covered by one epsilon, such as "day" or "report"
    epsilon : float > 0
    delta : float in [0, 1), 0 for pure differential privacy; None if the source has none
    adjacency : str, empty if the source has none
    unsaid : str, facts that the source, as read for this table, does not state
    """

    id: str
    organisation: str
    what: str
    year: int
    model: str
    unit: str
    period: str
    epsilon: float
    delta: float | None
    adjacency: str
    source: str
    unsaid: str

    @property
    def comparable(self) -> tuple[str, str, str]:
        """Model, unit and period; only epsilons that share all three are comparable."""
        return self.model, self.unit, self.period


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return the deployments in ``data/deployments.csv``, in the order of its rows."""
    with shipped_table("deployments.csv").open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row["year"], row["epsilon"] = int(row["year"]), float(row["epsilon"])
        row["delta"] = float(row["delta"]) if row["delta"] else None
    return tuple(Deployment(**row) for row in rows)
