"""One forward pass with the input and the gradient edge of every layer on record.

A module that owns trainable parameters notes its detached input and the *edge* of its output in the
graph of autograd. Asked for the gradients of these edges, the engine runs only what lies between
them and the loss: gradients of parameters are never formed, no second backward pass is needed,
outputs are not kept alive, and an activation that overwrites an output in place does not matter,
because the edge names the value before it.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn.modules.module import _forward_unimplemented
from torch.nn.utils.parametrize import ParametrizationList
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map_only, tree_unflatten

from dplearn.ground import validate
from dplearn.training.layers import (
    RULES,
    SUBSTITUTES,
    Rule,
    reads_inputs,
    refuse_mixing,
    registered,
    trained,
)
from dplearn.training.shared import Source, shared

Edge = GradientEdge | Tensor
# By kind of call, how many rows of each argument belong to one record: 0 if all records share it.
Rows = dict[tuple[Any, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Inner:
    """What a module without a rule called in its own code: there it need not run again.

    The gradients of its inputs, by position among the leaves of its arguments, are those that
    flow through this call alone.
    """

    module: nn.Module
    edges: dict[int, Edge]
    inputs: dict[int, Tensor]
    output: Any
    versions: tuple[int, ...] | None  # of the output; None if an input was overwritten

    def replaceable(self) -> bool:
        """Whether inputs and outputs are still what they were."""
        return self.versions == _versions(self.output)


@dataclass(frozen=True)
class Call:
    """One use of one module: what went in, and where the gradients of what came out are."""

    name: str
    module: nn.Module
    rule: Rule | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    edges: dict[int, Edge]  # by position among the leaves of the output
    versions: tuple[int, ...]
    inner: tuple[Inner, ...] = ()

    def leaves(self) -> list[Any]:
        """All arguments in one list, as `rows` counts them, and what went in and out inside."""
        return tree_leaves((self.args, self.kwargs, self.within()))

    def within(self) -> list[Any]:
        """What went into the calls inside that gradients are of, and what came out."""
        return [(cut.inputs, cut.output) for cut in self.inner]

    def kind(self) -> tuple[Any, ...]:
        """Name of the module and dimensions of its arguments, the same for calls alike."""
        return self.name, *(x.dim() if isinstance(x, Tensor) else None for x in self.leaves())

    def check_unchanged(self) -> None:
        """Raise if an input was overwritten after the module had read it."""
        if self.versions and self.versions != _versions((self.args, self.kwargs)):
            raise RuntimeError(
                f"Expected the input of {self.name!r} to stay as it was, but an in-place "
                "operation changed it later. Replace that operation."
            )


def rows_of(call: Call, rows: Rows, batch: int) -> list[int]:
    """Rows per record of the arguments of this call; NotImplementedError if nobody knows."""
    leaves = call.leaves()
    learned = rows.get(call.kind(), (-1,) * len(leaves))
    for count, leaf in zip(learned, leaves, strict=True):
        if count < 0 and isinstance(leaf, Tensor) and leaf.dim() and len(leaf) % batch == 0:
            raise validate.unsupported(
                f"an argument of {call.name!r} ({type(call.module).__name__}) of shape "
                f"{tuple(leaf.shape)}",
                "some passes show that it follows the records and others that it does not, "
                "or none does. Give it the same number of rows per record in every call.",
            )
    return [max(count, 0) for count in learned]


@dataclass
class Tape:
    """The calls of one forward pass; it notes nothing while it does not run."""

    calls: list[Call] = field(default_factory=list)
    runs: bool = True
    names: dict[Any, str] = field(default_factory=dict)  # of the model's parameters
    loss_scale: float = 1.0  # of gradients on their way back through half precision
    # Calls made by the code of a module without a rule, while that code runs.
    inner: list[Inner] | None = None
    rows: Rows = field(default_factory=dict)  # see `learned`
    learns: int = 0  # records of a pass from which that is learned


@dataclass(frozen=True)
class Survey:
    """What to record of a model, as long as it is in this state."""

    state: tuple[Any, ...]
    names: dict[Any, str]  # of all parameters
    parts: list[tuple[str, nn.Module, Any, Rule | None]]  # each with its substitute and its rule
    within: list[nn.Module]  # modules called by one without either
    owners: dict[nn.Module, None]

    @classmethod
    def of(cls, model: nn.Module) -> "Survey":
        """A survey of a model; refuses modules that mix records."""
        modules = dict(model.named_modules())
        for name, module in modules.items():
            refuse_mixing(name, module)
        names = {parameter: name for name, parameter in model.named_parameters()}
        parts, within, owners = [], {}, _owners(modules)
        for name, module in modules.items():
            trains = any(map(trained, module.parameters()))
            substitute = registered(SUBSTITUTES, module) if trains else None
            rule = registered(RULES, module)
            if substitute or module in owners:
                parts.append((name, module, substitute, rule))
                if not substitute and not rule:
                    within |= dict.fromkeys([*module.modules()][1:])
        noted = {module for _, module, *kinds in parts if not any(kinds)}
        return cls(state_of(model), names, parts, [x for x in within if x not in noted], owners)


@contextmanager
def recording(model: nn.Module, survey: Survey | None = None) -> Iterator[Tape]:
    """All calls of modules with trainable parameters, while the context lasts.

    Nothing stays on the model afterwards, also after an exception.
    """
    tape, undo = observed(model, survey or Survey.of(model))
    try:
        yield tape
    finally:
        undo()


def state_of(*roots: Any) -> tuple[Any, ...]:
    """Modules with their modes, and parameters that are trained: equal if all is as it was.

    A forward pass that somebody replaced is another state, too, and so is a flag of a module, by
    which it may mix records or keep them. What is no module has no state.
    """
    modules = [m for root in roots if isinstance(root, nn.Module) for m in root.modules()]
    parameters = [p for m in modules for p in m._parameters.values() if p is not None]
    flags = lambda own: [x for x in own.values() if type(x) is bool]
    mode = lambda m, own: (id(m), "forward" in own, own.get("max_norm"), *flags(own))
    return *[mode(m, vars(m)) for m in modules], *[(id(p), p.requires_grad) for p in parameters]


def observed(model: nn.Module, survey: Survey) -> tuple[Tape, Callable[[], object]]:
    """The record of all calls from now on, and what stops it."""
    tape, undo = Tape(names=survey.names), []
    for name, module, substitute, rule in survey.parts:
        note = partial(_note, tape, name, module)
        if substitute:
            forward = partial(substitute, module, note)
        elif rule:
            forward = partial(_ruled, module.forward, partial(note, rule))
            if isinstance(module, nn.Embedding):
                forward = partial(_looked_up, tape, name, forward, module.forward, note, rule)
        else:
            forward = partial(_run, tape, module, module.forward, note)
        undo.append(replaced(module, forward))
    for module in survey.within:
        undo.append(replaced(module, partial(_run, tape, module, module.forward, None)))
    if model not in survey.owners:
        hook = partial(_uncalled, tape, survey.owners)
        undo.append(model.register_forward_hook(hook, with_kwargs=True).remove)
    return tape, lambda: [back() for back in reversed(undo)]


def _owners(parts: dict[str, nn.Module]) -> dict[nn.Module, None]:
    """Modules whose forward passes use trainable parameters of their own or of their lists."""

    def runs(name: str) -> nn.Module:
        part = parts[name]
        list_only, above = type(part).forward is _forward_unimplemented, name.rpartition(".")[0]
        weighs = isinstance(part, ParametrizationList) or "parametrizations." in name + "."
        if name and (list_only or weighs):
            return runs(above)
        return part

    own = lambda module: any(map(trained, module._parameters.values()))
    return {runs(name): None for name, module in parts.items() if own(module)}


def owned(module: nn.Module, called: set[nn.Module], prefix: str = "") -> Iterator:
    """Names and trainable parameters of a module and of those inside that were never called."""
    for name, parameter in module._parameters.items():
        if trained(parameter):
            yield prefix + name, parameter
    for name, child in module._modules.items():
        if child is not None and child not in called:
            yield from owned(child, called, f"{prefix}{name}.")


def replaced(module: nn.Module, forward: Callable[..., Any]) -> Callable[[], None]:
    """Give a module another forward pass; returns what gives the old one back."""
    before = vars(module).get("forward")
    module.forward = forward
    if before:
        return partial(setattr, module, "forward", before)
    return partial(delattr, module, "forward")


def _ruled(
    forward: Callable[..., Any], note: Callable[..., None], *args: Any, **kwargs: Any
) -> Any:
    """Forward pass of a module with a rule, which is noted."""
    output = forward(*args, **kwargs)
    compiling = torch.compiler.is_compiling()
    if not compiling and isinstance(output, Tensor) and output._is_view():
        # An alias that is none: an activation in place would cut the edge of a view.
        output = torch.ops.aten._unsafe_view(output, output.shape)
    note(args, kwargs, output)
    # A tensor on record, unlike an edge, must not be overwritten; no copy is made.
    return on_tensors(Tensor.clone, output) if compiling else output


def _looked_up(
    tape: Tape, name: str, ruled: Any, forward: Any, note: Any, rule: Rule, input: Tensor
) -> Tensor:
    """Rows of a table; followed until they meet records where all records share them."""
    shares = tape.runs and tape.rows.get((name, input.dim())) == (0,)
    if not shares or torch.compiler.is_compiling():
        return ruled(input)
    return shared(Source(name, tape, note, rule, input, forward(input)))


def _run(tape: Tape, module: nn.Module, forward: Any, note: Any, *args: Any, **kwargs: Any) -> Any:
    """Forward pass of a module without a rule (then it is noted), or of one inside such a module.

    What the former calls is on record too, for `fallback`.
    """
    outer, inputs, before = tape.inner, {}, ()
    if not tape.runs or (note is None and outer is None):
        return forward(*args, **kwargs)
    if outer is not None:
        args, kwargs, inputs = _apart((args, kwargs))
        before = _versions((args, kwargs))
    tape.inner = None if note is None else []
    try:
        output = forward(*args, **kwargs)
        if note is not None:
            output = _fresh(output)
            note(None, args, kwargs, output, tuple(tape.inner or ()))
    finally:
        tape.inner = outer
    if outer is not None:
        edges = {place: _edge(x) for place, x in inputs.items()}
        inputs, stored = on_tensors(Tensor.detach, (inputs, output))
        if torch.compiler.is_compiling():  # what is stored must not be overwritten
            output = on_tensors(Tensor.clone, output)
        kept = before == _versions((args, kwargs)) and not _overwrites(module)
        outer.append(Inner(module, edges, inputs, stored, _versions(stored) if kept else None))
    return output


def _uncalled(
    tape: Tape, owners: Collection[nn.Module], model: nn.Module, args: Any, kwargs: Any, output: Any
) -> Any:
    """Note the whole model if a layer's parameters were used without a call of that layer."""
    called = {call.module for call in tape.calls}
    if not tape.runs or called.issuperset(owners):
        return output
    parameters = [parameter for _, parameter in owned(model, called)]
    ends = [x for x in _leaves(output) if isinstance(x, Tensor) and x.requires_grad]
    if not parameters or not ends:
        return output
    if not torch.compiler.is_compiling():
        options: dict[str, Any] = {"retain_graph": True, "allow_unused": True}
        ones = [torch.ones_like(x) for x in ends]
        used = torch.autograd.grad(ends, parameters, ones, **options)
        if all(x is None for x in used):
            return output
    output = _fresh(output)
    _note(tape, "", model, None, args, kwargs, output)
    return output


