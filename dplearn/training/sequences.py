"""Attention and recurrence with their products on record, as the linear layers they are.

No hook sees the products inside `nn.MultiheadAttention` or a recurrent layer: while recording,
these forward passes replace their own and compute the same. Of a recurrent layer, products with the
input are formed for all times at once, and both products share the gradient of their sum: one edge
in the graph serves both weights. (A GRU multiplies the second by its reset gate; so does the rule.)
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.adaptive import _ASMoutput
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from dplearn.training.forms import Dense, Outer
from dplearn.training.layers import rule, trained

SUBSTITUTES: dict[type[nn.Module], Callable[..., Any]] = {}
State = tuple[Tensor, ...]  # what is carried to the next time, first of all the output


@rule(nn.MultiheadAttention, registry=SUBSTITUTES)
def attention(
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
    """Return what attention gives; `record(rule, args, kwargs, output)` notes its parts."""
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
    dropout, weights = module.dropout if module.training else 0.0, None
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
    """Return query, key and value after the projections, batch first."""
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
    """Differentiate one projection; `block` is its third of parameters shared by all three."""
    width, gradients = grad.shape[2], {}
    wide = grad if block is None else F.pad(grad, (block * width, (2 - block) * width))
    if trained(getattr(module, name)):
        gradients[name] = Outer(wide if name == "in_proj_weight" else grad, inputs[0])
    if trained(module.in_proj_bias):
        gradients["in_proj_bias"] = Dense(wide.sum(1))
    return gradients


@rule(nn.AdaptiveLogSoftmaxWithLoss, registry=SUBSTITUTES)
def adaptive(module: nn.AdaptiveLogSoftmaxWithLoss, record: Any, input: Tensor, target: Tensor):
    """Return log-probabilities by all clusters for all records, not by one cluster for a few."""
    output = module.log_prob(input).gather(1, target[:, None])[:, 0]
    return _ASMoutput(output, -output.mean())


def _lstm(given: Tensor, weight: Tensor, bias: Tensor | None, state: State) -> State:
    """Return the state after one time; `given` is the product with the input, and all biases."""
    i, f, new, o = torch.addmm(given, state[0], weight.t()).chunk(4, 1)
    cell = f.sigmoid() * state[1] + i.sigmoid() * new.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(given: Tensor, weight: Tensor, bias: Tensor | None, state: State) -> State:
    """Return the state and, for the rule, the reset gate; `given` lacks `bias`."""
    (r, z, new), recurrent = given.chunk(3, 1), F.linear(state[0], weight, bias).chunk(3, 1)
    reset, update = (r + recurrent[0]).sigmoid(), (z + recurrent[1]).sigmoid()
    new = (new + reset * recurrent[2]).tanh()
    return new + update * (state[0] - new), reset


@rule(nn.RNN, nn.LSTM, nn.GRU, registry=SUBSTITUTES)
def recurrence(module: Any, record: Any, input: Any, hx: Any = None) -> Any:
    """Return what layers one upon the other give, in one or both directions."""
    values, lengths = input, None
    if isinstance(input, PackedSequence):
        values, lengths = pad_packed_sequence(input, batch_first=True)
        lengths = lengths.to(values.device)
    elif not module.batch_first:
        values = input.transpose(0, 1)
    if values.dim() != 3:
        shape = tuple(values.shape)
        raise ValueError(f"Expected a batch of inputs with 3 dimensions, got shape {shape}.")
    starts, ends = () if hx is None else (hx,) if isinstance(hx, Tensor) else tuple(hx), []
    for layer in range(module.num_layers):
        if layer:
            values = F.dropout(values, module.dropout, module.training)
        outputs = []
        for direction in ("", "_reverse")[: 1 + module.bidirectional]:
            start, name = tuple(x[len(ends)] for x in starts), f"_l{layer}{direction}"
            output, end = _layer(module, record, name, values, start, lengths)
            outputs.append(output)
            ends.append(end)
        values = torch.cat(outputs, 2) if module.bidirectional else outputs[0]
    last = tuple(torch.stack(parts) for parts in zip(*ends, strict=True))
    if lengths is not None:
        ordered = input.sorted_indices is None
        values = pack_padded_sequence(values, lengths.cpu(), True, enforce_sorted=ordered)
    elif not module.batch_first:
        values = values.transpose(0, 1)
    return values, last if isinstance(module, nn.LSTM) else last[0]


def _layer(
    module: Any, record: Any, name: str, values: Tensor, state: State, lengths: Tensor | None
) -> tuple[Tensor, State]:
    """Return outputs (B, T, p) of one layer in one direction, and the state it ends with."""
    parts = "weight_ih", "bias_ih", "weight_hh", "bias_hh"
    weight, bias, recurrent, added = (module._parameters.get(x + name) for x in parts)
    step: Callable[..., State] = _gru if isinstance(module, nn.GRU) else _lstm
    if isinstance(module, nn.RNN):
        activation: Any = getattr(torch, module.nonlinearity)
        step = lambda given, weight, _, state: (
            activation(torch.addmm(given, state[0], weight.t())),
        )
    given = F.linear(values, weight, bias if bias is None or step is _gru else bias + added)
    if not given.requires_grad:  # a frozen product is still where gradients of the other arrive
        given = given.detach().requires_grad_(torch.is_grad_enabled())
    state = state or (given.new_zeros(len(given), module.hidden_size),) * 2
    # A GRU's state has room for the reset gate.
    states: list[State] = [state if step is _lstm else state[:1] * (1 + (step is _gru))]
    alive = None
    if lengths is not None:  # (T, B, 1)
        alive = torch.arange(values.shape[1], device=given.device)[:, None, None] < lengths[:, None]
    times = list(enumerate(given.unbind(1)))
    for t, product in reversed(times) if name.endswith("_reverse") else times:
        state = step(product, recurrent, added, states[-1])
        if alive is not None:  # a sequence that has ended, or not begun, keeps its state
            pairs = zip(state, states[-1], strict=True)
            state = tuple(torch.where(alive[t], *pair) for pair in pairs)
        states.append(state)
    order = -1 if name.endswith("_reverse") else 1
    before, after = states[:-1][::order], states[1:][::order]
    with torch.no_grad():
        carried = [torch.stack([state[0] for state in before], 1)]
        if step is _gru:
            carried.append(torch.stack([state[1] for state in after], 1))
    record(partial(_products, name), (values, *carried), {}, given)
    return torch.stack([state[0] for state in after], 1), states[-1][: 1 + (step is _lstm)]


def _products(name: str, module: Any, inputs: Sequence[Tensor], grad: Tensor) -> dict[str, Any]:
    """Differentiate both products of a layer in one direction."""
    values, hidden, *reset = inputs
    few, bias = Outer(grad, values).few() and Outer(grad, hidden).few(), grad.sum(1)
    gram = grad @ grad.mT if few else None
    forms = {"weight_ih": Outer(grad, values, gram), "bias_ih": bias}
    if not reset:
        forms |= {"weight_hh": Outer(grad, hidden, gram), "bias_hh": bias}
    else:
        gates = hidden.shape[2] * 2
        gated = torch.cat([grad[..., :gates], grad[..., gates:] * reset[0]], 2)
        forms |= {"weight_hh": Outer(gated, hidden), "bias_hh": gated.sum(1)}
    return {kind + name: form for kind, form in forms.items()}
