"""Models and losses that treat records separately: `check_model` must accept all.

Clipped sums of those in `EXACT` are compared with sums over one record at a time. `OTHERS` draw
random numbers, fix a number type, or have records or targets of another form.
"""

import copy
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import parts
import torch
import torch.nn.functional as F
from parts import BATCH, CLASSES, Model, Part, by, entering, loss, losses_of, numbers, of, part
from torch import Tensor, nn
from torch.nn.utils import parametrizations

Makers = dict[str, Callable[[], Part]]
linear, square = partial(nn.Linear, 8, CLASSES), partial(nn.Linear, 8, 8)
sequence, words = partial(numbers, 6, 8), partial(parts.tokens, 7)
each, inplace = partial(partial, reduction="none"), partial(nn.ReLU, inplace=True)
first = lambda y: y.flatten(1)[:, :CLASSES]
residual = lambda forward: Model(forward, layer=square())


def frozen(task: Part, *names: str) -> Part:
    """Freeze a task's parameters whose names begin with one of `names`, and return the task."""
    for name, parameter in task[0].named_parameters():
        parameter.requires_grad = not name.startswith(names)
    return task


def convolutions(dims: int, *, kernel: int = 3, size: int = 6, **options: Any) -> Part:
    """Return a task on two convolutions, the second on few positions."""
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
    layers = kind(2, 4, kernel, **options), inplace(), kind(4, 8, 2, stride=2), nn.Tanh()
    return of(*layers, x=numbers(2, *[size] * dims))


def after_convolution(layer: nn.Module) -> Part:
    return of(nn.Conv2d(2, 4, 3), copy.deepcopy(layer), nn.ReLU(), x=numbers(2, 6, 6))


def twice(layer: nn.Module, *shape: int) -> Part:
    """Return a task on a model that uses a layer twice."""
    forward = lambda m, x: m.head(torch.tanh(m.layer(torch.tanh(m.layer(x)))).flatten(1))
    return by(forward, numbers(*shape), layer=layer, head=nn.LazyLinear(CLASSES))


def recurrent(kind: Any, *, states: bool = False, **options: Any) -> Part:
    """Return a task on a recurrent layer, whose loss uses all outputs and last states."""

    def forward(m: Any, x: Tensor) -> Tensor:
        start: Any = x[:, 0].repeat(layer.num_layers * (1 + layer.bidirectional), 1, 1)
        start = (start, start) if kind is nn.LSTM else start
        x = x if layer.batch_first else x.transpose(0, 1)
        output, end = m.layer(x, start if states else None)
        output = output if layer.batch_first else output.transpose(0, 1)
        ends = end if isinstance(end, tuple) else (end,)
        return m.head(torch.cat([output.flatten(1), *(e.mT.flatten(0, 1).mT for e in ends)], 1))

    layer = kind(8, 8, **options)
    return by(forward, numbers(4, 8), layer=layer, head=nn.LazyLinear(CLASSES))


