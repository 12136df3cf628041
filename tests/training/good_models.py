"""Models and losses that treat records separately: all must be accepted."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from mixers import BATCH, Part, classes, entering, numbers, part
from per_record import CLASSES, Model, losses_of
from torch import Tensor, nn

tokens = lambda *shape, stop=CLASSES: torch.randint(0, stop, (BATCH, *shape))


def of(*layers: nn.Module, x: Any = None) -> Part:
    """A chain of layers and a linear head."""
    return part(nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(CLASSES)), x)


def by(forward: Callable[..., Tensor], x: Any = None, **layers: nn.Module) -> Part:
    """A function of layers and a linear head."""
    return part(Model(forward, **{"head": nn.Linear(8, CLASSES), **layers}), x)


def perceptron(activation: nn.Module) -> Part:
    return of(nn.Linear(8, 12), activation, nn.Linear(12, 12), activation)


def convolutional(norm: nn.Module, activation: nn.Module | None = None) -> Part:
    first, second = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 3)
    return of(first, norm, activation or nn.ReLU(), second, nn.AvgPool2d(2), x=numbers(2, 6, 6))


def regression(
    loss: Callable[[Tensor, Tensor], Tensor], targets: Callable[[], Tensor], outputs: int = 1
) -> Part:
    model = nn.Sequential(nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, outputs))
    return model, loss, numbers(8), targets()


each = partial(partial, reduction="none")


def row(loss: Callable[..., Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """A loss summed over everything but records."""
    return lambda outputs, targets: each(loss)(outputs, targets).flatten(1).sum(1)


def encoder(**options: Any) -> Part:
    options = {"batch_first": True, "dropout": 0.0, "norm_first": True, **options}
    layer = nn.TransformerEncoderLayer(8, 2, 16, **options)
    return of(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), x=numbers(5, 8))


def recurrent(layer: nn.Module) -> Part:
    return by(
        lambda m, x: m.head(m.layer(x)[0][:, -1]),
        numbers(5, 8),
        layer=layer,
        head=nn.LazyLinear(CLASSES),
    )


def unrolled(cell: nn.Module) -> Part:
    """A cell of linear layers, over time."""

    def forward(model: Any, x: Tensor) -> Tensor:
        state = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            state = torch.tanh(model.inward(x[:, t]) + model.cell(state))
        return model.head(state)

    return by(forward, numbers(4, 8), inward=nn.Linear(8, 8), cell=cell)


class Raw(nn.Module):
    """One parameter and what it does to the input."""

    def __init__(self, value: Tensor, use: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.weight, self.use = nn.Parameter(value), use

    def forward(self, x: Tensor) -> Tensor:
        return self.use(x, self.weight)


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


class Gate(nn.Module):
    """A gated linear unit."""

    def __init__(self, width: int, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.value, self.gate, self.out = (nn.Linear(width, width) for _ in range(3))
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return x + self.out(self.value(x) * self.activation(self.gate(x)))


class Attention(nn.Module):
    """Self-attention of linear layers, causal or not, with rotated positions or not."""

    def __init__(self, *, causal: bool = False, rotary: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.inward, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.causal, self.rotary, self.dropout = causal, rotary, dropout
        self.tables: dict[int, Tensor] = {}

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (y.unflatten(2, (2, 4)).transpose(1, 2) for y in self.inward(x).chunk(3, 2))
        if self.rotary:
            q, k = self.rotated(q), self.rotated(k)
        p = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, dropout_p=p)
        return x + self.out(mixed.transpose(1, 2).flatten(2))

    def rotated(self, x: Tensor) -> Tensor:
        length = x.shape[2]
        if length not in self.tables:  # kept, and no data
            self.tables[length] = torch.arange(length)[:, None] * torch.tensor([1.0, 0.1])
        angle = self.tables[length].to(x)
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.cat(
            [even * angle.cos() - odd * angle.sin(), odd * angle.cos() + even * angle.sin()], -1
        )


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


class Residual(nn.Module):
    def __init__(self, *layers: nn.Module, zero: bool = False) -> None:
        super().__init__()
        self.body = nn.Sequential(*layers)
        if zero:
            nn.init.zeros_(self.body[-1].weight)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


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


def diffusion() -> Part:
    """Noise drawn in the forward pass, to be guessed."""

    def forward(m: Any, x: Tensor) -> Tensor:
        time = torch.rand(len(x), 1).to(x)
        noise = torch.randn(x.shape).to(x)
        guess = m.body(torch.cat([time.sqrt() * x + (1 - time).sqrt() * noise, time], 1))
        return (guess - noise).square().mean(1)

    body = nn.Sequential(nn.Linear(9, 16), nn.SiLU(), nn.Linear(16, 8))
    return part(Model(forward, body=body), loss_fn=lambda losses, _: losses)


def variational() -> Part:
    def forward(m: Any, x: Tensor) -> tuple[Tensor, ...]:
        mean, log_scale = m.encoder(x).chunk(2, 1)
        z = mean + log_scale.exp() * torch.randn(mean.shape).to(x)
        return m.decoder(z), mean, log_scale

    def loss(outputs: Any, x: Tensor) -> Tensor:
        decoded, mean, log_scale = outputs
        gap = 0.5 * (mean.square() + (2 * log_scale).exp() - 2 * log_scale - 1).sum(1)
        return (decoded - x).square().sum(1) + gap

    return (
        Model(forward, encoder=nn.Linear(8, 6), decoder=nn.Linear(3, 8)),
        loss,
        numbers(8),
        numbers(8),
    )


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


def siamese() -> Part:
    """Two inputs through the same layers, and whether they are alike."""
    forward = lambda m, a, b: F.cosine_similarity(m.body(a), m.body(b))
    body = nn.Sequential(nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, 4))
    loss = lambda alike, targets: (alike - (targets > 1).to(alike)).square()
    return part(Model(forward, body=body), (numbers(8), numbers(8)), loss)


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


def padded() -> Part:
    """Lengths of at least one, as a mask of attention."""

    def forward(m: Any, x: Tensor, lengths: Tensor) -> Tensor:
        if int(lengths.min()) < 1 or int(lengths.max()) > x.shape[1]:
            raise ValueError("Expected lengths of sequences.")
        hidden = torch.arange(x.shape[1]) >= lengths[:, None]
        return m.head(m.encoder(x, src_key_padding_mask=hidden)[:, 0])

    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, dropout=0.0)
    inputs = numbers(9, 8), torch.randint(1, 9, (BATCH,))
    return by(forward, inputs, encoder=nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))


def language(*, dropout: float = 0.0, tied: bool = False, width: int = 8) -> Part:
    """A decoder that guesses the next word."""

    def forward(m: Any, words: Tensor) -> Tensor:
        length = words.shape[1]
        places = torch.arange(length).expand(words.shape)
        mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=m.head.weight.dtype)
        return m.head(m.body(m.words(words) + m.places(places), mask=mask, is_causal=True))

    layer = nn.TransformerEncoderLayer(width, 2, 16, dropout=dropout, batch_first=True)
    model = Model(
        forward,
        words=nn.Embedding(30, width),
        places=nn.Embedding(7, width),
        body=nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        head=nn.Linear(width, 30),
    )
    if tied:
        model.head.weight = model.words.weight
    each = lambda outputs, words: losses_of(outputs[:, :-1].mT, words[:, 1:]).mean(1)
    words = tokens(7, stop=30)
    return model, each, words, words


def distilled() -> Part:
    """A frozen teacher inside the loss."""
    teacher = nn.Linear(8, CLASSES).requires_grad_(False)
    model = Model(
        lambda m, x: (m.student(x), m.teacher(x)), student=nn.Linear(8, CLASSES), teacher=teacher
    )
    gap = lambda both, _: F.kl_div(
        both[0].log_softmax(1), both[1].softmax(1), reduction="none"
    ).sum(1)
    return part(model, loss_fn=gap)


def weighted_loss() -> Part:
    """Weights of classes that are constants in float32."""
    weight = torch.linspace(0.5, 2, CLASSES)
    loss = nn.CrossEntropyLoss(weight=weight, reduction="none", label_smoothing=0.1)
    return part(nn.Linear(8, CLASSES), loss_fn=loss)


def constant_weights() -> Part:
    weight = torch.linspace(0.5, 2, CLASSES)
    return part(
        nn.Linear(8, CLASSES), loss_fn=lambda o, t: F.cross_entropy(o, t, weight, reduction="none")
    )


def multitask() -> Part:
    forward = lambda m, x: {
        "size": m.size(torch.tanh(m.body(x)))[:, 0],
        "kind": m.kind(torch.tanh(m.body(x))),
    }
    loss = lambda out, t: losses_of(out["kind"], t["kind"]) + (out["size"] - t["size"]).abs()
    model = Model(forward, body=nn.Linear(8, 9), size=nn.Linear(9, 1), kind=nn.Linear(9, CLASSES))
    return model, loss, numbers(8), {"size": numbers(), "kind": classes()}


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


def penalised() -> Part:
    """A penalty on activations of each record."""
    forward = lambda m, x: (h := torch.relu(m.first(x)), m.last(h))
    loss = lambda both, t: losses_of(both[1], t) + 0.1 * both[0].abs().sum(1)
    return part(Model(forward, first=nn.Linear(8, 9), last=nn.Linear(9, CLASSES)), loss_fn=loss)


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


images, sequence, waves = partial(numbers, 2, 8, 8), partial(numbers, 6, 8), partial(numbers, 2, 16)
ACTIVATIONS = (
    *(nn.ReLU(), nn.ReLU(inplace=True), nn.Tanh(), nn.GELU(), nn.SiLU(), nn.Softplus(), nn.ELU()),
    *(nn.LeakyReLU(), nn.Hardswish(), nn.Softmax(1), nn.Sigmoid(), nn.Mish(), nn.Dropout(0.3)),
)
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
BINARY = row(F.binary_cross_entropy_with_logits)
# Losses of one output or more, and their targets.
LOSSES: dict[str, tuple[Any, ...]] = {
    "squared loss": (row(F.mse_loss), lambda: numbers(1)),
    "absolute loss": (row(F.l1_loss), lambda: numbers(1)),
    "huber loss": (row(F.huber_loss), lambda: numbers(1)),
    "poisson loss": (lambda o, t: each(F.poisson_nll_loss)(o[:, 0].clamp(max=5), t), numbers),
    "gaussian loss": (
        lambda o, t: each(F.gaussian_nll_loss)(o[:, 0], t, F.softplus(o[:, 1]) + 0.1),
        *(numbers, 2),
    ),
    "quantile loss": (
        lambda o, t: torch.maximum(0.9 * (t - o[:, 0]), 0.1 * (o[:, 0] - t)),
        numbers,
    ),
    "binary loss": (BINARY, lambda: torch.rand(BATCH, 1).round()),
    "several labels": (BINARY, lambda: torch.rand(BATCH, 4).round(), 4),
    "hinge loss": (lambda o, t: F.relu(1 - o[:, 0] * t), lambda: numbers().sign()),
    "multi-margin loss": (each(F.multi_margin_loss), classes, CLASSES),
    "focal loss": (
        lambda o, t: (1 - (-losses_of(o, t)).exp()) ** 2 * losses_of(o, t),
        *(classes, CLASSES),
    ),
    "labels as shares": (losses_of, lambda: torch.rand(BATCH, CLASSES).softmax(1), CLASSES),
    "ignored labels": (each(F.cross_entropy, ignore_index=0), classes, CLASSES),
    "ordinal loss": (lambda o, t: BINARY(o, (torch.arange(4) < t[:, None]).to(o)), classes, 4),
    "survival loss": (lambda o, t: t.abs() * o[:, 0].clamp(max=9).exp() - o[:, 0], numbers),
}
GOOD: dict[str, Callable[[], Part]] = {
    **{name: partial(entering, change) for name, change in EACH.items()},
    **{name: partial(regression, *parts) for name, parts in LOSSES.items()},
    **{f"perceptron {a}": partial(perceptron, a) for a in ACTIVATIONS},
    **{f"convolutions {n}": partial(convolutional, n) for n in NORMS},
    "logistic": lambda: part(nn.Linear(8, CLASSES)),
    "wide": lambda: of(nn.Linear(8, 300), nn.ReLU()),
    "deep": lambda: of(*(m for _ in range(12) for m in (nn.Linear(8, 8), nn.Tanh()))),
    "zero head": lambda: (
        nn.init.zeros_((m := nn.Linear(8, CLASSES)).weight),
        m,
        losses_of,
        numbers(8),
        classes(),
    )[1:],
    "zero residual": lambda: of(Residual(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), zero=True)),
    "dropout, alpha": lambda: of(nn.Linear(8, 9), nn.SELU(), nn.AlphaDropout(0.2)),
    "stochastic depth": stochastic_depth,
    "squeeze and excite": lambda: by(
        lambda m, x: m.head(
            (h := m.conv(x)) * torch.sigmoid(m.gate(h.mean((2, 3))))[:, :, None, None]
        ).mean((2, 3)),
        images(),
        conv=nn.Conv2d(2, 4, 3),
        gate=nn.Linear(4, 4),
        head=nn.Conv2d(4, CLASSES, 1),
    ),
    "depthwise": lambda: of(
        nn.Conv2d(2, 4, 3, groups=2), nn.ReLU(), nn.Conv2d(4, 8, 1), x=images()
    ),
    "dilated": lambda: of(nn.Conv1d(2, 4, 3, dilation=2), nn.ReLU(), x=waves()),
    "strided": lambda: of(nn.Conv2d(2, 4, 3, stride=2), nn.ELU(), nn.MaxPool2d(2), x=images()),
    "transposed": lambda: of(nn.ConvTranspose2d(2, 3, 2, 2), nn.ReLU(), x=images()),
    "three dimensions": lambda: of(nn.Conv3d(1, 2, 2), nn.ReLU(), x=numbers(1, 4, 4, 4)),
    "pixel shuffle": lambda: of(nn.Conv2d(2, 8, 3), nn.PixelShuffle(2), x=images()),
    "adaptive pool": lambda: of(nn.Conv2d(2, 4, 3), nn.AdaptiveMaxPool2d(2), x=images()),
    "residual convolutions": lambda: of(
        nn.Conv2d(2, 4, 3, padding=1),
        *(Residual(nn.GroupNorm(2, 4), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)) for _ in range(2)),
        x=images(),
    ),
    "u-net": unet,
    "inputs as bytes": lambda: of(
        Raw(torch.ones(()), lambda x, w: x.float() * w / 255),
        nn.Linear(8, 8),
        x=tokens(8, stop=64).byte(),
    ),
    "channels last": lambda: of(
        nn.Conv2d(2, 4, 3).to(memory_format=torch.channels_last),
        nn.GroupNorm(2, 4),
        x=images(),
    ),
    "fourier features": lambda: of(
        Raw(torch.randn(8, 6), lambda x, w: torch.cat([(x @ w).sin(), (x @ w).cos()], 1))
    ),
    "scale and shift": lambda: of(
        Raw(torch.ones(8), lambda x, w: x * w), nn.Linear(8, 8), Raw(torch.zeros(8), torch.add)
    ),
    "learned class token": lambda: of(
        Raw(torch.randn(1, 1, 8), lambda x, w: torch.cat([w.expand(len(x), -1, -1), x], 1)),
        Attention(),
        x=sequence(),
    ),
    "learned positions": lambda: of(Raw(torch.randn(6, 8), torch.add), Attention(), x=sequence()),
    "vision transformer": lambda: of(
        nn.Conv2d(2, 8, 4, 4),
        nn.Flatten(2),
        Raw(torch.zeros(4, 8), lambda x, w: x.mT + w),
        Attention(),
        nn.LayerNorm(8),
        x=images(),
    ),
    "layer scale": lambda: of(nn.Linear(8, 8), Raw(torch.full((8,), 1e-4), torch.mul)),
    "attention": lambda: of(Attention(), Attention(), x=sequence()),
    "attention, causal": lambda: of(Attention(causal=True), x=sequence()),
    "attention, rotary": lambda: of(Attention(causal=True, rotary=True), x=sequence()),
    "attention, dropout": lambda: of(Attention(dropout=0.2), nn.Dropout(0.1), x=sequence()),
    "encoder": encoder,
    "encoder, dropout": lambda: encoder(dropout=0.2),
    "encoder, norm last": lambda: encoder(norm_first=False, activation="gelu"),
    "language": language,
    "language, wider": lambda: language(width=16),
    "language, dropout": lambda: language(dropout=0.1),
    "language, tied": lambda: language(tied=True),
    "lengths": padded,
    "mixer": lambda: of(
        Residual(nn.Linear(8, 8)), Raw(torch.randn(6, 6), lambda x, w: (x.mT @ w).mT), x=sequence()
    ),
    "linear attention": lambda: by(
        lambda m, x: m.head((F.elu(m.q(x)) + 1) @ ((F.elu(m.k(x)) + 1).mT @ m.v(x))).mean(1),
        sequence(),
        q=nn.Linear(8, 4),
        k=nn.Linear(8, 4),
        v=nn.Linear(8, 4),
        head=nn.Linear(4, CLASSES),
    ),
    "gated, silu": lambda: of(Gate(8, F.silu), Gate(8, F.silu)),
    "gated, sigmoid": lambda: of(Gate(8, torch.sigmoid), x=sequence()),
    "lstm": lambda: recurrent(nn.LSTM(8, 6, batch_first=True)),
    "lstm, two ways": lambda: recurrent(nn.LSTM(8, 6, 2, bidirectional=True, batch_first=True)),
    "gru": lambda: recurrent(nn.GRU(8, 6, batch_first=True)),
    "rnn": lambda: recurrent(nn.RNN(8, 6, batch_first=True)),
    "unrolled": lambda: unrolled(nn.Linear(8, 8)),
    "unrolled, two layers": lambda: unrolled(
        nn.Sequential(nn.Linear(8, 9), nn.ReLU(), nn.Linear(9, 8))
    ),
    "state space": lambda: by(
        lambda m, x: m.head(m.inward(x) * torch.linspace(0.1, 1, x.shape[1]).to(x)[:, None]).cumsum(
            1
        )[:, -1],
        sequence(),
        inward=nn.Linear(8, 8),
    ),
    "words": lambda: by(
        lambda m, x: m.head(m.words(x).mean(1)), tokens(7, stop=100), words=nn.Embedding(100, 8)
    ),
    "words, padding": lambda: by(
        lambda m, x: m.head(m.words(x).amax(1)),
        tokens(7, stop=9),
        words=nn.Embedding(9, 8, padding_idx=0),
    ),
    "words, first ones frozen": lambda: by(
        lambda m, x: m.head(m.words(x).mean(1)),
        tokens(7),
        words=nn.Embedding(9, 8).requires_grad_(False),
    ),
    "several inputs": named,
    "siamese": siamese,
    "graph": lambda: part(Graph(6), numbers(6, 8)),
    "graph, larger": lambda: part(Graph(16), numbers(16, 8)),
    "deep sets": lambda: by(
        lambda m, x: m.head(torch.relu(m.each(x)).sum(1)), sequence(), each=nn.Linear(8, 8)
    ),
    "points, largest": lambda: by(
        lambda m, x: m.head(m.each(x).amax(1)), sequence(), each=nn.Linear(8, 8)
    ),
    "experts, soft": lambda: part(Experts(None)),
    "experts, best two": lambda: part(Experts(2)),
    "experts, best one": lambda: part(Experts(1)),
    "low rank": lambda: of(LowRank(nn.Linear(8, 8)), nn.Tanh(), LowRank(nn.Linear(8, 8))),
    "frozen body": lambda: of(nn.Linear(8, 8).requires_grad_(False), nn.Tanh()),
    "biases only": lambda: (
        m := of(nn.Linear(8, 9), nn.Tanh()),
        m[0][0].weight.requires_grad_(False),
    )[0],
    "tied twice": lambda: by(
        lambda m, x: m.head(m.layer(torch.tanh(m.layer(x)))), layer=nn.Linear(8, 8)
    ),
    "autoencoder": lambda: (
        nn.Sequential(nn.Linear(8, 3), nn.Tanh(), nn.Linear(3, 8)),
        row(F.mse_loss),
        numbers(8),
        numbers(8),
    ),
    "variational": variational,
    "diffusion": diffusion,
    "quantised, 2 bits": lambda: quantised(2),
    "quantised, 8 bits": lambda: quantised(8),
    "fixed codebook": codebook,
    "distilled": distilled,
    "adversarial": adversarial,
    "penalised activations": penalised,
    "several outputs": multitask,
    "counts its calls": counted,
    "a choice for each record": looped,
    "bfloat16": lambda: own_type(torch.bfloat16),
    "half": lambda: own_type(torch.float16),
    "float32 fixed": lambda: own_type(torch.float32),
    "parts in float32": lambda: of(*(in_float32() for _ in range(12)), x=sequence()),
    "float64": lambda: part(nn.Linear(8, CLASSES).double(), numbers(8).double()),
    "constant weights of classes": constant_weights,
    "weights of classes, smoothed": weighted_loss,
    "missing values as zeros": lambda: by(
        lambda m, x: m.head(torch.cat([x.nan_to_num(), x.isnan()], 1)),
        head=nn.Linear(16, CLASSES),
    ),
    "cumulative over time": lambda: by(lambda m, x: m.head(x).cumsum(1)[:, -1], sequence()),
}