def _overwrites(module: nn.Module) -> bool:
    """Whether a module writes into its input; the compiler does not tell afterwards."""
    compiling = torch.compiler.is_compiling()
    return compiling and any(getattr(x, "inplace", False) for x in module.modules())


def _apart(arguments: tuple[tuple, dict]) -> tuple[tuple, dict, dict[int, Tensor]]:
    """The arguments with tensors whose gradients come from one call only, and these by place."""
    places: dict[int, int] = {}
    leaves, structure = tree_flatten(arguments)
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            first = places.setdefault(id(leaf), place)
            leaves[place] = leaf.view_as(leaf) if first == place else leaves[first]
    return (*tree_unflatten(leaves, structure), {i: leaves[i] for i in places.values()})


def _fresh(output: Any) -> Any:
    """Outputs of which none is computed from another, or shares memory with it."""
    tensors = [leaf for leaf in _leaves(output) if isinstance(leaf, Tensor)]
    entangled = len(tensors) > 1 or torch.compiler.is_compiling()
    entangled = entangled or any(x._is_view() for x in tensors)
    return on_tensors(Tensor.clone, output) if entangled else output


def _edge(value: Tensor) -> Edge:
    """Where the gradient of a tensor arrives: Dynamo knows tensors, not edges."""
    return value if torch.compiler.is_compiling() else get_gradient_edge(value)


