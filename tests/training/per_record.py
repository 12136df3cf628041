"""Models on which `dplearn.training.plain`, one record at a time, is compared to the trainer."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from parts import BATCH, CLASSES, Model, decoder, frozen, headed, numbers, raw, tokens
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dplearn.training.tape import called


def norm(gradient: dict[str, Tensor]) -> Tensor:
    return torch.stack([g.norm() for g in gradient.values()]).norm()


def difference(sums: dict[str, Tensor], expected: dict[str, Tensor]) -> float:
    assert sums.keys() == expected.keys()
    apart = norm({name: sums[name] - expected[name] for name in sums})
    return (apart / norm(expected).clamp(min=1e-300)).item()


def twice(layer: nn.Module, head: nn.Module) -> Model:
    """Return a layer used twice, the second time on another number of positions."""
    again = lambda model, x: torch.tanh(model.layer(torch.tanh(model.layer(x))))
    return Model(lambda model, x: model.head(again(model, x)), layer=layer, head=head)


def shared() -> Model:
    """Return a model that looks up positions, distances and prompts once for all records.

    The number of words and the number of rows of a constant equal the batch size.
    """

    def forward(m, x):
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
    layers = {"inward": nn.Linear(8, 24), "head": nn.Linear(8, CLASSES)}
    return Model(forward, waves=waves, **tables, **layers)


def attention(*, weights=False, cross=False, masks=True, batch_first=True, **options) -> Model:
    """Return self or cross attention, with or without weights, of any configuration."""

    def forward(m, x):
        widths, sources, masked = (layer.kdim, layer.vdim), [x] * 3, {}
        if cross:
            sources = [x, *(x[:, :3, :width] for width in widths)]
        if masks:
            length = sources[1].shape[1]
            padding = torch.zeros(len(x), length, dtype=torch.bool)
            padding[:, -1] = x[:, 0, 0] > 0
            mask = torch.ones(x.shape[1], length, dtype=torch.bool).triu(1)
            masked = {"key_padding_mask": padding, "attn_mask": mask, "is_causal": not cross}
        sources = sources if batch_first else [x.transpose(0, 1)] * 3
        output, shares = m.attention(*sources, need_weights=weights, **masked)
        pooled = m.head(output if batch_first else output.transpose(0, 1)).mean(1)
        return pooled if shares is None else pooled + shares.square().sum((1, 2))[:, None]

    layer = nn.MultiheadAttention(8, 2, batch_first=batch_first, **options)
    return Model(forward, attention=layer, head=nn.Linear(8, CLASSES))


def scaled() -> Model:
    def forward(m, x):
        m.idle(x)
        x = torch.cat([m.token.expand(len(x), -1, -1), x], 1)
        return m.head((m.body(x) * m.scale) @ m.alias).sum(1)

    scale, token = nn.Parameter(torch.tensor(1.3)), nn.Parameter(torch.randn(1, 1, 4))
    layers = {name: nn.Linear(4, 4) for name in ("body", "unused", "idle")}
    layers["head"] = nn.Linear(4, CLASSES)
    return Model(forward, scale=scale, token=token, alias=layers["body"].weight, **layers)


def graph(x, weight):
    """Return a graph convolution: the adjacency matrix has as many rows as the batch."""
    return (torch.ones(BATCH, BATCH, dtype=x.dtype).tril() @ (x @ weight)).mean(1)


def sloped(model, x):
    """Add the slope of a layer, computed by a derivative inside the model."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        slope = torch.autograd.grad(model.layer(x).sin().sum(), x, create_graph=True)
    return model.layer(x) + slope[0][:, :5]


tied = lambda m, x: F.linear(m.embed(x), m.embed.weight)
deep = lambda m, x: F.linear(m.embed(x), m.embed.table.weight)
inner = lambda m, x: m.table(x)


