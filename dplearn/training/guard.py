"""Tests of influence between records, and of the state that passes leave behind.

The check at the start of a run and the guard of its lots share one comparison. Half of the records
keep their places and random numbers while the others are replaced by copies of one of the others:
neither losses nor gradient norms of the first half may change. Both lots have the same shape, so
kernels round them alike and a difference is not due to rounding.
"""

import copy
import functools
import inspect
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dplearn.training.devices import forked, random_states
from dplearn.training.gradients import Clip, added_sum, taken
from dplearn.training.tape import Loss, Recipe, coarsest, device_of, passed, wide

# Replacements of the other records; the last two are used only at the start.
COPIES = "beside copies of one other"
CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    COPIES: lambda x: x,
    "beside larger ones": lambda x: 9 * x,
    "beside missing values": lambda x: torch.full_like(x, torch.nan),
}


class Viewer:
    """Loss and gradient norm of each record, always with the same random numbers."""

    def __init__(
        self,
        model: nn.Module,
        loss_fn: Loss,
        recipe: Recipe,
        states: int | list[Tensor],
        clip: Clip,
    ) -> None:
        self._parts, self._states, self._clip = (model, loss_fn), states, clip
        self._recipe, self.device = recipe, device_of(model)
        # At the start, a model that is not recorded takes all records in one pass.
        self._together = isinstance(states, int) and recipe.how != "tape"
        self.random = False  # whether the last pass drew random numbers
        self.eps = max(coarsest(model), torch.finfo(torch.float32).eps)  # parts may use float32
        # Real records may be worse conditioned than synthetic ones, in parts of other shapes.
        self.room = max(1e-4 if isinstance(states, list) else 1e-5, 64 * self.eps)

    def __call__(self, pair: Any, *, alike: bool = True) -> Tensor:
        """Return losses and gradient norms, (B, 2); unless `alike`, perhaps losses only, (B, 1)."""
        with forked(self.device, self._states):
            states = random_states(self.device)
            if self._together:
                _, losses = passed(*self._parts, pair)
                norms = self._norms(losses) if alike else None
            else:
                part = added_sum(*self._parts, *pair, clip=self._clip, recipe=self._recipe)
                losses, norms = part.losses, part.norms
            self.random = not all(map(torch.equal, states, random_states(self.device)))
        return views(losses, norms)

    def _norms(self, losses: Tensor) -> Tensor:
        """Return the norm of each loss's contribution to the gradient of their sum."""
        parameters, total = [*self._clip.parameters.values()], losses.sum()
        options = {"retain_graph": True, "materialize_grads": True}
        whole = torch.autograd.grad(total, parameters, **options)
        rests = (torch.autograd.grad(total - loss, parameters, **options) for loss in losses)
        apart = ([(x - y).norm() for x, y in zip(whole, rest, strict=True)] for rest in rests)
        return torch.stack([torch.stack(parts).norm() for parts in apart])

    def differs(
        self, pair: Any, before: Tensor, changes: Sequence[str], *, seed: int, sizes: bool
    ) -> str | None:
        """Return the first change that alters losses or norms `before`, or None."""
        rows = len(before)
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed)).tolist()
        kept = torch.zeros(rows, dtype=torch.bool)
        kept[order[: rows // 2]] = True
        for what in changes:
            other = taken(pair, rows, [order[-1]] * rows, CHANGES[what])
            try:
                after = self(_merged(kept, pair, other), alike=what == COPIES)
            except Exception:
                if what == COPIES:
                    raise
                continue  # a model may refuse larger numbers or NaN
            if not self.equal(before[kept], after[kept], self.room):
                return what
        half = [i for i in range(rows) if kept[i]]
        for what, index in [
            ("in a smaller batch", half),
            *(("on its own", [i]) for i in order[:3]),
        ]:
            if not sizes:
                break
            try:
                after = self(taken(pair, rows, index), alike=len(index) > 1)
            except Exception as error:
                raise ValueError(f"Expected a lot of one record to do, got: {error}") from error
            if not self.equal(before[index], after, max(1e-4, min(0.1, 1.6e4 * self.eps))):
                return what
        return None

    def refusal(self, pair: Any, before: Tensor, where: str) -> str:
        """Return the error message on a difference `where`, without values of a record."""
        does = "mixes records"
        if not self.equal(before, self(pair), self.room):
            does = "remembers, or draws not from torch's seed"
        return (
            "Expected the loss and the gradient of a record not to depend on others, but they are "
            f"different {where}: the model or the loss {does}."
        )

    def equal(self, first: Tensor, second: Tensor, room: float) -> bool:
        """Return whether two views are equal up to rounding."""
        columns = min(first.shape[1], second.shape[1])
        first, second = first[:, :columns], second[:, :columns]
        sizes = first.abs()
        finite = sizes.where(sizes.isfinite(), torch.nan)
        typical = 0.01 * finite.nanmedian(0).values.nan_to_num()
        if self._together:  # differences of sums have the error of the largest
            typical = sizes.nan_to_num(posinf=0).amax(0)
        near = (first - second).abs() <= room * (sizes + typical) + 1e-15
        return bool((near | (first == second) | first.isnan() & second.isnan()).all())


def views(losses: Tensor, norms: Tensor | None) -> Tensor:
    """Return losses and, if given, norms as columns of one tensor."""
    columns = [losses.detach()] if norms is None else [losses.detach(), norms]
    return torch.stack([x.to(wide(losses.dtype)) for x in columns], 1)


def _merged(kept: Tensor, first: Any, second: Any) -> Any:
    """Return the records of `first` where `kept` is True, else those of `second`."""

    def choose(x: Any, y: Any) -> Any:
        if not isinstance(x, Tensor) or x.shape[:1] != kept.shape:
            return x
        return torch.where(kept.to(x.device).view(-1, *[1] * (x.dim() - 1)), x, y)

    return tree_map(choose, first, second)


@contextmanager
def probing(*modules: nn.Module) -> Iterator[None]:
    """Perturb trainable parameters and copy all attributes within a context, then restore them.

    Without this, gradients vanish below a layer of zero weights. Modules and parameters stay the
    same objects, so that a loss that refers to them uses the perturbed values too.
    """
    every = list(dict.fromkeys(part for module in modules for part in module.modules()))
    parameters = list(dict.fromkeys(p for part in every for p in part.parameters(recurse=False)))
    attributes, data = [dict(vars(part)) for part in every], [p.data for p in parameters]
    same: dict[int, Any] = {id(x): x for x in (*every, *parameters)}
    try:
        for part in every:
            for name, value in list(vars(part).items()):
                with suppress(Exception):  # copies of generators and locks fail
                    vars(part)[name] = copy.deepcopy(value, same)
        for place, p in enumerate(parameters):
            p.data = p.data.clone()
            if p.requires_grad:  # signs stay, and zeros become small numbers
                with forked(p.device, place):
                    normal = torch.randn_like(p)
                p.data = torch.where(p.data == 0, 0.1 * normal, p.data * (0.3 * normal).exp())
        torch.clear_autocast_cache()  # the cache holds casts of the old weights
        yield
    finally:
        torch.clear_autocast_cache()
        for part, before in zip(every, attributes, strict=True):
            vars(part).clear()
            vars(part).update(before)
        for p, before in zip(parameters, data, strict=True):
            p.data = before


def holdings(*roots: Any) -> dict[str, Any]:
    """Return all values reachable from objects, keyed by path; tensors, arrays as digests."""
    values, visited, queue = {}, {}, [("", root) for root in roots]
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


def stored(model: nn.Module) -> dict[str, Any]:
    """Return shape and digest of each parameter and buffer, except integer scalars."""
    named = [*model.named_parameters(), *model.named_buffers()]
    counts = lambda x: x.numel() == 1 and not x.is_floating_point()
    return {name: (x.shape, _digest(x)) for name, x in named if not counts(x)}


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the name and value of each part of an object."""
    if isinstance(value, types.ModuleType | type | Tensor | np.ndarray):
        return
    if isinstance(value, nn.Module) and not type(value).__module__.startswith("torch."):
        yield from vars(type(value)).items()  # its functions may refer to global variables
    if isinstance(value, Mapping):
        yield from list(value.items())
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from enumerate(value)
    elif isinstance(value, types.MethodType):
        yield "__self__", value.__self__
    elif isinstance(value, functools.partial):
        yield from (("func", value.func), *enumerate(value.args), *value.keywords.items())
    elif isinstance(value, types.FunctionType):
        with suppress(ValueError):  # a closure variable is unset
            own, shared, *_ = inspect.getclosurevars(value)
            kinds = int | float | list | dict | Tensor | np.ndarray | nn.Module
            yield from {**own, **{n: x for n, x in shared.items() if isinstance(x, kinds)}}.items()
    for name, part in getattr(value, "__dict__", {}).items():
        inside = name in ("_parameters", "_buffers", "_modules")  # listed by their own names
        yield from part.items() if inside else ((name, part),)


def _digest(value: Tensor | np.ndarray) -> int:
    """Return a hash of the values, or the value of an integer scalar."""
    if isinstance(value, Tensor):
        if value.layout is not torch.strided:
            return value._version
        if value.numel() == 1 and not value.is_floating_point() and not value.is_complex():
            return int(value)
        if value.device.type == "cuda":  # hashed on the device
            return int(torch.hash_tensor(value.detach()))
        value = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return hash(np.ascontiguousarray(value).tobytes())
