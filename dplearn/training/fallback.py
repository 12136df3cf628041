"""Per-example gradients of any module, from its recorded inputs and output gradients.

The module alone is run again and differentiated one example at a time, by `vmap(grad)`. This is
slower than a rule, and exact for everything that treats examples separately. A module that draws
random numbers would draw others the second time: it is refused.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from dplearn.ground import validate


def differentiated(
    module: nn.Module,
    names: Collection[str],
    inputs: tuple[tuple[Any, ...], Mapping[str, Any]],
    rows: Sequence[int],
    output: Mapping[int, Tensor],
    dtype: torch.dtype,
) -> dict[str, Tensor]:
    """Gradients of the parameters of these names, shape (B, *parameter shape), computed in `dtype`.

    `inputs` are positional and keyword arguments, `rows` says of each of their leaves how many rows
    belong to one example, 0 if all share it; `output` holds the gradients of the leaves of the
    module's output by their position.
    """
    state = chain(module.named_parameters(remove_duplicate=False), module.named_buffers())
    fixed = {name: x.detach().to(dtype) for name, x in state if x.is_floating_point()}
    parameters = {name: fixed[name] for name in names}
    batch = len(next(iter(output.values())))
    leaves, structure = tree_flatten(inputs)
    split = [0 if count else None for count in rows]
    leaves = [x.unflatten(0, (batch, n)) if n else x for x, n in zip(leaves, rows, strict=True)]

    def loss(parameters: Mapping[str, Tensor], output: Mapping[int, Tensor], *leaves: Any):
        args, kwargs = tree_unflatten(leaves, structure)
        outputs = tree_leaves(
            functional_call(module, {**fixed, **parameters}, args, kwargs, tie_weights=False)
        )
        return sum((outputs[i] * g[None]).sum() for i, g in output.items())

    if isinstance(module, nn.RNNBase):  # vmap does not know these
        return _one_by_one(module, loss, parameters, dict(output), leaves, split)
    try:
        with sdpa_kernel(SDPBackend.MATH):  # the others do not know vmap
            return vmap(grad(loss), in_dims=(None, 0, *split))(parameters, dict(output), *leaves)
    except RuntimeError as error:
        if "randomness" not in str(error):
            raise
        raise validate.unsupported(
            f"randomness in {type(module).__name__}",
            "it owns parameters without a rule and would draw other numbers when run again. Move "
            "its parameters into a small module of their own, or register a rule.",
        ) from error


def _one_by_one(module, loss, parameters, output, leaves, split) -> dict[str, Tensor]:
    """Gradients as of `differentiated`, in a loop."""
    if module.training and module.dropout:
        raise validate.unsupported(f"dropout inside {type(module).__name__}", "use nn.Dropout.")
    rows = []
    for i in range(len(next(iter(output.values())))):
        at = [x if d is None else x[i] for x, d in zip(leaves, split, strict=True)]
        rows.append(grad(loss)(parameters, {k: g[i] for k, g in output.items()}, *at))
    return {name: torch.stack([row[name] for row in rows]) for name in parameters}
