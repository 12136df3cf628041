r"""Per-example gradients of one parameter, mostly without forming them.

A layer's gradient for example i is a sum over positions t (words, pixels) of outer products
:math:`G_i = \sum_t u_{it} v_{it}^T`: u is the gradient of the layer's output, v its input.
Clipping needs only the norm :math:`\|G_i\|` and later the weighted sum :math:`\sum_i c_i G_i`:

* weighted sum: one matrix product of (c u) and v, as for an ordinary gradient;
* norm, one position: :math:`\|u\| \|v\|` (Goodfellow, 2015);
* norm, few positions: :math:`\sum_{ts} \langle u_t, u_s\rangle \langle v_t, v_s\rangle`
  (Li et al., 2022, "ghost norm"), cheaper than :math:`G_i` if :math:`2T^2 \le pd`.

Rows where `keep` is False count as zero whatever they hold: 0 * inf is NaN, a factor of 0 is not
enough. Tensors are float32 or float64: the norm must hold for the sum that is released.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

# Units of rounding error that a sum of products may have lost, relative to its largest terms.
ROUNDING = 8
_TINY = {kind: math.sqrt(torch.finfo(kind).tiny) for kind in (torch.float32, torch.float64)}
_BLOCK = 256  # squares that are added in one go
# Of convolutions on a processor: pixels that are copied, and examples formed, in one go.
_NUMBERS, _AT_ONCE = 2**19, 16
_ACCELERATOR = 100  # times as many on an accelerator
# Copies are cheap of so few channels or positions; gradients of so few weights take no memory.
_FEW, _POSITIONS, _SMALL = 4, 128, 2**16


class PerExample(Protocol):
    """Gradients of one parameter, one per example."""

    def squared_norm(self) -> Tensor:
        """Return squared Euclidean norms, shape (B,), never too small by more than rounding."""

    def add_to(self, total: Tensor, factors: Tensor, keep: Tensor | None = None) -> None:
        """Add the sum over i of factors[i] times gradient i, in the parameter's shape."""

    def dense(self) -> Tensor:
        """Return all gradients, shape (B, *parameter shape)."""


@dataclass(frozen=True)
class Dense:
    """Gradients that were formed: small parameters, or the cheapest way to the norm."""

    value: Tensor  # (B, *shape)
    squares: Tensor | None = None  # of its norms, where they were computed with it

    def squared_norm(self) -> Tensor:
        return _squares(self.value) if self.squares is None else self.squares

    def add_to(self, total: Tensor, factors: Tensor, keep: Tensor | None = None) -> None:
        value = _kept(self.value, keep)
        if not value.dtype == factors.dtype == total.dtype:
            value, factors = value.to(total), factors.to(total)
        if value.is_contiguous():
            added = factors @ (value if value.dim() == 2 else value.view(len(value), -1))
            total += added if total.dim() == 1 else added.view(total.shape)
            return
        # Those of a convolution lie in memory with channels last.
        order = sorted(range(1, value.dim()), key=value.stride, reverse=True)
        rows = value.permute(0, *order)
        added = (factors @ rows.flatten(1)).view(rows.shape[1:])
        total += added.permute([order.index(dim) for dim in range(1, value.dim())]).reshape(
            total.shape
        )

    def dense(self) -> Tensor:
        return self.value


@dataclass(frozen=True)
class Outer:
    """The sum over t of left[t] right[t]^T: a matrix product of a layer."""

    left: Tensor  # (B, T, p), gradients of outputs
    right: Tensor  # (B, T, d), inputs
    gram: Tensor | None = None  # left left^T, or norms of one position, where forms share it

    def squared_norm(self) -> Tensor:
        if self.left.shape[1] == 1:
            u = norms(self.left[:, 0]) if self.gram is None else self.gram
            v = norms(self.right[:, 0])
            u, v = u + _lost(u, self.left.shape[2]), v + _lost(v, self.right.shape[2])
            return (u * v).square()
        left = self.left @ self.left.mT if self.gram is None else self.gram  # (B, T, T)
        right = self.right @ self.right.mT
        # What underflow took from products of pairs is less than what is added for rounding.
        units = ROUNDING * torch.finfo(left.dtype).eps
        u, v = (
            gram.diagonal(dim1=1, dim2=2).sqrt() + _lost(gram, x.shape[2] / units)
            for gram, x in ((left, self.left), (right, self.right))
        )
        return _pessimistic((left * right).sum((1, 2)), (u * v).sum(1))

    def largest_terms(self) -> Tensor:
        """Return the sum over t of |left[t]| |right[t]|, the scale of rounding errors."""
        return (norms(self.left) * norms(self.right)).sum(1)

    def add_to(self, total: Tensor, factors: Tensor, keep: Tensor | None = None) -> None:
        left, right = _kept(self.left, keep), _kept(self.right, keep)
        if not left.dtype == factors.dtype == total.dtype:
            left, right, factors = left.to(total), right.to(total), factors.to(total)
        scale = factors[:, None, None]
        left, right = (
            (left * scale, right) if left.shape[2] <= right.shape[2] else (left, right * scale)
        )
        left, right = left.flatten(0, 1).T, right.flatten(0, 1)
        (total if total.dim() == 2 else total.view(len(left), -1)).addmm_(left, right)

    def dense(self) -> Tensor:
        alone = self.left.shape[1] == 1
        return self.left.mT * self.right if alone else self.left.mT @ self.right

    def cheapest(self) -> "Outer | Dense":
        """Return itself, or what was formed where that costs less than two Gram matrices."""
        return self if self.left.shape[1] == 1 or self.few() else Dense(self.dense())

    def few(self) -> bool:
        """Return whether two Gram matrices cost less than the gradients."""
        (_, t, p), d = self.left.shape, self.right.shape[2]
        return 2 * t * t <= p * d


