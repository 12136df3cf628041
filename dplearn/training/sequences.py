"""Attention and recurrent layers as linear products that can be recorded.

PyTorch hides the calls inside these functions, so equivalent functions replace them while a pass
is recorded. A recurrent layer multiplies its inputs at all times at once. Packed sequences are not
supported: their records are in another order.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dplearn.training.layers import Unmet

State = tuple[Tensor, ...]  # values carried to the next time; the first is the output


def attention(
    tape: Any, query: Tensor, key: Tensor, value: Tensor, width: int, heads: int,
    in_weight: Any, in_bias: Any, *rest: Any, **options: Any,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Return the result of `F.multi_head_attention_forward`, with its products recorded."""
    bias_k, _, add_zero, dropout, out_weight, out_bias = rest
    own = [options.get(f"{name}_proj_weight") for name in "qkv"]
    if bias_k is not None or add_zero or query.dim() != 3 or options.get("static_k") is not None:
        raise Unmet("attention adds keys of its own")
    dropout = dropout if options.get("training", True) else 0.0
    mask, padding = options.get("attn_mask"), options.get("key_padding_mask")
    same = query is key is value
    with tape:
        x, y, z = (t.transpose(0, 1) for t in (query, key, value))  # batch dimension first
        if same and not options.get("use_separate_proj_weight"):
            parts: Sequence[Tensor] = F.linear(x, in_weight, in_bias).chunk(3, dim=2)
        else:
            weights: Any = own if options.get("use_separate_proj_weight") else in_weight.chunk(3)
            biases = [None] * 3 if in_bias is None else in_bias.chunk(3)
            parts = [F.linear(*part) for part in zip((x, y, z), weights, biases, strict=True)]
        # (B, T, d) becomes (B, heads, T, d / heads).
        q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in parts)
        if mask is not None and mask.dim() == 3:
            mask = mask.unflatten(0, q.shape[:2])
        if padding is not None:
            padding = padding[:, None, None]
            mask = padding if mask is None else mask + padding
        mixed, shares = _mixed(q, k, v, mask, dropout, options)
        output = F.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias)
        return output.transpose(0, 1), shares


def _mixed(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, options: dict
) -> tuple[Tensor, Tensor | None]:
    """Return the attention output, and the attention weights if needed."""
    if not options.get("need_weights", True):
        return F.scaled_dot_product_attention(q, k, v, mask, dropout), None
    scores = q @ (k.mT * q.shape[3] ** -0.5)
    weights = F.dropout((scores if mask is None else scores + mask).softmax(-1), dropout)
    return weights @ v, weights.mean(1) if options.get("average_attn_weights", True) else weights


def _lstm(given: Tensor, recurrent: Tensor, _: Tensor, cell: Tensor) -> State:
    i, f, new, o = (given + recurrent).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * new.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(given: Tensor, recurrent: Tensor, state: Tensor) -> State:
    (r, z, new), (r_more, z_more, new_more) = given.chunk(3, 1), recurrent.chunk(3, 1)
    new = (new + (r + r_more).sigmoid() * new_more).tanh()
    return (new + (z + z_more).sigmoid() * (state - new),)


def _simple(activation: Any, given: Tensor, recurrent: Tensor, _: Tensor) -> State:
    return (activation(given + recurrent),)


def cell(step: Callable[..., State], tape: Any, values: Tensor, start: Any, *weights: Any) -> Any:
    """Return the next state of a recurrent cell."""
    weight, hidden, bias, more = (*weights, None, None)[:4]
    states = start if isinstance(start, tuple | list) else (start,)
    with tape:
        given, recurrent = F.linear(values, weight, bias), F.linear(states[0], hidden, more)
    state = step(given, recurrent, *states)
    return state if len(state) > 1 else state[0]


def recurrence(step: Callable[..., State], tape: Any, *args: Any) -> Any:
    """Return outputs and last states of stacked recurrent layers, in one or both directions."""
    packed = not isinstance(args[3], bool)
    values, start, weights, biases, layers, dropout, training, both, batch_first = args
    count = 2 + 2 * biases if not packed else 0
    if len(weights) != count * layers * (1 + both):
        raise Unmet("sequences are packed, or outputs projected")
    linear = lambda *given: tape.__torch_function__(F.linear, (), given)
    values = values if batch_first else values.transpose(0, 1)
    starts, ends = start if isinstance(start, tuple) else (start,), []
    for layer in range(layers):
        values = F.dropout(values, dropout, training) if layer else values
        outputs = []
        for back in range(1 + both):
            number = len(ends)
            weight, hidden, *bias = weights[count * number : count * (number + 1)]
            bias, more = bias or (None, None)
            given, states = linear(values, weight, bias).unbind(1), []
            state = tuple(x[number] for x in starts)
            for product in reversed(given) if back else given:
                state = step(product, linear(state[0], hidden, more), *state)
                states.append(state[0])
            outputs.append(torch.stack(states[::-1] if back else states, 1))
            ends.append(state)
        values = torch.cat(outputs, 2) if both else outputs[0]
    last = tuple(torch.stack(parts) for parts in zip(*ends, strict=True))
    return (values if batch_first else values.transpose(0, 1), *last)


_STEPS: dict[str, Callable[..., State]] = {
    "lstm": _lstm,
    "gru": _gru,
    "rnn_tanh": partial(_simple, torch.tanh),
    "rnn_relu": partial(_simple, torch.relu),
}
# Replacements used while recording, by the function that they replace.
WITHIN: dict[Any, Callable[..., Any]] = {
    F.multi_head_attention_forward: attention,
    **{
        getattr(torch._VF, f"{name}{one}"): partial(run, step)
        for name, step in _STEPS.items()
        for one, run in (("", recurrence), ("_cell", cell))
    },
}
