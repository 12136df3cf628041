"""Multi-head attention with its projections on record, as the linear layers they are.

No hook sees the projections inside `nn.MultiheadAttention`: while recording, this forward pass
replaces its own and computes the same.
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
    # (B, T, d) becomes (B, heads, T, d / heads).
    split = lambda x: x.unflatten(2, (module.num_heads, -1)).transpose(1, 2)
    q, k, v = map(split, _projected(module, record, query, key, value))
    if attn_mask is not None and attn_mask.dim() == 3:
        attn_mask = attn_mask.unflatten(0, q.shape[:2])
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask[:, None, None]
    mask = None  # to add to the scores, broadcastable to (B, heads, T, S)
    for part in (attn_mask, key_padding_mask):
        if part is not None:
            if part.dtype == torch.bool:  # True means left out
                part = torch.zeros_like(part, dtype=q.dtype).masked_fill(part, -torch.inf)
            mask = part if mask is None else mask + part
    dropout = module.dropout if module.training else 0.0
    weights = None
    if need_weights:
        scores = q @ (k.mT * q.shape[3] ** -0.5)
        weights = F.dropout((scores if mask is None else scores + mask).softmax(-1), dropout)
        mixed = weights @ v
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        mixed = F.scaled_dot_product_attention(q, k, v, mask, dropout)
    output = module.out_proj(mixed.transpose(1, 2).flatten(2))
    return output if module.batch_first else output.transpose(0, 1), weights


def _projected(module: nn.MultiheadAttention, record: Any, *inputs: Tensor) -> Sequence[Tensor]:
    """Query, key and value after the projections, batch first."""
    one, same = module._qkv_same_embed_dim, inputs[0] is inputs[1] is inputs[2]
    if not module.batch_first:
        inputs = tuple(x.transpose(0, 1) for x in inputs)
    names = ["in_proj_weight"] * 3 if one else ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
    bias: Any = module.in_proj_bias
    if one and same:  # all three at once
        parts: list[Any] = [(names[0], None, inputs[0], module.in_proj_weight, bias)]
    else:
        weights = module.in_proj_weight.chunk(3) if one else [getattr(module, n) for n in names]
        biases = [None] * 3 if bias is None else bias.chunk(3)
        parts = list(zip(names, range(3), inputs, weights, biases, strict=True))
    outputs = [F.linear(*part) for _, _, *part in parts]
    for (name, block, x, *_), output in zip(parts, outputs, strict=True):
        record(partial(_projection, name, block), (x,), {}, output)
    return outputs if len(outputs) == 3 else outputs[0].chunk(3, dim=2)


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
