"""Per-example gradients of each kind of layer, from its input and its output's gradient.

A rule is a function ``(module, inputs, grad) -> {parameter name: gradients}``: `inputs` are the
module's tensors as it was called, `grad` is the gradient of its output, both with one row per
example. Gradients are a tensor of shape ``(B, *parameter shape)``, or one of the cheaper forms
of `dplearn.training.per_example`. Modules without a rule are differentiated one example at a
time; a rule only makes them faster:

    @rule(Scale)
    def _scale(module, inputs, grad):
        return {"weight": (inputs[0] * grad).flatten(2).sum(2)}

A *substitute* is a forward pass ``(module, record, *args, **kwargs)`` that computes what the
module does from products on record, where one rule for the whole would need what no hook sees:
``record(rule, inputs, {}, product)`` notes each of them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.adaptive import _ASMoutput

from dplearn.ground import validate
from dplearn.training.per_example import Convolution, Outer, PerExample, Rows

Rule = Callable[[Any, Sequence[Any], Tensor], Mapping[str, Tensor | PerExample]]
RULES: dict[type[nn.Module], Rule] = {}
SUBSTITUTES: dict[type[nn.Module], Callable[..., Any]] = {}


def rule(*kinds: type[nn.Module]) -> Callable[[Rule], Rule]:
    """Register the rule of one or more types of modules."""
    return partial(_register, RULES, kinds)


def substitute(*kinds: type[nn.Module]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the forward pass that replaces those of these types while recording."""
    return partial(_register, SUBSTITUTES, kinds)


def _register(registry: dict, kinds: Sequence[type[nn.Module]], function: Any) -> Any:
    registry.update(dict.fromkeys(kinds, function))
    return function


def rule_of(module: nn.Module) -> Rule | None:
    """The rule of a module, None if it has none or computes something else than its kind."""
    return _entry(RULES, module)


def substitute_of(module: nn.Module) -> Callable[..., Any] | None:
    """The substitute of a module, None as for `rule_of`."""
    return _entry(SUBSTITUTES, module)


def _entry(registry: Mapping[type[nn.Module], Any], module: nn.Module) -> Any:
    """What is registered for the kind of a module that computes what its kind does."""
    for kind in type(module).__mro__:
        if kind in registry:
            own = vars(module)
            same = type(module).forward is kind.forward and "forward" not in own
            # A tensor in place of a parameter was computed from others, by a hook.
            hooked = module._forward_pre_hooks and any(isinstance(x, Tensor) for x in own.values())
            derived = hooked or "parametrizations" in module._modules
            return registry[kind] if same and not derived else None
    return None


def reads_inputs(module: nn.Module, module_rule: Rule | None) -> bool:
    """Whether inputs must be kept: our rules need none for a bias alone."""
    return module_rule not in _OURS or trained(module.weight)


def trained(parameter: Any) -> bool:
    """Whether a parameter exists and is not frozen."""
    return parameter is not None and parameter.requires_grad


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters of a model that are not frozen, by name."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _positions(values: Tensor) -> Tensor:
    """(B, ..., d) as (B, T, d)."""
    return values.reshape(len(values), -1, values.shape[-1])


def _affine(module: Any, weight: Callable[[], Any], bias: Callable[[], Tensor]) -> dict[str, Any]:
    """Gradients of weight and bias, each formed where the parameter is trained."""
    forms = {"weight": weight, "bias": bias}
    return {name: form() for name, form in forms.items() if trained(getattr(module, name, None))}


@rule(nn.Linear)
def _linear(module: nn.Linear, inputs: Sequence[Tensor], grad: Tensor):
    grad = _positions(grad)
    bias = lambda: grad[:, 0] if grad.shape[1] == 1 else grad.sum(1)
    return _affine(module, lambda: Outer(grad, _positions(inputs[0])), bias)


@rule(nn.Conv1d, nn.Conv2d, nn.Conv3d)
def _convolution(module: nn.Conv2d, inputs: Sequence[Tensor], grad: Tensor):
    def weight() -> Convolution:
        values, padding = _padded(module, inputs[0])
        form = module.stride, padding, module.dilation, module.groups
        return Convolution(grad, values, module.weight.shape, *form)

    return _affine(module, weight, lambda: _per_channel(grad))


@rule(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
def _transposed(module: Any, inputs: Sequence[Tensor], grad: Tensor):
    # The convolution that takes gradients of outputs to those of inputs has the same weights.
    form = module.stride, module.padding, module.dilation, module.groups
    weight = lambda: Convolution(inputs[0], grad, module.weight.shape, *form)
    return _affine(module, weight, lambda: _per_channel(grad))


@rule(nn.Bilinear)
def _bilinear(module: nn.Bilinear, inputs: Sequence[Tensor], grad: Tensor):
    products = inputs[0][..., :, None] * inputs[1][..., None, :]
    return _linear(module, [products.flatten(-2)], grad)


def _padded(module: nn.Conv2d, values: Tensor) -> tuple[Tensor, Sequence[int]]:
    """The input, and how many zeros to put on each of its sides."""
    if module.padding_mode == "zeros" and not isinstance(module.padding, str):
        return values, module.padding
    sides = module._reversed_padding_repeated_twice
    mode = "constant" if module.padding_mode == "zeros" else module.padding_mode
    return F.pad(values, sides, mode), [0] * len(module.stride)


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
    record(_embedding, (input,), {}, values)
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
def _channel_norm(module: nn.GroupNorm, inputs: Sequence[Tensor], grad: Tensor):
    groups = getattr(module, "num_groups", grad.shape[1])
    normalised = lambda: F.group_norm(inputs[0], groups, eps=module.eps)
    return _affine(
        module, lambda: _per_channel(normalised().mul_(grad)), lambda: _per_channel(grad)
    )


@rule(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
def _batch_norm(module: Any, inputs: Sequence[Tensor], grad: Tensor):
    """With statistics that are constants: others are refused."""
    mean, variance = (x.to(grad) for x in (module.running_mean, module.running_var))
    normalised = lambda: F.batch_norm(inputs[0], mean, variance, eps=module.eps)
    return _affine(module, lambda: _per_channel(normalised() * grad), lambda: _per_channel(grad))


_OURS = frozenset(RULES.values())
