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
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.training.bounds import ClippingBound, Groups
from dplearn.training.devices import exactly, forked, moved
from dplearn.training.forms import ROUNDING, PerExample
from dplearn.training.layers import trainable
from dplearn.training.tape import (
    Inventory,
    Loss,
    Rows,
    Tape,
    caller,
    coarsest,
    device_of,
    passed,
    per_example,
    state_of,
    wide,
)

# All trainable parameters, flat, and a number to multiply what is added to them.
Into = tuple[Tensor, float]
# Of each model its state, and what was learned of it then: parts of what calls them, and rows.
_LEARNED: WeakKeyDictionary[nn.Module, tuple[Any, frozenset[str], Rows]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class ClippedSum:
    """Contribution of one micro-batch; everything in it is private until noise is added."""

    total: Tensor  # of all trainable parameters, flat, float32 or float64
    parameters: Mapping[str, Tensor]
    losses: Tensor  # of each record, shape (B,), as all that follow
    norms: Tensor  # of the whole gradient before clipping
    counted: Tensor  # False for padding
    scaled: Tensor  # whether it was scaled down

    @property
    def sums(self) -> Mapping[str, Tensor]:
        """Clipped sum of each trainable parameter, by name."""
        return by_name(self.total, self.parameters)


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


@torch.inference_mode(False)  # also inside torch.no_grad()
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
    tape, losses = passed(model, loss_fn, (inputs, targets), inventory)
    if mask is not None and (mask.dtype != torch.bool or mask.shape != losses.shape):
        raise ValueError(
            f"Expected mask to be of type bool and shape {tuple(losses.shape)}, "
            f"got {mask.dtype} and {tuple(mask.shape)}."
        )
    gradients = per_example(tape, losses) if len(losses) else {}
    with torch.no_grad(), exactly(losses.device):
        sizes = (p.numel() for p in clip.parameters.values())
        into = into or (clip.largest.new_zeros(sum(sizes)), 1.0)
        return _clipped(gradients, losses.detach(), clip, mask, into)


def _clipped(
    gradients: dict[str, PerExample], losses: Tensor, clip: Clip, mask: Tensor | None, into: Into
) -> ClippedSum:
    """Compute norms and factors, and add weighted sums; the gradients are used up."""
    (total, weight), one_group, group = into, len(clip.groups.norms) == 1, clip.groups.of
    sums, squared = by_name(total, clip.parameters), squares_of(gradients, losses, clip)
    groups = squared.sqrt()  # (groups, B)
    norms = groups[0] if one_group else squared.sum(0).sqrt()
    finite = norms < torch.inf
    # Norms may be a few units of rounding too small: round up before dividing.
    groups = groups * (1 + ROUNDING * torch.finfo(squared.dtype).eps)
    factors = clip.bound.factors(groups, clip.largest.to(squared))
    factors = torch.where(finite if mask is None else finite & mask, factors, 0)
    weighted = (factors * weight).unbind()
    # Only on the processor this is known without waiting; elsewhere rows become zero on copies.
    keep = None if finite.device.type == "cpu" and finite.all() else finite
    for name in list(gradients):
        gradients.pop(name).add_to(sums[name], weighted[group[name]], keep)
    return ClippedSum(
        total=total,
        parameters=clip.parameters,
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
    parts = flat.split([p.numel() for p in parameters.values()])
    pairs = zip(parameters.items(), parts, strict=True)
    return {name: part.view(p.shape) for (name, p), part in pairs}


def recalled(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Inventory:
    """Return what to record of a model in its state; learned unless that was done."""
    state, shared, rows = _LEARNED.get(model, (None, frozenset(), {}))
    if state_of(model) != state:
        return learn(model, loss_fn, inputs, targets)
    return Inventory.of(model, shared, rows)


def learn(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Inventory:
    """Return what to record of a model, from passes over two and three of these records.

    An adjacency matrix of N nodes may have as many rows as the lot has records: one lot cannot
    tell which arguments follow the records. A layer called once for all records or with several
    rows of each, or whose parameters others use, is a part of what calls it, which runs again for
    each record. ValueError is raised if the gradients of three do not add up to PyTorch's even so.
    """
    state, shared, rows = _LEARNED.get(model, (None, frozenset(), {}))
    if state != state_of(model):
        shared, rows = frozenset(), {}
    # The first tensor has a row for each record; a tensor with another number of rows is not cut.
    batch = next((len(x) for x in tree_leaves((inputs, targets)) if isinstance(x, Tensor)), 0)
    start = 0

    def few(count: int) -> tuple[Tape, Tensor]:
        index = torch.arange(start, start + count) % batch
        cut = lambda x: x[index.to(x.device)] if x.shape[:1] == (batch,) else x
        pair = tree_map_only(Tensor, cut, (inputs, targets))
        with forked(device_of(model), 0):
            return passed(model, loss_fn, pair, inventory)

    while True:
        inventory = Inventory.of(model, shared, rows)
        if batch == 0:
            return inventory
        (two, _), (three, losses) = few(2), few(3)
        learned, parts = _rows_and_common(two, three)
        rows |= learned
        for call in three.calls:
            if (kind := call.kind()) in rows:  # data may choose what is called
                each = [n for n, dims in zip(rows[kind], kind[1:], strict=True) if dims]
                # A rule needs one row per record in every argument, a module in one of them.
                odd = any(n != 1 for n in each) if call.rule else -1 in each or 1 not in each
                parts |= {call.name} if odd and call.name else set()
        wrong = [] if parts else _unequal(model, three, losses)
        if wrong is None:  # a gradient of the three is not finite: take the next three
            start += 3
            if start >= batch:
                return inventory
            continue
        parts |= {caller(name, shared) for name in wrong}
        if not parts:
            _LEARNED[model] = inventory.state, shared, rows
            return inventory
        if "" in parts:
            raise ValueError(
                f"Expected the gradient of {wrong[0]!r} to be the sum over records, which it is "
                "not: it is used outside of the model, or by a derivative inside it, or a pass "
                "changes a buffer that it is multiplied with. For a penalty use the optimizer's "
                "weight_decay; set layers whose buffers change to eval()."
            )
        shared |= parts


def _rows_and_common(two: Tape, three: Tape) -> tuple[Rows, set[str]]:
    """Return rows per record of all arguments, -1 if unknown; modules with common outputs."""
    sides, rows, common = defaultdict(lambda: ([], [])), {}, set()
    for place, tape in enumerate((two, three)):
        for call in tape.calls:
            leaves = tree_leaves(call.tree())
            first = [len(x) if isinstance(x, Tensor) and x.dim() else 0 for x in leaves]
            sides[call.kind()][place].append((first, call.sizes))
    per_record = lambda two, three: 0 if two == three else two // 2 if 3 * two == 2 * three else -1
    for kind, passes in sides.items():
        calls = list(zip(*passes, strict=False))  # data may choose how many
        if uses := {tuple(map(per_record, a[0], b[0])) for a, b in calls}:
            rows[kind] = uses.pop() if len(uses) == 1 else (-1,) * len(kind[1:])
        ends = [pair for a, b in calls for pair in zip(a[1], b[1], strict=False)]
        if kind[0] and any(per_record(*pair) != 1 for pair in ends):
            common.add(kind[0])
    return rows, common


def _unequal(model: nn.Module, tape: Tape, losses: Tensor) -> list[str] | None:
    """Return parameters whose gradients do not add up to PyTorch's; None if some are not finite."""
    named, shared = trainable(model), tape.inventory.shared
    if not named:
        return []
    if not losses.requires_grad:
        raise ValueError(
            "Expected losses that depend on trainable parameters, but autograd sees none: is there "
            "a torch.no_grad() or a .detach() around them?"
        )
    parameters = list(named.values())
    each = per_example(tape, losses, retain_graph=True)
    ordinary = torch.autograd.grad(losses.sum(), parameters, retain_graph=True, allow_unused=True)
    used = [name for name, grad in zip(named, ordinary, strict=True) if grad is not None]
    if wrong := [name for name in used if name not in each and caller(name, shared)]:
        return wrong  # whatever its value
    size = sum((use.squared_norm() for use in each.values()), torch.zeros(())).sqrt().sum()
    if not size.isfinite():
        return None
    eps = coarsest(model)
    for (name, parameter), expected in zip(named.items(), ordinary, strict=True):
        expected = torch.zeros_like(parameter) if expected is None else expected
        total = parameter.new_zeros(parameter.shape, dtype=wide(parameter.dtype))
        scale = expected.norm()
        if name in each:
            each[name].add_to(total, torch.ones_like(losses.detach()))
            scale = each[name].squared_norm().sqrt().sum()
        # A gradient that is zero but for rounding, of a bias before a norm, is measured by others.
        apart = (total - expected).norm()
        if not apart <= max(1e-6, min(1e-2, 1e3 * eps)) * scale + min(1e-2, 1e2 * eps) * size:
            wrong.append(name)
    return wrong
