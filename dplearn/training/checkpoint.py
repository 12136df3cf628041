"""Files that hold a run, whole or not at all: damage is found, forgery is not, no code is run."""

import io
import struct
import zipfile
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from dplearn.core.files import temporaries, write_whole

# What archives and pickles that are none raise, and what a file of something else does.
_DAMAGED = (
    *(zipfile.BadZipFile, UnpicklingError, struct.error, RuntimeError),
    *(TypeError, ValueError, LookupError, EOFError, OSError),
)


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Replace the file at `path`; OSError leaves the old one there, whole."""
    torch.save(content, buffer := io.BytesIO())
    try:
        write_whole(path, buffer.getvalue())
    except OSError as error:
        told = f"Expected checkpoint to be a file that can be written, got {path}: {error}."
        raise OSError(told) from error
    for leftover in temporaries(path):  # of writes that were killed
        leftover.unlink(missing_ok=True)


def loaded(path: str | Path) -> dict[str, Any]:
    """Content of a checkpoint, tensors on the processor; ValueError unless it is a whole one."""
    data = io.BytesIO(Path(path).read_bytes())
    try:
        if zipfile.ZipFile(data).testzip():
            raise zipfile.BadZipFile
        data.seek(0)
        content = torch.load(data, map_location="cpu", weights_only=True)
        return dict(content, run=dict(content["run"]))
    except _DAMAGED as error:
        told = f"Expected a checkpoint, got a damaged or different file: {path}."
        raise ValueError(told) from error


def require_equal(written: dict[str, str], expected: dict[str, str], path: str | Path) -> None:
    """Raise, naming the first difference, unless a checkpoint belongs to a run."""
    for name in {**expected, **written}:
        if (got := written.get(name)) != (planned := expected.get(name)):
            raise ValueError(f"Expected a checkpoint with {name} = {planned}, got {got} in {path}.")
