"""Models and losses that keep data from one batch to the next: all must be refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from mixers import normal
from parts import Part, loss, part
from per_record import CLASSES, Model, losses_of
from torch import Tensor, nn


class Keeping(nn.Module):
    """A model with a layer, a place to keep things and a function that uses it."""

    def __init__(self, place: str, value: Any, keep: Callable[[Any, Tensor], Tensor]) -> None:
        super().__init__()
        self.layer, self.keep, self.calls = nn.Linear(8, CLASSES), keep, 0
        if isinstance(value, Tensor) and not isinstance(value, nn.Parameter):
            self.register_buffer(place, value)
        else:
            setattr(self, place, value)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(self.keep(self, x))


def keeping(value: Any, keep: Callable[[Any, Tensor], Tensor]) -> Part:
    return part(Keeping("kept", value, keep))


def after(do: Callable[[Any, Tensor], object]) -> Callable[[Any, Tensor], Tensor]:
    """Do something and give the input unchanged."""
    return lambda model, x: (do(model, x.detach()), x)[1]


def sometimes(mix: Callable[[Tensor], Tensor]) -> Callable[[Any, Tensor], Tensor]:
    """Every third call."""

    def forward(model: Any, x: Tensor) -> Tensor:
        model.calls += 1
        return mix(x) if model.calls % 3 == 0 else x

    return forward


def running_loss() -> Callable[[Tensor, Tensor], Tensor]:
    """A loss less its running mean, in a list of the function's."""
    mean = [0.0]

    def less_mean(outputs: Tensor, targets: Tensor) -> Tensor:
        values = losses_of(outputs, targets)
        mean[0] = 0.9 * mean[0] + 0.1 * values.mean().item()
        return values - mean[0]

    return less_mean


class Remembering(nn.Module):
    """A loss that keeps the class frequencies it has met."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("counts", torch.ones(64))

    def forward(self, outputs: Tensor, targets: Tensor) -> Tensor:
        self.counts.data += torch.bincount(targets, minlength=64)
        return losses_of(outputs, targets)


def queue(model: Any, x: Tensor) -> Tensor:
    """A bank of earlier records, appended to."""
    before = torch.cat(model.kept) if model.kept else x[:0].detach()
    model.kept = [*model.kept, x.detach()][-2:]
    return x + before.sum(0)


def averaged(model: Any, x: Tensor) -> Tensor:
    model.kept = 0.9 * model.kept + 0.1 * x.detach().mean(0)
    return x - model.kept


def vector_quantised(model: Any, x: Tensor) -> Tensor:
    codes = model.kept
    chosen = torch.cdist(x.detach().to(codes), codes).argmin(1)
    for code in chosen.unique():
        codes.data[code] = 0.9 * codes.data[code] + 0.1 * x.detach()[chosen == code].mean(0).to(
            codes
        )
    return x + (codes[chosen] - x).detach()


def carried(model: Any, x: Tensor) -> Tensor:
    """A recurrent state that goes on from batch to batch."""
    before = (
        model.kept if model.kept is not None and len(model.kept) == len(x) else torch.zeros_like(x)
    )
    model.kept = torch.tanh(before + x).detach()
    return x + before


BANK: list[Tensor] = []


class Banking(nn.Linear):
    """Records go to a list that is nobody's attribute."""

    def forward(self, x: Tensor) -> Tensor:
        BANK.append(x.detach())
        return super().forward(x)


def kept_backwards() -> Part:
    """The gradient's running mean, in a buffer."""

    def forward(model: Any, x: Tensor) -> Tensor:
        y = model.layer(x) * 1
        y.register_hook(lambda grad: setattr(model, "mean", grad.mean(0)))
        return y

    model = Model(forward, layer=nn.Linear(8, CLASSES))
    model.register_buffer("mean", torch.zeros(CLASSES))
    return part(model)


def at_first(keep: Callable[[Any, Tensor], object]) -> Part:
    """What the first batch decides, and no later one changes."""

    def forward(model: Any, x: Tensor) -> Tensor:
        if not model.begun:
            model.begun = True
            keep(model, x.detach())
        return x * 0.5 + model.kept.to(x)

    model, *others = keeping(torch.zeros(8), forward)
    model.begun = False
    return model, *others


class ActNorm(nn.Module):
    """A scale and a shift that are trained, from the first batch on."""

    def __init__(self) -> None:
        super().__init__()
        self.shift, self.scale = nn.Parameter(torch.zeros(8)), nn.Parameter(torch.ones(8))
        self.register_buffer("begun", torch.tensor(False))

    def forward(self, x: Tensor) -> Tensor:
        if not self.begun:
            self.shift.data.copy_(-x.mean(0))
            self.scale.data.copy_(1 / (x.std(0) + 0.1))
            self.begun.fill_(True)
        return (x + self.shift) * self.scale


frozen = lambda *shape: nn.Parameter(torch.randn(*shape), requires_grad=False)


bias = lambda m, x: m.layer.bias.data.add_(0.01 * x.mean().to(m.layer.bias))

STATEFUL: dict[str, Callable[[], Part]] = {
    "batch norm, every third call": lambda: keeping(None, sometimes(normal)),
    "running mean of losses": lambda: loss(running_loss()),
    "counts of classes, kept": lambda: loss(Remembering()),
    "running mean in a buffer": lambda: keeping(
        torch.zeros(8), after(lambda m, x: m.kept.lerp_(x.mean(0), 0.1))
    ),
    "running mean in a buffer, by data": lambda: keeping(
        torch.zeros(8), after(lambda m, x: m.kept.data.lerp_(x.mean(0), 0.1))
    ),
    "running mean in a buffer, by numpy": lambda: keeping(
        torch.zeros(8), after(lambda m, x: np.copyto(m.kept.numpy(), x.mean(0).numpy()))
    ),
    "running mean in a frozen parameter": lambda: keeping(
        frozen(8), after(lambda m, x: m.kept.data.lerp_(x.mean(0), 0.1))
    ),
    "running mean in an attribute": lambda: keeping(0.0, averaged),
    "running mean, a number": lambda: keeping(
        0.0, after(lambda m, x: setattr(m, "kept", 0.9 * m.kept + x.mean().item()))
    ),
    "count of large numbers": lambda: keeping(
        0, after(lambda m, x: setattr(m, "kept", m.kept + int((x > 0).sum())))
    ),
    "records in a list": lambda: keeping([], after(lambda m, x: m.kept.append(x))),
    "bank of earlier records": lambda: keeping([], queue),
    "codebook in a buffer": lambda: keeping(torch.randn(4, 8), vector_quantised),
    "codebook, frozen": lambda: keeping(frozen(4, 8), vector_quantised),
    "records in a global list": lambda: part(Banking(8, CLASSES)),
    "running mean of gradients": kept_backwards,
    "recurrent state, carried": lambda: keeping(None, carried),
    "trained scale, from the first batch": lambda: part(
        nn.Sequential(nn.Linear(8, 8), ActNorm(), nn.Linear(8, CLASSES))
    ),
    "codebook, from the first batch": lambda: at_first(lambda m, x: m.kept.copy_(x[0])),
    "bias, from the first batch": lambda: at_first(
        lambda m, x: m.layer.bias.data.copy_(-m.layer(x).mean(0))
    ),
    "largest input of the first batch": lambda: at_first(lambda m, x: m.kept.fill_(x.abs().max())),
    "trainable bias moved": lambda: keeping(None, after(bias)),
}
