"""One forward pass on record, and from its backward pass the gradients of each example.

A mode of PyTorch sees every function that is called. One that takes trained parameters is noted
with its arguments and with the *edge* of its output in the graph of autograd, if that output has
rows for each record. Gradients of edges need only what lies between them and the loss: none of
parameters is formed, no output is kept alive, and an activation may overwrite an output in place.
What follows from parameters alone (a transposed weight, positions looked up once for all records)
is handled like a parameter, and its gradients are taken back to parameters afterwards.

A rule (`layers`) gives the gradients of a function's parameters; any other function is run again
for each record, by `vmap(grad)`. Nothing stays on the model.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.func import grad, vjp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from dplearn.training import layers, sequences
from dplearn.training.devices import exactly
from dplearn.training.forms import Dense, PerExample, combined

Loss = Callable[[Any, Any], Tensor]
# How many rows of the output, and of each tensor that went in, belong to one record: 0 if all
# records share it; None if that cannot be said. By function, parameters and dimensions.
Kind = tuple[Any, ...]
Facts = dict[Kind, tuple[int, tuple[int, ...]] | None]
_AT_ONCE = 64  # records for which a function runs again at once


class Unmet(RuntimeError):
    """A call of which nobody knows which arguments follow the records."""


@dataclass(eq=False)
class Call:
    """One use of one function: what went in, and where the gradients of what came out are."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    rows: int  # of the output, for each record; 0: it follows from parameters alone
    split: tuple[int, ...]  # rows of each tensor that went in
    tensors: list[Tensor]  # all that went in
    rule: Callable[..., Any] | None = None
    edges: dict[int, GradientEdge] = field(default_factory=dict)  # by place in the output
    versions: list[int] = field(default_factory=list)

    def run(self, given: Sequence[Any]) -> list[Any]:
        """Return what the function gives for other tensors."""
        values = iter(given)
        args, kwargs = _exchanged(self.args, values), _exchanged(self.kwargs, values)
        return _listed(self.function(*args, **kwargs))


@dataclass(frozen=True)
class Source:
    """A parameter by its name, or what follows from parameters by the call that made it."""

    name: Any
    value: Tensor
    call: Call | None = None
    place: int = 0  # in the call's output


