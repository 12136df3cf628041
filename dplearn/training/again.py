"""Per-example gradients of any module, from its recorded inputs and output gradients.

The module is run again and differentiated one example at a time, by `vmap(grad)`, or in a loop
where that cannot be. What it calls does not run again: those calls give what they gave, and the
gradients of their inputs are on record. A module whose own code draws random numbers would draw
others the second time: it is refused.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_map_only, tree_unflatten

from dplearn.core import validate

Grads = list[dict[int, Tensor]]
_AGAIN = object()  # instead of the output of a call that runs again


def differentiated(
    call: Any, names: Mapping[str, Any], rows: Sequence[int], grads: Grads, batch: int
) -> dict[str, Tensor]:
    """Return gradients of the parameters of these names, shape (B, *parameter shape).

    `rows` says of each of the call's leaves how many rows belong to one example, 0 if all share it.
    `grads` holds the gradients of the leaves of the output by their position, then those of the
    inputs of each inner call; inner modules that use these parameters run again.
    """
    homes = {call.module.get_submodule(name.rpartition(".")[0]) for name in names}
    dtype = next(x.dtype for part in grads for x in part.values())
    widen = lambda x: x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() else x
    state = chain(call.module.named_parameters(remove_duplicate=False), call.module.named_buffers())
    leaves, structure = tree_flatten(call.tree())
    *_, within = tree_unflatten(rows, structure)
    # What all examples share has no gradient of one example: an inner call with it runs again.
    kept = [
        homes.isdisjoint(cut.module.modules())
        and cut.versions == versions(cut.output)
        and all(tree_leaves(counts))
        for cut, counts in zip(call.inner, within, strict=True)
    ]
    grads = [grads[0]] + [
        {i: g.unflatten(0, (batch, counts[0][i])) for i, g in part.items()} if keep else {}
        for part, counts, keep in zip(grads[1:], within, kept, strict=True)
    ]
    counted = zip(leaves, rows, strict=True)
    leaves = [widen(x).unflatten(0, (batch, n)) if n else widen(x) for x, n in counted]
    fixed = {name: widen(x.detach()) for name, x in state}
    split = [0 if n else None for n in rows]
    parameters = {name: fixed[name] for name in names}
    loss = partial(_loss, call, structure, kept, split, fixed)
    try:
        # Other kernels do not know vmap; where it has no rule it loops, and says so.
        with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop")
            return vmap(grad(loss), in_dims=(None, 0, *split))(parameters, grads, *leaves)
    except Exception as error:  # whatever code raises that decides by data, or that vmap cannot run
        if "randomness" in str(error):
            raise _random(call.module) from error
    at = lambda i: [x if d is None else x[i] for x, d in zip(leaves, split, strict=True)]
    one = lambda mine, i: loss(mine, tree_map(lambda g: g[i], grads), *at(i))
    return _one_by_one(call.module, one, parameters, batch)


def _loss(
    call: Any,
    structure: Any,  # of all arguments, and of what went in and out inside
    kept: Sequence[bool],  # which inner calls do not run again
    split: Sequence[int | None],  # 0 for leaves with rows of one example
    state: dict[str, Tensor],
    parameters: dict[str, Tensor],
    grads: Grads,
    *leaves: Any,
) -> Tensor:
    """Return outputs of a module's own code, and inputs of inner calls, times their gradients."""
    # Copies, since the module may write into its inputs.
    own = [x if d is None else x.clone() for x, d in zip(leaves, split, strict=True)]
    args, kwargs, within = tree_unflatten(own, structure)
    outputs = [pair[1] if keep else _AGAIN for pair, keep in zip(within, kept, strict=True)]
    with _giving(call.inner, outputs) as values:
        state = {**state, **parameters}
        output = functional_call(call.module, state, args, kwargs, tie_weights=False)
    parts = zip([tree_leaves(output), *values], grads, strict=True)
    return torch.stack(
        [(value[i] * g).sum() for value, part in parts for i, g in part.items()]
    ).sum()


def _one_by_one(
    module: nn.Module, loss: Callable[..., Tensor], parameters: dict[str, Tensor], batch: int
) -> dict[str, Tensor]:
    """Return the same gradients, of one example after the other."""
    cuda = {x.device for x in parameters.values() if x.device.type == "cuda"}
    states = lambda: [torch.get_rng_state(), *map(torch.cuda.get_rng_state, cuda)]
    before, rows = states(), []
    for i in range(batch):
        mine = {name: x.detach().requires_grad_() for name, x in parameters.items()}
        try:
            with torch.enable_grad():
                value = loss(mine, i) + sum(0 * x.sum() for x in mine.values())  # for unused ones
        except Exception as error:
            why = (
                "did the first run change an argument, as a cache does (use_cache=False)? Its own "
                f"code said: {error}"
            )
            raise validate.unsupported(
                f"{type(module).__name__}, which cannot run twice", why
            ) from error
        rows.append(torch.autograd.grad(value, list(mine.values())))
    if not all(map(torch.equal, before, states())):
        raise _random(module)
    return {name: torch.stack([row[k] for row in rows]) for k, name in enumerate(parameters)}


@contextmanager
def _giving(calls: Sequence[Any], outputs: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """Make calls give these outputs instead of running, but for `_AGAIN`; yield their arguments."""
    values, order, inside = [], iter(outputs), []

    def forward(run: Any, *args: Any, **kwargs: Any) -> Any:
        if inside:
            return run(*args, **kwargs)
        values.append(tree_leaves((args, kwargs)))
        if (output := next(order)) is not _AGAIN:
            return output
        inside.append(run)
        try:
            return run(*args, **kwargs)
        finally:
            inside.clear()

    with ExitStack() as undo:
        for module in {cut.module: None for cut in calls}:
            undo.callback(replaced(module, partial(forward, module.forward)))
        yield values


def _random(module: nn.Module) -> Exception:
    return validate.unsupported(
        f"randomness in {type(module).__name__}",
        "it runs again, for parameters without a rule or a table looked up once for all records, "
        "and would draw other numbers. Use nn.Dropout inside it, on what has one row per record.",
    )


def replaced(module: nn.Module, forward: Callable[..., Any]) -> Callable[[], None]:
    """Give a module another forward pass; returns what gives the old one back."""
    before = vars(module).get("forward")
    module.forward = forward
    if before:
        return partial(setattr, module, "forward", before)
    return partial(delattr, module, "forward")


def versions(tree: Any) -> tuple[int, ...]:
    """Return the version of each tensor: how often it was changed in place."""
    numbers: list[int] = []
    on_tensors(lambda leaf: numbers.append(leaf._version), tree)
    return tuple(numbers)


def on_tensors(function: Callable[[Any], Any], tree: Any, kinds: Any = Tensor) -> Any:
    """Return the tree with the function's value for every tensor; quick where it is plain."""
    if isinstance(tree, kinds):
        return function(tree)
    if tree is None:
        return None
    if type(tree) in (tuple, list):
        return type(tree)([on_tensors(function, branch, kinds) for branch in tree])
    if type(tree) is dict:
        return {key: on_tensors(function, branch, kinds) for key, branch in tree.items()}
    return tree_map_only(kinds, function, tree)
