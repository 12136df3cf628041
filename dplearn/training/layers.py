"""Per-example gradients of the usual layers, from a layer's input and its output's gradient.

A rule is a function ``(module, inputs, grad) -> {parameter name: gradients}``: `inputs` are the
module's tensors as it was called, `grad` is the gradient of its output, both with one row per
example. Gradients are a tensor of shape ``(B, *parameter shape)``, or one of the cheaper forms of
`dplearn.training.forms`. Modules without a rule run again one example at a time (`again`); a rule
only makes them faster:

    @rule(Scale)
    def _scale(module, inputs, grad):
        return {"weight": (inputs[0] * grad).flatten(2).sum(2)}

A *substitute* (`sequences`) is a forward pass ``(module, record, *args, **kwargs)`` that computes
what the module does from products on record: ``record(rule, inputs, {}, product)`` notes each.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from dplearn.core import validate
from dplearn.training.forms import Convolution, Outer, PerExample, Rows

Rule = Callable[[Any, Sequence[Any], Tensor], Mapping[str, Tensor | PerExample]]
RULES: dict[type[nn.Module], Rule] = {}


def rule(*kinds: type[nn.Module], registry: dict = RULES) -> Callable[[Any], Any]:
    """Register the decorated rule or substitute of modules of these `kinds` in a `registry`."""
    return lambda function: registry.update(dict.fromkeys(kinds, function)) or function


def registered(registry: Mapping[type[nn.Module], Any], module: nn.Module) -> Any:
    """Return the entry of a module that computes what its kind does; None of any other."""
    for kind in type(module).__mro__:
        if kind in registry:
            own = vars(module)
            same = type(module).forward is kind.forward and "forward" not in own
            # A tensor in place of a parameter was computed from others, by a hook.
            hooked = module._forward_pre_hooks and any(isinstance(x, Tensor) for x in own.values())
            derived = hooked or "parametrizations" in module._modules
            # Keys of an attention's own and outputs of other sizes have no substitute.
            odd = own.get("add_zero_attn") or own.get("proj_size") or "bias_k" in module._parameters
            return registry[kind] if same and not derived and not odd else None
    return None


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


def _positions(values: Tensor) -> Tensor:
    """(B, ..., d) as (B, T, d)."""
    return values if values.dim() == 3 else values.reshape(len(values), -1, values.shape[-1])


def _affine(module: Any, weight: Callable[[], Any], bias: Callable[[], Tensor]) -> dict[str, Any]:
    forms = {"weight": weight, "bias": bias}
    return {name: form() for name, form in forms.items() if trained(getattr(module, name, None))}


@rule(nn.Linear)
def _linear(module: nn.Linear, inputs: Sequence[Tensor], grad: Tensor):
    grad = _positions(grad)
    weight = lambda: Outer(grad, _positions(inputs[0]))
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
def _embedding(module: nn.Embedding, inputs: Sequence[Tensor], grad: Tensor):
    index, grad = inputs[0].reshape(len(grad), -1), _positions(grad)
    if module.padding_idx is not None:
        grad = grad.masked_fill((index == module.padding_idx)[..., None], 0)
    return {"weight": Rows(index, grad, module.num_embeddings)}


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
