"""Which layer has which rule or substitute, which is refused, and which parameters are trained."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from dplearn.core import validate
from dplearn.training.layers.per_example import PerExample

Rule = Callable[[Any, Sequence[Any], Tensor], Mapping[str, Tensor | PerExample]]
RULES: dict[type[nn.Module], Rule] = {}
SUBSTITUTES: dict[type[nn.Module], Callable[..., Any]] = {}


def rule(*kinds: type[nn.Module]) -> Callable[[Rule], Rule]:
    """Register the rule of modules of these `kinds`."""
    return partial(_register, RULES, kinds)


def substitute(*kinds: type[nn.Module]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the forward pass that replaces those of these types while recording."""
    return partial(_register, SUBSTITUTES, kinds)


def _register(registry: dict, kinds: Sequence[type[nn.Module]], function: Any) -> Any:
    registry.update(dict.fromkeys(kinds, function))
    return function


def registered(registry: Mapping[type[nn.Module], Any], module: nn.Module) -> Any:
    """The rule or substitute of a module that computes what its kind does; None of any other."""
    for kind in type(module).__mro__:
        if kind in registry:
            own = vars(module)
            same = type(module).forward is kind.forward and "forward" not in own
            # A tensor in place of a parameter was computed from others, by a hook.
            hooked = module._forward_pre_hooks and any(isinstance(x, Tensor) for x in own.values())
            derived = hooked or "parametrizations" in module._modules
            # Keys of an attention's own have no substitute.
            odd = own.get("add_zero_attn") or "bias_k" in module._parameters
            return registry[kind] if same and not derived and not odd else None
    return None


def refuse_mixing(name: str, module: nn.Module) -> None:
    """Raise if this module mixes records, keeps statistics of them or hides from hooks."""
    kept, why = module._parameters.values(), ""
    if "_orig_mod" in module._modules:  # an OptimizedModule; its type takes two seconds to import
        why = "its graph does not know our hooks. Pass the plain model."
    elif isinstance(module, _BatchNorm):
        if module.training or module.running_mean is None:
            why = "its statistics mix records. Use nn.GroupNorm."
    elif isinstance(module, _InstanceNorm):
        if module.training and module.track_running_stats:
            why = "its running statistics leak. Set track_running_stats=False."
    elif isinstance(module, torch.jit.ScriptModule):
        why = "its parts know no hooks. Pass the module that was scripted."
    elif any(p is not None and p.is_complex() for p in kept):
        why = "clipping is for real parameters. Hold real and imaginary parts, and join them."
    elif isinstance(module, nn.Embedding | nn.EmbeddingBag):
        options = ("sparse", "scale_grad_by_freq", "max_norm")
        if odd := [name for name in options if getattr(module, name)]:
            why = f"not with {odd[0]}: leave that option out."
    if why:
        raise validate.unsupported(f"{type(module).__name__} ({name or 'the model itself'})", why)


def trained(parameter: Any) -> bool:
    """Whether a parameter exists and is not frozen."""
    return parameter is not None and parameter.requires_grad


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters of a model that are not frozen, by name."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}
