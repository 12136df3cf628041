r"""Clipped sums of per-example gradients from one forward and one backward pass.

With :math:`g_i` the gradient of record i's loss and :math:`c_i` the factor that a bound gives
for its norm, the released quantity before noise is :math:`\sum_i c_i g_i`.

What is promised, and tested:

* A record changes the sum by at most the bound's sensitivity, whatever it contains: a gradient
  that is infinite or not a number counts as zero, in this record only.
* Records that are masked out contribute exactly nothing.
* Sums of micro-batches add up to the sum of the batch.
* Norms and sums are computed in float32 at least, whatever the type of the forward pass.
* No parameter's ``.grad`` is touched and nothing stays on the model.

Models of usual layers are recorded (`tape`). All others take a pass of each record by
`torch.func.vmap`, 16 at once, or one after the other where vmap cannot; which of the three is right
is tried on a few records. It presumes a model that treats records separately: `check_model` looks
for signs that it does not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map, tree_map_only

from dplearn.training.bounds import ClippingBound, Groups
from dplearn.training.devices import exactly, forked, moved
from dplearn.training.forms import ROUNDING, Dense, PerExample
from dplearn.training.layers import Unmet, trainable
from dplearn.training.tape import (
    Loss,
    Recipe,
    coarsest,
    device_of,
    passed,
    per_example,
    rows_of,
    state_of,
    wide,
)

# All trainable parameters, by name, and a number to multiply what is added to them.
Into = tuple[Mapping[str, Tensor], float]
_OF_RECORDS = "losses", "norms", "counted", "scaled"
_LEARNED: WeakKeyDictionary[nn.Module, Recipe] = WeakKeyDictionary()
# Records of which a recipe is learned: sizes of other things are seldom multiples of it.
_LOOK, _COMPARED = 11, (0, 5, 10)
_AT_ONCE = 16  # records of which whole gradients are held


@dataclass(frozen=True, kw_only=True)
class ClippedSum:
    """Contribution of one micro-batch; everything in it is private until noise is added."""

    sums: Mapping[str, Tensor]  # of each trainable parameter, float32 or float64
    losses: Tensor  # of each record, shape (B,), as all that follow
    norms: Tensor  # of the whole gradient before clipping
    counted: Tensor  # False for padding
    scaled: Tensor  # whether it was scaled down


@torch.inference_mode(False)  # also inside torch.no_grad()
def clipped_sum(
    model: nn.Module,
    loss_fn: Loss,
    inputs: Any,
    targets: Any,
    *,
    bound: ClippingBound,
    mask: Tensor | None = None,
) -> ClippedSum:
    """Return the sum of the clipped gradients of all records.

    Parameters
    ----------
    model, loss_fn
        ``loss_fn(model(inputs), targets)`` gives one loss per record, shape (B,).
    inputs, targets
        One row per record; a tuple or a dict becomes several arguments of the model.
    bound : ClippingBound
        How a record's influence is bounded.
    mask : Tensor, optional
        Of bool and shape (B,), False for padding.

    Raises
    ------
    ValueError
        If losses, mask or a layer's output do not have one row per record, or if the gradients of
        three records do not add up to PyTorch's.
    NotImplementedError
        If a layer has no per-example gradient.

    References
    ----------
    Goodfellow (2015); Li et al. (2022); Bu et al. (2023), "book-keeping".

    Examples
    --------
    >>> from dplearn.training import Flat
    >>> model = nn.Linear(3, 1)
    >>> squares = lambda outputs, targets: (outputs[:, 0] - targets).square()
    >>> x, y = 100 * torch.ones(2, 3), torch.zeros(2)
    >>> part = clipped_sum(model, squares, x, y, bound=Flat(1.0))
    >>> round(torch.cat([s.flatten() for s in part.sums.values()]).norm().item(), 4)
    2.0
    """
    return added_sum(model, loss_fn, inputs, targets, clip=Clip.of(model, bound), mask=mask)


class Clip(NamedTuple):
    """Clipping bound and the trainable parameters it applies to."""

    bound: ClippingBound
    parameters: Mapping[str, nn.Parameter]
    groups: Groups
    largest: Tensor  # norms of the groups, shape (groups, 1)

    @classmethod
    def of(cls, model: nn.Module, bound: ClippingBound) -> Clip:
        """Return the parameters of a model that are trained now, with this bound."""
        parameters = trainable(model)
        groups = bound.groups({name: p.numel() for name, p in parameters.items()})
        like = next(model.parameters(), torch.empty(0))
        types = [wide(p.dtype) for p in parameters.values()] or [wide(like.dtype)]
        dtype = reduce(torch.promote_types, types)
        largest = torch.tensor(groups.norms, dtype=dtype)[:, None]
        return cls(bound, parameters, groups, moved(largest, like.device))


def added_sum(
    model: nn.Module,
    loss_fn: Loss,
    inputs: Any,
    targets: Any,
    *,
    clip: Clip,
    mask: Tensor | None = None,
    into: Into | None = None,
    recipe: Recipe | None = None,
) -> ClippedSum:
    """Add a clipped sum as of `clipped_sum` to given tensors, by a recipe of the model now."""
    pair, rows = (inputs, targets), rows_of((inputs, targets))
    recipe = recipe or recalled(model, loss_fn, inputs, targets)
    if mask is not None and (mask.dtype != torch.bool or mask.shape != (rows,)):
        raise ValueError(
            f"Expected mask to be of type bool and shape {(rows,)}, "
            f"got {mask.dtype} and {tuple(mask.shape)}."
        )
    if into is None:
        total = clip.largest.new_zeros(sum(p.numel() for p in clip.parameters.values()))
        into = by_name(total, clip.parameters), 1.0
    if not rows:
        _, losses = passed(model, loss_fn, pair)
        return _clipped({}, losses.detach(), clip, mask, into)
    if recipe.how == "tape":
        try:
            tape, losses = passed(model, loss_fn, pair, recipe)
            return _clipped(per_example(tape, losses), losses.detach(), clip, mask, into)
        except Unmet:  # data may choose what is called
            pass
    parts = []
    for first in range(0, rows, _AT_ONCE):
        index = range(first, min(first + _AT_ONCE, rows))
        losses, each = _ONE_BY_ONE[recipe.how](model, loss_fn, taken(pair, rows, index))
        some = None if mask is None else mask[first : first + _AT_ONCE]
        parts.append(_clipped(each, losses, clip, some, into))
    joined = {name: torch.cat([getattr(x, name) for x in parts]) for name in _OF_RECORDS}
    return ClippedSum(sums=into[0], **joined)


@torch.no_grad()
def _clipped(
    each: dict[str, PerExample], losses: Tensor, clip: Clip, mask: Tensor | None, into: Into
) -> ClippedSum:
    """Compute norms and factors, and add weighted sums; the gradients are used up."""
    (sums, weight), group, count = into, clip.groups.of, len(clip.groups.norms)
    with exactly(losses.device):
        squares = [losses.new_zeros(len(losses), dtype=wide(losses.dtype))] * count
        for name, gradient in each.items():
            squares[group[name]] = squares[group[name]] + gradient.squared_norm()
        squared = torch.stack(squares)  # (groups, B)
        norms = squared.sum(0).sqrt()
        finite = norms < torch.inf
        # Norms may be a few units of rounding too small: round up before dividing.
        groups = squared.sqrt() * (1 + ROUNDING * torch.finfo(squared.dtype).eps)
        factors = clip.bound.factors(groups, clip.largest.to(squared))
        # Only on the processor this is known without waiting; elsewhere rows become 0 on copies.
        keep = None if finite.device.type == "cpu" and finite.all() else finite
        if keep is not None or mask is not None:
            factors = torch.where(finite if mask is None else finite & mask, factors, 0)
        weighted = (factors * weight).unbind()
        zero = lambda x: torch.where(finite.view(-1, *[1] * (x.dim() - 1)), x, 0)
        for name in list(each):
            gradient = each.pop(name)  # 0 * inf is not a number: a factor of 0 is not enough
            gradient = gradient if keep is None else tree_map_only(Tensor, zero, gradient)
            gradient.add_to(sums[name], weighted[group[name]])
    return ClippedSum(
        sums=sums,
        losses=losses,
        norms=norms,
        counted=torch.ones_like(finite) if mask is None else mask,
        scaled=factors.amin(0) < 1,
    )


def by_name(flat: Tensor, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return views of a flat tensor, in the shapes of parameters."""
    parts = flat.split_with_sizes([p.numel() for p in parameters.values()])
    pairs = zip(parameters.items(), parts, strict=True)
    return {name: part if p.dim() == 1 else part.view(p.shape) for (name, p), part in pairs}


