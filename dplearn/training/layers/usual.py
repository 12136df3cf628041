"""The rules of the usual layers: products, convolutions, tables and norms."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.adaptive import _ASMoutput

from dplearn.core import validate
from dplearn.training.layers.per_example import Convolution, Outer, Rows
from dplearn.training.layers.registry import RULES, Rule, rule, substitute, trained


def _positions(values: Tensor) -> Tensor:
    """(B, ..., d) as (B, T, d)."""
    return values.reshape(len(values), -1, values.shape[-1])


def _affine(module: Any, weight: Callable[[], Any], bias: Callable[[], Tensor]) -> dict[str, Any]:
    forms = {"weight": weight, "bias": bias}
    return {name: form() for name, form in forms.items() if trained(getattr(module, name, None))}


@rule(nn.Linear, nn.Bilinear)
def _linear(module: nn.Linear | nn.Bilinear, inputs: Sequence[Tensor], grad: Tensor):
    grad = _positions(grad)

    def weight() -> Outer:
        values, *second = inputs
        if second:
            values = (values[..., :, None] * second[0][..., None, :]).flatten(-2)
        return Outer(grad, _positions(values))

    return _affine(module, weight, lambda: grad[:, 0] if grad.shape[1] == 1 else grad.sum(1))


@rule(nn.Conv1d, nn.Conv2d, nn.Conv3d)
def _convolution(module: nn.Conv2d, inputs: Sequence[Tensor], grad: Tensor):
    def weight() -> Convolution:
        values, padding = inputs[0], module.padding
        if module.padding_mode != "zeros" or isinstance(padding, str):
            sides = module._reversed_padding_repeated_twice
            mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
            values, padding = F.pad(values, sides, mode), [0] * len(module.stride)
        form = module.stride, padding, module.dilation, module.groups
        return Convolution(grad, values, module.weight.shape, *form)

    return _affine(module, weight, lambda: _per_channel(grad))


@rule(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
def _transposed(module: Any, inputs: Sequence[Tensor], grad: Tensor):
    # The convolution that takes gradients of outputs to those of inputs has the same weights.
    form = module.stride, module.padding, module.dilation, module.groups
    weight = lambda: Convolution(inputs[0], grad, module.weight.shape, *form)
    return _affine(module, weight, lambda: _per_channel(grad))


def _per_channel(values: Tensor) -> Tensor:
    """(B, channels, *positions) summed to (B, channels)."""
    return values.flatten(2).sum(2)


@rule(nn.Embedding)
def _embedding(module: nn.Embedding | nn.EmbeddingBag, inputs: Sequence[Tensor], grad: Tensor):
    index, grad = inputs[0].reshape(len(grad), -1), _positions(grad)
    if module.padding_idx is not None:
        grad = grad.masked_fill((index == module.padding_idx)[..., None], 0)
    return {"weight": Rows(index, grad, module.num_embeddings)}


@substitute(nn.EmbeddingBag)
def _bag(
    module: nn.EmbeddingBag,
    record: Callable[..., None],
    input: Tensor,
    offsets: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
) -> Tensor:
    """Look-ups on record, (B, T, d), and their sum, mean or maximum over the T words of a bag."""
    if input.dim() != 2:
        raise validate.unsupported("EmbeddingBag with offsets", "Pass bags of shape (B, T).")
    values = F.embedding(input, module.weight, module.padding_idx)
    record(RULES[nn.Embedding], (input,), {}, values)
    words = torch.ones_like(input, dtype=torch.bool)
    if module.padding_idx is not None:
        words = input != module.padding_idx
    if module.mode == "max":
        top = values.masked_fill(~words[..., None], -torch.inf).max(1).values
        return torch.where(words.any(1)[:, None], top, 0)
    weights = words.to(values) if per_sample_weights is None else words * per_sample_weights
    total = (values * weights[..., None]).sum(1)
    return total / words.sum(1).clamp(min=1)[:, None] if module.mode == "mean" else total


@substitute(nn.AdaptiveLogSoftmaxWithLoss)
def _adaptive(module: nn.AdaptiveLogSoftmaxWithLoss, record: Any, input: Tensor, target: Tensor):
    """All clusters for all records: the module gathers those of one cluster, whose rows are few."""
    output = module.log_prob(input).gather(1, target[:, None])[:, 0]
    return _ASMoutput(output, -output.mean())


@rule(nn.LayerNorm, nn.RMSNorm)
def _layer_norm(module: nn.LayerNorm | nn.RMSNorm, inputs: Sequence[Tensor], grad: Tensor):
    normalise: Any = F.rms_norm if isinstance(module, nn.RMSNorm) else F.layer_norm
    normalised = lambda: normalise(inputs[0], module.normalized_shape, eps=module.eps)
    # (B, ..., *shape) summed to (B, *shape).
    added = lambda values: values.reshape(len(values), -1, *module.normalized_shape).sum(1)
    return _affine(module, lambda: added(normalised().mul_(grad)), lambda: added(grad))


@rule(nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
@rule(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
def _channel_norm(module: Any, inputs: Sequence[Tensor], grad: Tensor):
    def weight() -> Tensor:
        if getattr(module, "running_mean", None) is None:
            groups = getattr(module, "num_groups", grad.shape[1])
            normalised = F.group_norm(inputs[0], groups, eps=module.eps)
        else:  # constants: statistics that change are refused
            mean, variance = (x.to(grad) for x in (module.running_mean, module.running_var))
            normalised = F.batch_norm(inputs[0], mean, variance, eps=module.eps)
        return _per_channel(normalised.mul_(grad))

    return _affine(module, weight, lambda: _per_channel(grad))


_OURS = frozenset(RULES.values())


def reads_inputs(module: nn.Module, module_rule: Rule | None) -> bool:
    """Return whether inputs must be kept: our rules need none for a bias alone."""
    return module_rule not in _OURS or trained(module.weight)
