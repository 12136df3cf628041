"""Several processes, each with a part of the records, as one.

Each process draws its lots from its own records, independently: together they are a lot of the
whole dataset. Clipped sums are added, never averaged, and the first process alone adds noise to
its sum before that, so that there is noise once in total. Each process has the whole model.

A process that dies is an error in the others at once with gloo, whose connection closes; with
NCCL after the timeout given to `torch.distributed.init_process_group`, ten minutes by default.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import torch.distributed as dist
from torch import Tensor, nn

Group = dist.ProcessGroup | None
# Digests that each process sends to the others.
_COMPARED = 4096


def place(group: Group) -> tuple[int, int]:
    """Number of this process, and of all; (0, 1) when alone; raises if a group was forgotten."""
    if group is not None:
        return dist.get_rank(group), dist.get_world_size(group)
    begun = dist.is_initialized()
    if (processes := dist.get_world_size() if begun else int(os.environ.get("WORLD_SIZE", 1))) > 1:
        raise ValueError(
            f"Expected process_group in one of {processes} processes, got None: pass "
            "torch.distributed.group.WORLD, or for a run of its own a new_group of this process."
        )
    return 0, 1


def agree(facts: Mapping[str, str], group: Group) -> None:
    """Raise in every process, naming the first difference, unless all have the same facts."""
    first, *others = gathered(dict(facts), group)
    for rank, other in enumerate(others, 1):
        for name in {**first, **other}:
            if first.get(name) != other.get(name):
                raise ValueError(
                    f"Expected {name} to be the same in all processes, got {first.get(name)} in "
                    f"process 0 and {other.get(name)} in process {rank}."
                )


def check_parts(digests: Callable[[bytes], list[bytes]], group: Group) -> None:
    """Raise in every process if two share records, in whatever order: they would count twice.

    Each sends the smallest digests of its records, with a key that is fresh, so that they tell
    nothing afterwards. Two processes may have a few alike, of people who gave the same: no more
    than one in twenty, or than each has of its own.
    """
    counts = Counter(digests(gathered(os.urandom(32), group)[0]))
    sketches = gathered({one: counts[one] for one in sorted(counts)[:_COMPARED]}, group)
    for (rank, first), (other, second) in combinations(enumerate(sketches), 2):
        alike, few = first.keys() & second.keys(), min(len(first), len(second))
        repeated = sum(first[one] > 1 for one in alike)
        if first == second or len(alike) - repeated > few / 20:
            raise ValueError(
                f"Expected records of its own in each process, got the same in processes {rank} "
                f"and {other}: give each a part, such as every {len(sketches)}th record."
            )


def gathered(value: Any, group: Group) -> list[Any]:
    """This value of every process."""
    values = [value] * place(group)[1]
    if group is not None:
        dist.all_gather_object(values, value, group=group)
    return values


def add_up(value: Tensor, group: Group) -> None:
    """Put the sum over all processes in the place of a tensor."""
    if group is not None:
        dist.all_reduce(value, op=dist.ReduceOp.SUM, group=group)


def start_equal(model: nn.Module, group: Group) -> None:
    """Give every process the parameters and buffers of the first."""
    if group is not None:
        for value in model.state_dict().values():
            dist.broadcast(value, group=group, group_src=0)
