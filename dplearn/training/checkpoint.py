"""Checkpoint files, written atomically: damage is detected, forgery is not, no code is run."""

import io
import struct
import zipfile
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from dplearn.core.files import temporaries, write_whole

# Errors of reading damaged archives and pickles, or files of another kind.
_DAMAGED = (
    *(zipfile.BadZipFile, UnpicklingError, struct.error, RuntimeError),
    *(TypeError, ValueError, LookupError, EOFError, OSError),
)


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Replace the file at `path`, or raise OSError and leave the old file unchanged."""
    torch.save(content, buffer := io.BytesIO())
    try:
        write_whole(path, buffer.getvalue())
    except OSError as error:
        message = f"Expected checkpoint to be a file that can be written, got {path}: {error}."
        raise OSError(message) from error
    for leftover in temporaries(path):  # from interrupted writes
        leftover.unlink(missing_ok=True)


def loaded(path: str | Path) -> dict[str, Any]:
    """Return a checkpoint's content, tensors on the CPU; ValueError for a damaged or other file."""
    data = io.BytesIO(Path(path).read_bytes())
    try:
        if zipfile.ZipFile(data).testzip():
            raise zipfile.BadZipFile
        data.seek(0)
        content = torch.load(data, map_location="cpu", weights_only=True)
        return dict(content, run=dict(content["run"]))
    except _DAMAGED as error:
        message = f"Expected a checkpoint, got a damaged or different file: {path}."
        raise ValueError(message) from error


def require_equal(written: dict[str, str], expected: dict[str, str], path: str | Path) -> None:
    """Raise, naming the first difference, if a checkpoint belongs to another run."""
    for name in {**expected, **written}:
        if (got := written.get(name)) != (planned := expected.get(name)):
            raise ValueError(f"Expected a checkpoint with {name} = {planned}, got {got} in {path}.")
