"""Atomic checkpoint files: loading detects damage, not forgery, and runs no code of the file."""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from dplearn.core.files import temporaries, write_whole
from dplearn.training.distributed import differences


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


def digest(path: str | Path) -> str:
    """Return a digest of a file, or "no file"."""
    exists = Path(path).is_file()
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if exists else "no file"


def loaded(path: str | Path, run: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a checkpoint's content on the CPU; ValueError if damaged or of another `run`."""
    data = io.BytesIO(Path(path).read_bytes())
    try:
        if zipfile.ZipFile(data).testzip():
            raise zipfile.BadZipFile
        data.seek(0)
        content = torch.load(data, map_location="cpu", weights_only=True)
        written = dict(content["run"])
    except Exception as error:  # torch, zipfile and pickle have many kinds of errors
        message = f"Expected a checkpoint, got a damaged or different file: {path}."
        raise ValueError(message) from error
    for name, expected, got in differences(written if run is None else run, written):
        raise ValueError(f"Expected a checkpoint with {name} = {expected}, got {got} in {path}.")
    return content