def called_once(forward: Callable[..., Tensor]) -> Model:
    """Return a model with a table looked up once for all records, directly or in a submodule."""
    table = nn.Embedding(9, 8)
    bias = Model(lambda m, n: m.table(torch.arange(n))[None], table=table)
    return Model(forward, bias=bias, layer=nn.Linear(8, 8), head=nn.Linear(8, CLASSES))


scored = lambda m, x: torch.einsum("btd,cd->bc", x, m.bias.table(torch.arange(5)))
layered = lambda m, x: m.head(x + m.layer(m.bias.table(torch.arange(7)[None]))).sum(1)
biased = lambda m, x: m.head(x + m.bias(7)).sum(1)
mean = lambda m, x: m.body(x).mean(1)
last = lambda m, x: m.cell(x)[0][:, -1]


def masked(mask: Callable[[Tensor], Tensor]) -> Model:
    """Return attention with a mask that may have as many rows as the batch."""

    def forward(model, x):
        output, weights = model.layer(x, x, x, attn_mask=mask(x), need_weights=True)
        return output[:, 0, :5] + weights.sum((1, 2))[:, None]

    return Model(forward, layer=nn.MultiheadAttention(8, 2, batch_first=True))


causal = lambda x: torch.ones(BATCH, BATCH, dtype=torch.bool).triu(1)
waves = lambda x: torch.sin(x[:, :, :1] + x[:, None, :, 0])
per_head = lambda x: torch.stack([waves(x), 2 * waves(x)], 1).flatten(0, 1)


def eights(*shape: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(BATCH, *shape, 8, dtype=dtype), torch.zeros(BATCH).long()


def convolutions(dims: int, kernel: int = 3, **options) -> nn.Sequential:
    """Return two convolutions, the second on few positions."""
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
    first, second = kind(2, 4, kernel, **options), kind(4, 8, 2, stride=2)
    return headed(first, nn.ReLU(inplace=True), second, nn.Tanh())


tracked = lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True)


def normed(norm_layer: nn.Module) -> nn.Sequential:
    return headed(nn.Conv2d(2, 4, 3), norm_layer, nn.ReLU())


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 9), nn.ReLU(inplace=True), nn.Linear(9, CLASSES))


def pooled(*layers: nn.Module) -> nn.Sequential:
    """Return layers on (B, T, d) with a sum over positions."""
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d((1, CLASSES)), nn.Flatten())


Case = tuple[Callable[[], nn.Module], Callable[[], Tensor | tuple[Tensor, ...]]]
few = lambda *shape: partial(numbers, *shape)
pictures = lambda dims, size=6: few(2, *[size] * dims)
words, words_as_many = partial(tokens, 7), partial(tokens, BATCH)

