"""Parts of the small models in the collections, and their records."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.set_num_threads(1)  # for small tensors, more threads are slower
BATCH, CLASSES = 6, 5
Part = tuple[nn.Module, Any, Any, Any]  # model, loss, inputs, targets


class Model(nn.Module):
    """Model from a function of model and inputs, and the layers and other attributes it uses."""

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, value in parts.items():
            setattr(self, name, value)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.function(self, *inputs, **named)


def losses_of(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs, targets, reduction="none")


def numbers(*shape: int) -> Tensor:
    return torch.randn(BATCH, *shape)


def tokens(*shape: int, stop: int = CLASSES) -> Tensor:
    return torch.randint(0, stop, (BATCH, *shape))


def part(model: nn.Module, x: Any = None, loss_fn: Any = losses_of) -> Part:
    """Return a classification task for a model, of eight numbers per record by default."""
    return model, loss_fn, numbers(8) if x is None else x, tokens()


def entering(mix: Callable[[Tensor], Tensor]) -> Part:
    return part(Model(lambda m, x: m.layer(mix(x)), layer=nn.Linear(8, CLASSES)))


def loss(mix: Callable[[Tensor, Tensor], Tensor]) -> Part:
    return part(nn.Linear(8, CLASSES), loss_fn=mix)


def headed(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(CLASSES))


def of(*layers: nn.Module, x: Any = None) -> Part:
    return part(headed(*layers), x)


def by(forward: Callable[..., Any], x: Any = None, **parts: Any) -> Part:
    """Return the task of a function, layers and a linear head."""
    return part(Model(forward, **{"head": nn.Linear(8, CLASSES), **parts}), x)


def raw(value: Tensor, use: Callable[[Tensor, Tensor], Tensor]) -> Model:
    """Return a model of one parameter and a function of input and parameter."""
    return Model(lambda m, x: use(x, m.weight), weight=nn.Parameter(value))


def zeroed(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    return layer


def frozen(model: nn.Module, *names: str) -> nn.Module:
    """Freeze the parameters whose names begin with one of `names`, and return the model."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.startswith(names)
    return model


def decoder(stop: int, *, dropout: float = 0.0, tied: bool = False) -> Model:
    """Return a next-word transformer whose positions are expanded for each record."""

    def forward(m: Any, words: Tensor) -> Tensor:
        length = words.shape[1]
        places = torch.arange(length).expand(words.shape)
        mask = nn.Transformer.generate_square_subsequent_mask(length, dtype=m.head.weight.dtype)
        return m.head(m.body(m.words(words) + m.places(places), mask=mask, is_causal=True))

    words, places, head = nn.Embedding(stop, 8), nn.Embedding(7, 8), nn.Linear(8, stop)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=dropout, batch_first=True)
    body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    if tied:
        head.weight = words.weight
    return Model(forward, words=words, places=places, body=body, head=head)
