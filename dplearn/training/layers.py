r"""Per-example gradients of common PyTorch functions, mostly kept as factors, not full tensors.

A layer's gradient for example i is a sum over positions t (words, pixels) of outer products
:math:`G_i = \sum_t u_{it} v_{it}^T`: u is the gradient of the layer's output, v its input.
Clipping needs only the norm :math:`\|G_i\|` and later the weighted sum :math:`\sum_i c_i G_i`:

* weighted sum: one matrix product of (c u) and v, as for an ordinary gradient;
* norm, one position: :math:`\|u\| \|v\|` (Goodfellow, 2015);
* norm, few positions: :math:`\sum_{ts} \langle u_t, u_s\rangle \langle v_t, v_s\rangle`
  (Li et al., 2022, "ghost norm"); for T positions, this costs less than :math:`G_i`, of shape
  (p, d), if :math:`2T^2 \le pd`.

A rule takes the number of records, the gradient of an output and the arguments of a function, and
yields those that may be parameters, each with a function that returns its per-example gradients: a
tensor, shape ``(B, *parameter shape)``, `Outer` or `Rows`. Several rows of a record are adjacent.

PyTorch hides the calls inside attention and recurrent layers: equivalent functions replace them.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

from dplearn.core import validate

# Allowance for rounding in a sum of products, as a multiple of the machine epsilon.
ROUNDING = 8
_BLOCK = 256  # number of squares in one partial sum
# Limits for convolutions: numbers copied at once, and gradients formed at once without CUDA.
_NUMBERS, _AT_ONCE = 2**19, 16
# Copying is cheap for few channels or few positions, forming gradients for few weights.
_FEW, _POSITIONS, _SMALL = 4, 128, 2**16


class Outer(NamedTuple):
    """Gradients of a matrix, as sums over t of outer products left[t] right[t]^T.

    Gradients of other parameters are single products of 1 and all entries, see `factored`.
    """

    left: Tensor  # (B, T, p), gradients of a layer's outputs
    right: Tensor  # (B, T, d), inputs

    def norm(self) -> Tensor:
        """Return the gradients' norms, with allowances for rounding of terms that cancel."""
        kind = torch.finfo(self.left.dtype)
        a, b = (math.sqrt(x.shape[2] * kind.tiny) for x in self)  # norms lost if squares underflow
        if self.left.shape[1] == 1:
            u, v = (norms_of(x)[:, 0] for x in self)
            return (u * v).add_(v, alpha=a).add_(u, alpha=b)  # (u + a)(v + b) - a b
        # Underflow in left * right loses less than the allowance for rounding adds.
        units, (left, right) = ROUNDING * kind.eps, (x @ x.mT for x in self)  # (B, T, T)
        u, v = (gram.diagonal(dim1=1, dim2=2).sqrt() for gram in (left, right))
        largest = ((u + a / math.sqrt(units)) * (v + b / math.sqrt(units))).sum(1)
        squares = (left * right).sum((1, 2)).clamp(min=0)
        return squares.addcmul(largest, largest, value=units).sqrt()

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """Add the sum over i of factors[i] times gradient i to `total`, by one matrix product."""
        left, right = (x.to(total) for x in self)
        scale = factors.view(-1, 1, 1)
        narrow = left.shape[2] <= right.shape[2]
        left, right = (left * scale, right) if narrow else (left, right * scale)
        left, right = left.flatten(0, 1).T, right.flatten(0, 1)
        total.view(len(left), -1).addmm_(left, right)

    def dense(self) -> Tensor:
        """Return all gradients, shape (B, entries of the parameter)."""
        product = torch.mul if self.left.shape[1] == 1 else torch.matmul
        return product(self.left.mT, self.right).flatten(1)


def factored(value: Tensor) -> Outer:
    """Return gradients given as a tensor, shape (B, *parameter shape)."""
    return Outer(value.new_ones(len(value), 1, 1), value.reshape(len(value), 1, -1))


