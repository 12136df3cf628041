"""Per-example gradients of the usual functions, from their arguments and outputs' gradients.

A rule ``(batch, grad, *args, **kwargs)`` takes the number of records, the gradient of an output and
the arguments of a function, and yields each parameter among them with a function that gives its
gradients: a tensor of shape ``(B, *parameter shape)``, or one of the cheaper forms of
`dplearn.training.forms`. Functions without a rule run again for each record (`tape`); a rule only
makes them faster:

    @rule(torch.mul, Tensor.mul)
    def _mul(batch, grad, x, y):
        yield x, lambda: summed(batch, grad * y, x)
        yield y, lambda: summed(batch, grad * x, y)

Rows of one record follow each other where it has several.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from dplearn.core import validate
from dplearn.training.forms import Convolution, Dense, Outer, Rows, norms

Pairs = Iterator[tuple[Any, Callable[[], Any]]]
# By function: its rule, and the place of the weight without which the first argument is not read.
RULES: dict[Callable[..., Any], tuple[Callable[..., Pairs], int | None]] = {}


def rule(*functions: Any, weight: int | None = None) -> Callable[[Any], Any]:
    """Register the decorated rule of these functions."""
    return lambda found: RULES.update(dict.fromkeys(functions, (found, weight))) or found


def refuse_by_name(name: str, module: nn.Module) -> None:
    """Raise if this module mixes records, keeps statistics of them or hides from hooks."""
    own, hooks, why = module._parameters.values(), module._forward_pre_hooks.values(), ""
    if "_orig_mod" in module._modules or module._compiled_call_impl is not None:
        why = "its graph does not know our hooks. Pass the plain model."
    elif any(isinstance(p, nn.parameter.UninitializedParameter) for p in own):
        why = "its parameters have no size yet. Call the model once on a batch, then build it."
    elif isinstance(module, _BatchNorm):
        if module.training or module.running_mean is None:
            why = "its statistics mix records. Use nn.GroupNorm."
    elif isinstance(module, _InstanceNorm):
        if module.training and module.track_running_stats:
            why = "its running statistics leak. Set track_running_stats=False."
    elif isinstance(module, torch.jit.ScriptModule):
        why = "its parts know no hooks. Pass the module that was scripted."
    elif any(p is not None and p.is_complex() for p in own):
        why = "clipping is for real parameters. Hold real and imaginary parts, and join them."
    elif isinstance(module, nn.Embedding | nn.EmbeddingBag):
        options = ("sparse", "scale_grad_by_freq", "max_norm")
        if odd := [name for name in options if getattr(module, name)]:
            why = f"not with {odd[0]}: leave that option out."
    elif module.training and {type(x).__name__ for x in (module, *hooks)} & {
        "_SpectralNorm",
        "SpectralNorm",
    }:
        why = (
            "its vectors change with every pass in training mode, by the weights and not by "
            "records. Set this part to eval(), or use weight_norm."
        )
    if why:
        raise validate.unsupported(f"{type(module).__name__} ({name or 'the model itself'})", why)


def trained(parameter: Any) -> bool:
    """Return whether a parameter exists and is not frozen."""
    return parameter is not None and parameter.requires_grad


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters of a model that are not frozen, by name."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def positions(batch: int, values: Tensor) -> Tensor:
    """(B, ..., d) as (B, T, d)."""
    return values.reshape(batch, -1, values.shape[-1])


def _each(batch: int, values: Tensor) -> Tensor:
    """Sum the rows of each record."""
    return values if len(values) == batch else values.unflatten(0, (batch, -1)).sum(1)


def summed(batch: int, grad: Tensor, x: Tensor) -> Tensor:
    """Return gradients of what was broadcast, shape (B, *its shape)."""
    grad = grad.reshape(batch, -1, *grad.shape[1:])
    extra = grad.dim() - 1 - x.dim()
    grad = grad.sum(tuple(range(1, 1 + extra))) if extra > 0 else grad
    ones = [i + 1 for i, n in enumerate(x.shape) if n == 1 and grad.shape[i + 1] > 1]
    return grad.sum(ones, keepdim=True) if ones else grad


def _product(batch: int, grad: Tensor, x: Any, weight: Any, bias: Any, *, turned: bool) -> Pairs:
    """Yield gradients of a product with a matrix, which stands as in a linear layer or turned."""
    grad, shared = positions(batch, grad), None
    if grad.shape[1] == 1 and x is not None:
        shared = norms(grad[:, 0])
    rows: Any = None if x is None else positions(batch, x)
    yield weight, lambda: Outer(rows, grad) if turned else Outer(grad, rows, shared)
    if bias is not None:
        one = grad.shape[1] == 1
        square = None if shared is None else shared.square()
        yield bias, lambda: Dense(grad[:, 0], square) if one else Dense(grad.sum(1))


@rule(F.linear, weight=1)
def _linear(batch: int, grad: Tensor, input: Any, weight: Any, bias: Any = None) -> Pairs:
    return _product(batch, grad, input, weight, bias, turned=False)


@rule(torch.addmm)
def _addmm(batch: int, grad: Tensor, input: Any, mat1: Any, mat2: Any) -> Pairs:
    bias = input if input.dim() == 1 else None
    return _product(batch, grad, mat1, mat2, bias, turned=True)


@rule(torch.matmul, Tensor.matmul)
def _matmul(batch: int, grad: Tensor, x: Any, y: Any) -> Pairs | None:
    if y.dim() != 2 or x.dim() < 2 or isinstance(x, nn.Parameter):
        return None  # for each record, again
    return _product(batch, grad, x, y, None, turned=True)


@rule(F.embedding)
def _embedding(
    batch: int,
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    padding_idx: Any = None,
    *_: Any,
    **__: Any,
) -> Pairs:
    index, grad = input.reshape(batch, -1), positions(batch, grad)
    if padding_idx is not None:
        grad = grad.masked_fill((index == padding_idx % len(weight))[..., None], 0)
    yield weight, lambda: Rows(index, grad, len(weight))


def _convolution(
    dims: int, batch: int, grad: Tensor, input: Any, weight: Tensor, bias: Any = None,
    stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Pairs:  # fmt: skip
    def whole() -> Any:
        each, values = lambda x: (x,) * dims if isinstance(x, int) else tuple(x), input
        around, steps = padding, each(dilation)
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(steps, weight.shape[2:], strict=True)]
            sides = [side for n in reversed(total) for side in (n // 2, n - n // 2)]
            values, around = F.pad(values, sides), 0
        around = 0 if around == "valid" else around
        sizes = weight.shape, each(stride), each(around), steps, groups
        form = Convolution(grad, values, *sizes)
        return form if len(grad) == batch else Dense(_each(batch, form.dense()))

    yield weight, whole
    yield bias, lambda: _each(batch, _per_channel(grad))


for _dims in (1, 2, 3):
    rule(getattr(torch, f"conv{_dims}d"), weight=1)(partial(_convolution, _dims))


def _per_channel(values: Tensor) -> Tensor:
    """(B, channels, *positions) summed to (B, channels)."""
    return values.flatten(2).sum(2)


def _standardised(
    normalise: Any, batch: int, grad: Tensor, shape: Any, weight: Any, bias: Any
) -> Pairs:
    # (B, ..., *shape) summed to (B, *shape).
    added = lambda values: values.reshape(batch, -1, *shape).sum(1)
    yield weight, lambda: added(normalise().mul_(grad))
    yield bias, lambda: added(grad)


@rule(F.layer_norm, weight=2)
def _layer_norm(
    batch: int, grad: Tensor, input: Any, normalized_shape: Any,
    weight: Any = None, bias: Any = None, eps: float = 1e-5,
) -> Pairs:  # fmt: skip
    normalise = lambda: F.layer_norm(input, normalized_shape, eps=eps)
    return _standardised(normalise, batch, grad, normalized_shape, weight, bias)


@rule(F.rms_norm, weight=2)
def _rms_norm(
    batch: int, grad: Tensor, input: Any, normalized_shape: Any, weight: Any = None, eps: Any = None
) -> Pairs:
    normalise = lambda: F.rms_norm(input, normalized_shape, eps=eps)
    return _standardised(normalise, batch, grad, normalized_shape, weight, None)


@rule(F.group_norm, weight=2)
def _group_norm(
    batch: int, grad: Tensor, input: Any, num_groups: int,
    weight: Any = None, bias: Any = None, eps: float = 1e-5,
) -> Pairs:  # fmt: skip
    normalised = lambda: F.group_norm(input, num_groups, eps=eps)
    yield weight, lambda: _each(batch, _per_channel(normalised().mul_(grad)))
    yield bias, lambda: _each(batch, _per_channel(grad))


@rule(torch.add, Tensor.add)
def _add(batch: int, grad: Tensor, x: Any, y: Any, *, alpha: float = 1) -> Pairs:
    yield x, lambda: summed(batch, grad, x)
    yield y, lambda: summed(batch, grad * alpha, y)


@rule(torch.mul, Tensor.mul)
def _mul(batch: int, grad: Tensor, x: Any, y: Any) -> Pairs:
    yield x, lambda: summed(batch, grad * y, x)
    yield y, lambda: summed(batch, grad * x, y)


@rule(Tensor.expand)
def _expand(batch: int, grad: Tensor, x: Tensor, *sizes: Any) -> Pairs:
    yield x, lambda: summed(batch, grad, x)
