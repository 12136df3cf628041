"""Checks that training arguments fit together, and that models neither mix nor store records.

Modules known to mix records are refused by type. Other models are tested on a few records before
training, and on some lots during it. Half of the records keep their positions and random numbers;
each of the others is replaced by the same one of them. Losses and gradient norms of the first half
may not change. Both batches have the same shape, so kernels round them alike and a difference is
not due to rounding. No forward or backward pass may store values that depend on its data.

Lots are compared only if their gradients come from a recorded pass (`tape`): other methods keep
records apart. Before training, losses are compared for all methods.
"""

import copy
import inspect
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils._pytree import tree_leaves

from dplearn.core import validate
from dplearn.mechanisms.clipping import ClippingBound, Flat
from dplearn.run import Plan
from dplearn.training.devices import forked, random_states
from dplearn.training.gradients import Gradients, taken
from dplearn.training.layers import trainable
from dplearn.training.tape import Loss, passed, rows_of

_POOL, _BATCH = 14, 8  # number of records in total, and in each comparison


@torch.inference_mode(False)
def check_model(
    model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any, *, public: bool = False
) -> bool:
    """Raise if an experiment shows that this model mixes records or stores data.

    Call it with the model in training mode; model and random state are left unchanged. Passing
    proves nothing: a model that mixes records rarely, or only special ones, may pass too.

    Parameters
    ----------
    model, loss_fn, inputs, targets : as in `clipped_sum`
    public : bool, whether to use the given floating-point values; else normal ones replace them

    Returns
    -------
    bool
        True if smaller lots were not compared, as the model's own code draws random numbers.

    Raises
    ------
    NotImplementedError, ValueError
        If a module is known to mix records, no loss depends on parameters, or a test fails.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(3, 2), nn.Softmax(0))
    >>> losses = nn.CrossEntropyLoss(reduction="none")
    >>> check_model(model, losses, torch.ones(4, 3), torch.zeros(4, dtype=torch.long))
    Traceback (most recent call last):
    ValueError: Expected the loss and the gradient of a record not to depend on others, but they ...
    """
    return check_gradients(Gradients(model, loss_fn, Flat(1.0)), (inputs, targets), public=public)


def check_gradients(gradients: Gradients, pair: Any, *, public: bool = False) -> bool:
    """Choose a method for per-example gradients, and check the model as `check_model` does."""
    model, loss_fn = gradients.model, gradients.loss_fn
    modules = [part for part in (model, loss_fn) if isinstance(part, nn.Module)]
    rows, rng = max(1, rows_of(pair)), torch.Generator()
    normal = lambda x: torch.randn(x.shape, generator=rng.manual_seed(len(x))).to(x)
    pool = taken(pair, rows, [i % rows for i in range(_POOL)], None if public else normal)
    some = lambda first, number: taken(pool, _POOL, range(first, first + number))
    _check_kept(gradients, [some(_BATCH + 3 * i, 3) for i in range(2)], modules)
    pair = some(0, _BATCH)
    with probing(*modules):
        gradients.learn(pair)
        for seed in range(3):  # one seed is enough if the model draws no random numbers
            if not (random := _check_company(gradients, pair, seed)):
                break
        else:  # random numbers depend on the number of records: turn dropout off
            for module in model.modules():
                for name in ("p",) if isinstance(module, _DropoutNd) else ("dropout", "drop_prob"):
                    if isinstance(vars(module).get(name), float):
                        setattr(module, name, 0.0)
            random = _check_company(gradients, pair)
        missing = torch.Generator().manual_seed(0)
        tenth = lambda x: (torch.rand(x.shape, generator=missing) < 0.1).to(x.device)
        spoilt = taken(pair, _BATCH, range(_BATCH), lambda x: x.masked_fill(tenth(x), torch.nan))
        try:
            view(gradients, spoilt, 0)
        except Exception:
            return random  # a model may refuse NaN
        _check_company(gradients, spoilt)
        return random


def _check_company(gradients: Gradients, pair: Any, seed: int = 0) -> bool:
    """Raise if records change each other's losses; return whether random numbers were drawn."""
    before, random = view(gradients, pair, seed)
    # Seed 11 keeps records 1, 2, 3, 5: no reversal, rotation or swap of halves keeps this set.
    if message := refusal(gradients, pair, before, seed, seed=11 + 2 * seed, start=True):
        raise ValueError(message)
    return random