class Rows(NamedTuple):
    """Gradients of an embedding table, as sums over t of value[t] in row index[t]."""

    index: Tensor  # (B, T)
    value: Tensor  # (B, T, d)
    length: int  # number of rows of the table

    def norm(self) -> Tensor:
        """Return the norms of the gradients, after adding the values of equal indices."""
        batch, length = self.index.shape
        first = length * torch.arange(batch, device=self.index.device)[:, None]
        slot = first + torch.searchsorted(self.index.sort(1).values, self.index.contiguous())
        value = self.value.flatten(0, 1)
        merged = torch.zeros_like(value).index_add_(0, slot.flatten(), value)
        return norms_of(merged.view(batch, -1))

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        value = self.value * factors.to(self.value)[:, None, None]
        total.index_add_(0, self.index.flatten(), value.flatten(0, 1).to(total))

    def dense(self) -> Tensor:
        table = self.value.new_zeros(len(self.value), self.length, self.value.shape[2])
        index = self.index[..., None].expand_as(self.value)
        return table.scatter_add_(1, index, self.value).flatten(1)


def convolution(
    grad: Tensor, x: Tensor, shape: Sequence[int], stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Outer:  # fmt: skip
    """Return per-example gradients of a convolution's weight, from `grad` and the input `x`.

    They are sums over positions of outer products of `grad`, (B, filters, *positions), and the
    patches under the kernel, formed where that costs less than two Gram matrices.
    """
    filters, channels, *kernel = shape
    each = lambda x: (x,) * len(kernel) if isinstance(x, int) else tuple(x)
    stride, dilation = each(stride), each(dilation)
    sides = [(n, n) for n in each(0 if isinstance(padding, str) else padding)]
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        sides = [(n // 2, n - n // 2) for n in total]
    x = F.pad(x, [n for pair in reversed(sides) for n in pair])
    positions, size = math.prod(grad.shape[2:]), math.prod(shape[1:])
    # With many positions and many channels, copying pixels costs more than it saves.
    if groups > 1 or (channels > _FEW and positions > _POSITIONS):
        weights = getattr(torch.nn.grad, f"conv{len(kernel)}d_weight")
        one = lambda g, x: weights(x[None], shape, g[None], stride, 0, dilation, groups)
        return factored(torch.vmap(one, chunk_size=None if grad.is_cuda else _AT_ONCE)(grad, x))
    places = tuple(range(2, grad.dim()))
    for i, k, s, d in zip(places, kernel, stride, dilation, strict=True):
        x = x.unfold(i, d * (k - 1) + 1, s)[..., ::d]
    windows = x.movedim(places, tuple(range(-len(places), 0)))  # (B, channels, *kernel, *positions)
    patches = lambda part: part.reshape(len(part), size, positions).mT
    grad, ghost, formed = grad.flatten(2), 2 * positions**2, filters * size
    if formed <= _SMALL:
        ghost, formed = positions**2 * (filters + size), 8 * formed
    if ghost <= formed:
        return Outer(grad.mT, patches(windows))
    few = max(1, _NUMBERS * (128 if grad.is_cuda else 1) // (positions * size))  # records at once
    value = grad.new_empty(len(grad), filters, size)
    for g, w, out in zip(grad.split(few), windows.split(few), value.split(few), strict=True):
        torch.bmm(g, patches(w), out=out)
    return factored(value)


def combined(uses: list[Any]) -> Outer | Rows:
    """Return a parameter's gradients, summed over all uses of the parameter in one pass."""
    form = uses[0]
    alike = {(type(use), use[0].shape[2:], use[1].shape[2:]) for use in uses}
    if len(uses) > 1 and len(alike) == 1 and (isinstance(form, Rows) or form.left.shape[2] > 1):
        left, right, *length = zip(*uses, strict=True)
        form = type(form)(torch.cat(left, 1), torch.cat(right, 1), *(x[0] for x in length))
    elif len(uses) > 1:
        form = factored(reduce(Tensor.add_, (use.dense() for use in uses)))
    if isinstance(form, Outer):  # forming gradients may cost less than two Gram matrices
        (_, t, p), d = form.left.shape, form.right.shape[2]
        form = form if t == 1 or 2 * t * t <= p * d else factored(form.dense())
    return form


def norms_of(rows: Tensor) -> Tensor:
    """Return norms along the last dimension, summed in blocks, as long sums may lose about 1%."""
    size = rows.shape[-1]
    if size <= _BLOCK:
        return torch.linalg.vector_norm(rows, dim=-1)
    count = -(-size // _BLOCK)
    whole = F.pad(rows, (0, -size % count)) if size % count else rows
    return norms_of(torch.linalg.vector_norm(whole.unflatten(-1, (count, -1)), dim=-1))


class Unmet(RuntimeError):
    """Error for a call without a gradient rule, or with rows that cannot be assigned to records."""


Pairs = Iterator[tuple[Any, Callable[[], Any]]]


def refuse_by_name(name: str, module: nn.Module) -> None:
    """Raise if a module is known to mix or keep data of records, or to prevent clipping."""
    normed = any("SpectralNorm" in type(x).__name__ for x in module._forward_pre_hooks.values())
    table, why = isinstance(module, nn.Embedding | nn.EmbeddingBag), ""
    if "_orig_mod" in module._modules or module._compiled_call_impl is not None:
        why = "its calls cannot be recorded. Pass the plain model."
    elif any(p is not None and p.is_complex() for p in module._parameters.values()):
        why = "clipping is for real parameters. Hold real and imaginary parts, and join them."
    elif isinstance(module, _BatchNorm) and (module.training or module.running_mean is None):
        why = "its statistics mix records. Use nn.GroupNorm."
    elif isinstance(module, _InstanceNorm) and module.training and module.track_running_stats:
        why = "its running statistics leak. Set track_running_stats=False."
    elif table and (module.max_norm is not None or module.scale_grad_by_freq):
        why = "max_norm and scale_grad_by_freq follow what the lot looks up: leave them out."
    elif module.training and (normed or type(module).__name__ == "_SpectralNorm"):
        why = "its vectors follow the weights in training. Set it to eval(), or use weight_norm."
    if why:
        raise validate.unsupported(f"{type(module).__name__} ({name or 'the model itself'})", why)


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the trainable parameters of a model by name."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def positions(batch: int, values: Tensor) -> Tensor:
    """Reshape `values` to shape (batch, positions, last dimension)."""
    return values.reshape(batch, -1, values.shape[-1])


def summed(batch: int, grad: Tensor, x: Tensor) -> Tensor:
    """Return per-example gradients of `x`, summed over broadcast axes, shape (B, *x.shape)."""
    grad = grad.reshape(batch, -1, *grad.shape[1:])
    ones = [1] * (grad.dim() - 1 - x.dim())
    return grad.sum_to_size(batch, *ones, *x.shape).reshape(batch, *x.shape)


def _linear(batch: int, grad: Tensor, input: Any, weight: Any, bias: Any = None) -> Pairs:
    grad = positions(batch, grad)
    yield weight, lambda: Outer(grad, positions(batch, input))
    yield bias, lambda: grad[:, 0] if grad.shape[1] == 1 else grad.sum(1)


def _matmul(batch: int, grad: Tensor, x: Any, y: Any) -> Pairs:
    if y.dim() != 2 or x.dim() < 2 or isinstance(x, nn.Parameter):
        raise Unmet("a product of parameters with others on their right")
    yield y, lambda: Outer(positions(batch, x), positions(batch, grad))


def _addmm(batch: int, grad: Tensor, input: Any, mat1: Any, mat2: Any) -> Pairs:
    yield input, lambda: summed(batch, grad, input)
    yield from _matmul(batch, grad, mat1, mat2)


def _embedding(
    batch: int, grad: Tensor, input: Any, weight: Any, padding_idx: Any = None, *_: Any, **__: Any
) -> Pairs:
    index, grad = input.reshape(batch, -1), positions(batch, grad)
    if padding_idx is not None:
        grad = grad.masked_fill((index == padding_idx % len(weight))[..., None], 0)
    yield weight, lambda: Rows(index, grad, len(weight))


def _convolution(
    batch: int, grad: Tensor, input: Any, weight: Any, bias: Any = None, *args: Any, **options: Any
) -> Pairs:
    if len(grad) != batch:
        raise Unmet("a convolution of several pictures of each record")
    yield weight, lambda: convolution(grad, input, weight.shape, *args, **options)
    yield bias, lambda: grad.flatten(2).sum(2)


def _norm(norm: Callable[..., Tensor], batch: int, grad: Tensor, *args: Any, **kw: Any) -> Pairs:
    """Yield per-example gradients of a norm layer's scale and shift."""
    given = inspect.signature(norm).bind(*args, **kw).arguments
    scale, shift = given.pop("weight", None), given.pop("bias", None)
    channels = norm not in (F.layer_norm, F.rms_norm)
    if channels and len(grad) != batch:
        raise Unmet("norms of several pictures of each record")
    shape = (grad.shape[1], -1) if channels else (-1, *given["normalized_shape"])
    add = lambda x: x.reshape(batch, *shape).sum(1 + channels)
    yield scale, lambda: add(norm(**given) * grad)
    yield shift, lambda: add(grad)


def _add(batch: int, grad: Tensor, x: Any, y: Any, *, alpha: float = 1) -> Pairs:
    yield x, lambda: summed(batch, grad, x)
    yield y, lambda: summed(batch, grad * alpha if alpha != 1 else grad, y)


def _mul(batch: int, grad: Tensor, x: Any, y: Any) -> Pairs:
    yield x, lambda: summed(batch, grad * y, x)
    yield y, lambda: summed(batch, grad * x, y)


def _expand(batch: int, grad: Tensor, x: Tensor, *_: Any) -> Pairs:
    yield x, lambda: summed(batch, grad, x)


_NORMS = F.layer_norm, F.rms_norm, F.group_norm, F.batch_norm, F.instance_norm
RULES: dict[Callable[..., Any], Callable[..., Pairs]] = {
    **{F.linear: _linear, torch.addmm: _addmm, F.embedding: _embedding},
    **dict.fromkeys((torch.conv1d, torch.conv2d, torch.conv3d), _convolution),
    **{function: partial(_norm, function) for function in _NORMS},
    **dict.fromkeys((torch.matmul, Tensor.matmul), _matmul),
    **dict.fromkeys((torch.add, Tensor.add, Tensor.add_), _add),
    **dict.fromkeys((torch.mul, Tensor.mul), _mul),
    **dict.fromkeys((Tensor.expand, Tensor.repeat), _expand),
}


def attention(
    tape: Any, query: Tensor, key: Tensor, value: Tensor, width: int, heads: int,
    in_weight: Any, in_bias: Any, *rest: Any, **options: Any,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Return the result of `F.multi_head_attention_forward`, with linear layers recorded."""
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
        # From shape (B, T, d) to shape (B, heads, T, d / heads).
        q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in parts)
        if mask is not None and mask.dim() == 3:
            mask = mask.unflatten(0, q.shape[:2])
        if padding is not None:
            mask = padding[:, None, None] + (0 if mask is None else mask)
        shares = None
        if options.get("need_weights", True):
            scores = q @ (k.mT * q.shape[3] ** -0.5) + (0 if mask is None else mask)
            shares = F.dropout(scores.softmax(-1), dropout)
            mixed = shares @ v
            shares = shares.mean(1) if options.get("average_attn_weights", True) else shares
        else:
            mixed = F.scaled_dot_product_attention(q, k, v, mask, dropout)
        output = F.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias)
        return output.transpose(0, 1), shares


def _lstm(given: Tensor, recurrent: Tensor, _: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    i, f, new, o = (given + recurrent).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * new.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(given: Tensor, recurrent: Tensor, state: Tensor) -> tuple[Tensor]:
    (r, z, new), (r_more, z_more, new_more) = given.chunk(3, 1), recurrent.chunk(3, 1)
    new = (new + (r + r_more).sigmoid() * new_more).tanh()
    return (new + (z + z_more).sigmoid() * (state - new),)


def recurrence(step: Callable[..., Any], tape: Any, *args: Any) -> Any:
    """Return outputs and last states of stacked recurrent layers, in one or both directions.

    `step` takes products with the input and the last output, and the last state; the new state that
    it returns begins with the output.
    """
    values, start, weights, biases, layers, dropout, training, both, batch_first = args
    count = 2 + 2 * biases if isinstance(biases, bool) else 0  # not a bool if sequences are packed
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


# Replacements of PyTorch functions while a forward pass is recorded.
WITHIN: dict[Any, Callable[..., Any]] = {
    F.multi_head_attention_forward: attention,
    torch._VF.lstm: partial(recurrence, _lstm),
    torch._VF.gru: partial(recurrence, _gru),
    torch._VF.rnn_tanh: partial(recurrence, lambda x, recurrent, _: ((x + recurrent).tanh(),)),
    torch._VF.rnn_relu: partial(recurrence, lambda x, recurrent, _: ((x + recurrent).relu(),)),
}
