"""Models and losses that treat records separately: all must be accepted."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import parts
import torch
import torch.nn.functional as F
from parts import CLASSES, Model, Part, by, decoder, entering, loss, losses_of, numbers, of, part
from per_record import shared
from torch import Tensor, nn


def perceptron(activation: nn.Module) -> Part:
    return of(nn.Linear(8, 12), activation, nn.Linear(12, 12), activation)


def convolutional(norm: nn.Module) -> Part:
    first, second = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 3)
    return of(first, norm, nn.ReLU(), second, nn.AvgPool2d(2), x=numbers(2, 6, 6))


def low_rank() -> Model:
    """Return a frozen layer with a low-rank update, whose second factor starts at zero."""
    layer, down = nn.Linear(8, 8).requires_grad_(False), nn.Linear(8, 2, False)
    up = parts.zeroed(nn.Linear(2, 8, False))
    return Model(lambda m, x: m.layer(x) + m.up(m.down(x)), layer=layer, down=down, up=up)


def graph(m: Any, x: Tensor) -> Tensor:
    for _ in range(2):
        x = torch.relu(m.edges @ m.layer(x))
    return m.head(x.mean(1))


def best_two(m: Any, x: Tensor) -> Tensor:
    share = m.gate(x)
    share = share.masked_fill(share < share.topk(2, 1).values[:, -1:], -math.inf)
    return (torch.stack([e(x) for e in m.experts], 2) * share.softmax(1)[:, None]).sum(2)


def unet() -> Part:
    def forward(m: Any, x: Tensor) -> Tensor:
        wide = torch.relu(m.down(x))
        deep = torch.relu(m.middle(F.max_pool2d(wide, 2)))
        return m.out(torch.cat([wide, F.interpolate(deep, scale_factor=2)], 1))

    down, middle = (nn.Conv2d(size, 4, 3, padding=1) for size in (2, 4))
    model = Model(forward, down=down, middle=middle, out=nn.Conv2d(8, CLASSES, 1))
    each = lambda outputs, targets: losses_of(outputs, targets).mean((1, 2))
    return model, each, numbers(2, 8, 8), parts.tokens(8, 8)


def codebook(m: Any, x: Tensor) -> Tensor:
    z = m.encoder(x)
    code = m.codes[torch.cdist(z.detach(), m.codes).argmin(1)]
    return m.head(z + (code - z).detach())


def named() -> Part:
    def forward(m: Any, x: Tensor, words: Tensor, mask: Tensor) -> Tensor:
        total = (m.embed(words) * mask[..., None]).sum(1)
        read = total / mask.sum(1, keepdim=True).clamp(min=1)
        return m.head(torch.tanh(read + m.layer(x)))

    layers = {"embed": nn.Embedding(50, 4), "layer": nn.Linear(8, 4), "head": nn.Linear(4, CLASSES)}
    inputs = {
        "x": numbers(8),
        "words": parts.tokens(7, stop=50),
        "mask": torch.rand(parts.BATCH, 7) > 0.3,
    }
    return part(Model(forward, **layers), inputs)


def counting(m: Any, x: Tensor) -> Tensor:
    """Count calls and store a table, which depend on no data."""
    m.calls = getattr(m, "calls", 0) + 1
    if not hasattr(m, "table"):
        m.table = torch.linspace(0, 1, 8)
    return m.head(x * m.table.to(x))


def in_float32(x: Tensor, weight: Tensor) -> Tensor:
    """Return a product and a norm, computed in float32 for inputs of any type."""
    y = torch.tanh(x.float() @ weight.float())
    return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def choosing(m: Any, x: Tensor) -> Tensor:
    chosen = [int(record.sum() <= 0) for record in x]
    return torch.stack([m.right(x), m.left(x)])[chosen, range(len(x))]


def adversarial(m: Any, x: Tensor) -> Tensor:
    with torch.enable_grad():
        moved = x.detach().requires_grad_()
        (grad,) = torch.autograd.grad(torch.tanh(moved @ m.direction.to(x)).sum(), moved)
    return m.head(x + 0.1 * grad.sign())


def depth(m: Any, x: Tensor) -> Tensor:
    return x + m.layer(x) * (torch.rand(len(x), 1) < 0.5).to(x) if m.training else x


ACTIVATIONS = nn.ReLU(), nn.ReLU(inplace=True), nn.GELU(), nn.Softmax(1), nn.Dropout(0.3)
NORMS = (
    *(nn.GroupNorm(2, 4), nn.GroupNorm(4, 4), nn.GroupNorm(1, 4), nn.InstanceNorm2d(4)),
    *(nn.InstanceNorm2d(4, affine=True), nn.BatchNorm2d(4).eval(), nn.LayerNorm((4, 6, 6))),
    *(nn.LocalResponseNorm(2), nn.Identity(), nn.Dropout2d(0.2)),
)
# Functions of one record, applied before a linear layer.
EACH = {
    "logarithm of inputs": lambda x: (x - 1).log(),
    "log1p of inputs": lambda x: x.log1p(),
    "square root of inputs": lambda x: x.sqrt(),
    "missing values not allowed": lambda x: x if bool(x.isfinite().all()) else 1 / 0,
    "each record standardised": lambda x: F.layer_norm(x, x.shape[1:]),
    "each record sorted": lambda x: x.sort(1).values,
    "each record's largest": lambda x: x / x.abs().amax(1, keepdim=True),
}
sequence = partial(numbers, 6, 8)
linear, square = partial(nn.Linear, 8, CLASSES), partial(nn.Linear, 8, 8)
residual = lambda forward: Model(forward, layer=square())
rounded = lambda m, x: x + ((x * 4).round() / 4 - x).detach()  # the identity's gradient
EDGES = torch.eye(6).roll(1, 0) + torch.eye(6)

MODELS: dict[str, Callable[[], Part]] = {
    **{name: partial(entering, change) for name, change in EACH.items()},
    **{f"perceptron {a}": partial(perceptron, a) for a in ACTIVATIONS},
    **{f"convolutions {n}": partial(convolutional, n) for n in NORMS},
    "deep": lambda: of(*(m for _ in range(12) for m in (square(), nn.Tanh()))),
    "zero head": lambda: part(parts.zeroed(linear())),
    "stochastic depth": lambda: of(residual(depth), residual(depth)),
    "u-net": unet,
    "inputs as bytes": lambda: of(
        parts.raw(torch.ones(()), lambda x, w: x.float() * w / 255),
        square(),
        x=parts.tokens(8, stop=64).byte(),
    ),
    "several inputs": named,
    "graph": lambda: by(graph, numbers(6, 8), layer=square(), edges=nn.Buffer(EDGES)),
    "experts, best two": lambda: part(
        Model(best_two, gate=nn.Linear(8, 4), experts=nn.ModuleList(linear() for _ in range(4)))
    ),
    "low rank": lambda: of(low_rank(), nn.Tanh(), low_rank()),
    "frozen body": lambda: of(square().requires_grad_(False), nn.Tanh()),
    "biases only": lambda: part(parts.frozen(parts.headed(nn.Linear(8, 9), nn.Tanh()), "0.weight")),
    "tied twice": lambda: by(lambda m, x: m.head(m.layer(torch.tanh(m.layer(x)))), layer=square()),
    "quantised, 2 bits": lambda: of(nn.Linear(8, 9), nn.Tanh(), Model(rounded), nn.Linear(9, 9)),
    "fixed codebook": lambda: by(codebook, encoder=square(), codes=nn.Buffer(torch.randn(7, 8))),
    "adversarial": lambda: by(adversarial, direction=nn.Buffer(torch.randn(8))),
    "counts its calls": lambda: by(counting),
    "a choice for each record": lambda: part(Model(choosing, left=linear(), right=linear())),
    "bfloat16": lambda: by(  # a model that fixes the number type
        lambda m, x: m.head(x.to(torch.bfloat16)).float(), head=linear(dtype=torch.bfloat16)
    ),
    "parts in float32": lambda: of(
        *(parts.raw(torch.randn(8, 8) / 3, in_float32) for _ in range(12)), x=sequence()
    ),
    "missing values as zeros": lambda: by(
        lambda m, x: m.head(torch.cat([x.nan_to_num(), x.isnan()], 1)), head=nn.Linear(16, CLASSES)
    ),
}


def regression(loss: Callable[..., Tensor], targets: Any, outputs: int = 1) -> Part:
    model = nn.Sequential(nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, outputs))
    return model, loss, numbers(8), targets()


each = partial(partial, reduction="none")


def row(loss: Callable[..., Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda outputs, targets: each(loss)(outputs, targets).flatten(1).sum(1)


def diffusion(m: Any, x: Tensor) -> Tensor:
    time = torch.rand(len(x), 1).to(x)
    noise = torch.randn(x.shape).to(x)
    guess = m.body(torch.cat([time.sqrt() * x + (1 - time).sqrt() * noise, time], 1))
    return (guess - noise).square().mean(1)


def variational() -> Part:
    def forward(m: Any, x: Tensor) -> tuple[Tensor, ...]:
        mean, log_scale = m.encoder(x).chunk(2, 1)
        z = mean + log_scale.exp() * torch.randn(mean.shape).to(x)
        return m.decoder(z), mean, log_scale

    def loss(outputs: Any, x: Tensor) -> Tensor:
        decoded, mean, log_scale = outputs
        gap = 0.5 * (mean.square() + (2 * log_scale).exp() - 2 * log_scale - 1).sum(1)
        return (decoded - x).square().sum(1) + gap

    model = Model(forward, encoder=nn.Linear(8, 6), decoder=nn.Linear(3, 8))
    return model, loss, numbers(8), numbers(8)


def distilled() -> Part:
    layers = {"teacher": linear().requires_grad_(False), "student": linear()}
    model = Model(lambda m, x: (m.student(x), m.teacher(x)), **layers)
    gap = lambda both, _: each(F.kl_div)(both[0].log_softmax(1), both[1].softmax(1)).sum(1)
    return part(model, loss_fn=gap)


def multitask() -> Part:
    def forward(m: Any, x: Tensor) -> dict[str, Tensor]:
        body = torch.tanh(m.body(x))
        return {"size": m.size(body)[:, 0], "kind": m.kind(body)}

    loss = lambda out, t: losses_of(out["kind"], t["kind"]) + (out["size"] - t["size"]).abs()
    model = Model(forward, body=nn.Linear(8, 9), size=nn.Linear(9, 1), kind=nn.Linear(9, CLASSES))
    return model, loss, numbers(8), {"size": numbers(), "kind": parts.tokens()}


def penalised() -> Part:
    forward = lambda m, x: (h := torch.relu(m.first(x)), m.last(h))
    loss = lambda both, t: losses_of(both[1], t) + 0.1 * both[0].abs().sum(1)
    return part(Model(forward, first=nn.Linear(8, 9), last=nn.Linear(9, CLASSES)), loss_fn=loss)


def aligned(*, lengths: bool = False) -> Part:
    """Return the task of the CTC loss, which reads invalid memory if a label is no class."""

    def loss(outputs: Tensor, targets: Any) -> Tensor:
        full = lambda count: torch.full((len(outputs),), count)
        labels, counts = targets if lengths else (targets, full(4))
        log_probs = outputs.view(len(outputs), 12, 6).log_softmax(2).transpose(0, 1)
        return each(F.ctc_loss)(log_probs, labels, full(12), counts)

    labels = torch.randint(1, 6, (parts.BATCH, 4))
    model = nn.Sequential(nn.Linear(8, 6), nn.Flatten())  # no shape tells the number of classes
    targets = (labels, torch.randint(1, 4, (parts.BATCH,))) if lengths else labels
    return model, loss, numbers(12, 8), targets


def words_that_count(outputs: Tensor, targets: Tensor) -> Tensor:
    return losses_of(outputs.mT, targets).sum(1) / (targets != -100).sum(1).clamp(min=1)


binary = row(F.binary_cross_entropy_with_logits)
focal = lambda o, t: (1 - (-losses_of(o, t)).exp()) ** 2 * losses_of(o, t)
gaussian = lambda o, t: each(F.gaussian_nll_loss)(o[:, 0], t, F.softplus(o[:, 1]) + 0.1)
# Losses of one or more outputs, and their targets.
OF_OUTPUTS: dict[str, tuple[Any, ...]] = {
    "squared loss": (row(F.mse_loss), lambda: numbers(1)),
    "poisson loss": (lambda o, t: each(F.poisson_nll_loss)(o[:, 0].clamp(max=5), t), numbers),
    "gaussian loss": (gaussian, numbers, 2),
    "several labels": (binary, lambda: torch.rand(parts.BATCH, 4).round(), 4),
    "focal loss": (focal, parts.tokens, CLASSES),
    "labels as shares": (losses_of, lambda: torch.rand(parts.BATCH, CLASSES).softmax(1), CLASSES),
    "ignored labels": (each(F.cross_entropy, ignore_index=0), parts.tokens, CLASSES),
}

LOSSES: dict[str, Callable[[], Part]] = {
    **{name: partial(regression, *parts) for name, parts in OF_OUTPUTS.items()},
    "variational": variational,
    "diffusion": lambda: part(
        Model(diffusion, body=nn.Sequential(nn.Linear(9, 16), nn.SiLU(), nn.Linear(16, 8))),
        loss_fn=lambda losses, _: losses,
    ),
    "distilled": distilled,
    "penalised activations": penalised,
    "several outputs": multitask,
    "labels of a sequence, aligned": aligned,
    "labels of a sequence, aligned, lengths given": lambda: aligned(lengths=True),
    "words that count": lambda: (linear(), words_that_count, numbers(7, 8), parts.tokens(7)),
    "weights of classes, smoothed": lambda: loss(  # constants in float32
        nn.CrossEntropyLoss(torch.linspace(0.5, 2, CLASSES), reduction="none", label_smoothing=0.1)
    ),
}


def encoder(**options: Any) -> Part:
    options = {"batch_first": True, "dropout": 0.0, "norm_first": True, **options}
    layer = nn.TransformerEncoderLayer(8, 2, 16, **options)
    return of(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), x=numbers(5, 8))


def unrolled(m: Any, x: Tensor) -> Tensor:
    state = torch.zeros_like(x[:, 0])
    for t in range(x.shape[1]):
        state = torch.tanh(m.inward(x[:, t]) + m.cell(state))
    return m.head(state)


def attention(*, causal: bool = False, rotary: bool = False, dropout: float = 0.0) -> Model:
    """Return self-attention made of linear layers, optionally causal or with rotated positions."""

    def forward(m: Any, x: Tensor) -> Tensor:
        q, k, v = (y.unflatten(2, (2, 4)).transpose(1, 2) for y in m.inward(x).chunk(3, 2))
        if rotary:
            q, k = rotated(m, q), rotated(m, k)
        p = dropout if m.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=causal, dropout_p=p)
        return x + m.out(mixed.transpose(1, 2).flatten(2))

    def rotated(m: Any, x: Tensor) -> Tensor:
        length = x.shape[2]
        if length not in m.tables:  # stored, but contains no data
            m.tables[length] = torch.arange(length)[:, None] * torch.tensor([1.0, 0.1])
        sin, cos = m.tables[length].to(x).sin(), m.tables[length].to(x).cos()
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.cat([even * cos - odd * sin, odd * cos + even * sin], -1)

    return Model(forward, inward=nn.Linear(8, 24), out=square(), tables={})


def padded() -> Part:
    def forward(m: Any, x: Tensor, lengths: Tensor) -> Tensor:
        if int(lengths.min()) < 1 or int(lengths.max()) > x.shape[1]:
            raise ValueError("Expected lengths of sequences.")
        hidden = torch.arange(x.shape[1]) >= lengths[:, None]
        return m.head(m.encoder(x, src_key_padding_mask=hidden)[:, 0])

    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, dropout=0.0)
    inputs = numbers(9, 8), torch.randint(1, 9, (parts.BATCH,))
    return by(forward, inputs, encoder=nn.TransformerEncoder(layer, 1, enable_nested_tensor=False))


def language(**options: Any) -> Part:
    each = lambda outputs, words: losses_of(outputs[:, :-1].mT, words[:, 1:]).mean(1)
    words = parts.tokens(7, stop=30)
    return decoder(30, **options), each, words, words


across = lambda x, w: (x.mT @ w).mT
shares = lambda m, x: m.head((F.elu(m.q(x)) + 1) @ ((F.elu(m.k(x)) + 1).mT @ m.v(x))).mean(1)
last = lambda m, x: m.head(m.layer(x)[0][:, -1])

SEQUENCES: dict[str, Callable[[], Part]] = {
    "learned positions": lambda: of(
        parts.raw(torch.randn(6, 8), torch.add), attention(), x=sequence()
    ),
    "attention, rotary": lambda: of(attention(causal=True, rotary=True), x=sequence()),
    "attention, dropout": lambda: of(attention(dropout=0.2), nn.Dropout(0.1), x=sequence()),
    "encoder": encoder,
    "encoder, norm last": lambda: encoder(norm_first=False, activation="gelu"),
    "language": language,
    "language, dropout": lambda: language(dropout=0.1),
    "language, tied": lambda: language(tied=True),
    "look-ups for all records": lambda: part(shared(), parts.tokens(parts.BATCH)),
    "lengths": padded,
    "constants in the batch": lambda: by(
        lambda m, x, weights, power: m.head((x.mT @ weights) ** power),
        (numbers(9, 8), torch.rand(9), 2),
    ),
    "mixer": lambda: of(
        residual(lambda m, x: x + m.layer(x)), parts.raw(torch.randn(6, 6), across), x=sequence()
    ),
    "linear attention": lambda: by(shares, sequence(), **{name: square() for name in "qkv"}),
    "lstm": lambda: by(last, numbers(5, 8), layer=nn.LSTM(8, 8, batch_first=True)),
    "unrolled": lambda: by(unrolled, numbers(4, 8), inward=square(), cell=square()),
    "words": lambda: by(
        lambda m, x: m.head(m.words(x).mean(1)),
        parts.tokens(7, stop=100),
        words=nn.Embedding(100, 8),
    ),
    "deep sets": lambda: by(
        lambda m, x: m.head(torch.relu(m.each(x)).sum(1)), sequence(), each=square()
    ),
    "cumulative over time": lambda: by(lambda m, x: m.head(x).cumsum(1)[:, -1], sequence()),
}
GOOD = {**MODELS, **LOSSES, **SEQUENCES}