class Tape(TorchFunctionMode):
    """The calls of one forward pass over so many records."""

    def __init__(self, inventory: "Inventory", batch: int, *, learns: bool = False) -> None:
        super().__init__()
        self.inventory, self.batch, self.learns = inventory, batch, learns
        self.sources = dict(inventory.sources)
        self.calls: list[Call] = []  # that have rows for each record
        self.shared: list[Call] = []
        self.met: list[tuple[Kind, list[torch.Size], list[torch.Size]]] = []  # if it learns

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None):
        """Run a function, and note it if it takes trained parameters."""
        kwargs = kwargs or {}
        if function is torch.nn.functional.multi_head_attention_forward:
            return sequences.attention(self, *args, **kwargs)
        tensors = _tensors(args) + _tensors(kwargs.values()) if kwargs else _tensors(args)
        if self.sources.keys().isdisjoint(map(id, tensors)):
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        inplace = name.endswith("_") and name[-2] != "_" and id(args[0]) not in self.sources
        # As if it were not in place.
        before = (args[0].detach().clone(), *args[1:]) if inplace else args
        output = function(*args, **kwargs)
        if inplace:
            function, tensors = getattr(Tensor, name[:-1], function), _tensors(before)
            self.sources.pop(id(output), None)
        return self._noted(function, before, kwargs, tensors, output, inplace)

    def _noted(
        self, function: Any, before: Any, kwargs: Any, tensors: list[Tensor], output: Any,
        inplace: bool,
    ) -> Any:  # fmt: skip
        """Note a call that takes trained parameters, and return its output."""
        known, outputs = self.sources, _listed(output)
        far = {i: x for i, x in enumerate(outputs) if isinstance(x, Tensor) and x.requires_grad}
        if not far or any(id(x) in known for x in far.values()):
            return output
        tags = [known[id(x)].name if id(x) in known else x.dim() for x in tensors]
        kind = (function, *tags)
        if self.learns:
            sizes = [x.shape for x in tensors], [x.shape for x in far.values()]
            self.met.append((kind, *sizes))
        rows, split = self._rows(kind, tensors, far)
        if rows == 0:
            self.shared.append(call := Call(function, before, kwargs, 0, split, tensors))
            for i, x in far.items():
                known[id(x)] = Source((kind, i), x, call, i)
            return output
        if isinstance(output, Tensor) and not inplace and output._is_view():
            # An alias that is none: an activation in place would cut the edge of a view.
            output = torch.ops.aten._unsafe_view(output, output.shape)
            far = {0: output}
        elif type(output) in (tuple, list):  # none may be on the way to another
            output = type(output)([x.clone() if i in far else x for i, x in enumerate(outputs)])
            far = {i: output[i] for i in far}
        rule, reader = layers.RULES.get(function, (None, None))
        if reader is not None and len(before) > reader and id(before[reader]) not in known:
            before, tensors = (None, *before[1:]), tensors[1:]  # only a bias is trained
        edges = {i: get_gradient_edge(x) for i, x in far.items()}
        versions = [x._version for x in tensors]
        how = rows, split, tensors, rule, edges, versions
        self.calls.append(Call(function, before, kwargs, *how))
        return output

    def _rows(self, kind: Kind, tensors: list[Tensor], far: dict[int, Tensor]) -> Any:
        """Return rows of output and arguments; those of a rule where nothing was learned."""
        if fact := self.inventory.facts.get(kind):
            return fact
        own = [x for x in tensors if id(x) not in self.sources]
        plain = {(*x.shape, 0)[0] for x in (*own, *far.values())} == {self.batch}
        if self.learns or (plain and kind[0] in layers.RULES):
            return 1, tuple(int(id(x) not in self.sources) for x in tensors)
        raise Unmet(f"no pass over two and three records has met {kind}")

    def note(self, rule: Any, args: tuple[Tensor, ...], output: Tensor) -> None:
        """Add what a rule knows how to differentiate."""
        how = 1, (), list(args), rule, {0: get_gradient_edge(output)}, [x._version for x in args]
        self.calls.append(Call(rule, args, {}, *how))


@dataclass(frozen=True)
class Inventory:
    """What to record of a model, as long as it is in this state."""

    state: tuple[Any, ...]
    sources: dict[int, Source]
    recurrent: list[nn.Module]  # whose forward passes are replaced while recording
    facts: Facts
    alone: bool  # whether records need passes of their own

    @classmethod
    def of(cls, model: nn.Module, facts: Any = None, *, alone: bool = False) -> "Inventory":
        """Return the inventory of a model; refuses modules that mix records."""
        for name, module in model.named_modules():
            layers.refuse_by_name(name, module)
        sources = {id(p): Source(name, p) for name, p in layers.trainable(model).items()}
        recurrent = [m for m in model.modules() if not alone and sequences.recurrent(m)]
        return cls(state_of(model), sources, recurrent, {} if facts is None else facts, alone)


def called(model: nn.Module, inputs: Any) -> Any:
    """Return the model's output; a tuple or a dict holds several arguments."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def passed(
    model: nn.Module, loss_fn: Loss, pair: Any, inventory: Inventory, *, learns: bool = False
) -> tuple[Tape, Tensor]:
    """Run a forward pass on record, and return the record and one loss for each record."""
    tape, known = Tape(inventory, rows_of(pair), learns=learns), _is_known(loss_fn)
    for module in inventory.recurrent:
        module.forward = partial(sequences.recurrence, tape, module)
    try:
        with nullcontext() if inventory.alone else tape:
            losses = called(model, pair[0])
            if not known:
                losses = loss_fn(losses, pair[1])
        if known:
            losses = loss_fn(losses, pair[1])
    finally:
        for module in inventory.recurrent:
            del module.forward
    check_losses(losses, pair[0])
    return tape, losses


def _is_known(loss_fn: Any) -> bool:
    """Return whether a loss is PyTorch's, which has no parameters."""
    ours = getattr(type(loss_fn), "__module__", "") == "torch.nn.modules.loss"
    return ours and not (loss_fn._parameters or loss_fn._modules or loss_fn._forward_hooks)


