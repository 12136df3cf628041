"""Clipped sums of per-example gradients, which DP-SGD releases with noise.

Tested properties:

* A record changes the sum of each parameter group by at most its norm bound, whatever the record
  contains: a gradient that is infinite or NaN counts as zero, for this record only.
* Sums of micro-batches add up to the sum of the batch.
* Norms and sums are computed in float32 at least, whatever the type of the forward pass.
* The model and the ``.grad`` of its parameters do not change.

Three methods are tried in this order on a few records, and the first with correct gradients is
used: one recorded pass, for usual layers (`tape`); `torch.func.vmap`; autograd for one record at a
time. All presume a model that treats records separately, which `check_model` tests.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_map, tree_map_only

from dplearn.mechanisms.clipping import ClippingBound
from dplearn.training import layers
from dplearn.training.devices import exactly, forked, moved
from dplearn.training.tape import Facts, Loss, Tape, passed, rows_of, wide

# Number of records for choosing a method, which seldom divides sizes of constants; those compared.
_LOOK, _COMPARED = 11, (0, 5, 10)
PerRecord = tuple[Tensor, Iterable[Tensor]]  # losses, and the gradients of each parameter
SLOW = "Each record takes a pass of its own, slowly: neither layers' rules nor vmap fit the model."


class ClippedSum(NamedTuple):
    """Sums of the clipped gradients of one micro-batch, without noise: every field is private.

    Parameters
    ----------
    sums : dict of str to Tensor, sum of each parameter's clipped gradients, float32 or float64
    losses, norms : Tensor, shape (B,), loss of each record, norm of its gradient before clipping
    tally : Tensor, shape (2, 3)
        Row 0: sum of finite losses, sum of finite norms, number of gradients scaled down. Row 1:
        numbers of finite losses, of finite norms and of records.
    """

    sums: Mapping[str, Tensor]
    losses: Tensor
    norms: Tensor
    tally: Tensor


@torch.inference_mode(False)  # works inside torch.no_grad() too
def clipped_sum(
    model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any, *, bound: ClippingBound
) -> ClippedSum:
    """Return the sum of the clipped gradients of all records.

    Parameters
    ----------
    model : nn.Module, left unchanged; only trainable parameters get gradients
    loss_fn : callable, ``loss_fn(model(inputs), targets)`` gives one loss per record, shape (B,)
    inputs, targets : Tensor, or tuple or dict of tensors
        One row per record; a tuple or a dict becomes several arguments of the model.
    bound : ClippingBound, clipping of each record's gradient

    Returns
    -------
    ClippedSum
        Sums by parameter name, and the loss and gradient norm of each record; all are private.

    Raises
    ------
    ValueError
        If there is not one loss per record, or losses do not depend on trainable parameters.
    NotImplementedError
        If a module is known to mix records, is compiled or has complex parameters.

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
    gradients = Gradients(model, loss_fn, bound)
    with gradients.without_onednn():
        return gradients.add((inputs, targets), gradients.zeros())


