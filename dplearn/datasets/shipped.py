"""The tables that come with dplearn: where they lie, and the digits in one of them."""

import gzip
import hashlib
import zlib
from pathlib import Path

import numpy as np

from dplearn.datasets.records import Labelled, labelled

# Inside the package in an installed wheel, beside it in a checkout of the project.
_FOLDERS = (Path(__file__).parents[1] / "data", Path(__file__).parents[2] / "data")
_SIZE = 264_974
_SHA256 = "067c897c3866e1f112d70ccf18ba908a8bc1fbb9ec051530b8ad86070265d299"


def shipped_table(name: str) -> Path:
    """The file of a table of ``data/``, from a checkout as from an installed package.

    Examples
    --------
    >>> shipped_table("digits.csv.gz").name
    'digits.csv.gz'
    """
    for folder in _FOLDERS:
        if (folder / name).is_file():
            return folder / name
    places = " or ".join(str(folder) for folder in _FOLDERS)
    raise FileNotFoundError(
        f"Expected the table {name}, which comes with dplearn, in {places}, got nothing there: "
        "install dplearn again, or take the file from a checkout of the project."
    )


def digits() -> Labelled:
    """1797 digits written by 13 people, 8 x 8 pixels, from the published text of their table.

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
    path = shipped_table("digits.csv.gz")
    try:
        with gzip.open(path) as file:
            text = file.read(_SIZE + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        text = b""
    if hashlib.sha256(text).hexdigest() != _SHA256:
        raise ValueError(
            f"Expected {path} to hold the text with SHA-256 {_SHA256}: it was changed; "
            "take the file from the checkout again."
        )
    table = np.loadtxt(text.decode("ascii").splitlines(), delimiter=",", skiprows=1, dtype=np.int64)
    return labelled(table[:, :-1].reshape(-1, 8, 8), table[:, -1], largest=16)
