"""Whether records influence each other, and what passes leave behind.

The check at the start of a run and the guard of its lots share one comparison. Half of the records
keep their places and their random numbers while the others become copies of one of them: neither
losses nor norms of gradients of those that were kept may change. Lots have one shape then, in which
kernels round alike, so that no strange record makes a difference by rounding.
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
from torch.utils._pytree import tree_leaves, tree_map

from dplearn.training.devices import forked, random_states
from dplearn.training.gradients import Clip, added_sum, taken
from dplearn.training.tape import Loss, Recipe, coarsest, device_of, passed, wide

# What others become; the last two only at the start.
COPIES = "beside copies of one other"
CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    COPIES: lambda x: x,
    "beside larger ones": lambda x: 9 * x,
    "beside missing values": lambda x: torch.full_like(x, torch.nan),
}


class Viewer:
    """Loss and norm of the gradient of each record, always by the same random numbers."""

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
        # A model that takes a pass of each record treats several together at the start only.
        self._together = isinstance(states, int) and recipe.how != "tape"
        self.random = False  # whether the last pass drew random numbers
        self.eps = max(coarsest(model), torch.finfo(torch.float32).eps)  # parts may be coarser
        # Real records may be worse conditioned than made-up ones, in parts of other shapes.
        self.room = max(1e-4 if isinstance(states, list) else 1e-5, 64 * self.eps)

    def __call__(self, pair: Any) -> Tensor:
        """Return losses and norms of these records, shape (B, 2)."""
        with forked(self.device, self._states):
            states = random_states(self.device)
            if self._together:
                _, losses = passed(*self._parts, pair)
                leaves = [x for x in tree_leaves(pair) if isinstance(x, Tensor)]
                clean = all(x.isfinite().all() for x in leaves)
                # Elsewhere 0 times NaN, of another record, is not a number.
                norms = self._norms(losses) if clean else None
            else:
                part = added_sum(*self._parts, *pair, clip=self._clip, recipe=self._recipe)
                losses, norms = part.losses, part.norms
            self.random = not all(map(torch.equal, states, random_states(self.device)))
        return views(losses, norms)

    def _norms(self, losses: Tensor) -> Tensor:
        """Return the norm of what each of several losses adds to the gradient of their sum."""
        parameters, total = [*self._clip.parameters.values()], losses.sum()
        options = {"retain_graph": True, "materialize_grads": True}
        whole = torch.autograd.grad(total, parameters, **options)
        rests = (torch.autograd.grad(total - loss, parameters, **options) for loss in losses)
        apart = ([(x - y).norm() for x, y in zip(whole, rest, strict=True)] for rest in rests)
        return torch.stack([torch.stack(parts).norm() for parts in apart])

    def differs(
        self, pair: Any, before: Tensor, changes: Sequence[str], *, seed: int, sizes: bool
    ) -> str | None:
        """Return where half of the records, seen `before`, are different, if anywhere."""
        rows = len(before)
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed)).tolist()
        kept = torch.zeros(rows, dtype=torch.bool)
        kept[order[: rows // 2]] = True
        for what in changes:
            other = taken(pair, rows, [order[-1]] * rows, CHANGES[what])
            try:
                after = self(_merged(kept, pair, other))
            except Exception:
                if what == COPIES:
                    raise
                continue  # a model may refuse what is larger, or not a number
            if not equal(before[kept], after[kept], self.room):
                return what
        half = [i for i in range(rows) if kept[i]]
        for what, index in [
            ("in a smaller batch", half),
            *(("on its own", [i]) for i in order[:3]),
        ]:
            if not sizes:
                break
            try:
                after = self(taken(pair, rows, index))
            except Exception as error:
                raise ValueError(f"Expected a lot of one record to do, got: {error}") from error
            if not equal(before[index], after, max(1e-4, min(0.1, 1.6e4 * self.eps))):
                return what
        return None

    def refusal(self, pair: Any, before: Tensor, where: str) -> str:
        """Return a sentence, without a number of a record, on what differs `where`."""
        does = "mixes records"
        if not equal(before, self(pair), self.room):
            does = "remembers, or draws not from torch's seed"
        return (
            "Expected the loss and the gradient of a record not to depend on others, but they are "
            f"different {where}: the model or the loss {does}."
        )


def views(losses: Tensor, norms: Tensor | None) -> Tensor:
    """Return losses, and norms if there are any, side by side."""
    columns = [losses.detach()] if norms is None else [losses.detach(), norms]
    return torch.stack([x.to(wide(losses.dtype)) for x in columns], 1)


def equal(first: Tensor, second: Tensor, room: float) -> bool:
    """Return whether two views are the same but for rounding."""
    columns = min(first.shape[1], second.shape[1])
    first, second = first[:, :columns], second[:, :columns]
    sizes = first.abs()
    typical = sizes.where(sizes.isfinite(), torch.nan).nanmedian(0).values.nan_to_num()
    near = (first - second).abs() <= room * (sizes + 0.01 * typical) + 1e-15
    return bool((near | (first == second) | first.isnan() & second.isnan()).all())


def _merged(kept: Tensor, first: Any, second: Any) -> Any:
    """Return records of the first where they are kept, elsewhere of the second."""

    def choose(x: Any, y: Any) -> Any:
        if not isinstance(x, Tensor) or x.shape[:1] != kept.shape:
            return x
        return torch.where(kept.to(x.device).view(-1, *[1] * (x.dim() - 1)), x, y)

    return tree_map(choose, first, second)


@contextmanager
def probing(*modules: nn.Module) -> Iterator[None]:
    """Move trainable parameters a little and copy all attributes, while this lasts.

    Gradients behind a head of zeros do not vanish then. Modules and parameters stay the same
    objects: a loss that refers to them is probed too.
    """
    every = list(dict.fromkeys(part for module in modules for part in module.modules()))
    parameters = list(dict.fromkeys(p for part in every for p in part.parameters(recurse=False)))
    attributes, data = [dict(vars(part)) for part in every], [p.data for p in parameters]
    same: dict[int, Any] = {id(x): x for x in (*every, *parameters)}
    try:
        for part in every:
            for name, value in list(vars(part).items()):
                with suppress(Exception):  # generators, locks: whatever their type raises
                    vars(part)[name] = copy.deepcopy(value, same)
        for place, p in enumerate(parameters):
            p.data = p.data.clone()
            if p.requires_grad:  # signs stay, and zeros become small numbers
                with forked(p.device, place):
                    normal = torch.randn_like(p)
                p.data = torch.where(p.data == 0, 0.1 * normal, p.data * (0.3 * normal).exp())
        torch.clear_autocast_cache()  # it holds the weights as they were
        yield
    finally:
        torch.clear_autocast_cache()
        for part, before in zip(every, attributes, strict=True):
            vars(part).clear()
            vars(part).update(before)
        for p, before in zip(parameters, data, strict=True):
            p.data = before


def holdings(*roots: Any) -> dict[str, Any]:
    """Return everything that objects hold, by the way to it; a digest of tensors and arrays."""
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
    """Return a digest of each parameter and buffer but counts, with its shape."""
    named = [*model.named_parameters(), *model.named_buffers()]
    counts = lambda x: x.numel() == 1 and not x.is_floating_point()
    return {name: (x.shape, _digest(x)) for name, x in named if not counts(x)}


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what an object holds, with a name for each."""
    if isinstance(value, types.ModuleType | type | Tensor | np.ndarray):
        return
    if isinstance(value, nn.Module) and not type(value).__module__.startswith("torch."):
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
        with suppress(ValueError):  # a variable is empty
            own, shared, *_ = inspect.getclosurevars(value)
            kinds = int | float | list | dict | Tensor | np.ndarray | nn.Module
            yield from {**own, **{n: x for n, x in shared.items() if isinstance(x, kinds)}}.items()
    for name, part in getattr(value, "__dict__", {}).items():
        inside = name in ("_parameters", "_buffers", "_modules")  # found by their names
        yield from part.items() if inside else ((name, part),)


def _digest(value: Tensor | np.ndarray) -> int:
    """Return a number that tells values apart; of one whole number, itself."""
    if isinstance(value, Tensor):
        if value.layout is not torch.strided:
            return value._version
        if value.numel() == 1 and not value.is_floating_point() and not value.is_complex():
            return int(value)
        if value.device.type == "cuda":  # where it is
            return int(torch.hash_tensor(value.detach()))
        value = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return hash(np.ascontiguousarray(value).tobytes())
