"""Refuses models whose records influence each other, or whose gradients would come out wrong.

Known offenders are refused by name wherever clipped sums are computed. This finds unknown ones by
experiment, on one batch: a record's loss may not depend on other records, neither by gradients nor
by values, and the gradients of all records must add up to the ordinary gradient.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from dplearn.training.gradients import called, check_losses, check_rows, learn
from dplearn.training.recording import Call, recording

# Room for bfloat16 in two ways to sum the same gradients; a use that is missed shows as 100 %.
_TOLERANCE = 1e-2


def check(
    model: nn.Module, loss_fn: Callable[[Any, Any], Tensor], inputs: Any, targets: Any
) -> None:
    """Raise unless this model's records are separate and its gradients are computed rightly.

    Run it once before training, in the same mode, on at least two records. Random records do, and
    keep the outcome independent of data. Arguments are those of `clipped_sum`; neither the model
    nor the random state is changed.

    NotImplementedError is raised if a module is known to mix records or has no per-example
    gradient; ValueError if records influence each other, losses do not have shape (B,), a buffer
    changes, or a parameter's gradient is not the sum over records: it is used outside its module.

    Examples
    --------
    >>> from torch.nn.functional import cross_entropy
    >>> model, x, y = nn.Linear(3, 2), torch.ones(4, 3), torch.zeros(4, dtype=torch.long)
    >>> check(model, cross_entropy, x, y)
    Traceback (most recent call last):
    ValueError: Expected one loss per record, shape (B,), got shape (); use reduction="none".
    """
    with torch.random.fork_rng():
        torch.manual_seed(0)
        before = {name: (buffer, buffer._version) for name, buffer in model.named_buffers()}
        learn(model, loss_fn, inputs, targets)
        with recording(model) as tape:
            losses = loss_fn(called(model, inputs), targets)
        check_losses(losses)
        if len(losses) < 2:
            raise ValueError(f"Expected at least two records to compare, got {len(losses)}.")
        _check_buffers(model, before)
        torch.manual_seed(0)
        _check_values(model, loss_fn, inputs, targets, losses)
        _check_gradients(tape.calls, losses)


def _check_buffers(model: nn.Module, before: dict[str, tuple[Tensor, int]]) -> None:
    """Raise if a buffer changed: what data writes into it is released without noise."""
    for name, buffer in model.named_buffers():
        old, version = before.get(name, (None, 0))
        if buffer is not old or buffer._version != version:
            raise ValueError(
                f"Expected buffers to stay as they are, but {name!r} changed in the forward pass: "
                "it would hold data without noise."
            )


def _check_values(
    model: nn.Module, loss_fn: Any, inputs: Any, targets: Any, losses: Tensor
) -> None:
    """Raise unless the first record's loss is the same among copies of itself."""
    batch = len(losses)

    def copies(values: Tensor) -> Tensor:
        one = values.shape[:1] == (batch,)
        return values[:1].expand_as(values).contiguous() if one else values

    inputs, targets = tree_map_only(Tensor, copies, (inputs, targets))
    with recording(model):  # the same code as before, so that randomness is the same
        alone = loss_fn(called(model, inputs), targets)[0]
    if not torch.isclose(alone, losses[0], rtol=_TOLERANCE, atol=1e-6):
        raise ValueError(
            f"Expected the loss of a record not to depend on others, got {losses[0]:.6g} in its "
            f"batch and {alone:.6g} among copies of itself: the model or the loss mixes records."
        )


def _check_gradients(calls: list[Call], losses: Tensor) -> None:
    """Raise if a gradient flows from one record's loss to another record's row."""
    edges: Any = [edge for call in calls for edge in call.edges.values()]
    owners = [call for call in calls for _ in call.edges]
    for row in (0, len(losses) - 1) if edges else ():
        grads = torch.autograd.grad(losses[row], edges, retain_graph=True, allow_unused=True)
        for call, grad in zip(owners, grads, strict=True):
            if grad is None:
                continue
            check_rows(call, grad, len(losses))
            others = torch.cat([grad[:row], grad[row + 1 :]])
            if others.ne(0).any():  # also if it is not a number
                raise ValueError(
                    f"Expected records to be separate, but the loss of record {row} depends on "
                    f"other rows of the output of {call.name!r} ({type(call.module).__name__}): "
                    "something after it mixes records, or the first dimension is not the batch."
                )
