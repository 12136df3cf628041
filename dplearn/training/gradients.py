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

It presumes a model that treats records separately: `check_model` finds out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from dplearn.training.bounds import ClippingBound, Groups
from dplearn.training.devices import exactly, moved
from dplearn.training.layers import trainable
from dplearn.training.layers.per_example import ROUNDING, PerExample
from dplearn.training.learned import recalled
from dplearn.training.passes import Loss, passed, per_example, wide, zeros
from dplearn.training.recording import Inventory

# A tensor for each trainable parameter, and a number to multiply what is added to it.
Into = tuple[Mapping[str, Tensor], float]


@dataclass(frozen=True, kw_only=True)
class ClippedSum:
    """Contribution of one micro-batch; everything in it is private until noise is added."""

    sums: Mapping[str, Tensor]  # for every trainable parameter, float32 or float64
    losses: Tensor  # of each record, shape (B,), as all that follow
    norms: Tensor  # of the whole gradient before clipping
    counted: Tensor  # False for padding
    scaled: Tensor  # whether it was scaled down


def clipped_sum(
    model: nn.Module,
    loss_fn: Loss,
    inputs: Any,
    targets: Any,
    *,
    bound: ClippingBound,
    mask: Tensor | None = None,
) -> ClippedSum:
    """Sum of the clipped gradients of all records.

    ``loss_fn(model(inputs), targets)`` gives one loss per record, shape (B,). Inputs have one row
    per record; a tuple or a dict becomes several arguments of the model. The mask, of bool and
    shape (B,), is False for padding. ValueError is raised if losses, mask or a layer's output do
    not have one row per record, or if the gradients of three records do not add up to PyTorch's;
    NotImplementedError if a layer has no per-example gradient. See Goodfellow (2015); Li et al.
    (2022); Bu et al. (2023), "book-keeping".

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


@torch.inference_mode(False)  # also inside of somebody's torch.no_grad()
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
    """Clipped sum as of `clipped_sum`, added to given tensors, by an inventory of the model now."""
    inventory = inventory or recalled(model, loss_fn, inputs, targets)
    tape, _, losses = passed(model, loss_fn, inputs, targets, inventory)
    mask = torch.ones_like(losses, dtype=torch.bool) if mask is None else mask
    if mask.dtype != torch.bool or mask.shape != losses.shape:
        raise ValueError(
            f"Expected mask to be of type bool and shape {tuple(losses.shape)}, "
            f"got {mask.dtype} and {tuple(mask.shape)}."
        )
    gradients = per_example(tape, losses) if len(losses) else {}
    with torch.no_grad(), exactly(losses.device):
        into = into or ({name: zeros(p) for name, p in clip.parameters.items()}, 1.0)
        return _clipped(gradients, losses.detach(), clip, mask, into)


class Clip(NamedTuple):
    """A bound, and the parameters of a model that it is for: those that are trained now."""

    bound: ClippingBound
    parameters: Mapping[str, nn.Parameter]
    groups: Groups
    largest: Tensor  # norms of the groups, shape (groups, 1)

    @classmethod
    def of(cls, model: nn.Module, bound: ClippingBound) -> Clip:
        """The parameters of a model that are trained now, with this bound."""
        parameters = trainable(model)
        groups = bound.groups({name: p.numel() for name, p in parameters.items()})
        like = next(model.parameters(), torch.empty(0))
        largest = torch.tensor(groups.norms, dtype=wide(like.dtype))[:, None]
        return cls(bound, parameters, groups, moved(largest, like.device))


def _clipped(
    gradients: dict[str, PerExample], losses: Tensor, clip: Clip, mask: Tensor, into: Into
) -> ClippedSum:
    """Norms, factors and weighted sums; the gradients are used up."""
    group = clip.groups.of
    squares: list[list[Tensor]] = [[] for _ in range(len(clip.largest))]
    for name, gradient in gradients.items():
        squares[group[name]].append(gradient.squared_norm())
    zero = [losses.new_zeros(len(losses), dtype=wide(losses.dtype))]
    squared = torch.stack([torch.stack(one or zero).sum(0) for one in squares])  # (groups, B)
    norms = squared.sum(0).sqrt()
    finite = norms < torch.inf
    # Norms may be a few units of rounding too small: round up before dividing.
    rounded_up = squared.sqrt() * (1 + ROUNDING * torch.finfo(squared.dtype).eps)
    factors = clip.bound.factors(rounded_up, clip.largest.to(squared))
    factors = torch.where(finite & mask, factors, 0)
    # Only on the processor this is known without waiting; elsewhere rows become zero on copies.
    keep = None if finite.device.type == "cpu" and finite.all() else finite
    sums, weight = into
    weighted = (factors * weight).unbind()
    for name in list(gradients):
        gradients.pop(name).add_to(sums[name], weighted[group[name]], keep)
    scaled = factors.amin(0) < 1
    return ClippedSum(sums=sums, losses=losses, norms=norms, counted=mask, scaled=scaled)