@dataclass(frozen=True)
class Rows:
    """The sum over t of value[t] added to row index[t]: a table that was looked up."""

    index: Tensor  # (B, T)
    value: Tensor  # (B, T, d)
    length: int  # of the table

    def squared_norm(self) -> Tensor:
        # Values of equal indices add before the norm: sort, number the distinct indices, add.
        index, order = self.index.sort(1)
        number = F.pad((index[:, 1:] != index[:, :-1]).cumsum(1), (1, 0))
        batch, length = index.shape
        first = length * torch.arange(batch, device=index.device)[:, None]
        slot = torch.empty_like(order).scatter_(1, order, first + number)
        value = self.value.flatten(0, 1)
        merged = torch.zeros_like(value).index_add_(0, slot.flatten(), value)
        return _squares(merged.view(self.value.shape))

    def add_to(self, total: Tensor, factors: Tensor, keep: Tensor | None = None) -> None:
        value = _kept(self.value, keep) * factors.to(self.value.dtype)[:, None, None]
        total.index_add_(0, self.index.flatten(), value.flatten(0, 1).to(total))

    def dense(self) -> Tensor:
        table = self.value.new_zeros(len(self.value), self.length, self.value.shape[2])
        return table.scatter_add_(1, self.index[..., None].expand_as(self.value), self.value)


@dataclass(frozen=True)
class Tied:
    """A table that was looked up and also multiplied with: embedding and output layer."""

    outer: Outer
    rows: Rows

    def squared_norm(self) -> Tensor:
        # <e_k g^T, u v^T> = u_k <g, v> for a row k that was looked up.
        outer, rows = self.outer, self.rows
        looked_up = outer.left.gather(2, rows.index[:, None].expand(-1, outer.left.shape[1], -1))
        cross = (looked_up * (outer.right @ rows.value.mT)).sum((1, 2))
        total = outer.cheapest().squared_norm() + rows.squared_norm() + 2 * cross
        return _pessimistic(total, norms(rows.value).sum(1) + outer.largest_terms())

    def add_to(self, total: Tensor, factors: Tensor, keep: Tensor | None = None) -> None:
        self.outer.add_to(total, factors, keep)
        self.rows.add_to(total, factors, keep)

    def dense(self) -> Tensor:
        return self.outer.dense() + self.rows.dense()


