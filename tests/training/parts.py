"""Builders of small models with records, and of training runs of a few steps."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.lazy import LazyModuleMixin
from torch.utils._pytree import tree_map_only

from dplearn.run import DPSGD
from dplearn.training import Trainer, fit
from dplearn.training.tape import called

torch.set_num_threads(1)  # for small tensors, more threads are slower
BATCH, CLASSES = 6, 5
Part = tuple[nn.Module, Any, Any, Any]  # model, loss, inputs, targets


class Model(nn.Module):
    """Model that calls a function of itself and its inputs; its attributes are `parts`."""

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, value in parts.items():
            setattr(self, name, value)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.function(self, *inputs, **named)


def built(make: Callable[[], Part], *, seed: int = 0, dtype: torch.dtype | None = None) -> Part:
    """Build a task, initialise its lazy layers, and convert all numbers to any `dtype`."""
    torch.manual_seed(seed)
    model, loss_fn, *pair = make()
    if any(isinstance(module, LazyModuleMixin) for module in model.modules()):
        with torch.no_grad():
            called(model, pair[0])
    if dtype:
        model.to(dtype)
        pair = tree_map_only(Tensor, lambda x: x.to(dtype) if x.is_floating_point() else x, pair)
    return model, loss_fn, *pair


def losses_of(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(outputs, targets, reduction="none")


def numbers(*shape: int) -> Tensor:
    return torch.randn(BATCH, *shape)


def tokens(*shape: int, stop: int = CLASSES) -> Tensor:
    return torch.randint(0, stop, (BATCH, *shape))


def part(model: nn.Module, x: Any = None, loss_fn: Any = losses_of) -> Part:
    """Return a classification task for a model, by default with eight numbers per record."""
    return model, loss_fn, numbers(8) if x is None else x, tokens()


def entering(mix: Callable[[Tensor], Tensor]) -> Part:
    return part(Model(lambda m, x: m.layer(mix(x)), layer=nn.Linear(8, CLASSES)))


def loss(mix: Callable[[Tensor, Tensor], Tensor]) -> Part:
    return part(nn.Linear(8, CLASSES), loss_fn=mix)


def of(*layers: nn.Module, x: Any = None) -> Part:
    """Return a classification task for layers, followed by a linear layer on all outputs."""
    return part(nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(CLASSES)), x)


def by(forward: Callable[..., Any], x: Any = None, **parts: Any) -> Part:
    """Return a classification task for the model function `forward`, which uses `parts`."""
    return part(Model(forward, **{"head": nn.Linear(8, CLASSES), **parts}), x)


def raw(value: Tensor, use: Callable[[Tensor, Tensor], Tensor]) -> Model:
    """Return a model with one parameter, whose output is a function of input and parameter."""
    return Model(lambda m, x: use(x, m.weight), weight=nn.Parameter(value))


def zeroed(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    return layer


# Training runs with a small model, 32 records and six steps.

PLAN = DPSGD(noise_multiplier=1.0, sample_rate=0.25, steps=6, max_grad_norm=0.5)
CROSS_ENTROPY = nn.CrossEntropyLoss(reduction="none")


def small_model(seed=0, *, dropout=0.0, width=8):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        last = nn.Linear(width, 2)
        return nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Dropout(dropout), last)


def small_data():
    random = generator(1)
    return torch.randn(32, 3, generator=random), torch.randint(2, (32,), generator=random)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def started(model=None, plan=PLAN, *, use=Trainer, optimizer=None, lr=0.1, **options):
    model = small_model() if model is None else model
    options["optimizer"] = optimizer or torch.optim.SGD(model.parameters(), lr=lr)
    loss_fn, data = options.pop("loss_fn", CROSS_ENTROPY), options.pop("data", small_data())
    return use(model, loss_fn, data, plan, **options)


def run(model=None, plan=PLAN, **options):
    model = small_model() if model is None else model
    options = {"delta": 1e-5, "accountant": "rdp", "progress": False, **options}
    options.setdefault("generator", generator())
    history = started(model, plan, use=fit, **options)
    return flat(model.state_dict()), history


def flat(tensors):
    """Return all numbers of a state dict or an iterable of tensors as one flat tensor."""
    values = tensors.values() if isinstance(tensors, dict) else tensors
    return torch.cat([value.detach().flatten() for value in values])