def _note(
    tape: Tape,
    name: str,
    module: nn.Module,
    rule: Rule | None,
    args: Any,
    kwargs: Any,
    output: Any,
    inner: tuple[Inner, ...] = (),
) -> None:
    """Add a call to the record, unless no gradient flows through it."""
    edges = {
        place: _edge(leaf)
        for place, leaf in enumerate(_leaves(output))
        if isinstance(leaf, Tensor) and leaf.requires_grad
    }
    if edges and tape.runs:
        read = reads_inputs(module, rule)
        args, kwargs = on_tensors(Tensor.detach, (args, kwargs) if read else ((), {}))
        versions = _versions((args, kwargs))
        tape.calls.append(Call(name, module, rule, args, kwargs, edges, versions, inner))


def _versions(tree: Any) -> tuple[int, ...]:
    """Version of each tensor: how often it was changed in place. The compiler knows none."""
    if torch.compiler.is_compiling():
        return ()
    versions = []
    on_tensors(lambda leaf: versions.append(leaf._version), tree)
    return tuple(versions)


def on_tensors(function: Callable[[Any], Any], tree: Any, kinds: Any = Tensor) -> Any:
    """The tree with the function's value for every tensor; quick where the tree is plain."""
    if isinstance(tree, kinds):
        return function(tree)
    if type(tree) in (tuple, list):
        return type(tree)([on_tensors(function, branch, kinds) for branch in tree])
    if type(tree) is dict:
        return {key: on_tensors(function, branch, kinds) for key, branch in tree.items()}
    return tree_map_only(kinds, function, tree)


def _leaves(tree: Any) -> list[Any]:
    return [tree] if isinstance(tree, Tensor) else tree_leaves(tree)
