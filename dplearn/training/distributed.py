"""Several processes, each with a part of the records, as one.

Each process draws its lots from its own records, independently: together they are a lot of the
whole dataset. Clipped sums are added, never averaged, and the first process alone adds noise to
its sum before that, so that there is noise once in total.
"""

import torch
import torch.distributed as dist
from torch import Tensor, nn

Group = dist.ProcessGroup | None


def place(group: Group) -> tuple[int, int]:
    """Number of this process, and of all processes; (0, 1) when alone."""
    return (0, 1) if group is None else (dist.get_rank(group), dist.get_world_size(group))


def add_up(tensors: list[Tensor], group: Group) -> list[Tensor]:
    """Sums over all processes, in one exchange."""
    if group is None:
        return tensors
    flat = torch.cat([tensor.flatten() for tensor in tensors])
    dist.all_reduce(flat, op=dist.ReduceOp.SUM, group=group)
    parts = flat.split([tensor.numel() for tensor in tensors])
    return [part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True)]


def start_equal(model: nn.Module, group: Group) -> None:
    """Give every process the parameters and buffers of the first."""
    if group is not None:
        for value in model.state_dict().values():
            dist.broadcast(value, group=group, group_src=0)