def _check_kept(gradients: Gradients, pairs: list[Any], modules: list[nn.Module]) -> None:
    """Raise if a forward or backward pass fails, or stores its data in parameters or buffers."""
    held, parameters = [], list(gradients.parameters.values())
    for pair in pairs:  # the same state each time, as some modules store only the first data
        with probing(*modules), forked(gradients.device, 0):
            for _ in range(2):
                losses = _losses(gradients, pair)
                if losses.requires_grad:  # backward passes may store data in the model too
                    torch.autograd.grad(losses.sum(), parameters, allow_unused=True)
            held.append(stored(*modules))
    for name in set().union(*held):
        if len({each.get(name) for each in held}) > 1:
            raise ValueError(
                f"Expected a forward pass to keep nothing of its data, but {name!r} depends on it: "
                "it would hold data without noise, and pass it on to other records. Set it from "
                "public data before the training, or leave it out."
            )


def _losses(gradients: Gradients, pair: Any) -> Tensor:
    """Return the losses, or re-raise the model's error with types and shapes of the inputs."""
    try:
        return passed(gradients.model, gradients.loss_fn, pair)
    except ValueError:
        raise
    except Exception as error:
        leaves = [x for x in tree_leaves(pair) if isinstance(x, Tensor)]
        given = ", ".join(f"{x.dtype} {tuple(x.shape)}" for x in leaves)
        raise type(error)(
            f"Expected inputs and targets that suit the model, got {given}: "
            f"{' '.join(str(error).split())} (Types: x.float(). Classes: labels from 0 to the "
            "number of outputs - 1. Models that refuse normal numbers: public records as example=.)"
        ) from error


def view(gradients: Gradients, pair: Any, states: int | list[Tensor]) -> tuple[Tensor, bool]:
    """Return columns of losses and gradient norms, and whether random numbers were drawn.

    The random generators start from `states`, or a seed. Only a recorded pass gives norms.
    """
    with forked(gradients.device, states), gradients.without_onednn():
        before = random_states(gradients.device)
        if gradients.how == "tape":
            part = gradients.add(pair, gradients.zeros())
            columns = torch.stack([part.losses.to(part.norms), part.norms], 1)
        else:
            columns = passed(gradients.model, gradients.loss_fn, pair).detach()[:, None]
        random = not all(map(torch.equal, before, random_states(gradients.device)))
    return columns, random


