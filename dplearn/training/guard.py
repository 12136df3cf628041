"""Tests whether records influence each other, and whether passes store their data.

The check at the start of a run and the guard of its lots share one comparison. Half of the records
keep their places and random numbers while the others are replaced by copies of one of the others:
neither losses nor gradient norms of the first half may change. Both lots have the same shape, so
kernels round them alike and a difference is not due to rounding.

A model that is not recorded is trained one record at a time, so records cannot influence each
other. At the start its losses are compared in a batch all the same: they would mean something else.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from dplearn.training.devices import forked, random_states
from dplearn.training.gradients import ClippedSum, Gradients, taken
from dplearn.training.tape import passed


def view(gradients: Gradients, pair: Any, states: int | list[Tensor]) -> tuple[Tensor, bool]:
    """Return columns of losses and gradient norms, and whether random numbers were drawn.

    The random generators start from `states`, or a seed. There are no norms if each record has a
    pass of its own.
    """
    with forked(gradients.device, states):
        before = random_states(gradients.device)
        if gradients.how == "tape":
            columns = columns_of(gradients.add(pair, gradients.zeros()))
        else:
            columns = passed(gradients.model, gradients.loss_fn, pair).detach()[:, None]
        random = not all(map(torch.equal, before, random_states(gradients.device)))
    return columns, random


def refusal(
    gradients: Gradients,
    pair: Any,
    before: Tensor,
    states: int | list[Tensor],
    *,
    seed: int,
    room: float,
    sizes: bool = False,
    factors: tuple[float, ...] = (1.0,),
) -> str:
    """Return an error message if changes of other records alter the view `before`, else "".

    The seed chooses the half that is kept; the others become copies of one record, times each of
    the factors. `sizes` compares smaller lots too, at the start only: kernels round other shapes
    in another way, which on extreme records may be large.
    """
    rows, eps = len(before), gradients.eps()
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed)).tolist()
    kept, half = sorted(order[: rows // 2]), {*order[: rows // 2]}
    copies = [i if i in half else order[-1] for i in range(rows)]
    for factor in factors:
        by = torch.tensor([1.0 if i in half else factor for i in range(rows)])
        change = lambda x, by=by: x * by.to(x).view(-1, *[1] * (x.dim() - 1))
        try:
            after, _ = view(gradients, taken(pair, rows, copies, change), states)
        except Exception:
            if factor == 1:
                raise
            continue  # a model may refuse larger numbers or NaN
        if not _equal(before[kept], after[kept], max(room, 64 * eps)):
            where = f", times {factor:g}" * (factor != 1)
            return _MIXES.format(f"beside copies of one other{where}")
    for lot in (kept, *([i] for i in order[:3])) if sizes else ():
        try:
            after, _ = view(gradients, taken(pair, rows, lot), states)
        except Exception as error:
            raise ValueError(f"Expected a lot of one record to do, got: {error}") from error
        columns = slice(2 if len(lot) > 1 else 1)  # a single record's norm may be rounding only
        if not _equal(before[lot, columns], after[:, columns], max(1e-4, min(0.1, 1.6e4 * eps))):
            return _MIXES.format("in a smaller batch" if len(lot) > 1 else "on its own")
    return ""


_MIXES = (  # shows no record's values
    "Expected the loss and the gradient of a record not to depend on others, but they are "
    "different {}: the model or the loss mixes records, remembers them, or draws random "
    "numbers that torch's seed does not decide."
)


def columns_of(part: ClippedSum) -> Tensor:
    """Return losses and norms as columns of one tensor."""
    return torch.stack([part.losses.detach().to(part.norms), part.norms], 1)


def _equal(first: Tensor, second: Tensor, room: float) -> bool:
    """Return whether two views are equal up to rounding."""
    sizes = first.abs()
    finite = sizes.where(sizes.isfinite(), torch.nan)
    typical = 0.01 * finite.nanmedian(0).values.nan_to_num()
    near = (first - second).abs() <= room * (sizes + typical) + 1e-15
    return bool((near | (first == second) | first.isnan() & second.isnan()).all())


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


def stored(*modules: nn.Module) -> dict[str, tuple[Any, ...]]:
    """Return shape and hash of each parameter and buffer, except counts of passes."""
    every = [named for m in modules for named in (*m.named_parameters(), *m.named_buffers())]
    counts = lambda x: x.numel() == 1 and not x.is_floating_point()
    numbers = lambda x: x.detach().cpu().to_dense().flatten().view(torch.uint8).numpy().tobytes()
    return {name: (x.shape, hash(numbers(x))) for name, x in every if not counts(x)}
