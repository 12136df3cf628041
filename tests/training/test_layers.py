"""Gradients of all torch.nn modules and of models with raw parameters, checked per record."""

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

from cases import each
from dplearn.training import Flat, check_model, clipped_sum, plain
from dplearn.training.gradients import Gradients
from dplearn.training.tape import Tape, passed

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
def test_every_torch_module_has_its_kind_and_correct_per_record_gradients():
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


def agree_with(model: nn.Module, inputs, loss_fn, targets: Any = None, *, how: str = "") -> None:
    targets = torch.zeros(BATCH) if targets is None else targets
    rows = list(plain.gradients(model, loss_fn, inputs, targets))
    part = clipped_sum(model, loss_fn, inputs, targets, bound=Flat(1e9))
    gradients = Gradients(model, loss_fn, Flat(1.0))
    gradients.learn((inputs, targets))
    assert how in (gradients.how, "")
    assert difference(part.sums, {k: sum(row[k] for row in rows) for k in rows[0]}) < 1e-12
    norms = torch.stack([norm(row) for row in rows])
    torch.testing.assert_close(part.norms, norms, rtol=1e-12, atol=1e-150)


def sequences(layer: Any, x: Tensor, *, states: bool) -> tuple[Tensor, ...]:
    """Return all outputs of a recurrent layer, batch first; start states are taken from x."""
    directions = layer.num_layers * (1 + layer.bidirectional)
    start: Any = x[:, 0, :1].expand(directions, -1, 3).contiguous()
    start = (start, start) if isinstance(layer, nn.LSTM) else start
    output, end = layer(x if layer.batch_first else x.transpose(0, 1), start if states else None)
    ends = end if isinstance(end, tuple) else (end,)
    output = output if layer.batch_first else output.transpose(0, 1)
    return output, *(state.transpose(0, 1) for state in ends)


def lines(outputs: tuple[Tensor, ...], _: Any) -> Any:
    """Return one loss per record that depends on every number of the outputs."""
    return sum(x.flatten(1) @ torch.arange(1.0, 1 + x[0].numel()).to(x).cos() for x in outputs)


RECURRENT = [
    *product([nn.RNN, nn.LSTM, nn.GRU], [{}, {"num_layers": 2, "bidirectional": True}]),
    *product([nn.RNN, nn.LSTM, nn.GRU], [{"bias": False, "batch_first": True}]),
    (nn.RNN, {"nonlinearity": "relu", "num_layers": 2}),
]


@pytest.mark.slow
@each("case, states", product(RECURRENT, [False, True]))
def test_recurrent_layers_have_correct_per_record_gradients(case, states):
    torch.manual_seed(0)
    kind, options = case
    layer = kind(2, 3, **options)
    model = Model(lambda m, x: sequences(m.layer, x, states=states), layer=layer).double()
    x = torch.randn(BATCH, 4, 2, dtype=torch.float64)
    agree_with(model, x, lines, how="tape")
    # Freezing some weights leaves the gradients of the others unchanged.
    for frozen in ("weight_ih", "weight_hh"):
        for name, parameter in model.named_parameters():
            parameter.requires_grad = frozen not in name and "bias_ih" not in name
        agree_with(model, x, lines, how="tape")


class Own(Model):
    """Model that uses parameters directly: a raw one, and those of a list and a dictionary."""

    def __init__(self, function, token=(), position=(), **modules: nn.Module):
        super().__init__(function, **modules)
        self.scale = nn.Parameter(torch.randn(*token, 8).abs())
        self.parts = nn.ParameterList([torch.randn(*position, 8)])
        self.named = nn.ParameterDict({"one": torch.randn(8)})


def vision(dropout: float = 0.0) -> nn.Module:
    """Return a transformer with raw parameters for class token and positions, and dropout."""

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
    """Use a layer twice, a tensor three times, and in-place operations."""
    hidden = model.relu(model.layer(x).flatten(0, 1)).view_as(x)  # several rows per record
    other = model.layer(hidden)
    other *= model.scale
    hidden = hidden + other
    hidden += model.parts[0]
    return model.head(model.relu(hidden + model.scale * hidden)).sum(1)


def deciding(model, x):
    return torch.stack([row * model.scale if row.sum() < 0 else row - model.scale for row in x])


windows = lambda model, x: first(model.layer(x.view(-1, 4)).view(len(x), -1, 5))


def turned(model, x):
    """Put words first, so that no layer's rows are records."""
    return first(model.layer(x.transpose(0, 1)).transpose(0, 1))


