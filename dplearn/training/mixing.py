"""Modules that let records influence each other or hide from hooks, and what to use instead."""

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from dplearn.ground import validate

_OF_TABLES = ("sparse", "scale_grad_by_freq", "max_norm")


def refuse_mixing(name: str, module: nn.Module) -> None:
    """Raise if this module mixes records or keeps statistics of them."""
    if why := _reason(module):
        raise validate.unsupported(f"{type(module).__name__} ({name or 'the model itself'})", why)


def _reason(module: nn.Module) -> str:
    if "_orig_mod" in module._modules:  # an OptimizedModule; its type takes two seconds to import
        return "its graph does not know our hooks. Pass the plain model, with compile=True."
    if isinstance(module, _BatchNorm):
        mixes = module.training or module.running_mean is None
        return "its statistics mix records. Use nn.GroupNorm." if mixes else ""
    if isinstance(module, _InstanceNorm):
        keeps = module.training and module.track_running_stats
        return "its running statistics leak. Set track_running_stats=False." if keeps else ""
    if isinstance(module, torch.jit.ScriptModule):
        return "its parts know no hooks. Pass the module that was scripted."
    if any(p is not None and p.is_complex() for p in module._parameters.values()):
        return "clipping is for real parameters. Hold real and imaginary parts, and join them."
    if isinstance(module, nn.Embedding | nn.EmbeddingBag):
        odd = [x for x in _OF_TABLES if getattr(module, x)]
        return f"not with {odd[0]}: leave that option out." if odd else ""
    return ""
