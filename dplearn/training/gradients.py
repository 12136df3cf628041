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

It presumes a model that treats records separately: `check_model` looks for signs that it does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from dplearn.training.bounds import ClippingBound, Groups
from dplearn.training.devices import exactly, forked, moved
from dplearn.training.forms import ROUNDING, Dense, PerExample
from dplearn.training.layers import trainable
from dplearn.training.tape import (
    Facts,
    Inventory,
    Loss,
    Tape,
    Unmet,
    called,
    check_losses,
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
# Of each model its state, and what was learned of it then.
_LEARNED: WeakKeyDictionary[nn.Module, tuple[Any, Facts, bool]] = WeakKeyDictionary()


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
    inventory: Inventory | None = None,
) -> ClippedSum:
    """Add a clipped sum as of `clipped_sum` to given tensors, by an inventory of the model now."""
    inventory = inventory or recalled(model, loss_fn, inputs, targets)
    losses, gradients = gradients_of(model, loss_fn, (inputs, targets), inventory)
    if mask is not None and (mask.dtype != torch.bool or mask.shape != losses.shape):
        raise ValueError(
            f"Expected mask to be of type bool and shape {tuple(losses.shape)}, "
            f"got {mask.dtype} and {tuple(mask.shape)}."
        )
    with torch.no_grad(), exactly(losses.device):
        if into is None:
            total = clip.largest.new_zeros(sum(p.numel() for p in clip.parameters.values()))
            into = by_name(total, clip.parameters), 1.0
        return _clipped(gradients, losses.detach(), clip, mask, into)


def _clipped(
    gradients: dict[str, PerExample], losses: Tensor, clip: Clip, mask: Tensor | None, into: Into
) -> ClippedSum:
    """Compute norms and factors, and add weighted sums; the gradients are used up."""
    (sums, weight), one_group, group = into, len(clip.groups.norms) == 1, clip.groups.of
    squared = squares_of(gradients, losses, clip)
    groups = squared.sqrt()  # (groups, B)
    norms = groups[0] if one_group else squared.sum(0).sqrt()
    finite = norms < torch.inf
    # Norms may be a few units of rounding too small: round up before dividing.
    groups = groups * (1 + ROUNDING * torch.finfo(squared.dtype).eps)
    factors = clip.bound.factors(groups, clip.largest.to(squared))
    # Only on the processor this is known without waiting; elsewhere rows become zero on copies.
    keep = None if finite.device.type == "cpu" and finite.all() else finite
    if keep is not None or mask is not None:
        factors = torch.where(finite if mask is None else finite & mask, factors, 0)
    weighted = (factors * weight).unbind()
    for name in list(gradients):
        gradients.pop(name).add_to(sums[name], weighted[group[name]], keep)
    return ClippedSum(
        sums=sums,
        losses=losses,
        norms=norms,
        counted=torch.ones_like(finite) if mask is None else mask,
        scaled=(factors[0] if one_group else factors.amin(0)) < 1,
    )


def squares_of(gradients: dict[str, PerExample], losses: Tensor, clip: Clip) -> Tensor:
    """Return squares of the norms of all groups, shape (groups, B)."""
    squares: list[list[Tensor]] = [[] for _ in clip.groups.norms]
    for name, gradient in gradients.items():
        squares[clip.groups.of[name]].append(gradient.squared_norm())
    zero = [losses.new_zeros(len(losses), dtype=wide(losses.dtype))]
    return torch.stack([sum(x[1:], x[0]) for x in (x or zero for x in squares)])