AFTER_CONVOLUTION = (
    *(nn.GroupNorm(2, 4), nn.InstanceNorm2d(4), nn.InstanceNorm2d(4, affine=True)),
    *(nn.BatchNorm2d(4).eval(), nn.InstanceNorm2d(4, affine=True, track_running_stats=True).eval()),
    *(nn.LayerNorm((4, 4, 4)), nn.LocalResponseNorm(2), nn.ConvTranspose2d(4, 3, 2, 2)),
)
RECURRENT: dict[str, dict[str, Any]] = {
    "without bias": {"bias": False, "batch_first": True},
    "of two layers in both directions": {"num_layers": 2, "bidirectional": True, "states": True},
}
LAYERS: Makers = {
    **{
        f"{kind.__name__} {name}": partial(recurrent, kind, **options)
        for kind, (name, options) in product([nn.RNN, nn.LSTM, nn.GRU], RECURRENT.items())
    },
    "RNN with relu": lambda: recurrent(nn.RNN, nonlinearity="relu", num_layers=2),
    "LSTM, frozen": lambda: frozen(recurrent(nn.LSTM, states=True), "layer.weight_hh"),
    "GRU, frozen": lambda: frozen(recurrent(nn.GRU), "layer.weight_ih", "layer.bias_ih"),
    **{f"convolution, {layer}": partial(after_convolution, layer) for layer in AFTER_CONVOLUTION},
    "mlp": lambda: of(nn.Linear(8, 9), inplace()),
    "linear on a grid": lambda: of(nn.Linear(8, 9), nn.Flatten(1, 2), x=numbers(2, 3, 8)),
    "linear on positions": lambda: of(nn.Linear(30, 40), x=numbers(3, 30)),
    "linear without bias": lambda: part(linear(bias=False)),
    "zero head": lambda: part(parts.zeroed(linear())),
    "stride and padding": lambda: convolutions(2, stride=2, padding=(1, 2)),
    "dilation": lambda: convolutions(2, dilation=(2, 1)),
    "groups": lambda: convolutions(2, groups=2),
    "padding to the same size": lambda: convolutions(2, kernel=2, padding="same"),
    "reflections": lambda: convolutions(2, padding=2, padding_mode="reflect"),
    "one dimension": lambda: convolutions(1, size=30, stride=2),
    "three dimensions": lambda: convolutions(3, size=4, padding=1),
    "few positions": lambda: of(nn.Conv2d(2, 64, 3, 2, 1, (1, 2)), x=numbers(2, 5, 5)),
    "rms norm": lambda: of(nn.Linear(8, 6), nn.RMSNorm(6), x=numbers(4, 8)),
    "embedding": lambda: of(nn.Embedding(CLASSES, 8), x=words()),
    "embedding with padding": lambda: of(nn.Embedding(CLASSES, 8, padding_idx=2), x=words()),
    "embedding of one token": lambda: part(nn.Embedding(CLASSES, CLASSES), parts.tokens()),
    "layer used twice": lambda: twice(square(), 8),
    "layer used twice on positions": lambda: twice(square(), 3, 8),
    "convolution used twice": lambda: twice(nn.Conv2d(2, 2, 3, padding=1), 2, 6, 6),
    "frozen body": lambda: frozen(of(nn.Linear(8, 9), nn.ReLU()), "0"),
    "biases only": lambda: frozen(convolutions(2), "0.weight", "2.weight", "5.weight"),
}  # fmt: skip


# Models that use parameters outside their own layer, once for all records, or without a layer.


class Own(Model):
    """Model that uses parameters directly: a raw one, and those of a list and a dictionary."""

    def __init__(self, function: Any, token: Any = (), position: Any = (), **modules: nn.Module):
        super().__init__(function, **modules)
        self.scale = nn.Parameter(torch.randn(*token, 8).abs())
        self.parts = nn.ParameterList([torch.randn(*position, 8)])
        self.named = nn.ParameterDict({"one": torch.randn(8)})


