"""The models that `dplearn.training.plain`, one record at a time, judges the trainer by."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dplearn.training.tape import called

torch.set_num_threads(1)  # small tensors: more threads only wait for each other
CLASSES = 5
BATCH = 6


def losses_of(outputs: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy of each record."""
    return F.cross_entropy(outputs, targets, reduction="none")


def norm(gradient: dict[str, Tensor]) -> Tensor:
    """Euclidean norm over all parameters."""
    return torch.stack([g.norm() for g in gradient.values()]).norm()


def difference(sums: dict[str, Tensor], expected: dict[str, Tensor]) -> float:
    """Relative distance of two sums."""
    assert sums.keys() == expected.keys()
    apart = norm({name: sums[name] - expected[name] for name in sums})
    return (apart / norm(expected).clamp(min=1e-300)).item()


class Model(nn.Module):
    """Layers by name, and a function of them and of the inputs."""

    def __init__(self, function: Callable, **layers: nn.Module):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def twice(layer: nn.Module, head: nn.Module) -> Model:
    """A layer used twice, the second time on another number of positions."""
    again = lambda model, x: torch.tanh(model.layer(torch.tanh(model.layer(x))))
    return Model(lambda model, x: model.head(again(model, x)), layer=layer, head=head)


class Language(nn.Module):
    """Embedding and output layer share their weights; positions are expanded per record."""

    def __init__(self, *, dropout: float = 0.0, tokens: int = CLASSES, width: int = 8):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, width), nn.Embedding(7, width)
        layer = nn.TransformerEncoderLayer(width, 2, 12, dropout=dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, tokens)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        places = torch.arange(x.shape[1]).expand(x.shape)
        return self.head(self.encoder(self.tokens(x) + self.positions(places))).mean(1)


class Shared(nn.Module):
    """Positions, distances and prompts that are looked up once for all records.

    There are as many words as records, and so are the rows of a constant.
    """

    def __init__(self):
        super().__init__()
        self.words, self.places, self.prompts = (nn.Embedding(BATCH, 8) for _ in range(3))
        self.distances = nn.Embedding(2 * BATCH, 2)
        self.register_buffer("waves", torch.randn(BATCH, 8))
        self.inward, self.head = nn.Linear(8, 24), nn.Linear(8, CLASSES)

    def forward(self, x):
        places = torch.arange(x.shape[1])
        h = self.words(x)
        h += 0.5 * self.places(places[None]) + self.waves
        h = h * self.places(places).tanh()
        prompts = self.prompts(torch.arange(3)).unsqueeze(0).repeat(len(x), 1, 1)
        q, k, v = (y.unflatten(2, (2, 4)).transpose(1, 2) for y in self.inward(h).chunk(3, 2))
        bias = self.distances(places[:, None] - places + BATCH).permute(2, 0, 1)[None]
        bias = bias + torch.ones(len(x), 1, 1, x.shape[1]) if self.training else bias
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2)
        return self.head(torch.cat([prompts, h], 1).square()).mean(1)


class Attention(nn.Module):
    """Self and cross attention, with and without weights, of any configuration."""

    def __init__(self, *, weights=False, cross=False, masks=True, batch_first=True, **options):
        super().__init__()
        self.weights, self.cross, self.masks = weights, cross, masks
        self.attention = nn.MultiheadAttention(8, 2, batch_first=batch_first, **options)
        self.head = nn.Linear(8, CLASSES)

    def forward(self, x):
        widths = self.attention.kdim, self.attention.vdim
        sources = [x, *(x[:, :3, :width] for width in widths)] if self.cross else [x] * 3
        masks, length, first = {}, sources[1].shape[1], self.attention.batch_first
        if self.masks:
            padding = torch.zeros(len(x), length, dtype=torch.bool)
            padding[:, -1] = x[:, 0, 0] > 0
            masks["key_padding_mask"] = padding
            masks["attn_mask"] = torch.ones(x.shape[1], length, dtype=torch.bool).triu(1)
        sources = sources if first else [x.transpose(0, 1)] * 3
        output, weights = self.attention(*sources, need_weights=self.weights, **masks)
        output = output if first else output.transpose(0, 1)
        pooled = self.head(output).mean(1)
        return pooled if weights is None else pooled + weights.square().sum((1, 2))[:, None]


