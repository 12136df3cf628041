r"""Clipped sums of per-example gradients from one forward and one backward pass.

With :math:`g_i` the gradient of record i's loss and :math:`c_i` its clipping factor, DP-SGD adds
noise to :math:`\sum_i c_i g_i` and releases the result.

Tested properties:

* A record changes the sum by at most the bound's sensitivity, whatever it contains: a gradient
  that is infinite or NaN counts as zero, for this record only.
* Sums of micro-batches add up to the sum of the batch.
* Norms and sums are computed in float32 at least, whatever the type of the forward pass.
* No parameter's ``.grad`` is changed and nothing is attached to the model.

Models of usual layers are recorded (`tape`). For all others, `torch.func.vmap` takes several
records at once, or autograd one record at a time where vmap fails; the first of the three methods
that is right on a few records is used. All of them presume a model that treats records
separately, which `check_model` tests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

# Tensors to add the sums of all parameters to, by name, and a factor of these sums.
Into = tuple[Mapping[str, Tensor], float]
_LEARNED: WeakKeyDictionary[nn.Module, Recipe] = WeakKeyDictionary()
# Number of records for learning a recipe: other sizes are seldom multiples of 11.
_LOOK, _COMPARED = 11, (0, 5, 10)
_HELD = 2**24  # entries of formed gradients in memory at once


@dataclass(frozen=True, kw_only=True)
class ClippedSum:
    """Contribution of one micro-batch; everything in it is private until noise is added."""

    sums: Mapping[str, Tensor]  # of each trainable parameter, float32 or float64
    losses: Tensor  # of each record, shape (B,), like the fields below
    norms: Tensor  # of the whole gradient before clipping
    scaled: Tensor  # whether the gradient was scaled down


@torch.inference_mode(False)  # also inside torch.no_grad()
def clipped_sum(
    model: nn.Module,
    loss_fn: Loss,
    inputs: Any,
    targets: Any,
    *,
    bound: ClippingBound,
) -> ClippedSum:
    """Return the sum of the clipped gradients of all records.

    Parameters
    ----------
    model : nn.Module
        Only trainable parameters get gradients; it is left unchanged.
    loss_fn : callable
        ``loss_fn(model(inputs), targets)`` gives one loss per record, shape (B,).
    inputs, targets : Tensor, or tuple or dict of tensors
        One row per record; a tuple or a dict becomes several arguments of the model.
    bound : ClippingBound
        Clipping of each record's gradient.

    Returns
    -------
    ClippedSum
        Sums by name, and the loss and the norm of each record; all of it is private.

    Raises
    ------
    ValueError
        If losses do not have one row per record, or do not depend on parameters.
    NotImplementedError
        If a module is known to mix records, or hides its computation.

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
    return added_sum(model, loss_fn, (inputs, targets), clip=Clip.of(model, bound))