def vision(dropout: float = 0.0) -> Model:
    """Return a transformer with raw parameters for class token and positions, and dropout."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = torch.cat([m.scale.expand(len(x), -1, -1), x], 1)
        return m.head(m.encoder(m.drop(x + m.parts[0]))[:, 0])

    layer = nn.TransformerEncoderLayer(8, 2, 8, dropout=dropout, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    layers = {"drop": nn.Dropout(dropout), "encoder": encoder, "head": linear()}
    return Own(forward, (1, 1), (1, 4), **layers)


def shared(*, training: bool = True) -> Part:
    """Return a task on a model that looks up positions and prompts once for all records.

    The number of words equals the batch size, so that words might be mistaken for records.
    """

    def forward(m: Any, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1])
        h = m.words(x)
        h += 0.5 * m.places(places[None]) + m.waves
        h = h * m.places(places).tanh()
        prompts = m.prompts(torch.arange(3)).unsqueeze(0).repeat(len(x), 1, 1)
        q, k, v = (y.unflatten(2, (2, 4)).transpose(1, 2) for y in m.inward(h).chunk(3, 2))
        bias = m.distances(places[:, None] - places + BATCH).permute(2, 0, 1)[None]
        bias = bias + torch.ones(len(x), 1, 1, x.shape[1]) if m.training else bias
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2)
        return m.head(torch.cat([prompts, h], 1).square()).mean(1)

    tables = {name: nn.Embedding(BATCH, 8) for name in ("words", "places", "prompts")}
    tables["distances"], waves = nn.Embedding(2 * BATCH, 2), nn.Buffer(torch.randn(BATCH, 8))
    task = by(forward, parts.tokens(BATCH), waves=waves, inward=nn.Linear(8, 24), **tables)
    task[0].train(training)
    return task


def scaled() -> Part:
    def forward(m: Any, x: Tensor) -> Tensor:
        m.idle(x)
        x = torch.cat([m.token.expand(len(x), -1, -1), x], 1)
        return m.head((m.body(x) * m.scale) @ m.alias).sum(1)

    own = {"scale": nn.Parameter(torch.tensor(1.3)), "token": nn.Parameter(torch.randn(1, 1, 8))}
    layers = {name: square() for name in ("body", "unused", "idle")}
    return by(forward, numbers(3, 8), **own, alias=layers["body"].weight, **layers)


def over_all(m: Any, x: Tensor) -> Tensor:
    """Return outputs that use a layer twice, a tensor three times, and in-place operations."""
    hidden = m.relu(m.layer(x).flatten(0, 1)).view_as(x)  # several rows per record
    other = m.layer(hidden)
    other *= m.scale
    hidden = hidden + other
    hidden += m.parts[0]
    return m.head(m.relu(hidden + m.scale * hidden)).sum(1)


def graph(x: Tensor, weight: Tensor) -> Tensor:
    """Return a graph convolution whose adjacency matrix has as many rows as the batch."""
    return (torch.ones(BATCH, BATCH, dtype=x.dtype).tril() @ (x @ weight)).mean(1)


def sloped(m: Any, x: Tensor) -> Tensor:
    """Add to a layer's output its derivative, which the model computes by autograd."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        slope = torch.autograd.grad(m.layer(x).sin().sum(), x, create_graph=True)
    return m.layer(x) + slope[0][:, :5]


def low_rank() -> Model:
    """Return a frozen layer plus a trainable low-rank layer, whose second factor starts at 0."""
    layer, down = square().requires_grad_(False), nn.Linear(8, 2, False)
    up = parts.zeroed(nn.Linear(2, 8, False))
    return Model(lambda m, x: m.layer(x) + m.up(m.down(x)), layer=layer, down=down, up=up)


def counting(m: Any, x: Tensor) -> Tensor:
    """Count calls and store a table, neither of which depends on data."""
    m.calls = getattr(m, "calls", 0) + 1
    if not hasattr(m, "table"):
        m.table = torch.linspace(0, 1, 8)
    return m.head(x * m.table.to(x))


def choosing(m: Any, x: Tensor) -> Tensor:
    chosen = [int(record.sum() <= 0) for record in x]
    return torch.stack([m.right(x), m.left(x)])[chosen, range(len(x))]


def tripled(layer: nn.Module) -> nn.Module:
    layer.register_forward_hook(lambda module, arguments, output: 3 * output)
    return layer


def hooked(change: Callable[[Tensor], Tensor]) -> Part:
    """Return a task on a model with a hook that changes gradients of a batch.

    It is accepted, since its gradients are computed by vmap, where the hook sees one record.
    """

    def forward(m: Any, x: Tensor) -> Tensor:
        hidden = m.first(x)
        if hidden.requires_grad:
            hidden.register_hook(change)
        return m.head(hidden)

    return by(forward, first=square())


