"""What passes over two and three records tell of a model: which arguments follow the records.

An adjacency matrix of N nodes may have as many rows as the lot has records, by chance: one lot
cannot tell. Three records also show whether their gradients add up to PyTorch's.
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
from dplearn.training.recording import Inventory, Rows, Tape, caller, state_of

# Of each model its state, and what was learned of it then: parts of what calls them, and rows.
_LEARNED: WeakKeyDictionary[nn.Module, tuple[Any, frozenset[str], Rows]] = WeakKeyDictionary()


def recalled(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Inventory:
    """What to record of a model in its state; learned unless that was done."""
    state, shared, rows = _LEARNED.get(model, (None, frozenset(), {}))
    inventory = Inventory.of(model, shared, rows)
    known = inventory.state == state
    return inventory if known else learn(model, loss_fn, inputs, targets)


def learn(model: nn.Module, loss_fn: Loss, inputs: Any, targets: Any) -> Inventory:
    """What to record of a model, from passes over two and three of these records.

    A layer called once for all records or with several rows of each, or whose parameters others
    use, is a part of what calls it, which runs again for each record. ValueError is raised if the
    gradients of the three do not add up even so.
    """
    state, shared, rows = _LEARNED.get(model, (None, frozenset(), {}))
    if state != state_of(model):
        shared, rows = frozenset(), {}
    # The first tensor tells how many there are; what has another number of rows is not cut.
    batch = next((len(x) for x in tree_leaves((inputs, targets)) if isinstance(x, Tensor)), 0)

    def few(count: int) -> tuple[Tape, Any, Tensor]:
        index = torch.arange(count) % batch
        cut = lambda x: x[index.to(x.device)] if x.shape[:1] == (batch,) else x
        inputs_, targets_ = tree_map_only(Tensor, cut, (inputs, targets))
        with forked(device_of(model), 0):
            return passed(model, loss_fn, inputs_, targets_, inventory)

    while True:
        inventory = Inventory.of(model, shared, rows)
        if batch == 0:
            return inventory
        (two, *_), (three, _, losses) = few(2), few(3)
        rows |= _rows(two, three)
        parts = set()
        for call in three.calls:
            if (kind := call.kind()) in rows:  # data may choose what is called
                each = [n for n, dims in zip(rows[kind], kind[1:], strict=True) if dims]
                # A rule needs one row per record in every argument, a module in one of them.
                odd = any(n != 1 for n in each) if call.rule else -1 in each or 1 not in each
                parts |= {call.name} if odd and call.name else set()
        wrong = [] if parts else _unequal(model, three, losses)
        if wrong is None:  # not all is finite
            return inventory
        parts |= {caller(name, shared) for name in wrong}
        if not parts:
            _LEARNED[model] = inventory.state, shared, rows
            return inventory
        if "" in parts:
            raise ValueError(
                f"Expected the gradient of {wrong[0]!r} to be the sum over records, which it is "
                "not: it is used outside of the model, or by a derivative inside it. For a penalty "
                "use the optimizer's weight_decay."
            )
        shared |= parts


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
        if uses := {tuple(map(per_record, *call)) for call in calls}:
            rows[kind] = uses.pop() if len(uses) == 1 else (-1,) * len(kind[1:])
    return rows


def _unequal(model: nn.Module, tape: Tape, losses: Tensor) -> list[str] | None:
    """Parameters whose gradients do not add up to PyTorch's; None if some are not finite."""
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
            wrong.append(name)
    return wrong