class Scaled(nn.Module):
    """A container with raw parameters, one shared with a layer inside."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.3))
        self.token = nn.Parameter(torch.randn(1, 1, 4))
        self.body = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 4)
        self.head = nn.Linear(4, CLASSES)
        self.alias = self.body.weight

    def forward(self, x):
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1)
        return self.head((self.body(x) * self.scale) @ self.alias).sum(1)


class Pair(nn.Bilinear):
    """A custom module with two inputs, keywords and two outputs."""

    def forward(self, left, *, right, module: int = 2):
        mixed = torch.einsum("bi,kij,bj->bk", left, self.weight, right) + self.bias
        return {"mixed": mixed, "size": (mixed**module).sum(1)}


def pairs() -> Model:
    added = lambda output: output["mixed"] + output["size"][:, None]
    return Model(
        lambda m, left, right: added(m.pair(left, right=right, module=2)), pair=Pair(3, 4, CLASSES)
    )


class Mixing(nn.Module):
    """Weights of its own around a matrix that all records share, and one for each of them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 5))

    def forward(self, x, shared, *, own=None):
        values = x @ self.weight
        mixed = shared @ values if shared.shape[1] > 1 else shared * values
        return mixed if own is None else mixed * own


def graph(model, x):
    """A graph convolution: the adjacency matrix has as many rows as the batch."""
    return model.layer(x, torch.ones(BATCH, BATCH, dtype=x.dtype).tril()).mean(1)


def window(model, x):
    """A window over positions, and a factor for each record."""
    places = torch.linspace(0, 1, BATCH, dtype=x.dtype)[:, None]
    return model.layer(x, places, own=x[:, :1, :1]).sum(1)


def masked(mask: Callable[[Tensor], Tensor]) -> Model:
    """Attention with a mask that may have as many rows as the batch."""

    def forward(model, x):
        output, weights = model.layer(x, x, x, attn_mask=mask(x), need_weights=True)
        return output[:, 0, :5] + weights.sum((1, 2))[:, None]

    return Model(forward, layer=nn.MultiheadAttention(8, 2, batch_first=True))


causal = lambda x: torch.ones(BATCH, BATCH, dtype=torch.bool).triu(1)
per_head = lambda x: torch.sin(x[:, :, :1] + x[:, None, :, 0]).repeat_interleave(2, 0)


def recurrent() -> Model:
    """The last output of two recurrent layers."""
    return Model(lambda m, x: m.cell(x)[0][:, -1], cell=nn.LSTM(4, CLASSES, 2, batch_first=True))


