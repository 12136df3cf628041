r"""Norms and weighted sums of per-example gradients, mostly without forming the gradients.

A layer's gradient for example i is a sum over positions t (words, pixels) of outer products
:math:`G_i = \sum_t u_{it} v_{it}^T`: u is the gradient of the layer's output, v its input.
Clipping needs only the norm :math:`\|G_i\|` and later the weighted sum :math:`\sum_i c_i G_i`:

* weighted sum: one matrix product of (c u) and v, as for an ordinary gradient;
* norm, one position: :math:`\|u\| \|v\|` (Goodfellow, 2015);
* norm, few positions: :math:`\sum_{ts} \langle u_t, u_s\rangle \langle v_t, v_s\rangle`
  (Li et al., 2022, "ghost norm"), cheaper than :math:`G_i` if :math:`2T^2 \le pd`.

Tensors are float32 or float64, so that the norms hold for the sum that is released.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

# Bound on the rounding error of a sum of products, in units of eps times its largest terms.
ROUNDING = 8
_BLOCK = 256  # squares that one sum adds
# For convolutions on a CPU: pixels copied at once, and per-example gradients formed at once.
_NUMBERS, _AT_ONCE = 2**19, 16
_ACCELERATOR = 100  # both limits are so many times larger on an accelerator
# Copies are cheap up to _FEW channels or _POSITIONS; formed gradients, up to _SMALL weights.
_FEW, _POSITIONS, _SMALL = 4, 128, 2**16


class Dense(NamedTuple):
    """Gradients as one tensor, for small parameters or where this is cheapest."""

    value: Tensor  # (B, *shape)
    known: Tensor | None = None  # norms, if already computed

    def norm(self) -> Tensor:
        """Return Euclidean norms, shape (B,); rounding may make them too small."""
        flat = self.value.reshape(len(self.value), -1)
        return norms_of(flat) if self.known is None else self.known

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """Add the sum over i of factors[i] times gradient i, in the parameter's shape."""
        value = self.value.reshape(len(self.value), -1)
        total.view(-1).addmv_(value.to(total).T, factors)

    def dense(self) -> Tensor:
        """Return all gradients, shape (B, *parameter shape)."""
        return self.value


class Outer(NamedTuple):
    """Sum over t of left[t] right[t]^T: gradients of the weight of a linear layer."""

    left: Tensor  # (B, T, p), gradients of outputs
    right: Tensor  # (B, T, d), inputs

    def norm(self) -> Tensor:
        """Return the norms, by Gram matrices if there are several positions.

        They are rounded up by what rounding of terms that cancel and underflow can hide.
        """
        kind = torch.finfo(self.left.dtype)
        hidden = lambda count: math.sqrt(count * kind.tiny)  # norm of numbers of square 0
        if self.left.shape[1] == 1:
            u, v = (norms_of(x[:, 0]) + hidden(x.shape[2]) for x in self)
            return u * v
        # Underflow of products of pairs loses less than the allowance for rounding adds.
        units, (left, right) = ROUNDING * kind.eps, (x @ x.mT for x in self)  # (B, T, T)
        u, v = (
            gram.diagonal(dim1=1, dim2=2).sqrt() + hidden(x.shape[2] / units)
            for gram, x in ((left, self.left), (right, self.right))
        )
        largest = (u * v).sum(1)
        squares = (left * right).sum((1, 2)).clamp(min=0)
        return squares.addcmul(largest, largest, value=units).sqrt()

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """Add the weighted sum by one matrix product, scaling its smaller factor."""
        left, right = (x.to(total) for x in self)
        scale = factors[:, None, None]
        narrow = left.shape[2] <= right.shape[2]
        left, right = (left * scale, right) if narrow else (left, right * scale)
        left, right = left.flatten(0, 1).T, right.flatten(0, 1)
        (total if total.dim() == 2 else total.view(len(left), -1)).addmm_(left, right)

    def dense(self) -> Tensor:
        """Return all gradients, (B, p, d)."""
        return self.left.mT @ self.right


