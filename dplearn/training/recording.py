"""One forward pass with the input and the gradient edge of every layer on record.

Forward hooks note, for each module that owns trainable parameters, its detached input and the
*edge* of its output in the graph of autograd. Asked for the gradients of these edges, the engine
runs only what lies between them and the loss: gradients of parameters are never formed, no
second backward pass is needed, outputs are not kept alive, and an activation that overwrites an
output in place does not matter, because the edge names the value before it.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils._pytree import tree_leaves, tree_map_only

from dplearn.training import attention
from dplearn.training.mixing import refuse_mixing
from dplearn.training.rules import Rule, reads_inputs, rule_of


@dataclass(frozen=True)
class Call:
    """One use of one module: what went in, and where the gradients of what came out are."""

    name: str
    module: nn.Module
    rule: Rule | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    edges: dict[int, GradientEdge | Tensor]  # by position among the leaves of the output
    versions: tuple[int, ...]

    def leaves(self) -> list[Any]:
        """All arguments in one list, as `rows` counts them."""
        return tree_leaves((self.args, self.kwargs))

    def kind(self) -> tuple[Any, ...]:
        """Name of the module and dimensions of its arguments, the same for calls alike."""
        return self.name, *(x.dim() if isinstance(x, Tensor) else None for x in self.leaves())

    def check_unchanged(self) -> None:
        """Raise if an input was overwritten after the module had read it."""
        if self.versions and self.versions != _versions(self.args, self.kwargs):
            raise RuntimeError(
                f"Expected the input of {self.name!r} to stay as it was, but an in-place "
                "operation changed it later. Replace that operation."
            )


@dataclass
class Tape:
    """The calls of one forward pass; it notes nothing while it does not run."""

    calls: list[Call] = field(default_factory=list)
    runs: bool = True
    rows: dict[tuple[Any, ...], tuple[int, ...]] = field(default_factory=dict)  # see `arguments`


@contextmanager
def recording(model: nn.Module) -> Iterator[Tape]:
    """All calls of modules with trainable parameters, while the context lasts.

    Nothing stays on the model afterwards, also after an exception.
    """
    tape, undo = observed(model)
    try:
        yield tape
    finally:
        undo()


def state_of(model: nn.Module) -> tuple[Any, ...]:
    """Modules with their modes, and parameters that are trained: equal if all is as it was."""
    modes = tuple((id(module), module.training) for module in model.modules())
    return modes, tuple((id(p), p.requires_grad) for p in model.parameters())


def observed(model: nn.Module) -> tuple[Tape, Callable[[], None]]:
    """The record of all calls from now on, and what stops it."""
    for name, module in model.named_modules():
        refuse_mixing(name, module)
    tape, undo = Tape(), ExitStack()
    for name, module in model.named_modules():
        if any(p is not None and p.requires_grad for p in module._parameters.values()):
            undo.callback(_observed(tape, name, module))
    return tape, undo.close


def _observed(tape: Tape, name: str, module: nn.Module) -> Callable[[], Any]:
    """Start to record the calls of one module; returns what stops it."""
    note = partial(_note, tape, name, module)
    if type(module) is nn.MultiheadAttention and "forward" not in vars(module):
        module.forward = partial(attention.forward, module, note)
        return partial(delattr, module, "forward")
    rule = rule_of(module)

    def hook(module: nn.Module, args: tuple, kwargs: dict, output: Any) -> Any:
        note(rule, args, kwargs, output)
        # A tensor on record, unlike an edge, must not be overwritten; the compiler drops the copy.
        return on_tensors(Tensor.clone, output) if torch.compiler.is_compiling() else output

    return module.register_forward_hook(hook, with_kwargs=True).remove


def _note(
    tape: Tape, name: str, module: nn.Module, rule: Rule | None, args: Any, kwargs: Any, output: Any
) -> None:
    """Add a call to the record, unless no gradient flows through it."""
    compiling = torch.compiler.is_compiling()  # Dynamo knows tensors, not edges
    edges = {
        place: leaf if compiling else get_gradient_edge(leaf)
        for place, leaf in enumerate(_leaves(output))
        if isinstance(leaf, Tensor) and leaf.requires_grad
    }
    if edges and tape.runs:
        read = reads_inputs(module, rule)
        args, kwargs = on_tensors(Tensor.detach, (args, kwargs) if read else ((), {}))
        versions = () if compiling else _versions(args, kwargs)
        tape.calls.append(Call(name, module, rule, args, kwargs, edges, versions))


def _versions(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
    """Version of each tensor: how often it was changed in place."""
    leaves = (leaf for tree in (*args, *kwargs.values()) for leaf in _leaves(tree))
    return tuple(leaf._version for leaf in leaves if isinstance(leaf, Tensor))


def on_tensors(function: Callable[[Tensor], Any], tree: Any) -> Any:
    """The tree with the function's value for every tensor; quick where the tree is plain."""
    if isinstance(tree, Tensor):
        return function(tree)
    if type(tree) is tuple:
        return tuple(on_tensors(function, branch) for branch in tree)
    if type(tree) is dict:
        return {key: on_tensors(function, branch) for key, branch in tree.items()}
    return tree_map_only(Tensor, function, tree)


def _leaves(tree: Any) -> list[Any]:
    return [tree] if isinstance(tree, Tensor) else tree_leaves(tree)
