"""One forward pass on record, and from its backward pass the gradients of each example.

A module that owns trainable parameters notes its detached inputs and the *edge* of its output in
the graph of autograd. Gradients of edges need only what lies between them and the loss: none of
parameters is formed, no output is kept alive, and an activation may overwrite an output in place.
One hook on all modules of the process sees them while a pass is recorded; nothing stays on a model.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn.modules.module import register_module_forward_hook
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from dplearn.core import validate
from dplearn.training import layers, sequences
from dplearn.training.again import differentiated, on_tensors, replaced, versions
from dplearn.training.devices import exactly
from dplearn.training.forms import Dense, PerExample, combined
from dplearn.training.layers import trained

Loss = Callable[[Any, Any], Tensor]
# By kind of call, how many rows of each argument belong to one record: 0 if all records share it.
Rows = dict[tuple[Any, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Inner:
    """Call by the code of a module without a rule, which does not run again there.

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
    rule: layers.Rule | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    edges: dict[int, GradientEdge]  # by position among the leaves of the output
    sizes: tuple[int, ...]  # first dimension of each of them
    inner: tuple[Inner, ...] = ()

    def tree(self) -> Any:
        """Return all arguments, as `rows` counts their leaves, and what went in and out inside."""
        return self.args, self.kwargs, [(cut.inputs, cut.output) for cut in self.inner]

    def kind(self) -> tuple[Any, ...]:
        """Return the module's name and dimensions of arguments, the same for calls alike."""
        leaves = tree_leaves(self.tree())
        return self.name, *(x.dim() if isinstance(x, Tensor) else None for x in leaves)


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
        leaves = (output,) if isinstance(output, Tensor) else tree_leaves(output)
        far = {i: x for i, x in enumerate(leaves) if isinstance(x, Tensor) and x.requires_grad}
        if far:
            read = layers.reads_inputs(module, rule)
            args, kwargs = on_tensors(Tensor.detach, (args, kwargs) if read else ((), {}))
            edges = {i: get_gradient_edge(x) for i, x in far.items()}
            sizes = tuple(len(x) if x.dim() else 0 for x in far.values())
            self.calls.append(Call(name, module, rule, args, kwargs, edges, sizes, inner))

    def hook(self, module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        """Note the call of a module with a rule; a hook of all modules."""
        if (known := self.inventory.ruled.get(module)) is None:
            return None
        if isinstance(output, Tensor) and output._is_view():
            # An alias that is none: an activation in place would cut the edge of a view.
            output = torch.ops.aten._unsafe_view(output, output.shape)
        self.note(known[0], module, known[1], args, kwargs, output)
        return output

    def run(self, name: str | None, module: Any, forward: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a module without a rule; without a name, one inside such a module."""
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
    ruled: dict[nn.Module, tuple[str, layers.Rule]]
    replaced: list[tuple[Any, nn.Module, Any]]  # with a substitute, without a rule, inside
    owners: dict[nn.Module, dict[str, Any]]  # trained parameters that a module's own code uses
    shared: frozenset[str]  # modules that are parts of what calls them: see `gradients.learn`
    rows: Rows

    @classmethod
    def of(cls, model: nn.Module, shared: Any = frozenset(), rows: Any = None) -> "Inventory":
        """Return the inventory of a model; refuses modules that mix records."""
        modules = dict(model.named_modules())
        names = {parameter: name for name, parameter in model.named_parameters()}
        ruled, replaced, within, owners = {}, [], {}, {}
        for name, module in modules.items():
            layers.refuse_by_name(name, module)
            for last, parameter in module._parameters.items():
                if trained(parameter):
                    top = caller(path := f"{name}.{last}", shared)
                    path = path.removeprefix(top).removeprefix(".")
                    owners.setdefault(modules[top], {})[path] = parameter
        for name, module in modules.items():
            trains = any(map(trained, module.parameters()))
            substitute = layers.registered(sequences.SUBSTITUTES, module) if trains else None
            if name in shared or not (substitute or module in owners):
                continue
            if not substitute and (rule := layers.registered(layers.RULES, module)):
                ruled[module] = name, rule
                continue
            replaced.append((name, module, substitute))
            if not substitute:
                within |= dict.fromkeys([*module.modules()][1:])
        own = {module for _, module, substitute in replaced if not substitute}
        replaced += [(None, module, None) for module in within if module not in own]
        rows = {} if rows is None else rows
        return cls(state_of(model), names, ruled, replaced, owners, shared, rows)


@contextmanager
def recording(model: nn.Module, inventory: Inventory | None = None) -> Iterator[Tape]:
    """Record all calls of modules with trainable parameters; nothing stays on the model."""
    tape = Tape(inventory or Inventory.of(model))
    with ExitStack() as undo:
        undo.callback(register_module_forward_hook(tape.hook, with_kwargs=True).remove)
        for name, module, substitute in tape.inventory.replaced:
            forward: Any = partial(tape.run, name, module, module.forward)
            if substitute:
                forward = partial(substitute, module, partial(tape.note, name, module))
            undo.callback(replaced(module, forward))
        yield tape


def called(model: nn.Module, inputs: Any) -> Any:
    """Return the model's output; a tuple or a dict holds several arguments."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def passed(model: nn.Module, loss_fn: Loss, pair: Any, inventory: Inventory) -> tuple[Tape, Tensor]:
    """Run a forward pass on record, and return the record and one loss for each record."""
    with recording(model, inventory) as tape:
        losses = loss_fn(called(model, pair[0]), pair[1])
    check_losses(losses, pair[0])
    return tape, losses


def check_losses(losses: Tensor, inputs: Any) -> None:
    """Raise unless there is one loss for each row of the first tensor."""
    rows = next((len(x) for x in tree_leaves(inputs) if isinstance(x, Tensor) and x.dim()), None)
    if losses.dim() != 1 or (rows and len(losses) != rows and len(losses) % rows == 0):
        hint = "losses.flatten(1).mean(1)" if losses.dim() else 'reduction="none"'
        hint = f"losses.view({rows}, -1).mean(1)" if losses.dim() == 1 else hint
        raise ValueError(
            "Expected one loss per record, shape (B,), got shape "
            f"{tuple(losses.shape)}; use {hint}."
        )


def per_example(tape: Tape, losses: Tensor, *, retain_graph: bool = False) -> dict[str, PerExample]:
    """Return gradients of every parameter that takes part, one per example; uses up the graph."""
    parts = [part for call in tape.calls for part in (call, *call.inner)]
    edges: Any = [edge for part in parts for edge in part.edges.values()]
    if not edges or not losses.requires_grad:
        return {}
    ones, options = torch.ones_like(losses), {"retain_graph": retain_graph, "allow_unused": True}
    output_grads = iter(torch.autograd.grad(losses, edges, ones, **options))
    uses: dict[str, list[PerExample]] = defaultdict(list)
    with torch.no_grad(), exactly(losses.device):
        for call in tape.calls:
            each = (call, *call.inner)
            grads = [{place: next(output_grads) for place in part.edges} for part in each]
            for parameter, use in _of_call(call, tape.inventory, grads, len(losses)):
                uses[tape.inventory.names[parameter]].append(use)
        return {name: combined(parts) for name, parts in uses.items()}


def _of_call(
    call: Call, inventory: Inventory, grads: list[dict[int, Tensor | None]], batch: int
) -> Iterator[tuple[Any, PerExample]]:
    """Yield each parameter of a call with its gradients."""
    reached = [{i: grad for i, grad in part.items() if grad is not None} for part in grads]
    if not any(reached):
        return
    if wrong := [tuple(g.shape) for g in reached[0].values() if g.shape[:1] != (batch,)]:
        raise ValueError(
            f"Expected the output of {call.name!r} ({type(call.module).__name__}) to have one row "
            f"for each of {batch} records, got shape {wrong[0]}: use batch_first=True, and call "
            "layers for all records, not for those that need them."
        )
    dtype = wide(next(grad.dtype for part in reached for grad in part.values()))
    widen = lambda x: x if x.dtype == dtype or not x.is_floating_point() else x.to(dtype)
    if call.rule is None:
        reached = [{i: widen(grad) for i, grad in part.items()} for part in reached]
        parameters = inventory.owners[call.module]
        each = _rows_of(call, inventory.rows, batch)
        gradients = differentiated(call, parameters, each, reached, batch)
    else:
        parameters = call.module._parameters
        inputs = on_tensors(widen, (*call.args, *call.kwargs.values()))
        gradients = call.rule(call.module, inputs, widen(*reached[0].values()))
    for name, use in gradients.items():
        if trained(parameters.get(name)):
            yield parameters[name], Dense(use) if isinstance(use, Tensor) else use


def _rows_of(call: Call, rows: Rows, batch: int) -> list[int]:
    """Return rows per record of the arguments of this call; NotImplementedError if unknown."""
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


def state_of(*roots: Any) -> tuple[Any, ...]:
    """Return modules with modes and hooks, and trained parameters: equal if all is as it was."""
    facts: list[Any] = []
    for module in (m for root in roots if isinstance(root, nn.Module) for m in root.modules()):
        own = vars(module)
        facts += [id(module), "forward" in own, len(own["_forward_hooks"]), own.get("max_norm")]
        facts += [len(own["_forward_pre_hooks"]), len(own["_backward_hooks"])]
        facts += [x for x in own.values() if type(x) is bool]
        facts += [(id(p), p.requires_grad) for p in own["_parameters"].values() if p is not None]
    return tuple(facts)


def caller(parameter: str, shared: Collection[str]) -> str:
    """Return the module whose own code uses a parameter: the first above it that is not shared."""
    name = parameter.rpartition(".")[0]
    while name in shared:
        name = name.rpartition(".")[0]
    return name


def _apart(arguments: tuple[tuple, dict]) -> tuple[tuple, dict, dict[int, Tensor]]:
    """Return the arguments with tensors of which this call alone has the gradient, by place."""
    places: dict[int, int] = {}
    leaves, structure = tree_flatten(arguments)
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            first = places.setdefault(id(leaf), place)
            leaves[place] = leaf.view_as(leaf) if first == place else leaves[first]
    return (*tree_unflatten(leaves, structure), {i: leaves[i] for i in places.values()})


def wide(dtype: torch.dtype) -> torch.dtype:
    """Return the type in which norms and sums are computed."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def device_of(model: nn.Module) -> torch.device:
    """Return where the first parameter is."""
    return next((p.device for p in model.parameters()), torch.device("cpu"))


def coarsest(model: nn.Module) -> float:
    """Return the unit of rounding of the coarsest type that a model computes in."""
    types, kind = {p.dtype for p in model.parameters()} or {torch.float32}, device_of(model).type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        types.add(torch.get_autocast_dtype(kind))
    return max(torch.finfo(x).eps for x in types if x.is_floating_point)
