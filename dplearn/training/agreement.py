"""Comparison of the settings of a run between processes and with a checkpoint file.

Process r of n has the whole model and dataset, and draws its part of a lot from records r, r + n,
r + 2n, ... The clipped sums of all processes are added, never averaged, and only process 0 adds
noise. When a process dies, the others raise an error: at once with gloo, whose connection closes;
with NCCL after the timeout of `torch.distributed.init_process_group`, ten minutes by default.

Checkpoint files are replaced atomically. Loading detects accidental damage, not forgery, and
executes no code from the file.
"""

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

Group = dist.ProcessGroup | None


class DistributedContext:
    """Communication of this process with its process group, if it has one."""

    def __init__(self, group: Group) -> None:
        begun = dist.is_initialized()
        others = dist.get_world_size() if begun else int(os.environ.get("WORLD_SIZE", 1))
        if group is None and others > 1:
            raise ValueError(
                f"Expected process_group in one of {others} processes, got None: pass torch."
                "distributed.group.WORLD, or for a run of its own a new_group of this process."
            )
        self.group, self.rank, self.processes = group, 0, 1
        if group is not None:
            self.rank, self.processes = dist.get_rank(group), dist.get_world_size(group)

    def add_up(self, *values: Tensor) -> None:
        """Replace each tensor by its sum over all processes."""
        for value in values if self.group is not None else ():
            dist.all_reduce(value, op=dist.ReduceOp.SUM, group=self.group)

    def start_equal(self, model: nn.Module) -> None:
        """Copy the model's parameters and buffers from the first process to all others."""
        for value in model.state_dict().values() if self.group is not None else ():
            dist.broadcast(value, group=self.group, group_src=0)

    def gathered(self, value: Any) -> list[Any]:
        """Return the values passed by all processes, as a list ordered by rank."""
        every: list[Any] = [value] * self.processes
        if self.group is not None:
            dist.all_gather_object(every, value, group=self.group)
        return every

    def agree(self, facts: Mapping[str, str]) -> None:
        """Raise the same ValueError in every process if any fact differs between processes."""
        first, *others = self.gathered(dict(facts))
        for rank, other in enumerate(others, start=1):
            for name, expected, got in differences(first, other):
                raise ValueError(
                    f"Expected {name} to be the same in all processes, got {expected} in process "
                    f"0 and {got} in process {rank}."
                )


def differences(first: Mapping[str, str], other: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    """Yield (name, first value, other value) for each name whose values differ."""
    for name in {**first, **other}:
        if first.get(name) != other.get(name):
            yield name, first.get(name), other.get(name)


def loaded(path: str | Path, run: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Load a checkpoint onto the CPU; ValueError if the file is damaged or of another `run`."""
    data = io.BytesIO(Path(path).read_bytes())
    try:
        if zipfile.ZipFile(data).testzip():
            raise zipfile.BadZipFile
        data.seek(0)
        content = torch.load(data, map_location="cpu", weights_only=True)
        written = dict(content["run"])
    except MemoryError:
        raise
    except Exception as error:  # torch, zipfile and pickle raise many types of errors
        message = f"Expected a checkpoint, got a damaged or different file: {path}."
        raise ValueError(message) from error
    for name, expected, got in differences(written if run is None else run, written):
        raise ValueError(f"Expected a checkpoint with {name} = {expected}, got {got} in {path}.")
    return content
