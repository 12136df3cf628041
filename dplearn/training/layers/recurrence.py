"""Recurrent layers with their products on record, as the linear layers they are.

A recurrent layer multiplies its input and its state at each time. Products with the input are
formed for all times at once, and both products share the gradient of their sum; so one edge in the
graph of autograd serves both weights, and a layer is on record as one product over T positions, as
cheap as two linear layers. (A GRU multiplies the second by its reset gate; the rule does it again.)
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from dplearn.training.layers.per_example import Outer
from dplearn.training.layers.registry import substitute

State = tuple[Tensor, ...]  # what is carried to the next time, first of all the output


def _lstm(given: Tensor, weight: Tensor, bias: Tensor | None, state: State) -> State:
    """One time of an LSTM; `given` is the product with the input, and all biases."""
    i, f, new, o = torch.addmm(given, state[0], weight.t()).chunk(4, 1)
    cell = f.sigmoid() * state[1] + i.sigmoid() * new.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(given: Tensor, weight: Tensor, bias: Tensor | None, state: State) -> State:
    """One time of a GRU; its reset gate is carried for the rule, and `given` lacks `bias`."""
    (r, z, new), recurrent = given.chunk(3, 1), F.linear(state[0], weight, bias).chunk(3, 1)
    reset, update = (r + recurrent[0]).sigmoid(), (z + recurrent[1]).sigmoid()
    new = (new + reset * recurrent[2]).tanh()
    return new + update * (state[0] - new), reset


def _plain(activation: Any, given: Tensor, weight: Tensor, bias: Any, state: State) -> State:
    return (activation(torch.addmm(given, state[0], weight.t())),)


def _step(module: Any) -> Callable[..., State]:
    if isinstance(module, nn.LSTM | nn.LSTMCell):
        return _lstm
    gru = isinstance(module, nn.GRU | nn.GRUCell)
    return _gru if gru else partial(_plain, getattr(torch, module.nonlinearity))


@substitute(nn.RNNCell, nn.LSTMCell, nn.GRUCell)
def cell(module: Any, record: Any, input: Tensor, hx: Any = None) -> Any:
    """Forward pass of a cell: a layer with one time."""
    _check_batch(input, 2)
    _, state = _layer(module, record, "", input[:, None], _states(hx), None)
    return state if isinstance(module, nn.LSTMCell) else state[0]


@substitute(nn.RNN, nn.LSTM, nn.GRU)
def layers(module: Any, record: Any, input: Any, hx: Any = None) -> Any:
    """Forward pass of layers one upon the other, in one or both directions."""
    values, lengths = input, None
    if isinstance(input, PackedSequence):
        values, lengths = pad_packed_sequence(input, batch_first=True)
    elif not module.batch_first:
        values = input.transpose(0, 1)
    _check_batch(values, 3)
    starts, ends = _states(hx), []
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
        sorted_before = input.sorted_indices is None
        values = pack_padded_sequence(values, lengths, True, enforce_sorted=sorted_before)
    elif not module.batch_first:
        values = values.transpose(0, 1)
    return values, last if isinstance(module, nn.LSTM) else last[0]


def _check_batch(values: Tensor, dims: int) -> None:
    if values.dim() != dims:
        raise ValueError(
            f"Expected a batch of inputs with {dims} dimensions, got shape {tuple(values.shape)}."
        )


def _states(state: Any) -> State:
    """Initial states as a tuple, empty if they are zero."""
    return () if state is None else (state,) if isinstance(state, Tensor) else tuple(state)


def _layer(
    module: Any, record: Any, name: str, values: Tensor, state: State, lengths: Tensor | None
) -> tuple[Tensor, State]:
    """Outputs (B, T, p) of one layer in one direction, and the state it ends with."""
    parts = "weight_ih", "bias_ih", "weight_hh", "bias_hh", "weight_hr"
    weight, bias, recurrent, added, smaller = (module._parameters.get(x + name) for x in parts)
    step, reverse = _step(module), name.endswith("_reverse")
    given = F.linear(values, weight, bias if bias is None or step is _gru else bias + added)
    if not given.requires_grad:  # a frozen product is still where gradients of the other arrive
        given = given.detach().requires_grad_(torch.is_grad_enabled())
    if not state:
        sizes = recurrent.shape[1], module.hidden_size
        state = tuple(given.new_zeros(len(given), size) for size in sizes)
    # A GRU's state has room for the reset gate.
    states: list[State] = [state if step is _lstm else state[:1] * (1 + (step is _gru))]
    times = list(enumerate(given.unbind(1)))
    for t, product in reversed(times) if reverse else times:
        state = step(product, recurrent, added, states[-1])
        if smaller is not None:  # the output of an LSTM with `proj_size`
            output = F.linear(state[0], smaller)
            rule = lambda _, x, grad: {"weight_hr" + name: Outer(grad[:, None], x[0][:, None])}
            record(rule, state[:1], {}, output)
            state = output, state[1]
        if lengths is not None:  # a sequence that has ended, or not begun, keeps its state
            alive = (t < lengths).to(given.device)[:, None]
            state = tuple(torch.where(alive, *pair) for pair in zip(state, states[-1], strict=True))
        states.append(state)
    order = -1 if reverse else 1
    before, after = states[:-1][::order], states[1:][::order]
    with torch.no_grad():
        carried = [torch.stack([state[0] for state in before], 1)]
        if step is _gru:
            carried.append(torch.stack([state[1] for state in after], 1))
    record(partial(_products, name), (values, *carried), {}, given)
    return torch.stack([state[0] for state in after], 1), states[-1]


def _products(name: str, module: Any, inputs: Sequence[Tensor], grad: Tensor) -> dict[str, Any]:
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