matrix = lambda use: part(parts.raw(torch.randn(8, CLASSES), use))
own = lambda *layers, **parts: of(Own(*layers, **parts), x=numbers(3, 8))
whole = lambda *layers: of(*layers, x=numbers(3, 8))
tied = lambda m, x: F.linear(m.embed(x), m.embed.weight)
deciding = lambda m, x: torch.stack([y * m.scale if y.sum() < 0 else y - m.scale for y in x])
windows = lambda m, x: first(m.layer(x.view(-1, 4)).view(len(x), -1, 5))
turned = lambda m, x: first(m.layer(x.transpose(0, 1)).transpose(0, 1))  # first dimension: words
placed = lambda m, x: m.head(x + m.layer(m.table(torch.arange(7)[None]))).sum(1)
padded = lambda m, x: torch.add(m.layer((x[..., :3] > 0).sum(2)), m.named.one, alpha=-2)
mixing_places = lambda: parts.raw(torch.randn(6, 6), lambda x, w: (x.mT @ w).mT)
rounded = lambda m, x: x + ((x * 4).round() / 4 - x).detach()  # with the gradient of x
PARAMETERS: Makers = {
    "vision": lambda: whole(vision()),
    "raw parameters": scaled,
    "in place on a view": lambda: whole(square(), inplace()),
    "children in place": lambda: own(over_all, layer=square(), head=linear(), relu=inplace()),
    "lists": lambda: own(lambda m, x: first(m.named.one * (x * m.parts[0]))),
    "hook of the user": lambda: whole(tripled(linear())),
    "weight of a layer": lambda: whole(residual(lambda m, x: F.linear(x, m.layer.weight))),
    "weight norm": lambda: whole(parametrizations.weight_norm(linear())),
    "condition on a parameter": lambda: own(lambda m, x: x * m.scale if m.scale.sum() > 0 else x),
    "condition on data": lambda: own(deciding),
    "several rows per record": lambda: whole(Model(windows, layer=nn.Linear(4, 5))),
    "words first": lambda: whole(Model(turned, layer=nn.TransformerEncoderLayer(8, 2, 8, 0.0))),
    "sum with a factor": lambda: own(padded, layer=nn.Embedding(4, 8, padding_idx=1)),
    "other calls in large lots": lambda: matrix(lambda x, w: x.mm(w) if len(x) < 9 else x @ w),
    "without a rule": lambda: matrix(lambda x, w: x.mm(w).square()),
    "gradients less their mean": lambda: hooked(lambda g: g - g.mean(0)),
    "gradients of limited norm": lambda: hooked(lambda g: g / g.norm().clamp(min=1e-3)),
    "bags": lambda: whole(Model(lambda m, x: m.bag((x[..., :3] > 0).sum(2)),
                                bag=nn.EmbeddingBag(5, CLASSES, padding_idx=1))),
    "adjacency": lambda: part(parts.raw(torch.randn(8, CLASSES), graph), numbers(BATCH, 8)),
    "tied": lambda: part(Model(tied, embed=nn.Embedding(5, 8)), parts.tokens()),
    "look-ups for all records": shared,
    "look-ups for all records, in eval mode": lambda: shared(training=False),
    "layer on places": lambda: by(placed, numbers(7, 8), layer=square(), table=nn.Embedding(9, 8)),
    "mixer": lambda: of(residual(lambda m, x: x + m.layer(x)), mixing_places(), x=sequence()),
    "slope": lambda: part(Model(sloped, layer=linear())),
    "low rank": lambda: of(low_rank(), nn.Tanh(), low_rank()),
    "quantised, 2 bits": lambda: of(nn.Linear(8, 9), nn.Tanh(), Model(rounded), nn.Linear(9, 9)),
    "choice for each record": lambda: part(Model(choosing, left=linear(), right=linear())),
}  # fmt: skip


causal = lambda x, length: {"attn_mask": torch.ones(x.shape[1], length).bool().triu(1)}


