"""One forward pass with the input and the gradient edge of every layer on record.

A module that owns trainable parameters notes its detached input and the *edge* of its output in the
graph of autograd. Gradients of these edges need only what lies between them and the loss: none of
parameters is formed, no output is kept alive, and an activation may overwrite an output in place,
because the edge names the value before it.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

from dplearn.core import validate
from dplearn.training.layers import (
    RULES,
    SUBSTITUTES,
    Rule,
    reads_inputs,
    refuse_mixing,
    registered,
    trained,
)

# By kind of call, how many rows of each argument belong to one record: 0 if all records share it.
Rows = dict[tuple[Any, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Inner:
    """What a module without a rule called in its own code: there it need not run again.

    Gradients of its inputs, by position among its leaves, are those through this call alone.
    """

    module: nn.Module
    edges: dict[int, GradientEdge]
    inputs: dict[int, Tensor]
    output: Any
    versions: tuple[int, ...] | None  # of the output; None if an input was overwritten


@dataclass(frozen=True)
class Call:
    """One use of one module: what went in, and where the gradients of what came out are."""

    name: str
    module: nn.Module
    rule: Rule | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    edges: dict[int, GradientEdge]  # by position among the leaves of the output
    inner: tuple[Inner, ...] = ()

    def tree(self) -> Any:
        """All arguments, as `rows` counts their leaves, and what went in and out inside."""
        return self.args, self.kwargs, [(cut.inputs, cut.output) for cut in self.inner]

    def kind(self) -> tuple[Any, ...]:
        """Name of the module and dimensions of its arguments, the same for calls alike."""
        leaves = tree_leaves(self.tree())
        return self.name, *(x.dim() if isinstance(x, Tensor) else None for x in leaves)


def rows_of(call: Call, rows: Rows, batch: int) -> list[int]:
    """Rows per record of the arguments of this call; NotImplementedError if nobody knows."""
    leaves = tree_leaves(call.tree())
    learned = rows.get(call.kind(), (-1,) * len(leaves))
    for count, leaf in zip(learned, leaves, strict=True):
        if count < 0 and isinstance(leaf, Tensor) and leaf.dim() and len(leaf) % batch == 0:
            raise validate.unsupported(
                f"an argument of {call.name!r} ({type(call.module).__name__}) of shape "
                f"{tuple(leaf.shape)}",
                "no pass over two and three records shows whether it follows them. Call the layer "
                "with the same kinds of arguments whatever the number of records.",
            )
    return [max(count, 0) for count in learned]


@dataclass
class Tape:
    """The calls of one forward pass."""

    inventory: "Inventory"
    calls: list[Call] = field(default_factory=list)
    inner: list[Inner] | None = None  # calls by the code of a module without a rule, while it runs

    def note(
        self, name: str, module: Any, rule: Any, args: Any, kwargs: Any, output: Any, *inner: Inner
    ) -> None:
        """Add a call to the record, unless no gradient flows through it."""
        leaves = enumerate(tree_leaves(output))
        edges = {
            i: get_gradient_edge(x) for i, x in leaves if isinstance(x, Tensor) and x.requires_grad
        }
        if edges:
            read = reads_inputs(module, rule)
            args, kwargs = on_tensors(Tensor.detach, (args, kwargs) if read else ((), {}))
            self.calls.append(Call(name, module, rule, args, kwargs, edges, inner))

    def ruled(self, name: str, module: Any, rule: Rule, forward: Any, /, *args: Any, **kwargs: Any):
        """Forward pass of a module with a rule, which is noted."""
        output = forward(*args, **kwargs)
        if isinstance(output, Tensor) and output._is_view():
            # An alias that is none: an activation in place would cut the edge of a view.
            output = torch.ops.aten._unsafe_view(output, output.shape)
        self.note(name, module, rule, args, kwargs, output)
        return output

    def run(self, name: str | None, module: Any, forward: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Forward pass of a module without a rule; without a name, of one inside such a module."""
        outer, inputs, before = self.inner, {}, ()
        if name is None and outer is None:
            return forward(*args, **kwargs)
        if outer is not None:
            args, kwargs, inputs = _apart((args, kwargs))
            before = versions((args, kwargs))
        self.inner = None if name is None else []
        try:
            output = forward(*args, **kwargs)
            if name is not None:
                tensors = [leaf for leaf in tree_leaves(output) if isinstance(leaf, Tensor)]
                if len(tensors) > 1 or any(x._is_view() for x in tensors):
                    output = on_tensors(Tensor.clone, output)  # none may share memory
                self.note(name, module, None, args, kwargs, output, *(self.inner or ()))
        finally:
            self.inner = outer
        if outer is not None:
            edges = {place: get_gradient_edge(x) for place, x in inputs.items()}
            inputs, given = on_tensors(Tensor.detach, (inputs, output))
            kept = before == versions((args, kwargs))
            outer.append(Inner(module, edges, inputs, given, versions(given) if kept else None))
        return output


