"""Look-ups that all records share, of positions say: each record gets a copy with its own gradient.

What is computed from such a look-up is followed until it meets the records, in an operation that
broadcasts it over them or in a call of `expand`. What comes out has one row per record: its value
is what it was, and its gradient goes back through the steps in between, row by row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from dplearn.ground import validate

_COPYING = {"expand", "expand_as", "repeat", "broadcast_to"}
# Operations whose arguments with fewer dimensions, or one row, count for all rows of the others.
_BROADCASTING = {
    *("add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul"),
    *("div", "truediv", "rtruediv", "itruediv", "where", "masked_fill", "maximum", "minimum"),
    *("matmul", "rmatmul", "scaled_dot_product_attention"),
}


@dataclass(frozen=True, eq=False)
class Source:
    """A look-up: its module's name, what notes a call of that, and its rule, index and values."""

    name: str
    tape: Any
    note: Callable[..., None]
    rule: Callable[..., Mapping[str, Any]]
    index: Tensor
    values: Tensor


class Shared(Tensor):
    """What is computed from look-ups that all records share, and from nothing of the records."""

    sources: tuple[Source, ...]

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None):
        """What the operation gives; of records if they take part."""
        with torch._C.DisableTorchFunctionSubclass():
            leaves, structure = tree_flatten((args, kwargs or {}))
            mine = [x for x in leaves if isinstance(x, cls)]
            sources = (*{source: None for x in mine for source in x.sources},)
            what, batch = getattr(function, "__name__", "").strip("_"), 0
            if what in _BROADCASTING:
                batch, depth = _records(what, sources, leaves)
                leaves = [_own(x, batch, depth) for x in leaves] if batch else leaves
                args, kwargs = tree_unflatten(leaves, structure)
            output = function(*args, **kwargs or {})
            if what in _COPYING:
                batch, _ = _records(what, sources, [output])
                if batch:
                    _note(mine[0], output)
            return output if batch else followed(output, sources)


def followed(value: Any, sources: tuple[Source, ...]) -> Any:
    """What is computed from look-ups, to be followed."""
    if type(value) in (tuple, list):
        return type(value)(followed(part, sources) for part in value)
    if isinstance(value, Tensor) and value.requires_grad:
        value = value.as_subclass(Shared)
        value.sources = sources
    return value


def _records(what: str, sources: Sequence[Source], leaves: Sequence[Any]) -> tuple[int, int]:
    """How many records some of these tensors follow, and their dimensions; 0 if that cannot be.

    While it is learned which ones do, their number decides, which is no other size.
    """
    tape, dims = sources[0].tape, [getattr(x, "ndim", 0) for x in leaves]
    if not any(isinstance(x, Tensor) and x.dim() and type(x) is not Shared for x in leaves):
        return 0, 0
    kind = (*[source.name for source in sources], what, *dims)
    rows = [len(x) if n else 0 for x, n in zip(leaves, dims, strict=True)]
    learned = tuple(int(n == tape.learns) for n in rows)
    if tape.learns and learned != tape.rows.setdefault(kind, learned):
        tape.rows[kind] = (-1,)
    if not tape.learns and -1 in (learned := tape.rows.get(kind, (-1,))):
        raise validate.unsupported(
            f"{what} of {kind[0]!r} (Embedding)",
            "what all records share meets here what follows the records in some passes only. "
            "Expand it to one row per record.",
        )
    follow = [n for n, mine in enumerate(learned) if mine]
    depth = max((dims[n] for n in follow), default=0)
    fits = lambda n: dims[n] < depth or (dims[n] == depth and rows[n] == 1)
    alike = all(fits(n) for n, x in enumerate(leaves) if isinstance(x, Shared))
    return (rows[follow[0]], depth) if follow and alike else (0, 0)


def _own(value: Any, batch: int, depth: int) -> Any:
    """What is shared with one row per record; anything else as it is."""
    if not isinstance(value, Shared):
        return value
    rows = value.as_subclass(Tensor).reshape(*[1] * (depth - value.dim()), *value.shape)
    rows = rows.expand(batch, *rows.shape[1:])
    _note(value, rows)
    return rows


def _note(value: Shared, rows: Tensor) -> None:
    """Put on record that these rows, one per record, are all this value."""
    plain = value.as_subclass(Tensor)
    for source in value.sources:
        source.note(partial(_back, source, plain), (source.index,), {}, rows)


def _back(source: Source, value: Tensor, module: nn.Module, inputs: Sequence[Tensor], grad: Tensor):
    """Gradients of the table from those of rows with this value."""
    each = grad.reshape(len(grad), *value.shape).to(value.dtype)
    options: dict[str, Any] = {"is_grads_batched": True, "retain_graph": True}
    (each,) = torch.autograd.grad(value, source.values, each, **options)
    index = inputs[0].expand(len(grad), *inputs[0].shape)
    return source.rule(module, (index,), each.to(grad.dtype))