def check_losses(losses: Tensor, inputs: Any) -> None:
    """Raise unless there is one loss for each row of the first tensor."""
    rows = rows_of(inputs)
    if losses.dim() != 1 or (rows and len(losses) != rows and len(losses) % rows == 0):
        hint = "losses.flatten(1).mean(1)" if losses.dim() else 'reduction="none"'
        hint = f"losses.view({rows}, -1).mean(1)" if losses.dim() == 1 else hint
        raise ValueError(
            "Expected one loss per record, shape (B,), got shape "
            f"{tuple(losses.shape)}; use {hint}."
        )


def per_example(tape: Tape, losses: Tensor, *, retain_graph: bool = False) -> dict[str, PerExample]:
    """Return gradients of every parameter that takes part, one per example; uses up the graph."""
    edges: Any = [edge for call in tape.calls for edge in call.edges.values()]
    if not edges or not losses.requires_grad:
        return {}
    options = {"retain_graph": retain_graph, "allow_unused": True}
    found = iter(torch.autograd.grad(losses.sum(), edges, **options))
    with torch.no_grad(), exactly(losses.device):
        grads = [{i: next(found) for i in call.edges} for call in tape.calls]
        return {name: combined(uses) for name, uses in _uses(tape, grads, len(losses)).items()}


def _uses(tape: Tape, grads: list[dict[int, Any]], batch: int) -> dict[str, list[PerExample]]:
    """Return gradients of every parameter, one for each use of it."""
    uses: dict[str, list[PerExample]] = defaultdict(list)
    shared: dict[Call, dict[int, Tensor]] = defaultdict(dict)

    def add(x: Tensor | None, form: Callable[[], Any]) -> None:
        if x is None or (source := tape.sources.get(id(x))) is None:
            return
        use = form()
        if source.call is None:
            uses[source.name].append(Dense(use) if isinstance(use, Tensor) else use)
            return
        whole = use if isinstance(use, Tensor) else use.dense()
        whole, mine = whole.reshape(batch, *x.shape), shared[source.call]
        mine[source.place] = mine[source.place] + whole if source.place in mine else whole

    for call, each in zip(tape.calls, grads, strict=True):
        reached = {i: _wide(x) for i, x in each.items() if x is not None}
        each.clear()
        if not reached:
            continue
        if [x._version for x in call.tensors] != call.versions:
            raise RuntimeError(
                "Expected the arguments of a layer to stay as they are until the backward pass, "
                "but one was modified by an inplace operation."
            )
        for x, form in _of_call(tape, call, reached, batch):
            add(x, form)
    for call in reversed(tape.shared):
        if call in shared:
            for x, value in _taken_back(tape, call, shared.pop(call)):
                add(x, lambda value=value: value)
    return uses


def _of_call(
    tape: Tape, call: Call, grads: dict[int, Tensor], batch: int
) -> Iterable[tuple[Tensor | None, Callable[[], Any]]]:
    """Return each parameter of a call with what forms its gradients."""
    if wrong := [tuple(g.shape) for g in grads.values() if g.shape[0] != batch * call.rows]:
        raise ValueError(
            f"Expected the output of {getattr(call.function, '__name__', 'a layer')!r} to have "
            f"{call.rows} rows for each of {batch} records, got shape {wrong[0]}: use "
            "batch_first=True, and call layers for all records, not for those that need them."
        )
    if call.rule is None:
        return _run_again(tape, call, grads, batch)
    own = lambda x: x if not isinstance(x, Tensor) or id(x) in tape.sources else _wide(x)
    args = [own(x) for x in call.args]
    found = call.rule(batch, next(iter(grads.values())), *args, **call.kwargs)
    return _run_again(tape, call, grads, batch) if found is None else found