@dataclass(frozen=True)
class Inventory:
    """What to record of a model, as long as it is in this state."""

    state: tuple[Any, ...]
    names: dict[Any, str]  # of all parameters
    parts: list[tuple[str, nn.Module, Any, Rule | None]]  # each with its substitute and its rule
    within: list[nn.Module]  # modules called by one without either
    owners: dict[nn.Module, dict[str, Any]]  # trained parameters that a module's own code uses
    shared: frozenset[str]  # modules that are parts of what calls them: see `learned`
    rows: Rows  # see `learned`

    @classmethod
    def of(cls, model: nn.Module, shared: Any = frozenset(), rows: Any = None) -> "Inventory":
        """The inventory of a model; refuses modules that mix records."""
        modules = dict(model.named_modules())
        names = {parameter: name for name, parameter in model.named_parameters()}
        parts, within, owners = [], {}, {}
        for name, module in modules.items():
            refuse_mixing(name, module)
            for last, parameter in module._parameters.items():
                if trained(parameter):
                    path = f"{name}.{last}"
                    top = caller(path, shared)
                    path = path.removeprefix(top).removeprefix(".")
                    owners.setdefault(modules[top], {})[path] = parameter
        for name, module in modules.items():
            trains = any(map(trained, module.parameters()))
            substitute = registered(SUBSTITUTES, module) if trains else None
            rule = registered(RULES, module)
            if name not in shared and (substitute or module in owners):
                parts.append((name, module, substitute, rule))
                if not substitute and not rule:
                    within |= dict.fromkeys([*module.modules()][1:])
        noted = {module for _, module, *kinds in parts if not any(kinds)}
        within = [module for module in within if module not in noted]
        rows = {} if rows is None else rows
        return cls(state_of(model), names, parts, within, owners, shared, rows)


@contextmanager
def recording(model: nn.Module, inventory: Inventory | None = None) -> Iterator[Tape]:
    """Record all calls of modules with trainable parameters; nothing stays on the model."""
    inventory = inventory or Inventory.of(model)
    tape = Tape(inventory)
    with ExitStack() as undo:
        for name, module, substitute, rule in inventory.parts:
            if substitute:
                forward = partial(substitute, module, partial(tape.note, name, module))
            elif rule:
                forward = partial(tape.ruled, name, module, rule, module.forward)
            else:
                forward = partial(tape.run, name, module, module.forward)
            undo.callback(replaced(module, forward))
        for module in inventory.within:
            undo.callback(replaced(module, partial(tape.run, None, module, module.forward)))
        yield tape


def state_of(*roots: Any) -> tuple[Any, ...]:
    """Modules with their modes, and parameters that are trained: equal if all is as it was.

    A replaced forward pass is another state, and so is a flag, by which a module may mix records.
    """
    modules = [m for root in roots if isinstance(root, nn.Module) for m in root.modules()]
    parameters = [p for m in modules for p in m._parameters.values() if p is not None]
    flags = lambda own: [x for x in own.values() if type(x) is bool]
    mode = lambda m, own: (id(m), "forward" in own, own.get("max_norm"), *flags(own))
    return *[mode(m, vars(m)) for m in modules], *[(id(p), p.requires_grad) for p in parameters]


def caller(parameter: str, shared: Collection[str]) -> str:
    """The module whose own code uses a parameter: the first above it that is not one of these."""
    name = parameter.rpartition(".")[0]
    while name in shared:
        name = name.rpartition(".")[0]
    return name


def replaced(module: nn.Module, forward: Callable[..., Any]) -> Callable[[], None]:
    """Give a module another forward pass; returns what gives the old one back."""
    before = vars(module).get("forward")
    module.forward = forward
    if before:
        return partial(setattr, module, "forward", before)
    return partial(delattr, module, "forward")


def _apart(arguments: tuple[tuple, dict]) -> tuple[tuple, dict, dict[int, Tensor]]:
    """The arguments with tensors whose gradients come from one call only, and these by place."""
    places: dict[int, int] = {}
    leaves, structure = tree_flatten(arguments)
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            first = places.setdefault(id(leaf), place)
            leaves[place] = leaf.view_as(leaf) if first == place else leaves[first]
    return (*tree_unflatten(leaves, structure), {i: leaves[i] for i in places.values()})


def versions(tree: Any) -> tuple[int, ...]:
    """Version of each tensor: how often it was changed in place."""
    numbers: list[int] = []
    on_tensors(lambda leaf: numbers.append(leaf._version), tree)
    return tuple(numbers)


def on_tensors(function: Callable[[Any], Any], tree: Any, kinds: Any = Tensor) -> Any:
    """The tree with the function's value for every tensor; quick where the tree is plain."""
    if isinstance(tree, kinds):
        return function(tree)
    if type(tree) in (tuple, list):
        return type(tree)([on_tensors(function, branch, kinds) for branch in tree])
    if type(tree) is dict:
        return {key: on_tensors(function, branch, kinds) for key, branch in tree.items()}
    return tree_map_only(kinds, function, tree)
