"""Every module of torch.nn, and models whose own code uses parameters: one record at a time."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import layers
import pytest
import torch
import torch.nn.functional as F
from parts import BATCH, CLASSES, Model, losses_of
from per_record import difference, eights, norm
from torch import Tensor, nn
from torch.nn.utils import parametrizations, weight_norm
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from cases import each
from dplearn.training import Flat, check_model, clipped_sum, plain
from dplearn.training.gradients import recalled
from dplearn.training.tape import passed

KINDS = {
    "rule": """BatchNorm1d BatchNorm2d BatchNorm3d Conv1d Conv2d Conv3d Embedding GRU GroupNorm
        InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LayerNorm Linear MultiheadAttention
        RMSNorm RNN SyncBatchNorm""",
    "vmap": """Bilinear ConvTranspose1d ConvTranspose2d ConvTranspose3d EmbeddingBag
        LinearCrossEntropyLoss PReLU""",
    "alone": "AdaptiveLogSoftmaxWithLoss GRUCell LSTMCell RNNCell",
    "parts": "Transformer TransformerDecoderLayer TransformerEncoderLayer",
}


@pytest.mark.slow
def test_every_module_of_torch_has_a_kind_and_the_gradients_of_one_record_at_a_time():
    kinds = {name: kind for kind, names in KINDS.items() for name in names.split()}
    assert kinds.keys() == layers.modules().keys() == layers.LAYERS.keys()
    loss_fn = lambda outputs, targets: layers.losses(outputs, len(targets))
    for name, kind in kinds.items():
        torch.manual_seed(0)
        module, inputs = layers.LAYERS[name](BATCH, 4)
        module.double()
        inputs = tuple(x.double() if x.is_floating_point() else x for x in inputs)
        assert layers.kind(module, inputs) == kind, name
        agree_with(module, inputs, loss_fn, inputs[0])


def agree_with(model: nn.Module, inputs, loss_fn, targets: Tensor | None = None) -> None:
    targets = torch.zeros(BATCH) if targets is None else targets
    rows = list(plain.gradients(model, loss_fn, inputs, targets))
    part = clipped_sum(model, loss_fn, inputs, targets, bound=Flat(1e9))
    assert difference(part.sums, {k: sum(row[k] for row in rows) for k in rows[0]}) < 1e-12
    norms = torch.stack([norm(row) for row in rows])
    torch.testing.assert_close(part.norms, norms, rtol=1e-12, atol=1e-150)


def sequences(layer: Any, x: Tensor, *, packed: bool, states: bool) -> tuple[Tensor, ...]:
    """All that a recurrent layer gives, records first; states and lengths come from the input."""
    directions = layer.num_layers * (1 + layer.bidirectional)
    sizes = (layer.proj_size or 3, 3) if isinstance(layer, nn.LSTM) else (3,)
    start = tuple(x[:, 0, :1].expand(directions, -1, size).contiguous() for size in sizes)
    start = (start if len(start) > 1 else start[0]) if states else None
    values, lengths = x if layer.batch_first else x.transpose(0, 1), 1 + (x[:, 0, 0] > 0) * 2
    if packed:
        first = layer.batch_first
        values = pack_padded_sequence(values, lengths, batch_first=first, enforce_sorted=False)
    output, end = layer(values, start)
    if isinstance(output, PackedSequence):
        same = [output.batch_sizes, output.sorted_indices, output.unsorted_indices]
        assert all(map(torch.equal, same, [values.batch_sizes, *values[2:]]))
        output, _ = pad_packed_sequence(output, layer.batch_first, total_length=x.shape[1])
    ends = end if isinstance(end, tuple) else (end,)
    output = output if layer.batch_first else output.transpose(0, 1)
    return output, *(state.transpose(0, 1) for state in ends)


def lines(outputs: tuple[Tensor, ...], _: Any) -> Any:
    """One loss per record that needs every number of the outputs."""
    return sum(x.flatten(1) @ torch.arange(1.0, 1 + x[0].numel()).to(x).cos() for x in outputs)


RECURRENT = [
    *product([nn.RNN, nn.LSTM, nn.GRU], [{}, {"num_layers": 2, "bidirectional": True}]),
    *product([nn.RNN, nn.LSTM, nn.GRU], [{"bias": False, "batch_first": True}]),
    (nn.RNN, {"nonlinearity": "relu", "num_layers": 2}),
]


@pytest.mark.slow
@each("case, packed, states", product(RECURRENT, [False, True], [False, True]))
def test_recurrent_layers_give_the_gradients_of_one_record_at_a_time(case, packed, states):
    torch.manual_seed(0)
    kind, options = case
    model = Model(
        lambda m, x: sequences(m.layer, x, packed=packed, states=states),
        layer=kind(2, 3, **options),
    ).double()
    x = torch.randn(BATCH, 4, 2, dtype=torch.float64)
    agree_with(model, x, lines)
    # A frozen part keeps the others' gradients, also where no other gradient passes.
    for frozen in ("weight_ih", "weight_hh"):
        for name, parameter in model.named_parameters():
            parameter.requires_grad = frozen not in name and "bias_ih" not in name
        agree_with(model, x, lines)


class Old(torch.autograd.Function):
    """A function that vmap does not know."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