def _run_again(
    tape: Tape, call: Call, grads: dict[int, Tensor], batch: int
) -> Iterator[tuple[Tensor, Callable[[], Any]]]:
    """Yield gradients by running a function for each record."""
    tensors, split = call.tensors, call.split
    own = {id(x): _wide(x.detach()) for x in tensors if id(x) in tape.sources}
    cut = lambda x, n: _wide(x.detach()).unflatten(0, (batch, n)) if n else _wide(x.detach())
    moving = {i: cut(x, n) for i, (x, n) in enumerate(zip(tensors, split, strict=True)) if n}
    fixed = {i: cut(x, 0) for i, x in enumerate(tensors) if i not in moving}
    gradients = {i: g.unflatten(0, (batch, call.rows)) for i, g in grads.items()}
    if not moving:  # each record's rows of the whole output
        eye = torch.eye(batch, dtype=torch.bool, device=next(iter(grads.values())).device)
        alone = lambda g: torch.where(eye.view(batch, batch, *[1] * (g.dim() - 1)), g[None], 0)
        gradients = {i: alone(g).flatten(1, 2) for i, g in gradients.items()}

    def one(values: dict[int, Tensor], rows: dict[int, Tensor], mine: dict[int, Tensor]) -> Tensor:
        given = [values.get(id(x), rows.get(i, fixed.get(i))) for i, x in enumerate(tensors)]
        outputs = call.run(given)
        return torch.stack([(outputs[i] * g).sum() for i, g in mine.items()]).sum()

    found = _quietly(vmap(grad(one), (None, 0, 0), chunk_size=_AT_ONCE), own, moving, gradients)
    for x in {id(x): x for x in tensors if id(x) in own}.values():
        yield x, lambda x=x: found[id(x)]


def _taken_back(
    tape: Tape, call: Call, grads: dict[int, Tensor]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield gradients of what went in, from those of what follows from it alone."""
    tensors = call.tensors
    own = {id(x): x for x in tensors if id(x) in tape.sources}
    values = [_wide(x.detach()) for x in own.values()]
    others = [_wide(x.detach()) for x in tensors]

    def again(*given: Tensor) -> list[Tensor]:
        mine = dict(zip(own, given, strict=True))
        outputs = call.run([mine.get(id(x), o) for x, o in zip(tensors, others, strict=True)])
        return [outputs[i] for i in grads]

    back = lambda *given: vjp(again, *values)[1](list(given))
    found = _quietly(vmap(back, chunk_size=_AT_ONCE), *grads.values())
    yield from zip(own.values(), found, strict=True)


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Run what vmap made; other kernels of attention do not know it, and it says where it loops."""
    with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "There is a performance drop")
        return function(*args)


def state_of(*roots: Any) -> tuple[Any, ...]:
    """Return modules with modes and hooks, and trained parameters: equal if all is as it was."""
    facts: list[Any] = []
    for module in (m for root in roots if isinstance(root, nn.Module) for m in root.modules()):
        own = module.__dict__
        facts += id(module), "forward" in own, len(own["_forward_hooks"]), own.get("max_norm")
        facts += len(own["_forward_pre_hooks"]), len(own["_backward_hooks"])
        facts += [x for x in own.values() if x is True or x is False]
        for p in own["_parameters"].values():
            if p is not None:
                facts += id(p), p.requires_grad
    return tuple(facts)


def rows_of(tree: Any) -> int:
    """Return the number of records: rows of the first tensor."""
    if isinstance(tree, Tensor) and tree.dim():
        return len(tree)
    return next((len(x) for x in tree_leaves(tree) if isinstance(x, Tensor) and x.dim()), 0)


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for x in values:
        if isinstance(x, Tensor):
            found.append(x)
        elif type(x) in (tuple, list):
            found += _tensors(x)
    return found


def _exchanged(values: Any, given: Iterator[Any]) -> Any:
    """Return the same arguments with other tensors."""
    if isinstance(values, Tensor):
        return next(given)
    if type(values) in (tuple, list):
        return type(values)([_exchanged(x, given) for x in values])
    if type(values) is dict:
        return {name: _exchanged(x, given) for name, x in values.items()}
    return values


def _listed(output: Any) -> list[Any]:
    return list(output) if isinstance(output, tuple | list) else [output]


def _wide(x: Tensor) -> Tensor:
    """Return numbers in the type in which norms and sums are computed."""
    if x.dtype is torch.float32 or x.dtype is torch.float64 or not x.is_floating_point():
        return x
    return x.float()


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
