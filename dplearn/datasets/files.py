"""MNIST from files that you have, and sets of images to practise on."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from math import prod
from pathlib import Path

import numpy as np

from dplearn.core import validate
from dplearn.datasets.shipped import Labelled, digits, labelled, split
from dplearn.datasets.synthetic import cache_folder, synthetic_digits

_COUNTS = {"train": 60_000, "t10k": 10_000}
# MD5 of the compressed files, as authors and torchvision publish them: against damage alone.
_MNIST = {
    "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
}
# Records to train on; at most so many others are held out.
PRACTICE_SIZES = {"digits": 1438, "synthetic": 10_000, "mnist": 60_000}
_HELD_OUT = 2000


def mnist(folder: str | os.PathLike) -> tuple[Labelled, Labelled]:
    """MNIST from its four IDX files: 60,000 images (n, 28, 28) to train on and 10,000 to test.

    The folder holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``,
    ``t10k-images-idx3-ubyte`` and ``t10k-labels-idx1-ubyte``, each plain or with ``.gz``.
    Compressed files have the published MD5; plain ones are checked for shape and labels only. See
    LeCun, Bottou, Bengio & Haffner (1998), Gradient-based learning applied to document recognition.
    """
    paths = {name: _present(Path(folder), name) for name in _MNIST}
    for name, path in paths.items():
        if path.suffix != ".gz":
            continue
        digest = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
        if digest != _MNIST[name]:
            raise ValueError(
                f"Expected {path} with the published MD5 {_MNIST[name]}, got {digest}: it is "
                "damaged, of another set, or compressed anew; unpack it if you trust it, plain "
                "files are not checked this way."
            )
    return _idx_part(paths, "train"), _idx_part(paths, "t10k")


def _idx_part(paths: Mapping[str, Path], part: str) -> Labelled:
    """Images and labels of one part, from their two IDX files."""
    count, arrays = _COUNTS[part], []
    for name, shape in (("images-idx3", (count, 28, 28)), ("labels-idx1", (count,))):
        path = paths[f"{part}-{name}-ubyte"]
        # Two zero bytes, the type uint8, the number of dimensions, and each of them.
        head = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
        size = len(head) + prod(shape)
        try:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                # No further than that: a few bytes can unpack to more than the memory holds.
                data = file.read(size + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"Expected {path} to be a whole gzip file: {error}.") from error
        if data[: len(head)] != head or len(data) != size:
            length = "more" if len(data) > size else f"{len(data)} bytes"
            raise ValueError(
                f"Expected {path} to be an IDX file of uint8 of shape {shape}, {size} bytes, "
                f"got {length} that start with {data[:4].hex(' ') or 'nothing'}."
            )
        arrays.append(np.frombuffer(data, np.uint8, offset=len(head)).reshape(shape))
    if arrays[1].max() > 9:
        raise ValueError(f"Expected labels 0..9 in {path}, got {arrays[1].max()}.")
    return labelled(*arrays)


def _present(folder: Path, name: str) -> Path:
    """Path of a file of MNIST, compressed or plain; FileNotFoundError says what is missing."""
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"Expected {name}.gz or {name} of MNIST in {folder.resolve()}, found nothing: put "
        "the file there; nothing is downloaded."
    )


def practice_set(name: str) -> tuple[Labelled, Labelled]:
    """Records to train on and held-out ones, of a set of `PRACTICE_SIZES`.

    MNIST is read from the folder ``mnist`` in `cache_folder`, where synthetic ones are kept.

    Examples
    --------
    >>> train, held_out = practice_set("digits")
    >>> len(train.labels), len(held_out.labels)
    (1438, 359)
    """
    validate.one_of(tuple(PRACTICE_SIZES), dataset=name)
    if name == "digits":
        train, _, test = split(digits(), validation=0.0)
    elif name == "synthetic":
        train = synthetic_digits(count=PRACTICE_SIZES[name], cache=cache_folder())
        test = synthetic_digits(count=_HELD_OUT, seed=1, cache=cache_folder())
    else:
        train, test = mnist(cache_folder() / name)
    return train, Labelled(test.images[:_HELD_OUT], test.labels[:_HELD_OUT])


def practice_names() -> tuple[str, ...]:
    """Names of the sets that can be had at once: MNIST only where its four files are."""
    names = [name for name in PRACTICE_SIZES if name != "mnist"]
    with suppress(FileNotFoundError):
        for part in _MNIST:
            _present(cache_folder() / "mnist", part)
        names.append("mnist")
    return tuple(names)