@dataclass(frozen=True)
class Convolution:
    """Weights of a convolution in any dimension."""

    grad: Tensor  # (B, filters, *positions)
    values: Tensor  # (B, channels, *space), input
    shape: Sequence[int]  # of the weights
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int

    def squared_norm(self) -> Tensor:
        products = (Outer(grad.flatten(2).mT, self._patches(x)) for grad, x in self._split())
        return torch.cat([product.squared_norm() for product in products])

    def add_to(self, total: Tensor, factors: Tensor, keep: Tensor | None = None) -> None:
        grad = _kept(self.grad, keep) * factors.view(-1, *[1] * (self.grad.dim() - 1))
        total += self._weights(grad, _kept(self.values, keep))

    def cheapest(self) -> "Convolution | Dense":
        """Return itself, or what was formed where that costs less than two Gram matrices."""
        t, p, d = self._positions(), self.shape[0], math.prod(self.shape[1:])
        few = 2 * t**2 <= p * d if p * d > _SMALL else t**2 * (p + d) <= 8 * p * d
        return self if few and self.groups == 1 else self.formed()

    def dense(self) -> Tensor:
        return self.formed().value

    def formed(self) -> Dense:
        """Return the gradients, and their squares while they are in the processor's caches."""
        filters, channels, *kernel = self.shape
        # Where many positions share many channels, copies of pixels cost more than they save.
        if self.groups > 1 or not (channels <= _FEW or self._positions() <= _POSITIONS):
            single = self.grad[:, None], self.values[:, None]
            at_once = _AT_ONCE * (1 if self.grad.device.type == "cpu" else _ACCELERATOR)
            return Dense(torch.vmap(self._weights, chunk_size=at_once)(*single))
        value, squares = self.grad.new_empty(len(self.grad), filters, math.prod(self.shape[1:])), []
        for grad, values, out in self._split(value):
            torch.bmm(grad.flatten(2), self._patches(values), out=out)
            squares.append(_squares(out))
        value = value.view(-1, filters, *kernel, channels).movedim(-1, 2)
        return Dense(value, torch.cat(squares))

    def _split(self, *others: Tensor) -> Iterator[Sequence[Tensor]]:
        """Yield gradients, inputs and others of so few examples that patches fit into caches."""
        numbers = _NUMBERS * (1 if self.grad.device.type == "cpu" else _ACCELERATOR)
        few = max(1, numbers // (self._positions() * math.prod(self.shape[1:])))
        return zip(*(x.split(few) for x in (self.grad, self.values, *others)), strict=True)

    def _patches(self, values: Tensor) -> Tensor:
        """Return the pixels under the kernel at each position, (b, T, kernel * channels)."""
        channels, *kernel = self.shape[1:]
        positions = self.grad.shape[2:]
        # What is copied in one go: a row of positions, or all channels under a row of the kernel.
        long = positions[-1] > 2 * kernel[-1] * channels
        pixels = values.movedim(1, -1) if long else values.movedim(1, -1).contiguous()
        if any(self.padding):
            sides = [side for size in reversed(self.padding) for side in (size, size)]
            pixels = F.pad(pixels, [0, 0, *sides])
        first, *steps, last = pixels.stride()
        strides = first, *map(mul, self.stride, steps), *map(mul, self.dilation, steps), last
        patches = pixels.as_strided((len(values), *positions, *kernel, channels), strides)
        dims = len(kernel)
        if long:
            patches = patches.permute(0, *range(1 + dims, 2 + 2 * dims), *range(1, 1 + dims))
            return patches.contiguous().flatten(-dims).flatten(1, -2).mT
        return patches.contiguous().flatten(1, dims).flatten(2)

    def _positions(self) -> int:
        return math.prod(self.grad.shape[2:])

    def _weights(self, grad: Tensor, values: Tensor) -> Tensor:
        ordinary = getattr(torch.nn.grad, f"conv{len(self.stride)}d_weight")
        form = self.stride, self.padding, self.dilation, self.groups
        return ordinary(values, self.shape, grad, *form)


def combined(uses: list[PerExample]) -> PerExample:
    """Return the gradient of a parameter that was used several times: uses add before the norm."""
    if len(uses) == 1:
        return uses[0].cheapest() if isinstance(uses[0], Outer | Convolution) else uses[0]
    outers = [use for use in uses if isinstance(use, Outer)]
    rows = [use for use in uses if isinstance(use, Rows)]
    if len(outers) + len(rows) < len(uses):
        return Dense(reduce(torch.add, [use.dense().reshape(len(use.dense()), -1) for use in uses]))
    together = lambda name, parts: torch.cat([getattr(x, name) for x in parts], 1)
    outer: Any = Outer(together("left", outers), together("right", outers)) if outers else None
    if not rows:
        return outer.cheapest()
    table = Rows(together("index", rows), together("value", rows), rows[0].length)
    return Tied(outer, table) if outer else table


def _squares(values: Tensor) -> Tensor:
    """Return the sum of squares of each example, shape (B,)."""
    return norms(values.flatten(1) if values.dim() > 1 else values[:, None]).square()


def norms(rows: Tensor) -> Tensor:
    """Return norms along the last dimension, block by block: one long sum loses a hundredth."""
    size = rows.shape[-1]
    if size <= _BLOCK:
        return torch.linalg.vector_norm(rows, dim=-1)
    if size % (count := -(-size // _BLOCK)) == 0:
        return norms(torch.linalg.vector_norm(rows.unflatten(-1, (count, -1)), dim=-1))
    whole = size - size % _BLOCK
    blocks = norms(rows[..., :whole].unflatten(-1, (-1, _BLOCK)))
    return norms(torch.cat([blocks, norms(rows[..., whole:])[..., None]], -1))


def _lost(values: Tensor, count: float) -> float:
    """Return the largest norm of so many numbers whose squares are zero to the processor."""
    return math.sqrt(count) * _TINY[values.dtype]


def _pessimistic(squared: Tensor, scale: Tensor) -> Tensor:
    """Return a squared norm of terms that cancel, rounded up: not 0 where the sum is not."""
    units = ROUNDING * torch.finfo(squared.dtype).eps
    return torch.addcmul(squared.clamp(min=0), scale, scale, value=units)


def _kept(values: Tensor, keep: Tensor | None) -> Tensor:
    if keep is None:
        return values
    return torch.where(keep.view(-1, *[1] * (values.dim() - 1)), values, 0)
