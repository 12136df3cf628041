"""A model on trial: other parameters, copies of everything else, and afterwards as it was."""

import copy
import functools
import types
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only


@contextmanager
def on_trial(*modules: nn.Module, precise: bool) -> Iterator[None]:
    """Trainable parameters are moved a little and all attributes are copies, while this lasts.

    Everything is in float64 if `precise`. Gradients that vanish at the start, behind a head of
    zeros, do not vanish then. Modules and parameters stay the same objects, so that code which
    refers to them (a loss with a penalty) is on trial too.
    """
    every = list(dict.fromkeys(part for module in modules for part in module.modules()))
    parameters = list(dict.fromkeys(p for part in every for p in part.parameters(recurse=False)))
    attributes, data = [dict(vars(part)) for part in every], [p.data for p in parameters]
    same: dict[int, Any] = {id(x): x for x in (*every, *parameters)}
    rng = torch.Generator().manual_seed(0)
    try:
        for part in every:
            copies = {name: _copied(x, same, precise) for name, x in vars(part).items()}
            vars(part).update(copies)
        for p in parameters:
            p.data = _moved(p, rng, precise)
        torch.clear_autocast_cache()  # it holds the weights as they were
        yield
    finally:
        torch.clear_autocast_cache()
        for part, before in zip(every, attributes, strict=True):
            vars(part).clear()
            vars(part).update(before)
        for p, before in zip(parameters, data, strict=True):
            p.data = before


def widened(values: Tensor, precise: bool = True) -> Tensor:
    """The values in float64 or complex128 if they are no integers."""
    if not precise or isinstance(values, nn.Parameter):
        return values
    wide = torch.complex128 if values.is_complex() else torch.float64
    return values.to(wide) if values.is_complex() or values.is_floating_point() else values


def _copied(value: Any, same: dict[int, Any], precise: bool) -> Any:
    """A copy of an attribute, or the value itself where it cannot be copied."""
    try:
        value = copy.deepcopy(value, same)
    except Exception:  # generators, locks, tensors inside a graph: whatever their type raises
        return value
    return tree_map_only(Tensor, functools.partial(widened, precise=precise), value)


def _moved(parameter: Tensor, rng: torch.Generator, precise: bool) -> Tensor:
    """Near a trainable parameter: signs stay, and zeros become small numbers."""
    data = widened(parameter.data, precise)
    if not parameter.requires_grad:
        return data.clone()
    normal = torch.randn(data.shape, generator=rng, dtype=torch.float64).to(data)
    return torch.where(data == 0, 0.1 * normal, data * (0.3 * normal).exp()).to(data.dtype)


def contents(*roots: Any) -> dict[str, Any]:
    """Everything that objects hold, by the way to it; a digest of tensors and arrays."""
    values, visited = {}, {}
    queue = [("", root) for root in roots]
    while queue:
        path, value = queue.pop()
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            values[path] = value
        elif id(value) not in visited:
            visited[id(value)] = value
            if isinstance(value, Tensor | np.ndarray):
                values[path] = _digest(value)
            queue += [(f"{path}.{name}".lstrip("."), part) for name, part in _parts(value)]
    return values


def stored(model: nn.Module) -> dict[str, tuple[torch.Size, int]]:
    """Shape and digest of parameters and buffers, what a model releases, but for counts."""
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    kept = ((n, x) for n, x in tensors.items() if x.numel() != 1 or x.is_floating_point())
    return {name: (x.shape, _digest(x)) for name, x in kept}


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What an object holds: attributes, items, and the variables that a function refers to."""
    if isinstance(value, types.ModuleType | type | Tensor | np.ndarray):
        return
    if isinstance(value, nn.Module):
        yield from (*value.named_children(), *value._parameters.items(), *value._buffers.items())
        if not type(value).__module__.startswith("torch."):
            yield from vars(type(value)).items()  # its functions may refer to something global
    if isinstance(value, Mapping):
        yield from list(value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from enumerate(value)
    elif isinstance(value, types.MethodType):
        yield "__self__", value.__self__
    elif isinstance(value, functools.partial):
        yield from (("func", value.func), *enumerate(value.args), *value.keywords.items())
    elif isinstance(value, types.FunctionType):
        yield from zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        data = (name for name in value.__code__.co_names if name in value.__globals__)
        kinds = int | float | list | dict | Tensor | np.ndarray | nn.Module
        yield from ((n, x) for n in data if isinstance(x := value.__globals__[n], kinds))
    elif isinstance(value, types.CellType):
        with suppress(ValueError):  # empty
            yield "value", value.cell_contents
    internal = ("_parameters", "_buffers", "_modules")
    yield from ((n, x) for n, x in getattr(value, "__dict__", {}).items() if n not in internal)


def _digest(value: Tensor | np.ndarray) -> int:
    """A number that tells values apart; of one whole number, itself."""
    if isinstance(value, Tensor):
        if value.layout is not torch.strided:
            return value._version
        value = torch.view_as_real(value) if value.is_complex() else value
        if value.numel() == 1 and not value.is_floating_point():
            return int(value)
        value = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return hash(np.ascontiguousarray(value).tobytes())