padded = lambda m, x: torch.add(m.layer((x[..., :3] > 0).sum(2)), m.named.one, alpha=-2)
inplace, bag = partial(nn.ReLU, inplace=True), partial(nn.EmbeddingBag, 5, CLASSES, padding_idx=1)
first = lambda y: y.flatten(1)[:, :CLASSES]
attention = partial(nn.MultiheadAttention, 8, 2, batch_first=True)
MODELS: dict[str, tuple[str, Callable[[], nn.Module]]] = {
    "vision": ("tape", vision),
    "in place on a view": ("tape", lambda: nn.Sequential(linear(), inplace(), linear(5))),
    "children in place":
        ("vmap", lambda: Own(residual, layer=linear(), head=linear(5), relu=inplace())),
    "lists": ("tape", lambda: Own(lambda m, x: first(x * m.parts[0] * m.named.one))),
    "a hook of one's own": ("tape", lambda: tripled(linear(5))),
    "a layer's weight": (
        "tape",
        lambda: Model(lambda m, x: F.linear(x, m.layer.weight), layer=linear()),
    ),
    "weight norm": ("tape", lambda: parametrizations.weight_norm(linear(5))),
    "old weight norm": ("tape", lambda: weight_norm(linear(5))),
    "a condition": ("tape", lambda: Own(lambda m, x: x * m.scale if m.scale.sum() > 0 else x)),
    "data decides": ("alone", lambda: Own(deciding)),
    "several rows of each": ("tape", lambda: Model(windows, layer=nn.Linear(4, 5))),
    "words first": ("vmap", lambda: Model(turned, layer=nn.TransformerEncoderLayer(8, 2, 8, 0.0))),
    "attention": ("tape", lambda: Model(causal, layer=attention())),
    "padding": ("tape", lambda: Own(padded, layer=nn.Embedding(4, 8, padding_idx=1))),
    "bags": ("vmap", lambda: Model(lambda m, x: m.bag((x[..., :3] > 0).sum(2)), bag=bag())),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
@each("name", MODELS)
def test_models_with_raw_parameters_have_correct_per_record_gradients(name):
    torch.manual_seed(0)
    how, make = MODELS[name]
    model = nn.Sequential(make(), nn.Flatten(), nn.LazyLinear(CLASSES)).double()
    targets = torch.randint(0, CLASSES, (BATCH,))
    agree_with(model, eights(3)[0], losses_of, targets, how=how)
    check_model(model, losses_of, eights(3)[0], targets)


def test_penalty_in_the_loss_is_part_of_each_record_gradient():
    model, (x, targets) = nn.Sequential(linear(9), nn.Tanh(), nn.Linear(9, 5)).double(), eights()
    penalty = lambda: 0.01 * sum(p.square().sum() for p in model.parameters())
    agree_with(model, x, lambda *pair: losses_of(*pair) + penalty(), targets)


@pytest.mark.slow
def test_gradients_use_the_dropout_of_the_forward_pass():
    """With the same seed, unclipped sums are the ordinary gradient of this forward pass."""
    recurrent = nn.LSTM(8, 5, 2, dropout=0.5, batch_first=True)
    last = Model(lambda m, x: m.layer(x)[0][:, -1], layer=recurrent)
    every = last, Model(causal, layer=attention(dropout=0.5)), vision(0.5)
    for model in (*every, nn.Sequential(linear(), nn.Dropout(), nn.Flatten(), nn.Linear(24, 5))):
        model, (x, targets) = model.double(), eights(3)
        check_model(model, losses_of, x, targets)
        gradients = Gradients(model, losses_of, Flat(1e9))
        gradients.learn((x, targets))
        torch.manual_seed(1)
        part = clipped_sum(model, losses_of, x, targets, bound=Flat(1e9))
        torch.manual_seed(1)
        tape = Tape(gradients.parameters, gradients.facts, len(x))
        passed(model, losses_of, (x, targets), tape).sum().backward()
        expected = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
        assert difference({name: part.sums[name] for name in expected}, expected) < 1e-12


def test_complex_parameters_are_refused_with_a_one_line_error():
    model = nn.Linear(8, 5, dtype=torch.complex64)
    with pytest.raises(NotImplementedError, match="real and imaginary parts") as error:
        clipped_sum(model, losses_of, *eights(dtype=torch.float32), bound=Flat(1.0))
    assert "\n" not in str(error.value)