CASES: dict[str, Case] = {
    "mlp": (mlp, few(8)),
    "linear on a grid": (lambda: pooled(nn.Linear(8, 9), nn.Flatten(1, 2)), few(2, 3, 8)),
    "linear ghost": (lambda: pooled(nn.Linear(30, 40)), few(3, 30)),
    "linear without bias": (lambda: nn.Linear(8, CLASSES, bias=False), few(8)),
    "conv stride padding": (lambda: convolutions(2, stride=2, padding=(1, 2)), pictures(2)),
    "conv dilation": (lambda: convolutions(2, dilation=(2, 1)), pictures(2)),
    "conv groups": (lambda: convolutions(2, groups=2), pictures(2)),
    "conv same even": (lambda: convolutions(2, kernel=2, padding="same"), pictures(2)),
    "conv reflect": (lambda: convolutions(2, padding=2, padding_mode="reflect"), pictures(2)),
    "conv 1d": (lambda: convolutions(1, stride=2), pictures(1, 30)),
    "conv 3d": (lambda: convolutions(3, padding=1), pictures(3, 4)),
    "conv ghost": (lambda: headed(nn.Conv2d(2, 64, 3, 2, 1, (1, 2))), pictures(2, 5)),
    "conv ghost 1d": (lambda: headed(nn.Conv1d(2, 64, 3, 3, 2)), pictures(1, 5)),
    "conv twice": (lambda: twice(nn.Conv2d(2, 2, 3, padding=1), headed()), pictures(2)),
    "conv transposed": (lambda: normed(nn.ConvTranspose2d(4, 3, 2, 2, groups=1)), pictures(2)),
    "group norm": (lambda: normed(nn.GroupNorm(2, 4)), pictures(2)),
    "instance norm": (lambda: normed(nn.InstanceNorm2d(4, affine=True)), pictures(2)),
    "layer norm": (lambda: normed(nn.LayerNorm((4, 4, 4))), pictures(2)),
    "rms norm": (lambda: pooled(nn.Linear(8, 6), nn.RMSNorm(6)), few(4, 8)),
    "instance norm in eval mode": (lambda: normed(tracked().eval()), pictures(2)),
    "batch norm in eval mode": (lambda: normed(nn.BatchNorm2d(4).eval()), pictures(2)),
    "embedding": (lambda: pooled(nn.Embedding(CLASSES, 8)), words),
    "embedding padding": (lambda: pooled(nn.Embedding(CLASSES, 8, padding_idx=2)), words),
    "embedding of one token": (lambda: nn.Embedding(CLASSES, CLASSES), tokens),
    "twice": (lambda: twice(nn.Linear(8, 8), nn.Linear(8, CLASSES)), few(8)),
    "twice on positions": (lambda: twice(nn.Linear(8, 8), pooled(nn.Linear(8, 6))), few(3, 8)),
    "tied transformer": (lambda: Model(mean, body=decoder(CLASSES, tied=True)), words),
    "look-ups for all records": (shared, words_as_many),
    "look-ups for all records, in eval mode": (lambda: shared().eval(), words_as_many),
    "attention masks": (attention, few(4, 8)),
    "attention no masks": (lambda: attention(masks=False), few(4, 8)),
    "attention weights": (lambda: attention(weights=True), few(4, 8)),
    "attention cross": (lambda: attention(cross=True), few(4, 8)),
    "attention other sizes": (lambda: attention(cross=True, kdim=3, vdim=5), few(4, 8)),
    "attention no bias": (lambda: attention(cross=True, bias=False), few(4, 8)),
    "attention batch second": (lambda: attention(batch_first=False), few(4, 8)),
    "raw parameters": (scaled, few(3, 4)),
    "lstm": (lambda: Model(last, cell=nn.LSTM(4, CLASSES, 2, batch_first=True)), few(3, 4)),
    "adjacency": (lambda: raw(torch.randn(8, CLASSES), graph), few(BATCH, 8)),
    "causal mask": (lambda: masked(causal), few(BATCH, 8)),
    "mask of each head": (lambda: masked(per_head), few(BATCH, 8)),
    # The parameter of one module is also used by another.
    "tied": (lambda: Model(tied, embed=nn.Embedding(5, 8)), tokens),
    "tied deeper": (lambda: Model(deep, embed=Model(inner, table=nn.Embedding(5, 8))), tokens),
    "a slope": (lambda: Model(sloped, layer=nn.Linear(8, 5)), few(8)),
    # Modules called once for all records, also by a module that takes no record.
    "scores of words": (lambda: called_once(scored), few(7, 8)),
    "a layer on words": (lambda: called_once(layered), few(7, 8)),
    "a bias of positions": (lambda: called_once(biased), few(7, 8)),
    "frozen body": (lambda: frozen(mlp(), "0"), few(8)),
    "bias only": (lambda: frozen(convolutions(2), "0.weight", "2.weight", "5.weight"), pictures(2)),
    "frozen attention": (lambda: frozen(attention(), "attention.in_proj_weight"), few(4, 8)),
}


def case(name: str, *, dtype=torch.float64, seed: int = 0):
    torch.manual_seed(seed)
    make, draw = CASES[name]
    model, inputs = make(), draw()
    with torch.no_grad():
        called(model, inputs)  # lazy layers get a size
    model.to(dtype)
    inputs = tree_map(lambda x: x.to(dtype) if x.is_floating_point() else x, inputs)
    return model, inputs, tokens()
