"""Models whose parameters are divided among the processes, by PyTorch's `fully_shard` (FSDP2).

Layers gather their parameters when they run, as ever. Each process has whole records, so norms and
factors are those of one process, and its clipped sum is of whole gradients. The sums are added and
divided at once (reduce-scatter), and each process adds noise, from a stream of its own, to the
coordinates that it alone holds: once to each. Of what is not divided, sum and noise are as in
`distributed`. Parameters, gradients and the optimizer's state are shards; while a step lasts, each
process has whole sums of what is trained, and the model is whole while it is checked.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from dplearn.ground import validate
from dplearn.training.distributed import Group, add_up, gathered
from dplearn.training.learned import known_alone
from dplearn.training.noise import Run
from dplearn.training.recording import Survey
from dplearn.training.sampling import Lot

Part = tuple[Any, Any, Tensor | None]


def divided(value: Any) -> bool:
    """Whether a tensor is a DTensor, whose module takes half a second to import."""
    return hasattr(value, "placements")


def any_divided(model: nn.Module) -> bool:
    """Whether processes have shards of this model."""
    return any(map(divided, model.parameters()))


def check_shards(model: nn.Module, group: Group, *, compiled: bool) -> None:
    """Raise unless each coordinate lies in one of the processes of the group."""
    if not any_divided(model):
        return
    if compiled:
        raise validate.unsupported("compile with a sharded model", "hooks gather its layers.")
    members = [] if group is None else dist.get_process_group_ranks(group)
    parameters: dict[str, Any] = dict(model.named_parameters())
    for name, parameter in parameters.items():
        if divided(parameter):
            mesh, (first, *others) = parameter.device_mesh, parameter.placements
            if mesh.mesh.tolist() != members or others or not first.is_shard():
                raise ValueError(
                    f"Expected {name!r} in shards over the processes of process_group, {members}, "
                    f"got {parameter.placements} over {mesh.mesh.tolist()}."
                )
    for name, module, *kinds in Survey.of(model).parts:
        if not any(kinds) and any(map(divided, module.parameters())):
            raise validate.unsupported(
                f"{type(module).__name__} ({name or 'the model itself'}) with shards",
                "without a rule it runs again after the pass, when its parameters are divided.",
            )


def refuse_checkpoint(model: nn.Module) -> None:
    """Raise if one file of the first process could not hold the model."""
    if any_divided(model):
        raise validate.unsupported(
            "a checkpoint of a sharded model",
            "one process has no whole one. Save model and optimizer by "
            "torch.distributed.checkpoint, and count what follows as another run.",
        )


def divide(model: nn.Module) -> None:
    """Make shards of what an evaluation left whole."""
    if any(hasattr(type(module), "reshard") for module in model.modules()):
        from torch.distributed.fsdp import FSDPModule

        for module in model.modules():
            if isinstance(module, FSDPModule):
                module.reshard()


@contextmanager
def whole(model: nn.Module) -> Iterator[None]:
    """While it lasts, parameters are plain and whole, and no hook gathers or divides them."""
    if not any_divided(model):
        yield
        return
    from torch.distributed.fsdp import FSDPModule

    dtypes = [parameter.dtype for parameter in model.parameters()]
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.unshard()
    before = [
        (module, name, items)
        for module in model.modules()
        for name, items in vars(module).items()
        if isinstance(items, dict) and any(map(_gathers, items.values()))
    ]
    for module, name, items in before:
        others = (item for item in items.items() if not _gathers(item[1]))
        vars(module)[name] = OrderedDict(others)
    try:
        if others := [name for name, p in model.named_parameters() if divided(p)]:
            raise ValueError(
                f"Expected {others[0]!r} to be divided by fully_shard, got another way."
            )
        if dtypes != [parameter.dtype for parameter in model.parameters()]:
            raise validate.unsupported("fully_shard with a MixedPrecisionPolicy", "Use autocast.")
        yield
    finally:
        for module, name, items in before:
            vars(module)[name] = items
        divide(model)
        known_alone(model)


def _gathers(value: Any) -> bool:
    """Whether this is PyTorch's own hook or state of a sharded module, with what it gathered."""
    module = getattr(getattr(value, "hook", value), "__module__", None) or ""
    return module.startswith("torch.distributed.fsdp") and not isinstance(value, nn.Module)


def in_step(
    sharded: bool, parts: Iterable[Part], rows: Callable[[Lot], tuple[Any, Any]], group: Group
) -> Iterator[Part]:
    """Micro-batches; of a sharded model, then one that does not count while a process has more.

    Each pass gathers the layers of all processes, whose lots differ in size.
    """
    if not sharded:
        yield from parts
        return
    coming = iter(parts)
    while any(gathered((part := next(coming, None)) is not None, group)):
        if part is None:
            inputs, targets = rows(np.zeros(1, dtype=np.int64))
            device = next(x.device for x in tree_leaves(inputs) if isinstance(x, Tensor))
            part = inputs, targets, torch.zeros(1, dtype=torch.bool, device=device)
        yield part


def reduced(
    sums: Mapping[str, Tensor],
    parameters: Mapping[str, Tensor],
    scales: Mapping[str, float],
    noise: Callable[[list[Run]], Tensor],
    group: Group,
) -> dict[str, Tensor]:
    """Sums over all processes; of divided parameters the shards, as DTensors, with their noise."""
    from torch.distributed.tensor import DTensor, Partial

    shards: dict[str, Any] = {}
    for name, value in sums.items():
        own: Any = parameters[name]
        if divided(own):
            partial = DTensor.from_local(value, own.device_mesh, [Partial()], run_check=False)
            shards[name] = partial.redistribute(placements=own.placements)
        else:
            add_up(value, group)
    runs = [(shard.to_local().numel(), scales[name]) for name, shard in shards.items()]
    drawn = noise(runs).split([size for size, _ in runs])
    for shard, part in zip(shards.values(), drawn, strict=True):
        shard.to_local().add_(part.view_as(shard.to_local()))
    return shards
