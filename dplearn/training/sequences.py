"""Attention and recurrence with their products on record, as the linear layers they are.

The products inside attention and recurrence are seen by nobody: while recording, these functions
replace PyTorch's and compute the same. Of a recurrent layer, products with the input are formed for
all times at once, and both products share the gradient of their sum: one edge in the graph serves
both weights. (A GRU multiplies the second by its reset gate; so does the rule.)
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from dplearn.training.forms import Outer

State = tuple[Tensor, ...]  # what is carried to the next time, first of all the output


def attention(
    tape: Any, query: Tensor, key: Tensor, value: Tensor, width: int, heads: int, in_weight: Any,
    in_bias: Any, *rest: Any, **options: Any,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Return what `F.multi_head_attention_forward` gives, by products that the tape sees."""
    bias_k, _, add_zero, dropout, out_weight, out_bias = rest
    own = [options.get(f"{name}_proj_weight") for name in "qkv"]
    if bias_k is not None or add_zero or query.dim() != 3 or options.get("static_k") is not None:
        arguments = (query, key, value, width, heads, in_weight, in_bias, *rest)
        return F.multi_head_attention_forward(*arguments, **options)
    dropout = dropout if options.get("training", True) else 0.0
    mask, padding = options.get("attn_mask"), options.get("key_padding_mask")
    same = query is key is value
    with tape:
        x, y, z = (t.transpose(0, 1) for t in (query, key, value))  # records first
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
    """Return values mixed by queries and keys, and the shares if they are asked for."""
    if not options.get("need_weights", True):
        return F.scaled_dot_product_attention(q, k, v, mask, dropout), None
    scores = q @ (k.mT * q.shape[3] ** -0.5)
    weights = F.dropout((scores if mask is None else scores + mask).softmax(-1), dropout)
    return weights @ v, weights.mean(1) if options.get("average_attn_weights", True) else weights


def recurrent(module: nn.Module) -> bool:
    """Return whether a module is a recurrent layer that computes what its kind does."""
    if not isinstance(module, nn.RNN | nn.LSTM | nn.GRU) or "forward" in vars(module):
        return False
    own, trained = vars(module), any(p.requires_grad for p in module.parameters())
    same = type(module).forward in (nn.RNN.forward, nn.LSTM.forward, nn.GRU.forward)
    # A tensor in place of a parameter was computed from others, by a hook.
    derived = (
        any(isinstance(x, Tensor) for x in own.values())
        or "parametrizations" in vars(module)["_modules"]
    )
    return trained and same and not derived and not own.get("proj_size")


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


def recurrence(tape: Any, module: Any, input: Any, hx: Any = None) -> Any:
    """Return what layers one upon the other give, in one or both directions."""
    with torch._C.DisableTorchFunction():
        return _stacked(tape, module, input, hx)


def _stacked(tape: Any, module: Any, input: Any, hx: Any) -> Any:
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
            output, end = _layer(module, tape, name, values, start, lengths)
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
    module: Any, tape: Any, name: str, values: Tensor, state: State, lengths: Tensor | None
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
    if given.requires_grad:
        tape.note(partial(_products, module, name), (values, *carried), given)
    return torch.stack([state[0] for state in after], 1), states[-1][: 1 + (step is _lstm)]


def _products(
    module: Any, name: str, batch: int, grad: Tensor, values: Tensor, hidden: Tensor, *reset: Tensor
) -> Any:
    """Yield gradients of both products of a layer in one direction."""
    weight_ih, bias_ih, weight_hh, bias_hh = (
        module._parameters.get(x + name) for x in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    )
    few, bias, gated = Outer(grad, values).few() and Outer(grad, hidden).few(), grad.sum(1), grad
    gram = grad @ grad.mT if few else None
    yield weight_ih, lambda: Outer(grad, values, gram)
    yield bias_ih, lambda: bias
    if reset:
        gates, gram = hidden.shape[2] * 2, None
        gated = torch.cat([grad[..., :gates], grad[..., gates:] * reset[0]], 2)
    yield weight_hh, lambda: Outer(gated, hidden, gram)
    yield bias_hh, lambda: gated.sum(1) if reset else bias
