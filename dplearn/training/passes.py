"""A forward pass on record, and the gradients of each example from the backward pass."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from dplearn.training import fallback
from dplearn.training.devices import exactly
from dplearn.training.layers import trained
from dplearn.training.layers.per_example import Dense, PerExample, combined
from dplearn.training.recording import Call, Inventory, Tape, on_tensors, recording, rows_of

Loss = Callable[[Any, Any], Tensor]


def called(model: nn.Module, inputs: Any) -> Any:
    """The model's output; a tuple or a dict holds several arguments."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def passed(
    model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any, inventory: Inventory
) -> tuple[Tape, Any, Tensor]:
    """A forward pass on record, its outputs and losses; ValueError unless each record has one."""
    with recording(model, inventory) as tape:
        outputs = called(model, inputs)
        losses = loss_fn(outputs, targets)
    if losses.dim() != 1:
        hint = "losses.flatten(1).mean(1)" if losses.dim() else 'reduction="none"'
        raise ValueError(
            f"Expected one loss per record, shape (B,), got shape {tuple(losses.shape)}; "
            f"use {hint}."
        )
    return tape, outputs, losses


def per_example(tape: Tape, losses: Tensor, *, retain_graph: bool = False) -> dict[str, PerExample]:
    """Gradients of every parameter that takes part, one per example; uses up the graph."""
    calls = tape.calls
    edges: Any = [
        edge for call in calls for part in (call, *call.inner) for edge in part.edges.values()
    ]
    if not edges or not losses.requires_grad:
        return {}
    ones, options = torch.ones_like(losses), {"retain_graph": retain_graph, "allow_unused": True}
    output_grads = iter(torch.autograd.grad(losses, edges, ones, **options))
    uses: dict[str, list[PerExample]] = defaultdict(list)
    with torch.no_grad(), exactly(losses.device):
        for call in calls:
            grads = [
                {place: next(output_grads) for place in part.edges} for part in (call, *call.inner)
            ]
            for parameter, use in _of_call(call, tape.inventory, grads, len(losses)):
                uses[tape.inventory.names[parameter]].append(use)
        return {name: combined(parts) for name, parts in uses.items()}


def _of_call(
    call: Call, inventory: Inventory, grads: list[dict[int, Tensor | None]], batch: int
) -> Iterator[tuple[Any, PerExample]]:
    reached = [{i: grad for i, grad in part.items() if grad is not None} for part in grads]
    if not any(reached):
        return
    if wrong := [tuple(g.shape) for g in reached[0].values() if g.shape[:1] != (batch,)]:
        raise ValueError(
            f"Expected the output of {call.name!r} ({type(call.module).__name__}) to have one row "
            f"for each of {batch} records, got shape {wrong[0]}: use batch_first=True."
        )
    dtype = wide(next(grad.dtype for part in reached for grad in part.values()))
    widen = lambda x: x if x.dtype == dtype or not x.is_floating_point() else x.to(dtype)
    reached = [{i: widen(grad) for i, grad in part.items()} for part in reached]
    if call.rule is None:
        parameters, each = inventory.owners[call.module], rows_of(call, inventory.rows, batch)
        homes = {call.module.get_submodule(name.rpartition(".")[0]) for name in parameters}
        again = {cut.module for cut in call.inner if not homes.isdisjoint(cut.module.modules())}
        gradients = fallback.differentiated(call, parameters, again, each, reached, batch)
    else:
        parameters = call.module._parameters
        inputs = on_tensors(widen, (*call.args, *call.kwargs.values()))
        gradients = call.rule(call.module, inputs, *reached[0].values())
    for name, use in gradients.items():
        if trained(parameters.get(name)):
            yield parameters[name], Dense(use) if isinstance(use, Tensor) else use


def wide(dtype: torch.dtype) -> torch.dtype:
    """The type in which norms and sums are computed."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def zeros(parameter: Tensor) -> Tensor:
    """The clipped sum of no record."""
    return parameter.new_zeros(parameter.shape, dtype=wide(parameter.dtype))


def device_of(model: nn.Module) -> torch.device:
    """Where the first parameter is."""
    return next((p.device for p in model.parameters()), torch.device("cpu"))