def by_name(flat: Tensor, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return views of a flat tensor, in the shapes of parameters."""
    parts = flat.split_with_sizes([p.numel() for p in parameters.values()])
    pairs = zip(parameters.items(), parts, strict=True)
    return {name: part if p.dim() == 1 else part.view(p.shape) for (name, p), part in pairs}


def recalled(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Inventory:
    """Return what to record of a model in its state; learned unless that was done."""
    state, facts, alone = _LEARNED.get(model, (None, {}, False))
    if state_of(model) != state:
        return learn(model, loss_fn, inputs, targets)
    return Inventory.of(model, facts, alone=alone)


def learn(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Inventory:
    """Return what to record of a model, from passes over two and three of these records.

    An adjacency matrix of N nodes may have as many rows as the lot has records: one lot cannot
    tell which arguments follow the records. Where two and three cannot tell either, where a
    function cannot run again for each record, or where gradients do not add up to PyTorch's, each
    record has a pass of its own.
    """
    inventory, batch, start = Inventory.of(model), rows_of((inputs, targets)), 0
    facts = inventory.facts

    def few(count: int, *, learns: bool = True) -> tuple[Tape, Tensor]:
        some = taken((inputs, targets), batch, [i % batch for i in range(start, start + count)])
        with forked(device_of(model), 0):
            return passed(model, loss_fn, some, inventory, learns=learns)

    while batch and (new := _facts(few(2)[0], few(3)[0])).keys() - facts.keys():
        facts |= new
    alone, right = None in facts.values(), None
    while batch and not alone and right is None and start < batch:
        try:
            right = _adds_up(model, *few(3, learns=False))
        except (RuntimeError, NotImplementedError, TypeError, LookupError) as error:
            if "modified by an inplace" in str(error):
                raise
            right = False
        start += 3  # unless a gradient of the three is not finite
    alone |= right is False
    inventory = Inventory.of(model, facts, alone=alone)
    if batch:
        _LEARNED[model] = inventory.state, facts, alone
    return inventory


def _facts(two: Tape, three: Tape) -> Facts:
    """Return how many rows of outputs and arguments belong to one record, by kind of call."""
    sides: Any = defaultdict(lambda: ([], []))
    for place, tape in enumerate((two, three)):
        for kind, *sizes in tape.met:
            sides[kind][place].append(sizes)

    def rows(a: torch.Size, b: torch.Size) -> int:
        follows = len(a) > 0 and a[1:] == b[1:] and 3 * a[0] == 2 * b[0]
        return 0 if a == b else a[0] // 2 if follows else -1

    facts: Facts = {}
    for kind, passes in sides.items():
        found = set()
        for a, b in zip(*passes, strict=False):  # data may choose how many
            split, out = (tuple(map(rows, x, y)) for x, y in zip(a, b, strict=True))
            odd = -1 in split or -1 in out or len(set(out)) > 1 or (out[0] == 0 and any(split))
            found.add(None if odd else (out[0], split))
        if found:
            facts[kind] = found.pop() if len(found) == 1 else None
    return facts


def _adds_up(model: nn.Module, tape: Tape, losses: Tensor) -> bool | None:
    """Return whether gradients add up to PyTorch's; None if some are not finite."""
    named = trainable(model)
    if not named:
        return True
    if not losses.requires_grad:
        raise ValueError(
            "Expected losses that depend on trainable parameters, but autograd sees none: is there "
            "a torch.no_grad() or a .detach() around them?"
        )
    parameters = list(named.values())
    each = per_example(tape, losses, retain_graph=True)
    ordinary = torch.autograd.grad(losses.sum(), parameters, retain_graph=True, allow_unused=True)
    size = sum((use.squared_norm() for use in each.values()), torch.zeros(())).sqrt().sum()
    if not size.isfinite():
        return None
    eps = coarsest(model)
    for (name, parameter), expected in zip(named.items(), ordinary, strict=True):
        if expected is not None and name not in each:
            return False
        expected = torch.zeros_like(parameter) if expected is None else expected
        total = parameter.new_zeros(parameter.shape, dtype=wide(parameter.dtype))
        scale = expected.norm()
        if name in each:
            each[name].add_to(total, torch.ones_like(losses.detach()))
            scale = each[name].squared_norm().sqrt().sum()
        # A gradient that is zero but for rounding, of a bias before a norm, is measured by others.
        apart = (total - expected).norm()
        if not apart <= max(1e-6, min(1e-2, 1e3 * eps)) * scale + min(1e-2, 1e2 * eps) * size:
            return False
    return _are_apart(tape, losses)


def _are_apart(tape: Tape, losses: Tensor) -> bool:
    """Return whether several rows of each record follow each other: its loss needs no others."""
    several = (call for call in tape.calls if call.rows > 1)
    edges: Any = [(call.rows, edge) for call in several for edge in call.edges.values()]
    for i in range(len(losses) if edges else 0):
        options = {"retain_graph": True, "allow_unused": True}
        found = torch.autograd.grad(losses[i], [edge for _, edge in edges], **options)
        for (rows, _), grad in zip(edges, found, strict=True):
            if grad is not None and (grad[: i * rows].any() or grad[(i + 1) * rows :].any()):
                return False
    return True


def gradients_of(
    model: nn.Module, loss_fn: Loss, pair: Any, inventory: Inventory
) -> tuple[Tensor, dict[str, PerExample]]:
    """Return losses, and gradients of each record by parameter."""
    try:
        tape, losses = passed(model, loss_fn, pair, inventory)
    except Unmet:  # data may choose what is called
        inventory = replace(inventory, alone=True, recurrent=[])
        return gradients_of(model, loss_fn, pair, inventory)
    if not len(losses):
        return losses, {}
    if not inventory.alone:
        return losses, per_example(tape, losses)
    named, rows = trainable(model), []
    for i in range(len(losses)):
        loss = loss_fn(called(model, (one := taken(pair, len(losses), [i]))[0]), one[1])
        check_losses(loss, one[0])
        rows.append(torch.autograd.grad(loss.sum(), list(named.values()), materialize_grads=True))
    forms = zip(named, map(torch.stack, zip(*rows, strict=True)), strict=True)
    return losses, {name: Dense(value.to(wide(value.dtype))) for name, value in forms}


def taken(pair: Any, rows: int, index: Sequence[int], change: Any = None) -> Any:
    """Return the records of these places, and of their floating numbers what `change` makes."""
    at = torch.tensor(list(index))

    def take(x: Tensor) -> Tensor:
        if x.shape[:1] != (rows,):
            return x
        x = x[at.to(x.device)]
        return change(x) if change and x.is_floating_point() else x

    return tree_map_only(Tensor, take, pair)
