"""Files that hold a run, whole or not at all.

A file is one line with a format number and the SHA-256 of what follows, then what `torch.save`
wrote. The checksum finds damage; it does not protect against those who would forge a file, but
reading never runs code from one.
"""

import copy
import hashlib
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
from dplearn.training.distributed import Group, agree, place
from dplearn.training.rules import trainable

_FORMAT = b"dplearn checkpoint 1 "


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Replace the file at `path`; whatever goes wrong, the old or the new one is there, whole."""
    buffer = io.BytesIO()
    torch.save(content, buffer)
    data = buffer.getvalue()
    write_whole(path, _FORMAT + hashlib.sha256(data).hexdigest().encode() + b"\n" + data)
    for leftover in temporaries(path):  # of writes that were killed
        leftover.unlink(missing_ok=True)


def present(path: str | Path, group: Group) -> bool:
    """Whether there is a file; ValueError unless it is the same in every process."""
    exists = Path(path).exists()
    if group is not None:
        text = hashlib.sha256(Path(path).read_bytes()).hexdigest() if exists else "no file"
        agree({"checkpoint": text}, group)
    return exists


def require_writable(path: str | Path, group: Group) -> None:
    """Raise OSError unless the first process can write a file at `path`."""
    if place(group)[0] > 0:
        return
    try:
        with tempfile.TemporaryFile(dir=Path(path).parent):
            usable = not Path(path).is_dir()
    except OSError:
        usable = False
    if not usable:
        raise OSError(f"Expected checkpoint to be a file that can be written, got {path}.")


def read(path: str | Path) -> dict[str, Any]:
    """Content of a checkpoint, tensors on the processor; raises unless the file is a whole one."""
    head, _, data = Path(path).read_bytes().partition(b"\n")
    if head != _FORMAT + hashlib.sha256(data).hexdigest().encode():
        raise ValueError(f"Expected a checkpoint, got a damaged or different file: {path}.")
    try:
        # What `torch.save` writes is not compressed; what is may unpack to more than memory holds.
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > len(data):
                raise ValueError(
                    f"Expected a checkpoint as it was written, got a compressed {path}."
                )
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except (zipfile.BadZipFile, UnpicklingError, RuntimeError, EOFError, struct.error) as error:
        raise ValueError(f"Expected a checkpoint, got a file that holds no run: {path}.") from error


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
