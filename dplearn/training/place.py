"""Where a run takes place: in one process, or in several with a part of the records each, as one.

Each process draws its lots from its own records, independently: together they are a lot of the
whole dataset. Clipped sums are added, never averaged, and the first process alone adds noise to
its sum before that, so that there is noise once in total. Each process has the whole model.

A process that dies is an error in the others at once with gloo, whose connection closes; with
NCCL after the timeout given to `torch.distributed.init_process_group`, ten minutes by default.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

Group = dist.ProcessGroup | None
# Digests that each process sends to the others.
_COMPARED = 4096


class Place:
    """One of the processes of a group, or the only one; ValueError if a group was forgotten."""

    def __init__(self, group: Group) -> None:
        begun = dist.is_initialized()
        others = dist.get_world_size() if begun else int(os.environ.get("WORLD_SIZE", 1))
        if group is None and others > 1:
            raise ValueError(
                f"Expected process_group in one of {others} processes, got None: pass "
                "torch.distributed.group.WORLD, or for a run of its own a new_group of this "
                "process."
            )
        self._group = group
        self.rank = 0 if group is None else dist.get_rank(group)
        self.processes = 1 if group is None else dist.get_world_size(group)
        self.share_of_noise = float(self.rank == 0)

    def gathered(self, value: Any) -> list[Any]:
        """This value of every process."""
        values = [value] * self.processes
        if self._group is not None:
            dist.all_gather_object(values, value, group=self._group)
        return values

    def add_up(self, *values: Tensor) -> None:
        """Put sums over all processes in the place of tensors."""
        for value in values if self._group is not None else ():
            dist.all_reduce(value, op=dist.ReduceOp.SUM, group=self._group)

    def start_equal(self, model: nn.Module) -> None:
        """Give every process the parameters and buffers of the first."""
        for value in model.state_dict().values() if self._group is not None else ():
            dist.broadcast(value, group=self._group, group_src=0)

    def agree(self, facts: Mapping[str, str]) -> None:
        """Raise in every process, naming the first difference, unless all have the same facts."""
        first, *others = self.gathered(dict(facts))
        for rank, other in enumerate(others, 1):
            for name in {**first, **other}:
                if first.get(name) != other.get(name):
                    raise ValueError(
                        f"Expected {name} to be the same in all processes, got {first.get(name)} "
                        f"in process 0 and {other.get(name)} in process {rank}."
                    )

    def has(self, path: str | Path) -> bool:
        """Whether there is a file; ValueError unless it is the same in every process."""
        exists = Path(path).is_file()
        if self._group is not None:
            text = hashlib.sha256(Path(path).read_bytes()).hexdigest() if exists else "no file"
            self.agree({"checkpoint": text})
        return exists

    def check_parts(self, digests: Callable[[bytes], list[bytes]]) -> None:
        """Raise in every process if two share records, in whatever order: they would count twice.

        Each sends the smallest digests of its records, with a key that is fresh, so that they tell
        nothing afterwards. Two processes may have a few alike, of people who gave the same: no more
        than one in twenty, or than each has of its own.
        """
        if self._group is None:
            return
        counts = Counter(digests(self.gathered(os.urandom(32))[0]))
        sketches = self.gathered({one: counts[one] for one in sorted(counts)[:_COMPARED]})
        for (rank, first), (other, second) in combinations(enumerate(sketches), 2):
            alike, few = first.keys() & second.keys(), min(len(first), len(second))
            repeated = sum(first[one] > 1 for one in alike)
            if first == second or len(alike) - repeated > few / 20:
                raise ValueError(
                    "Expected records of its own in each process, got the same in processes "
                    f"{rank} and {other}: give each a part, such as every {len(sketches)}th record."
                )