def padded_and_causal(x: Tensor, length: int) -> dict[str, Tensor]:
    padding = torch.zeros(len(x), length, dtype=torch.bool)
    padding[:, -1] = x[:, 0, 0] > 0
    return {"key_padding_mask": padding, **causal(x, length)}


def per_head(x: Tensor, length: int) -> dict[str, Tensor]:
    waves = torch.sin(x[:, :, :1] + x[:, None, :, 0])
    return {"attn_mask": torch.stack([waves, 2 * waves], 1).flatten(0, 1)}


def attention(
    *, weights=False, cross=False, masks=padded_and_causal, batch_first=True, length=4, **options
) -> Part:
    """Return a task on self or cross attention; with `weights`, the loss uses them."""

    def forward(m: Any, x: Tensor) -> Tensor:
        sources = [x] * 3
        if cross:
            sources = [x, *(x[:, :3, :width] for width in (layer.kdim, layer.vdim))]
        named = masks(x, sources[1].shape[1])
        sources = sources if batch_first else [x.transpose(0, 1)] * 3
        output, shares = m.attention(*sources, need_weights=weights, **named)
        pooled = m.head(output if batch_first else output.transpose(0, 1)).mean(1)
        return pooled if shares is None else pooled + shares.square().sum((1, 2))[:, None]

    layer = nn.MultiheadAttention(8, 2, batch_first=batch_first, **options)
    return by(forward, numbers(length, 8), attention=layer)


def encoder(**options: Any) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, **options)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def language(*, tied: bool = False) -> Part:
    """Return a task of predicting next words, whose positions are expanded to all records."""

    def forward(m: Any, words: Tensor) -> Tensor:
        length = words.shape[1]
        places = torch.arange(length).expand(words.shape)
        mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=m.head.weight.dtype)
        return m.head(m.body(m.words(words) + m.places(places), mask=mask, is_causal=True))

    table, places, head = nn.Embedding(30, 8), nn.Embedding(7, 8), nn.Linear(8, 30)
    if tied:
        head.weight = table.weight
    model = Model(forward, words=table, places=places, body=encoder(), head=head)
    next_words = lambda outputs, words: losses_of(outputs[:, :-1].mT, words[:, 1:]).mean(1)
    text = parts.tokens(7, stop=30)
    return model, next_words, text, text


SEQUENCES: Makers = {
    "attention, masks": attention,
    "attention, no masks": lambda: attention(masks=lambda *_: {}),
    "attention, causal mask": lambda: attention(weights=True, masks=causal, length=BATCH),
    "attention, mask of each head": lambda: attention(weights=True, masks=per_head, length=BATCH),
    "attention, weights": lambda: attention(weights=True),
    "attention, cross": lambda: attention(cross=True),
    "attention, other sizes": lambda: attention(cross=True, kdim=3, vdim=5),
    "attention, no bias": lambda: attention(cross=True, bias=False),
    "attention, batch second": lambda: attention(batch_first=False),
    "attention, frozen": lambda: frozen(attention(), "attention.in_proj_weight"),
    "encoder": lambda: of(encoder(norm_first=True), x=numbers(5, 8)),
    "encoder, norm last": lambda: of(encoder(activation="gelu"), x=numbers(5, 8)),
    "language": language,
    "language, tied": lambda: language(tied=True),
    "cumulative over time": lambda: by(lambda m, x: m.head(x).cumsum(1)[:, -1], sequence()),
}