class Clip(NamedTuple):
    """Clipping bound and the trainable parameters it applies to."""

    bound: ClippingBound
    parameters: Mapping[str, nn.Parameter]
    groups: Groups
    largest: Tensor  # norms of the groups, shape (groups, 1)

    @classmethod
    def of(cls, model: nn.Module, bound: ClippingBound) -> Clip:
        """Return the bound with the trainable parameters of a model."""
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
    pair: Any,
    *,
    clip: Clip,
    into: Into | None = None,
    recipe: Recipe | None = None,
) -> ClippedSum:
    """Add the result of `clipped_sum` to the tensors of `into`, and return it."""
    rows, size = rows_of(pair), sum(p.numel() for p in clip.parameters.values())
    recipe = recipe or recalled(model, loss_fn, *pair)
    if into is None:
        into = by_name(clip.largest.new_zeros(size), clip.parameters), 1.0
    if recipe.how == "tape" or not rows:
        try:
            tape, losses = passed(model, loss_fn, pair, recipe if rows else None)
            with torch.no_grad(), exactly(losses.device):
                each = per_example(tape, losses) if tape else {}
                return _clipped(each, losses.detach(), clip, into)
        except Unmet:  # the calls may depend on the data
            pass
    parts, one_by_one = [], _by_vmap if recipe.how == "vmap" else _alone
    few = max(1, _HELD // (1 + size))
    for first in range(0, rows, few):
        some = taken(pair, rows, range(first, min(first + few, rows)))
        losses, each = one_by_one(model, loss_fn, some)
        with torch.no_grad(), exactly(losses.device):
            parts.append(_clipped(each, losses, clip, into))
    names = "losses", "norms", "scaled"
    joined = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
    return ClippedSum(sums=into[0], **joined)


def _clipped(each: dict[str, PerExample], losses: Tensor, clip: Clip, into: Into) -> ClippedSum:
    """Add the weighted sums of gradients to `into`; remove the gradients from `each`."""
    (sums, weight), group, alone = into, clip.groups.of, len(clip.groups.norms) == 1
    parts: list[list[Tensor]] = [[] for _ in clip.groups.norms]
    for name, gradient in each.items():
        parts[group[name]].append(gradient.squared_norm())
    zero = lambda: losses.new_zeros(len(losses), dtype=wide(losses.dtype))
    squared = torch.stack([reduce(torch.add, x) if x else zero() for x in parts])  # (groups, B)
    groups = squared.sqrt()
    norms = groups[0] if alone else squared.sum(0).sqrt()
    finite = norms < torch.inf
    # Norms may be a few units of rounding too small: round up before dividing.
    groups = groups * (1 + ROUNDING * torch.finfo(squared.dtype).eps)
    factors = clip.bound.factors(groups, clip.largest.to(squared))
    # Only a CPU knows this without waiting; on other devices rows are always cleared.
    clean = finite.device.type == "cpu" and bool(finite.all())
    factors = factors if clean else torch.where(finite, factors, 0)
    weighted = (factors * weight).unbind()
    cleared = lambda x: torch.where(finite.view(-1, *[1] * (x.dim() - 1)), x, 0)
    for name in list(each):
        gradient = each.pop(name)  # a factor of 0 is not enough: 0 * inf is NaN
        gradient = gradient if clean else tree_map_only(Tensor, cleared, gradient)
        gradient.add_to(sums[name], weighted[group[name]])
    scaled = (factors[0] if alone else factors.amin(0)) < 1
    return ClippedSum(sums=sums, losses=losses, norms=norms, scaled=scaled)


def by_name(flat: Tensor, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return views of a flat tensor, in the shapes of parameters."""
    parts = flat.split_with_sizes([p.numel() for p in parameters.values()])
    pairs = zip(parameters.items(), parts, strict=True)
    return {name: part if p.dim() == 1 else part.view(p.shape) for (name, p), part in pairs}


def recalled(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Recipe:
    """Return the recipe of a model: the first method whose gradients of a few records are right.

    It is chosen once for each state of a model. The number of rows tells which outputs belong to
    records. An adjacency matrix of N nodes may have as many rows as a usual lot has records, so
    the methods are tried on an unusual number of records, 11.
    """
    learned = _LEARNED.get(model)
    if learned is not None and learned.state == state_of(model):
        return learned
    recipe, rows = Recipe.of(model, learns=True), rows_of((inputs, targets))
    if not rows or not recipe.parameters:
        return replace(recipe, learns=False)
    pair = taken((inputs, targets), rows, [i % rows for i in range(_LOOK)])
    for how in ("tape", "vmap"):
        recipe = replace(recipe, how=how)
        try:
            if _is_right(model, loss_fn, pair, recipe):
                break
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, NotImplementedError, TypeError, LookupError, ValueError):
            continue
    else:
        recipe = replace(recipe, how="alone")
        _alone(model, loss_fn, taken(pair, _LOOK, _COMPARED))  # raises the model's own errors
    _LEARNED[model] = recipe = replace(recipe, learns=False)
    return recipe


def _is_right(model: nn.Module, loss_fn: Loss, pair: Any, recipe: Recipe) -> bool:
    """Return whether gradients of a few records equal those of autograd."""
    names, parameters = zip(*recipe.parameters.items(), strict=True)
    with forked(device_of(model), 0):
        if recipe.how == "vmap":  # all records draw the same random numbers
            few, at = taken(pair, _LOOK, _COMPARED), range(len(_COMPARED))
            forms = _by_vmap(model, loss_fn, few, randomness="same")[1]
            rows = [grads for _, grads in _passes(model, loss_fn, few, seed=0)]
        else:
            (tape, losses), at = passed(model, loss_fn, pair, recipe), _COMPARED
            with torch.no_grad(), exactly(losses.device):
                forms = per_example(tape, losses, retain_graph=True)
            options = {"retain_graph": True, "materialize_grads": True}
            rows = [torch.autograd.grad(losses[i], parameters, **options) for i in at]
    each, eps = {name: form.dense() for name, form in forms.items()}, coarsest(model)
    for i, expected in zip(at, rows, strict=True):
        size = torch.stack([right.norm().double() for right in expected]).norm()
        for name, right in zip(names, expected, strict=True):
            value = each[name][i].view_as(right) if name in each else torch.zeros_like(right)
            # Rounding is relative to the whole gradient: that of a bias before a norm layer is 0.
            error = max(1e-6, min(1e-2, 1e3 * eps)) * right.norm() + min(1e-2, 1e2 * eps) * size
            if size.isfinite() and not (value - right).norm() <= error:
                return False
    return True


def _passes(
    model: nn.Module, loss_fn: Loss, pair: Any, seed: int | None = None
) -> Iterator[tuple[Tensor, tuple[Tensor, ...]]]:
    """Yield the loss and the gradient of each record, from one pass per record."""
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
    """Return losses and gradients from one pass per record."""
    losses, grads = zip(*_passes(model, loss_fn, pair), strict=True)
    return torch.cat(losses).detach(), _formed(model, map(torch.stack, zip(*grads, strict=True)))


def _formed(model: nn.Module, values: Iterable[Tensor]) -> dict[str, PerExample]:
    pairs = zip(trainable(model), values, strict=True)
    return {name: Dense(value.to(wide(value.dtype))) for name, value in pairs}


class _Whole(nn.Module):
    """Module of a model and its loss, which may use the parameters too."""

    def __init__(self, model: nn.Module, loss_fn: Loss) -> None:
        super().__init__()
        self.model, self.loss_fn = model, loss_fn

    def forward(self, pair: Any) -> Tensor:
        return passed(self.model, self.loss_fn, pair)[1].sum()


def _by_vmap(
    model: nn.Module, loss_fn: Loss, pair: Any, *, randomness: str = "different"
) -> tuple[Tensor, dict[str, PerExample]]:
    """Return losses and gradients from one vectorised pass over all records."""
    rows, whole = rows_of(pair), _Whole(model, loss_fn)
    own = lambda x: isinstance(x, Tensor) and x.shape[:1] == (rows,)
    apart = tree_map(lambda x: x[:, None] if own(x) else x, pair)
    one = grad_and_value(lambda values, pair: functional_call(whole, values, (pair,)))
    values = {f"model.{name}": p.detach() for name, p in trainable(model).items()}
    sides = None, tree_map(lambda x: 0 if own(x) else None, pair)
    with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():  # other backends lack vmap
        warnings.filterwarnings("ignore", "There is a performance drop")
        grads, losses = vmap(one, sides, randomness=randomness)(values, apart)
    return losses.detach(), _formed(model, grads.values())


def taken(pair: Any, rows: int, index: Sequence[int], change: Any = None) -> Any:
    """Return the records at these indices, with `change` applied to floating-point tensors."""
    at = torch.tensor([*index], dtype=torch.long)

    def take(x: Tensor) -> Tensor:
        if x.shape[:1] != (rows,):
            return x
        x = x[at.to(x.device)]
        return change(x) if change and x.is_floating_point() else x

    return tree_map_only(Tensor, take, pair)