class Rows(NamedTuple):
    """Sum over t of value[t] in row index[t]: gradients of an embedding table."""

    index: Tensor  # (B, T)
    value: Tensor  # (B, T, d)
    length: int  # of the table

    def norm(self) -> Tensor:
        """Return the norms, after adding the values of equal indices."""
        batch, length = self.index.shape
        first = length * torch.arange(batch, device=self.index.device)[:, None]
        slot = first + torch.searchsorted(self.index.sort(1).values, self.index.contiguous())
        value = self.value.flatten(0, 1)
        merged = torch.zeros_like(value).index_add_(0, slot.flatten(), value)
        return norms_of(merged.view(batch, -1))

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        """Add each value to its row."""
        value = self.value * factors.to(self.value)[:, None, None]
        total.index_add_(0, self.index.flatten(), value.flatten(0, 1).to(total))

    def dense(self) -> Tensor:
        """Return the gradients as tables, (B, length, d)."""
        table = self.value.new_zeros(len(self.value), self.length, self.value.shape[2])
        return table.scatter_add_(1, self.index[..., None].expand_as(self.value), self.value)


PerExample = Dense | Outer | Rows
Ints = Sequence[int]


def convolution(
    grad: Tensor, x: Tensor, shape: Ints, stride: Ints, dilation: Ints, groups: int
) -> Outer | Dense:
    """Return gradients of the weights, from padded inputs and the gradients of the outputs.

    They are sums over positions of outer products of `grad`, (B, filters, *positions), and the
    patches under the kernel; formed where that costs less than two Gram matrices.
    """
    filters, channels, *kernel = shape
    positions, size = math.prod(grad.shape[2:]), math.prod(shape[1:])
    accelerated = 1 if grad.device.type == "cpu" else _ACCELERATOR
    # With many positions and many channels, copying pixels costs more than it saves.
    if groups > 1 or (channels > _FEW and positions > _POSITIONS):
        weights = getattr(torch.nn.grad, f"conv{len(kernel)}d_weight")
        one = lambda g, x: weights(x[None], shape, g[None], stride, 0, dilation, groups)
        return Dense(torch.vmap(one, chunk_size=_AT_ONCE * accelerated)(grad, x))
    for i, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True), start=2):
        x = x.unfold(i, d * (k - 1) + 1, s)[..., ::d]  # (B, channels, *positions, *kernel)
    places = range(2, 2 + len(kernel))
    windows = x.permute(0, 1, *range(2 + len(kernel), x.dim()), *places)
    patches = lambda part: part.reshape(len(part), size, positions).mT
    grad, ghost, formed = grad.flatten(2), 2 * positions**2, filters * size
    if formed <= _SMALL:
        ghost, formed = positions**2 * (filters + size), 8 * formed
    if ghost <= formed:
        return Outer(grad.mT, patches(windows))
    few = max(1, _NUMBERS * accelerated // (positions * size))  # in the cache
    value = grad.new_empty(len(grad), filters, size)
    parts = zip(grad.split(few), windows.split(few), value.split(few), strict=True)
    known = [Dense(torch.bmm(g, patches(w), out=out)).norm() for g, w, out in parts]
    return Dense(value.view(len(grad), *shape), torch.cat(known))


def combined(uses: list[PerExample]) -> PerExample:
    """Return the gradients of a parameter: the sum over its uses in one pass."""
    whole, kinds = uses[0], {type(use) for use in uses}
    if len(uses) > 1 and kinds == {Outer}:
        whole = Outer(*(torch.cat(parts, 1) for parts in zip(*uses, strict=True)))
    elif len(uses) > 1 and kinds == {Rows}:
        index, value, length = zip(*uses, strict=True)
        whole = Rows(torch.cat(index, 1), torch.cat(value, 1), length[0])
    elif len(uses) > 1:
        whole = Dense(reduce(torch.add, [use.dense().reshape(len(use[0]), -1) for use in uses]))
    if isinstance(whole, Outer):  # gradients may cost less than two Gram matrices
        (_, t, p), d = whole.left.shape, whole.right.shape[2]
        whole = whole if t == 1 or 2 * t * t <= p * d else Dense(whole.dense())
    return whole


def norms_of(rows: Tensor) -> Tensor:
    """Return norms along the last dimension, in blocks: one long sum would lose about 1%."""
    size = rows.shape[-1]
    if size <= _BLOCK:
        return torch.linalg.vector_norm(rows, dim=-1)
    count = -(-size // _BLOCK)
    whole = F.pad(rows, (0, -size % count)) if size % count else rows
    return norms_of(torch.linalg.vector_norm(whole.unflatten(-1, (count, -1)), dim=-1))