def row(loss: Callable[..., Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda outputs, targets: each(loss)(outputs, targets).flatten(1).sum(1)


def regression(loss: Callable[..., Tensor], targets: Tensor) -> Part:
    outputs = CLASSES if targets.dim() == 1 else targets.shape[1]
    model = nn.Sequential(nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, outputs))
    return model, loss, numbers(8), targets


def penalised_weights() -> Part:
    penalty = lambda: 0.01 * sum(p.square().sum() for p in model.parameters())
    model, _, *pair = of(nn.Linear(8, 9), nn.Tanh())
    return model, lambda outputs, targets: losses_of(outputs, targets) + penalty(), *pair


def words_that_count(outputs: Tensor, targets: Tensor) -> Tensor:
    return losses_of(outputs.mT, targets).sum(1) / (targets != -100).sum(1).clamp(min=1)


LOSSES: Makers = {
    "squared loss": lambda: regression(row(F.mse_loss), numbers(1)),
    "labels as shares": lambda: regression(losses_of, torch.rand(BATCH, CLASSES).softmax(1)),
    "ignored labels": lambda: regression(each(F.cross_entropy, ignore_index=0), parts.tokens()),
    "penalised weights": penalised_weights,
    "words that count": lambda: (linear(), words_that_count, numbers(7, 8), parts.tokens(7)),
}
EXACT = {**LAYERS, **PARAMETERS, **SEQUENCES, **LOSSES}


# Models whose clipped sums are not compared with sums over one record at a time.


def named() -> Part:
    inputs = {"words": parts.tokens(7, stop=50), "mask": torch.rand(BATCH, 7) > 0.3}
    forward = lambda m, words, mask: m.head((m.embed(words) * mask[..., None]).sum(1))
    return by(forward, inputs, embed=nn.Embedding(50, 8))


def multitask() -> Part:
    def forward(m: Any, x: Tensor) -> dict[str, Tensor]:
        body = torch.tanh(m.body(x))
        return {"size": m.size(body)[:, 0], "kind": m.kind(body)}

    loss = lambda out, t: losses_of(out["kind"], t["kind"]) + (out["size"] - t["size"]).abs()
    model = Model(forward, body=nn.Linear(8, 9), size=nn.Linear(9, 1), kind=nn.Linear(9, CLASSES))
    return model, loss, numbers(8), {"size": numbers(), "kind": parts.tokens()}


def diffusion(m: Any, x: Tensor) -> Tensor:
    time = torch.rand(len(x), 1).to(x)
    noise = torch.randn(x.shape).to(x)
    guess = m.body(torch.cat([time.sqrt() * x + (1 - time).sqrt() * noise, time], 1))
    return (guess - noise).square().mean(1)


raised = lambda m, x, weights, power: m.head((x.mT @ weights) ** power)
OTHERS: Makers = {
    "logarithm of inputs": lambda: entering(lambda x: (x - 1).log()),
    "missing values not allowed": lambda: entering(lambda x: x if x.isfinite().all() else 1 / 0),
    "each record standardised": lambda: entering(lambda x: F.layer_norm(x, x.shape[1:])),
    "each record sorted": lambda: entering(lambda x: x.sort(1).values),
    "convolution, dropout": lambda: after_convolution(nn.Dropout2d(0.2)),
    "attention, dropout": lambda: attention(dropout=0.2),
    "perceptron, dropout": lambda: of(nn.Linear(8, 12), nn.Dropout(0.3)),
    "diffusion": lambda: part(
        Model(diffusion, body=nn.Sequential(nn.Linear(9, 16), nn.SiLU(), nn.Linear(16, 8))),
        loss_fn=lambda losses, _: losses,
    ),
    "counts its calls": lambda: by(counting),
    "several inputs": named,
    "several outputs": multitask,
    "constants in the batch": lambda: by(raised, (numbers(9, 8), torch.rand(9), 2)),
    "bfloat16": lambda: by(
        lambda m, x: m.head(x.to(torch.bfloat16)).float(), head=linear(dtype=torch.bfloat16)
    ),
    "missing values as zeros": lambda: by(
        lambda m, x: m.head(torch.cat([x.nan_to_num(), x.isnan()], 1)), head=nn.Linear(16, CLASSES)
    ),
    "weights of classes, smoothed": lambda: loss(  # constants in float32
        nn.CrossEntropyLoss(torch.linspace(0.5, 2, CLASSES), reduction="none", label_smoothing=0.1)
    ),
}
GOOD = {**EXACT, **OTHERS}
