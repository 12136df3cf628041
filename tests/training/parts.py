"""What models are fed in the collections of good ones and of mixers: a few records."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from per_record import CLASSES, Model, losses_of
from torch import Tensor, nn

Part = tuple[nn.Module, Any, Any, Any]  # model, loss, inputs, targets


BATCH, WIDTH = 6, 9


def numbers(*shape: int) -> Tensor:
    return torch.randn(BATCH, *shape)


def classes() -> Tensor:
    return torch.randint(0, CLASSES, (BATCH,))


def part(model: nn.Module, x: Any = None, loss_fn: Any = losses_of) -> Part:
    """A model of eight numbers that tells classes, unless it takes something else."""
    return model, loss_fn, numbers(8) if x is None else x, classes()


def entering(mix: Callable[[Tensor], Tensor]) -> Part:
    """Something before the first layer."""
    model = Model(lambda m, x: m.layer(mix(x)), layer=nn.Linear(8, CLASSES))
    return part(model)


def loss(mix: Callable[[Tensor, Tensor], Tensor]) -> Part:
    """A loss of outputs and targets."""
    return part(nn.Linear(8, CLASSES), loss_fn=mix)


tokens = lambda *shape, stop=CLASSES: torch.randint(0, stop, (BATCH, *shape))


def of(*layers: nn.Module, x: Any = None) -> Part:
    """A chain of layers and a linear head."""
    return part(nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(CLASSES)), x)


def by(forward: Callable[..., Tensor], x: Any = None, **layers: nn.Module) -> Part:
    """A function of layers and a linear head."""
    return part(Model(forward, **{"head": nn.Linear(8, CLASSES), **layers}), x)


class Raw(nn.Module):
    """One parameter and what it does to the input."""

    def __init__(self, value: Tensor, use: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.weight, self.use = nn.Parameter(value), use

    def forward(self, x: Tensor) -> Tensor:
        return self.use(x, self.weight)


class Residual(nn.Module):
    def __init__(self, *layers: nn.Module, zero: bool = False) -> None:
        super().__init__()
        self.body = nn.Sequential(*layers)
        if zero:
            nn.init.zeros_(self.body[-1].weight)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


images, sequence, waves = partial(numbers, 2, 8, 8), partial(numbers, 6, 8), partial(numbers, 2, 16)