def eights(*shape: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Inputs that end in eight numbers, and targets."""
    torch.manual_seed(0)
    return torch.randn(BATCH, *shape, 8, dtype=dtype), torch.zeros(BATCH).long()


def headed(*layers: nn.Module) -> nn.Sequential:
    """Layers, then a linear one on all that they give."""
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(CLASSES))


def convolutions(dims: int, kernel: int = 3, **options) -> nn.Sequential:
    """Two convolutions, the second on few positions."""
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
    first, second = kind(2, 4, kernel, **options), kind(4, 8, 2, stride=2)
    return headed(first, nn.ReLU(inplace=True), second, nn.Tanh())


def frozen(model: nn.Module, *names: str) -> nn.Module:
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.startswith(names)
    return model


def normed(norm_layer: nn.Module) -> nn.Sequential:
    return headed(nn.Conv2d(2, 4, 3), norm_layer, nn.ReLU())


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 9), nn.ReLU(inplace=True), nn.Linear(9, CLASSES))


def pooled(*layers: nn.Module) -> nn.Sequential:
    """Layers on (B, T, d), then the sum over positions."""
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d((1, CLASSES)), nn.Flatten())


Case = tuple[Callable[[], nn.Module], Callable[[], Tensor | tuple[Tensor, ...]]]
few = lambda *shape: lambda: torch.randn(BATCH, *shape)
pictures = lambda dims, size=6: few(2, *[size] * dims)
words = lambda: torch.randint(0, CLASSES, (BATCH, 7))
words_as_many = lambda: torch.randint(0, CLASSES, (BATCH, BATCH))

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
    "conv ghost groups": (lambda: headed(nn.Conv2d(2, 64, 2, 2, groups=2)), pictures(2, 4)),
    "conv twice": (lambda: twice(nn.Conv2d(2, 2, 3, padding=1), headed()), pictures(2)),
    "conv transposed": (lambda: normed(nn.ConvTranspose2d(4, 3, 2, 2, groups=1)), pictures(2)),
    "group norm": (lambda: normed(nn.GroupNorm(2, 4)), pictures(2)),
    "instance norm": (lambda: normed(nn.InstanceNorm2d(4, affine=True)), pictures(2)),
    "layer norm": (lambda: normed(nn.LayerNorm((4, 4, 4))), pictures(2)),
    "rms norm": (lambda: pooled(nn.Linear(8, 6), nn.RMSNorm(6)), few(4, 8)),
    "instance norm in eval mode": (
        lambda: normed(nn.InstanceNorm2d(4, affine=True, track_running_stats=True).eval()),
        pictures(2),
    ),
    "batch norm in eval mode": (lambda: normed(nn.BatchNorm2d(4).eval()), pictures(2)),
    "embedding": (lambda: pooled(nn.Embedding(CLASSES, 8)), words),
    "embedding padding": (lambda: pooled(nn.Embedding(CLASSES, 8, padding_idx=2)), words),
    "embedding of one token": (lambda: nn.Embedding(CLASSES, CLASSES), lambda: words()[:, 0]),
    "twice": (lambda: twice(nn.Linear(8, 8), nn.Linear(8, CLASSES)), few(8)),
    "twice on positions": (lambda: twice(nn.Linear(8, 8), pooled(nn.Linear(8, 6))), few(3, 8)),
    "tied transformer": (Language, words),
    "look-ups for all records": (Shared, words_as_many),
    "look-ups for all records, in eval mode": (lambda: Shared().eval(), words_as_many),
    "attention masks": (Attention, few(4, 8)),
    "attention no masks": (lambda: Attention(masks=False), few(4, 8)),
    "attention weights": (lambda: Attention(weights=True), few(4, 8)),
    "attention cross": (lambda: Attention(cross=True), few(4, 8)),
    "attention other sizes": (lambda: Attention(cross=True, kdim=3, vdim=5), few(4, 8)),
    "attention no bias": (lambda: Attention(cross=True, bias=False), few(4, 8)),
    "attention extra bias": (lambda: Attention(add_bias_kv=True, add_zero_attn=True), few(4, 8)),
    "attention batch second": (lambda: Attention(batch_first=False), few(4, 8)),
    "raw parameters": (Scaled, few(3, 4)),
    "custom module": (pairs, lambda: (torch.randn(BATCH, 3), torch.randn(BATCH, 4))),
    "lstm": (recurrent, few(3, 4)),
    "adjacency": (lambda: Model(graph, layer=Mixing()), few(BATCH, 8)),
    "window": (lambda: Model(window, layer=Mixing()), few(BATCH, 8)),
    "causal mask": (lambda: masked(causal), few(BATCH, 8)),
    "mask of each head": (lambda: masked(per_head), few(BATCH, 8)),
    "frozen body": (lambda: frozen(mlp(), "0"), few(8)),
    "bias only": (lambda: frozen(convolutions(2), "0.weight", "2.weight", "5.weight"), pictures(2)),
    "frozen attention": (lambda: frozen(Attention(), "attention.in_proj_weight"), few(4, 8)),
}


def case(name: str, *, dtype=torch.float64, seed: int = 0):
    """Model, inputs and targets of a case."""
    torch.manual_seed(seed)
    make, draw = CASES[name]
    model, inputs = make(), draw()
    with torch.no_grad():
        called(model, inputs)  # lazy layers get a size
    model.to(dtype)
    inputs = tree_map(lambda x: x.to(dtype) if x.is_floating_point() else x, inputs)
    return model, inputs, torch.randint(0, CLASSES, (BATCH,))