class Gradients:
    """Clipped per-example gradients of a model, by a method chosen on the first records."""

    def __init__(self, model: nn.Module, loss_fn: Loss, bound: ClippingBound) -> None:
        for name, module in model.named_modules():
            layers.refuse_by_name(name, module)
        self.model, self.loss_fn, self.parameters = model, loss_fn, layers.trainable(model)
        self.how = ""  # method: "tape", "vmap", "alone", or "" before one is chosen
        self.facts: Facts = {}
        self.types = {p.dtype for p in model.parameters()}
        first = next(model.parameters(), torch.empty(0))
        every = [*self.parameters.values()] or [first]
        kinds = [torch.promote_types(p.dtype, torch.float32) for p in every]
        self.device, self.dtype = first.device, reduce(torch.promote_types, kinds)
        # Norm bounds are divided by `room`, as rounding may make computed norms too small.
        self.room = 1 + layers.ROUNDING * max(torch.finfo(kind).eps for kind in kinds)
        self.clip_to(bound)

    def clip_to(self, bound: ClippingBound) -> None:
        """Set `bound`, the parameter groups, and `largest`, the norm bound of each group."""
        self.bound = bound
        self.groups = bound.groups({name: p.numel() for name, p in self.parameters.items()})
        largest = torch.tensor(self.groups.norms, dtype=self.dtype)[:, None] / self.room
        self.largest = moved(largest, self.device)

    def zeros(self) -> dict[str, Tensor]:
        """Return a zero tensor for the sum of each parameter's gradients."""
        return {name: self.largest.new_zeros(p.shape) for name, p in self.parameters.items()}

    def add(self, pair: Any, sums: Mapping[str, Tensor], weight: float = 1.0) -> ClippedSum:
        """Add the clipped gradients of a micro-batch, times `weight`, to the tensors `sums`."""
        if not (rows := rows_of(pair)):
            none = self.largest.new_zeros(2, 3)
            return ClippedSum(sums=sums, losses=none[0, :0], norms=none[0, :0], tally=none)
        if not self.how:
            self.learn(pair)
        if self.how == "tape":
            try:
                tape = Tape(self.parameters, self.facts, rows)
                losses = passed(self.model, self.loss_fn, pair, tape)
                with torch.no_grad(), exactly(losses.device):
                    return self._clipped(losses.detach(), tape.gradients(losses), sums, weight)
            except layers.Unmet:  # this pass makes calls that `learn` has not recorded
                warnings.warn(SLOW, stacklevel=2)
        parts, method = [], self._by_vmap if self.how == "vmap" else self._alone
        # At most 2^24 entries of per-example gradients are in memory at once.
        few = max(1, 2**24 // (1 + sum(p.numel() for p in self.parameters.values())))
        for at in torch.arange(rows).split(few):
            losses, each = method(taken(pair, rows, at.tolist()))
            each = self._named(each)  # `_clipped` empties it, to free the gradients
            with torch.no_grad(), exactly(losses.device):
                parts.append(self._clipped(losses, each, sums, weight))
        losses, norms = (torch.cat([getattr(p, x) for p in parts]) for x in ("losses", "norms"))
        tally = torch.stack([part.tally for part in parts]).sum(0)
        return ClippedSum(sums=sums, losses=losses, norms=norms, tally=tally)

    def _clipped(
        self, losses: Tensor, each: dict[str, Any], sums: Mapping[str, Tensor], weight: float
    ) -> ClippedSum:
        """Add the clipped gradients, times `weight`, to `sums`, and remove them from `each`."""
        parts: list[list[Tensor]] = [[] for _ in self.groups.norms]
        for name, gradient in each.items():
            parts[self.groups.of[name]].append(gradient.norm())
        joined = lambda parts: layers.norms_of(torch.stack(parts, -1))
        groups = [joined(part or [self.largest.new_zeros(len(losses))]) for part in parts]
        norms = groups[0] if len(groups) == 1 else joined(groups)
        factors = self.bound.factors(torch.stack(groups), self.largest.to(norms))
        rows = torch.stack([losses.to(norms), norms, factors.amin(0) < 1])
        tally = torch.stack([rows, torch.ones_like(rows)]).sum(2)
        # Reading the tally from an accelerator would wait: always clear non-finite rows there.
        clean = rows.device.type == "cpu" and math.isfinite(tally.sum())
        if not clean:
            finite = norms < torch.inf
            factors = torch.where(finite, factors, 0)
            rows[2] = factors.amin(0) < 1
            tally = tally_of(rows)
        weighted = (factors * weight).to(self.dtype).unbind()
        cleared = lambda x: torch.where(finite.view(-1, *[1] * (x.dim() - 1)), x, 0)
        for name in list(each):
            gradient = each.pop(name)  # a factor of 0 clears no infinite entry: 0 * inf is NaN
            gradient = gradient if clean else tree_map_only(Tensor, cleared, gradient)
            gradient.add_to(sums[name], weighted[self.groups.of[name]])
        return ClippedSum(sums=sums, losses=losses, norms=norms, tally=tally)

    def learn(self, pair: Any) -> None:
        """Choose the first method whose gradients of a few records equal those of autograd."""
        rows = rows_of(pair)
        pair = taken(pair, rows, [i % rows for i in range(_LOOK)])
        for how in ("tape", "vmap"):
            try:
                if self._is_right(pair, how):
                    self.how = how
                    return
            except torch.OutOfMemoryError:
                raise
            except (RuntimeError, TypeError, LookupError, ValueError):
                continue
        self.how = "alone"
        self._alone(taken(pair, _LOOK, _COMPARED))  # raises the model's own errors

    def _is_right(self, pair: Any, how: str) -> bool:
        """Return whether the method `how` gives autograd's gradients for three of 11 records."""
        with forked(self.device, 0):
            if how == "vmap":  # all records draw the same random numbers
                few, at = taken(pair, _LOOK, _COMPARED), slice(None)
                each, right = self._named(self._by_vmap(few, "same")[1]), self._alone(few, 0)[1]
            else:
                tape, at = Tape(self.parameters, self.facts, _LOOK, learns=True), [*_COMPARED]
                losses = passed(self.model, self.loss_fn, pair, tape)
                with torch.no_grad(), exactly(losses.device):
                    each = tape.gradients(losses)
                right = self._one_by_one((losses[i] for i in at), retain=True)[1]
        right = self._named(right)
        norms, eps = {name: form.norm() for name, form in right.items()}, self.eps()
        sizes = torch.stack([*norms.values()]).norm(dim=0)
        finite = sizes.isfinite()
        for name, form in right.items():
            value = each[name].dense()[at] if name in each else torch.zeros(())
            apart = layers.norms_of(form.dense() - value.to(form.right))
            # Allow for the whole gradient's norm: a bias before a norm layer has gradient 0.
            error = max(1e-6, min(1e-2, 1e3 * eps)) * norms[name] + min(1e-2, 1e2 * eps) * sizes
            if not (apart <= error)[finite].all():
                return False
        return bool(finite.any())  # without finite gradients, nothing was compared

    def without_onednn(self) -> AbstractContextManager:
        """Return a context without oneDNN's bfloat16, which writes NaN into other rows with AMX."""
        ok = self.device.type != "cpu" or self.eps() <= torch.finfo(torch.float16).eps
        return nullcontext() if ok else torch.backends.mkldnn.flags(enabled=False, allow_tf32=None)

    def eps(self) -> float:
        """Return the machine epsilon of the coarsest type that the model computes in."""
        types, kind = self.types.copy(), self.device.type
        if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
            types.add(torch.get_autocast_dtype(kind))
        return max(torch.finfo(x).eps for x in types or {torch.float32} if x.is_floating_point)

    def _named(self, gradients: Iterable[Tensor]) -> dict[str, layers.Outer]:
        named = zip(self.parameters, gradients, strict=True)
        return {name: layers.factored(wide(value)) for name, value in named}

    def _alone(self, pair: Any, seed: int | None = None) -> PerRecord:
        """Return losses and gradients from one pass per record, each pass with `seed` if given."""
        rows = rows_of(pair)

        def loss(i: int) -> Tensor:
            with nullcontext() if seed is None else forked(self.device, seed):
                return passed(self.model, self.loss_fn, taken(pair, rows, [i])).sum()

        return self._one_by_one(map(loss, range(rows)))

    def _one_by_one(self, losses: Iterable[Tensor], *, retain: bool = False) -> PerRecord:
        """Return the values of the losses, and the gradient of each by autograd."""
        values, grads = [], []
        options: Any = {"retain_graph": retain, "materialize_grads": True}
        for loss in losses:
            if not loss.requires_grad:
                raise ValueError(
                    "Expected losses that depend on trainable parameters, but autograd sees none: "
                    "is there a torch.no_grad() or a .detach() around them?"
                )
            values.append(loss.detach())
            grads.append(torch.autograd.grad(loss, [*self.parameters.values()], **options))
        return torch.stack(values), map(torch.stack, zip(*grads, strict=True))

    def _by_vmap(self, pair: Any, draws: str = "different") -> PerRecord:
        """Return losses and gradients from one vectorised pass over all records."""
        rows, whole = rows_of(pair), _Whole(self.model, self.loss_fn)
        own = lambda x: isinstance(x, Tensor) and x.shape[:1] == (rows,)
        one = grad_and_value(lambda values, pair: functional_call(whole, values, (pair,)))
        apart = tree_map(lambda x: x[:, None] if own(x) else x, pair)
        sides = None, tree_map(lambda x: 0 if own(x) else None, pair)
        values = {f"model.{name}": p.detach() for name, p in self.parameters.items()}
        with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():  # other backends lack vmap
            warnings.filterwarnings("ignore", "There is a performance drop")
            grads, losses = vmap(one, sides, randomness=draws)(values, apart)
        return losses, grads.values()


class _Whole(nn.Module):
    """Module that joins a model and its loss, which may use the model's parameters too."""

    def __init__(self, model: nn.Module, loss_fn: Loss) -> None:
        super().__init__()
        self.model, self.loss_fn = model, loss_fn

    def forward(self, pair: Any) -> Tensor:
        return passed(self.model, self.loss_fn, pair).sum()


def tally_of(rows: Tensor) -> Tensor:
    """Return the sum and the number of finite values in each row, shape (2, rows)."""
    return torch.stack([rows.nan_to_num(0, 0, 0), rows.isfinite()]).sum(2)


def taken(pair: Any, rows: int, index: Sequence[int], change: Any = None) -> Any:
    """Return the records at these indices, with `change` applied to floating-point tensors."""
    at = torch.tensor([*index], dtype=torch.long)

    def take(x: Tensor) -> Tensor:
        if x.shape[:1] != (rows,):
            return x
        x = x[at.to(x.device)]
        return change(x) if change and x.is_floating_point() else x

    return tree_map_only(Tensor, take, pair)
