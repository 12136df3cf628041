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
    separate = options.get("use_separate_proj_weight") or options.get("static_k") is not None
    if separate or bias_k is not None or add_zero or query.dim() != 3:
        raise Unmet("attention with keys of its own, or with keys of another size")
    dropout = dropout if options.get("training", True) else 0.0
    mask, padding = options.get("attn_mask"), options.get("key_padding_mask")
    with tape:
        x, y, z = (t.transpose(0, 1) for t in (query, key, value))  # batch dimension first
        if query is key is value:
            parts: Sequence[Tensor] = F.linear(x, in_weight, in_bias).chunk(3, dim=2)
        else:
            biases = [None] * 3 if in_bias is None else in_bias.chunk(3)
            pairs = zip((x, y, z), in_weight.chunk(3), biases, strict=True)
            parts = [F.linear(*pair) for pair in pairs]
        # (B, T, d) becomes (B, heads, T, d / heads).
        q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in parts)
        if mask is not None and mask.dim() == 3:
            mask = mask.unflatten(0, q.shape[:2])
        if padding is not None:
            mask = padding[:, None, None] + (0 if mask is None else mask)
        shares = None
        if options.get("need_weights", True):
            scores = q @ (k.mT * q.shape[3] ** -0.5)
            scores = scores if mask is None else scores + mask
            shares = F.dropout(scores.softmax(-1), dropout)
            mixed = shares @ v
            shares = shares.mean(1) if options.get("average_attn_weights", True) else shares
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, mask, dropout)
        output = F.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias)
        return output.transpose(0, 1), shares


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


def recurrence(step: Callable[..., State], tape: Any, *args: Any) -> Any:
    """Return outputs and last states of stacked recurrent layers, in one or both directions."""
    values, start, weights, biases, layers, dropout, training, both, batch_first = args
    count = 2 + 2 * biases if isinstance(biases, bool) else 0  # else the sequences are packed
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


# Replacements used while recording, by the function that they replace.
WITHIN: dict[Any, Callable[..., Any]] = {
    F.multi_head_attention_forward: attention,
    torch._VF.lstm: partial(recurrence, _lstm),
    torch._VF.gru: partial(recurrence, _gru),
    torch._VF.rnn_tanh: partial(recurrence, partial(_simple, torch.tanh)),
    torch._VF.rnn_relu: partial(recurrence, partial(_simple, torch.relu)),
}