def refusal(
    gradients: Gradients, pair: Any, before: Tensor, states: Any, *, seed: int, start: bool = False
) -> str:
    """Return an error message if other records change the losses or norms in `before`, else "".

    The seed chooses the half of the records that is kept; the others become copies of one of them.
    Only at the start, where records are mostly synthetic, the copies are also multiplied, and
    smaller lots tried: rounding depends on the shape, and its error may be large on extreme
    records. The tolerance is larger for real records, which may be worse conditioned.
    """
    if gradients.how != "tape" and not start:
        return ""  # other methods compute the gradient of each record separately
    mixes = (  # this message shows no values of records
        "Expected the loss and the gradient of a record not to depend on others, but they are "
        "different {}: the model or the loss mixes records, remembers them, or draws random "
        "numbers that torch's seed does not decide."
    )
    rows, eps, random = len(before), gradients.eps(), False
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed)).tolist()
    kept = sorted(half := {*order[: rows // 2]})
    copies = [i if i in half else order[-1] for i in range(rows)]
    for factor in (1.0, 9.0, math.nan) if start else (1.0,):
        by = torch.tensor([1.0 if i in half else factor for i in range(rows)])
        change = lambda x, by=by: x * by.to(x).view(-1, *[1] * (x.dim() - 1))
        with suppress(*[Exception] * (factor != 1)):  # a model may refuse larger numbers or NaN
            after, random = view(gradients, taken(pair, rows, copies, change), states)
            if not _equal(before[kept], after[kept], max(1e-5 if start else 1e-4, 64 * eps)):
                return mixes.format(f"beside copies of one other{', larger' * (factor > 1)}")
    for lot in (kept, *([i] for i in order[:3])) if start and not random else ():
        try:
            after, _ = view(gradients, taken(pair, rows, lot), states)
        except Exception as error:
            raise ValueError(f"Expected a lot of {len(lot)} to do, got: {error}") from error
        columns = slice(2 if len(lot) > 1 else 1)  # a single record's norm may be rounding error
        if not _equal(before[lot, columns], after[:, columns], max(1e-4, min(0.1, 1.6e4 * eps))):
            return mixes.format("in a smaller batch" if len(lot) > 1 else "on its own")
    return ""


def _equal(first: Tensor, second: Tensor, room: float) -> bool:
    """Return whether losses and norms of two passes are equal up to rounding."""
    sizes = first.abs()
    finite = sizes.where(sizes.isfinite(), torch.nan)
    typical = 0.01 * finite.nanmedian(0).values.nan_to_num()
    near = (first - second).abs() <= room * (sizes + typical) + 1e-15
    return bool((near | (first == second) | first.isnan() & second.isnan()).all())


@contextmanager
def probing(*modules: nn.Module) -> Iterator[None]:
    """Perturb trainable parameters and copy all attributes within a context, then restore them.

    Without the perturbation, gradients vanish below a layer of zero weights. Modules and parameters
    stay the same objects, so that a loss that refers to them uses the perturbed values too.
    """
    every = list(dict.fromkeys(part for module in modules for part in module.modules()))
    parameters = list(dict.fromkeys(p for part in every for p in part.parameters(recurse=False)))
    attributes, data = [dict(vars(part)) for part in every], [p.data for p in parameters]
    same: dict[int, Any] = {id(x): x for x in (*every, *parameters)}
    try:
        for part in every:
            for name, value in list(vars(part).items()):
                with suppress(Exception):  # generators and locks cannot be copied
                    vars(part)[name] = copy.deepcopy(value, same)
        for place, p in enumerate(parameters):
            p.data = p.data.clone()
            if p.requires_grad:  # signs stay, and zeros become small random numbers
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
    """Return shape and hash of each parameter and buffer, except single integers (counters)."""
    every = [named for m in modules for named in (*m.named_parameters(), *m.named_buffers())]
    counts = lambda x: x.numel() == 1 and not x.is_floating_point()
    numbers = lambda x: x.detach().cpu().to_dense().flatten().view(torch.uint8).numpy().tobytes()
    return {name: (x.shape, hash(numbers(x))) for name, x in every if not counts(x)}


def check_training(model: nn.Module, loss_fn: Any, optimizer: Any, scheduler: Any = None) -> None:
    """Raise unless model, loss, optimizer and scheduler allow private training."""
    if isinstance(scheduler, ReduceLROnPlateau):
        raise validate.unsupported("ReduceLROnPlateau", "it reads losses, which are private.")
    if not callable(loss_fn):
        raise TypeError(f"Expected loss_fn to be a function, got {type(loss_fn).__name__}.")
    if not (trained := trainable(model)):
        raise ValueError("Expected a model with at least one trainable parameter, got 0.")
    # Recognise a DTensor by this attribute: importing its module takes half a second.
    if any(hasattr(parameter, "placements") for parameter in model.parameters()):
        raise validate.unsupported("a model in shards", "Give each process the whole model.")
    closure = inspect.signature(optimizer.step).parameters.get("closure")
    if closure and closure.default is closure.empty:
        why = "it evaluates the loss in a closure, several times a step."
        raise validate.unsupported(type(optimizer).__name__, why)
    optimized = {id(p) for group in optimizer.param_groups for p in group["params"]}
    losses = trainable(loss_fn).values() if isinstance(loss_fn, nn.Module) else ()
    if foreign := {*optimized, *map(id, losses)} - {id(p) for p in model.parameters()}:
        raise ValueError(
            f"Expected trainable parameters of the model only, got {len(foreign)} of the loss or "
            "in the optimizer that are not the model's: make them part of the model, which can "
            "return what they give."
        )
    if missing := [name for name, p in trained.items() if id(p) not in optimized]:
        raise ValueError(
            f"Expected every trainable parameter in the optimizer, got none for {missing}: "
            "add them, or freeze them with requires_grad_(False)."
        )


def check_plan(plan: Plan, *, bound: ClippingBound | None, alone: bool) -> None:
    """Raise unless a plan fits the clipping bound and the number of processes."""
    for phase in plan.phases:
        norm, planned = getattr(bound, "max_grad_norm", None), phase.max_grad_norm
        if norm not in (None, planned):
            got = f"plan.max_grad_norm = {planned!r}, got {norm!r}."
            raise ValueError(f"Expected bound.max_grad_norm = {got}")
        if not alone and phase.sampling in ("without_replacement", "shuffled"):
            what = f"sampling={phase.sampling!r} in several processes"
            raise validate.unsupported(what, "parts of a dataset cannot draw such lots separately.")