class Own(Model):
    """A model whose own code uses parameters: a raw one, those of a list and a dictionary."""

    def __init__(self, function, token=(), position=(), **modules: nn.Module):
        super().__init__(function, **modules)
        self.scale = nn.Parameter(torch.randn(*token, 8).abs())
        self.parts = nn.ParameterList([torch.randn(*position, 8)])
        self.named = nn.ParameterDict({"one": torch.randn(8)})


def vision(dropout: float = 0.0) -> nn.Module:
    """Return a transformer with a raw class token and raw positions, and dropout between them."""

    def forward(model, x):
        x = torch.cat([model.scale.expand(len(x), -1, -1), x], 1)
        x = model.drop(x + model.parts[0])
        return model.head(model.encoder(x)[:, 0])

    layer = nn.TransformerEncoderLayer(8, 2, 8, dropout=dropout, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    layers = {"drop": nn.Dropout(dropout), "encoder": encoder, "head": linear(CLASSES)}
    return Own(forward, (1, 1), (1, 4), **layers)


def linear(size: int = 8, **options) -> nn.Linear:
    return nn.Linear(8, size, **options)


def tripled(layer: nn.Module) -> nn.Module:
    layer.register_forward_hook(lambda module, arguments, output: 3 * output)
    return layer


def causal(model, x):
    mask = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    output, weights = model.layer(x, x, x, attn_mask=mask, is_causal=True)
    return first(torch.cat([output, weights], 2))


def residual(model, x):
    """Return a child used twice, on a tensor used thrice, and in place."""
    hidden = model.relu(model.layer(x).flatten(0, 1)).view_as(x)  # some rows per record
    other = model.layer(hidden)
    other *= model.scale
    hidden = hidden + other
    hidden += model.parts[0]
    return model.head(model.relu(hidden + model.scale * hidden)).sum(1)


def bags(mode: str) -> nn.Module:
    bag = nn.EmbeddingBag(5, CLASSES, mode=mode, padding_idx=1)
    return Model(lambda m, x: m.bag((x[..., 0] > 0).long() + (x[..., 1] > 0)), bag=bag)


def pair(model, x):
    return (y := model.scale * x), y.sin()


def deciding(model, x):
    return torch.stack([row * model.scale if row.sum() < 0 else row - model.scale for row in x])


windows = lambda model, x: first(model.layer(x.view(-1, 4)).view(len(x), -1, 5))


def turned(model, x):
    """Words first: no layer has rows for each record."""
    return first(model.layer(x.transpose(0, 1)).transpose(0, 1))


def caching(model, x, cache=None):
    """Return a cache that another pass would find full."""
    cache = [] if cache is None else cache
    cache.append(x * model.scale)
    return torch.cat(cache, 1)


def dropped(model, x):
    """Dropout of 0 on what is called once for all records."""
    return model.head(x).sum(1) + F.dropout(model.table(torch.arange(5)), 0.0).sum()


def gathered(model, x):
    """Return a layer for those words that need it."""
    chosen = x[..., 0] > 0
    rows = model.layer(x[chosen][:, :4])
    return torch.zeros(*x.shape[:2], 5).to(x).masked_scatter(chosen[..., None], rows)


inplace = lambda: nn.ReLU(inplace=True)
first = lambda y: y.flatten(1)[:, :CLASSES]
attention = partial(nn.MultiheadAttention, 8, 2, batch_first=True)
MODELS: dict[str, Callable[[], nn.Module]] = {
    "vision": vision,
    "in place on a view": lambda: nn.Sequential(linear(), inplace(), linear(5)),
    "children in place": lambda: Own(residual, layer=linear(), head=linear(5), relu=inplace()),
    "lists": lambda: Own(lambda m, x: first(x * m.parts[0] * m.named.one)),
    "a hook of one's own": lambda: tripled(linear(5)),
    "a layer's weight": lambda: Model(lambda m, x: F.linear(x, m.layer.weight), layer=linear()),
    "weight norm": lambda: parametrizations.weight_norm(linear(5)),
    "old weight norm": lambda: weight_norm(linear(5)),
    "one output of another": lambda: Model(lambda m, x: torch.cat(m.pair(x), 1), pair=Own(pair)),
    "a condition": lambda: Own(lambda m, x: x * m.scale if m.scale.sum() > 0 else x),
    "data decides": lambda: Own(deciding),
    "old function": lambda: Own(lambda m, x: Old.apply(x * m.scale)),
    "several rows of some": lambda: Model(gathered, layer=nn.Linear(4, 5)),
    "several rows of each": lambda: Model(windows, layer=nn.Linear(4, 5)),
    "words first": lambda: Model(turned, layer=nn.TransformerEncoderLayer(8, 2, 8, 0.0)),
    "words of all records": lambda: Model(
        lambda m, x: m.layer(x.transpose(0, 1).flatten(0, 1)).unflatten(0, (3, -1)).sum(0),
        layer=linear(),
    ),
    "a cache": lambda: Own(caching),
    "once for all records": lambda: Model(dropped, table=nn.Embedding(9, 8), head=linear(5)),
    "attention": lambda: Model(causal, layer=attention()),
    "own keys": lambda: Model(causal, layer=attention(add_bias_kv=True, add_zero_attn=True)),
    "sums of bags": lambda: bags("sum"),
    "means of bags": lambda: bags("mean"),
    "maxima of bags": lambda: bags("max"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
@each("name", MODELS)
def test_models_whose_own_code_uses_parameters(name):
    torch.manual_seed(0)
    model = nn.Sequential(MODELS[name](), nn.Flatten(), nn.LazyLinear(CLASSES)).double()
    targets = torch.randint(0, CLASSES, (BATCH,))
    agree_with(model, eights(3)[0], losses_of, targets)
    check_model(model, losses_of, eights(3)[0], targets)


def test_a_penalty_is_part_of_the_loss_of_each_record():
    model, (x, targets) = nn.Sequential(linear(9), nn.Tanh(), nn.Linear(9, 5)).double(), eights()
    penalty = lambda: 0.01 * sum(p.square().sum() for p in model.parameters())
    agree_with(model, x, lambda *pair: losses_of(*pair) + penalty(), targets)


@pytest.mark.slow
def test_dropout_is_that_of_the_forward_pass():
    """With the same seed, the sum of everything is the ordinary gradient of this forward pass."""
    recurrent = nn.LSTM(8, 5, 2, dropout=0.5, batch_first=True)
    last = Model(lambda m, x: m.layer(x)[0][:, -1], layer=recurrent)
    every = last, Model(causal, layer=attention(dropout=0.5)), vision(0.5)
    for model in (*every, nn.Sequential(linear(), nn.Dropout(), nn.Flatten(), nn.Linear(24, 5))):
        model, (x, targets) = model.double(), eights(3)
        check_model(model, losses_of, x, targets)
        torch.manual_seed(1)
        part = clipped_sum(model, losses_of, x, targets, bound=Flat(1e9))
        torch.manual_seed(1)
        recipe = recalled(model, losses_of, x, targets)
        passed(model, losses_of, (x, targets), recipe)[1].sum().backward()
        expected = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
        assert difference({name: part.sums[name] for name in expected}, expected) < 1e-12


@each(
    "model, match",
    [
        (nn.Linear(8, 5, dtype=torch.complex64), "real and imaginary parts"),
    ],
)
def test_what_has_no_records_is_refused_in_one_line(model, match):
    with pytest.raises((NotImplementedError, ValueError), match=match) as error:
        clipped_sum(model, losses_of, *eights(dtype=torch.float32), bound=Flat(1.0))
    assert "\n" not in str(error.value)