def recalled(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Recipe:
    """Return the recipe of a model in its state; learned unless that was done."""
    recipe = _LEARNED.get(model)
    if recipe is None or state_of(model) != recipe.state:
        return learn(model, loss_fn, inputs, targets)
    return recipe


def learn(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Recipe:
    """Return how gradients of a model are computed: the first way that is right on a few records.

    An adjacency matrix of N nodes may have as many rows as the lot has records: one lot cannot
    tell which outputs follow the records, so the number of these records is an odd one.
    """
    recipe, rows = Recipe.of(model, learns=True), rows_of((inputs, targets))
    if not rows or not recipe.parameters:
        return replace(recipe, learns=False)
    pair = taken((inputs, targets), rows, [i % rows for i in range(_LOOK)])
    for how in ("tape", "vmap", "alone"):
        recipe = replace(recipe, how=how)
        try:
            if how == "alone" or _is_right(model, loss_fn, pair, recipe):
                break
        except (RuntimeError, NotImplementedError, TypeError, LookupError, ValueError):
            continue
    if how == "alone":
        _alone(model, loss_fn, taken(pair, _LOOK, _COMPARED))  # its errors are the model's own
    _LEARNED[model] = recipe = replace(recipe, learns=False)
    return recipe


def _is_right(model: nn.Module, loss_fn: Loss, pair: Any, recipe: Recipe) -> bool:
    """Return whether gradients of a few records are those of autograd, one after the other."""
    device, parameters = device_of(model), list(recipe.parameters.values())
    few = taken(pair, _LOOK, _COMPARED)
    with forked(device, 0):
        if recipe.how == "vmap":  # all records draw the same random numbers
            losses, each = _by_vmap(model, loss_fn, few, randomness="same")
            each = {name: form.value for name, form in each.items()}
            rows = [grads for _, grads in _passes(model, loss_fn, few, seed=0)]
        else:
            tape, losses = passed(model, loss_fn, pair, recipe)
            options = {"retain_graph": True, "allow_unused": True}
            forms = per_example(tape, losses, retain_graph=True)
            rows = [torch.autograd.grad(losses[i], parameters, **options) for i in _COMPARED]
            each = {name: form.dense()[list(_COMPARED)] for name, form in forms.items()}
    eps = coarsest(model)
    for i, expected in enumerate(rows):
        size = torch.stack([x.norm().double() for x in expected if x is not None]).norm()
        for (name, parameter), right in zip(recipe.parameters.items(), expected, strict=True):
            right = torch.zeros_like(parameter) if right is None else right
            mine = each[name][i].view_as(right) if name in each else torch.zeros_like(right)
            # A gradient that is zero but for rounding, of a bias before a norm, is measured by all.
            room = max(1e-6, min(1e-2, 1e3 * eps)) * right.norm() + min(1e-2, 1e2 * eps) * size
            if size.isfinite() and not (mine - right).norm() <= room:
                return False
    return True


def _passes(
    model: nn.Module, loss_fn: Loss, pair: Any, seed: int | None = None
) -> Iterator[tuple[Tensor, tuple[Tensor, ...]]]:
    """Yield the loss and the gradient of each record from a pass of its own."""
    parameters, rows = list(trainable(model).values()), rows_of(pair)
    for i in range(rows):
        with nullcontext() if seed is None else forked(device_of(model), seed):
            _, losses = passed(model, loss_fn, taken(pair, rows, [i]))
        if not losses.requires_grad:
            raise ValueError(
                "Expected losses that depend on trainable parameters, but autograd sees none: is "
                "there a torch.no_grad() or a .detach() around them?"
            )
        yield losses, torch.autograd.grad(losses.sum(), parameters, materialize_grads=True)


def _alone(model: nn.Module, loss_fn: Loss, pair: Any) -> tuple[Tensor, dict[str, PerExample]]:
    """Return losses and gradients by a pass of each record."""
    losses, grads = zip(*_passes(model, loss_fn, pair), strict=True)
    each = zip(trainable(model), map(torch.stack, zip(*grads, strict=True)), strict=True)
    forms = {name: Dense(value.to(wide(value.dtype))) for name, value in each}
    return torch.cat(losses).detach(), forms


class _Whole(nn.Module):
    """A model and its loss, which may use the parameters too."""

    def __init__(self, model: nn.Module, loss_fn: Loss) -> None:
        super().__init__()
        self.model, self.loss_fn = model, loss_fn

    def forward(self, pair: Any) -> Tensor:
        return passed(self.model, self.loss_fn, pair)[1].sum()


def _by_vmap(
    model: nn.Module, loss_fn: Loss, pair: Any, randomness: str = "different"
) -> tuple[Tensor, dict[str, PerExample]]:
    """Return losses and gradients by one pass of all records side by side."""
    rows, whole = rows_of(pair), _Whole(model, loss_fn)
    own = lambda x: isinstance(x, Tensor) and x.shape[:1] == (rows,)
    apart = tree_map(lambda x: x[:, None] if own(x) else x, pair)
    one = grad_and_value(lambda values, pair: functional_call(whole, values, (pair,)))
    values = {f"model.{name}": p.detach() for name, p in trainable(model).items()}
    sides = None, tree_map(lambda x: 0 if own(x) else None, pair)
    with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():  # others do not know vmap
        warnings.filterwarnings("ignore", "There is a performance drop")
        grads, losses = vmap(one, sides, randomness=randomness)(values, apart)
    each = {name: Dense(grads[f"model.{name}"]) for name in trainable(model)}
    return losses.detach(), {n: Dense(x.value.to(wide(x.value.dtype))) for n, x in each.items()}


_ONE_BY_ONE: dict[str, Callable[..., tuple[Tensor, dict[str, PerExample]]]] = {
    "vmap": _by_vmap,
    "alone": _alone,
    "tape": _alone,
}


def taken(pair: Any, rows: int, index: Sequence[int], change: Any = None) -> Any:
    """Return the records of these places, and of their floating numbers what `change` makes."""
    at = torch.tensor(list(index))

    def take(x: Tensor) -> Tensor:
        if x.shape[:1] != (rows,):
            return x
        x = x[at.to(x.device)]
        return change(x) if change and x.is_floating_point() else x

    return tree_map_only(Tensor, take, pair)
