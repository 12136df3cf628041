"""Multi-head attention with its projections on record, as the linear layers they are.

`nn.MultiheadAttention` multiplies with its parameters inside one function, where no hook sees
inputs and outputs of the projections. While recording, this forward pass replaces its own and
computes the same.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dplearn.training.layers.per_example import Dense, Outer
from dplearn.training.layers.registry import substitute, trained


@substitute(nn.MultiheadAttention)
def forward(
    module: nn.MultiheadAttention,
    record: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
):
    """Forward pass of `module`; `record(rule, args, kwargs, output)` notes its parts."""
    if query.dim() != 3:
        raise ValueError(f"Expected a batch of queries (B, T, d), got shape {tuple(query.shape)}.")
    if is_causal and attn_mask is None:
        raise ValueError("Expected attn_mask, which is_causal=True describes, got None.")
    projected = _extended(module, record, *_projected(module, record, query, key, value))
    # (B, T, d) becomes (B, heads, T, d / heads).
    q, k, v = (x.unflatten(2, (module.num_heads, -1)).transpose(1, 2) for x in projected)
    causal = is_causal and key_padding_mask is None and not need_weights
    mask = None if causal else _mask(attn_mask, key_padding_mask, q, k.shape[2])
    dropout = module.dropout if module.training else 0.0
    weights = None
    if need_weights:
        scores = q @ (k.mT * q.shape[3] ** -0.5)
        weights = F.dropout((scores if mask is None else scores + mask).softmax(-1), dropout)
        mixed = weights @ v
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        mixed = F.scaled_dot_product_attention(q, k, v, mask, dropout, causal)
    output = module.out_proj(mixed.transpose(1, 2).flatten(2))
    return output if module.batch_first else output.transpose(0, 1), weights


def _extended(module: nn.MultiheadAttention, record: Any, *projected: Tensor) -> list[Tensor]:
    """Query, key and value (B, T, d) with the module's own key and value, and with zeros."""
    query, *pair = projected
    if module.bias_k is not None:
        for i, name in enumerate(("bias_k", "bias_v")):
            # A copy for each record, on record itself.
            own = getattr(module, name).expand(len(query), -1, -1).clone()
            copied = lambda module, inputs, grad, name=name: {name: Dense(grad[:, None])}
            record(copied, (), {}, own)
            pair[i] = torch.cat([pair[i], own], 1)
    if module.add_zero_attn:
        pair = [F.pad(x, (0, 0, 0, 1)) for x in pair]
    return [query, *pair]


def _projected(module: nn.MultiheadAttention, record: Any, *inputs: Tensor) -> list[Tensor]:
    """Query, key and value after the projections, batch first."""
    together = inputs[0] is inputs[1] is inputs[2] and module._qkv_same_embed_dim
    if not module.batch_first:
        inputs = tuple(x.transpose(0, 1) for x in inputs)
    if together:
        output = F.linear(inputs[0], module.in_proj_weight, module.in_proj_bias)
        record(partial(_projection, "in_proj_weight", None), inputs[:1], {}, output)
        return list(output.chunk(3, dim=2))
    if module._qkv_same_embed_dim:
        names, weights = ["in_proj_weight"] * 3, module.in_proj_weight.chunk(3)
    else:
        names = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
        weights = [getattr(module, name) for name in names]
    biases = [None] * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    outputs = [F.linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]
    for block, (name, x, output) in enumerate(zip(names, inputs, outputs, strict=True)):
        record(partial(_projection, name, block), (x,), {}, output)
    return outputs


def _projection(
    name: str, block: int | None, module: nn.Module, inputs: Sequence[Tensor], grad: Tensor
):
    """The rule of one projection; `block` is its third of parameters shared by all three."""
    width, gradients = grad.shape[2], {}
    wide = grad if block is None else F.pad(grad, (block * width, (2 - block) * width))
    if trained(getattr(module, name)):
        gradients[name] = Outer(wide if name == "in_proj_weight" else grad, inputs[0])
    if trained(module.in_proj_bias):
        gradients["in_proj_bias"] = Dense(wide.sum(1))
    return gradients


def _mask(
    attention: Tensor | None, padding: Tensor | None, query: Tensor, length: int
) -> Tensor | None:
    """Mask to add to the scores, broadcastable to (B, heads, T, S); added keys are never hidden."""
    batch, heads = query.shape[:2]
    if attention is not None and attention.dim() == 3:
        attention = attention.unflatten(0, (batch, heads))
    padding = None if padding is None else padding[:, None, None]
    total = None
    for mask in (attention, padding):
        if mask is not None:
            if mask.dtype == torch.bool:  # True means left out
                mask = torch.zeros_like(mask, dtype=query.dtype).masked_fill(mask, -torch.inf)
            mask = F.pad(mask, (0, length - mask.shape[-1]))
            total = mask if total is None else total + mask
    return total
