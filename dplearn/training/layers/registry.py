"""Which layer has which rule, or which substitute; and which parameters are trained."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn

from dplearn.training.layers.per_example import PerExample

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


def trained(parameter: Any) -> bool:
    """Whether a parameter exists and is not frozen."""
    return parameter is not None and parameter.requires_grad


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters of a model that are not frozen, by name."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}
