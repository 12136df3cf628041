"""What passes over two and three records tell of a model: which arguments follow the records.

An adjacency matrix of N nodes or a window of T positions may have as many rows as the lot has
records, by chance. A look at one lot cannot tell; a look at two and at three records can, and also
whether the gradients of the records add up to PyTorch's.
"""

from collections import defaultdict
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.training.devices import forked
from dplearn.training.layers import trainable
from dplearn.training.passes import Loss, device_of, passed, per_example, zeros
from dplearn.training.recording import Inventory, Rows, Tape, state_of

# Of each model its modes and trainable parameters, and what was learned of it then.
_LEARNED: WeakKeyDictionary[nn.Module, tuple[Any, Rows, frozenset[str]]] = WeakKeyDictionary()


def recalled(
    model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any, inventory: Inventory
) -> tuple[Rows, Inventory]:
    """Rows per record of each argument, and what to record; learned unless that was done."""
    state, rows, shared = _LEARNED.get(model, (None, {}, frozenset()))
    if state != inventory.state:
        rows, shared = learn(model, loss_fn, inputs, targets)
    return rows, inventory if shared == inventory.shared else Inventory.of(model, shared)


def learn(
    model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any
) -> tuple[Rows, frozenset[str]]:
    """Rows per record of each argument, from passes over two and three of these records.

    Named are tables that are looked up once for all records: what calls them runs again.

    ValueError is raised if the gradients of the three do not add up to the ordinary gradient.
    """
    # The first tensor tells how many there are; what has another number of rows is not cut.
    batch = next((len(x) for x in tree_leaves((inputs, targets)) if isinstance(x, Tensor)), 0)
    if batch == 0:
        return {}, frozenset()

    def few(count: int) -> tuple[Tape, Tensor]:
        index = torch.arange(count) % batch
        cut = lambda x: x[index.to(x.device)] if x.shape[:1] == (batch,) else x
        inputs_, targets_ = tree_map_only(Tensor, cut, (inputs, targets))
        with forked(device_of(model), 0):
            return passed(model, loss_fn, inputs_, targets_, Inventory.of(model, shared))

    state, known, shared = _LEARNED.get(model, (None, {}, frozenset()))
    if state != state_of(model):
        known, shared = {}, frozenset()
    (two, _), (three, losses) = few(2), few(3)
    rows = _rows(two, three)
    looked_up = [call for call in three.calls if isinstance(call.module, nn.Embedding)]
    if tables := {call.name for call in looked_up if rows[call.kind()] == (0,)}:
        shared |= tables
        (two, _), (three, losses) = few(2), few(3)
        rows = _rows(two, three)
    three.rows = rows = known | rows
    if _add_up(model, three, losses):
        _LEARNED[model] = state_of(model), rows, shared
    return rows, shared


def _rows(two: Tape, three: Tape) -> Rows:
    """Rows per record of the arguments of all calls; -1 where the two passes do not tell."""
    sides, rows = defaultdict(lambda: ([], [])), {}
    for place, tape in enumerate((two, three)):
        for call in tape.calls:
            leaves = tree_leaves(call.tree())
            first = [len(x) if isinstance(x, Tensor) and x.dim() else 0 for x in leaves]
            sides[call.kind()][place].append(first)
    per_record = lambda two, three: 0 if two == three else two // 2 if 3 * two == 2 * three else -1
    for kind, passes in sides.items():
        calls = zip(*passes, strict=False)  # data may choose how many
        uses = {tuple(map(per_record, *call)) for call in calls}
        rows[kind] = uses.pop() if len(uses) == 1 else (-1,) * len(kind[1:])
    return rows


def _add_up(model: nn.Module, tape: Tape, losses: Tensor) -> bool:
    """Whether all is finite; ValueError unless gradients add up to that of each parameter."""
    if not losses.requires_grad:
        return True
    named = trainable(model)
    parameters = list(named.values())
    each = per_example(tape, losses, retain_graph=True)
    ordinary = torch.autograd.grad(losses.sum(), parameters, retain_graph=True, allow_unused=True)
    size = sum((use.squared_norm() for use in each.values()), torch.zeros(())).sqrt().sum()
    if not size.isfinite():
        return False
    eps = torch.finfo(losses.dtype).eps
    relative = max(1e-6, min(1e-2, 1e5 * eps))
    for (name, parameter), expected in zip(named.items(), ordinary, strict=True):
        expected = torch.zeros_like(parameter) if expected is None else expected
        total, scale = zeros(parameter), expected.norm()
        if name in each:
            each[name].add_to(total, torch.ones_like(losses.detach()))
            scale = each[name].squared_norm().sqrt().sum()
        # A gradient that is zero but for rounding, of a bias before a norm, is measured by others.
        apart = (total - expected).norm()
        if not apart <= relative * scale + min(1e-2, 1e3 * eps) * size:
            raise ValueError(
                f"Expected the gradient of {name!r} to be the sum over records, which it is not: "
                "it is used outside of its module's own forward pass, or by a derivative inside "
                "the model. Use it in one module (tied weights: share the parameter between "
                "two), or register a rule; for a penalty use the optimizer's weight_decay."
            )
    return True
