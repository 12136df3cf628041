"""Files that hold a run, whole or not at all: what `torch.save` writes, and a rename.

Its checksums find damage; they do not protect against those who would forge a file, but reading
never runs code from one.
"""

import copy
import io
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from dplearn.ground.files import temporaries, write_whole
from dplearn.training.layers import trainable

# What archives and pickles that are none raise.
_DAMAGED = (
    *(zipfile.BadZipFile, UnpicklingError, struct.error),
    *(RuntimeError, ValueError, LookupError, EOFError, OSError),
)


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Replace the file at `path`; whatever goes wrong, the old or the new one is there, whole."""
    torch.save(content, buffer := io.BytesIO())
    write_whole(path, buffer.getvalue())
    for leftover in temporaries(path):  # of writes that were killed
        leftover.unlink(missing_ok=True)


def require_writable(path: str | Path) -> None:
    """Raise OSError unless a file can be written at `path`."""
    try:
        with tempfile.TemporaryFile(dir=Path(path).parent):
            usable = not Path(path).is_dir()
    except OSError:
        usable = False
    if not usable:
        raise OSError(f"Expected checkpoint to be a file that can be written, got {path}.")


def read(path: str | Path) -> dict[str, Any]:
    """Content of a checkpoint, tensors on the processor; ValueError unless it is a whole one."""
    data = io.BytesIO(Path(path).read_bytes())
    try:
        with zipfile.ZipFile(data) as archive:
            if archive.testzip():
                raise zipfile.BadZipFile
        data.seek(0)
        return torch.load(data, map_location="cpu", weights_only=True)
    except _DAMAGED as error:
        raise ValueError(
            f"Expected a checkpoint, got a damaged or different file: {path}."
        ) from error


def parts(model: nn.Module, optimizer: Optimizer) -> dict[str, str]:
    """What a model and an optimizer have in common with those of the same run."""
    rates = [group.get("initial_lr", group.get("lr")) for group in optimizer.param_groups]
    trained = trainable(model)
    return {
        "optimizer": type(optimizer).__name__,
        "first learning rates": repr(rates),
        **{
            f"model[{name!r}]": f"{value.dtype} {tuple(value.shape)}"
            + " trained" * (name in trained)
            for name, value in model.state_dict().items()
        },
    }


@contextmanager
def whole_or_not_at_all(path: str | Path, *parts: Any) -> Iterator[None]:
    """Take a checkpoint in; where it turns out to be none, the parts get their state back."""
    before = [(part, copy.deepcopy(part.state_dict())) for part in parts if part is not None]
    try:
        yield
    except (LookupError, TypeError, AttributeError, RuntimeError, ValueError) as error:
        for part, state in before:
            part.load_state_dict(state)
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        why = " ".join(str(error).split())
        raise ValueError(f"Expected a checkpoint of this run, got {path}: {why}") from error


def require_equal(written: dict[str, str], expected: dict[str, str], path: str | Path) -> None:
    """Raise, naming the first difference, unless a checkpoint belongs to a run."""
    for name in {**expected, **written}:
        planned, given = expected.get(name), written.get(name)
        if given != planned:
            raise ValueError(
                f"Expected a checkpoint with {name} = {planned}, got {given} in {path}."
            )
