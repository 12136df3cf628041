"""Models and losses that treat records separately: all must be accepted."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from parts import (
    BATCH,
    Part,
    Raw,
    by,
    classes,
    entering,
    numbers,
    of,
    part,
    sequence,
    tokens,
)  # fmt: skip
from per_record import CLASSES, Model, losses_of
from torch import Tensor, nn


def perceptron(activation: nn.Module) -> Part:
    return of(nn.Linear(8, 12), activation, nn.Linear(12, 12), activation)


def convolutional(norm: nn.Module, activation: nn.Module | None = None) -> Part:
    first, second = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 3)
    return of(first, norm, activation or nn.ReLU(), second, nn.AvgPool2d(2), x=numbers(2, 6, 6))


class LowRank(nn.Module):
    """A frozen layer and two thin ones, the second zero at first."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Linear(layer.in_features, 2, False)
        self.up = nn.Linear(2, layer.out_features, False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) + self.up(self.down(x))


class Graph(nn.Module):
    """A graph convolution on fixed edges, its matrix a buffer."""

    def __init__(self, nodes: int) -> None:
        super().__init__()
        self.register_buffer("edges", torch.eye(nodes).roll(1, 0) + torch.eye(nodes))
        self.layer, self.head = nn.Linear(8, 8), nn.Linear(8, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2):
            x = torch.relu(self.edges @ self.layer(x))
        return self.head(x.mean(1))


