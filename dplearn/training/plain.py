"""DP-SGD as Algorithm 1 of Abadi et al. (2016) prints it, one record at a time, slowly."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from dplearn.run import DPSGD
from dplearn.training.layers import trainable
from dplearn.training.tape import Loss, called

Gradient = dict[str, Tensor]  # one part for each parameter


def gradients(model: nn.Module, loss_fn: Loss, x: Any, y: Tensor) -> Iterator[Gradient]:
    """The gradient of each record's own loss."""
    weights = trainable(model)
    for i in range(len(y)):
        one_x, one_y = tree_map(lambda rows, i=i: rows[i : i + 1], (x, y))
        (loss,) = loss_fn(called(model, one_x), one_y)
        parts = torch.autograd.grad(loss, [*weights.values()], materialize_grads=True)
        yield dict(zip(weights, parts, strict=True))


def clipped_sum(model: nn.Module, loss_fn: Loss, x: Any, y: Tensor, *, norm: float) -> Gradient:
    """The sum of all gradients, each scaled down to a length of at most `norm`."""
    total = {name: torch.zeros_like(p) for name, p in trainable(model).items()}
    for gradient in gradients(model, loss_fn, x, y):
        length = torch.cat([part.flatten() for part in gradient.values()]).norm()
        for name, part in gradient.items():
            total[name] += part * min(1, norm / length)
    return total


def train(
    model: nn.Module, loss_fn: Loss, x: Tensor, y: Tensor, plan: DPSGD, *,
    learning_rate: float, expected: float, generator: torch.Generator,
) -> None:  # fmt: skip
    """Run all steps of a plan; `expected` is the public size of a lot that sums are divided by."""
    scale = plan.noise_multiplier * plan.max_grad_norm
    for _ in range(plan.steps):
        lot = torch.rand(len(x), generator=generator) < plan.sample_rate  # a coin for each record
        total = clipped_sum(model, loss_fn, x[lot], y[lot], norm=plan.max_grad_norm)
        for name, p in trainable(model).items():
            noise = scale * torch.randn(p.shape, generator=generator)
            p.data -= learning_rate * (total[name] + noise) / expected
