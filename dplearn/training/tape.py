"""Per-example gradients from one recorded forward pass and its backward pass.

A `TorchFunctionMode` records each call that takes trained parameters, with its arguments and the
*edge* of its output in the autograd graph. The backward pass computes gradients of these edges
only: it forms no gradient of a parameter, keeps no output alive, and an activation may overwrite an
output in place. A rule (`layers`) turns edge gradients into gradients of parameters. A tensor
computed from parameters alone (a transposed weight, positions looked up once for all records) is
handled like a parameter; autograd computes the gradients of the parameters from its gradients.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from dplearn.training import layers
from dplearn.training.layers import Outer, Rows, Unmet, combined, factored

Loss = Callable[[Any, Any], Tensor]
# Number of output rows per record, or 0 if all records share the output. A key is a function with
# the name of each parameter and the number of dimensions of each other tensor.
Facts = dict[tuple[Any, ...], int]


class Tape(TorchFunctionMode):
    """Recorder of the function calls that take parameters, in one forward pass over a batch."""

    def __init__(
        self, parameters: Mapping[str, Tensor], facts: Facts, batch: int, *, learns: bool = False
    ) -> None:
        super().__init__()
        self.parameters, self.facts, self.batch = parameters, facts, batch
        self.learns = learns  # whether this pass writes `facts`, which other passes must match
        # For each call that takes parameters: rule, arguments, and the output's autograd edge.
        self.calls: list[tuple[Callable[..., Any], Any, dict[str, Any], GradientEdge]] = []
        self.names: dict[int, Any] = {id(p): name for name, p in parameters.items()}
        self.shared: dict[int, Tensor] = {}  # tensors computed from parameters alone

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None):
        """Run a function, and record the call if it takes trained parameters."""
        kwargs = kwargs or {}
        tensors = _tensors(args) + _tensors(kwargs.values()) if kwargs else _tensors(args)
        if self.names.keys().isdisjoint(map(id, tensors)):
            return function(*args, **kwargs)
        if function in layers.WITHIN:
            return layers.WITHIN[function](self, *args, **kwargs)
        output = function(*args, **kwargs)
        outputs = output if isinstance(output, tuple | list) else (output,)
        moving = [x for x in outputs if isinstance(x, Tensor) and x.requires_grad]
        if not moving or id(moving[0]) in self.names:
            return output
        kind = (function, *(self.names.get(id(x), x.dim()) for x in tensors))
        rows = self._rows(kind, moving[0])
        if rows == 0:
            self.shared |= {id(x): x for x in moving}
            self.names |= {id(x): (kind, i) for i, x in enumerate(moving)}
            return output
        rule = layers.RULES.get(function)
        if rule is None or len(outputs) > 1:
            raise Unmet(f"no rule differentiates {getattr(function, '__name__', function)}")
        if output._is_view() and not any(output is x for x in tensors):
            # A later in-place activation disconnects the edge of a view, but not of this alias.
            output = torch.ops.aten._unsafe_view(output, output.shape)
        self.calls.append((rule, args, kwargs, get_gradient_edge(output)))
        return output

    def _rows(self, kind: tuple[Any, ...], output: Tensor) -> int:
        """Return the number of output rows per record, or 0 if all records share the output."""
        count, rest = divmod(len(output) if output.dim() else 1, self.batch)
        count = 0 if rest else count
        rows = self.facts.setdefault(kind, count) if self.learns else self.facts.get(kind)
        if rows is None or (rows != count and (rows or self.learns)):
            raise Unmet(f"{kind} has {count} rows of output per record, not {rows}")
        return rows

    def gradients(self, losses: Tensor) -> dict[str, Outer | Rows]:
        """Return per-example gradients of all parameters used, and delete the recorded calls."""
        if not self.calls or not losses.requires_grad:
            return {}
        edges: Any = [call[3] for call in self.calls]
        options: Any = {"retain_graph": self.learns, "allow_unused": True}
        grads = list(torch.autograd.grad(losses, edges, torch.ones_like(losses), **options))
        uses: dict[int, list[Outer | Rows]] = defaultdict(list)
        # Begin with the first layers: free their large outputs before large gradients are formed.
        calls, self.calls = self.calls[::-1], []
        grads.reverse()
        while grads:  # each layer's tensors are freed after their last use
            (rule, args, kwargs, _), grad = calls.pop(), grads.pop()
            if grad is None:
                continue
            ours = lambda x: isinstance(x, Tensor) and id(x) not in self.names
            args = [wide(x) if ours(x) else x for x in args]
            for x, form in rule(self.batch, wide(grad), *args, **kwargs):
                if id(x) in self.names:
                    use = form()
                    uses[id(x)].append(factored(use) if isinstance(use, Tensor) else use)
        if shared := [x for key, x in self.shared.items() if key in uses]:
            each = [combined(uses[id(x)]).dense().view(-1, *x.shape).to(x.dtype) for x in shared]
            given = shared, [*self.parameters.values()], each
            back = torch.autograd.grad(*given, is_grads_batched=True, **options)
            for p, value in zip(self.parameters.values(), back, strict=True):
                if value is not None:
                    uses[id(p)].append(factored(wide(value)))
        named = self.parameters.items()
        return {name: combined(uses[id(p)]) for name, p in named if id(p) in uses}


def called(model: nn.Module, inputs: Any) -> Any:
    """Return the model's output; a tuple or dict is unpacked into several arguments."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def passed(model: nn.Module, loss_fn: Loss, pair: Any, tape: Tape | None = None) -> Tensor:
    """Return the losses of a forward pass, recorded by `tape` if it is given."""
    with tape or nullcontext():
        losses = loss_fn(called(model, pair[0]), pair[1])
    check_losses(losses, pair[0])
    return losses


def check_losses(losses: Tensor, inputs: Any) -> None:
    """Raise if `losses` is not a vector or has several entries for each row of `inputs`."""
    rows, shape = rows_of(inputs), getattr(losses, "shape", ())
    if len(shape) != 1 or (rows and shape[0] != rows and shape[0] % rows == 0):
        hint = "losses.view(len(targets), -1).mean(1)"
        if not shape:
            hint = 'reduction="none" (a model\'s own loss is a mean: use its outputs, as .logits)'
        got = f"got shape {tuple(shape)}; use {hint}."
        raise ValueError(f"Expected one loss per record, shape (B,), {got}")


def state_of(*roots: Any) -> tuple[Any, ...]:
    """Return a fingerprint of all modules, with their modes, hooks and trainable parameters."""
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
    """Return the number of records, which is the number of rows of the first tensor."""
    first = tree[0] if isinstance(tree, tuple) and tree else tree  # a fast path for the usual case
    leaves = [first] if isinstance(first, Tensor) else tree_leaves(tree)
    return next((len(x) for x in leaves if isinstance(x, Tensor) and x.dim()), 0)


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    tensors: list[Tensor] = []
    for x in values:
        if isinstance(x, Tensor):
            tensors.append(x)
        elif type(x) in (tuple, list):
            tensors += _tensors(x)
    return tensors


def wide(x: Tensor) -> Tensor:
    """Convert floating-point numbers to the type of norms and sums, float32 or float64."""
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    return x.to(kind) if x.is_floating_point() else x