class Experts(nn.Module):
    """A mixture of experts that all see all, weighted softly or by the best two."""

    def __init__(self, best: int | None) -> None:
        super().__init__()
        self.gate, self.best = nn.Linear(8, 4), best
        self.experts = nn.ModuleList(nn.Linear(8, CLASSES) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        share = self.gate(x)
        if self.best:
            least = share.topk(self.best, 1).values[:, -1:]
            share = share.masked_fill(share < least, -math.inf)
        return (torch.stack([e(x) for e in self.experts], 2) * share.softmax(1)[:, None]).sum(2)


def unet() -> Part:
    def forward(m: Any, x: Tensor) -> Tensor:
        wide = torch.relu(m.down(x))
        deep = torch.relu(m.middle(F.max_pool2d(wide, 2)))
        up = F.interpolate(deep, scale_factor=2)
        return m.out(torch.cat([wide, up], 1))

    layers = dict(
        down=nn.Conv2d(2, 4, 3, padding=1),
        middle=nn.Conv2d(4, 4, 3, padding=1),
        out=nn.Conv2d(8, CLASSES, 1),
    )
    each = lambda outputs, targets: losses_of(outputs, targets).mean((1, 2))
    return Model(forward, **layers), each, numbers(2, 8, 8), tokens(8, 8)


def quantised(bits: int) -> Part:
    """Rounded, with the gradient of the identity."""

    class Rounded(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + ((x * 2**bits).round() / 2**bits - x).detach()

    return of(nn.Linear(8, 9), nn.Tanh(), Rounded(), nn.Linear(9, 9))


def codebook() -> Part:
    """A vector quantiser with a codebook that is not trained."""

    def forward(m: Any, x: Tensor) -> Tensor:
        z = m.encoder(x)
        code = m.codes[torch.cdist(z.detach(), m.codes).argmin(1)]
        return m.head(z + (code - z).detach())

    model, *others = by(forward, encoder=nn.Linear(8, 3), head=nn.Linear(3, CLASSES))
    model.register_buffer("codes", torch.randn(7, 3))
    return model, *others


def named() -> Part:
    """Inputs by name, of several types: numbers, tokens and a mask."""

    class Several(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.layer = nn.Embedding(50, 4), nn.Linear(8, 4)
            self.head = nn.Linear(4, CLASSES)

        def forward(self, x: Tensor, words: Tensor, mask: Tensor) -> Tensor:
            total = (self.embed(words) * mask[..., None]).sum(1)
            read = total / mask.sum(1, keepdim=True).clamp(min=1)
            return self.head(torch.tanh(read + self.layer(x)))

    inputs = {"x": numbers(8), "words": tokens(7, stop=50), "mask": torch.rand(BATCH, 7) > 0.3}
    return part(Several(), inputs)


def counted() -> Part:
    """A count of calls, and a table that is kept: no data."""

    def forward(m: Any, x: Tensor) -> Tensor:
        m.calls = getattr(m, "calls", 0) + 1
        if not hasattr(m, "table"):
            m.table = torch.linspace(0, 1, 8)
        return m.head(x * m.table.to(x))

    return by(forward)


def own_type(dtype: torch.dtype) -> Part:
    """A model that fixes the type of numbers."""
    model = Model(
        lambda m, x: m.layer(x.to(dtype)).float(), layer=nn.Linear(8, CLASSES, dtype=dtype)
    )
    return part(model)


def in_float32() -> nn.Module:
    """A product and a norm that are computed in float32 whatever comes in."""

    def use(x: Tensor, weight: Tensor) -> Tensor:
        y = torch.tanh(x.float() @ weight.float())
        return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype)

    return Raw(torch.randn(8, 8) / 3, use)


def looped() -> Part:
    """One record after the other, each with a choice of its own."""

    def forward(m: Any, x: Tensor) -> Tensor:
        layers = [m.right if record.sum() > 0 else m.left for record in x]
        return torch.stack([m.right(x), m.left(x)])[
            [int(layer is m.left) for layer in layers], range(len(x))
        ]

    return part(Model(forward, left=nn.Linear(8, CLASSES), right=nn.Linear(8, CLASSES)))


def adversarial() -> Part:
    """Each record moved along the sign of its own gradient, by autograd in the forward pass."""

    def forward(m: Any, x: Tensor) -> Tensor:
        with torch.enable_grad():
            moved = x.detach().requires_grad_()
            (grad,) = torch.autograd.grad(torch.tanh(moved @ m.direction.to(x)).sum(), moved)
        return m.head(x + 0.1 * grad.sign())

    model, *others = by(forward)
    model.register_buffer("direction", torch.randn(8))
    return model, *others


def stochastic_depth() -> Part:
    """Branches left out at random, record by record."""

    class Dropped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x: Tensor) -> Tensor:
            return x + self.layer(x) * (torch.rand(len(x), 1) < 0.5).to(x) if self.training else x

    return of(Dropped(), Dropped())


ACTIVATIONS = nn.ReLU(), nn.ReLU(inplace=True), nn.GELU(), nn.Softmax(1), nn.Dropout(0.3)


NORMS = (
    *(nn.GroupNorm(2, 4), nn.GroupNorm(4, 4), nn.GroupNorm(1, 4), nn.InstanceNorm2d(4)),
    *(nn.InstanceNorm2d(4, affine=True), nn.BatchNorm2d(4).eval(), nn.LayerNorm((4, 6, 6))),
    *(nn.LocalResponseNorm(2), nn.Identity(), nn.Dropout2d(0.2)),
)


# What is done to each record before a linear layer.
EACH = {
    "logarithm of inputs": lambda x: (x - 1).log(),
    "log1p of inputs": lambda x: x.log1p(),
    "square root of inputs": lambda x: x.sqrt(),
    "missing values not allowed": lambda x: x if bool(x.isfinite().all()) else 1 / 0,
    "each record standardised": lambda x: F.layer_norm(x, x.shape[1:]),
    "each record sorted": lambda x: x.sort(1).values,
    "each record's largest": lambda x: x / x.abs().amax(1, keepdim=True),
}

MODELS: dict[str, Callable[[], Part]] = {
    **{name: partial(entering, change) for name, change in EACH.items()},
    **{f"perceptron {a}": partial(perceptron, a) for a in ACTIVATIONS},
    **{f"convolutions {n}": partial(convolutional, n) for n in NORMS},
    "deep": lambda: of(*(m for _ in range(12) for m in (nn.Linear(8, 8), nn.Tanh()))),
    "zero head": lambda: (
        nn.init.zeros_((m := nn.Linear(8, CLASSES)).weight),
        m,
        losses_of,
        numbers(8),
        classes(),
    )[1:],
    "stochastic depth": stochastic_depth,
    "u-net": unet,
    "inputs as bytes": lambda: of(
        Raw(torch.ones(()), lambda x, w: x.float() * w / 255),
        nn.Linear(8, 8),
        x=tokens(8, stop=64).byte(),
    ),
    "several inputs": named,
    "graph": lambda: part(Graph(6), numbers(6, 8)),
    "experts, best two": lambda: part(Experts(2)),
    "low rank": lambda: of(LowRank(nn.Linear(8, 8)), nn.Tanh(), LowRank(nn.Linear(8, 8))),
    "frozen body": lambda: of(nn.Linear(8, 8).requires_grad_(False), nn.Tanh()),
    "biases only": lambda: (
        m := of(nn.Linear(8, 9), nn.Tanh()),
        m[0][0].weight.requires_grad_(False),
    )[0],
    "tied twice": lambda: by(
        lambda m, x: m.head(m.layer(torch.tanh(m.layer(x)))), layer=nn.Linear(8, 8)
    ),
    "quantised, 2 bits": lambda: quantised(2),
    "fixed codebook": codebook,
    "adversarial": adversarial,
    "counts its calls": counted,
    "a choice for each record": looped,
    "bfloat16": lambda: own_type(torch.bfloat16),
    "parts in float32": lambda: of(*(in_float32() for _ in range(12)), x=sequence()),
    "missing values as zeros": lambda: by(
        lambda m, x: m.head(torch.cat([x.nan_to_num(), x.isnan()], 1)),
        head=nn.Linear(16, CLASSES),
    ),
}
